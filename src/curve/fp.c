#include "fp.h"

#include <blst.h>

_Static_assert(sizeof(fp) == sizeof(blst_fp), "fp has blst's layout");
_Static_assert(sizeof(fp2) == sizeof(blst_fp2), "fp2 has blst's layout");

const uint64_t fp_modulus[6] = {0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                                0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a};

/* 2^384 mod p */
#define FP_ONE                                                                                     \
    {                                                                                              \
        {                                                                                          \
            0x760900000002fffd, 0xebf4000bc40c0002, 0x5f48985753c758ba, 0x77ce585370525745,        \
                0x5c071a97a256ec6d, 0x15f65ec3fa80e493                                             \
        }                                                                                          \
    }

const fp fp_one = FP_ONE;
const fp2 fp2_one = {FP_ONE, {{0}}};

/* The casts below only rename one layout: six 64-bit limbs. */

void fp_mul(fp *out, const fp *a, const fp *b) {
    blst_fp_mul((blst_fp *)out, (const blst_fp *)a, (const blst_fp *)b);
}

void fp_sqr(fp *out, const fp *a) {
    blst_fp_sqr((blst_fp *)out, (const blst_fp *)a);
}

void fp_add(fp *out, const fp *a, const fp *b) {
    blst_fp_add((blst_fp *)out, (const blst_fp *)a, (const blst_fp *)b);
}

void fp_sub(fp *out, const fp *a, const fp *b) {
    blst_fp_sub((blst_fp *)out, (const blst_fp *)a, (const blst_fp *)b);
}

void fp_neg(fp *out, const fp *a) {
    blst_fp_cneg((blst_fp *)out, (const blst_fp *)a, true);
}

void fp_inv_var(fp *out, const fp *a) {
    blst_fp_eucl_inverse((blst_fp *)out, (const blst_fp *)a);
}

void fp2_mul(fp2 *out, const fp2 *a, const fp2 *b) {
    blst_fp2_mul((blst_fp2 *)out, (const blst_fp2 *)a, (const blst_fp2 *)b);
}

void fp2_sqr(fp2 *out, const fp2 *a) {
    blst_fp2_sqr((blst_fp2 *)out, (const blst_fp2 *)a);
}

void fp2_add(fp2 *out, const fp2 *a, const fp2 *b) {
    blst_fp2_add((blst_fp2 *)out, (const blst_fp2 *)a, (const blst_fp2 *)b);
}

void fp2_sub(fp2 *out, const fp2 *a, const fp2 *b) {
    blst_fp2_sub((blst_fp2 *)out, (const blst_fp2 *)a, (const blst_fp2 *)b);
}

void fp2_neg(fp2 *out, const fp2 *a) {
    fp_neg(&out->c0, &a->c0);
    fp_neg(&out->c1, &a->c1);
}

/* (a + b u)^-1 = (a - b u) / (a^2 + b^2) */
void fp2_inv_var(fp2 *out, const fp2 *a) {
    fp norm, t;
    fp_sqr(&norm, &a->c0);
    fp_sqr(&t, &a->c1);
    fp_add(&norm, &norm, &t);
    fp_inv_var(&norm, &norm);
    fp_mul(&out->c0, &a->c0, &norm);
    fp_mul(&t, &a->c1, &norm);
    fp_neg(&out->c1, &t);
}

/*
 * Montgomery's trick: scratch[i] is the product of the elements before i that are not zero, so one
 * inverse of the whole product gives each single one, from the last to the first.
 */
void fp_batch_inv(fp *a, size_t n, fp *scratch) {
    fp product = fp_one;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = product;
        if (!fp_is_zero(&a[i])) fp_mul(&product, &product, &a[i]);
    }
    fp_inv_var(&product, &product);
    for (size_t i = n; i-- > 0;) {
        if (fp_is_zero(&a[i])) continue;
        fp_mul(&scratch[i], &scratch[i], &product);
        fp_mul(&product, &product, &a[i]);
        a[i] = scratch[i];
    }
}

void fp2_batch_inv(fp2 *a, size_t n, fp2 *scratch) {
    fp2 product = fp2_one;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = product;
        if (!fp2_is_zero(&a[i])) fp2_mul(&product, &product, &a[i]);
    }
    fp2_inv_var(&product, &product);
    for (size_t i = n; i-- > 0;) {
        if (fp2_is_zero(&a[i])) continue;
        fp2_mul(&scratch[i], &scratch[i], &product);
        fp2_mul(&product, &product, &a[i]);
        a[i] = scratch[i];
    }
}
