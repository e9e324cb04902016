/*
 * Are all points of an array in the group of order r?
 *
 * A single point is tested with an endomorphism (g1_in_group, some 40 microseconds). Many are
 * tested by random bucket sums (doc/params.md): each pass throws every point into one of B random
 * buckets and asks whether all sums are in the group; a bad set of points escapes a pass with
 * probability 1/B at most, whatever the cofactor. Passes are repeated until the bound is below
 * 2^-68, and the sums themselves are tested by the same method, down to a few thousand that are
 * tested one by one.
 */
#ifndef GROTH16_SUBGROUP_H
#define GROTH16_SUBGROUP_H

#include "g1.h"
#include "mem.h"
#include "pool.h"
#include "progress.h"

#define SUBGROUP_ALL_GOOD SIZE_MAX

/*
 * *bad becomes the index of a point that is not in the group, or SUBGROUP_ALL_GOOD; the latter is
 * wrong with probability below 2^-64, over randomness that is drawn in the call. The points must be
 * on the curve; infinity is in the group. Scratch is taken for the call: subgroup_scratch_bytes.
 * Errors: NO_MEMORY, CANCELLED, RANDOMNESS.
 */
CUZK_NODISCARD cuzk_status subgroup_check_g1(size_t *bad, const g1_affine *points, size_t n,
                                             struct pool *pool, const struct progress *progress,
                                             struct cuzk_error *err);
CUZK_NODISCARD cuzk_status subgroup_check_g2(size_t *bad, const g2_affine *points, size_t n,
                                             struct pool *pool, const struct progress *progress,
                                             struct cuzk_error *err);

/* Most memory of class MEM_OTHER that a check of n points takes with so many threads. */
size_t subgroup_scratch_bytes_g1(size_t n, unsigned threads);
size_t subgroup_scratch_bytes_g2(size_t n, unsigned threads);

#endif
