#include "unit/test_main.h"

#include "fp.h"
#include "hash.h"

/* A reproducible element: 384 bits of SHA-256 with the top ones cleared, so that it is below p. */
static void random_fp(fp *out, uint32_t index) {
    uint8_t digest[2 * SHA256_BYTES];
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t input[3] = {0x6670, index, i};
        sha256(digest + i * SHA256_BYTES, input, sizeof input);
    }
    memcpy(out->l, digest, sizeof out->l);
    out->l[5] &= UINT64_C(0x0fffffffffffffff);
}

/* Zero, one, and others where carries and reductions happen; the rest is random. */
static void sample(fp *out, uint32_t index) {
    *out = (fp){{0}};
    if (index == 1) out->l[0] = 1;
    if (index == 2) *out = fp_one;
    if (index >= 3 && index <= 5) { /* p - 1, p - 2, p - 3 */
        memcpy(out->l, fp_modulus, sizeof out->l);
        out->l[0] -= index - 2;
    }
    if (index >= 6 && index <= 10) out->l[index - 5] = 1;
    if (index == 11) { /* (p - 1) / 2 */
        for (int i = 0; i < 6; i++)
            out->l[i] = fp_modulus[i] >> 1 | (i < 5 ? fp_modulus[i + 1] << 63 : 0);
    }
    if (index > 11) random_fp(out, index);
}

enum { SAMPLES = 40 };

/* The slow way, on plain limbs: sum modulo p. */
static void plain_add(fp *out, const fp *a, const fp *b) {
    uint64_t sum[6], less[6];
    unsigned __int128 carry = 0, borrow = 0;
    for (int i = 0; i < 6; i++) {
        carry += (unsigned __int128)a->l[i] + b->l[i];
        sum[i] = (uint64_t)carry;
        carry >>= 64;
    }
    for (int i = 0; i < 6; i++) {
        const unsigned __int128 t = (unsigned __int128)sum[i] - fp_modulus[i] - borrow;
        less[i] = (uint64_t)t;
        borrow = t >> 127;
    }
    memcpy(out->l, borrow ? sum : less, sizeof sum);
}

/* a b modulo p by doubling and adding, no Montgomery factor. */
static void plain_mul(fp *out, const fp *a, const fp *b) {
    fp r = {{0}};
    for (int bit = 383; bit >= 0; bit--) {
        plain_add(&r, &r, &r);
        if (b->l[bit / 64] >> bit % 64 & 1) plain_add(&r, &r, a);
    }
    *out = r;
}

static void products_and_sums_are_those_of_the_slow_way(void **state) {
    (void)state;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        for (uint32_t j = 0; j < SAMPLES; j++) {
            fp a, b, got, wanted;
            sample(&a, i);
            sample(&b, j);
            fp_add(&got, &a, &b);
            plain_add(&wanted, &a, &b);
            assert_true(fp_equal(&got, &wanted));
            fp_sub(&got, &got, &b);
            assert_true(fp_equal(&got, &a));
            /* a b / R, and R brought back by 384 doublings. */
            fp_mul(&got, &a, &b);
            for (int k = 0; k < 384; k++)
                plain_add(&got, &got, &got);
            plain_mul(&wanted, &a, &b);
            assert_true(fp_equal(&got, &wanted));
        }
    }
}

static void inverses_negatives_and_squares(void **state) {
    (void)state;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        fp a, b, c;
        sample(&a, i);
        fp_sqr(&b, &a);
        fp_mul(&c, &a, &a);
        assert_true(fp_equal(&b, &c));
        fp_neg(&b, &a);
        fp_add(&c, &a, &b);
        assert_true(fp_is_zero(&c));
        fp_inv_var(&b, &a);
        fp_mul(&c, &a, &b);
        if (fp_is_zero(&a)) {
            assert_true(fp_is_zero(&b));
        } else {
            assert_true(fp_equal(&c, &fp_one));
        }
    }
}

/* (a0 + a1 u)(b0 + b1 u) with u^2 = -1, component by component. */
static void fp2_agrees_with_its_components(void **state) {
    (void)state;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        fp2 a, b, c, d;
        fp t, u;
        sample(&a.c0, i);
        sample(&a.c1, (i * 7 + 3) % SAMPLES);
        sample(&b.c0, (i * 5 + 1) % SAMPLES);
        sample(&b.c1, (i * 3 + 2) % SAMPLES);
        fp2_mul(&c, &a, &b);
        fp_mul(&t, &a.c0, &b.c0);
        fp_mul(&u, &a.c1, &b.c1);
        fp_sub(&d.c0, &t, &u);
        fp_mul(&t, &a.c0, &b.c1);
        fp_mul(&u, &a.c1, &b.c0);
        fp_add(&d.c1, &t, &u);
        assert_true(fp2_equal(&c, &d));
        fp2_sqr(&c, &a);
        fp2_mul(&d, &a, &a);
        assert_true(fp2_equal(&c, &d));
        fp2_neg(&c, &a);
        fp2_add(&d, &c, &a);
        assert_true(fp2_is_zero(&d));
        fp2_sub(&d, &b, &a);
        fp2_add(&d, &d, &a);
        assert_true(fp2_equal(&d, &b));
        fp2_inv_var(&c, &a);
        fp2_mul(&c, &c, &a);
        assert_true(fp2_is_zero(&a) ? fp2_is_zero(&c) : fp2_equal(&c, &fp2_one));
    }
}

static void batches_of_inverses_pass_over_zeros(void **state) {
    (void)state;
    fp a[SAMPLES], single, scratch[SAMPLES];
    fp2 a2[SAMPLES], single2, scratch2[SAMPLES];
    for (uint32_t n = 0; n <= SAMPLES; n++) {
        for (uint32_t i = 0; i < n; i++) {
            sample(&a[i], i % 5 == 2 ? 0 : i);
            a2[i] = (fp2){a[i], a[i]};
        }
        fp_batch_inv(a, n, scratch);
        fp2_batch_inv(a2, n, scratch2);
        for (uint32_t i = 0; i < n; i++) {
            sample(&single, i % 5 == 2 ? 0 : i);
            single2 = (fp2){single, single};
            fp_inv_var(&single, &single);
            fp2_inv_var(&single2, &single2);
            assert_true(fp_equal(&a[i], &single));
            assert_true(fp2_equal(&a2[i], &single2));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_and_sums_are_those_of_the_slow_way),
        cmocka_unit_test(inverses_negatives_and_squares),
        cmocka_unit_test(fp2_agrees_with_its_components),
        cmocka_unit_test(batches_of_inverses_pass_over_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
