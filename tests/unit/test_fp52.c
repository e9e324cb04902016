/*
 * The vector arithmetic of the msm room against fp's. The file is compiled for AVX-512 IFMA and
 * skips itself where that is missing.
 */
#include "unit/test_main.h"

#include "fp52_pair.h"
#include "hash.h"

enum { SKIPPED = 77, ROUNDS = 200 };

struct element {
    uint64_t l[8];
};

/* What lanes are filled with: edges of [0, 2 p], then random elements below p. */
static void sample(struct element *out, uint32_t index) {
    static const uint64_t p[8] = FP52_P;
    memset(out, 0, sizeof *out);
    switch (index % 16) {
    case 0:
        return;
    case 1:
        out->l[0] = 1;
        return;
    case 2: /* p - 1 */
        memcpy(out->l, p, sizeof p);
        out->l[0]--;
        return;
    case 3: /* a power of 2^52: borrows run through many limbs */
        out->l[index / 16 % 7] = 1;
        return;
    case 4: /* all limbs full but the top one */
        for (int i = 0; i < 7; i++)
            out->l[i] = FP52_MASK;
        out->l[7] = p[7] - 1;
        return;
    default: {
        uint8_t digest[SHA256_BYTES];
        for (int i = 0; i < 8; i++) {
            const uint32_t input[3] = {0x3532, index, (uint32_t)i};
            sha256(digest, input, sizeof input);
            memcpy(&out->l[i], digest, 8);
            out->l[i] &= FP52_MASK;
        }
        out->l[7] %= p[7];
    }
    }
}

static void put(fp52 *v, int lane, const struct element *e) {
    uint64_t lanes[8];
    for (int i = 0; i < 8; i++) {
        _mm512_storeu_si512(lanes, v->l[i]);
        lanes[lane] = e->l[i];
        v->l[i] = _mm512_loadu_si512(lanes);
    }
}

static void get(struct element *e, const fp52 *v, int lane) {
    uint64_t lanes[8];
    for (int i = 0; i < 8; i++) {
        _mm512_storeu_si512(lanes, v->l[i]);
        e->l[i] = lanes[lane];
    }
}

static void fill(fp52 *v, uint32_t first) {
    *v = fp52_zero();
    for (int lane = 0; lane < 8; lane++) {
        struct element e;
        sample(&e, first + (uint32_t)lane);
        put(v, lane, &e);
    }
}

static void lane_as_fp(fp *out, const fp52 *v, int lane) {
    struct element e;
    get(&e, v, lane);
    for (int i = 0; i < 8; i++)
        assert_true(e.l[i] <= FP52_MASK);
    fp52_to_fp(out, e.l);
}

/* Vector products divide by 2^416, fp's by 2^384: 32 doublings lie between them. */
static void double_32_times(fp *a) {
    for (int i = 0; i < 32; i++)
        fp_add(a, a, a);
}

static void products_equal_those_of_fp(void **state) {
    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        fp52 a[2], b[2], r[2];
        for (uint32_t h = 0; h < 2; h++) {
            fill(&a[h], round * 31 + 7 * h);
            fill(&b[h], round * 17 + 5 * h + round / 3);
        }
        fp52_mul_two(r, a, b);
        for (int h = 0; h < 2; h++) {
            for (int lane = 0; lane < 8; lane++) {
                fp x, y, got;
                lane_as_fp(&x, &a[h], lane);
                lane_as_fp(&y, &b[h], lane);
                lane_as_fp(&got, &r[h], lane);
                double_32_times(&got);
                fp_mul(&x, &x, &y);
                assert_true(fp_equal(&x, &got));
            }
        }
    }
}

