/*
 * The AVX-512 IFMA kernel, for one group: LANES additions at once. Included by msm_ifma_g1.c and
 * msm_ifma_g2.c with V(name) for the coordinate field's vectors (fp52w or fp52x2), SELF(name) for
 * what is defined here, LANES, and COORDINATE_BYTES.
 *
 * A record is x and y in limbs of 52 bits, canonical. At infinity all is zero but the top bit of
 * the eighth limb.
 */

enum {
    SELF(y_offset) = COORDINATE_BYTES,
    SELF(record_bytes) = 2 * COORDINATE_BYTES,
    SELF(flag_limb) = 7,
};
static const uint64_t SELF(flag) = UINT64_C(1) << 63;

/* What the way back needs of one vector of pairs. Special pairs are those without a chord. */
struct SELF(block) {
    fp52_pair before;      /* product of the denominators of the blocks before */
    fp52_pair denominator; /* of the slope, one where there is none */
    unsigned a_infinite, b_infinite, opposite, tangent; /* masks */
};

struct SELF(rows) {
    const uint8_t *a[LANES], *b[LANES];
};

FP52_INLINE struct SELF(rows) SELF(rows_of)(const uint8_t *records, const struct msm_pair *pairs) {
    struct SELF(rows) r;
    for (int i = 0; i < LANES; i++) {
        r.a[i] = records + (size_t)pairs[i].a * SELF(record_bytes);
        r.b[i] = records + (size_t)pairs[i].b * SELF(record_bytes);
    }
    return r;
}

/* Denominators of the pairs whose x are equal, or one of whose points is infinite. */
static __attribute__((noinline)) void SELF(special_denominators)(struct SELF(block) * block,
                                                                 const struct SELF(rows) * rows,
                                                                 unsigned same_x) {
    const unsigned infinite = block->a_infinite | block->b_infinite;
    same_x &= ~infinite;
    const fp52_pair ya = V(load)(rows->a, SELF(y_offset));
    const fp52_pair yb = V(load)(rows->b, SELF(y_offset));
    block->tangent = same_x & V(zero_mask)(fp52_pair_sub_raw(yb, ya));
    block->opposite = same_x & ~block->tangent;
    const fp52_pair twice_y = fp52_pair_carry(fp52_pair_add_raw(ya, ya));
    block->denominator = V(blend)(block->tangent, block->denominator, twice_y);
    block->denominator = V(blend)(infinite | block->opposite, block->denominator, V(one)());
}

/* The way forth: denominators and their products, lane by lane. */
static void SELF(forth)(fp52_pair *product, struct SELF(block) * blocks, const uint8_t *records,
                        const struct msm_pair *pairs, size_t n_blocks) {
    *product = V(one)();
    for (size_t i = 0; i < n_blocks; i++) {
        struct SELF(block) *block = &blocks[i];
        const struct SELF(rows) rows = SELF(rows_of)(records, pairs + LANES * i);
        const fp52_pair xa = V(load)(rows.a, 0);
        const fp52_pair xb = V(load)(rows.b, 0);
        const fp52_pair difference = fp52_pair_sub_raw(xb, xa);
        const unsigned same_x = V(zero_mask)(difference);
        block->before = *product;
        block->denominator = fp52_pair_carry(fp52_pair_add_p(difference));
        block->a_infinite = V(flag_mask)(xa);
        block->b_infinite = V(flag_mask)(xb);
        block->tangent = block->opposite = 0;
        if (__builtin_expect(same_x | block->a_infinite | block->b_infinite, 0))
            SELF(special_denominators)(block, &rows, same_x);
        V(mul)(product, product, &block->denominator);
    }
}

/*
 * Replaces lanes by their inverses, with one inversion: of the product of all, from which each lane
 * is had by the products of those that are not it.
 */
static void SELF(invert_lanes)(fp52_pair *lanes) {
    fp52_pair others[4], product = *lanes;
    int n = 0;
    for (int distance = LANES / 2; distance > 0; distance /= 2) {
        others[n] = V(swap)(product, distance);
        V(mul)(&product, &product, &others[n]);
        n++;
    }
    product = V(scaled_inverse)(&product);
    while (n-- > 0)
        V(mul)(&product, &product, &others[n]);
    *lanes = product;
}

/* The slope's numerator at a doubling, 3 x^2, in the scale of coordinates. */
static __attribute__((noinline)) void
SELF(tangent_numerator)(fp52_pair *numerator, unsigned tangent, const struct SELF(rows) * rows) {
    const fp52_pair x = V(load)(rows->a, 0);
    const fp52_pair shifted = fp52_pair_shift_left(x, FP52_COORDINATE_SHIFT);
    fp52_pair square;
    V(mul)(&square, &shifted, &x);
    const fp52_pair twice = fp52_pair_add_raw(square, square);
    *numerator = V(blend)(tangent, *numerator, fp52_pair_carry(fp52_pair_add_raw(twice, square)));
}

