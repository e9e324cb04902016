/* What can be seen of the engine from outside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "engine_internal.h"

enum { MOST_ENDED_SHOWN = 100 };

static double seconds_from(uint64_t from_ns, uint64_t to_ns) {
    return from_ns == 0 || to_ns < from_ns ? 0 : (double)(to_ns - from_ns) * 1e-9;
}

/* ---- jobs ---- */

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of the last proofs, from begin to end; < 0: there is none yet. */
static double median_seconds(const struct engine *e) {
    double v[ENGINE_MEDIAN_OF];
    const unsigned n = e->n_recent < ENGINE_MEDIAN_OF ? e->n_recent : ENGINE_MEDIAN_OF;
    if (n == 0) return -1;
    memcpy(v, e->recent, n * sizeof *v);
    qsort(v, n, sizeof *v, ascending);
    return v[n / 2];
}

static void show_partition(const struct engine *e, const struct job *job, unsigned k, uint64_t now,
                           struct engine_partition_view *out) {
    *out = (struct engine_partition_view){.device = -1};
    if (!job->in_flow) {
        const bool done = job->done != NULL && job->done[k];
        out->stage = done ? FLOW_DONE : job->state == JOB_OVER ? FLOW_DROPPED : FLOW_PENDING;
        return;
    }
    const struct partition *p = &job->partitions[k];
    const struct flow_task task = {.job = job->number, .partition = k};
    out->stage = flow_stage_of(e->flow, &task);
    out->attempt = p->task.attempt;
    out->device = p->device;
    out->synthesis_seconds = p->synthesis_begin_ns != 0 ? seconds_from(p->synthesis_begin_ns, now)
                                                        : p->synthesis_seconds;
    out->device_seconds =
        p->device_begin_ns != 0 ? seconds_from(p->device_begin_ns, now) : p->device_seconds;
    memcpy(out->phase, p->phase, sizeof out->phase);
}

static void show_times(const struct job *job, uint64_t now, struct engine_job_view *v) {
    const uint64_t end = job->ended_ns != 0 ? job->ended_ns : now;
    double synthesis = job->synthesis_seconds, device = job->device_seconds;
    const unsigned n = job->in_flow ? job->n_partitions : 0;
    for (unsigned k = 0; k < n && k < FLOW_MAX_PARTITIONS; k++) {
        synthesis += v->partitions[k].synthesis_seconds;
        device += v->partitions[k].device_seconds;
    }
    v->age_seconds = seconds_from(job->accepted_ns, now);
    v->seconds[0] = seconds_from(job->accepted_ns, job->begun_ns != 0 ? job->begun_ns : end);
    v->seconds[1] = seconds_from(job->accepted_ns, job->resident_ns);
    v->seconds[2] = synthesis;
    v->seconds[3] = device;
    v->seconds[4] = seconds_from(job->accepted_ns, end);
}

static void show_job(const struct engine *e, const struct job *job, uint64_t now, double median,
                     struct engine_job_view *v) {
    *v = (struct engine_job_view){.kind = job->kind,
                                  .priority = job->priority,
                                  .miner_id = job->miner_id,
                                  .sector_number = job->sector_number,
                                  .running = job->begun_ns != 0 && job->state == JOB_OPEN,
                                  .over = job->state == JOB_OVER,
                                  .outcome = job->outcome,
                                  .reserved_bytes = job->in_flow ? job->input.bytes[MEM_INPUT] : 0,
                                  .n_partitions = job->n_partitions,
                                  .n_done = job->n_done,
                                  .eta_seconds = -1};
    memcpy(v->job_id, job->id, sizeof v->job_id);
    snprintf(v->request_id, sizeof v->request_id, "%s", job->request_id);
    if (job->circuit >= 0) memcpy(v->circuit_id, e->circuits[job->circuit].id, CIRCUIT_ID_BYTES);
    if (job->outcome == ENGINE_FAILED) error_format(&job->error, v->error, sizeof v->error);
    for (unsigned k = 0; k < job->n_partitions && k < FLOW_MAX_PARTITIONS; k++)
        show_partition(e, job, k, now, &v->partitions[k]);
    show_times(job, now, v);
    if (v->running && median >= 0) {
        const double left = median - seconds_from(job->begun_ns, now);
        v->eta_seconds = left > 0 ? left : 0;
    }
}