/* The largest operands that the header allows, and p and 2 p, which are zero. */
static void products_of_unreduced_operands(void **state) {
    (void)state;
    static const uint64_t p[8] = FP52_P;
    struct element large = {{0}}, once, twice = {{0}}, ones = {{0}};
    memcpy(once.l, p, sizeof p);
    uint64_t carry = 0;
    for (int i = 0; i < 8; i++) {
        twice.l[i] = (2 * p[i] + carry) & FP52_MASK;
        carry = (2 * p[i] + carry) >> 52;
        large.l[i] = i < 7 ? FP52_MASK : (UINT64_C(1) << 36) - 1; /* 2^400 - 1 */
        ones.l[i] = i < 7 ? FP52_MASK : (UINT64_C(1) << 17) - 1;  /* 2^381 - 1 */
    }
    fp52 a[2], b[2], r[2];
    fill(&a[0], 5);
    fill(&a[1], 5);
    fill(&b[0], 5);
    fill(&b[1], 5);
    put(&a[0], 0, &once);
    put(&a[1], 1, &twice);
    put(&a[0], 2, &large);
    put(&b[0], 2, &ones);
    fp52_mul_two(r, a, b);
    fp got, wanted, x = {{0}}, y;
    lane_as_fp(&got, &r[0], 0);
    assert_true(fp_is_zero(&got));
    lane_as_fp(&got, &r[1], 1);
    assert_true(fp_is_zero(&got));
    /* 2^400 - 1 = 2^16 2^384 - 1: fp_one is 2^384, its predecessors 1 are made from limbs. */
    const fp one = {{1}};
    x = fp_one;
    for (int i = 0; i < 16; i++)
        fp_add(&x, &x, &x);
    fp_sub(&x, &x, &one);
    y = one;
    for (int i = 0; i < 381; i++)
        fp_add(&y, &y, &y);
    fp_sub(&y, &y, &one);
    fp_mul(&wanted, &x, &y);
    lane_as_fp(&got, &r[0], 2);
    double_32_times(&got);
    assert_true(fp_equal(&got, &wanted));
}

static void fp2_products_equal_those_of_fp2(void **state) {
    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        fp52_pair a, b, product, square;
        for (uint32_t h = 0; h < 2; h++) {
            fill(&a.v[h], round * 29 + 3 * h);
            fill(&b.v[h], round * 13 + 11 * h + round / 5);
        }
        fp52x2_mul(&product, &a, &b);
        fp52x2_sqr(&square, &a);
        for (int lane = 0; lane < 8; lane++) {
            fp2 x, y, got, wanted;
            lane_as_fp(&x.c0, &a.v[0], lane);
            lane_as_fp(&x.c1, &a.v[1], lane);
            lane_as_fp(&y.c0, &b.v[0], lane);
            lane_as_fp(&y.c1, &b.v[1], lane);
            fp2_mul(&wanted, &x, &y);
            lane_as_fp(&got.c0, &product.v[0], lane);
            lane_as_fp(&got.c1, &product.v[1], lane);
            double_32_times(&got.c0);
            double_32_times(&got.c1);
            assert_true(fp2_equal(&got, &wanted));
            fp2_sqr(&wanted, &x);
            lane_as_fp(&got.c0, &square.v[0], lane);
            lane_as_fp(&got.c1, &square.v[1], lane);
            double_32_times(&got.c0);
            double_32_times(&got.c1);
            assert_true(fp2_equal(&got, &wanted));
        }
    }
}

/* Multiples of p taken away from, or added to, canonical numbers: the canonical ones come back. */
static void canonical_forms_are_found(void **state) {
    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        fp52 a;
        fill(&a, round * 8);
        const fp52 plus = fp52_add_p(a), minus = fp52_sub_p(a);
        const fp52 same[5] = {fp52_canonical_1(a), fp52_canonical_1(plus), fp52_canonical_1(minus),
                              fp52_canonical_2(fp52_sub_p(minus)), fp52_canonical_2(a)};
        for (int lane = 0; lane < 8; lane++) {
            struct element e, f;
            get(&e, &a, lane);
            const bool zero = memcmp(&e, &(struct element){{0}}, sizeof e) == 0;
            for (int k = 0; k < 5; k++) {
                /* -p and -2 p themselves are outside of the ranges. */
                if (zero && (k == 2 || k == 3)) continue;
                get(&f, &same[k], lane);
                assert_memory_equal(&e, &f, sizeof e);
            }
        }
        const fp52 between = fp52_canonical_2(minus);
        for (int lane = 0; lane < 8; lane++) {
            struct element e, f;
            get(&e, &a, lane);
            get(&f, &between, lane);
            assert_memory_equal(&e, &f, sizeof e);
        }
    }
}

