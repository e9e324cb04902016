/*
 * Multi-scalar multiplication beside blst's Pippenger, on the same points and scalars in one run.
 *
 *     bench_msm [--log K] [--threads T] [--repeat R] [--no-blst] [--no-g2]
 *
 * K: log2 of the largest size (20); T: most threads (2). blst runs on one thread. Times are the
 * best of R (2). Points are random multiples of the generator. CUZK_CPU=portable chooses the
 * portable kernels.
 */
#include <blst.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "msm.h"

struct options {
    unsigned log, threads, repeat;
    bool blst, g2;
};

struct timing {
    double wall, cpu;
};

struct data {
    g1_affine *p1;
    g2_affine *p2;
    fr_words *scalars;
    uint64_t *bits;
    size_t n;
};

static struct timing begin(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (struct timing){.wall = (double)clock_ns() * 1e-9,
                           .cpu = (double)t.tv_sec + (double)t.tv_nsec * 1e-9};
}

/* Lowers *best to the time since `start`. */
static void end(struct timing start, struct timing *best) {
    const struct timing now = begin();
    if (now.wall - start.wall < best->wall) best->wall = now.wall - start.wall;
    if (now.cpu - start.cpu < best->cpu) best->cpu = now.cpu - start.cpu;
}

static void *take(size_t bytes) {
    struct mem_block block;
    struct cuzk_error err;
    if (mem_take(&block, bytes, MEM_OTHER, &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.what);
        exit(3);
    }
    return block.ptr; /* kept to the end of the program */
}

static struct pool *make_pool(unsigned threads) {
    struct pool *pool;
    if (pool_create(&pool, threads, NULL) != CUZK_OK) exit(3);
    return pool;
}

static void fill_scalars(fr_words *out, size_t n, uint64_t first) {
    static const uint8_t seed[32] = "bench_msm";
    for (size_t i = 0; i < n; i++) {
        fr k;
        fr_from_seed(&k, seed, first + i);
        fr_to_words(&out[i], &k);
    }
}

static void print_fixed_base(const char *group, const struct timing *table,
                             const struct timing *multiples, const struct data *d,
                             const struct options *o) {
    const double scale = 1e9 / (double)d->n;
    printf("fixed base %s, %u threads: table %.3f s, %.0f ns a scalar (cpu %.0f)\n", group,
           o->threads, table->wall, multiples->wall * scale, multiples->cpu * scale);
}

/* Makes the points with the fixed-base functions, and prints their speed. */
static void make_points(struct data *d, const struct options *o) {
    struct pool *pool = make_pool(o->threads);
    void *scratch = take(fixed_base_scratch_bytes(o->threads));
    void *table = take(fixed_base_table_bytes_g1());
    struct timing t = {1e9, 1e9}, m = {1e9, 1e9}, start = begin();
    fixed_base_table_init_g1(table, &g1_generator, pool);
    end(start, &t);
    start = begin();
    fixed_base_mul_g1(d->p1, table, d->scalars, d->n, scratch, o->threads, pool);
    end(start, &m);
    print_fixed_base("G1", &t, &m, d, o);
    if (o->g2) {
        t = m = (struct timing){1e9, 1e9};
        table = take(fixed_base_table_bytes_g2());
        start = begin();
        fixed_base_table_init_g2(table, &g2_generator, pool);
        end(start, &t);
        start = begin();
        fixed_base_mul_g2(d->p2, table, d->scalars, d->n, scratch, o->threads, pool);
        end(start, &m);
        print_fixed_base("G2", &t, &m, d, o);
    }
    pool_destroy(pool);
}

static struct timing time_g1(g1 *sum, const struct data *d, size_t n, unsigned threads,
                             unsigned repeat, struct msm_plan *plan) {
    *plan = msm_plan_g1(n, threads);
    struct mem_block scratch;
    if (mem_take(&scratch, plan->scratch_bytes, MEM_OTHER, NULL) != CUZK_OK) exit(3);
    struct pool *pool = make_pool(threads);
    struct timing best = {1e9, 1e9};
    for (unsigned i = 0; i < repeat; i++) {
        const struct timing start = begin();
        msm_g1(sum, d->p1, d->scalars, n, plan, scratch.ptr, pool);
        end(start, &best);
    }
    pool_destroy(pool);
    mem_give(&scratch);
    return best;
}

static struct timing time_g2(const struct data *d, size_t n, unsigned threads, unsigned repeat,
                             struct msm_plan *plan) {
    *plan = msm_plan_g2(n, threads);
    struct mem_block scratch;
    if (mem_take(&scratch, plan->scratch_bytes, MEM_OTHER, NULL) != CUZK_OK) exit(3);
    struct pool *pool = make_pool(threads);
    struct timing best = {1e9, 1e9};
    for (unsigned i = 0; i < repeat; i++) {
        g2 sum;
        const struct timing start = begin();
        msm_g2(&sum, d->p2, d->scalars, n, plan, scratch.ptr, pool);
        end(start, &best);
    }
    pool_destroy(pool);
    mem_give(&scratch);
    return best;
}

static struct timing time_blst(const g1 *expected, const struct data *d, size_t n) {
    static void *scratch;
    static size_t scratch_bytes;
    const size_t bytes = blst_p1s_mult_pippenger_scratch_sizeof(n);
    if (bytes > scratch_bytes) {
        scratch = take(bytes);
        scratch_bytes = bytes;
    }
    const blst_p1_affine *const points[] = {(const blst_p1_affine *)d->p1, NULL};
    const byte *const scalars[] = {(const byte *)d->scalars, NULL};
    blst_p1 sum;
    struct timing t = {1e9, 1e9};
    const struct timing start = begin();
    blst_p1s_mult_pippenger(&sum, points, n, scalars, 255, scratch);
    end(start, &t);
    if (!blst_p1_is_equal(&sum, (const blst_p1 *)expected)) {
        fprintf(stderr, "blst's sum of %zu points is another\n", n);
        exit(1);
    }
    return t;
}

