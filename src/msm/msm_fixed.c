#include <stdatomic.h>

#include "msm_slice.h"
#include "msm_sort.h"

/*
 * The table holds j * 2^(16 w) * base for the windows w < 16 and 1 <= j <= 2^15, as affine points;
 * digits are signed. Behind it lies the memory that its making needs: one slice for each of up to
 * TABLE_LANES threads.
 */
enum {
    WINDOW = 16,
    N_WINDOWS = 16,
    WINDOW_POINTS = 1 << (WINDOW - 1),
    TABLE_LANES = 16,
};

static size_t points_bytes(const struct msm_kernel *kernel) {
    return (size_t)N_WINDOWS * WINDOW_POINTS * kernel->group->point_bytes;
}

static size_t table_bytes(const struct msm_kernel *kernel) {
    return points_bytes(kernel) + TABLE_LANES * msm_slice_bytes(kernel);
}

size_t fixed_base_table_bytes_g1(void) {
    return table_bytes(msm_kernel_g1());
}

size_t fixed_base_table_bytes_g2(void) {
    return table_bytes(msm_kernel_g2());
}

struct table_job {
    const struct msm_kernel *kernel;
    uint8_t *table;
    _Atomic size_t next_window;
};

/* points[done + i] = points[i] + points[done - 1] for i < n: the multiples after `done`. */
static void extend_window(struct msm_slice *slice, uint8_t *points, size_t done, size_t begin,
                          size_t n) {
    const size_t point_bytes = slice->kernel->group->point_bytes;
    for (size_t i = 0; i < n; i++) {
        slice->entries[i] = (uint32_t)(begin + i) << 1;
        slice->pairs[i] = (struct msm_pair){.a = (uint32_t)i + 1, .b = (uint32_t)n + 1};
    }
    slice->entries[n] = (uint32_t)(done - 1) << 1;
    memset(slice->entries + n + 1, 0, (MSM_ENTRY_PADDING - 1) * sizeof *slice->entries);
    slice->kernel->gather(msm_slice_record(slice, 1), points, slice->entries, n + 1);
    slice->kernel->add_pairs(slice->records, slice->pairs, n, slice->products);
    slice->kernel->scatter(points + (done + begin) * point_bytes, msm_slice_record(slice, 1), n);
}

/* All multiples of a window's first point, by doubling their number. */
static void fill_window(struct msm_slice *slice, uint8_t *points) {
    const size_t batch = slice->capacity / 2;
    for (size_t done = 1; done < WINDOW_POINTS; done *= 2) {
        for (size_t begin = 0; begin < done; begin += batch)
            extend_window(slice, points, done, begin, done - begin < batch ? done - begin : batch);
    }
}

static void table_lane(void *ctx, size_t index, unsigned worker) {
    (void)worker;
    struct table_job *job = ctx;
    struct msm_slice slice;
    msm_slice_init(&slice, job->kernel,
                   job->table + points_bytes(job->kernel) + index * msm_slice_bytes(job->kernel));
    for (;;) {
        const size_t w = atomic_fetch_add(&job->next_window, 1);
        if (w >= N_WINDOWS) return;
        fill_window(&slice, job->table + w * WINDOW_POINTS * job->kernel->group->point_bytes);
    }
}

static void init_table(void *table, const struct msm_kernel *kernel, const void *base,
                       struct pool *pool) {
    struct table_job job = {.kernel = kernel, .table = table};
    const struct msm_group *group = kernel->group;
    union msm_sum sum;
    group->set_infinity(&sum);
    group->add_point(&sum, base);
    for (size_t w = 0; w < N_WINDOWS; w++) {
        group->to_point(job.table + w * WINDOW_POINTS * group->point_bytes, &sum);
        for (unsigned i = 0; i < WINDOW; i++)
            group->dbl(&sum);
    }
    const unsigned threads = pool_threads(pool);
    pool_run(pool, threads < TABLE_LANES ? threads : TABLE_LANES, table_lane, &job);
}

void fixed_base_table_init_g1(void *table, const g1_affine *base, struct pool *pool) {
    init_table(table, msm_kernel_g1(), base, pool);
}

