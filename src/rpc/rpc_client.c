#include "rpc_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>

#include "cuzk.pb-c.h"
#include "file.h"
#include "lock.h"
#include "rpc_buffer.h"
#include "rpc_listen.h"
#include "rpc_log.h"
#include "rpc_status.h"

enum { MOST_PEM_BYTES = 1 << 20 };

/* A call under way, so that it can be dropped. */
struct exchange {
    grpc_call *call;
    struct exchange *next, **link;
};

struct rpc_client {
    grpc_channel *channel;
    struct lock lock;
    struct exchange *calls; /* under the lock */
    bool aborted;           /* under the lock */
};

/* ---- life ---- */

static cuzk_status read_pem(struct mem_block *out, const char *path, struct cuzk_error *err) {
    *out = (struct mem_block){0};
    if (path == NULL) return CUZK_OK;
    size_t n;
    CUZK_TRY(file_read(out, &n, path, MOST_PEM_BYTES, err));
    const cuzk_status status = mem_grow(out, n + 1, MEM_INPUT, err);
    if (status == CUZK_OK)
        ((char *)out->ptr)[n] = 0;
    else
        mem_give(out);
    return status;
}

static cuzk_status make_credentials(grpc_channel_credentials **out, bool tls,
                                    const struct rpc_client_options *o, struct cuzk_error *err) {
    *out = NULL;
    if (!tls) {
        *out = grpc_insecure_credentials_create();
        return CUZK_OK;
    }
    struct mem_block ca = {0}, cert = {0}, key = {0};
    cuzk_status status = read_pem(&ca, o->tls_ca, err);
    if (status == CUZK_OK) status = read_pem(&cert, o->tls_cert, err);
    if (status == CUZK_OK) status = read_pem(&key, o->tls_key, err);
    if (status == CUZK_OK) {
        grpc_ssl_pem_key_cert_pair pair = {.private_key = key.ptr, .cert_chain = cert.ptr};
        const bool has_pair = key.ptr != NULL && cert.ptr != NULL;
        *out = grpc_ssl_credentials_create_ex(ca.ptr, has_pair ? &pair : NULL, NULL, NULL);
        if (*out == NULL)
            status = error_set(err, CUZK_USAGE, NULL, NULL, "no TLS with these files");
    }
    mem_give(&ca);
    mem_give(&cert);
    mem_give(&key);
    return status;
}

static grpc_arg int_arg(const char *key, int value) {
    return (grpc_arg){
        .type = GRPC_ARG_INTEGER, .key = (char *)(uintptr_t)key, .value = {.integer = value}};
}

cuzk_status rpc_client_create(struct rpc_client **out, const struct rpc_client_options *options,
                              struct cuzk_error *err) {
    *out = NULL;
    struct rpc_address address;
    CUZK_TRY(rpc_address_parse(&address, options->address, CUZK_USAGE, err));
    struct rpc_client *c = calloc(1, sizeof *c);
    if (c == NULL) return error_set(err, CUZK_NO_MEMORY, NULL, NULL, "no memory for a client");
    rpc_log_init();
    grpc_init();
    grpc_channel_credentials *credentials;
    const cuzk_status status =
        make_credentials(&credentials, address.tls && !address.is_unix, options, err);
    if (status != CUZK_OK) {
        grpc_shutdown_blocking();
        free(c);
        return status;
    }
    grpc_arg args[] = {
        int_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1),
        int_arg(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1),
        int_arg(GRPC_ARG_ENABLE_HTTP_PROXY, 0),
        int_arg(GRPC_ARG_ENABLE_RETRIES, 0),
        int_arg(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1),
        int_arg(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100),
        int_arg(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 10000),
        int_arg(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000),
        int_arg(GRPC_ARG_KEEPALIVE_TIME_MS, 60 * 1000),
        int_arg(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20 * 1000),
    };
    const grpc_channel_args all = {sizeof args / sizeof args[0], args};
    c->channel = grpc_channel_create(address.target, credentials, &all);
    grpc_channel_credentials_release(credentials);
    lock_init(&c->lock, LOCK_SERVER);
    *out = c;
    return CUZK_OK;
}

void rpc_client_destroy(struct rpc_client *c) {
    if (c == NULL) return;
    grpc_channel_destroy(c->channel);
    grpc_shutdown_blocking();
    lock_destroy(&c->lock);
    free(c);
}

void rpc_client_abort(struct rpc_client *c) {
    lock_take(&c->lock);
    c->aborted = true;
    for (struct exchange *e = c->calls; e != NULL; e = e->next)
        grpc_call_cancel(e->call, NULL);
    lock_give(&c->lock);
}

