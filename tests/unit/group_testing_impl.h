/*
 * The tests of one group. The including file defines GROUP (g1 or g2), COORD (fp or fp2),
 * SMALL_ORDER, and these functions:
 *   small_point(AFFINE *)    a point whose order is SMALL_ORDER
 *   outside_point(AFFINE *)  a point of the curve, outside the group, whose order is large
 * Group laws are held against affine formulas written here.
 */
#include "fp.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define G(name)     JOIN(GROUP, _##name)
#define F(name)     JOIN(COORD, _##name)
#define POINT       GROUP
#define AFFINE      G(affine)

static const uint8_t group_seed[32] = "curve";

/* The textbook's chord and tangent; (0, 0) is infinity. */
static void plain_add(AFFINE *out, const AFFINE *a, const AFFINE *b) {
    COORD slope, t, x, y;
    if (G(affine_is_infinity)(a) || G(affine_is_infinity)(b)) {
        *out = G(affine_is_infinity)(a) ? *b : *a;
        return;
    }
    if (F(equal)(&a->x, &b->x)) {
        F(add)(&t, &a->y, &b->y);
        if (F(is_zero)(&t)) {
            memset(out, 0, sizeof *out);
            return;
        }
        F(inv_var)(&t, &t);
        F(sqr)(&x, &a->x);
        F(add)(&slope, &x, &x);
        F(add)(&slope, &slope, &x);
    } else {
        F(sub)(&t, &b->x, &a->x);
        F(inv_var)(&t, &t);
        F(sub)(&slope, &b->y, &a->y);
    }
    F(mul)(&slope, &slope, &t);
    F(sqr)(&x, &slope);
    F(sub)(&x, &x, &a->x);
    F(sub)(&x, &x, &b->x);
    F(sub)(&t, &a->x, &x);
    F(mul)(&y, &slope, &t);
    F(sub)(&y, &y, &a->y);
    out->x = x;
    out->y = y;
}

/* The same point with Z = z instead of one. */
static void rescale(POINT *p, const COORD *z) {
    COORD zz, zzz;
    F(sqr)(&zz, z);
    F(mul)(&zzz, &zz, z);
    F(mul)(&p->x, &p->x, &zz);
    F(mul)(&p->y, &p->y, &zzz);
    F(mul)(&p->z, &p->z, z);
}

static void assert_point(const POINT *got, const AFFINE *expected) {
    AFFINE a;
    POINT p;
    G(to_affine)(&a, got);
    assert_memory_equal(&a, expected, sizeof a);
    G(from_affine)(&p, expected);
    assert_true(G(equal)(got, &p));
    assert_int_equal(G(is_infinity)(got), G(affine_is_infinity)(expected));
}

static void addition_is_complete_in_a_small_subgroup(void **state) {
    (void)state;
    AFFINE multiples[SMALL_ORDER];
    memset(multiples, 0, sizeof multiples);
    small_point(&multiples[1]);
    for (int k = 2; k < SMALL_ORDER; k++)
        plain_add(&multiples[k], &multiples[k - 1], &multiples[1]);
    AFFINE sum;
    plain_add(&sum, &multiples[SMALL_ORDER - 1], &multiples[1]);
    assert_true(G(affine_is_infinity)(&sum));
    for (int k = 1; k < SMALL_ORDER; k++) {
        assert_false(G(affine_is_infinity)(&multiples[k]));
        assert_false(G(in_group)(&multiples[k]));
    }
    const COORD z = G(generator).x, other_z = G(generator).y;
    for (int i = 0; i < SMALL_ORDER; i++) {
        POINT a, b, c;
        for (int k = 0; k < SMALL_ORDER; k++) {
            const AFFINE *expected = &multiples[(i + k) % SMALL_ORDER];
            for (int scaling = 0; scaling < 4; scaling++) {
                G(from_affine)(&a, &multiples[i]);
                G(from_affine)(&b, &multiples[k]);
                if (scaling & 1) rescale(&a, &z);
                if (scaling & 2) rescale(&b, &other_z);
                G(add)(&c, &a, &b);
                assert_point(&c, expected);
                c = a;
                G(add)(&c, &c, &b);
                assert_point(&c, expected);
                c = b;
                G(add)(&c, &a, &c);
                assert_point(&c, expected);
                c = a;
                G(add_affine)(&c, &c, &multiples[k]);
                assert_point(&c, expected);
                assert_int_equal(G(equal)(&a, &b), i == k);
            }
        }
        G(double)(&c, &a);
        assert_point(&c, &multiples[2 * i % SMALL_ORDER]);
        G(neg)(&c, &a);
        assert_point(&c, &multiples[(SMALL_ORDER - i) % SMALL_ORDER]);
        G(add)(&c, &c, &a);
        assert_true(G(is_infinity)(&c));
    }
}

