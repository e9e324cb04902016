/*
 * Inside of the msm room: a slice, the piece of memory in which a worker adds up points.
 *
 * A slice holds up to `capacity` records. Groups of neighbours (segments) are summed as binary
 * trees, the pairs of one level of all segments in one batch: so additions of a batch never meet in
 * one place, whatever the input is, and a point that occurs a million times costs what others cost.
 */
#ifndef MSM_SLICE_H
#define MSM_SLICE_H

#include "msm_kernel.h"

/* `count` records from `first` on; their sum ends up in record `first`. */
struct msm_segment {
    uint32_t first, count;
    uint32_t tag; /* the caller's: where the sum belongs */
};

struct msm_slice {
    const struct msm_kernel *kernel;
    uint8_t *records; /* 1 + capacity; record 0 is spare */
    struct msm_pair *pairs;
    void *products;
    struct msm_segment *segments;
    uint32_t *entries; /* capacity + MSM_ENTRY_PADDING, for the caller */
    uint32_t capacity;
    uint32_t n_records; /* in use */
    uint32_t n_segments;
};

size_t msm_slice_bytes(const struct msm_kernel *kernel);
/* Lays an empty slice into memory of any alignment. */
void msm_slice_init(struct msm_slice *slice, const struct msm_kernel *kernel, void *memory);

static inline void *msm_slice_record(const struct msm_slice *slice, size_t i) {
    return msm_record(slice->kernel, slice->records, i);
}

/* Opens a segment at the end of the slice, to which msm_slice_take adds. There must be room. */
void msm_slice_open(struct msm_slice *slice, uint32_t tag);
/* Appends the points that `entries` name (see msm_kernel.gather) to the last segment. */
void msm_slice_take(struct msm_slice *slice, const void *points, const uint32_t *entries, size_t n);
/* Appends a copy of one record to the last segment. */
void msm_slice_take_record(struct msm_slice *slice, const void *record);
/* Sums every segment. */
void msm_slice_reduce(struct msm_slice *slice);
/* Empties the slice. */
void msm_slice_reset(struct msm_slice *slice);

/*
 * Sums records[1 .. n] of any array (with a spare record 0) until at most `keep` >= 1 are left,
 * which are then records[1 .. keep]; returns how many. The slice lends its pairs and products.
 */
size_t msm_fold(struct msm_slice *slice, void *records, size_t n, size_t keep);

#endif