static bool is_open(const struct job *j) {
    return j->state == JOB_OPEN || j->state == JOB_PARKED;
}

static void count_jobs(const struct engine *e, uint64_t now, struct engine_snapshot *s) {
    for (const struct job *j = e->first; j != NULL; j = j->next) {
        if (!is_open(j)) continue;
        if (j->begun_ns != 0) {
            s->running[j->kind]++;
            continue;
        }
        s->queued[j->kind]++;
        if (j->priority >= FLOW_LOW && j->priority <= FLOW_CRITICAL)
            s->queued_by_priority[j->priority]++;
        const double age = seconds_from(j->accepted_ns, now);
        if (age > s->oldest_queued_seconds) s->oldest_queued_seconds = age;
    }
}

static cuzk_status show_jobs(const struct engine *e, uint64_t now, struct engine_snapshot *s) {
    unsigned open = 0, ended = 0;
    for (const struct job *j = e->first; j != NULL; j = j->next) {
        if (is_open(j))
            open++;
        else if (j->state == JOB_OVER)
            ended++;
    }
    if (ended > MOST_ENDED_SHOWN) ended = MOST_ENDED_SHOWN;
    s->jobs = calloc(open + ended + 1, sizeof *s->jobs);
    if (s->jobs == NULL) return CUZK_NO_MEMORY;
    const double median = median_seconds(e);
    for (const struct job *j = e->first; j != NULL; j = j->next) {
        if (is_open(j)) show_job(e, j, now, median, &s->jobs[s->n_jobs++]);
    }
    const unsigned all = open + ended;
    for (const struct job *j = e->last; j != NULL && s->n_jobs < all; j = j->previous) {
        if (j->state == JOB_OVER) show_job(e, j, now, median, &s->jobs[s->n_jobs++]);
    }
    return CUZK_OK;
}

/* ---- devices and circuits ---- */

static void show_worker(const struct device *d, unsigned w, uint64_t now,
                        struct engine_worker_view *v) {
    *v = (struct engine_worker_view){.device = d->index, .worker = w};
    for (unsigned i = 0; i < ENGINE_DEVICE_TASKS; i++) {
        const struct device_entry *t = &d->tasks[i];
        if (t->task == 0 || t->worker != (int)w) continue;
        v->busy = true;
        v->partition = t->flow.partition;
        v->busy_seconds = seconds_from(t->begin_ns, now);
        if (t->job != NULL) memcpy(v->job_id, t->job->id, sizeof v->job_id);
    }
}

static void show_device(const struct device *d, uint64_t now, struct engine_snapshot *s) {
    struct engine_device_view *v = &s->devices[s->n_devices++];
    *v = (struct engine_device_view){.failed = d->failed,
                                     .restarts = d->restarts,
                                     .invalid_proofs = d->invalid_proofs,
                                     .losses = d->losses,
                                     .busy_seconds = d->busy_seconds};
    memcpy(v->last_error, d->last_error, sizeof v->last_error);
    if (d->link != NULL)
        device_link_state(d->link, &v->state);
    else
        v->state.lost = true;
    v->state.up = v->state.up && d->up; /* the engine has heard of it, too */
    if (v->state.name[0] == '\0') memcpy(v->state.name, d->name, sizeof v->state.name);
    for (unsigned i = 0; i < ENGINE_DEVICE_TASKS; i++) {
        if (d->tasks[i].task != 0) v->busy_seconds += seconds_from(d->tasks[i].begin_ns, now);
    }
    for (unsigned w = 0; w < d->workers; w++)
        show_worker(d, w, now, &s->workers[s->n_workers++]);
    if (v->state.rss_bytes > v->state.shared_bytes)
        s->total_rss_bytes += v->state.rss_bytes - v->state.shared_bytes;
    for (int k = 0; k < MEM_CLASSES; k++) {
        s->class_bytes[k] += v->state.class_bytes[k];
        s->class_high_water[k] += v->state.class_high_water[k];
    }
}

