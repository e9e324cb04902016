/*
 * The service's messages: requests decoded strictly, answers encoded. Knows protobuf-c, not gRPC.
 *
 * Strictly: a field of the wrong type, a singular field that occurs twice, an enum's number that
 * has no name, a hash that has not 32 bytes, text that is no UTF-8, and fields that contradict the
 * kind of proof are refused; unknown fields are skipped.
 *
 * Errors of the decoders: MESSAGE_FORM, FIELD_…, HASH_LENGTH, REQUEST, JOB_UNKNOWN (no job has an
 * id of that length), NO_MEMORY. The encoders return {NULL, 0} when there is no memory.
 * Threads: pure.
 */
#ifndef RPC_RPC_CODEC_H
#define RPC_RPC_CODEC_H

#include "engine.h"
#include "rpc_buffer.h"

/* Points into the message's bytes (payload) and into `message` (request_id). */
struct rpc_decoded_submit {
    struct engine_request request; /* deadline_ns is 0 */
    void *message;
};
/* `prove`: a ProveRequest instead of a SubmitProofRequest. On an error *out is empty. */
CUZK_NODISCARD cuzk_status rpc_decode_submit(struct rpc_decoded_submit *out, const void *bytes,
                                             size_t n, bool prove, struct cuzk_error *err);
void rpc_decoded_submit_clear(struct rpc_decoded_submit *d);

/* AwaitProofRequest and, without the time, CancelProofRequest. */
struct rpc_decoded_job {
    char job_id[ENGINE_JOB_ID_BYTES];
    uint64_t timeout_ms;
};
CUZK_NODISCARD cuzk_status rpc_decode_await(struct rpc_decoded_job *out, const void *bytes,
                                            size_t n, struct cuzk_error *err);
CUZK_NODISCARD cuzk_status rpc_decode_cancel(struct rpc_decoded_job *out, const void *bytes,
                                             size_t n, struct cuzk_error *err);

/* PreloadSrsRequest and EvictSrsRequest. */
struct rpc_decoded_circuit {
    char circuit_id[CIRCUIT_ID_BYTES];
};
CUZK_NODISCARD cuzk_status rpc_decode_circuit(struct rpc_decoded_circuit *out, const void *bytes,
                                              size_t n, struct cuzk_error *err);

/* GetStatusRequest, GetMetricsRequest. */
CUZK_NODISCARD cuzk_status rpc_decode_empty(const void *bytes, size_t n, struct cuzk_error *err);

struct rpc_packed rpc_encode_ticket(const struct engine_ticket *ticket);
/* `prove`: a ProveResponse instead of an AwaitProofResponse. */
struct rpc_packed rpc_encode_result(const struct engine_result *result, bool prove);
struct rpc_packed rpc_encode_cancel(bool was_running);
struct rpc_packed rpc_encode_status(const struct engine_snapshot *s);
struct rpc_packed rpc_encode_metrics(const char *text);
struct rpc_packed rpc_encode_preload(bool already_loaded, uint64_t load_ms);
struct rpc_packed rpc_encode_evict(bool was_loaded, uint64_t freed_bytes);

#endif
