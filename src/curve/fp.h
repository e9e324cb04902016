/*
 * Fp and Fp2: the coordinate fields of G1 and G2, integers modulo
 *   p =
 * 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab
 * and Fp[u] / (u^2 + 1).
 *
 * Values are in Montgomery form (R = 2^384), always reduced below p; the types are those of g1.h.
 * All functions take any reduced operands, and outputs may alias inputs.
 *
 * Threads: pure. Time varies with the operands only where a name ends in _var.
 */
#ifndef CURVE_FP_H
#define CURVE_FP_H

#include <stddef.h>

#include "g1.h"

extern const fp fp_one;
extern const fp2 fp2_one;
extern const uint64_t fp_modulus[6];

void fp_mul(fp *out, const fp *a, const fp *b);
void fp_sqr(fp *out, const fp *a);
void fp_add(fp *out, const fp *a, const fp *b);
void fp_sub(fp *out, const fp *a, const fp *b);
void fp_neg(fp *out, const fp *a);
/* 1/a; 0 for 0. */
void fp_inv_var(fp *out, const fp *a);
/* In place: a[i] becomes 1/a[i] (0 stays 0); one inversion and 3n products. scratch: n elements. */
void fp_batch_inv(fp *a, size_t n, fp *scratch);

void fp2_mul(fp2 *out, const fp2 *a, const fp2 *b);
void fp2_sqr(fp2 *out, const fp2 *a);
void fp2_add(fp2 *out, const fp2 *a, const fp2 *b);
void fp2_sub(fp2 *out, const fp2 *a, const fp2 *b);
void fp2_neg(fp2 *out, const fp2 *a);
void fp2_inv_var(fp2 *out, const fp2 *a);
void fp2_batch_inv(fp2 *a, size_t n, fp2 *scratch);

static inline bool fp_is_zero(const fp *a) {
    return (a->l[0] | a->l[1] | a->l[2] | a->l[3] | a->l[4] | a->l[5]) == 0;
}

static inline bool fp_equal(const fp *a, const fp *b) {
    return ((a->l[0] ^ b->l[0]) | (a->l[1] ^ b->l[1]) | (a->l[2] ^ b->l[2]) | (a->l[3] ^ b->l[3]) |
            (a->l[4] ^ b->l[4]) | (a->l[5] ^ b->l[5])) == 0;
}

static inline bool fp2_is_zero(const fp2 *a) {
    return fp_is_zero(&a->c0) && fp_is_zero(&a->c1);
}

static inline bool fp2_equal(const fp2 *a, const fp2 *b) {
    return fp_equal(&a->c0, &b->c0) && fp_equal(&a->c1, &b->c1);
}

#endif
