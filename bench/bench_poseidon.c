/*
 * Poseidon: microseconds a hash, native and as the witness of its circuit, for each arity. Time of
 * this process, so that other load does not count.
 */
#include <stdio.h>
#include <time.h>

#include "num.h"
#include "poseidon.h"
#include "poseidon_circuit.h"

enum { N_HASHES = 2000, MAX_ARITY = 11 };

static double cpu_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static double bench_native(unsigned arity) {
    fr in[MAX_ARITY];
    for (unsigned i = 0; i < arity; i++)
        fr_from_u64(&in[i], i);
    const double start = cpu_us();
    for (unsigned i = 0; i < N_HASHES; i++)
        poseidon_hash(&in[0], in, arity);
    return (cpu_us() - start) / N_HASHES;
}

/* The whole witness once to fault its pages in, then once for the clock. */
static double bench_witness(unsigned arity, unsigned n_rows) {
    struct witness w;
    double start = 0;
    const uint32_t n = arity + N_HASHES * n_rows;
    if (witness_create(&w, 1, n, n, NULL) != CUZK_OK) return 0;
    for (int round = 0; round < 2; round++) {
        struct cs *cs;
        struct num in[MAX_ARITY];
        if (cs_create_witness(&cs, &w, NULL) != CUZK_OK) break;
        for (unsigned i = 0; i < arity; i++) {
            fr value;
            fr_from_u64(&value, i);
            in[i] = num_alloc(cs, &value);
        }
        start = cpu_us();
        for (unsigned i = 0; i < N_HASHES; i++)
            poseidon_circuit(cs, &in[0], in, arity);
        start = cpu_us() - start;
        cs_destroy(cs);
    }
    witness_destroy(&w);
    return start / N_HASHES;
}

int main(void) {
    static const unsigned cases[][2] = {{2, 311}, {4, 377}, {8, 505}, {11, 598}};
    printf("%6s %14s %14s\n", "arity", "native us", "witness us");
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const unsigned arity = cases[i][0];
        bench_native(arity); /* derives the constants */
        printf("%6u %14.2f %14.2f\n", arity, bench_native(arity),
               bench_witness(arity, cases[i][1]));
    }
    return 0;
}
