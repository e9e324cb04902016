/*
 * Inside of the msm room: between the limbs of 64 bits of `fp` and the limbs of 52 bits of records,
 * and between records and vectors. The numbers stay what they are: only the limbs are cut
 * otherwise.
 */
#ifndef MSM_FP52_CODEC_H
#define MSM_FP52_CODEC_H

#include "fp52.h"

enum { FP52_BYTES = 64 }; /* eight limbs of one element */

/* Eight lanes, one element each, from the places row[0 .. 7]. */
FP52_INLINE fp52 fp52_load(const uint8_t *const row[8], size_t offset) {
    fp52 r;
    FP52_UNROLL
    for (int i = 0; i < 8; i++)
        r.l[i] = _mm512_loadu_si512(row[i] + offset);
    fp52_transpose(r.l);
    return r;
}

FP52_INLINE void fp52_store(uint8_t *const row[8], size_t offset, fp52 a) {
    fp52_transpose(a.l);
    FP52_UNROLL
    for (int i = 0; i < 8; i++)
        _mm512_storeu_si512(row[i] + offset, a.l[i]);
}

/*
 * One element as a row of limbs, from `skip` bytes after the beginning of 64 that are there to be
 * read: a load that is masked, but wide, would wait for the next point's line all the same. Limb i
 * begins at bit 52 i, that is at byte 6 i + i / 2; the highest has 20 bits.
 */
FP52_INLINE __m512i fp52_row_from(const void *bytes, int skip) {
    const __m512i from = _mm512_set_epi64(
        0x34333231302f2e2d, 0x2e2d2c2b2a292827, 0x2726252423222120, 0x21201f1e1d1c1b1a,
        0x1a19181716151413, 0x14131211100f0e0d, 0x0d0c0b0a09080706, 0x0706050403020100);
    const __m512i index = _mm512_add_epi8(from, _mm512_set1_epi8((char)skip));
    const __m512i shifts = _mm512_set_epi64(4, 0, 4, 0, 4, 0, 4, 0);
    const long long full = FP52_MASK;
    const __m512i masks = _mm512_set_epi64(0xfffff, full, full, full, full, full, full, full);
    const __m512i words = _mm512_permutexvar_epi8(index, _mm512_loadu_si512(bytes));
    return _mm512_and_si512(_mm512_srlv_epi64(words, shifts), masks);
}

/* Of two coordinates (two fp) one after the other, the first and the second. */
FP52_INLINE __m512i fp52_first_row(const void *a) {
    return fp52_row_from(a, 0);
}

FP52_INLINE __m512i fp52_second_row(const void *a) {
    return fp52_row_from((const uint8_t *)a + 32, 16);
}

/*
 * p - a for a row of limbs, a <= p. Borrows run from lane to lane: those that are negative begin
 * one, those that are zero pass one on, and the sum of the two masks finds all places at once.
 */
FP52_INLINE __m512i fp52_row_negate(__m512i row) {
    const __m512i difference = _mm512_sub_epi64(_mm512_loadu_si512(fp52_p), row);
    const unsigned begins = _mm512_movepi64_mask(difference);
    const unsigned passes = _mm512_testn_epi64_mask(difference, difference);
    const __mmask8 borrows = (__mmask8)(((begins << 1) + passes) ^ passes);
    const __m512i one = _mm512_set1_epi64(1);
    return _mm512_and_si512(_mm512_mask_sub_epi64(difference, borrows, difference, one),
                            _mm512_set1_epi64((long long)FP52_MASK));
}

/* The element that the limbs are, which must be below 2 p. */
static inline void fp52_to_fp(fp *out, const uint64_t l[8]) {
    const uint64_t w[6] = {l[0] | l[1] << 52,
                           l[1] >> 12 | l[2] << 40,
                           l[2] >> 24 | l[3] << 28,
                           l[3] >> 36 | l[4] << 16,
                           l[4] >> 48 | l[5] << 4 | l[6] << 56,
                           l[6] >> 8 | l[7] << 44};
    uint64_t d[6], borrow = 0;
    for (int i = 0; i < 6; i++) {
        const unsigned __int128 t = (unsigned __int128)w[i] - fp_modulus[i] - borrow;
        d[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    memcpy(out->l, borrow ? w : d, sizeof d);
}

static inline void fp52_from_fp(uint64_t l[8], const fp *a) {
    const fp twice[2] = {*a, *a};
    _mm512_storeu_si512(l, fp52_first_row(twice));
}

/*
 * Kernels keep coordinates as the input has them, times 2^384, while products here divide by 2^416.
 * A coordinate x is then seen as e x with e = 2^-32, and so is a difference of coordinates; slopes
 * are right, as quotients. But x3 = e s^2 - e x1 - e x2 needs u s with u^2 = e for the slope s,
 * where s alone is needed for y3. The factor u = 2^-16 enters with the batch's one inverse, for
 * nothing, and a shift by 16 bits takes it away again.
 *
 * Given the limbs of v 2^416, this returns those of u v^-1 2^416. Seen by fp's functions, the input
 * is v 2^32 and its inverse v^-1 2^-32, so that 2^48 makes it u v^-1 2^32.
 */
enum { FP52_SLOPE_SHIFT = 16, FP52_COORDINATE_SHIFT = 32 };

static const fp fp52_2_to_48 = {{0x48aca8e9fde36676, 0x7f3e81ec2e0c7cea, 0x6547e4c7fba1f6b3,
                                 0xd4221fc8e41ccfd2, 0x0a003db64c9a1624, 0x07173ac25996deeb}};

/* All lanes of a are the same on both sides. */
static inline fp52 fp52_broadcast(const fp *a) {
    uint64_t l[8];
    fp52 r;
    fp52_from_fp(l, a);
    for (int i = 0; i < 8; i++)
        r.l[i] = _mm512_set1_epi64((long long)l[i]);
    return r;
}

static inline void fp52_lane_0(fp *out, const fp52 *a) {
    uint64_t l[8];
    for (int i = 0; i < 8; i++)
        l[i] = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(a->l[i]));
    fp52_to_fp(out, l);
}

#endif
