#include <stdatomic.h>

#include "msm.h"
#include "msm_slice.h"

/* Words of the plane that a worker takes at once: 2^16 points. */
enum { CHUNK_WORDS = 1024 };

/*
 * A worker fills its slice with selected points and folds it until few records are left, which stay
 * for the next filling, since batches of a few additions waste their inversion.
 */
enum { KEEP = 64 };

struct bitsum {
    const struct msm_kernel *kernel;
    const uint8_t *points;
    const uint64_t *bits;
    size_t n;
    union msm_sum *sums; /* of each lane */
    uint8_t *lanes;
    size_t lane_bytes;
    _Atomic size_t next_chunk;
};

static const struct msm_kernel *larger_kernel(void) {
    return msm_slice_bytes(msm_kernel_g2()) > msm_slice_bytes(msm_kernel_g1()) ? msm_kernel_g2()
                                                                               : msm_kernel_g1();
}

size_t msm_bitsum_scratch_bytes(unsigned threads) {
    size_t bytes = 0;
    if (threads == 0) threads = 1;
    msm_carve(NULL, &bytes, threads * sizeof(union msm_sum));
    return bytes + threads * msm_slice_bytes(larger_kernel());
}

/* The slice's entries hold n selected points: gathers them, folding first when there is no room. */
static void take_entries(struct msm_slice *slice, const void *points, size_t n) {
    const struct msm_kernel *kernel = slice->kernel;
    if (slice->n_records + n > slice->capacity)
        slice->n_records = (uint32_t)msm_fold(slice, slice->records, slice->n_records, KEEP);
    kernel->gather(msm_slice_record(slice, slice->n_records + 1), points, slice->entries, n);
    slice->n_records += (uint32_t)n;
}

/* Words [begin, end) of the plane. Entries count from the first point of the chunk. */
static void sum_chunk(const struct bitsum *b, struct msm_slice *slice, size_t begin, size_t end) {
    const size_t room = slice->capacity - KEEP - 64;
    const void *points = b->points + begin * 64 * b->kernel->group->point_bytes;
    size_t n = 0;
    for (size_t w = begin; w < end; w++) {
        uint64_t word = b->bits[w];
        if (b->n - w * 64 < 64) word &= (UINT64_C(1) << (b->n - w * 64)) - 1;
        for (; word != 0; word &= word - 1)
            slice->entries[n++] = (uint32_t)((w - begin) * 64 + (size_t)__builtin_ctzll(word)) << 1;
        if (n > room || w + 1 == end) {
            memset(slice->entries + n, 0, MSM_ENTRY_PADDING * sizeof *slice->entries);
            take_entries(slice, points, n);
            n = 0;
        }
    }
}

static void run_lane(void *ctx, size_t index, unsigned worker) {
    (void)worker;
    struct bitsum *b = ctx;
    const size_t n_words = (b->n + 63) / 64;
    struct msm_slice slice;
    msm_slice_init(&slice, b->kernel, b->lanes + index * b->lane_bytes);
    for (;;) {
        const size_t begin = atomic_fetch_add(&b->next_chunk, 1) * CHUNK_WORDS;
        if (begin >= n_words) break;
        const size_t end = n_words - begin < CHUNK_WORDS ? n_words : begin + CHUNK_WORDS;
        sum_chunk(b, &slice, begin, end);
    }
    b->kernel->group->set_infinity(&b->sums[index]);
    if (slice.n_records == 0) return;
    msm_fold(&slice, slice.records, slice.n_records, 1);
    g2_affine point; /* large enough for both groups */
    b->kernel->scatter(&point, msm_slice_record(&slice, 1), 1);
    b->kernel->group->add_point(&b->sums[index], &point);
}

static void run_bitsum(union msm_sum *out, const struct msm_kernel *kernel, const void *points,
                       const uint64_t *bits, size_t n, void *scratch, unsigned threads,
                       struct pool *pool) {
    if (threads == 0) threads = 1;
    struct bitsum b = {
        .kernel = kernel,
        .points = points,
        .bits = bits,
        .n = n,
        .lane_bytes = msm_slice_bytes(kernel),
    };
    size_t used = 0;
    b.sums = msm_carve(scratch, &used, threads * sizeof *b.sums);
    b.lanes = (uint8_t *)scratch + used;
    pool_run(pool, threads, run_lane, &b);
    kernel->group->set_infinity(out);
    for (unsigned i = 0; i < threads; i++)
        kernel->group->add(out, &b.sums[i]);
}

void msm_bitsum_g1(g1 *out, const g1_affine *points, const uint64_t *bits, size_t n, void *scratch,
                   unsigned threads, struct pool *pool) {
    union msm_sum sum;
    run_bitsum(&sum, msm_kernel_g1(), points, bits, n, scratch, threads, pool);
    *out = sum.in_g1;
}

void msm_bitsum_g2(g2 *out, const g2_affine *points, const uint64_t *bits, size_t n, void *scratch,
                   unsigned threads, struct pool *pool) {
    union msm_sum sum;
    run_bitsum(&sum, msm_kernel_g2(), points, bits, n, scratch, threads, pool);
    *out = sum.in_g2;
}
