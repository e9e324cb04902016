/*
 * Multi-scalar multiplication over G1 and G2: sums of k_i P_i, and sums of points that a bit plane
 * selects.
 *
 * Method: Pippenger's buckets with signed digits; bucket additions are affine, in batches that
 * share one inversion (Montgomery's trick); equal, opposite and infinite operands leave the batch.
 *
 * plan → msm_scratch_bytes → run on memory of the caller. Plans are values; runs allocate nothing.
 * Scratch. An MSM takes, for each thread, a slice (about 1 MB: some thousand points that are added
 * up together), B buckets of 128 bytes in G1 and 256 in G2 (B = 2^(window - 1), up to twice that
 * where the top window needs it), 5 B bytes of counts, and 8 bytes for each point of a range of at
 * most 2^20 points, which is sorted at once: so about 1 MB + 2^(window + 6) bytes + 8 MB, whatever
 * the number of points. Bit sums and fixed bases take a slice for each thread. Scratch of those may
 * have any alignment.
 *
 * Threads: a run uses the pool that it is given; runs on different scratch may go on at once, each
 * with a pool of its own.
 */
#ifndef MSM_MSM_H
#define MSM_MSM_H

#include "g1.h"
#include "mem.h"
#include "pool.h"

struct msm_plan {
    size_t n_points;      /* most points of one run */
    unsigned threads;     /* workers that the scratch is cut for */
    unsigned window;      /* bits of a window */
    unsigned n_windows;   /* windows of a 255-bit scalar */
    size_t scratch_bytes; /* for a run on G1 or G2, as planned */
};

/* Chooses the window from a cost model; threads 0 counts as 1. */
struct msm_plan msm_plan_g1(size_t n_points, unsigned threads);
struct msm_plan msm_plan_g2(size_t n_points, unsigned threads);

/*
 * out = sum of scalars[i] * points[i], i < n <= plan->n_points. Scalars are canonical (fr_words),
 * below r. Points are affine, infinity allowed. scratch: plan->scratch_bytes, aligned to 64.
 */
void msm_g1(g1 *out, const g1_affine *points, const fr_words *scalars, size_t n,
            const struct msm_plan *plan, void *scratch, struct pool *pool);
void msm_g2(g2 *out, const g2_affine *points, const fr_words *scalars, size_t n,
            const struct msm_plan *plan, void *scratch, struct pool *pool);

/*
 * out = sum of points[i] for the bits i < n that are one in the plane `bits` (bit i of the plane is
 * bit i % 64 of bits[i / 64]).
 */
size_t msm_bitsum_scratch_bytes(unsigned threads); /* serves G1 and G2 */
void msm_bitsum_g1(g1 *out, const g1_affine *points, const uint64_t *bits, size_t n, void *scratch,
                   unsigned threads, struct pool *pool);
void msm_bitsum_g2(g2 *out, const g2_affine *points, const uint64_t *bits, size_t n, void *scratch,
                   unsigned threads, struct pool *pool);

/*
 * Many multiples of one base, for parameter set-up: out[i] = scalars[i] * base, with a table of
 * 16-bit windows and affine batches. The table is made by _table_init.
 */
size_t fixed_base_table_bytes_g1(void);
size_t fixed_base_table_bytes_g2(void);
void fixed_base_table_init_g1(void *table, const g1_affine *base, struct pool *pool);
void fixed_base_table_init_g2(void *table, const g2_affine *base, struct pool *pool);
size_t fixed_base_scratch_bytes(unsigned threads); /* serves G1 and G2 */
void fixed_base_mul_g1(g1_affine *out, const void *table, const fr_words *scalars, size_t n,
                       void *scratch, unsigned threads, struct pool *pool);
void fixed_base_mul_g2(g2_affine *out, const void *table, const fr_words *scalars, size_t n,
                       void *scratch, unsigned threads, struct pool *pool);

/* "avx512-ifma" or "portable"; CUZK_CPU=portable in the environment forces the latter. */
const char *msm_kernel_name(void);

#endif
