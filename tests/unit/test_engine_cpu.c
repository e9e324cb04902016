/* The engine with the CPU device and real (development) parameters: a job's proof verifies. The
 * argument is the folder with the parameters of porep-2k. */
#include "test_main.h"

#include "c1_text.h"
#include "engine_fixture.h"
#include "log.h"
#include "verifier.h"

static const char *params_dir;

static void assert_verifies(const struct engine_end *end, const struct c1_text *text) {
    char path[1100];
    struct vkey vk;
    struct c1 *c1 = NULL;
    struct cuzk_error err;
    snprintf(path, sizeof path, "%s/porep-2k.dev.vk", params_dir);
    assert_int_equal(vkey_load(&vk, path, 0, NULL, &err), CUZK_OK);
    assert_int_equal(c1_decode_memory(&c1, text->bytes, text->n, NULL, &err), CUZK_OK);
    const size_t n = c1_public_inputs_count(c1);
    fr *inputs = calloc(n, sizeof *inputs);
    assert_non_null(inputs);
    c1_public_inputs(c1, 0, inputs);
    assert_int_equal(end->proof_bytes, PROOF_BYTES);
    assert_int_equal(groth16_verify(&vk, inputs, n, end->proof, NULL, &err), CUZK_OK);
    free(inputs);
    c1_destroy(c1);
    vkey_destroy(&vk);
}

static void test_real_proofs(void **state) {
    (void)state;
    struct engine_folder folder;
    engine_folder_make(&folder);
    struct engine_config c = engine_test_config(&folder, NULL);
    c.param_dir = params_dir;
    c.no_input_check = false;
    c.accept_fake_proofs = false;
    c.devices[0].backend = "cpu";
    struct engine *e = NULL;
    struct cuzk_error err;
    assert_int_equal(engine_create(&e, &c, &err), CUZK_OK);

    struct c1_text text = c1_text_read(CUZK_FIXTURES "/porep/2KiB/c1.json");
    struct engine_request r = {.kind = ENGINE_KIND_POREP,
                               .request_id = "real",
                               .sector_size = 2048,
                               .sector_number = 101,
                               .miner_id = 1000,
                               .payload = text.bytes,
                               .payload_bytes = text.n};
    struct engine_ticket t[2];
    r.miner_id = 1001;
    assert_int_equal(engine_submit(e, &r, &t[0], &err), CUZK_REPLICA_ID);
    r.miner_id = 1000;
    for (unsigned i = 0; i < 2; i++) {
        r.request_id = i == 0 ? "real" : "once more";
        if (engine_submit(e, &r, &t[i], &err) != CUZK_OK) fail_msg("%s: %s", err.where, err.what);
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct engine_end end = engine_await(e, t[i].job_id, 600 * SECONDS);
        if (end.outcome != ENGINE_COMPLETED) fail_msg("outcome %d: %s", (int)end.outcome, end.what);
        assert_verifies(&end, &text);
    }
    struct engine_snapshot *s = NULL;
    assert_int_equal(engine_snapshot_take(e, &s, &err), CUZK_OK);
    assert_int_equal(s->invalid_proofs, 0);
    assert_true(s->circuits[0].development);
    printf("peak: daemon %.3f GiB, plan of both processes %.3f GiB\n",
           (double)s->peak_rss_bytes / (double)(1 << 30),
           (double)s->plan.peak_bytes / (double)(1 << 30));
    engine_snapshot_free(s);
    engine_destroy(e);
    c1_text_free(&text);
    engine_folder_remove(&folder);
}

int main(int argc, char **argv) {
    if (argc < 2) return 77;
    params_dir = argv[1];
    log_set(getenv("CUZK_TEST_LOG") != NULL ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR, false);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_real_proofs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
