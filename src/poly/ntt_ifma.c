/*
 * The kernel for AVX-512 IFMA: eight elements at once, each in five limbs of 52 bits.
 *
 * Form. Memory holds x 2^256 mod r. A factor is prepared as z 2^260, and a product is reduced by
 * 2^260, so (x 2^256)(z 2^260)/2^260 = (x z) 2^256: elements keep their form, and loading and
 * storing only regroup bits.
 *
 * Ranges. A product of a < 2^260 = 35.3 r and a factor b is below a b / 2^260 + r; factors are
 * below 1.06 r, so for a <= 33 r the product is below 2 r. Elements come in below 2 r. Forward, a
 * level makes (u + t, u - t + 2 r) of u and t = z v: it adds 2 r at most, 20 r after nine levels.
 * Inverse, see join4(). Stored elements are below 2 r, in the last pass of all below r.
 *
 * Limbs. Between products limbs are signed 64-bit numbers of any size below 2^62; carry() brings
 * them into [0, 2^52), which the multiplier needs. The value as a whole is never negative there.
 *
 * Lanes. After load8 lane k holds the element LANE_ELEMENT[k] of eight; store8 undoes that.
 */
#include "ntt_plan.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define IFMA __attribute__((target("avx512f,avx512dq,avx512ifma")))
#define IFMA_INLINE                                                                                \
    static inline __attribute__((always_inline, target("avx512f,avx512dq,avx512ifma")))

/* Without this the compilers leave mul() a loop, at twice the time. */
#define UNROLL _Pragma("GCC unroll 5")

enum { LIMBS = NTT_LIMBS, MIN_LOG = 6 };

typedef struct {
    __m512i l[LIMBS];
} lanes;

/* A whole strip of a pass: 2^rows rows of eight elements. */
typedef lanes strip[1 << NTT_MAX_ROWS_LOG];

static const uint8_t LANE_ELEMENT[NTT_LANES] = {0, 4, 1, 5, 2, 6, 3, 7};

static const int64_t r52[LIMBS] = {0xfffff00000001, 0x02fffe5bfefff, 0x9a1d80553bda4,
                                   0x7d483339d8080, 0x073eda753299d};

/* floor(2^98 / (floor(r / 2^208) + 1)) */
static const int64_t quotient_factor = 0x8d54253b7fb6e;

IFMA_INLINE __m512i low_mask(void) {
    return _mm512_set1_epi64(((int64_t)1 << 52) - 1);
}

IFMA_INLINE lanes add(lanes a, lanes b) {
    for (int i = 0; i < LIMBS; i++)
        a.l[i] = _mm512_add_epi64(a.l[i], b.l[i]);
    return a;
}

/* a - b + k r */
IFMA_INLINE lanes sub(lanes a, lanes b, int64_t k) {
    for (int i = 0; i < LIMBS; i++)
        a.l[i] = _mm512_add_epi64(_mm512_sub_epi64(a.l[i], b.l[i]), _mm512_set1_epi64(k * r52[i]));
    return a;
}

IFMA_INLINE lanes carry(lanes a) {
    for (int i = 0; i < LIMBS - 1; i++) {
        a.l[i + 1] = _mm512_add_epi64(a.l[i + 1], _mm512_srai_epi64(a.l[i], 52));
        a.l[i] = _mm512_and_epi64(a.l[i], low_mask());
    }
    return a;
}

IFMA_INLINE lanes spread_words(const int64_t words[LIMBS]) {
    lanes v;
    for (int i = 0; i < LIMBS; i++)
        v.l[i] = _mm512_set1_epi64(words[i]);
    return v;
}

/* c += low halves, h += high halves of the products of a's limbs with b. */
IFMA_INLINE void add_products(__m512i *c, __m512i *h, lanes a, __m512i b) {
    UNROLL
    for (int j = 0; j < LIMBS; j++) {
        c[j] = _mm512_madd52lo_epu64(c[j], a.l[j], b);
        h[j] = _mm512_madd52hi_epu64(h[j], a.l[j], b);
    }
}

