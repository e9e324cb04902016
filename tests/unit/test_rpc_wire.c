/* The gRPC server behind TLS, and against bytes that no client of ours sends. */
#include "test_main.h"

#include <unistd.h>

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/time.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "rpc_fixture.h"

/* ---- TLS ---- */

/* A certificate of its own for this machine, and its key, as PEM files. */
static void write_certificate(const char *cert_path, const char *key_path) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    assert_non_null(key);
    X509_set_version(cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
    X509_set_pubkey(cert, key);
    X509_NAME *name = X509_get_subject_name(cert);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"localhost", -1, -1,
                               0);
    X509_set_issuer_name(cert, name);
    static const int kinds[] = {NID_subject_alt_name, NID_basic_constraints};
    static const char *const values[] = {"DNS:localhost,IP:127.0.0.1", "critical,CA:TRUE"};
    for (int i = 0; i < 2; i++) {
        X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, kinds[i], values[i]);
        assert_non_null(e);
        X509_add_ext(cert, e, -1);
        X509_EXTENSION_free(e);
    }
    assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
    FILE *out = fopen(cert_path, "w");
    assert_int_equal(PEM_write_X509(out, cert), 1);
    fclose(out);
    out = fopen(key_path, "w");
    assert_int_equal(PEM_write_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL), 1);
    fclose(out);
    X509_free(cert);
    EVP_PKEY_free(key);
}

static cuzk_status status_over(const struct rpc_client_options *o) {
    struct rpc_client *c;
    struct cuzk_error err;
    struct rpc_status *s = NULL;
    assert_int_equal(rpc_client_create(&c, o, &err), CUZK_OK);
    const cuzk_status status = rpc_client_status(c, &s, LIMIT, &err);
    rpc_status_free(s);
    rpc_client_destroy(c);
    return status;
}

static void test_tls(void **state) {
    struct rpc_fixture *f = *state;
    char cert[100], key[100], other_cert[100], other_key[100], secure[64], plain[64];
    snprintf(cert, sizeof cert, "%s/cert", f->folder);
    snprintf(key, sizeof key, "%s/key", f->folder);
    snprintf(other_cert, sizeof other_cert, "%s/cert2", f->folder);
    snprintf(other_key, sizeof other_key, "%s/key2", f->folder);
    write_certificate(cert, key);
    write_certificate(other_cert, other_key);
    struct rpc_options o = {.listen = {"127.0.0.1:0"}, .n_listen = 1, .tls_cert = cert};
    struct rpc_server *s;
    struct cuzk_error err;
    assert_int_equal(rpc_server_create(&s, f->engine, &o, &err), CUZK_CONFIG); /* no key */
    o.tls_key = other_cert;
    const cuzk_status no_key = rpc_server_create(&s, f->engine, &o, &err);
    assert_true(no_key == CUZK_CONFIG || no_key == CUZK_LISTEN);
    o.tls_key = key;
    for (int with_clients = 0; with_clients < 2; with_clients++) {
        o.tls_client_ca = with_clients ? cert : NULL;
        assert_int_equal(rpc_server_create(&s, f->engine, &o, &err), CUZK_OK);
        snprintf(secure, sizeof secure, "https://127.0.0.1:%u", rpc_server_port(s, 0));
        snprintf(plain, sizeof plain, "http://127.0.0.1:%u", rpc_server_port(s, 0));
        struct rpc_client_options c = {.address = secure, .tls_ca = cert};
        assert_int_equal(status_over(&c), with_clients ? CUZK_CONNECT : CUZK_OK);
        c.tls_cert = cert;
        c.tls_key = key;
        assert_int_equal(status_over(&c), CUZK_OK);
        c.tls_cert = other_cert; /* not of the server's CA: the one where clients are asked */
        c.tls_key = other_key;
        assert_int_equal(status_over(&c), with_clients ? CUZK_CONNECT : CUZK_OK);
        c.tls_ca = other_cert;
        assert_int_equal(status_over(&c), CUZK_CONNECT);
        c = (struct rpc_client_options){.address = plain};
        assert_int_equal(status_over(&c), CUZK_CONNECT);
        rpc_server_destroy(s);
    }
    unlink(cert);
    unlink(key);
    unlink(other_cert);
    unlink(other_key);
}

/* ---- bytes that no client of ours sends ---- */

