#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "metrics_text.h"
#include "rpc_codec.h"
#include "rpc_internal.h"

/* ---- jobs ---- */

/* Decodes and submits; true: *ticket is filled. The payload is not needed any more then. */
static bool submit(struct rpc_call *c, const void *bytes, size_t n, bool prove,
                   struct engine_ticket *ticket) {
    struct rpc_decoded_submit decoded;
    struct cuzk_error err;
    cuzk_status status = rpc_decode_submit(&decoded, bytes, n, prove, &err);
    if (status == CUZK_OK) {
        /* The deadline of a SubmitProof is that of the answer, not of the job. */
        if (prove) decoded.request.deadline_ns = rpc_call_deadline_ns(c);
        status = engine_submit(c->server->engine, &decoded.request, ticket, &err);
        rpc_decoded_submit_clear(&decoded);
    }
    /* The engine has what it needs, and has reserved it. */
    rpc_call_release_input(c);
    if (status != CUZK_OK) rpc_call_refuse(c, &err);
    return status == CUZK_OK;
}

static void submit_proof(struct rpc_call *c, const void *bytes, size_t n) {
    struct engine_ticket ticket;
    if (submit(c, bytes, n, false, &ticket)) rpc_call_answer(c, rpc_encode_ticket(&ticket));
}

static void prove(struct rpc_call *c, const void *bytes, size_t n) {
    struct engine_ticket ticket;
    /* No end of the wait: when the call's time is up, gRPC drops it, and the job goes with it. */
    if (submit(c, bytes, n, true, &ticket))
        rpc_call_watch(c, ticket.job_id, 0, true, !ticket.existing);
}

static void await_proof(struct rpc_call *c, const void *bytes, size_t n) {
    struct rpc_decoded_job job;
    struct cuzk_error err;
    if (rpc_decode_await(&job, bytes, n, &err) != CUZK_OK) {
        rpc_call_refuse(c, &err);
        return;
    }
    uint64_t until = rpc_call_deadline_ns(c);
    /* What is longer than a year has no end. */
    if (job.timeout_ms > 0 && job.timeout_ms < 365ull * 86400 * 1000) {
        const uint64_t end = clock_ns() + job.timeout_ms * 1000000;
        if (until == 0 || end < until) until = end;
    }
    rpc_call_watch(c, job.job_id, until, false, false);
}

static void cancel_proof(struct rpc_call *c, const void *bytes, size_t n) {
    struct rpc_decoded_job job;
    struct cuzk_error err;
    bool was_running = false;
    if (rpc_decode_cancel(&job, bytes, n, &err) == CUZK_OK &&
        engine_cancel(c->server->engine, job.job_id, &was_running, &err) == CUZK_OK)
        rpc_call_answer(c, rpc_encode_cancel(was_running));
    else
        rpc_call_refuse(c, &err);
}

/* ---- what is going on ---- */

static void get_status(struct rpc_call *c, const void *bytes, size_t n) {
    struct engine_snapshot *s;
    struct cuzk_error err;
    if (rpc_decode_empty(bytes, n, &err) != CUZK_OK ||
        engine_snapshot_take(c->server->engine, &s, &err) != CUZK_OK) {
        rpc_call_refuse(c, &err);
        return;
    }
    const struct rpc_packed packed = rpc_encode_status(s);
    engine_snapshot_free(s);
    rpc_call_answer(c, packed);
}

static void get_metrics(struct rpc_call *c, const void *bytes, size_t n) {
    struct engine_snapshot *s;
    struct cuzk_error err;
    if (rpc_decode_empty(bytes, n, &err) != CUZK_OK ||
        engine_snapshot_take(c->server->engine, &s, &err) != CUZK_OK) {
        rpc_call_refuse(c, &err);
        return;
    }
    size_t text_bytes;
    char *text = engine_metrics_text(s, &text_bytes);
    engine_snapshot_free(s);
    struct rpc_packed packed = {0};
    if (text != NULL) packed = rpc_encode_metrics(text);
    free(text);
    rpc_call_answer(c, packed);
}

/* ---- parameters ---- */

/* So long at most does a load hold the lane when its client has gone or the server stops. */
#define PRELOAD_SLICE_NS 250000000u

static void preload(struct rpc_call *c, const void *bytes, size_t n) {
    struct rpc_decoded_circuit circuit;
    struct cuzk_error err;
    if (rpc_decode_circuit(&circuit, bytes, n, &err) != CUZK_OK) {
        rpc_call_refuse(c, &err);
        return;
    }
    const uint64_t begin = clock_ns(), deadline = rpc_call_deadline_ns(c);
    bool already = false, waited = false;
    uint64_t load_ms = 0;
    cuzk_status status;
    for (;;) {
        uint64_t until = clock_ns() + PRELOAD_SLICE_NS;
        const bool last = deadline != 0 && deadline <= until;
        if (last) until = deadline;
        status =
            engine_preload(c->server->engine, circuit.circuit_id, until, &already, &load_ms, &err);
        if (status != CUZK_DEADLINE || last || rpc_call_is_over(c)) break;
        waited = true;
    }
    if (status != CUZK_OK) {
        rpc_call_refuse(c, &err);
        return;
    }
    /* The slice that found it resident did not see the load's begin. */
    if (waited && (already || load_ms == 0)) load_ms = (clock_ns() - begin) / 1000000;
    rpc_call_answer(c, rpc_encode_preload(already && !waited, load_ms));
}

static void evict(struct rpc_call *c, const void *bytes, size_t n) {
    struct rpc_decoded_circuit circuit;
    struct cuzk_error err;
    bool was_loaded = false;
    uint64_t freed = 0;
    if (rpc_decode_circuit(&circuit, bytes, n, &err) == CUZK_OK &&
        engine_evict(c->server->engine, circuit.circuit_id, &was_loaded, &freed, &err) == CUZK_OK)
        rpc_call_answer(c, rpc_encode_evict(was_loaded, freed));
    else
        rpc_call_refuse(c, &err);
}

const struct rpc_method rpc_methods[RPC_METHODS] = {
    {"SubmitProof", true, RPC_LANE_SUBMIT, submit_proof},
    {"Prove", true, RPC_LANE_SUBMIT, prove},
    {"AwaitProof", false, RPC_LANE_QUICK, await_proof},
    {"CancelProof", false, RPC_LANE_QUICK, cancel_proof},
    {"GetStatus", false, RPC_LANE_QUICK, get_status},
    {"GetMetrics", false, RPC_LANE_QUICK, get_metrics},
    {"PreloadSRS", false, RPC_LANE_PRELOAD, preload},
    {"EvictSRS", false, RPC_LANE_EVICT, evict},
    {NULL, false, RPC_LANE_QUICK, NULL},
};
