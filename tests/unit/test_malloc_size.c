/*
 * Buffers of 1 MiB and more come from mem.h, where they are counted, and never from malloc: shown
 * for all that a proof does, with the allocator's functions wrapped by the linker
 * (unit/groth16.cmake).
 */
#include <stdatomic.h>
#include <unistd.h>

#include "test_main.h"

#include "partition_fixture.h"
#include "pool.h"
#include "prover.h"
#include "setup.h"
#include "tiny_circuit.h"
#include "verifier.h"

enum {
    LIMIT = 1 << 20,
    N_BITS = 16000, /* 32 002 rows: a domain of 2^15, whose evaluations are 1 MiB each */
};

/* ---- the largest request since note_reset() ---- */

static _Atomic size_t largest;

static void note(size_t bytes) {
    size_t seen = atomic_load(&largest);
    while (bytes > seen && !atomic_compare_exchange_weak(&largest, &seen, bytes)) {
    }
}

static void note_reset(void) {
    atomic_store(&largest, 0);
}

static void expect_small(const char *what) {
    const size_t bytes = atomic_load(&largest);
    print_message("%s: the largest request to malloc has %zu bytes\n", what, bytes);
    assert_true(bytes < LIMIT);
}

/* The linker leads calls of f to __wrap_f, and those of __real_f to f. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *ptr, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
int __real_posix_memalign(void **out, size_t align, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *ptr, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
int __wrap_posix_memalign(void **out, size_t align, size_t bytes);

void *__wrap_malloc(size_t bytes) {
    note(bytes);
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes) {
    note(bytes == 0 || n <= SIZE_MAX / bytes ? n * bytes : SIZE_MAX);
    return __real_calloc(n, bytes);
}

void *__wrap_realloc(void *ptr, size_t bytes) {
    note(bytes);
    return __real_realloc(ptr, bytes);
}

void *__wrap_aligned_alloc(size_t align, size_t bytes) {
    note(bytes);
    return __real_aligned_alloc(align, bytes);
}

int __wrap_posix_memalign(void **out, size_t align, size_t bytes) {
    note(bytes);
    return __real_posix_memalign(out, align, bytes);
}

static void expect_noted(void *ptr, size_t bytes) {
    assert_non_null(ptr);
    free(ptr);
    assert_int_equal(atomic_load(&largest), bytes);
    note_reset();
}

/* Without this, a test that sees nothing would pass. */
static void requests_are_seen(void **state) {
    (void)state;
    void *volatile ptr; /* volatile: the compiler must not drop the pair of calls */
    note_reset();
    ptr = malloc(LIMIT + 1);
    expect_noted(ptr, LIMIT + 1);
    ptr = calloc(3, LIMIT);
    expect_noted(ptr, 3 * LIMIT);
    ptr = malloc(10);
    ptr = realloc(ptr, 2 * LIMIT);
    expect_noted(ptr, 2 * LIMIT);
    ptr = aligned_alloc(64, LIMIT);
    expect_noted(ptr, LIMIT);
    void *aligned = NULL;
    assert_int_equal(posix_memalign(&aligned, 64, LIMIT + 64), 0);
    expect_noted(aligned, LIMIT + 64);

    struct mem_block block; /* from a room: its calls are wrapped, too */
    assert_int_equal(mem_take(&block, 100000, MEM_OTHER, NULL), CUZK_OK);
    assert_true(atomic_load(&largest) >= 100000);
    mem_give(&block);
}

/* ---- a witness ---- */