static void table_of_sizes(const struct data *d, const struct options *o) {
    printf("%5s %8s %7s %6s %7s %10s %10s %10s %10s %10s %7s\n", "group", "points", "threads",
           "window", "windows", "scratch MB", "wall s", "cpu s", "blst wall", "blst cpu", "ratio");
    for (unsigned log = o->log > 20 ? o->log : 16; log <= o->log; log += 2) {
        const size_t n = (size_t)1 << log;
        for (unsigned threads = 1; threads <= o->threads; threads *= 2) {
            struct msm_plan plan;
            g1 sum;
            const struct timing t = time_g1(&sum, d, n, threads, o->repeat, &plan);
            printf("%5s %8zu %7u %6u %7u %10.1f %10.4f %10.4f", "G1", n, threads, plan.window,
                   plan.n_windows, (double)plan.scratch_bytes * 1e-6, t.wall, t.cpu);
            if (o->blst && threads == 1) {
                const struct timing theirs = time_blst(&sum, d, n);
                printf(" %10.4f %10.4f %7.2f", theirs.wall, theirs.cpu, theirs.cpu / t.cpu);
            }
            printf("\n");
            fflush(stdout);
            if (!o->g2) continue;
            const struct timing t2 = time_g2(d, n, threads, o->repeat, &plan);
            printf("%5s %8zu %7u %6u %7u %10.1f %10.4f %10.4f\n", "G2", n, threads, plan.window,
                   plan.n_windows, (double)plan.scratch_bytes * 1e-6, t2.wall, t2.cpu);
        }
    }
}

static void bit_sums(const struct data *d, const struct options *o) {
    size_t selected = 0;
    for (size_t i = 0; i < d->n / 64; i++)
        selected += (size_t)__builtin_popcountll(d->bits[i]);
    for (unsigned threads = 1; threads <= o->threads; threads *= 2) {
        struct pool *pool = make_pool(threads);
        void *scratch = take(msm_bitsum_scratch_bytes(threads));
        struct timing t1 = {1e9, 1e9}, t2 = {1e9, 1e9};
        for (unsigned i = 0; i < o->repeat; i++) {
            g1 sum1;
            g2 sum2;
            struct timing start = begin();
            msm_bitsum_g1(&sum1, d->p1, d->bits, d->n, scratch, threads, pool);
            end(start, &t1);
            start = begin();
            if (o->g2) msm_bitsum_g2(&sum2, d->p2, d->bits, d->n, scratch, threads, pool);
            end(start, &t2);
        }
        const double scale = 1e9 / (double)selected;
        printf("bit sum, %u threads: G1 %.1f ns a selected point (cpu %.1f)", threads,
               t1.wall * scale, t1.cpu * scale);
        if (o->g2) printf(", G2 %.1f (cpu %.1f)", t2.wall * scale, t2.cpu * scale);
        printf("\n");
        pool_destroy(pool);
    }
}

/* The input that punishes a bucket method most: all scalars are the same. */
static void hot_bucket(struct data *d, const struct options *o) {
    for (size_t i = 1; i < d->n; i++)
        d->scalars[i] = d->scalars[0];
    struct msm_plan plan;
    g1 sum;
    const struct timing t = time_g1(&sum, d, d->n, 1, o->repeat, &plan);
    printf("all scalars equal, %zu points, one thread: %.4f s (cpu %.4f)\n", d->n, t.wall, t.cpu);
}

static struct options parse(int argc, char **argv) {
    struct options o = {.log = 20, .threads = 2, .repeat = 2, .blst = true, .g2 = true};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--no-blst") == 0) {
            o.blst = false;
        } else if (strcmp(argv[i], "--no-g2") == 0) {
            o.g2 = false;
        } else if (i + 1 < argc && strcmp(argv[i], "--log") == 0) {
            o.log = (unsigned)atoi(argv[++i]);
        } else if (i + 1 < argc && strcmp(argv[i], "--threads") == 0) {
            o.threads = (unsigned)atoi(argv[++i]);
        } else if (i + 1 < argc && strcmp(argv[i], "--repeat") == 0) {
            o.repeat = (unsigned)atoi(argv[++i]);
        } else {
            fprintf(stderr,
                    "usage: bench_msm [--log K] [--threads T] [--repeat R] [--no-blst] "
                    "[--no-g2]\n");
            exit(2);
        }
    }
    if (o.log < 16 || o.log > 27 || o.threads == 0 || o.repeat == 0) exit(2);
    return o;
}

int main(int argc, char **argv) {
    const struct options o = parse(argc, argv);
    const size_t n = (size_t)1 << o.log;
    struct data d = {.n = n};
    d.p1 = take(n * sizeof *d.p1);
    if (o.g2) d.p2 = take(n * sizeof *d.p2);
    d.scalars = take(n * sizeof *d.scalars);
    d.bits = take(n / 8);
    printf("kernel: %s\n", msm_kernel_name());
    fill_scalars(d.scalars, n, 0);
    make_points(&d, &o);
    fill_scalars((fr_words *)d.bits, n / 256, 2 * n);
    fill_scalars(d.scalars, n, n);
    bit_sums(&d, &o);
    table_of_sizes(&d, &o);
    hot_bucket(&d, &o);
    return 0;
}