static void infinity_is_neutral_whatever_its_coordinates(void **state) {
    (void)state;
    POINT inf, g, c;
    AFFINE a, zero;
    memset(&zero, 0, sizeof zero);
    G(set_infinity)(&inf);
    assert_true(G(is_infinity)(&inf));
    G(from_affine)(&c, &zero);
    assert_true(G(is_infinity)(&c));
    assert_true(G(affine_is_infinity)(&zero) && G(in_group)(&zero));
    G(from_affine)(&g, &G(generator));
    /* P - P leaves coordinates that are not all zero */
    G(neg)(&c, &g);
    G(add)(&inf, &c, &g);
    assert_true(G(is_infinity)(&inf));
    for (int i = 0; i < 2; i++) {
        G(to_affine)(&a, &inf);
        assert_true(G(affine_is_infinity)(&a));
        G(add)(&c, &inf, &g);
        assert_point(&c, &G(generator));
        G(add)(&c, &g, &inf);
        assert_point(&c, &G(generator));
        G(add_affine)(&c, &inf, &G(generator));
        assert_point(&c, &G(generator));
        G(add_affine)(&c, &g, &zero);
        assert_point(&c, &G(generator));
        G(add_affine)(&c, &inf, &zero);
        assert_true(G(is_infinity)(&c));
        G(add)(&c, &inf, &inf);
        assert_true(G(is_infinity)(&c));
        G(double)(&c, &inf);
        assert_true(G(is_infinity)(&c));
        G(neg)(&c, &inf);
        assert_true(G(is_infinity)(&c));
        G(mul)(&c, &inf, &fr_one);
        assert_true(G(is_infinity)(&c));
        assert_false(G(equal)(&inf, &g));
        G(set_infinity)(&c);
        assert_true(G(equal)(&inf, &c));
        G(set_infinity)(&inf);
    }
}

static void multiples_of_the_generator(void **state) {
    (void)state;
    POINT g, c, sum, d;
    AFFINE expected, minus;
    fr k, l, t;
    G(from_affine)(&g, &G(generator));
    assert_true(G(in_group)(&G(generator)));
    memset(&expected, 0, sizeof expected);
    for (uint64_t i = 0; i <= 40; i++) {
        fr_from_u64(&k, i);
        G(mul)(&c, &g, &k);
        assert_point(&c, &expected);
        fr_neg(&k, &k);
        G(mul)(&c, &g, &k);
        G(neg)(&c, &c);
        assert_point(&c, &expected);
        c = g;
        G(mul)(&c, &c, &k);
        G(to_affine)(&minus, &c);
        assert_true(G(in_group)(&minus));
        plain_add(&minus, &minus, &expected);
        assert_true(G(affine_is_infinity)(&minus));
        plain_add(&expected, &expected, &G(generator));
    }
    for (uint64_t i = 0; i < 10; i++) {
        fr_from_seed(&k, group_seed, 2 * i);
        fr_from_seed(&l, group_seed, 2 * i + 1);
        fr_add(&t, &k, &l);
        G(mul)(&c, &g, &k);
        G(mul)(&sum, &g, &l);
        G(add)(&sum, &sum, &c);
        G(mul)(&d, &g, &t);
        assert_true(G(equal)(&d, &sum));
        fr_mul(&t, &k, &l);
        G(mul)(&c, &c, &l);
        G(mul)(&d, &g, &t);
        assert_true(G(equal)(&d, &c));
    }
    /* powers of two against doublings: every bit of a scalar counts */
    c = g;
    for (unsigned e = 0; e < 255; e++) {
        fr_pow2(&k, e);
        G(mul)(&d, &g, &k);
        assert_true(G(equal)(&d, &c));
        G(double)(&c, &c);
    }
}

static void many_points_become_affine_at_once(void **state) {
    (void)state;
    enum { N = 33 };
    POINT in[N];
    AFFINE out[N], expected;
    /* infinity at: nowhere, everywhere, both ends, every other place */
    const uint64_t patterns[] = {0, UINT64_MAX, 1 | (uint64_t)1 << (N - 1), 0x5555555555555555};
    for (size_t p = 0; p < 4; p++) {
        for (size_t n = 0; n <= N; n++) {
            POINT next;
            G(from_affine)(&next, &G(generator));
            for (size_t i = 0; i < n; i++) {
                G(double)(&next, &next);
                in[i] = next;
                if (patterns[p] >> i & 1) G(set_infinity)(&in[i]);
            }
            memset(out, 0xff, sizeof out);
            G(batch_to_affine)(out, in, n);
            for (size_t i = 0; i < n; i++) {
                G(to_affine)(&expected, &in[i]);
                assert_memory_equal(&out[i], &expected, sizeof expected);
            }
        }
    }
}

static void points_outside_the_group_are_told(void **state) {
    (void)state;
    AFFINE a;
    outside_point(&a);
    assert_false(G(in_group)(&a));
    small_point(&a);
    assert_false(G(in_group)(&a));
    plain_add(&a, &a, &G(generator)); /* order r SMALL_ORDER */
    assert_false(G(in_group)(&a));
}
