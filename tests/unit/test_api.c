/*
 * libcuzk from outside: this program sees cuzk/cuzk.h and the shared library, nothing else.
 *
 *   test_api PARAMETER-FOLDER
 */
#include "unit/test_main.h"

#include <pthread.h>

#include <cuzk/cuzk.h>

static const char c1_path[] = CUZK_FIXTURES "/porep/2KiB/c1.json";
static const char *params_dir;
static struct cuzk_error err;

/* What all tests share; made once, since it is immutable. */
static cuzk_context *ctx;
static cuzk_sector *sector;
static cuzk_circuit *circuit;
static cuzk_params *params;
static cuzk_vk *vk;

static void good(cuzk_status s) {
    if (s == CUZK_OK) return;
    char text[1200];
    cuzk_error_format(&err, text, sizeof text);
    fail_msg("%s", text);
}

static int set_up(void **state) {
    (void)state;
    good(cuzk_context_create(&ctx, NULL, &err));
    good(cuzk_sector_read(ctx, &sector, c1_path, &err));
    good(cuzk_circuit_create(ctx, &circuit, "porep-2k", &err));
    good(cuzk_params_load(ctx, &params, circuit, params_dir, &err));
    good(cuzk_vk_load(&vk, "porep-2k", params_dir, &err));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    cuzk_vk_destroy(vk);
    cuzk_params_destroy(params);
    cuzk_circuit_destroy(circuit);
    cuzk_sector_destroy(sector);
    cuzk_context_destroy(ctx);
    return 0;
}

static void the_sector_says_what_it_is(void **state) {
    (void)state;
    struct cuzk_sector_info info;
    cuzk_sector_get_info(sector, &info);
    assert_int_equal(info.registered_proof, 5);
    assert_string_equal(info.registered_proof_name, "StackedDrg2KiBV1_1");
    assert_string_equal(info.circuit_id, "porep-2k");
    assert_int_equal(info.sector_bytes, 2048);
    assert_true(info.has_sector_number);
    assert_int_equal(info.sector_number, 101);
    assert_int_equal(info.n_partitions, 1);
    assert_int_equal(info.n_challenges, 2);
    assert_false(info.non_interactive);
    assert_int_equal(info.comm_r[0], 0x0f);
    assert_int_equal(info.comm_d[31], 0x27);
    assert_true(cuzk_params_are_development(params));
    const uint64_t miner = 1000, other = 1001;
    good(cuzk_sector_check(ctx, sector, &miner, &err));
    good(cuzk_sector_check(ctx, sector, NULL, &err));
    assert_int_equal(cuzk_sector_check(ctx, sector, &other, &err), CUZK_REPLICA_ID);
    good(cuzk_witness_check(ctx, circuit, sector, 0, &err));
}

static void wrong_arguments_are_refused(void **state) {
    (void)state;
    cuzk_circuit *c = circuit;
    assert_int_equal(cuzk_circuit_create(ctx, &c, "porep-3k", &err), CUZK_USAGE);
    assert_null(c);
    assert_int_equal(cuzk_circuit_create(ctx, &c, "snap-2k", &err), CUZK_UNSUPPORTED);
    cuzk_sector *s = sector;
    assert_int_equal(cuzk_sector_parse(ctx, &s, "{", 1, &err), CUZK_JSON_TRUNCATED);
    assert_null(s);
    assert_int_equal(cuzk_sector_read(ctx, &s, "/no/such/file", NULL), CUZK_FILE_OPEN);
    cuzk_params *p = params;
    assert_int_equal(cuzk_params_load(ctx, &p, circuit, "/no/such/folder", &err),
                     CUZK_PARAM_MISSING);
    assert_null(p);
    cuzk_vk *k = vk;
    assert_int_equal(cuzk_vk_load(&k, "porep-4k", params_dir, &err), CUZK_PARAM_MISSING);
    assert_null(k);
    cuzk_pending *pending = NULL;
    assert_int_equal(cuzk_prove_start(ctx, &pending, circuit, params, sector, 1, NULL, &err),
                     CUZK_USAGE);
    assert_null(pending);
    good(cuzk_circuit_create(ctx, &c, "porep-4k", &err));
    assert_int_equal(cuzk_prove_start(ctx, &pending, c, params, sector, 0, NULL, &err), CUZK_USAGE);
    assert_int_equal(cuzk_witness_check(ctx, c, sector, 0, &err), CUZK_USAGE);
    assert_int_equal(cuzk_params_load(ctx, &p, c, params_dir, &err), CUZK_PARAM_MISSING);
    char other_file[1100];
    snprintf(other_file, sizeof other_file, "%s/porep-2k.dev.params", params_dir);
    assert_int_equal(cuzk_params_load(ctx, &p, c, other_file, &err), CUZK_PARAM_CIRCUIT);
    assert_null(p);
    cuzk_circuit_destroy(c);
    uint8_t proof[CUZK_PROOF_BYTES] = {0};
    assert_int_equal(cuzk_verify(vk, sector, 1, proof, &err), CUZK_USAGE);
    assert_int_equal(cuzk_verify(vk, sector, 0, proof, &err), CUZK_PROOF_ENCODING);
}

