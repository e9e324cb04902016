#include "msm.h"

#include <assert.h>
#include <stdatomic.h>

#include "msm_buckets.h"
#include "msm_sort.h"

/*
 * The work is cut into tasks, one for each window and part of the points; the parts of a plan are
 * few, just enough to give all threads the same load. A task walks over its points in ranges, so
 * that sorting needs little memory, and carries its buckets from range to range.
 */
enum {
    MAX_WINDOW = 20,
    MAX_RANGE = 1 << 20, /* points that are sorted at once */
};

/* What sorting costs for each digit, and a bucket besides its two additions, in ns; both measured.
 */
static const double sort_ns = 6.0;
static const double bucket_ns = 110.0;

/* Where everything is in a plan's scratch: sums of all tasks, then one lane for each thread. */
struct layout {
    size_t n_parts;
    size_t range; /* points */
    uint32_t n_digits;
    size_t sums_bytes, lane_bytes;
};

struct lane {
    struct msm_slice slice;
    struct msm_buckets buckets;
    uint32_t *entries, *ends, *digits;
};

static size_t ceil_div(size_t a, size_t b) {
    return (a + b - 1) / b;
}

/* Estimated time in ns of a run with windows of c bits and that many parts. */
static double cost(const struct msm_kernel *kernel, size_t n, unsigned threads, unsigned c,
                   size_t n_parts) {
    const double buckets = (double)(UINT32_C(1) << (c - 1));
    const double per_part = (double)ceil_div(n, n_parts);
    /* Batches of the points (a slice, or few, has its levels) and of the buckets' suffix sums. */
    const double levels = 10;
    const double batches = levels * (1 + per_part / (double)kernel->slice_records) + levels +
                           2 * __builtin_sqrt(buckets);
    const double task = per_part * (kernel->add_ns + sort_ns) +
                        buckets * (2 * kernel->add_ns + bucket_ns) + batches * kernel->batch_ns;
    return task * (double)ceil_div(msm_window_count(c) * n_parts, threads);
}

/* The cheapest number of parts for windows of c bits; *ns is its estimate. */
static size_t best_parts(const struct msm_kernel *kernel, size_t n, unsigned threads, unsigned c,
                         double *ns) {
    size_t best = 1;
    *ns = cost(kernel, n, threads, c, 1);
    for (size_t parts = 2; parts <= 2 * (size_t)threads && parts <= n; parts++) {
        const double t = cost(kernel, n, threads, c, parts);
        if (t < *ns) {
            *ns = t;
            best = parts;
        }
    }
    return best;
}

/* Lays a lane out in `memory`, or only measures it when it is NULL; returns the bytes. */
static size_t lay_out_lane(struct lane *lane, const struct msm_kernel *kernel,
                           const struct layout *layout, uint8_t *memory) {
    size_t used = 0;
    uint8_t *slice = msm_carve(memory, &used, msm_slice_bytes(kernel));
    lane->buckets.records =
        msm_carve(memory, &used, (layout->n_digits + (size_t)1) * kernel->record_bytes);
    lane->buckets.occupied = msm_carve(memory, &used, layout->n_digits + (size_t)1);
    lane->ends = msm_carve(memory, &used, (layout->n_digits + (size_t)1) * sizeof *lane->ends);
    lane->entries =
        msm_carve(memory, &used, (layout->range + MSM_ENTRY_PADDING) * sizeof *lane->entries);
    lane->digits = msm_carve(memory, &used, layout->range * sizeof *lane->digits);
    if (memory != NULL) msm_slice_init(&lane->slice, kernel, slice);
    return used;
}

static struct layout layout_of(const struct msm_plan *plan, const struct msm_kernel *kernel) {
    double ns;
    struct lane lane;
    struct layout l = {.n_digits = msm_window_max_digits(plan->window)};
    l.n_parts = best_parts(kernel, plan->n_points, plan->threads, plan->window, &ns);
    const size_t part = ceil_div(plan->n_points, l.n_parts);
    l.range = part < MAX_RANGE ? part : MAX_RANGE;
    msm_carve(NULL, &l.sums_bytes, plan->n_windows * l.n_parts * sizeof(union msm_sum));
    l.lane_bytes = lay_out_lane(&lane, kernel, &l, NULL);
    return l;
}

static struct msm_plan make_plan(const struct msm_kernel *kernel, size_t n_points,
                                 unsigned threads) {
    struct msm_plan plan = {.n_points = n_points, .threads = threads == 0 ? 1 : threads};
    double least = 0;
    for (unsigned c = 2; c <= MAX_WINDOW; c++) {
        double ns;
        best_parts(kernel, n_points, plan.threads, c, &ns);
        if (plan.window == 0 || ns < least) {
            plan.window = c;
            least = ns;
        }
    }
    plan.n_windows = msm_window_count(plan.window);
    const struct layout l = layout_of(&plan, kernel);
    plan.scratch_bytes = l.sums_bytes + plan.threads * l.lane_bytes;
    return plan;
}

