/* The answers' half of rpc_codec.h. */
#include <stdlib.h>
#include <string.h>

#include "cuzk.pb-c.h"
#include "rpc_codec.h"

_Static_assert((int)CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED == (int)ENGINE_COMPLETED &&
                   (int)CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED == (int)ENGINE_FAILED &&
                   (int)CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__CANCELLED ==
                       (int)ENGINE_CANCELLED &&
                   (int)CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__TIMEOUT == (int)ENGINE_TIMEOUT,
               "outcomes");

static struct rpc_packed pack(const ProtobufCMessage *message) {
    struct rpc_packed out = {.n = protobuf_c_message_get_packed_size(message)};
    out.bytes = malloc(out.n > 0 ? out.n : 1);
    if (out.bytes == NULL) return (struct rpc_packed){0};
    protobuf_c_message_pack(message, out.bytes);
    return out;
}

/* protobuf-c has no const in its structs; what is packed is only read. */
static char *text(const char *s) {
    return (char *)(uintptr_t)s;
}

struct rpc_packed rpc_encode_ticket(const struct engine_ticket *ticket) {
    Cuzk__V1__SubmitProofResponse m = CUZK__V1__SUBMIT_PROOF_RESPONSE__INIT;
    m.job_id = text(ticket->job_id);
    m.queue_position = ticket->queue_position;
    m.assigned_gpu = text(ticket->device);
    return pack(&m.base);
}

struct rpc_packed rpc_encode_result(const struct engine_result *result, bool prove) {
    char error[1200] = "";
    if (result->outcome != ENGINE_COMPLETED && result->error.code != CUZK_OK)
        error_format(&result->error, error, sizeof error);
    Cuzk__V1__AwaitProofResponse m = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    m.job_id = text(result->job_id);
    m.status = (Cuzk__V1__AwaitProofResponse__Status)result->outcome;
    if (result->outcome == ENGINE_COMPLETED) {
        m.proof.data = (uint8_t *)text((const char *)result->proof);
        m.proof.len = result->proof_bytes;
    }
    m.error_message = error;
    m.queue_wait_ms = result->queue_wait_ms;
    m.srs_load_ms = result->srs_load_ms;
    m.synthesis_ms = result->synthesis_ms;
    m.gpu_compute_ms = result->gpu_compute_ms;
    m.total_ms = result->total_ms;
    if (!prove) return pack(&m.base);
    Cuzk__V1__ProveResponse wrapped = CUZK__V1__PROVE_RESPONSE__INIT;
    wrapped.result = &m;
    return pack(&wrapped.base);
}

struct rpc_packed rpc_encode_cancel(bool was_running) {
    Cuzk__V1__CancelProofResponse m = CUZK__V1__CANCEL_PROOF_RESPONSE__INIT;
    m.was_running = was_running;
    return pack(&m.base);
}

struct rpc_packed rpc_encode_metrics(const char *metrics) {
    Cuzk__V1__GetMetricsResponse m = CUZK__V1__GET_METRICS_RESPONSE__INIT;
    m.prometheus_text = text(metrics);
    return pack(&m.base);
}

struct rpc_packed rpc_encode_preload(bool already_loaded, uint64_t load_ms) {
    Cuzk__V1__PreloadSrsResponse m = CUZK__V1__PRELOAD_SRS_RESPONSE__INIT;
    m.already_loaded = already_loaded;
    m.load_time_ms = load_ms;
    return pack(&m.base);
}

struct rpc_packed rpc_encode_evict(bool was_loaded, uint64_t freed_bytes) {
    Cuzk__V1__EvictSrsResponse m = CUZK__V1__EVICT_SRS_RESPONSE__INIT;
    m.was_loaded = was_loaded;
    m.freed_bytes = freed_bytes;
    return pack(&m.base);
}

/* ---- GetStatus ---- */