/*
 * a b / 2^260 mod r, not carried. Both operands are carried. Row by row, one limb of b each: after
 * row i the lowest limb is divisible by 2^52, because m = -limb / r mod 2^52, and 1 / r = 1 + 2^32
 * mod 2^52. Low halves of products gather in c, high halves, which weigh 2^52 more, in h, and the
 * next row's products with b come before those with m, to keep the chain through m short.
 */
IFMA_INLINE lanes mul(lanes a, lanes b) {
    const __m512i zero = _mm512_setzero_si512();
    __m512i c[2 * LIMBS + 1], h[2 * LIMBS + 1];
    for (int j = 0; j < LIMBS; j++)
        c[j] = h[j] = zero;
    add_products(c, h, a, b.l[0]);
    UNROLL
    for (int i = 0; i < LIMBS; i++) {
        const __m512i m =
            _mm512_sub_epi64(zero, _mm512_add_epi64(c[i], _mm512_slli_epi64(c[i], 32)));
        c[i + LIMBS] = h[i + LIMBS] = zero;
        if (i + 1 < LIMBS) add_products(c + i + 1, h + i + 1, a, b.l[i + 1]);
        add_products(c + i, h + i, spread_words(r52), m);
        c[i + 1] = _mm512_add_epi64(_mm512_add_epi64(c[i + 1], h[i]), _mm512_srli_epi64(c[i], 52));
    }
    lanes out;
    out.l[0] = c[LIMBS];
    for (int j = 1; j < LIMBS; j++)
        out.l[j] = _mm512_add_epi64(c[LIMBS + j], h[LIMBS + j - 1]);
    return out;
}

/* Below 2 r, carried, from a carried value below 35 r. The quotient, estimated from the top limb,
 * is right or one too small. */
IFMA_INLINE lanes reduce(lanes a) {
    const __m512i zero = _mm512_setzero_si512();
    const __m512i q = _mm512_srli_epi64(
        _mm512_madd52hi_epu64(zero, a.l[4], _mm512_set1_epi64(quotient_factor)), 98 - 52);
    for (int i = 0; i < LIMBS; i++)
        a.l[i] = _mm512_sub_epi64(a.l[i], _mm512_mullo_epi64(q, _mm512_set1_epi64(r52[i])));
    return carry(a);
}

/* Below r from a carried value below 2 r. */
IFMA_INLINE lanes reduce_fully(lanes a) {
    const lanes zero = {{_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                         _mm512_setzero_si512(), _mm512_setzero_si512()}};
    const lanes less = carry(add(a, sub(zero, zero, -1)));
    const __mmask8 below = _mm512_movepi64_mask(less.l[LIMBS - 1]);
    for (int i = 0; i < LIMBS; i++)
        a.l[i] = _mm512_mask_mov_epi64(less.l[i], below, a.l[i]);
    return a;
}

/* Eight elements, the lane pairs (0, 2), (4, 6), (1, 3), (5, 7) from a, b, c, d. */
IFMA_INLINE lanes from_words(__m512i a, __m512i b, __m512i c, __m512i d) {
    const __m512i ac_even = _mm512_unpacklo_epi64(a, c), ac_odd = _mm512_unpackhi_epi64(a, c);
    const __m512i bd_even = _mm512_unpacklo_epi64(b, d), bd_odd = _mm512_unpackhi_epi64(b, d);
    const __m512i w0 = _mm512_shuffle_i64x2(ac_even, bd_even, 0x88);
    const __m512i w1 = _mm512_shuffle_i64x2(ac_odd, bd_odd, 0x88);
    const __m512i w2 = _mm512_shuffle_i64x2(ac_even, bd_even, 0xdd);
    const __m512i w3 = _mm512_shuffle_i64x2(ac_odd, bd_odd, 0xdd);
    lanes v;
    v.l[0] = w0;
    v.l[1] = _mm512_or_epi64(_mm512_srli_epi64(w0, 52), _mm512_slli_epi64(w1, 12));
    v.l[2] = _mm512_or_epi64(_mm512_srli_epi64(w1, 40), _mm512_slli_epi64(w2, 24));
    v.l[3] = _mm512_or_epi64(_mm512_srli_epi64(w2, 28), _mm512_slli_epi64(w3, 36));
    v.l[4] = _mm512_srli_epi64(w3, 16);
    for (int i = 0; i < LIMBS - 1; i++)
        v.l[i] = _mm512_and_epi64(v.l[i], low_mask());
    return v;
}

