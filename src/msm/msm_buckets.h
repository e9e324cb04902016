/*
 * Inside of the msm room: the buckets of one window. Bucket d collects the points whose digit is
 * +-d; the window's sum is sum d * bucket[d].
 */
#ifndef MSM_BUCKETS_H
#define MSM_BUCKETS_H

#include "msm_slice.h"

struct msm_buckets {
    void *records;     /* 1 + n_digits; record 0 is spare */
    uint8_t *occupied; /* 1 + n_digits: is there anything in it? */
    uint32_t n_digits;
};

void msm_buckets_clear(struct msm_buckets *buckets, const struct msm_kernel *kernel);

/* Adds points that msm_sort has sorted. entries has MSM_ENTRY_PADDING valid ones behind the last.
 */
void msm_buckets_add(struct msm_buckets *buckets, struct msm_slice *slice, const void *points,
                     const uint32_t *entries, const uint32_t *ends);

/* out = sum d * bucket[d]; the buckets are used up. */
void msm_buckets_sum(union msm_sum *out, struct msm_buckets *buckets, struct msm_slice *slice);

#endif
