/* The pairing is bilinear, not degenerate, and takes infinity for one. */
#include "unit/test_main.h"

#include "g1.h"

static const uint8_t seed[32] = "curve";

static void multiple(g1_affine *p, g2_affine *q, const fr *k) {
    g1 a;
    g2 b;
    if (p != NULL) {
        g1_from_affine(&a, &g1_generator);
        g1_mul(&a, &a, k);
        g1_to_affine(p, &a);
    }
    if (q != NULL) {
        g2_from_affine(&b, &g2_generator);
        g2_mul(&b, &b, k);
        g2_to_affine(q, &b);
    }
}

static void products_follow_the_scalars(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 8; i++) {
        fr a, b, c, d;
        g1_affine p[3];
        g2_affine q[3];
        fr_from_seed(&a, seed, 3 * i);
        fr_from_seed(&b, seed, 3 * i + 1);
        fr_from_seed(&c, seed, 3 * i + 2);
        if (i == 0) fr_from_u64(&a, 1);
        if (i == 1) fr_neg(&b, &fr_one);
        /* a b + c + d = 0 */
        fr_mul(&d, &a, &b);
        fr_add(&d, &d, &c);
        fr_neg(&d, &d);
        multiple(&p[0], NULL, &a);
        multiple(NULL, &q[0], &b);
        multiple(&p[1], NULL, &c);
        multiple(NULL, &q[1], &fr_one);
        multiple(&p[2], NULL, &fr_one);
        multiple(NULL, &q[2], &d);
        assert_true(pairing_product_is_one(p, q, 3));
        assert_false(pairing_product_is_one(p, q, 2));
        assert_false(pairing_product_is_one(p, q, 1));
        fr_add(&d, &d, &fr_one);
        multiple(NULL, &q[2], &d);
        assert_false(pairing_product_is_one(p, q, 3));
    }
}

static void infinity_counts_as_one(void **state) {
    (void)state;
    g1_affine p[3];
    g2_affine q[3];
    memset(p, 0, sizeof p);
    memset(q, 0, sizeof q);
    assert_true(pairing_product_is_one(p, q, 0));
    assert_true(pairing_product_is_one(p, q, 3));
    p[0] = g1_generator;
    q[1] = g2_generator;
    assert_true(pairing_product_is_one(p, q, 3));
    p[2] = g1_generator;
    q[2] = g2_generator;
    assert_false(pairing_product_is_one(p, q, 3));
    fr minus_one;
    fr_neg(&minus_one, &fr_one);
    multiple(&p[1], NULL, &minus_one);
    assert_true(pairing_product_is_one(p, q, 3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_follow_the_scalars),
        cmocka_unit_test(infinity_counts_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
