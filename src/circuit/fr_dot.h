/*
 * Scalar products over Fr with one reduction at the end.
 *
 * The products' columns are summed in three 64-bit registers each, so that a product costs 16
 * multiplications instead of the 32 of a product that is reduced. doc/poseidon.md has the bounds.
 *
 * Threads: pure. Operands reduced, result reduced; `out` may alias anything.
 */
#ifndef CIRCUIT_FR_DOT_H
#define CIRCUIT_FR_DOT_H

#include <immintrin.h>

#include "fr.h"

/* The sum of n products stays below 8 r after reduction; with an addend, of n - 2. */
enum { FR_DOT_MAX = 15 };

/* k r mod 2^256 */
static const uint64_t fr_dot_multiple[8][4] = {
    {0, 0, 0, 0},
    {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48},
    {0xfffffffe00000002, 0xa77b4805fffcb7fd, 0x6673b0101343b00a, 0xe7db4ea6533afa90},
    {0xfffffffd00000003, 0xfb38ec08fffb13fc, 0x99ad88181ce5880f, 0x5bc8f5f97cd877d8},
    {0xfffffffc00000004, 0x4ef6900bfff96ffb, 0xcce7602026876015, 0xcfb69d4ca675f520},
    {0xfffffffb00000005, 0xa2b4340efff7cbfa, 0x002138283029381a, 0x43a4449fd0137269},
    {0xfffffffa00000006, 0xf671d811fff627f9, 0x335b103039cb101f, 0xb791ebf2f9b0efb1},
    {0xfffffff900000007, 0x4a2f7c14fff483f8, 0x6694e838436ce825, 0x2b7f9346234e6cf9}};

/* (c2, c1, c0) += a b */
static inline void fr_dot_mac(uint64_t c[3], uint64_t a, uint64_t b) {
    const unsigned __int128 p = (unsigned __int128)a * b;
    __asm__("addq %3, %0\n\tadcq %4, %1\n\tadcq $0, %2"
            : "+&r"(c[0]), "+&r"(c[1]), "+&r"(c[2])
            : "r"((uint64_t)p), "r"((uint64_t)(p >> 64))
            : "cc");
}

/* out = u mod r for five limbs u below 8 r. */
static inline void fr_dot_finish(fr *out, const uint64_t u[5]) {
    /* A lower bound of u / r from its bits above 2^252, at most one too low; 35/256 is a little
     * less than 2^252 / r. What is left is below 2 r and fits four limbs. */
    const uint64_t q = (u[4] << 4 | u[3] >> 60) * 35 >> 8;
    unsigned long long v[4], d[4];
    unsigned char borrow = 0;
    for (int i = 0; i < 4; i++)
        borrow = _subborrow_u64(borrow, u[i], fr_dot_multiple[q][i], &v[i]);
    borrow = 0;
    for (int i = 0; i < 4; i++)
        borrow = _subborrow_u64(borrow, v[i], fr_dot_multiple[1][i], &d[i]);
    for (int i = 0; i < 4; i++)
        out->l[i] = borrow ? v[i] : d[i];
}

/* t, nine limbs, below 7 r 2^256: out = t / 2^256 mod r. */
static inline void fr_dot_reduce(fr *out, uint64_t t[9]) {
    const uint64_t minus_inverse = 0xfffffffeffffffff; /* -1 / r mod 2^64 */
    uint64_t top = 0;
    for (int i = 0; i < 4; i++) {
        const uint64_t m = t[i] * minus_inverse;
        unsigned __int128 s = 0;
        for (int j = 0; j < 4; j++) {
            s = (unsigned __int128)m * fr_dot_multiple[1][j] + t[i + j] + (uint64_t)(s >> 64);
            t[i + j] = (uint64_t)s;
        }
        s = (s >> 64) + t[i + 4] + top;
        t[i + 4] = (uint64_t)s;
        top = (uint64_t)(s >> 64);
    }
    t[8] += top;
    fr_dot_finish(out, t + 4);
}

/* The lowest limb of a column's sum; the rest is carried into the next column. */
static inline uint64_t fr_dot_carry(uint64_t c[3]) {
    const uint64_t limb = c[0];
    c[0] = c[1];
    c[1] = c[2];
    c[2] = 0;
    return limb;
}

/*
 * t[0 .. 8] = sum of a[k] b[k] for k < n, column by column. Written out, so that the columns are
 * straight code whatever a compiler thinks of unrolling.
 */
static inline void fr_dot_columns(uint64_t t[9], const fr *a, const fr *b, unsigned n) {
    uint64_t c[3] = {0, 0, 0};
    for (unsigned k = 0; k < n; k++)
        fr_dot_mac(c, a[k].l[0], b[k].l[0]);
    t[0] = fr_dot_carry(c);
    for (unsigned k = 0; k < n; k++) {
        fr_dot_mac(c, a[k].l[0], b[k].l[1]);
        fr_dot_mac(c, a[k].l[1], b[k].l[0]);
    }
    t[1] = fr_dot_carry(c);
    for (unsigned k = 0; k < n; k++) {
        fr_dot_mac(c, a[k].l[0], b[k].l[2]);
        fr_dot_mac(c, a[k].l[1], b[k].l[1]);
        fr_dot_mac(c, a[k].l[2], b[k].l[0]);
    }
    t[2] = fr_dot_carry(c);
    for (unsigned k = 0; k < n; k++) {
        fr_dot_mac(c, a[k].l[0], b[k].l[3]);
        fr_dot_mac(c, a[k].l[1], b[k].l[2]);
        fr_dot_mac(c, a[k].l[2], b[k].l[1]);
        fr_dot_mac(c, a[k].l[3], b[k].l[0]);
    }
    t[3] = fr_dot_carry(c);
    for (unsigned k = 0; k < n; k++) {
        fr_dot_mac(c, a[k].l[1], b[k].l[3]);
        fr_dot_mac(c, a[k].l[2], b[k].l[2]);
        fr_dot_mac(c, a[k].l[3], b[k].l[1]);
    }
    t[4] = fr_dot_carry(c);
    for (unsigned k = 0; k < n; k++) {
        fr_dot_mac(c, a[k].l[2], b[k].l[3]);
        fr_dot_mac(c, a[k].l[3], b[k].l[2]);
    }
    t[5] = fr_dot_carry(c);
    for (unsigned k = 0; k < n; k++)
        fr_dot_mac(c, a[k].l[3], b[k].l[3]);
    t[6] = fr_dot_carry(c);
    t[7] = c[0];
    t[8] = c[1];
}

/* out = sum of a[i] b[i] for i < n, plus *addend where it is not NULL; n as above. */
static inline void fr_dot(fr *out, const fr *a, const fr *b, unsigned n, const fr *addend) {
    uint64_t t[9];
    fr_dot_columns(t, a, b, n);
    if (addend != NULL) {
        unsigned long long s;
        unsigned char carry = 0;
        for (int i = 0; i < 4; i++) {
            carry = _addcarry_u64(carry, t[4 + i], addend->l[i], &s);
            t[4 + i] = s;
        }
        t[8] += carry;
    }
    fr_dot_reduce(out, t);
}

#endif
