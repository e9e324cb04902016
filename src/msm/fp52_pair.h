/*
 * Inside of the msm room: pairs of vectors, since products come in twos (fp52_asm.h). A pair is
 * either wide, sixteen elements of Fp (fp52w), or eight elements of Fp2 (fp52x2); the functions
 * that are the same for both are fp52_pair_*. Bounds are those of fp52.h for both vectors.
 *
 * A mask has one bit for each element: sixteen or eight.
 */
#ifndef MSM_FP52_PAIR_H
#define MSM_FP52_PAIR_H

#include "fp52_asm.h"
#include "fp52_codec.h"

typedef struct {
    fp52 v[2];
} fp52_pair;

FP52_INLINE fp52_pair fp52_pair_zero(void) {
    return (fp52_pair){{fp52_zero(), fp52_zero()}};
}

FP52_INLINE fp52_pair fp52_pair_carry(fp52_pair a) {
    return (fp52_pair){{fp52_carry(a.v[0]), fp52_carry(a.v[1])}};
}

FP52_INLINE fp52_pair fp52_pair_add_raw(fp52_pair a, fp52_pair b) {
    return (fp52_pair){{fp52_add_raw(a.v[0], b.v[0]), fp52_add_raw(a.v[1], b.v[1])}};
}

FP52_INLINE fp52_pair fp52_pair_sub_raw(fp52_pair a, fp52_pair b) {
    return (fp52_pair){{fp52_sub_raw(a.v[0], b.v[0]), fp52_sub_raw(a.v[1], b.v[1])}};
}

FP52_INLINE fp52_pair fp52_pair_add_p(fp52_pair a) {
    return (fp52_pair){{fp52_add_p(a.v[0]), fp52_add_p(a.v[1])}};
}

FP52_INLINE fp52_pair fp52_pair_canonical_1(fp52_pair raw) {
    return (fp52_pair){{fp52_canonical_1(raw.v[0]), fp52_canonical_1(raw.v[1])}};
}

FP52_INLINE fp52_pair fp52_pair_canonical_2(fp52_pair raw) {
    return (fp52_pair){{fp52_canonical_2(raw.v[0]), fp52_canonical_2(raw.v[1])}};
}

FP52_INLINE fp52_pair fp52_pair_shift_left(fp52_pair a, int bits) {
    return (fp52_pair){{fp52_shift_left(a.v[0], bits), fp52_shift_left(a.v[1], bits)}};
}

/* Sixteen elements of Fp: the first eight in v[0]. */

FP52_INLINE fp52_pair fp52w_one(void) {
    return (fp52_pair){{fp52_one(), fp52_one()}};
}

FP52_INLINE void fp52w_mul(fp52_pair *out, const fp52_pair *a, const fp52_pair *b) {
    fp52_mul_two(out->v, a->v, b->v);
}

FP52_INLINE void fp52w_sqr(fp52_pair *out, const fp52_pair *a) {
    fp52_mul_two(out->v, a->v, a->v);
}

FP52_INLINE fp52_pair fp52w_blend(unsigned m, fp52_pair if_clear, fp52_pair if_set) {
    return (fp52_pair){{fp52_blend((__mmask8)m, if_clear.v[0], if_set.v[0]),
                        fp52_blend((__mmask8)(m >> 8), if_clear.v[1], if_set.v[1])}};
}

FP52_INLINE unsigned fp52w_zero_mask(fp52_pair a) {
    return fp52_zero_mask(a.v[0]) | (unsigned)fp52_zero_mask(a.v[1]) << 8;
}

/* Elements whose top limb has its top bit set. */
FP52_INLINE unsigned fp52w_flag_mask(fp52_pair a) {
    return fp52_negative(a.v[0]) | (unsigned)fp52_negative(a.v[1]) << 8;
}

FP52_INLINE fp52_pair fp52w_flag(__m512i flag) {
    fp52_pair r = fp52_pair_zero();
    r.v[0].l[7] = r.v[1].l[7] = flag;
    return r;
}

FP52_INLINE fp52_pair fp52w_load(const uint8_t *const row[16], size_t offset) {
    return (fp52_pair){{fp52_load(row, offset), fp52_load(row + 8, offset)}};
}

FP52_INLINE void fp52w_store(uint8_t *const row[16], size_t offset, fp52_pair a) {
    fp52_store(row, offset, a.v[0]);
    fp52_store(row + 8, offset, a.v[1]);
}

