/*
 * Inside of the msm room: eight elements of Fp at once, with AVX-512 IFMA. Products are in
 * fp52_asm.h.
 *
 * A vector holds eight limbs of 52 bits, least significant first, each for eight lanes. Products
 * are Montgomery's with 2^416: mul(a, b) = a b / 2^416. Since p has 381 bits only, there is much
 * room: an operand may be any number below 2^400, and for a b < 2^782 the result is below p +
 * 2^366. "Carried" means that every limb is in [0, 2^52), which products demand of their operands.
 *
 * Files that include this are compiled for these instructions and run only where they exist.
 */
#ifndef MSM_FP52_H
#define MSM_FP52_H

#include <immintrin.h>

#include "fp.h"

/* Sanitizers blow inlined code up beyond what compilers finish in minutes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FP52_INLINE static inline
#else
#define FP52_INLINE static inline __attribute__((always_inline))
#endif
#define FP52_UNROLL _Pragma("GCC unroll 16")

typedef struct {
    __m512i l[8];
} fp52;

/* p, -1/p mod 2^52, and 2^416 mod p. */
#define FP52_P                                                                                     \
    {                                                                                              \
        0xeffffffffaaab, 0xfeb153ffffb9f, 0x6b0f6241eabff, 0x12bf6730d2a0f, 0x764774b84f385,       \
            0x1ba7b6434bacd, 0x1ea397fe69a4b, 0x000000001a011                                      \
    }
#define FP52_N0   0x3fffcfffcfffd
#define FP52_MASK ((UINT64_C(1) << 52) - 1)
#define FP52_ONE                                                                                   \
    {                                                                                              \
        0x6480ea8e9b9af, 0x65766c8fe444f, 0x8b540fea96f7d, 0x3b2ee82efd422, 0xa6723e5f0ade5,       \
            0xff6eb6fdd4230, 0xe06ef23c24a25, 0x0000000014c8e                                      \
    }

static const uint64_t fp52_p[8] = FP52_P;

FP52_INLINE __m512i fp52_p_limb(int i) {
    return _mm512_set1_epi64((long long)fp52_p[i]);
}

FP52_INLINE fp52 fp52_zero(void) {
    fp52 r;
    FP52_UNROLL
    for (int i = 0; i < 8; i++)
        r.l[i] = _mm512_setzero_si512();
    return r;
}

FP52_INLINE fp52 fp52_one(void) {
    static const uint64_t one[8] = FP52_ONE;
    fp52 r;
    FP52_UNROLL
    for (int i = 0; i < 8; i++)
        r.l[i] = _mm512_set1_epi64((long long)one[i]);
    return r;
}

/* Carries signed limbs; the top limb keeps the sign. */
FP52_INLINE fp52 fp52_carry(fp52 a) {
    const __m512i mask = _mm512_set1_epi64((long long)FP52_MASK);
    FP52_UNROLL
    for (int i = 0; i < 7; i++) {
        a.l[i + 1] = _mm512_add_epi64(a.l[i + 1], _mm512_srai_epi64(a.l[i], 52));
        a.l[i] = _mm512_and_si512(a.l[i], mask);
    }
    return a;
}

/* Limb by limb, not carried. */
FP52_INLINE fp52 fp52_add_raw(fp52 a, fp52 b) {
    FP52_UNROLL
    for (int i = 0; i < 8; i++)
        a.l[i] = _mm512_add_epi64(a.l[i], b.l[i]);
    return a;
}

FP52_INLINE fp52 fp52_sub_raw(fp52 a, fp52 b) {
    FP52_UNROLL
    for (int i = 0; i < 8; i++)
        a.l[i] = _mm512_sub_epi64(a.l[i], b.l[i]);
    return a;
}

FP52_INLINE fp52 fp52_add_p(fp52 a) {
    FP52_UNROLL
    for (int i = 0; i < 8; i++)
        a.l[i] = _mm512_add_epi64(a.l[i], fp52_p_limb(i));
    return a;
}

FP52_INLINE fp52 fp52_sub_p(fp52 a) {
    FP52_UNROLL
    for (int i = 0; i < 8; i++)
        a.l[i] = _mm512_sub_epi64(a.l[i], fp52_p_limb(i));
    return a;
}

FP52_INLINE fp52 fp52_blend(__mmask8 m, fp52 if_clear, fp52 if_set) {
    FP52_UNROLL
    for (int i = 0; i < 8; i++)
        if_clear.l[i] = _mm512_mask_blend_epi64(m, if_clear.l[i], if_set.l[i]);
    return if_clear;
}