/* One call with any bytes; NULL: none. Returns gRPC's status; the text is cut to fit. */
static int raw_call(const char *address, const char *path, const void *bytes, size_t n, char *text,
                    size_t text_bytes) {
    grpc_init();
    grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
    grpc_channel *channel = grpc_channel_create(address, credentials, NULL);
    grpc_channel_credentials_release(credentials);
    grpc_completion_queue *queue = grpc_completion_queue_create_for_next(NULL);
    grpc_slice path_slice = grpc_slice_from_copied_string(path);
    grpc_call *call = grpc_channel_create_call(
        channel, NULL, 0, queue, path_slice, NULL,
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_seconds(20, GPR_TIMESPAN)), NULL);
    grpc_slice_unref(path_slice);
    grpc_slice slice = grpc_slice_from_copied_buffer(bytes, n);
    grpc_byte_buffer *request = grpc_raw_byte_buffer_create(&slice, 1), *answer = NULL;
    grpc_slice_unref(slice);
    grpc_metadata_array initial, trailing;
    grpc_metadata_array_init(&initial);
    grpc_metadata_array_init(&trailing);
    grpc_status_code code = GRPC_STATUS_UNKNOWN;
    grpc_slice details = grpc_empty_slice();
    grpc_op ops[6] = {{.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT},
                      {.op = GRPC_OP_RECV_INITIAL_METADATA}, {.op = GRPC_OP_RECV_MESSAGE},
                      {.op = GRPC_OP_RECV_STATUS_ON_CLIENT}, {.op = GRPC_OP_SEND_MESSAGE}};
    ops[2].data.recv_initial_metadata.recv_initial_metadata = &initial;
    ops[3].data.recv_message.recv_message = &answer;
    ops[4].data.recv_status_on_client.trailing_metadata = &trailing;
    ops[4].data.recv_status_on_client.status = &code;
    ops[4].data.recv_status_on_client.status_details = &details;
    ops[5].data.send_message.send_message = request;
    assert_int_equal(grpc_call_start_batch(call, ops, bytes != NULL ? 6 : 5, call, NULL),
                     GRPC_CALL_OK);
    (void)grpc_completion_queue_next(queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
    snprintf(text, text_bytes, "%.*s", (int)GRPC_SLICE_LENGTH(details),
             (const char *)GRPC_SLICE_START_PTR(details));
    grpc_slice_unref(details);
    grpc_byte_buffer_destroy(request);
    if (answer != NULL) grpc_byte_buffer_destroy(answer);
    grpc_metadata_array_destroy(&initial);
    grpc_metadata_array_destroy(&trailing);
    grpc_call_unref(call);
    grpc_completion_queue_shutdown(queue);
    while (grpc_completion_queue_next(queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL).type !=
           GRPC_QUEUE_SHUTDOWN)
        ;
    grpc_completion_queue_destroy(queue);
    grpc_channel_destroy(channel);
    grpc_shutdown_blocking();
    return (int)code;
}

static void test_malformed(void **state) {
    static const struct {
        const char *method, *bytes;
        size_t n;
        int code;
        const char *text;
    } cases[] = {
        {"SubmitProof", "\xff\xff\xff", 3, GRPC_STATUS_INVALID_ARGUMENT, "CUZK-E-MESSAGE-FORM"},
        {"SubmitProof", "\x52\x05x", 3, GRPC_STATUS_INVALID_ARGUMENT, "CUZK-E-MESSAGE-FORM"},
        {"SubmitProof", "", 0, GRPC_STATUS_INVALID_ARGUMENT, "CUZK-E-FIELD-MISSING: proof_kind"},
        {"SubmitProof", "\x10\x01", 2, GRPC_STATUS_INVALID_ARGUMENT,
         "CUZK-E-FIELD-MISSING: vanilla_proof"},
        {"SubmitProof", "\x10\x07", 2, GRPC_STATUS_INVALID_ARGUMENT,
         "CUZK-E-FIELD-RANGE: proof_kind: 7"},
        {"Prove", "", 0, GRPC_STATUS_INVALID_ARGUMENT, "CUZK-E-FIELD-MISSING: submit"},
        {"Prove", "\x08\x01", 2, GRPC_STATUS_INVALID_ARGUMENT, "CUZK-E-FIELD-TYPE: submit"},
        {"Prove", NULL, 0, GRPC_STATUS_INVALID_ARGUMENT, "CUZK-E-MESSAGE-FORM"},
        {"AwaitProof", "\x0a\x02\xc3\x28", 4, GRPC_STATUS_INVALID_ARGUMENT,
         "CUZK-E-FIELD-TYPE: job_id"},
        {"AwaitProof", "", 0, GRPC_STATUS_INVALID_ARGUMENT, "CUZK-E-FIELD-MISSING: job_id"},
        {"CancelProof", "\x0a\x03ghi", 5, GRPC_STATUS_NOT_FOUND, "CUZK-E-JOB-UNKNOWN"},
        {"GetStatus", "\x07", 1, GRPC_STATUS_INVALID_ARGUMENT, "CUZK-E-MESSAGE-FORM"},
        {"PreloadSRS", "\x0a\x01", 2, GRPC_STATUS_INVALID_ARGUMENT, "CUZK-E-MESSAGE-FORM"},
        {"Nothing", "", 0, GRPC_STATUS_UNIMPLEMENTED, "CUZK-E-UNSUPPORTED"},
        {"GetMetrics", "\x78\x01", 2, GRPC_STATUS_OK, ""}, /* an unknown field */
    };
    struct rpc_fixture *f = *state;
    char path[64], text[512];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(path, sizeof path, "/cuzk.v1.ProvingEngine/%s", cases[i].method);
        const int code = raw_call(f->tcp_address + strlen("http://"), path, cases[i].bytes,
                                  cases[i].n, text, sizeof text);
        if (code != cases[i].code || strncmp(text, cases[i].text, strlen(cases[i].text)) != 0)
            fail_msg("case %zu: %d %s", i, code, text);
    }
    assert_int_equal(engine_stub_read(f->engine).submits, 0);
    /* It serves as before. */
    struct cuzk_error err;
    struct rpc_result result;
    const struct rpc_submit submit = rpc_fixture_submit("after");
    assert_int_equal(rpc_client_prove(f->tcp, &submit, &result, LIMIT, &err), CUZK_OK);
    assert_int_equal(result.outcome, ENGINE_COMPLETED);
    rpc_result_clear(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_malformed, rpc_fixture_setup, rpc_fixture_teardown),
        cmocka_unit_test_setup_teardown(test_tls, rpc_fixture_setup, rpc_fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