/* Element i of the result is element i ^ distance of a: 1, 2, 4 or 8. */
FP52_INLINE fp52_pair fp52w_swap(fp52_pair a, int distance) {
    if (distance == 8) return (fp52_pair){{a.v[1], a.v[0]}};
    return (fp52_pair){{fp52_swap_lanes(a.v[0], distance), fp52_swap_lanes(a.v[1], distance)}};
}

/* See fp52_codec.h; all elements of a are the same. */
static inline fp52_pair fp52w_scaled_inverse(const fp52_pair *a) {
    fp v;
    fp52_lane_0(&v, &a->v[0]);
    fp_inv_var(&v, &v);
    fp_mul(&v, &v, &fp52_2_to_48);
    const fp52 r = fp52_broadcast(&v);
    return (fp52_pair){{r, r}};
}

/* Eight elements v[0] + v[1] u of Fp2. */

FP52_INLINE fp52_pair fp52x2_one(void) {
    return (fp52_pair){{fp52_one(), fp52_zero()}};
}

/*
 * Four products with two reductions: what Karatsuba's three with three cost, but without the sums.
 * b must be at most 2 p.
 */
FP52_INLINE void fp52x2_mul(fp52_pair *out, const fp52_pair *a, const fp52_pair *b) {
    const fp52 minus_b1 = fp52_carry(fp52_sub_raw(fp52_add_p(fp52_add_p(fp52_zero())), b->v[1]));
    fp52_dot_two(out->v, a->v, b->v, &minus_b1);
}

/* (a0 + a1) (a0 - a1) and 2 a0 a1; a must be at most 2 p. */
FP52_INLINE void fp52x2_sqr(fp52_pair *out, const fp52_pair *a) {
    const fp52 difference = fp52_add_p(fp52_add_p(fp52_sub_raw(a->v[0], a->v[1])));
    const fp52 left[2] = {fp52_carry(fp52_add_raw(a->v[0], a->v[1])),
                          fp52_carry(fp52_add_raw(a->v[0], a->v[0]))};
    const fp52 right[2] = {fp52_carry(difference), a->v[1]};
    fp52_mul_two(out->v, left, right);
}

FP52_INLINE fp52_pair fp52x2_blend(unsigned m, fp52_pair if_clear, fp52_pair if_set) {
    return (fp52_pair){{fp52_blend((__mmask8)m, if_clear.v[0], if_set.v[0]),
                        fp52_blend((__mmask8)m, if_clear.v[1], if_set.v[1])}};
}

FP52_INLINE unsigned fp52x2_zero_mask(fp52_pair a) {
    return fp52_zero_mask(a.v[0]) & fp52_zero_mask(a.v[1]);
}

/* The flag is in the first component. */
FP52_INLINE unsigned fp52x2_flag_mask(fp52_pair a) {
    return fp52_negative(a.v[0]);
}

FP52_INLINE fp52_pair fp52x2_flag(__m512i flag) {
    fp52_pair r = fp52_pair_zero();
    r.v[0].l[7] = flag;
    return r;
}

FP52_INLINE fp52_pair fp52x2_load(const uint8_t *const row[8], size_t offset) {
    return (fp52_pair){{fp52_load(row, offset), fp52_load(row, offset + FP52_BYTES)}};
}

FP52_INLINE void fp52x2_store(uint8_t *const row[8], size_t offset, fp52_pair a) {
    fp52_store(row, offset, a.v[0]);
    fp52_store(row, offset + FP52_BYTES, a.v[1]);
}

FP52_INLINE fp52_pair fp52x2_swap(fp52_pair a, int distance) {
    return (fp52_pair){{fp52_swap_lanes(a.v[0], distance), fp52_swap_lanes(a.v[1], distance)}};
}

static inline fp52_pair fp52x2_scaled_inverse(const fp52_pair *a) {
    fp2 v;
    fp52_lane_0(&v.c0, &a->v[0]);
    fp52_lane_0(&v.c1, &a->v[1]);
    fp2_inv_var(&v, &v);
    fp_mul(&v.c0, &v.c0, &fp52_2_to_48);
    fp_mul(&v.c1, &v.c1, &fp52_2_to_48);
    return (fp52_pair){{fp52_broadcast(&v.c0), fp52_broadcast(&v.c1)}};
}

#endif