void fixed_base_table_init_g2(void *table, const g2_affine *base, struct pool *pool) {
    init_table(table, msm_kernel_g2(), base, pool);
}

size_t fixed_base_scratch_bytes(unsigned threads) {
    return msm_bitsum_scratch_bytes(threads);
}

struct mul_job {
    const struct msm_kernel *kernel;
    uint8_t *out;
    const void *table;
    const fr_words *scalars;
    size_t n;
    uint8_t *lanes;
    struct msm_window windows[N_WINDOWS];
    _Atomic size_t next;
};

/* Entries of the table for the digits that are not zero; returns their number. */
static size_t table_entries(uint32_t *entries, const fr_words *scalar,
                            const struct msm_window *windows) {
    size_t n = 0;
    for (unsigned w = 0; w < N_WINDOWS; w++) {
        const uint32_t digit = msm_digit(scalar, &windows[w]);
        if (digit >> 1 != 0)
            entries[n++] = (w * WINDOW_POINTS + (digit >> 1) - 1) << 1 | (digit & 1);
    }
    return n;
}

/* Each scalar of [begin, begin + n) is a segment of at most 16 records. */
static void mul_chunk(const struct mul_job *job, struct msm_slice *slice, size_t begin, size_t n) {
    const size_t point_bytes = job->kernel->group->point_bytes;
    uint8_t *out = job->out + begin * point_bytes;
    size_t n_entries = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t count =
            table_entries(slice->entries + n_entries, &job->scalars[begin + i], job->windows);
        n_entries += count;
        msm_slice_open(slice, (uint32_t)i);
        slice->segments[slice->n_segments - 1].count = (uint32_t)count;
        slice->n_records += (uint32_t)count;
    }
    memset(slice->entries + n_entries, 0, MSM_ENTRY_PADDING * sizeof *slice->entries);
    job->kernel->gather(msm_slice_record(slice, 1), job->table, slice->entries, n_entries);
    msm_slice_reduce(slice);
    for (size_t i = 0; i < n; i++) {
        const struct msm_segment *segment = &slice->segments[i];
        if (segment->count == 0) {
            memset(out + i * point_bytes, 0, point_bytes);
        } else {
            job->kernel->scatter(out + i * point_bytes, msm_slice_record(slice, segment->first), 1);
        }
    }
    msm_slice_reset(slice);
}

static void mul_lane(void *ctx, size_t index, unsigned worker) {
    (void)worker;
    struct mul_job *job = ctx;
    struct msm_slice slice;
    msm_slice_init(&slice, job->kernel, job->lanes + index * msm_slice_bytes(job->kernel));
    const size_t chunk = slice.capacity / N_WINDOWS;
    for (;;) {
        const size_t begin = atomic_fetch_add(&job->next, 1) * chunk;
        if (begin >= job->n) return;
        mul_chunk(job, &slice, begin, job->n - begin < chunk ? job->n - begin : chunk);
    }
}

static void run_mul(void *out, const struct msm_kernel *kernel, const void *table,
                    const fr_words *scalars, size_t n, void *scratch, unsigned threads,
                    struct pool *pool) {
    struct mul_job job = {
        .kernel = kernel,
        .out = out,
        .table = table,
        .scalars = scalars,
        .n = n,
        .lanes = scratch,
    };
    for (unsigned w = 0; w < N_WINDOWS; w++)
        job.windows[w] = msm_window_at(WINDOW, w);
    pool_run(pool, threads == 0 ? 1 : threads, mul_lane, &job);
}

void fixed_base_mul_g1(g1_affine *out, const void *table, const fr_words *scalars, size_t n,
                       void *scratch, unsigned threads, struct pool *pool) {
    run_mul(out, msm_kernel_g1(), table, scalars, n, scratch, threads, pool);
}

void fixed_base_mul_g2(g2_affine *out, const void *table, const fr_words *scalars, size_t n,
                       void *scratch, unsigned threads, struct pool *pool) {
    run_mul(out, msm_kernel_g2(), table, scalars, n, scratch, threads, pool);
}
