/*
 * The first proof of rightness: with the public implementation's own parameters, constraint system
 * and witness of a WindowPoSt circuit, and the same blinding factors, our proof equals its proof
 * byte for byte. Needs the shared fixtures.
 */
#include <unistd.h>

#include "test_main.h"

#include "file.h"
#include "pool.h"
#include "prover.h"
#include "verifier.h"

#define FIXTURE CUZK_SHARED "/fixtures/params/window-2KiB"

enum { LIMIT = 64 << 20 };

static struct pool *pool;
static struct r1cs *system_of_rows;
static struct witness witness;
static struct srs *srs;
static uint8_t expected[PROOF_BYTES];

static struct mem_block read_fixture(const char *path, size_t *n) {
    struct mem_block block;
    struct cuzk_error err;
    const cuzk_status s = file_read(&block, n, path, LIMIT, &err);
    if (s != CUZK_OK) fail_msg("%s: %s", path, err.what);
    return block;
}

static void load_witness(const struct r1cs_stats *stats) {
    size_t n;
    struct cuzk_error err;
    struct mem_block file = read_fixture(FIXTURE ".witness", &n);
    const cuzk_status s =
        witness_from_values(&witness, r1cs_kind_plane(system_of_rows), stats->n_inputs,
                            stats->n_aux, stats->n_elements, file.ptr, n, &err);
    if (s != CUZK_OK) fail_msg("%s: %s", err.where, err.what);
    mem_give(&file);
}

static int setup(void **state) {
    (void)state;
    struct cuzk_error err;
    size_t n;
    assert_int_equal(pool_create(&pool, 0, NULL), CUZK_OK);
    struct mem_block rows = read_fixture(FIXTURE ".rows", &n);
    assert_int_equal(r1cs_from_rows(&system_of_rows, rows.ptr, n, &err), CUZK_OK);
    mem_give(&rows);
    struct mem_block proof = read_fixture(FIXTURE ".proof", &n);
    assert_int_equal(n, PROOF_BYTES);
    memcpy(expected, proof.ptr, PROOF_BYTES);
    mem_give(&proof);
    struct r1cs_stats stats;
    assert_int_equal(r1cs_get_stats(system_of_rows, &stats, pool, NULL), CUZK_OK);
    load_witness(&stats);
    const struct srs_options options = {.circuit = &stats, .pool = pool, .ignore_stamp = true};
    const cuzk_status s = srs_load(&srs, FIXTURE ".params", &options, &err);
    if (s != CUZK_OK) fail_msg("%s: %s", err.where, err.what);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    srs_destroy(srs);
    witness_destroy(&witness);
    r1cs_destroy(system_of_rows);
    pool_destroy(pool);
    return 0;
}

static void proof_equals_the_reference(void **state) {
    (void)state;
    struct cuzk_error err;
    struct prover_key *key;
    assert_int_equal(prover_key_create(&key, srs, system_of_rows, &backend_cpu, pool, &err),
                     CUZK_OK);
    fr r, s;
    fr_from_u64(&r, 7);
    fr_from_u64(&s, 11);
    const struct prover_options options = {.pool = pool, .fixed_r = &r, .fixed_s = &s};
    struct pending_proof *pending;
    struct prover_timings timings;
    assert_int_equal(prover_start(&pending, key, &witness, &options, &timings, &err), CUZK_OK);
    uint8_t proof[PROOF_BYTES];
    assert_int_equal(prover_finish(proof, pending, &options, &timings, &err), CUZK_OK);
    printf(
        "start %.3f s (evaluate %.3f, transform %.3f, h %.3f, l %.3f, a %.3f, b_g1 %.3f), "
        "finish %.3f s\n",
        timings.start, timings.evaluate, timings.transform, timings.msm_h, timings.msm_l,
        timings.msm_a, timings.msm_b_g1, timings.finish);
    pending_proof_destroy(pending);
    prover_key_destroy(key);
    assert_memory_equal(proof, expected, PROOF_BYTES);
}

static void proof_verifies_with_the_key_file(void **state) {
    (void)state;
    struct vkey vk;
    struct cuzk_error err;
    assert_int_equal(vkey_load(&vk, FIXTURE ".vk", witness.n_inputs, pool, &err), CUZK_OK);
    const size_t n = witness.n_inputs - 1;
    assert_int_equal(groth16_verify(&vk, witness.inputs + 1, n, expected, pool, &err), CUZK_OK);
    uint8_t wrong[PROOF_BYTES];
    for (size_t bit = 5; bit < 8 * PROOF_BYTES; bit += 101) {
        memcpy(wrong, expected, sizeof wrong);
        wrong[bit / 8] ^= (uint8_t)(1 << bit % 8);
        const cuzk_status s = groth16_verify(&vk, witness.inputs + 1, n, wrong, pool, &err);
        if (s != CUZK_PROOF_INVALID && s != CUZK_PROOF_ENCODING)
            fail_msg("bit %zu: status %d", bit, (int)s);
    }
    vkey_destroy(&vk);
}

int main(void) {
    if (access(FIXTURE ".params", R_OK) != 0) {
        printf("skipped: %s.params is not there\n", FIXTURE);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proof_equals_the_reference),
        cmocka_unit_test(proof_verifies_with_the_key_file),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
