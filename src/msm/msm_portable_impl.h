/*
 * The portable kernel, for one group. Included by msm_portable.c once for G1 and once for G2 with
 * COORDINATE and FIELD(name) for the coordinate field and its functions, GROUP(name) for the
 * group's, SUM_MEMBER for its place in union msm_sum, and SELF(name) for what is defined here. A
 * record is the affine point itself, (0, 0) for infinity.
 */

typedef GROUP(affine) SELF(point);
typedef COORDINATE SELF(coordinate);

static void SELF(set_infinity)(void *records, size_t n) {
    memset(records, 0, n * sizeof(SELF(point)));
}

static void SELF(gather)(void *records, const void *points, const uint32_t *entries, size_t n) {
    SELF(point) *out = records;
    const SELF(point) *in = points;
    for (size_t i = 0; i < n; i++) {
        const SELF(point) *ahead = &in[entries[i + 8] >> 1];
        __builtin_prefetch(ahead);
        __builtin_prefetch((const uint8_t *)(ahead + 1) - 1);
        out[i] = in[entries[i] >> 1];
        if (entries[i] & 1) FIELD(neg)(&out[i].y, &out[i].y);
    }
}

/* Neither group has points of order two, so y = 0 only at infinity. */
static bool SELF(is_infinity)(const SELF(point) * p) {
    return FIELD(is_zero)(&p->y);
}

/*
 * The slope of the line through a and b is numerator / denominator. Sets the denominator and
 * returns the case; it is one where no slope is needed, so that the batch's product never vanishes.
 */
enum SELF(pair_case) { SELF(CHORD), SELF(TANGENT), SELF(OPPOSITE), SELF(A_ONLY), SELF(B_ONLY) };

static enum SELF(pair_case)
    SELF(classify)(SELF(coordinate) * denominator, const SELF(point) * a, const SELF(point) * b) {
    *denominator = FIELD(one);
    if (SELF(is_infinity)(b)) return SELF(A_ONLY);
    if (SELF(is_infinity)(a)) return SELF(B_ONLY);
    SELF(coordinate) difference;
    FIELD(sub)(&difference, &b->x, &a->x);
    if (!FIELD(is_zero)(&difference)) {
        *denominator = difference;
        return SELF(CHORD);
    }
    if (!FIELD(equal)(&a->y, &b->y)) return SELF(OPPOSITE);
    FIELD(add)(denominator, &a->y, &a->y);
    return SELF(TANGENT);
}

/* x3 = s^2 - xa - xb, y3 = s (xa - x3) - ya, for the slope s. */
static void SELF(third_point)(SELF(point) * a, const SELF(point) * b,
                              const SELF(coordinate) * slope) {
    SELF(coordinate) x, t;
    FIELD(sqr)(&x, slope);
    FIELD(sub)(&x, &x, &a->x);
    FIELD(sub)(&x, &x, &b->x);
    FIELD(sub)(&t, &a->x, &x);
    FIELD(mul)(&t, &t, slope);
    FIELD(sub)(&a->y, &t, &a->y);
    a->x = x;
}

static void SELF(add_pair)(SELF(point) * a, const SELF(point) * b, enum SELF(pair_case) which,
                           const SELF(coordinate) * inverse) {
    SELF(coordinate) slope, t;
    switch (which) {
    case SELF(CHORD):
        FIELD(sub)(&t, &b->y, &a->y);
        break;
    case SELF(TANGENT): /* 3 x^2 */
        FIELD(sqr)(&slope, &a->x);
        FIELD(add)(&t, &slope, &slope);
        FIELD(add)(&t, &t, &slope);
        break;
    case SELF(OPPOSITE):
        memset(a, 0, sizeof *a);
        return;
    case SELF(B_ONLY):
        *a = *b;
        return;
    case SELF(A_ONLY):
    default:
        return;
    }
    FIELD(mul)(&slope, &t, inverse);
    SELF(third_point)(a, b, &slope);
}

static void SELF(add_pairs)(void *records, struct msm_pair *pairs, size_t n, void *products) {
    SELF(point) *r = records;
    SELF(coordinate) *before = products; /* products of the denominators before each pair */
    SELF(coordinate) product = FIELD(one), denominator, inverse;
    for (size_t i = 0; i < n; i++) {
        before[i] = product;
        SELF(classify)(&denominator, &r[pairs[i].a], &r[pairs[i].b]);
        FIELD(mul)(&product, &product, &denominator);
    }
    FIELD(inv_var)(&product, &product);
    for (size_t i = n; i-- > 0;) {
        SELF(point) *a = &r[pairs[i].a];
        const SELF(point) *b = &r[pairs[i].b];
        const enum SELF(pair_case) which = SELF(classify)(&denominator, a, b);
        FIELD(mul)(&inverse, &product, &before[i]);
        FIELD(mul)(&product, &product, &denominator);
        SELF(add_pair)(a, b, which, &inverse);
    }
}

static void SELF(scatter)(void *points, const void *records, size_t n) {
    memcpy(points, records, n * sizeof(SELF(point)));
}

static void SELF(sum_set_infinity)(union msm_sum *out) {
    GROUP(set_infinity)(&out->SUM_MEMBER);
}

static void SELF(sum_add)(union msm_sum *out, const union msm_sum *a) {
    GROUP(add)(&out->SUM_MEMBER, &out->SUM_MEMBER, &a->SUM_MEMBER);
}

static void SELF(sum_add_point)(union msm_sum *out, const void *point) {
    GROUP(add_affine)(&out->SUM_MEMBER, &out->SUM_MEMBER, point);
}

static void SELF(sum_double)(union msm_sum *out) {
    GROUP(double)(&out->SUM_MEMBER, &out->SUM_MEMBER);
}

static void SELF(sum_to_point)(void *point, const union msm_sum *a) {
    GROUP(to_affine)(point, &a->SUM_MEMBER);
}

const struct msm_group GROUP_TABLE = {
    .point_bytes = sizeof(SELF(point)),
    .set_infinity = SELF(sum_set_infinity),
    .add = SELF(sum_add),
    .add_point = SELF(sum_add_point),
    .dbl = SELF(sum_double),
    .to_point = SELF(sum_to_point),
};

const struct msm_kernel KERNEL_TABLE = {
    .group = &GROUP_TABLE,
    .record_bytes = sizeof(SELF(point)),
    .product_bytes = sizeof(SELF(coordinate)),
    .slice_records = SLICE_RECORDS,
    .add_ns = ADD_NS,
    .batch_ns = BATCH_NS,
    .set_infinity = SELF(set_infinity),
    .gather = SELF(gather),
    .add_pairs = SELF(add_pairs),
    .scatter = SELF(scatter),
};