/* The reverse of from_words; v is carried and below 2^256. */
IFMA_INLINE void to_words(__m512i out[4], lanes v) {
    const __m512i w0 = _mm512_or_epi64(v.l[0], _mm512_slli_epi64(v.l[1], 52));
    const __m512i w1 =
        _mm512_or_epi64(_mm512_srli_epi64(v.l[1], 12), _mm512_slli_epi64(v.l[2], 40));
    const __m512i w2 =
        _mm512_or_epi64(_mm512_srli_epi64(v.l[2], 24), _mm512_slli_epi64(v.l[3], 28));
    const __m512i w3 =
        _mm512_or_epi64(_mm512_srli_epi64(v.l[3], 36), _mm512_slli_epi64(v.l[4], 16));
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const __m512i even01 = _mm512_unpacklo_epi64(w0, w1), even23 = _mm512_unpacklo_epi64(w2, w3);
    const __m512i odd01 = _mm512_unpackhi_epi64(w0, w1), odd23 = _mm512_unpackhi_epi64(w2, w3);
    out[0] = _mm512_permutex2var_epi64(even01, first, even23);
    out[1] = _mm512_permutex2var_epi64(even01, second, even23);
    out[2] = _mm512_permutex2var_epi64(odd01, first, odd23);
    out[3] = _mm512_permutex2var_epi64(odd01, second, odd23);
}

/* Element i of the eight is at[i * stride]. */
IFMA_INLINE __m512i load_pair(const fr *low, const fr *high) {
    const __m512i v = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)low));
    return _mm512_inserti64x4(v, _mm256_loadu_si256((const __m256i *)high), 1);
}

IFMA_INLINE lanes load8(const fr *at, size_t stride) {
    return from_words(load_pair(at, at + stride), load_pair(at + 2 * stride, at + 3 * stride),
                      load_pair(at + 4 * stride, at + 5 * stride),
                      load_pair(at + 6 * stride, at + 7 * stride));
}

IFMA_INLINE void store8(fr *at, size_t stride, lanes v) {
    __m512i w[4];
    to_words(w, v);
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_si256((__m256i *)(at + (size_t)(2 * i) * stride),
                            _mm512_castsi512_si256(w[i]));
        _mm256_storeu_si256((__m256i *)(at + (size_t)(2 * i + 1) * stride),
                            _mm512_extracti64x4_epi64(w[i], 1));
    }
}

/* Tables of factors: groups of eight entries, limb by limb. */
IFMA_INLINE lanes load_group(const uint64_t *table, size_t group) {
    lanes v;
    for (int k = 0; k < LIMBS; k++)
        v.l[k] = _mm512_loadu_si512(table + (group * LIMBS + (size_t)k) * NTT_LANES);
    return v;
}

IFMA_INLINE void store_group(uint64_t *table, size_t group, lanes v) {
    for (int k = 0; k < LIMBS; k++)
        _mm512_storeu_si512(table + (group * LIMBS + (size_t)k) * NTT_LANES, v.l[k]);
}

/* One entry in all lanes. */
IFMA_INLINE lanes spread(const uint64_t *table, size_t entry) {
    const uint64_t *at = table + entry / NTT_LANES * LIMBS * NTT_LANES + entry % NTT_LANES;
    lanes v;
    for (int k = 0; k < LIMBS; k++)
        v.l[k] = _mm512_set1_epi64((int64_t)at[k * NTT_LANES]);
    return v;
}

/* Lane k gets x[index[k]]. */
IFMA_INLINE lanes gather_factors(const fr *x, const uint8_t index[NTT_LANES]) {
    uint64_t group[LIMBS * NTT_LANES];
    for (int k = 0; k < NTT_LANES; k++) {
        uint64_t limbs[LIMBS];
        ntt_to_factor(limbs, &x[index[k]]);
        for (int i = 0; i < LIMBS; i++)
            group[i * NTT_LANES + k] = limbs[i];
    }
    return load_group(group, 0);
}

