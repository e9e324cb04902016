/*
 * A real partition through the device "cpu".
 *
 *   test_device_cpu PATH-OF-cuzk-device PARAMETER-FOLDER
 */
#include <time.h>

#include "test_main.h"

#include "device_testing.h"
#include "hash.h"
#include "partition_fixture.h"
#include "verifier.h"

static const char circuit[] = "porep-2k";
enum { N_TASKS = 2, MS = 1000000 };

static const char *params_dir;
static struct device_testing device;
static struct witness view; /* on the slab */
static struct slab slab;
static struct vkey vk;
static char vk_path[512];

static void make_witness(void) {
    struct partition_fixture f;
    struct r1cs *r1cs;
    struct r1cs_stats n;
    struct witness w;
    const struct porep_shape *shape = porep_shape_by_name("2KiB");
    partition_fixture_load(&f, CUZK_FIXTURES "/porep/2KiB/partition-0.bin");
    assert_int_equal(porep_record(shape, &r1cs, NULL), CUZK_OK);
    assert_int_equal(r1cs_get_stats(r1cs, &n, NULL, NULL), CUZK_OK);
    assert_int_equal(porep_witness(shape, r1cs, &f.partition, &w, NULL, NULL), CUZK_OK);
    device_testing_slab(&slab, 1, witness_bytes(n.n_inputs, n.n_aux, n.n_elements));
    witness_place(&view, slab.ptr, n.n_inputs, n.n_aux, n.n_elements);
    memcpy(view.values, w.values, (size_t)(n.n_aux + 63) / 64 * sizeof *w.values);
    memcpy(view.elements, w.elements, n.n_elements * sizeof *w.elements);
    memcpy(view.inputs, w.inputs, n.n_inputs * sizeof *w.inputs);
    witness_destroy(&w);
    r1cs_destroy(r1cs);
    partition_fixture_free(&f);
}

static int set_up(void **state) {
    (void)state;
    struct cuzk_error err;
    make_witness();
    snprintf(vk_path, sizeof vk_path, "%s/porep-2k.dev.vk", params_dir);
    if (vkey_load(&vk, vk_path, 0, NULL, &err) != CUZK_OK) fail_msg("%s: %s", err.where, err.what);
    const struct device_spec spec = {.backend = "cpu",
                                     .workers = 1,
                                     .pendings = N_TASKS - 1,
                                     .threads = 2,
                                     .ping_timeout_ns = 20000ull * MS};
    device_testing_init(&device, spec, true);
    device_link_load(device.link, circuit, params_dir);
    device_testing_wait(&device, EVENT_LOADED, 1);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    device_testing_deinit(&device);
    vkey_destroy(&vk);
    device_testing_slab_close(&slab);
    return 0;
}

static void the_loaded_circuit_is_described(void **state) {
    (void)state;
    struct device_event e = device_testing_wait(&device, EVENT_LOADED, 1);
    uint8_t file[8192], digest[SHA256_BYTES];
    FILE *f = fopen(vk_path, "rb");
    assert_non_null(f);
    const size_t n = fread(file, 1, sizeof file, f);
    fclose(f);
    assert_true(n < sizeof file);
    sha256(digest, file, n);
    assert_memory_equal(e.vkey.bytes, digest, sizeof digest);
    assert_true(e.development);
    assert_true(e.srs_bytes > 50 << 20 && e.matrices_bytes > 0 && e.seconds > 0);
}

static struct device_event outcome(uint64_t task, enum device_event_kind kind, unsigned count) {
    struct device_event e;
    device_testing_wait(&device, kind, count);
    assert_true(device_testing_find(&device, kind, task, &e));
    return e;
}

static void proofs_verify(void **state) {
    (void)state;
    struct device_event first = {0};
    for (uint64_t task = 1; task <= N_TASKS; task++) {
        const struct device_task t = {.task = task,
                                      .circuit_id = circuit,
                                      .witness = &slab,
                                      .fixed_blinding = task != N_TASKS,
                                      .r = 5,
                                      .s = 6};
        device_link_prove(device.link, &t);
    }
    for (uint64_t task = 1; task <= N_TASKS; task++) {
        const struct device_event e = outcome(task, EVENT_PROVED, N_TASKS);
        assert_int_equal(
            groth16_verify(&vk, view.inputs + 1, view.n_inputs - 1, e.proof, NULL, NULL), CUZK_OK);
        assert_true(e.timings.prover.start > 0 && e.timings.prover.finish > 0);
        if (task == 1) first = e;
        if (task == N_TASKS) /* its blinding is fresh */
            assert_memory_not_equal(first.proof, e.proof, sizeof e.proof);
    }
}

static void what_is_no_witness_is_refused(void **state) {
    (void)state;
    struct slab small = slab, empty;
    small.bytes = witness_bytes(view.n_inputs, view.n_aux, view.n_elements) - 64;
    device_testing_slab(&empty, 2, slab.bytes);
    const struct device_task tasks[] = {{.task = 11, .circuit_id = circuit, .witness = &small},
                                        {.task = 12, .circuit_id = circuit, .witness = &empty}};
    for (unsigned i = 0; i < 2; i++) {
        device_link_prove(device.link, &tasks[i]);
        assert_int_equal(outcome(11 + i, EVENT_FAILED, i + 1).error.code, CUZK_INTERNAL);
    }
    device_link_drop_slab(device.link, empty.id);
    device_testing_slab_close(&empty);
}

static void a_cancelled_proof_ends(void **state) {
    (void)state;
    const unsigned failed = device_testing_count(&device, EVENT_FAILED);
    const struct device_task t = {.task = 21, .circuit_id = circuit, .witness = &slab};
    device_link_prove(device.link, &t);
    device_link_cancel(device.link, 21);
    assert_int_equal(outcome(21, EVENT_FAILED, failed + 1).error.code, CUZK_CANCELLED);
}

/* Memory is counted by class, and all of a circuit's goes with it. */
static void an_evicted_circuit_gives_its_memory_back(void **state) {
    (void)state;
    struct device_state s;
    const struct device_event loaded = device_testing_wait(&device, EVENT_LOADED, 1);
    device_link_state(device.link, &s);
    assert_true(s.class_high_water[MEM_SRS] >= loaded.srs_bytes);
    device_link_evict(device.link, circuit);
    const struct device_event e = device_testing_wait(&device, EVENT_EVICTED, 1);
    assert_int_equal(e.srs_bytes, loaded.srs_bytes);
    assert_int_equal(e.matrices_bytes, loaded.matrices_bytes);
    for (int i = 0; i < 100 && s.class_bytes[MEM_SRS] != 0; i++) { /* a pong comes each second */
        nanosleep(&(struct timespec){.tv_nsec = 50 * MS}, NULL);
        device_link_state(device.link, &s);
    }
    for (int c = 0; c < MEM_CLASSES; c++)
        assert_int_equal(s.class_bytes[c], 0);
    assert_true(s.rss_bytes < loaded.srs_bytes);
    assert_true(s.class_high_water[MEM_ABC] > 0 && s.class_high_water[MEM_PENDING] > 0);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    device_testing_program = argv[1];
    params_dir = argv[2];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loaded_circuit_is_described),
        cmocka_unit_test(proofs_verify),
        cmocka_unit_test(what_is_no_witness_is_refused),
        cmocka_unit_test(a_cancelled_proof_ends),
        cmocka_unit_test(an_evicted_circuit_gives_its_memory_back),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