/* What the answer's repeated fields point to. */
struct status_parts {
    Cuzk__V1__GPUStatus gpu[FLOW_MAX_DEVICES], *gpus[FLOW_MAX_DEVICES];
    Cuzk__V1__SRSStatus srs[PLAN_MAX_CIRCUITS], *srss[PLAN_MAX_CIRCUITS];
    Cuzk__V1__QueueStatus queue[ENGINE_KINDS], *queues[ENGINE_KINDS];
};

static enum engine_kind kind_of_job(const struct engine_snapshot *s, const char *job_id) {
    for (unsigned i = 0; i < s->n_jobs; i++)
        if (strcmp(s->jobs[i].job_id, job_id) == 0) return s->jobs[i].kind;
    return ENGINE_KIND_NONE;
}

static size_t fill_gpus(struct status_parts *p, const struct engine_snapshot *s) {
    size_t n = 0;
    for (; n < s->n_devices && n < FLOW_MAX_DEVICES; n++) {
        Cuzk__V1__GPUStatus *g = &p->gpu[n];
        cuzk__v1__gpustatus__init(g);
        g->ordinal = (uint32_t)n;
        g->name = text(s->devices[n].state.name);
        for (unsigned w = 0; w < s->n_workers; w++) {
            const struct engine_worker_view *worker = &s->workers[w];
            if (worker->device != n || !worker->busy) continue;
            g->current_job_id = text(worker->job_id);
            g->current_proof_kind = text(engine_kind_name(kind_of_job(s, worker->job_id)));
            break;
        }
        p->gpus[n] = g;
    }
    return n;
}

static size_t fill_circuits(struct status_parts *p, const struct engine_snapshot *s) {
    size_t n = 0;
    for (unsigned i = 0; i < s->n_circuits && n < PLAN_MAX_CIRCUITS; i++) {
        const struct engine_circuit_view *c = &s->circuits[i];
        if (c->missing) continue;
        Cuzk__V1__SRSStatus *out = &p->srs[n];
        cuzk__v1__srsstatus__init(out);
        out->circuit_id = text(c->circuit_id);
        out->tier = c->resident  ? CUZK__V1__SRSSTATUS__TIER__HOT
                    : c->loading ? CUZK__V1__SRSSTATUS__TIER__WARM
                                 : CUZK__V1__SRSSTATUS__TIER__COLD;
        out->size_bytes = c->srs_bytes;
        out->ref_count = c->references;
        p->srss[n++] = out;
    }
    return n;
}

static size_t fill_queues(struct status_parts *p, const struct engine_snapshot *s) {
    size_t n = 0;
    for (int kind = ENGINE_KIND_POREP; kind < ENGINE_KINDS; kind++, n++) {
        cuzk__v1__queue_status__init(&p->queue[n]);
        p->queue[n].proof_kind = text(engine_kind_name((enum engine_kind)kind));
        p->queue[n].pending = s->queued[kind];
        p->queue[n].in_progress = s->running[kind];
        p->queues[n] = &p->queue[n];
    }
    return n;
}

struct rpc_packed rpc_encode_status(const struct engine_snapshot *s) {
    struct status_parts *p = calloc(1, sizeof *p);
    if (p == NULL) return (struct rpc_packed){0};
    Cuzk__V1__GetStatusResponse m = CUZK__V1__GET_STATUS_RESPONSE__INIT;
    m.n_gpus = fill_gpus(p, s);
    m.gpus = p->gpus;
    m.n_loaded_srs = fill_circuits(p, s);
    m.loaded_srs = p->srss;
    m.n_queues = fill_queues(p, s);
    m.queues = p->queues;
    for (int kind = 0; kind < ENGINE_KINDS; kind++) {
        m.total_proofs_completed += s->completed[kind];
        m.total_proofs_failed += s->failed[kind];
    }
    m.uptime_seconds = s->uptime_seconds > 0 ? (uint64_t)s->uptime_seconds : 0;
    m.pinned_memory_bytes = s->ledger.reserved_total;
    m.pinned_memory_limit_bytes = s->ledger.limit;
    const struct rpc_packed out = pack(&m.base);
    free(p);
    return out;
}