struct finish {
    cuzk_pending *pending;
    uint8_t proof[CUZK_PROOF_BYTES];
    cuzk_status status;
};

static void *finish_main(void *arg) {
    struct finish *f = arg;
    const struct cuzk_context_options one = {.threads = 1};
    cuzk_context *own = NULL;
    f->status = cuzk_context_create(&own, &one, NULL);
    if (f->status == CUZK_OK) f->status = cuzk_prove_finish(own, f->proof, f->pending, NULL);
    cuzk_context_destroy(own);
    return NULL;
}

/* The second partition (here the same one again) starts while the first is being finished. */
static void finish_runs_beside_the_next_start(void **state) {
    (void)state;
    const struct cuzk_prove_options fixed = {.fixed_blinding = true, .r = 3, .s = 4};
    struct finish first = {0}, second = {0};
    good(cuzk_prove_start(ctx, &first.pending, circuit, params, sector, 0, NULL, &err));
    assert_true(cuzk_pending_bytes(first.pending) > 1000);
    assert_true(cuzk_pending_bytes(first.pending) < 2000000);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, finish_main, &first), 0);
    const cuzk_status s =
        cuzk_prove_start(ctx, &second.pending, circuit, params, sector, 0, &fixed, &err);
    pthread_join(thread, NULL);
    good(s);
    assert_int_equal(first.status, CUZK_OK);
    good(cuzk_prove_finish(ctx, second.proof, second.pending, &err));
    good(cuzk_verify(vk, sector, 0, first.proof, &err));
    good(cuzk_verify(vk, sector, 0, second.proof, &err));
    assert_memory_not_equal(first.proof, second.proof, CUZK_PROOF_BYTES);
    struct cuzk_timings t;
    cuzk_pending_get_timings(second.pending, &t);
    assert_true(t.witness > 0 && t.evaluate > 0 && t.ntt > 0 && t.msm_h > 0 && t.verify > 0);
    cuzk_pending_destroy(first.pending);
    cuzk_pending_destroy(second.pending);

    first.proof[100] ^= 1;
    const cuzk_status flipped = cuzk_verify(vk, sector, 0, first.proof, &err);
    assert_true(flipped == CUZK_PROOF_ENCODING || flipped == CUZK_PROOF_INVALID);
}

struct cancel_at {
    cuzk_context *own;
    unsigned calls, at;
};

static void cancel_progress(void *user, const char *phase, uint64_t done, uint64_t total) {
    struct cancel_at *c = user;
    (void)phase;
    (void)done;
    (void)total;
    if (c->calls++ == c->at) cuzk_context_cancel(c->own);
}

static void a_cancelled_start_ends_at_its_next_phase(void **state) {
    (void)state;
    struct cancel_at at = {.at = 1};
    const struct cuzk_context_options options = {.progress = cancel_progress, .progress_user = &at};
    good(cuzk_context_create(&at.own, &options, &err));
    cuzk_pending *pending = NULL;
    assert_int_equal(cuzk_prove_start(at.own, &pending, circuit, params, sector, 0, NULL, &err),
                     CUZK_CANCELLED);
    assert_null(pending);
    cuzk_context_destroy(at.own);
    cuzk_context_destroy(NULL);
    cuzk_pending_destroy(NULL);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    params_dir = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sector_says_what_it_is),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(finish_runs_beside_the_next_start),
        cmocka_unit_test(a_cancelled_start_ends_at_its_next_phase),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
