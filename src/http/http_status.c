#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_server.h"
#include "json_out.h"
#include "utf8.h"
#include "view_names.h"

/* Most that is listed, so that the answer stays below a megabyte with a thousand jobs; what is
 * left out is counted in pipelines_left_out. */
enum { MOST_JOBS = 128, MOST_PARTITIONS = 1500, MOST_RECENT = 40 };

/* json_double writes null for what is not a number. */
static void put_null(struct json_out *j, const char *key) {
    json_double(j, key, NAN);
}

static void put_text(struct json_out *j, const char *key, const char *s) {
    char clean[1024];
    utf8_clean(clean, sizeof clean, s);
    json_string(j, key, clean);
}

static void put_seconds(struct json_out *j, const char *key, double seconds) {
    json_double(j, key, seconds < 0 ? 0 : seconds);
}

/* Whole milliseconds; null for what has not begun. */
static void put_ms(struct json_out *j, const char *key, double seconds) {
    if (seconds > 0) {
        json_u64(j, key, (uint64_t)llround(seconds * 1e3));
    } else {
        put_null(j, key);
    }
}

static const char *partition_state(enum flow_stage stage) {
    switch (stage) {
    case FLOW_PENDING:
        return "pending";
    case FLOW_SYNTHESIS:
        return "synthesizing";
    case FLOW_READY:
        return "synth_done";
    case FLOW_DONE:
        return "done";
    case FLOW_DROPPED:
        return "failed";
    /* A proof that is not verified yet is not done. */
    default:
        return "gpu";
    }
}

static void put_partition(struct json_out *j, unsigned index,
                          const struct engine_partition_view *p) {
    json_object_begin(j, NULL);
    json_u64(j, "index", index);
    json_string(j, "state", partition_state(p->stage));
    put_ms(j, "synth_ms", p->synthesis_seconds);
    put_ms(j, "gpu_ms", p->device_seconds);
    json_string(j, "stage", view_stage_name(p->stage));
    json_u64(j, "attempt", p->attempt);
    if (p->device >= 0) json_u64(j, "device", (uint64_t)p->device);
    if (p->phase[0] != '\0') put_text(j, "phase", p->phase);
    json_object_end(j);
}

static const char *outcome_name(const struct engine_job_view *v) {
    if (!v->over) return v->running ? "running" : "queued";
    switch (v->outcome) {
    case ENGINE_COMPLETED:
        return "completed";
    case ENGINE_CANCELLED:
        return "cancelled";
    case ENGINE_FAILED:
        return "failed";
    default:
        return "unknown";
    }
}

static void put_phases(struct json_out *j, const struct engine_job_view *v) {
    static const char *const names[5] = {"queue_secs", "srs_load_secs", "synthesis_secs",
                                         "device_secs", "total_secs"};
    json_object_begin(j, "phases");
    for (unsigned i = 0; i < 5; i++)
        put_seconds(j, names[i], v->seconds[i]);
    json_object_end(j);
}

static void put_job_head(struct json_out *j, const struct engine_job_view *v) {
    put_text(j, "job_id", v->job_id);
    json_string(j, "proof_kind", engine_kind_name(v->kind));
    put_seconds(j, "started_secs_ago", v->age_seconds);
    json_u64(j, "total_partitions", v->n_partitions);
    json_u64(j, "partitions_done", v->n_done);
    put_text(j, "request_id", v->request_id);
    put_text(j, "circuit_id", v->circuit_id);
    json_string(j, "priority", view_priority_name(v->priority));
    json_u64(j, "miner_id", v->miner_id);
    json_u64(j, "sector_number", v->sector_number);
    json_string(j, "outcome", outcome_name(v));
    if (v->error[0] != '\0') put_text(j, "error", v->error);
    json_u64(j, "reserved_bytes", v->reserved_bytes);
    put_phases(j, v);
}

static void put_open_job(struct json_out *j, const struct engine_job_view *v) {
    json_object_begin(j, NULL);
    put_job_head(j, v);
    if (v->eta_seconds >= 0) {
        json_double(j, "eta_secs", v->eta_seconds);
    } else {
        put_null(j, "eta_secs");
    }
    json_array_begin(j, "partitions");
    for (unsigned i = 0; i < v->n_partitions && i < FLOW_MAX_PARTITIONS; i++)
        put_partition(j, i, &v->partitions[i]);
    json_array_end(j);
    json_object_end(j);
}

