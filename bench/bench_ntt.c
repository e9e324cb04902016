/*
 * Times of the transforms: bench_ntt [log_n [threads [repeats]]], by default 2^22, all processors,
 * the best of 5. One table, a line a kernel.
 */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "ntt.h"
#include "ntt_plan.h"

typedef void transform_fn(const struct ntt_plan *plan, fr *a, struct pool *pool);

static double best_of(int repeats, transform_fn *transform, const struct ntt_plan *plan, fr *a,
                      struct pool *pool) {
    double best = 1e9;
    for (int i = 0; i < repeats; i++) {
        const uint64_t start = clock_ns();
        transform(plan, a, pool);
        const double seconds = clock_seconds_since(start);
        if (seconds < best) best = seconds;
    }
    return best;
}

static void line(const struct ntt_kernel *kernel, unsigned log_n, fr *a, struct pool *pool,
                 int repeats) {
    struct mem_block block;
    if (mem_take(&block, ntt_plan_bytes(log_n), MEM_OTHER, NULL) != CUZK_OK) abort();
    const struct ntt_plan *plan = ntt_plan_init_with(block.ptr, log_n, kernel);
    printf("%-12s %5u %7u %9.1f %9.1f %9.1f %9.1f %7zu\n", kernel->name, log_n, pool_threads(pool),
           1e3 * best_of(repeats, ntt_forward, plan, a, pool),
           1e3 * best_of(repeats, ntt_inverse, plan, a, pool),
           1e3 * best_of(repeats, ntt_coset_forward, plan, a, pool),
           1e3 * best_of(repeats, ntt_coset_inverse, plan, a, pool), ntt_plan_bytes(log_n) >> 10);
    mem_give(&block);
}

/* Of the plan it needs the size only. */
static void reverse_alone(const struct ntt_plan *plan, fr *a, struct pool *pool) {
    ntt_bit_reverse(a, plan->log_n, pool);
}

int main(int argc, char **argv) {
    const unsigned log_n = argc > 1 ? (unsigned)atoi(argv[1]) : 22;
    const unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    const int repeats = argc > 3 ? atoi(argv[3]) : 5;
    static const uint8_t seed[32] = "bench_ntt";
    struct pool *pool = NULL;
    struct mem_block block;
    if (log_n > NTT_MAX_LOG) {
        fprintf(stderr, "log_n is at most %d\n", NTT_MAX_LOG);
        return 2;
    }
    if (pool_create(&pool, threads, NULL) != CUZK_OK) return 3;
    if (mem_take(&block, sizeof(fr) << log_n, MEM_OTHER, NULL) != CUZK_OK) return 3;
    fr *a = block.ptr;
    fr_from_seed(&a[0], seed, 0);
    for (size_t i = 1; i < (size_t)1 << log_n; i++)
        fr_mul(&a[i], &a[i - 1], &a[0]);
    printf("best of %d, milliseconds; tables in KiB\n", repeats);
    printf("kernel       log_n threads   forward   inverse coset-fwd coset-inv  tables\n");
    if (ntt_ifma() != NULL) line(ntt_ifma(), log_n, a, pool, repeats);
    line(&ntt_portable, log_n, a, pool, repeats);
    printf("bit reversal alone (in forward and inverse): %.1f ms\n",
           1e3 * best_of(repeats, reverse_alone, &(struct ntt_plan){.log_n = log_n}, a, pool));
    mem_give(&block);
    pool_destroy(pool);
    return 0;
}
