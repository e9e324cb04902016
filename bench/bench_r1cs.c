/*
 * Constraint systems: recording, digest, statistics, evaluation, and the witness writer.
 *
 * Usage: bench_r1cs [SIZE=2KiB] [THREADS=0]. The witness is random: evaluation does not mind.
 */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "porep.h"
#include "r1cs_digest.h"

static void fail(const struct cuzk_error *err) {
    char text[1024];
    error_format(err, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    exit(1);
}

static void line(const char *what, double seconds, double units, const char *unit) {
    printf("%-22s %9.3f s  %10.1f M %s/s\n", what, seconds, units / seconds * 1e-6, unit);
}

/* Words of 32 bits, as an exclusive or allocates them: what a gadget costs beyond its own work. */
static void bench_writer(void) {
    enum { N_AUX = 1 << 29 };
    struct witness w;
    struct cs *cs;
    struct cuzk_error err;
    if (witness_create(&w, 1, N_AUX, 0, &err) != CUZK_OK) fail(&err);
    for (int round = 0; round < 2; round++) { /* the first one takes the pages */
        const uint64_t start = clock_ns();
        uint32_t x = 1;
        if (cs_create_witness(&cs, &w, &err) != CUZK_OK) fail(&err);
        for (uint32_t i = 0; i < N_AUX / 32; i++) {
            x = x << 7 ^ x >> 25 ^ i;
            cs_alloc_bits(cs, x, 32);
        }
        if (cs_finish(cs, NULL, &err) != CUZK_OK) fail(&err);
        cs_destroy(cs);
        if (round == 1) line("witness, 32-bit words", clock_seconds_since(start), N_AUX, "bits");
    }
    witness_destroy(&w);
}

static void fill_randomly(struct witness *w, const uint64_t *kind) {
    uint64_t x = 88172645463325252u;
    for (uint32_t i = 0; i <= w->n_aux / 64; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        w->values[i] = x & kind[i];
    }
    for (uint32_t i = 0; i < w->n_elements; i++)
        fr_from_u64(&w->elements[i], x * i);
}

static void bench_evaluation(const struct r1cs *r, const struct r1cs_stats *stats,
                             struct pool *pool) {
    struct witness w;
    struct mem_block block;
    struct cuzk_error err;
    if (witness_create(&w, stats->n_inputs, stats->n_aux, stats->n_elements, &err) != CUZK_OK)
        fail(&err);
    fill_randomly(&w, r1cs_kind_plane(r));
    if (mem_take(&block, 3 * stats->n_rows * sizeof(fr), MEM_ABC, &err) != CUZK_OK) fail(&err);
    fr *a = block.ptr, *b = a + stats->n_rows, *c = b + stats->n_rows;
    r1cs_evaluate(r, &w, a, b, c, pool); /* takes the pages */
    uint64_t start = clock_ns();
    r1cs_evaluate(r, &w, a, b, NULL, pool);
    line("evaluate a, b", clock_seconds_since(start), (double)stats->n_rows, "rows");
    start = clock_ns();
    r1cs_evaluate(r, &w, a, b, c, pool);
    line("evaluate a, b, c", clock_seconds_since(start), (double)stats->n_rows, "rows");
    mem_give(&block);
    witness_destroy(&w);
}

int main(int argc, char **argv) {
    const struct porep_shape *shape = porep_shape_by_name(argc > 1 ? argv[1] : "2KiB");
    struct pool *pool;
    struct r1cs *r;
    struct r1cs_stats stats;
    struct cuzk_error err;
    uint8_t digest[SHA256_BYTES];
    if (shape == NULL) {
        fprintf(stderr, "usage: bench_r1cs [SIZE] [THREADS]\n");
        return 2;
    }
    if (pool_create(&pool, argc > 2 ? (unsigned)atoi(argv[2]) : 0, &err) != CUZK_OK) fail(&err);
    uint64_t start = clock_ns();
    if (porep_record(shape, &r, &err) != CUZK_OK) fail(&err);
    const double recorded = clock_seconds_since(start);
    start = clock_ns();
    if (r1cs_get_stats(r, &stats, pool, &err) != CUZK_OK) fail(&err);
    printf("%s: %llu rows, %u variables, matrices %zu bytes; %u threads\n", shape->size_name,
           (unsigned long long)stats.n_rows, stats.n_aux, stats.bytes, pool_threads(pool));
    line("record", recorded, (double)stats.n_rows, "rows");
    line("statistics", clock_seconds_since(start), (double)stats.n_rows, "rows");
    start = clock_ns();
    if (r1cs_digest(r, digest, NULL, pool, NULL, &err) != CUZK_OK) fail(&err);
    line("digest", clock_seconds_since(start), (double)stats.n_rows, "rows");
    bench_evaluation(r, &stats, pool);
    bench_writer();
    r1cs_destroy(r);
    pool_destroy(pool);
    return 0;
}