/* Results of the pairs that are no two finite points with different x. */
static __attribute__((noinline)) void SELF(special_sums)(fp52_pair *x3, fp52_pair *y3,
                                                         const struct SELF(block) * block,
                                                         const struct SELF(rows) * rows) {
    const fp52_pair infinity_x = V(flag)(_mm512_set1_epi64((long long)SELF(flag)));
    *x3 = V(blend)(block->opposite, *x3, infinity_x);
    *y3 = V(blend)(block->opposite, *y3, fp52_pair_zero());
    *x3 = V(blend)(block->a_infinite, *x3, V(load)(rows->b, 0));
    *y3 = V(blend)(block->a_infinite, *y3, V(load)(rows->b, SELF(y_offset)));
    *x3 = V(blend)(block->b_infinite, *x3, V(load)(rows->a, 0));
    *y3 = V(blend)(block->b_infinite, *y3, V(load)(rows->a, SELF(y_offset)));
}

/* The operands of a block's additions. */
struct SELF(operands) {
    struct SELF(rows) rows;
    fp52_pair xa, xa_plus_xb, ya, numerator;
};

FP52_INLINE void SELF(load)(struct SELF(operands) * o, const struct SELF(block) * block,
                            const uint8_t *records, const struct msm_pair *pairs) {
    o->rows = SELF(rows_of)(records, pairs);
    o->xa = V(load)(o->rows.a, 0);
    o->xa_plus_xb = fp52_pair_add_raw(o->xa, V(load)(o->rows.b, 0));
    o->ya = V(load)(o->rows.a, SELF(y_offset));
    const fp52_pair yb = V(load)(o->rows.b, SELF(y_offset));
    o->numerator = fp52_pair_carry(fp52_pair_add_p(fp52_pair_sub_raw(yb, o->ya)));
    if (__builtin_expect(block->tangent, 0))
        SELF(tangent_numerator)(&o->numerator, block->tangent, &o->rows);
}

/* Writes the sums, given x3 and the slope's rise over xa - x3. */
FP52_INLINE void SELF(store)(const struct SELF(operands) * o, const struct SELF(block) * block,
                             fp52_pair x3, fp52_pair rise) {
    uint8_t *const *rows = (uint8_t *const *)o->rows.a;
    fp52_pair y3 = fp52_pair_canonical_1(fp52_pair_sub_raw(rise, o->ya));
    if (__builtin_expect(block->a_infinite | block->b_infinite | block->opposite, 0))
        SELF(special_sums)(&x3, &y3, block, &o->rows);
    V(store)(rows, 0, x3);
    V(store)(rows, SELF(y_offset), y3);
}

/*
 * The way back: from the inverse of all denominators' product to each one's, and the sums. Between
 * products that wait for each other stands work for the next block, so that the processor always
 * has something to multiply while it carries and transposes.
 */
static void SELF(back)(fp52_pair *inverse, const struct SELF(block) * blocks, uint8_t *records,
                       const struct msm_pair *pairs, size_t n_blocks) {
    struct SELF(operands) operands[2];
    fp52_pair own, slope, square, rise;
    size_t i = n_blocks - 1;
    V(mul)(&own, inverse, &blocks[i].before);
    SELF(load)(&operands[i & 1], &blocks[i], records, pairs + LANES * i);
    V(mul)(inverse, inverse, &blocks[i].denominator);
    for (;;) {
        const struct SELF(operands) *o = &operands[i & 1];
        const size_t next = i == 0 ? 0 : i - 1;
        V(mul)(&slope, &o->numerator, &own);
        if (i > 0) SELF(load)(&operands[next & 1], &blocks[next], records, pairs + LANES * next);
        V(sqr)(&square, &slope);
        V(mul)(&own, inverse, &blocks[next].before);
        const fp52_pair x3 = fp52_pair_canonical_2(fp52_pair_sub_raw(square, o->xa_plus_xb));
        const fp52_pair run = fp52_pair_carry(fp52_pair_add_p(fp52_pair_sub_raw(o->xa, x3)));
        const fp52_pair shifted = fp52_pair_shift_left(slope, FP52_SLOPE_SHIFT);
        V(mul)(&rise, &shifted, &run);
        V(mul)(inverse, inverse, &blocks[next].denominator);
        SELF(store)(o, &blocks[i], x3, rise);
        if (i == 0) return;
        i = next;
    }
}

static void SELF(add_pairs)(void *records, struct msm_pair *pairs, size_t n, void *products) {
    const size_t n_blocks = (n + LANES - 1) / LANES;
    fp52_pair inverse;
    if (n == 0) return;
    /* Infinity plus infinity, in the spare record. */
    for (size_t i = n; i < LANES * n_blocks; i++)
        pairs[i] = (struct msm_pair){0, 0};
    SELF(forth)(&inverse, products, records, pairs, n_blocks);
    SELF(invert_lanes)(&inverse);
    SELF(back)(&inverse, products, records, pairs, n_blocks);
}

static void SELF(set_infinity)(void *records, size_t n) {
    memset(records, 0, n * SELF(record_bytes));
    for (size_t i = 0; i < n; i++)
        memcpy((uint8_t *)records + i * SELF(record_bytes) + SELF(flag_limb) * 8, &SELF(flag), 8);
}