static void rows_are_coded_and_negated(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 16 * ROUNDS; i++) {
        struct element e, f;
        fp a, b, sum;
        sample(&e, i);
        fp52_to_fp(&a, e.l);
        fp52_from_fp(f.l, &a);
        assert_memory_equal(&e, &f, sizeof e);
        _mm512_storeu_si512(f.l, fp52_row_negate(_mm512_loadu_si512(e.l)));
        for (int k = 0; k < 8; k++)
            assert_true(f.l[k] <= FP52_MASK);
        fp52_to_fp(&b, f.l);
        fp_add(&sum, &a, &b);
        assert_true(fp_is_zero(&sum));
    }
}

static void lanes_are_loaded_stored_swapped_and_shifted(void **state) {
    (void)state;
    uint8_t memory[16][128], copy[16][128];
    const uint8_t *from[16];
    uint8_t *to[16];
    for (uint32_t i = 0; i < 16; i++) {
        struct element e;
        sample(&e, 21 + 5 * i);
        memcpy(memory[i], &e, 64);
        sample(&e, 1000 + 5 * i);
        memcpy(memory[i] + 64, &e, 64);
        from[i] = memory[i];
        to[i] = copy[15 - i];
    }
    fp52w_store(to, 0, fp52w_load(from, 0));
    fp52w_store(to, 64, fp52w_load(from, 64));
    for (int i = 0; i < 16; i++)
        assert_memory_equal(copy[15 - i], memory[i], 128);
    const fp52_pair a = fp52w_load(from, 0);
    for (int distance = 1; distance <= 8; distance *= 2) {
        fp52w_store(to, 0, fp52w_swap(a, distance));
        for (int i = 0; i < 16; i++)
            assert_memory_equal(copy[15 - i], memory[i ^ distance], 64);
    }
    const fp52_pair shifted = fp52_pair_shift_left(a, FP52_SLOPE_SHIFT);
    for (int i = 0; i < 16; i++) {
        struct element before, after;
        get(&before, &a.v[i / 8], i % 8);
        get(&after, &shifted.v[i / 8], i % 8);
        for (int k = 0; k < 8; k++) {
            const uint64_t low = k > 0 ? before.l[k - 1] >> (52 - FP52_SLOPE_SHIFT) : 0;
            assert_int_equal(after.l[k], (before.l[k] << FP52_SLOPE_SHIFT & FP52_MASK) | low);
        }
    }
}

/* v times the scaled inverse of v is u 2^416 = 2^400 by the vectors' product. */
static void inverses_carry_the_slope_factor(void **state) {
    (void)state;
    fp wanted = fp_one; /* 2^384 */
    for (int i = 0; i < 16; i++)
        fp_add(&wanted, &wanted, &wanted);
    for (uint32_t round = 0; round < 20; round++) {
        struct element e, f;
        fp52_pair a = fp52_pair_zero(), inverse, product;
        fp got;
        sample(&e, 16 * round + 2);
        sample(&f, 16 * round + 9);
        for (int lane = 0; lane < 8; lane++) {
            put(&a.v[0], lane, &e);
            put(&a.v[1], lane, &e);
        }
        inverse = fp52w_scaled_inverse(&a);
        fp52w_mul(&product, &a, &inverse);
        for (int lane = 0; lane < 8; lane++) {
            lane_as_fp(&got, &product.v[lane & 1], lane);
            assert_true(fp_equal(&got, &wanted));
            put(&a.v[1], lane, &f);
        }
        inverse = fp52x2_scaled_inverse(&a);
        fp52x2_mul(&product, &a, &inverse);
        lane_as_fp(&got, &product.v[0], 3);
        assert_true(fp_equal(&got, &wanted));
        lane_as_fp(&got, &product.v[1], 3);
        assert_true(fp_is_zero(&got));
    }
}

int main(void) {
    if (!__builtin_cpu_supports("avx512ifma") || !__builtin_cpu_supports("avx512vbmi")) {
        printf("skipped: this processor has no AVX-512 IFMA\n");
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_equal_those_of_fp),
        cmocka_unit_test(products_of_unreduced_operands),
        cmocka_unit_test(fp2_products_equal_those_of_fp2),
        cmocka_unit_test(canonical_forms_are_found),
        cmocka_unit_test(rows_are_coded_and_negated),
        cmocka_unit_test(lanes_are_loaded_stored_swapped_and_shifted),
        cmocka_unit_test(inverses_carry_the_slope_factor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
