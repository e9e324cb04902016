/*
 * The decoders of the service's requests.
 *
 * The first byte chooses the message; the rest is its bytes. What is accepted must be what the
 * message says: an enum's number in its range, the payload inside the message, an id that ends.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rpc_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void check(cuzk_status status, const struct cuzk_error *err) {
    if (status != CUZK_OK && (err->code != status || err->what[0] == 0)) abort();
}

static void try_submit(const uint8_t *bytes, size_t n, bool prove) {
    struct rpc_decoded_submit d;
    struct cuzk_error err = {.code = CUZK_OK};
    const cuzk_status status = rpc_decode_submit(&d, bytes, n, prove, &err);
    check(status, &err);
    if (status != CUZK_OK) {
        if (d.message != NULL) abort();
        return;
    }
    const struct engine_request *r = &d.request;
    const uint8_t *payload = r->payload;
    if (payload < bytes || r->payload_bytes == 0 || r->payload_bytes > n ||
        (size_t)(payload - bytes) > n - r->payload_bytes)
        abort();
    if (r->kind <= ENGINE_KIND_NONE || r->kind > ENGINE_KIND_WINNING_POST) abort();
    if (r->priority < 0 || r->priority > FLOW_CRITICAL) abort();
    if (r->request_id == NULL || strlen(r->request_id) > 1024 || r->deadline_ns != 0) abort();
    rpc_decoded_submit_clear(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    if (n_bytes == 0) return 0;
    const uint8_t *bytes = data + 1;
    const size_t n = n_bytes - 1;
    struct cuzk_error err = {.code = CUZK_OK};
    struct rpc_decoded_job job;
    struct rpc_decoded_circuit circuit;
    switch (data[0] % 6) {
    case 0:
    case 1:
        try_submit(bytes, n, data[0] % 6 == 1);
        break;
    case 2:
        check(rpc_decode_await(&job, bytes, n, &err), &err);
        break;
    case 3:
        check(rpc_decode_cancel(&job, bytes, n, &err), &err);
        break;
    case 4:
        check(rpc_decode_circuit(&circuit, bytes, n, &err), &err);
        break;
    default:
        check(rpc_decode_empty(bytes, n, &err), &err);
        break;
    }
    return 0;
}