FP52_INLINE __mmask8 fp52_negative(fp52 carried) {
    return _mm512_movepi64_mask(carried.l[7]);
}

/* Lanes of which all limbs are zero. */
FP52_INLINE __mmask8 fp52_zero_mask(fp52 a) {
    const __m512i low =
        _mm512_or_si512(_mm512_or_si512(a.l[0], a.l[1]), _mm512_or_si512(a.l[2], a.l[3]));
    const __m512i high =
        _mm512_or_si512(_mm512_or_si512(a.l[4], a.l[5]), _mm512_or_si512(a.l[6], a.l[7]));
    const __m512i all = _mm512_or_si512(low, high);
    return _mm512_testn_epi64_mask(all, all);
}

/*
 * The number in [0, p) that is congruent to `raw`, whose limbs need no carry and whose value is in
 * (-p, p + p / 2): one of a, a + p, a - p.
 */
FP52_INLINE fp52 fp52_canonical_1(fp52 raw) {
    const fp52 plus = fp52_carry(fp52_add_p(raw));
    const fp52 minus = fp52_carry(fp52_sub_p(raw));
    const fp52 same = fp52_carry(raw);
    const fp52 least = fp52_blend(fp52_negative(minus), minus, same);
    return fp52_blend(fp52_negative(same), least, plus);
}

/*
 * The same for a value in (-2 p, p + p / 2). Where it is below -p, as far as its top limb tells, p
 * is added first; the estimate errs by less than 2^364, so the sum is in (-p, p + p / 2) anyhow.
 */
FP52_INLINE fp52 fp52_canonical_2(fp52 raw) {
    const __m512i top = _mm512_add_epi64(raw.l[7], _mm512_srai_epi64(raw.l[6], 52));
    const __mmask8 low = _mm512_cmplt_epi64_mask(top, _mm512_set1_epi64(-(long long)fp52_p[7] / 2));
    FP52_UNROLL
    for (int i = 0; i < 8; i++)
        raw.l[i] = _mm512_mask_add_epi64(raw.l[i], low, raw.l[i], fp52_p_limb(i));
    return fp52_canonical_1(raw);
}

/* a 2^bits for 0 < bits < 52 and a carried a, without reduction. */
FP52_INLINE fp52 fp52_shift_left(fp52 a, int bits) {
    const __m512i mask = _mm512_set1_epi64((long long)FP52_MASK);
    const __m512i up = _mm512_set1_epi64(bits), down = _mm512_set1_epi64(52 - bits);
    fp52 r;
    r.l[0] = _mm512_and_si512(_mm512_sllv_epi64(a.l[0], up), mask);
    FP52_UNROLL
    for (int i = 1; i < 8; i++) {
        const __m512i high = _mm512_and_si512(_mm512_sllv_epi64(a.l[i], up), mask);
        r.l[i] = _mm512_or_si512(high, _mm512_srlv_epi64(a.l[i - 1], down));
    }
    return r;
}

/* Lane i of the result is lane i ^ distance of a: 1, 2 or 4. */
FP52_INLINE fp52 fp52_swap_lanes(fp52 a, int distance) {
    const __m512i lane =
        _mm512_xor_si512(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(distance));
    FP52_UNROLL
    for (int i = 0; i < 8; i++)
        a.l[i] = _mm512_permutexvar_epi64(lane, a.l[i]);
    return a;
}

/* In place: row i, column j becomes row j, column i. */
FP52_INLINE void fp52_transpose(__m512i r[8]) {
    __m512i t[8], u[8];
    FP52_UNROLL
    for (int i = 0; i < 4; i++) {
        t[2 * i] = _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);
    }
    const __m512i even = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
    const __m512i odd = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
    FP52_UNROLL
    for (int i = 0; i < 2; i++) {
        u[4 * i] = _mm512_permutex2var_epi64(t[4 * i], even, t[4 * i + 2]);
        u[4 * i + 1] = _mm512_permutex2var_epi64(t[4 * i + 1], even, t[4 * i + 3]);
        u[4 * i + 2] = _mm512_permutex2var_epi64(t[4 * i], odd, t[4 * i + 2]);
        u[4 * i + 3] = _mm512_permutex2var_epi64(t[4 * i + 1], odd, t[4 * i + 3]);
    }
    FP52_UNROLL
    for (int i = 0; i < 4; i++) {
        r[i] = _mm512_shuffle_i64x2(u[i], u[4 + i], 0x44);
        r[4 + i] = _mm512_shuffle_i64x2(u[i], u[4 + i], 0xee);
    }
}

#endif