/* Where a level's factors come from: a table for the block that all lanes share, or the plan's
 * table times the shift of each lane's own block. */
struct factors {
    const uint64_t *heap;
    const lanes *shift; /* by level; NULL: heap holds the block's own factors */
};

IFMA_INLINE lanes factor(const struct factors *f, unsigned level, size_t entry) {
    const lanes z = spread(f->heap, entry);
    return f->shift == NULL ? z : carry(mul(f->shift[level], z));
}

IFMA_INLINE void split2(lanes *u, lanes *v, lanes z) {
    const lanes t = mul(carry(*v), z);
    *v = sub(*u, t, 2);
    *u = add(*u, t);
}

/*
 * Two levels backwards at once. Rows come in below 4 r; a - b + 4 r and c - d + 4 r are below 8 r,
 * their products below 2 r; the sum of all four is below 16 r and is reduced below 2 r; rows go out
 * below 4 r again.
 */
IFMA_INLINE void join4(lanes *a, lanes *b, lanes *c, lanes *d, const lanes z[3]) {
    const lanes ab = add(*a, *b), cd = add(*c, *d);
    const lanes ab_minus = mul(carry(sub(*a, *b, 4)), z[1]);
    const lanes cd_minus = mul(carry(sub(*c, *d, 4)), z[2]);
    *a = reduce(carry(add(ab, cd)));
    *b = add(ab_minus, cd_minus);
    *c = mul(carry(sub(ab, cd, 8)), z[0]);
    *d = mul(carry(sub(ab_minus, cd_minus, 2)), z[0]);
}

IFMA_INLINE void split_levels(lanes *s, unsigned rows, const struct factors *f) {
    unsigned level = rows % 2;
    if (level == 1) {
        const lanes z = factor(f, 0, 1);
        const size_t half = (size_t)1 << (rows - 1);
        for (size_t i = 0; i < half; i++)
            split2(&s[i], &s[half + i], z);
    }
    for (; level < rows; level += 2) {
        const size_t quarter = (size_t)1 << (rows - level - 2);
        for (size_t m = 0; m < (size_t)1 << level; m++) {
            const size_t entry = ((size_t)1 << level) + m;
            const lanes z0 = factor(f, level, entry);
            const lanes z1 = factor(f, level + 1, 2 * entry);
            const lanes z2 = factor(f, level + 1, 2 * entry + 1);
            lanes *q = s + 4 * quarter * m;
            for (size_t i = 0; i < quarter; i++) {
                lanes a = q[i], b = q[quarter + i], c = q[2 * quarter + i], d = q[3 * quarter + i];
                split2(&a, &c, z0);
                split2(&b, &d, z0);
                split2(&a, &b, z1);
                split2(&c, &d, z2);
                q[i] = a, q[quarter + i] = b, q[2 * quarter + i] = c, q[3 * quarter + i] = d;
            }
        }
    }
}

IFMA_INLINE void join_levels(lanes *s, unsigned rows, const struct factors *f) {
    const unsigned odd = rows % 2;
    for (unsigned level = rows; level > odd;) {
        level -= 2;
        const size_t quarter = (size_t)1 << (rows - level - 2);
        for (size_t m = 0; m < (size_t)1 << level; m++) {
            const size_t entry = ((size_t)1 << level) + m;
            const lanes z[3] = {factor(f, level, entry), factor(f, level + 1, 2 * entry),
                                factor(f, level + 1, 2 * entry + 1)};
            lanes *q = s + 4 * quarter * m;
            for (size_t i = 0; i < quarter; i++)
                join4(&q[i], &q[quarter + i], &q[2 * quarter + i], &q[3 * quarter + i], z);
        }
    }
    if (odd == 1) {
        const lanes z = factor(f, 0, 1);
        const size_t half = (size_t)1 << (rows - 1);
        for (size_t i = 0; i < half; i++) {
            const lanes minus = mul(carry(sub(s[i], s[half + i], 4)), z);
            s[i] = add(s[i], s[half + i]);
            s[half + i] = minus;
        }
    }
}

/* Loads, transforms and stores one strip: row i, element k is at[i * row_stride + k * lane_stride].
 * `scale`, if not NULL, multiplies the first half of the rows; the factor of the other half is in
 * the table of factors. */