static void show_circuit(const struct circuit *c, uint64_t now, struct engine_circuit_view *v) {
    *v = (struct engine_circuit_view){
        .resident = c->state == CIRCUIT_RESIDENT,
        .loading = c->state == CIRCUIT_PREPARING || c->state == CIRCUIT_LOADING,
        .missing = c->missing,
        .development = c->development,
        .references = c->references,
        .load_seconds = c->load_seconds,
    };
    memcpy(v->circuit_id, c->id, sizeof v->circuit_id);
    if (!v->resident) return;
    v->srs_bytes = c->srs_bytes;
    v->matrices_bytes = c->matrices_bytes;
    if (c->references == 0) v->idle_seconds = seconds_from(c->idle_since_ns, now);
}

static bool is_shown(const struct circuit *c) {
    return c->state != CIRCUIT_ABSENT || c->missing || c->references > 0 || c->preload;
}

static cuzk_status show_machinery(const struct engine *e, uint64_t now, struct engine_snapshot *s) {
    unsigned workers = 0;
    for (unsigned d = 0; d < e->n_devices; d++)
        workers += e->devices[d].workers;
    s->devices = calloc(e->n_devices, sizeof *s->devices);
    s->workers = calloc(workers + 1, sizeof *s->workers);
    s->circuits = calloc(e->n_circuits, sizeof *s->circuits);
    if (s->devices == NULL || s->workers == NULL || s->circuits == NULL) return CUZK_NO_MEMORY;
    for (unsigned d = 0; d < e->n_devices; d++)
        show_device(&e->devices[d], now, s);
    for (unsigned i = 0; i < e->n_circuits; i++) {
        if (is_shown(&e->circuits[i]))
            show_circuit(&e->circuits[i], now, &s->circuits[s->n_circuits++]);
    }
    return CUZK_OK;
}

/* ---- all of it ---- */

static void show_counts(const struct engine *e, uint64_t now, struct engine_snapshot *s) {
    s->uptime_seconds = seconds_from(e->start_ns, now);
    s->budget = e->budget;
    s->plan = e->plan;
    s->has_plan = e->has_plan;
    s->ledger = ledger_read(e->ledger);
    s->slabs = slab_read(e->slabs);
    s->flow = flow_count(e->flow);
    memcpy(s->completed, e->completed, sizeof s->completed);
    memcpy(s->failed, e->failed, sizeof s->failed);
    memcpy(s->cancelled, e->cancelled, sizeof s->cancelled);
    memcpy(s->duration, e->duration, sizeof s->duration);
    s->rejected = e->rejected;
    s->invalid_proofs = e->invalid_proofs;
    s->retries = e->retries;
    s->accepting = e->accepting;
    s->persistent = e->journal != NULL;
    for (int k = 0; k < MEM_CLASSES; k++) {
        s->class_bytes[k] = mem_in_use((enum mem_class)k);
        s->class_high_water[k] = mem_high_water((enum mem_class)k);
    }
}

cuzk_status engine_snapshot_take(struct engine *e, struct engine_snapshot **out,
                                 struct cuzk_error *err) {
    *out = NULL;
    struct engine_snapshot *s = calloc(1, sizeof *s);
    if (s == NULL) return error_set(err, CUZK_NO_MEMORY, "snapshot", NULL, "no memory");
    s->rss_bytes = mem_rss();
    s->peak_rss_bytes = mem_peak_rss();
    s->total_rss_bytes = s->rss_bytes;
    lock_take(&e->lock);
    const uint64_t now = clock_ns();
    show_counts(e, now, s);
    count_jobs(e, now, s);
    cuzk_status status = show_jobs(e, now, s);
    if (status == CUZK_OK) status = show_machinery(e, now, s);
    lock_give(&e->lock);
    if (status != CUZK_OK) {
        engine_snapshot_free(s);
        return error_set(err, status, "snapshot", NULL, "no memory");
    }
    *out = s;
    return CUZK_OK;
}

void engine_snapshot_free(struct engine_snapshot *s) {
    if (s == NULL) return;
    free(s->jobs);
    free(s->workers);
    free(s->devices);
    free(s->circuits);
    free(s);
}