/* Those that run first, then those that wait, each in order of acceptance. */
static void put_pipelines(struct json_out *j, const struct engine_snapshot *s) {
    unsigned jobs = 0, partitions = 0, open = 0;
    json_array_begin(j, "pipelines");
    for (int running = 1; running >= 0; running--) {
        for (unsigned i = 0; i < s->n_jobs; i++) {
            const struct engine_job_view *v = &s->jobs[i];
            if (v->over || v->running != running) continue;
            open++;
            if (jobs == MOST_JOBS || partitions + v->n_partitions > MOST_PARTITIONS) continue;
            jobs++;
            partitions += v->n_partitions;
            put_open_job(j, v);
        }
    }
    json_array_end(j);
    json_u64(j, "pipelines_left_out", open - jobs);
}

static void put_recent(struct json_out *j, const struct engine_snapshot *s) {
    unsigned n = 0;
    json_array_begin(j, "recent_jobs");
    for (unsigned i = 0; i < s->n_jobs && n < MOST_RECENT; i++) {
        if (!s->jobs[i].over) continue;
        n++;
        json_object_begin(j, NULL);
        put_job_head(j, &s->jobs[i]);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_workers(struct json_out *j, const struct engine_snapshot *s) {
    json_array_begin(j, "gpu_workers");
    for (unsigned i = 0; i < s->n_workers; i++) {
        const struct engine_worker_view *w = &s->workers[i];
        json_object_begin(j, NULL);
        json_u64(j, "worker_id", i);
        json_u64(j, "gpu_ordinal", w->device);
        json_string(j, "state", w->busy ? "proving" : "idle");
        if (w->busy) {
            put_text(j, "current_job", w->job_id);
            json_u64(j, "current_partition", w->partition);
        } else {
            put_null(j, "current_job");
            put_null(j, "current_partition");
        }
        put_seconds(j, "busy_secs", w->busy_seconds);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_allocation(struct json_out *j, const struct engine_circuit_view *c,
                           uint64_t bytes) {
    json_object_begin(j, NULL);
    put_text(j, "circuit_id", c->circuit_id);
    json_u64(j, "bytes", bytes);
    put_seconds(j, "last_used_secs_ago", c->idle_seconds);
    json_bool(j, "evictable", c->references == 0);
    json_object_end(j);
}

static void put_allocations(struct json_out *j, const struct engine_snapshot *s) {
    json_object_begin(j, "allocations");
    json_array_begin(j, "srs");
    for (unsigned i = 0; i < s->n_circuits; i++)
        if (s->circuits[i].resident) put_allocation(j, &s->circuits[i], s->circuits[i].srs_bytes);
    json_array_end(j);
    json_array_begin(j, "pce");
    for (unsigned i = 0; i < s->n_circuits; i++)
        if (s->circuits[i].resident)
            put_allocation(j, &s->circuits[i], s->circuits[i].matrices_bytes);
    json_array_end(j);
    json_object_end(j);
}

static void put_by_kind(struct json_out *j, const char *key, const uint64_t *v) {
    json_object_begin(j, key);
    for (unsigned k = ENGINE_KIND_POREP; k < ENGINE_KINDS; k++)
        json_u64(j, engine_kind_name((enum engine_kind)k), v[k]);
    json_object_end(j);
}

static void put_counters(struct json_out *j, const struct engine_snapshot *s) {
    uint64_t completed = 0, failed = 0, cancelled = 0, queued = 0;
    for (unsigned k = 0; k < ENGINE_KINDS; k++) {
        completed += s->completed[k];
        failed += s->failed[k];
        cancelled += s->cancelled[k];
        queued += s->queued[k];
    }
    json_object_begin(j, "counters");
    json_u64(j, "total_completed", completed);
    json_u64(j, "total_failed", failed);
    put_by_kind(j, "completed_by_kind", s->completed);
    put_by_kind(j, "failed_by_kind", s->failed);
    json_u64(j, "queue_depth", queued);
    json_u64(j, "total_cancelled", cancelled);
    json_u64(j, "rejected", s->rejected);
    json_u64(j, "invalid_proofs", s->invalid_proofs);
    json_u64(j, "retries", s->retries);
    json_object_end(j);
}

/* The present daemon's names; shells are partitions that wait for a device. */
static void put_buffers(struct json_out *j, const struct flow_counts *c) {
    json_object_begin(j, "buffers");
    json_u64(j, "synth_in_flight", c->stage[FLOW_SYNTHESIS]);
    json_u64(j, "provers_in_flight", c->stage[FLOW_START]);
    json_u64(j, "aux_in_flight", c->witnesses);
    json_u64(j, "shells_in_flight", c->stage[FLOW_READY]);
    json_u64(j, "pending_handles", c->stage[FLOW_FINISH]);
    json_object_end(j);
}

static void put_queues(struct json_out *j, const struct engine_snapshot *s) {
    json_object_begin(j, "queues");
    json_array_begin(j, "by_kind");
    for (unsigned k = ENGINE_KIND_POREP; k < ENGINE_KINDS; k++) {
        json_object_begin(j, NULL);
        json_string(j, "proof_kind", engine_kind_name((enum engine_kind)k));
        json_u64(j, "queued", s->queued[k]);
        json_u64(j, "running", s->running[k]);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_begin(j, "by_priority");
    for (int p = FLOW_LOW; p <= FLOW_CRITICAL; p++)
        json_u64(j, view_priority_name(p), s->queued_by_priority[p]);
    json_object_end(j);
    put_seconds(j, "oldest_queued_secs", s->oldest_queued_seconds);
    json_object_begin(j, "stages");
    for (unsigned i = 0; i < FLOW_STAGES; i++)
        json_u64(j, view_stage_name((enum flow_stage)i), s->flow.stage[i]);
    json_object_end(j);
    json_object_end(j);
}

static void put_memory(struct json_out *j, const struct engine_snapshot *s) {
    const uint64_t limit = s->ledger.limit, used = s->ledger.reserved_total;
    json_object_begin(j, "memory");
    json_u64(j, "total_bytes", limit);
    json_u64(j, "used_bytes", used);
    json_u64(j, "available_bytes", used < limit ? limit - used : 0);
    json_u64(j, "high_water_bytes", s->ledger.high_water_total);
    json_u64(j, "waiters", s->ledger.waiters);
    json_u64(j, "rss_bytes", s->total_rss_bytes);
    json_u64(j, "daemon_rss_bytes", s->rss_bytes);
    json_u64(j, "daemon_rss_high_water_bytes", s->peak_rss_bytes);
    json_u64(j, "slabs_in_use_bytes", s->slabs.in_use_bytes);
    json_u64(j, "slabs_kept_bytes", s->slabs.kept_bytes);
    json_array_begin(j, "classes");
    for (unsigned c = 0; c < MEM_CLASSES; c++) {
        json_object_begin(j, NULL);
        json_string(j, "class", mem_class_name((enum mem_class)c));
        json_u64(j, "bytes", s->class_bytes[c]);
        json_u64(j, "high_water_bytes", s->class_high_water[c]);
        json_u64(j, "reserved_bytes", s->ledger.reserved[c]);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void put_budget(struct json_out *j, const struct budget *b) {
    char limited_by[400];
    budget_limited_by(b, limited_by, sizeof limited_by);
    json_object_begin(j, "budget");
    json_u64(j, "budget_bytes", b->budget_bytes);
    json_u64(j, "margin_bytes", b->margin_bytes);
    put_text(j, "limited_by", limited_by);
    json_array_begin(j, "terms");
    for (unsigned t = 0; t < BUDGET_TERMS; t++) {
        if (!b->term[t].present) continue;
        json_object_begin(j, NULL);
        json_string(j, "term", view_budget_name((enum budget_kind)t));
        put_text(j, "label", b->term[t].label);
        json_u64(j, "bytes", b->term[t].bytes);
        json_u64(j, "limit_bytes", b->term[t].limit_bytes);
        json_u64(j, "used_bytes", b->term[t].used_bytes);
        json_bool(j, "wins", t == b->winner);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void put_plan(struct json_out *j, const struct engine_snapshot *s) {
    const struct plan *p = &s->plan;
    if (!s->has_plan) {
        put_null(j, "plan");
        return;
    }
    json_object_begin(j, "plan");
    json_u64(j, "peak_bytes", p->peak_bytes);
    json_u64(j, "partition_workers", p->partition_workers);
    json_u64(j, "device_workers", p->device_workers);
    json_u64(j, "pendings", p->pendings);
    json_bool(j, "sequential", p->sequential);
    json_bool(j, "reduced", p->reduced);
    put_text(j, "bottleneck", p->bottleneck);
    json_array_begin(j, "terms");
    for (unsigned t = 0; t < PLAN_TERMS; t++) {
        json_object_begin(j, NULL);
        json_string(j, "term", plan_term_name((enum plan_term_kind)t));
        json_string(j, "class", mem_class_name(p->term[t].kind));
        json_u64(j, "each_bytes", p->term[t].each);
        json_u64(j, "count", p->term[t].count);
        json_u64(j, "bytes", p->term[t].bytes);
        json_bool(j, "in_device", p->term[t].in_device);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static const char *device_condition(const struct engine_device_view *d) {
    if (d->failed) return "failed";
    if (d->state.lost) return "lost";
    return d->state.up ? "up" : "starting";
}

static void put_devices(struct json_out *j, const struct engine_snapshot *s) {
    json_array_begin(j, "devices");
    for (unsigned i = 0; i < s->n_devices; i++) {
        const struct engine_device_view *d = &s->devices[i];
        json_object_begin(j, NULL);
        json_u64(j, "ordinal", i);
        put_text(j, "name", d->state.name);
        put_text(j, "backend", d->state.backend);
        json_string(j, "condition", device_condition(d));
        json_u64(j, "tasks", d->state.tasks);
        json_u64(j, "restarts", d->restarts);
        json_u64(j, "losses", d->losses);
        json_u64(j, "invalid_proofs", d->invalid_proofs);
        json_u64(j, "busy_ms", (uint64_t)llround(d->busy_seconds * 1e3));
        put_seconds(j, "answered_secs_ago", (double)d->state.age_ns * 1e-9);
        json_u64(j, "rss_bytes", d->state.rss_bytes);
        json_u64(j, "rss_high_water_bytes", d->state.peak_rss_bytes);
        put_text(j, "last_error", d->last_error);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_circuits(struct json_out *j, const struct engine_snapshot *s) {
    json_array_begin(j, "circuits");
    for (unsigned i = 0; i < s->n_circuits; i++) {
        const struct engine_circuit_view *c = &s->circuits[i];
        json_object_begin(j, NULL);
        put_text(j, "circuit_id", c->circuit_id);
        json_string(j, "condition",
                    c->resident  ? "resident"
                    : c->loading ? "loading"
                    : c->missing ? "missing"
                                 : "not loaded");
        json_bool(j, "development", c->development);
        json_u64(j, "references", c->references);
        put_seconds(j, "load_secs", c->load_seconds);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_synthesis(struct json_out *j, const struct engine_snapshot *s) {
    json_object_begin(j, "synthesis");
    json_u64(j, "max_concurrent", s->has_plan ? s->plan.partition_workers : 0);
    json_u64(j, "active", s->flow.stage[FLOW_SYNTHESIS]);
    json_object_end(j);
}

/* Fields that an unmodified client of the present daemon reads. */
static void put_interface(struct json_out *j, const struct engine_snapshot *s) {
    json_u64(j, "uptime_secs", (uint64_t)s->uptime_seconds);
    put_memory(j, s);
    put_synthesis(j, s);
    put_pipelines(j, s);
    put_workers(j, s);
    put_allocations(j, s);
    put_counters(j, s);
    put_buffers(j, &s->flow);
}

char *http_status_json(const struct engine_snapshot *s, const char *not_ready, size_t *n) {
    char *text = NULL;
    FILE *f = open_memstream(&text, n);
    if (f == NULL) return NULL;
    struct json_out j;
    json_begin(&j, f);
    json_object_begin(&j, NULL);
    put_interface(&j, s);
    json_bool(&j, "ready", not_ready == NULL);
    put_text(&j, "not_ready", not_ready == NULL ? "" : not_ready);
    json_bool(&j, "accepting", s->accepting);
    json_bool(&j, "persistent", s->persistent);
    put_queues(&j, s);
    put_budget(&j, &s->budget);
    put_plan(&j, s);
    put_devices(&j, s);
    put_circuits(&j, s);
    put_recent(&j, s);
    json_object_end(&j);
    json_end(&j);
    const int failed = ferror(f);
    if (fclose(f) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}