IFMA_INLINE void run_strip(const struct ntt_run *run, fr *at, size_t row_stride, size_t lane_stride,
                           const struct factors *f, const lanes *scale) {
    const unsigned rows = run->pass->rows;
    const size_t length = (size_t)1 << rows;
    strip s;
    for (size_t i = 0; i < length; i++)
        s[i] = load8(at + i * row_stride, lane_stride);
    if (run->inverse) {
        join_levels(s, rows, f);
    } else {
        split_levels(s, rows, f);
    }
    for (size_t i = 0; i < length; i++) {
        lanes v = carry(s[i]);
        if (scale != NULL && i < length / 2) v = carry(mul(v, *scale));
        v = reduce(v);
        if (run->last) v = reduce_fully(v);
        store8(at + i * row_stride, lane_stride, v);
    }
}

/* The factors of one block, 2^rows entries in heap order. In the last pass of an inverse the factor
 * of level 0, which all the second half goes through, takes in 1/n. */
IFMA static void block_factors(uint64_t *heap, const struct ntt_run *run, size_t block) {
    static const uint8_t first_levels[NTT_LANES] = {0, 0, 1, 1, 2, 2, 2, 2};
    const unsigned rows = run->pass->rows;
    fr shift, level[NTT_MAX_ROWS_LOG];
    ntt_block_shift(&shift, run, block);
    ntt_level_shifts(level, &shift, rows);
    if (run->inverse && run->last) fr_mul(&level[0], &level[0], &run->plan->n_inv);
    const lanes first = gather_factors(level, first_levels);
    store_group(heap, 0, carry(mul(load_group(run->direction->heap52, 0), first)));
    for (unsigned l = 3; l < rows; l++) {
        const uint8_t all[NTT_LANES] = {0};
        const lanes factor_of_level = gather_factors(&level[l], all);
        const size_t groups = (size_t)1 << (l - 3);
        for (size_t g = groups; g < 2 * groups; g++)
            store_group(heap, g,
                        carry(mul(load_group(run->direction->heap52, g), factor_of_level)));
    }
}

IFMA static void columns_of_pass(const struct ntt_run *run, size_t block, size_t first, size_t n) {
    const uint8_t all[NTT_LANES] = {0};
    const size_t stride = (size_t)1 << run->pass->below;
    fr *corner = run->a + (block << (run->pass->rows + run->pass->below));
    uint64_t heap[LIMBS << NTT_MAX_ROWS_LOG];
    block_factors(heap, run, block);
    const struct factors f = {heap, NULL};
    const lanes n_inv = gather_factors(&run->plan->n_inv, all);
    const lanes *scale = run->inverse && run->last ? &n_inv : NULL;
    for (size_t c = first; c < first + n; c += NTT_LANES)
        run_strip(run, corner + c, stride, 1, &f, scale);
}

IFMA static void rows_of_pass(const struct ntt_run *run, size_t first, size_t n) {
    const unsigned rows = run->pass->rows;
    const size_t length = (size_t)1 << rows;
    for (size_t b = first; b < first + n; b += NTT_LANES) {
        fr shifts[NTT_LANES];
        lanes level[NTT_MAX_ROWS_LOG];
        for (size_t k = 0; k < NTT_LANES; k++)
            ntt_block_shift(&shifts[k], run, b + k);
        level[rows - 1] = gather_factors(shifts, LANE_ELEMENT);
        for (unsigned l = rows - 1; l > 0; l--)
            level[l - 1] = carry(mul(level[l], level[l]));
        const struct factors f = {run->direction->heap52, level};
        run_strip(run, run->a + b * length, 1, length, &f, NULL);
    }
}

static const struct ntt_kernel ifma_kernel = {
    .name = "avx512-ifma", .min_log = MIN_LOG, .columns = columns_of_pass, .rows = rows_of_pass};

const struct ntt_kernel *ntt_ifma(void) {
    const bool usable = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512ifma");
    return usable ? &ifma_kernel : NULL;
}

#else

const struct ntt_kernel *ntt_ifma(void) {
    return NULL;
}

#endif