/* ---- one call ---- */

/* An aborted client drops what begins as well. */
static void enter(struct rpc_client *c, struct exchange *e) {
    lock_take(&c->lock);
    e->next = c->calls;
    e->link = &c->calls;
    if (e->next != NULL) e->next->link = &e->next;
    c->calls = e;
    if (c->aborted) grpc_call_cancel(e->call, NULL);
    lock_give(&c->lock);
}

static void leave(struct rpc_client *c, struct exchange *e) {
    lock_take(&c->lock);
    *e->link = e->next;
    if (e->next != NULL) e->next->link = e->link;
    lock_give(&c->lock);
}

static gpr_timespec deadline_of(const struct rpc_call_info *info) {
    if (info == NULL || info->timeout_ns == 0) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                        gpr_time_from_nanos((int64_t)info->timeout_ns, GPR_TIMESPAN));
}

/* What gRPC says at the end of a call. */
struct ending {
    grpc_status_code code;
    grpc_slice text;
    grpc_metadata_array initial, trailing;
    grpc_byte_buffer *answer; /* NULL: none */
};

static void run_exchange(struct rpc_client *c, const char *method, grpc_byte_buffer *request,
                         gpr_timespec deadline, struct ending *end) {
    char path[96];
    snprintf(path, sizeof path, "/cuzk.v1.ProvingEngine/%s", method);
    *end = (struct ending){.code = GRPC_STATUS_UNKNOWN, .text = grpc_empty_slice()};
    grpc_metadata_array_init(&end->initial);
    grpc_metadata_array_init(&end->trailing);
    grpc_completion_queue *queue = grpc_completion_queue_create_for_pluck(NULL);
    grpc_slice path_slice = grpc_slice_from_copied_string(path);
    struct exchange e = {.call = grpc_channel_create_call(c->channel, NULL, 0, queue, path_slice,
                                                          NULL, deadline, NULL)};
    grpc_slice_unref(path_slice);
    grpc_op ops[6] = {
        {.op = GRPC_OP_SEND_INITIAL_METADATA},  {.op = GRPC_OP_SEND_MESSAGE},
        {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT}, {.op = GRPC_OP_RECV_INITIAL_METADATA},
        {.op = GRPC_OP_RECV_MESSAGE},           {.op = GRPC_OP_RECV_STATUS_ON_CLIENT}};
    ops[1].data.send_message.send_message = request;
    ops[3].data.recv_initial_metadata.recv_initial_metadata = &end->initial;
    ops[4].data.recv_message.recv_message = &end->answer;
    ops[5].data.recv_status_on_client.trailing_metadata = &end->trailing;
    ops[5].data.recv_status_on_client.status = &end->code;
    ops[5].data.recv_status_on_client.status_details = &end->text;
    if (grpc_call_start_batch(e.call, ops, 6, &e, NULL) == GRPC_CALL_OK) {
        enter(c, &e);
        (void)grpc_completion_queue_pluck(queue, &e, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
        leave(c, &e);
    }
    grpc_call_unref(e.call);
    grpc_completion_queue_shutdown(queue);
    while (
        grpc_completion_queue_pluck(queue, NULL, gpr_inf_future(GPR_CLOCK_REALTIME), NULL).type !=
        GRPC_QUEUE_SHUTDOWN)
        ;
    grpc_completion_queue_destroy(queue);
}

static void end_clear(struct ending *end) {
    if (end->answer != NULL) grpc_byte_buffer_destroy(end->answer);
    grpc_slice_unref(end->text);
    grpc_metadata_array_destroy(&end->initial);
    grpc_metadata_array_destroy(&end->trailing);
}

static cuzk_status unpack_answer(ProtobufCMessage **out, const char *method,
                                 const ProtobufCMessageDescriptor *descriptor,
                                 grpc_byte_buffer *answer, struct cuzk_error *err) {
    *out = NULL;
    if (answer != NULL) {
        struct mem_block bytes;
        size_t n;
        CUZK_TRY(rpc_buffer_flatten(&bytes, &n, answer, err));
        *out = protobuf_c_message_unpack(descriptor, NULL, n, bytes.ptr);
        mem_give(&bytes);
    }
    if (*out == NULL)
        return error_set(err, CUZK_CONNECT, method, "see what serves there",
                         "what came is no answer of this service");
    return CUZK_OK;
}

/* Sends `request`, and unpacks the answer into *out, which the caller frees with free_answer(). */
static cuzk_status exchange(struct rpc_client *c, const char *method,
                            const ProtobufCMessage *request,
                            const ProtobufCMessageDescriptor *answer, ProtobufCMessage **out,
                            struct rpc_call_info *info, struct cuzk_error *err) {
    *out = NULL;
    if (info != NULL) info->grpc_status = GRPC_STATUS_UNKNOWN;
    const gpr_timespec deadline = deadline_of(info);
    /* Packed once, straight into what gRPC sends. */
    grpc_slice slice = grpc_slice_malloc(protobuf_c_message_get_packed_size(request));
    protobuf_c_message_pack(request, GRPC_SLICE_START_PTR(slice));
    grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    struct ending end;
    run_exchange(c, method, buffer, deadline, &end);
    grpc_byte_buffer_destroy(buffer);
    if (info != NULL) info->grpc_status = (int)end.code;
    const cuzk_status status =
        end.code == GRPC_STATUS_OK
            ? unpack_answer(out, method, answer, end.answer, err)
            : rpc_status_to_error(err, method, (int)end.code,
                                  (const char *)GRPC_SLICE_START_PTR(end.text),
                                  GRPC_SLICE_LENGTH(end.text));
    end_clear(&end);
    return status;
}

static void free_answer(ProtobufCMessage *m) {
    protobuf_c_message_free_unpacked(m, NULL);
}

/* ---- jobs ---- */

/* protobuf-c has no const in its structs; what is packed is only read. */
static char *text(const char *s) {
    return s != NULL ? (char *)(uintptr_t)s : (char *)(uintptr_t)protobuf_c_empty_string;
}

static ProtobufCBinaryData binary(struct rpc_bytes b) {
    return (ProtobufCBinaryData){.len = b.n, .data = (uint8_t *)(uintptr_t)b.bytes};
}

/* The list of proofs is on the heap: free(m->vanilla_proofs). */
static cuzk_status fill_submit(Cuzk__V1__SubmitProofRequest *m, const struct rpc_submit *s,
                               struct cuzk_error *err) {
    *m = (Cuzk__V1__SubmitProofRequest)CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
    m->request_id = text(s->request_id);
    m->proof_kind = (Cuzk__V1__ProofKind)s->kind;
    m->sector_size = s->sector_size;
    m->registered_proof = s->registered_proof;
    m->priority = (Cuzk__V1__Priority)s->priority;
    m->vanilla_proof = binary(s->vanilla_proof);
    m->sector_number = s->sector_number;
    m->miner_id = s->miner_id;
    m->randomness = binary(s->randomness);
    m->partition_index = s->partition_index;
    m->comm_r_old = binary(s->comm_r_old);
    m->comm_r_new = binary(s->comm_r_new);
    m->comm_d_new = binary(s->comm_d_new);
    if (s->n_vanilla_proofs == 0) return CUZK_OK;
    m->vanilla_proofs = calloc(s->n_vanilla_proofs, sizeof *m->vanilla_proofs);
    if (m->vanilla_proofs == NULL)
        return error_set(err, CUZK_NO_MEMORY, NULL, NULL, "no memory for a request");
    for (size_t i = 0; i < s->n_vanilla_proofs; i++)
        m->vanilla_proofs[i] = binary(s->vanilla_proofs[i]);
    m->n_vanilla_proofs = s->n_vanilla_proofs;
    return CUZK_OK;
}

cuzk_status rpc_client_submit(struct rpc_client *c, const struct rpc_submit *submit,
                              struct rpc_ticket *out, struct rpc_call_info *call,
                              struct cuzk_error *err) {
    Cuzk__V1__SubmitProofRequest m;
    ProtobufCMessage *answer;
    *out = (struct rpc_ticket){0};
    CUZK_TRY(fill_submit(&m, submit, err));
    const cuzk_status status =
        exchange(c, "SubmitProof", &m.base, &cuzk__v1__submit_proof_response__descriptor, &answer,
                 call, err);
    free(m.vanilla_proofs);
    if (status != CUZK_OK) return status;
    const Cuzk__V1__SubmitProofResponse *a = (const Cuzk__V1__SubmitProofResponse *)answer;
    snprintf(out->job_id, sizeof out->job_id, "%s", a->job_id);
    snprintf(out->device, sizeof out->device, "%s", a->assigned_gpu);
    out->queue_position = a->queue_position;
    free_answer(answer);
    return CUZK_OK;
}

static cuzk_status take_result(struct rpc_result *out, const Cuzk__V1__AwaitProofResponse *m,
                               struct cuzk_error *err) {
    *out = (struct rpc_result){
        .outcome = (enum engine_outcome)m->status,
        .queue_wait_ms = m->queue_wait_ms,
        .srs_load_ms = m->srs_load_ms,
        .synthesis_ms = m->synthesis_ms,
        .gpu_compute_ms = m->gpu_compute_ms,
        .total_ms = m->total_ms,
    };
    snprintf(out->job_id, sizeof out->job_id, "%s", m->job_id);
    snprintf(out->error, sizeof out->error, "%s", m->error_message);
    if (m->proof.len == 0) return CUZK_OK;
    out->proof = malloc(m->proof.len);
    if (out->proof == NULL)
        return error_set(err, CUZK_NO_MEMORY, NULL, NULL, "no memory for a proof");
    memcpy(out->proof, m->proof.data, m->proof.len);
    out->proof_bytes = m->proof.len;
    return CUZK_OK;
}

void rpc_result_clear(struct rpc_result *r) {
    free(r->proof);
    *r = (struct rpc_result){0};
}

cuzk_status rpc_client_await(struct rpc_client *c, const char *job_id, uint64_t timeout_ms,
                             struct rpc_result *out, struct rpc_call_info *call,
                             struct cuzk_error *err) {
    Cuzk__V1__AwaitProofRequest m = CUZK__V1__AWAIT_PROOF_REQUEST__INIT;
    ProtobufCMessage *answer;
    *out = (struct rpc_result){0};
    m.job_id = text(job_id);
    m.timeout_ms = timeout_ms;
    CUZK_TRY(exchange(c, "AwaitProof", &m.base, &cuzk__v1__await_proof_response__descriptor,
                      &answer, call, err));
    const cuzk_status status = take_result(out, (const Cuzk__V1__AwaitProofResponse *)answer, err);
    free_answer(answer);
    return status;
}

cuzk_status rpc_client_prove(struct rpc_client *c, const struct rpc_submit *submit,
                             struct rpc_result *out, struct rpc_call_info *call,
                             struct cuzk_error *err) {
    Cuzk__V1__SubmitProofRequest m;
    Cuzk__V1__ProveRequest wrapped = CUZK__V1__PROVE_REQUEST__INIT;
    ProtobufCMessage *answer;
    *out = (struct rpc_result){0};
    CUZK_TRY(fill_submit(&m, submit, err));
    wrapped.submit = &m;
    cuzk_status status = exchange(c, "Prove", &wrapped.base, &cuzk__v1__prove_response__descriptor,
                                  &answer, call, err);
    free(m.vanilla_proofs);
    if (status != CUZK_OK) return status;
    const Cuzk__V1__ProveResponse *a = (const Cuzk__V1__ProveResponse *)answer;
    status = a->result != NULL ? take_result(out, a->result, err)
                               : error_set(err, CUZK_CONNECT, "Prove", "see what serves there",
                                           "the answer has no result");
    free_answer(answer);
    return status;
}

cuzk_status rpc_client_cancel(struct rpc_client *c, const char *job_id, bool *was_running,
                              struct rpc_call_info *call, struct cuzk_error *err) {
    Cuzk__V1__CancelProofRequest m = CUZK__V1__CANCEL_PROOF_REQUEST__INIT;
    ProtobufCMessage *answer;
    *was_running = false;
    m.job_id = text(job_id);
    CUZK_TRY(exchange(c, "CancelProof", &m.base, &cuzk__v1__cancel_proof_response__descriptor,
                      &answer, call, err));
    *was_running = ((const Cuzk__V1__CancelProofResponse *)answer)->was_running != 0;
    free_answer(answer);
    return CUZK_OK;
}

/* ---- status ---- */

static bool take_lists(struct rpc_status *s, const Cuzk__V1__GetStatusResponse *m) {
    /* One more, so that an empty list is a pointer too. */
    s->gpus = calloc(m->n_gpus + 1, sizeof *s->gpus);
    s->srs = calloc(m->n_loaded_srs + 1, sizeof *s->srs);
    s->queues = calloc(m->n_queues + 1, sizeof *s->queues);
    if (s->gpus == NULL || s->srs == NULL || s->queues == NULL) return false;
    for (; s->n_gpus < m->n_gpus; s->n_gpus++) {
        const Cuzk__V1__GPUStatus *g = m->gpus[s->n_gpus];
        s->gpus[s->n_gpus] = (struct rpc_gpu){
            .ordinal = g->ordinal,
            .name = g->name,
            .current_job_id = g->current_job_id,
            .current_proof_kind = g->current_proof_kind,
            .vram_total_bytes = g->vram_total_bytes,
            .vram_free_bytes = g->vram_free_bytes,
        };
    }
    for (; s->n_srs < m->n_loaded_srs; s->n_srs++) {
        const Cuzk__V1__SRSStatus *r = m->loaded_srs[s->n_srs];
        s->srs[s->n_srs] =
            (struct rpc_srs){r->circuit_id, (enum rpc_tier)r->tier, r->size_bytes, r->ref_count};
    }
    for (; s->n_queues < m->n_queues; s->n_queues++) {
        const Cuzk__V1__QueueStatus *q = m->queues[s->n_queues];
        s->queues[s->n_queues] = (struct rpc_queue){q->proof_kind, q->pending, q->in_progress};
    }
    return true;
}

cuzk_status rpc_client_status(struct rpc_client *c, struct rpc_status **out,
                              struct rpc_call_info *call, struct cuzk_error *err) {
    const Cuzk__V1__GetStatusRequest m = CUZK__V1__GET_STATUS_REQUEST__INIT;
    ProtobufCMessage *answer;
    *out = NULL;
    CUZK_TRY(exchange(c, "GetStatus", &m.base, &cuzk__v1__get_status_response__descriptor, &answer,
                      call, err));
    const Cuzk__V1__GetStatusResponse *a = (const Cuzk__V1__GetStatusResponse *)answer;
    struct rpc_status *s = calloc(1, sizeof *s);
    if (s == NULL) {
        free_answer(answer);
        return error_set(err, CUZK_NO_MEMORY, NULL, NULL, "no memory for a status");
    }
    s->message = answer;
    if (!take_lists(s, a)) {
        rpc_status_free(s);
        return error_set(err, CUZK_NO_MEMORY, NULL, NULL, "no memory for a status");
    }
    s->total_proofs_completed = a->total_proofs_completed;
    s->total_proofs_failed = a->total_proofs_failed;
    s->uptime_seconds = a->uptime_seconds;
    s->pinned_memory_bytes = a->pinned_memory_bytes;
    s->pinned_memory_limit_bytes = a->pinned_memory_limit_bytes;
    *out = s;
    return CUZK_OK;
}

void rpc_status_free(struct rpc_status *s) {
    if (s == NULL) return;
    free(s->gpus);
    free(s->srs);
    free(s->queues);
    free_answer(s->message);
    free(s);
}

cuzk_status rpc_client_metrics(struct rpc_client *c, char **out, struct rpc_call_info *call,
                               struct cuzk_error *err) {
    const Cuzk__V1__GetMetricsRequest m = CUZK__V1__GET_METRICS_REQUEST__INIT;
    ProtobufCMessage *answer;
    *out = NULL;
    CUZK_TRY(exchange(c, "GetMetrics", &m.base, &cuzk__v1__get_metrics_response__descriptor,
                      &answer, call, err));
    *out = strdup(((const Cuzk__V1__GetMetricsResponse *)answer)->prometheus_text);
    free_answer(answer);
    if (*out == NULL) return error_set(err, CUZK_NO_MEMORY, NULL, NULL, "no memory for metrics");
    return CUZK_OK;
}

/* ---- parameters ---- */

cuzk_status rpc_client_preload(struct rpc_client *c, const char *circuit_id, bool *already_loaded,
                               uint64_t *load_ms, struct rpc_call_info *call,
                               struct cuzk_error *err) {
    Cuzk__V1__PreloadSrsRequest m = CUZK__V1__PRELOAD_SRS_REQUEST__INIT;
    ProtobufCMessage *answer;
    m.circuit_id = text(circuit_id);
    CUZK_TRY(exchange(c, "PreloadSRS", &m.base, &cuzk__v1__preload_srs_response__descriptor,
                      &answer, call, err));
    const Cuzk__V1__PreloadSrsResponse *a = (const Cuzk__V1__PreloadSrsResponse *)answer;
    *already_loaded = a->already_loaded != 0;
    *load_ms = a->load_time_ms;
    free_answer(answer);
    return CUZK_OK;
}

cuzk_status rpc_client_evict(struct rpc_client *c, const char *circuit_id, bool *was_loaded,
                             uint64_t *freed_bytes, struct rpc_call_info *call,
                             struct cuzk_error *err) {
    Cuzk__V1__EvictSrsRequest m = CUZK__V1__EVICT_SRS_REQUEST__INIT;
    ProtobufCMessage *answer;
    m.circuit_id = text(circuit_id);
    CUZK_TRY(exchange(c, "EvictSRS", &m.base, &cuzk__v1__evict_srs_response__descriptor, &answer,
                      call, err));
    const Cuzk__V1__EvictSrsResponse *a = (const Cuzk__V1__EvictSrsResponse *)answer;
    *was_loaded = a->was_loaded != 0;
    *freed_bytes = a->freed_bytes;
    free_answer(answer);
    return CUZK_OK;
}
