#include "msm_buckets.h"

void msm_buckets_clear(struct msm_buckets *buckets, const struct msm_kernel *kernel) {
    kernel->set_infinity(buckets->records, buckets->n_digits + 1);
    memset(buckets->occupied, 0, buckets->n_digits + 1);
}

/* Sums what the slice holds and puts each segment's sum into its bucket. */
static void flush(struct msm_buckets *buckets, struct msm_slice *slice) {
    msm_slice_reduce(slice);
    for (uint32_t s = 0; s < slice->n_segments; s++) {
        const struct msm_segment *segment = &slice->segments[s];
        memcpy(msm_record(slice->kernel, buckets->records, segment->tag),
               msm_slice_record(slice, segment->first), slice->kernel->record_bytes);
        buckets->occupied[segment->tag] = 1;
    }
    msm_slice_reset(slice);
}

/*
 * Fills slices with the points in the order of their buckets. A bucket's old content is the first
 * record of its segment, so a bucket may go on in the next slice, or in the next range of points.
 */
void msm_buckets_add(struct msm_buckets *buckets, struct msm_slice *slice, const void *points,
                     const uint32_t *entries, const uint32_t *ends) {
    for (uint32_t d = 1; d <= buckets->n_digits; d++) {
        uint32_t next = ends[d - 1];
        while (next < ends[d]) {
            if (slice->capacity - slice->n_records < 2) flush(buckets, slice);
            msm_slice_open(slice, d);
            if (buckets->occupied[d])
                msm_slice_take_record(slice, msm_record(slice->kernel, buckets->records, d));
            const uint32_t room = slice->capacity - slice->n_records;
            const uint32_t left = ends[d] - next;
            const uint32_t n = left < room ? left : room;
            msm_slice_take(slice, points, entries + next, n);
            next += n;
            if (next < ends[d]) flush(buckets, slice);
        }
    }
    flush(buckets, slice);
}

/* A power of two near the square root of n / 2, so that groups and steps cost about the same. */
static unsigned log_group_length(uint32_t n) {
    unsigned k = 0;
    while ((UINT64_C(8) << 2 * k) <= n)
        k++;
    return k;
}

/*
 * Buckets 1 .. n are cut into groups of `length`. Inside of a group, b[j] += b[j + 1] from the last
 * to the first makes suffix sums, for all groups side by side in one batch a step.
 */
static void suffix_sums(struct msm_buckets *buckets, struct msm_slice *slice, uint32_t length) {
    for (uint32_t j = length - 1; j-- > 0;) {
        size_t n = 0;
        for (uint32_t a = 1 + j; a < buckets->n_digits; a += length)
            slice->pairs[n++] = (struct msm_pair){.a = a, .b = a + 1};
        slice->kernel->add_pairs(buckets->records, slice->pairs, n, slice->products);
    }
}

static void add_record(union msm_sum *sum, const struct msm_kernel *kernel, const void *record) {
    g2_affine point; /* large enough for both groups */
    kernel->scatter(&point, record, 1);
    kernel->group->add_point(sum, &point);
}

/* out = sum g * (first record of group g), by running sums from the last group on. */
static void weighted_firsts(union msm_sum *out, const struct msm_buckets *buckets,
                            const struct msm_kernel *kernel, uint32_t length) {
    union msm_sum running;
    kernel->group->set_infinity(&running);
    kernel->group->set_infinity(out);
    for (uint32_t g = (buckets->n_digits - 1) / length; g > 0; g--) {
        add_record(&running, kernel, msm_record(kernel, buckets->records, g * length + 1));
        kernel->group->add(out, &running);
    }
}

/*
 * Bucket d = g length + j + 1 counts d times: it is in j + 1 suffix sums of its group, and the
 * whole group, whose sum is its first suffix sum, is counted g length times more.
 */
void msm_buckets_sum(union msm_sum *out, struct msm_buckets *buckets, struct msm_slice *slice) {
    const struct msm_kernel *kernel = slice->kernel;
    unsigned k = log_group_length(buckets->n_digits);
    while (buckets->n_digits >> k > slice->capacity / 2 - 1)
        k++;
    suffix_sums(buckets, slice, UINT32_C(1) << k);
    weighted_firsts(out, buckets, kernel, UINT32_C(1) << k);
    for (unsigned i = 0; i < k; i++)
        kernel->group->dbl(out);
    msm_fold(slice, buckets->records, buckets->n_digits, 1);
    add_record(out, kernel, msm_record(kernel, buckets->records, 1));
}
