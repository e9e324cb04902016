/*
 * Inside of the transforms: the plan's tables, one pass over the array, and what a kernel is.
 * Private to this room and its tests.
 *
 * A transform of n = 2^log_n points divides X^n - g^n (g = 1, or 7 on the coset) into factors level
 * by level: on level l there are 2^l blocks of n / 2^l elements, and block m is split by
 *     X^2h - z^2 = (X^h - z)(X^h + z),   h = n / 2^(l+1),   z = g^h w_{2^(l+1)}^brv(m),
 * that is (u, v) becomes (u + z v, u - z v). Natural order goes in, bit-reversed order comes out;
 * on the domain a permutation puts it right. The inverse (on the domain, after the permutation)
 * undoes the levels from the last to the first with the inverse factors, so that the coset costs
 * nothing in either direction; 1/n is folded into its last pass.
 *
 * Some consecutive levels make a pass. A pass sees an element's index as (block, row, column) of
 * `above`, `rows` and `below` bits and runs over the row bits. Within block b its factors are those
 * of a transform of 2^rows points on the coset with shift
 *     G_b = g^(2^below) w_{2^(above+rows)}^brv(b):
 * on level l and sub-block m, z = Z[m] G_b^(2^(rows-1-l)), where Z[m] = w_{2^(l+1)}^brv(m) does not
 * depend on l. Such factors are kept in heap order: level l, sub-block m at index 2^l + m.
 */
#ifndef POLY_NTT_PLAN_H
#define POLY_NTT_PLAN_H

#include "ntt.h"

enum {
    NTT_MAX_ROWS_LOG = 9, /* 8 columns of 2^9 rows, 40 bytes an element: 160 KiB of stack */
    NTT_MAX_PASSES = 4,
    NTT_LANES = 8,
    NTT_LIMBS = 5, /* of 52 bits */
};

struct ntt_pass {
    unsigned above, rows, below; /* bits; their sum is log_n */
};

/* What the forward and the inverse transform have each of their own. */
struct ntt_direction {
    const fr *heap;                /* Z in heap order, 2^max_rows elements; [0] is not used */
    const uint64_t *heap52;        /* the same in the layout of ntt_ifma.c */
    const fr *low, *high;          /* w^e = high[e >> low_bits] low[e mod 2^low_bits] */
    fr coset_base[NTT_MAX_PASSES]; /* 7^(2^below) of each pass, or its inverse */
};

struct ntt_plan {
    const struct ntt_kernel *kernel;
    unsigned log_n;
    unsigned n_passes;
    unsigned low_bits, exponent_bits;
    struct ntt_pass passes[NTT_MAX_PASSES];
    struct ntt_direction direction[2]; /* forward, inverse */
    fr n_inv;
};

/* One pass of one call. */
struct ntt_run {
    const struct ntt_plan *plan;
    const struct ntt_pass *pass;
    const struct ntt_direction *direction;
    fr *a;
    fr base; /* g^(2^below) or its inverse */
    bool inverse;
    bool last; /* of the transform: results are reduced, and multiplied by 1/n if inverse */
};

/*
 * Between passes an element may be anything below 2 r; what a kernel stores in the last pass of a
 * transform is reduced.
 */
struct ntt_kernel {
    const char *name;
    unsigned min_log; /* smaller transforms go to the portable kernel */
    /* below > 0: columns [first, first + n) of one block. */
    void (*columns)(const struct ntt_run *run, size_t block, size_t first, size_t n);
    /* below = 0: blocks [first, first + n), each of which is one contiguous row. */
    void (*rows)(const struct ntt_run *run, size_t first, size_t n);
};

extern const struct ntt_kernel ntt_portable;
/* NULL when the processor, or the compiler's target, lacks AVX-512 IFMA. */
const struct ntt_kernel *ntt_ifma(void);
/* The kernel that ntt_plan_init takes. */
const struct ntt_kernel *ntt_kernel_chosen(void);

/* ntt_plan_init with a given kernel. */
struct ntt_plan *ntt_plan_init_with(void *memory, unsigned log_n, const struct ntt_kernel *kernel);

/* The order of the bits of x, `bits` of them, turned round. */
static inline size_t ntt_reverse_bits(size_t x, unsigned bits) {
    uint64_t v = x;
    v = (v >> 1 & 0x5555555555555555) | (v & 0x5555555555555555) << 1;
    v = (v >> 2 & 0x3333333333333333) | (v & 0x3333333333333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0f) | (v & 0x0f0f0f0f0f0f0f0f) << 4;
    v = __builtin_bswap64(v);
    return bits == 0 ? 0 : (size_t)(v >> (64 - bits));
}

/* x 2^256, as memory has it, as the factor x 2^260 in limbs of 52 bits, for ntt_ifma.c. */
static inline void ntt_to_factor(uint64_t limbs[NTT_LIMBS], const fr *x) {
    const uint64_t mask = ((uint64_t)1 << 52) - 1;
    fr v = *x;
    for (int i = 0; i < 4; i++)
        fr_double(&v, &v);
    limbs[0] = v.l[0] & mask;
    limbs[1] = (v.l[0] >> 52 | v.l[1] << 12) & mask;
    limbs[2] = (v.l[1] >> 40 | v.l[2] << 24) & mask;
    limbs[3] = (v.l[2] >> 28 | v.l[3] << 36) & mask;
    limbs[4] = v.l[3] >> 16;
}

/* G_b of the pass. */
void ntt_block_shift(fr *out, const struct ntt_run *run, size_t block);

/* Writes the powers G^(2^(rows-1-l)) to out[l] for l < rows. */
void ntt_level_shifts(fr *out, const fr *shift, unsigned rows);

/* a[i] and a[bit-reversed i] change places, in place. */
void ntt_bit_reverse(fr *a, unsigned log_n, struct pool *pool);

#endif