static void a_witness_is_made_without_large_mallocs(void **state) {
    (void)state;
    const struct porep_shape *const shape = porep_shape_by_name("2KiB");
    struct partition_fixture fixture;
    struct pool *pool;
    struct r1cs *r1cs;
    struct witness w;
    struct cuzk_error err;
    partition_fixture_load(&fixture, CUZK_FIXTURES "/porep/2KiB/partition-0.bin");
    assert_int_equal(pool_create(&pool, 2, NULL), CUZK_OK);
    note_reset();
    assert_int_equal(porep_record(shape, &r1cs, &err), CUZK_OK);
    assert_int_equal(porep_witness(shape, r1cs, &fixture.partition, &w, pool, &err), CUZK_OK);
    expect_small("matrices and witness");
    assert_true(mem_in_use(MEM_WITNESS) >= LIMIT);
    witness_destroy(&w);
    r1cs_destroy(r1cs);
    pool_destroy(pool);
    partition_fixture_free(&fixture);
}

/* ---- parameters and a proof ---- */

static struct {
    char folder[32], params[64], vk[64], stamp[80];
    struct pool *pool;
    struct r1cs *r1cs;
    struct r1cs_stats stats;
} f = {.folder = "/tmp/cuzk-malloc-XXXXXX"};

static int make_parameters(void **state) {
    (void)state;
    struct cuzk_error err;
    assert_non_null(mkdtemp(f.folder));
    snprintf(f.params, sizeof f.params, "%s/t.dev.params", f.folder);
    snprintf(f.vk, sizeof f.vk, "%s/t.dev.vk", f.folder);
    snprintf(f.stamp, sizeof f.stamp, "%s.stamp", f.params);
    assert_int_equal(pool_create(&f.pool, 2, NULL), CUZK_OK);
    f.r1cs = tiny_circuit(N_BITS);
    assert_int_equal(r1cs_get_stats(f.r1cs, &f.stats, f.pool, NULL), CUZK_OK);
    const struct setup_options options = {.seeded = true, .seed = 1, .pool = f.pool};
    note_reset();
    const cuzk_status s = setup_write(f.params, f.vk, f.r1cs, &options, &err);
    if (s != CUZK_OK) fail_msg("set-up: %s: %s", err.where, err.what);
    return 0;
}

static int remove_parameters(void **state) {
    (void)state;
    r1cs_destroy(f.r1cs);
    pool_destroy(f.pool);
    unlink(f.params);
    unlink(f.vk);
    unlink(f.stamp);
    rmdir(f.folder);
    return 0;
}

static void a_proof_is_made_without_large_mallocs(void **state) {
    (void)state;
    struct cuzk_error err;
    struct srs *srs;
    struct prover_key *key;
    struct witness w;
    struct pending_proof *pending;
    struct prover_timings timings;
    uint8_t proof[PROOF_BYTES];
    expect_small("set-up");
    const struct srs_options load = {.circuit = &f.stats, .pool = f.pool, .ignore_stamp = true};
    note_reset();
    assert_int_equal(srs_load(&srs, f.params, &load, &err), CUZK_OK);
    expect_small("loading");
    assert_true(mem_in_use(MEM_SRS) >= LIMIT);

    tiny_witness(&w, f.r1cs, N_BITS, 3);
    const struct prover_options options = {.pool = f.pool};
    note_reset();
    assert_int_equal(prover_key_create(&key, srs, f.r1cs, &backend_cpu, f.pool, &err), CUZK_OK);
    assert_int_equal(prover_start(&pending, key, &w, &options, &timings, &err), CUZK_OK);
    assert_int_equal(prover_finish(proof, pending, &options, &timings, &err), CUZK_OK);
    expect_small("proving");
    assert_true(mem_high_water(MEM_ABC) >= LIMIT);

    note_reset();
    assert_int_equal(groth16_verify(&srs->vk, w.inputs + 1, w.n_inputs - 1, proof, f.pool, &err),
                     CUZK_OK);
    expect_small("verifying");
    pending_proof_destroy(pending);
    prover_key_destroy(key);
    witness_destroy(&w);
    srs_destroy(srs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_seen),
        cmocka_unit_test(a_witness_is_made_without_large_mallocs),
        cmocka_unit_test_setup_teardown(a_proof_is_made_without_large_mallocs, make_parameters,
                                        remove_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
