#include "fr.h"

#include <assert.h>
#include <blst.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "hash.h"

static_assert(sizeof(fr) == sizeof(blst_fr), "an fr is a blst_fr");

const fr fr_zero = {{0, 0, 0, 0}};
const fr fr_one = {
    {0x00000001fffffffe, 0x5884b7fa00034802, 0x998c4fefecbc4ff5, 0x1824b159acc5056f}};

/* 2^256 in Montgomery form, that is 2^512 mod r. */
static const fr two_to_256 = {
    {0xc999e990f3f29c6d, 0x2b6cedcb87925c23, 0x05d314967254398f, 0x0748d9d99f59ff11}};

static blst_fr *as_blst(fr *a) {
    return (blst_fr *)a;
}

static const blst_fr *as_blst_const(const fr *a) {
    return (const blst_fr *)a;
}

void fr_mul(fr *out, const fr *a, const fr *b) {
    blst_fr_mul(as_blst(out), as_blst_const(a), as_blst_const(b));
}

void fr_sqr(fr *out, const fr *a) {
    blst_fr_sqr(as_blst(out), as_blst_const(a));
}

void fr_pow5(fr *out, const fr *a) {
    fr t;
    fr_sqr(&t, a);
    fr_sqr(&t, &t);
    fr_mul(out, &t, a);
}

void fr_pow_u64(fr *out, const fr *a, uint64_t e) {
    fr base = *a;
    fr result = fr_one;
    for (; e != 0; e >>= 1) {
        if (e & 1) fr_mul(&result, &result, &base);
        fr_sqr(&base, &base);
    }
    *out = result;
}

void fr_inv_var(fr *out, const fr *a) {
    blst_fr_eucl_inverse(as_blst(out), as_blst_const(a));
}

/*
 * Montgomery's trick. scratch[i] is the product of the non-zero elements before i; walking back,
 * `rest` is the inverse of the product up to and including i.
 */
void fr_batch_inv(fr *a, size_t n, fr *scratch) {
    fr rest = fr_one;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = rest;
        if (!fr_is_zero(&a[i])) fr_mul(&rest, &rest, &a[i]);
    }
    fr_inv_var(&rest, &rest);
    for (size_t i = n; i-- > 0;) {
        if (fr_is_zero(&a[i])) continue;
        fr inverse;
        fr_mul(&inverse, &rest, &scratch[i]);
        fr_mul(&rest, &rest, &a[i]);
        a[i] = inverse;
    }
}

/* A value below 2^256, not necessarily below r: the product with 2^512 mod r is below r 2^256,
 * which is what Montgomery's reduction asks for. */
static void from_any_words(fr *out, const uint64_t words[4]) {
    const fr raw = {{words[0], words[1], words[2], words[3]}};
    fr_mul(out, &raw, &two_to_256);
}

void fr_from_u64(fr *out, uint64_t v) {
    const uint64_t words[4] = {v, 0, 0, 0};
    from_any_words(out, words);
}

void fr_pow2(fr *out, unsigned e) {
    assert(e < 255);
    uint64_t words[4] = {0, 0, 0, 0};
    words[e / 64] = (uint64_t)1 << (e % 64);
    from_any_words(out, words);
}

void fr_to_words(fr_words *out, const fr *a) {
    blst_fr plain;
    blst_fr_from(&plain, as_blst_const(a));
    memcpy(out, &plain, sizeof *out);
}

void fr_from_words(fr *out, const fr_words *a) {
    from_any_words(out, a->l);
}

static void load_words(uint64_t words[4], const uint8_t in[32]) {
    for (int i = 0; i < 4; i++) {
        uint64_t w = 0;
        for (int k = 7; k >= 0; k--)
            w = w << 8 | in[8 * i + k];
        words[i] = w;
    }
}

static bool below_modulus(const uint64_t words[4]) {
    for (int i = 3; i >= 0; i--) {
        if (words[i] != fr_modulus[i]) return words[i] < fr_modulus[i];
    }
    return false;
}

bool fr_from_bytes(fr *out, const uint8_t in[32]) {
    uint64_t words[4];
    load_words(words, in);
    if (!below_modulus(words)) return false;
    from_any_words(out, words);
    return true;
}

void fr_to_bytes(uint8_t out[32], const fr *a) {
    fr_words words;
    fr_to_words(&words, a);
    for (int i = 0; i < 32; i++)
        out[i] = (uint8_t)(words.l[i / 8] >> (8 * (i % 8)));
}

void fr_from_bytes_trimmed(fr *out, const uint8_t in[32]) {
    uint64_t words[4];
    load_words(words, in);
    words[3] &= UINT64_MAX >> 2; /* 2^254 < r, so the rest is below r */
    from_any_words(out, words);
}

/* 512 bits, little-endian, reduced: the bias is below 2^-256. */
static void from_wide_bytes(fr *out, const uint8_t in[64]) {
    uint64_t words[4];
    fr low, high;
    load_words(words, in);
    from_any_words(&low, words);
    load_words(words, in + 32);
    from_any_words(&high, words);
    fr_mul(&high, &high, &two_to_256);
    fr_add(out, &low, &high);
}

void fr_random(fr *out) {
    uint8_t bytes[64];
    if (sodium_init() < 0) {
        fputs("cuzk: libsodium found no source of randomness\n", stderr);
        abort();
    }
    randombytes_buf(bytes, sizeof bytes);
    from_wide_bytes(out, bytes);
    sodium_memzero(bytes, sizeof bytes);
}

/* The stream: SHA-256(seed, index as 8 bytes little-endian, 0 or 1) gives each half. */
void fr_from_seed(fr *out, const uint8_t seed[32], uint64_t index) {
    uint8_t block[41];
    uint8_t wide[64];
    memcpy(block, seed, 32);
    for (int i = 0; i < 8; i++)
        block[32 + i] = (uint8_t)(index >> (8 * i));
    for (uint8_t half = 0; half < 2; half++) {
        block[40] = half;
        sha256(wide + 32 * half, block, sizeof block);
    }
    from_wide_bytes(out, wide);
}

/* k when the value is 2^k, else -1. */
static int exact_log2(const fr_words *a) {
    int bits = 0, at = -1;
    for (int i = 0; i < 4; i++) {
        bits += __builtin_popcountll(a->l[i]);
        if (a->l[i] != 0) at = 64 * i + __builtin_ctzll(a->l[i]);
    }
    return bits == 1 ? at : -1;
}

/* "Small" is whatever fits 64 bits, as the oracle has it. */
static bool is_small(const fr_words *a) {
    return (a->l[1] | a->l[2] | a->l[3]) == 0;
}

int fr_format(char *out, size_t out_bytes, const fr *a) {
    fr negative;
    fr_words plus, minus;
    fr_neg(&negative, a);
    fr_to_words(&plus, a);
    fr_to_words(&minus, &negative);
    if (is_small(&plus)) return snprintf(out, out_bytes, "%llu", (unsigned long long)plus.l[0]);
    if (is_small(&minus)) return snprintf(out, out_bytes, "-%llu", (unsigned long long)minus.l[0]);
    if (exact_log2(&plus) >= 0) return snprintf(out, out_bytes, "2^%d", exact_log2(&plus));
    if (exact_log2(&minus) >= 0) return snprintf(out, out_bytes, "-2^%d", exact_log2(&minus));
    return snprintf(out, out_bytes, "0x%016llx%016llx%016llx%016llx", (unsigned long long)plus.l[3],
                    (unsigned long long)plus.l[2], (unsigned long long)plus.l[1],
                    (unsigned long long)plus.l[0]);
}
