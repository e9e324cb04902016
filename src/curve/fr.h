/*
 * Fr: the scalar field of BLS12-381, integers modulo
 *   r = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001.
 *
 * An `fr` is four 64-bit limbs, least significant first, in Montgomery form (R = 2^256), always
 * reduced below r; it has the layout of blst_fr. `fr_words` is the same integer not in Montgomery
 * form ("canonical"). All functions take any reduced operands, and outputs may alias inputs.
 *
 * Threads: pure. Time varies with the operands only where a name ends in _var.
 */
#ifndef CURVE_FR_H
#define CURVE_FR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t l[4];
} fr;

typedef struct {
    uint64_t l[4]; /* canonical, below r where nothing else is said */
} fr_words;

extern const fr fr_zero;
extern const fr fr_one;
static const uint64_t fr_modulus[4] = {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805,
                                       0x73eda753299d7d48};

__extension__ typedef unsigned __int128 fr_u128;

/* out = s - r if that is not negative, else s; s is below 2 r (and so below 2^256). */
static inline void fr_reduce_once(fr *out, const uint64_t s[4]) {
    uint64_t d[4];
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        const fr_u128 t = (fr_u128)s[i] - fr_modulus[i] - borrow;
        d[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    const uint64_t keep = 0 - borrow;
    for (int i = 0; i < 4; i++)
        out->l[i] = (s[i] & keep) | (d[i] & ~keep);
}

static inline void fr_add(fr *out, const fr *a, const fr *b) {
    uint64_t s[4];
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) {
        const fr_u128 t = (fr_u128)a->l[i] + b->l[i] + carry;
        s[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    fr_reduce_once(out, s); /* no carry is left: 2 r < 2^256 */
}

static inline void fr_sub(fr *out, const fr *a, const fr *b) {
    uint64_t d[4];
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        const fr_u128 t = (fr_u128)a->l[i] - b->l[i] - borrow;
        d[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    const uint64_t mask = 0 - borrow;
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) {
        const fr_u128 t = (fr_u128)d[i] + (fr_modulus[i] & mask) + carry;
        out->l[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
}

static inline void fr_neg(fr *out, const fr *a) {
    const fr zero = {{0, 0, 0, 0}};
    fr_sub(out, &zero, a);
}

static inline void fr_double(fr *out, const fr *a) {
    fr_add(out, a, a);
}

void fr_mul(fr *out, const fr *a, const fr *b);
void fr_sqr(fr *out, const fr *a);
void fr_pow5(fr *out, const fr *a);
void fr_pow_u64(fr *out, const fr *a, uint64_t e);
/* 1/a; 0 for 0. */
void fr_inv_var(fr *out, const fr *a);
/* In place: a[i] becomes 1/a[i] (0 stays 0); one inversion and 3n products. scratch: n elements. */
void fr_batch_inv(fr *a, size_t n, fr *scratch);

static inline bool fr_is_zero(const fr *a) {
    return (a->l[0] | a->l[1] | a->l[2] | a->l[3]) == 0;
}

static inline bool fr_equal(const fr *a, const fr *b) {
    return ((a->l[0] ^ b->l[0]) | (a->l[1] ^ b->l[1]) | (a->l[2] ^ b->l[2]) |
            (a->l[3] ^ b->l[3])) == 0;
}

void fr_from_u64(fr *out, uint64_t v);
/* 2^e for e in [0, 255). */
void fr_pow2(fr *out, unsigned e);
void fr_to_words(fr_words *out, const fr *a);
/* a must be below r. */
void fr_from_words(fr *out, const fr_words *a);

/* 32 bytes little-endian. Returns false, and leaves *out alone, when the value is not below r. */
bool fr_from_bytes(fr *out, const uint8_t in[32]);
void fr_to_bytes(uint8_t out[32], const fr *a);
/* 32 bytes little-endian of which the two top bits are taken as zero, as the DRG does with hashes.
 */
void fr_from_bytes_trimmed(fr *out, const uint8_t in[32]);

/* Uniform from the system's randomness; aborts when the system has none. */
void fr_random(fr *out);
/* From a seed: element number `index` of a reproducible stream (SHA-256 in counter mode, 512 bits
 * reduced). For development parameters and tests only. */
void fr_from_seed(fr *out, const uint8_t seed[32], uint64_t index);

/* The notation of the oracle: decimal for small values, -n for small negatives, 2^k and -2^k for
 * powers of two, else 0x and big-endian hex. out has at least 80 bytes. Returns its length. */
int fr_format(char *out, size_t out_bytes, const fr *a);

#endif