struct msm_plan msm_plan_g1(size_t n_points, unsigned threads) {
    return make_plan(msm_kernel_g1(), n_points, threads);
}

struct msm_plan msm_plan_g2(size_t n_points, unsigned threads) {
    return make_plan(msm_kernel_g2(), n_points, threads);
}

struct run {
    const struct msm_kernel *kernel;
    const struct msm_plan *plan;
    struct layout layout;
    const uint8_t *points;
    const fr_words *scalars;
    size_t n;
    union msm_sum *sums; /* of task = window * n_parts + part */
    uint8_t *lanes;
    _Atomic size_t next_task;
};

/* One window of one part of the points. */
static void run_task(const struct run *run, struct lane *lane, size_t task) {
    const size_t n_parts = run->layout.n_parts;
    const struct msm_window window = msm_window_at(run->plan->window, (unsigned)(task / n_parts));
    const size_t part = task % n_parts;
    const size_t end = run->n * (part + 1) / n_parts;
    lane->buckets.n_digits = window.n_digits;
    msm_buckets_clear(&lane->buckets, run->kernel);
    for (size_t begin = run->n * part / n_parts; begin < end; begin += run->layout.range) {
        const size_t left = end - begin;
        const size_t n = left < run->layout.range ? left : run->layout.range;
        msm_sort(lane->entries, lane->ends, lane->digits, run->scalars + begin, n, &window);
        memset(lane->entries + n, 0, MSM_ENTRY_PADDING * sizeof *lane->entries);
        msm_buckets_add(&lane->buckets, &lane->slice,
                        run->points + begin * run->kernel->group->point_bytes, lane->entries,
                        lane->ends);
    }
    msm_buckets_sum(&run->sums[task], &lane->buckets, &lane->slice);
}

/*
 * A pool's task is a lane, which takes MSM tasks until there are none: so a lane's scratch is used
 * by one thread at a time whatever the size of the pool.
 */
static void run_lane(void *ctx, size_t index, unsigned worker) {
    (void)worker;
    struct run *run = ctx;
    struct lane lane;
    lay_out_lane(&lane, run->kernel, &run->layout, run->lanes + index * run->layout.lane_bytes);
    const size_t n_tasks = run->plan->n_windows * run->layout.n_parts;
    for (;;) {
        const size_t task = atomic_fetch_add(&run->next_task, 1);
        if (task >= n_tasks) return;
        run_task(run, &lane, task);
    }
}

/* Horner's rule over the windows, from the top. */
static void combine(union msm_sum *out, const struct run *run) {
    const struct msm_group *group = run->kernel->group;
    group->set_infinity(out);
    for (unsigned w = run->plan->n_windows; w-- > 0;) {
        for (unsigned i = 0; i < run->plan->window; i++)
            group->dbl(out);
        for (size_t part = 0; part < run->layout.n_parts; part++)
            group->add(out, &run->sums[w * run->layout.n_parts + part]);
    }
}

static void run_plan(union msm_sum *out, const struct msm_kernel *kernel, const void *points,
                     const fr_words *scalars, size_t n, const struct msm_plan *plan, void *scratch,
                     struct pool *pool) {
    assert(n <= plan->n_points);
    kernel->group->set_infinity(out);
    if (n == 0) return;
    struct run run = {
        .kernel = kernel,
        .plan = plan,
        .layout = layout_of(plan, kernel),
        .points = points,
        .scalars = scalars,
        .n = n,
        .sums = scratch,
    };
    run.lanes = (uint8_t *)scratch + run.layout.sums_bytes;
    pool_run(pool, plan->threads, run_lane, &run);
    combine(out, &run);
}

void msm_g1(g1 *out, const g1_affine *points, const fr_words *scalars, size_t n,
            const struct msm_plan *plan, void *scratch, struct pool *pool) {
    union msm_sum sum;
    run_plan(&sum, msm_kernel_g1(), points, scalars, n, plan, scratch, pool);
    *out = sum.in_g1;
}

void msm_g2(g2 *out, const g2_affine *points, const fr_words *scalars, size_t n,
            const struct msm_plan *plan, void *scratch, struct pool *pool) {
    union msm_sum sum;
    run_plan(&sum, msm_kernel_g2(), points, scalars, n, plan, scratch, pool);
    *out = sum.in_g2;
}
