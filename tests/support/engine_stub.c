#include "engine_stub.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "metrics_text.h"

enum { MAX_JOBS = 512, MAX_WATCHES = 512, MS = 1000000 };

struct stub_job {
    char request_id[64];
    uint64_t payload_sum, ends_ns;
    bool over;
    enum engine_outcome outcome;
    cuzk_status error;
};

struct stub_watch {
    uint64_t id; /* 0: free */
    unsigned job;
    uint64_t until_ns;
    engine_done_fn fn;
    void *ctx;
};

struct engine {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool stop;
    struct engine_stub_settings settings;
    struct engine_stub_record record;
    struct stub_job jobs[MAX_JOBS + 1]; /* from 1 on */
    unsigned n_jobs;
    struct stub_watch watches[MAX_WATCHES];
    uint64_t next_watch, calling; /* calling: the watch whose fn runs now */
    bool loaded;
    uint64_t load_ends_ns;
};

uint8_t engine_stub_proof_byte(unsigned job, size_t i) {
    return (uint8_t)(job * 37 + i * 11 + (i >> 8));
}

const char *engine_kind_name(enum engine_kind kind) {
    static const char *const names[ENGINE_KINDS] = {"none", "porep", "snap", "wpost", "winning"};
    return names[kind];
}

static unsigned job_number(const struct engine *e, const char *job_id) {
    unsigned n = 0;
    return sscanf(job_id, "stub-%u", &n) == 1 && n <= e->n_jobs ? n : 0;
}

/* ---- the ends of jobs and waits ---- */

static void call_watch(struct engine *e, struct stub_watch w, bool timeout) {
    const struct stub_job job = e->jobs[w.job];
    uint8_t proof[STUB_PROOF_BYTES];
    struct engine_result r = {.outcome = timeout ? ENGINE_TIMEOUT : job.outcome,
                              .queue_wait_ms = 1,
                              .srs_load_ms = 2,
                              .synthesis_ms = 3,
                              .gpu_compute_ms = 4,
                              .total_ms = 5};
    snprintf(r.job_id, sizeof r.job_id, "stub-%u", w.job);
    if (r.outcome == ENGINE_COMPLETED) {
        for (size_t i = 0; i < sizeof proof; i++)
            proof[i] = engine_stub_proof_byte(w.job, i);
        r.proof = proof;
        r.proof_bytes = sizeof proof;
    } else if (!timeout && job.error != CUZK_OK) {
        error_set(&r.error, job.error, "partition 3", "look at it", "the stub was told so");
    }
    if (timeout) e->record.timeouts++;
    e->record.watching--;
    e->calling = w.id;
    pthread_mutex_unlock(&e->lock);
    w.fn(w.ctx, &r);
    pthread_mutex_lock(&e->lock);
    e->calling = 0;
    pthread_cond_broadcast(&e->changed);
}

/* Under the lock, which it lets go over callbacks; false: nothing was to be done. */
static bool step(struct engine *e) {
    const uint64_t now = clock_ns();
    for (unsigned i = 1; i <= e->n_jobs; i++)
        if (!e->jobs[i].over && now >= e->jobs[i].ends_ns) e->jobs[i].over = true;
    for (unsigned i = 0; i < MAX_WATCHES; i++) {
        struct stub_watch *w = &e->watches[i];
        if (w->id == 0) continue;
        const bool over = e->jobs[w->job].over;
        if (!over && (w->until_ns == 0 || now < w->until_ns)) continue;
        const struct stub_watch copy = *w;
        w->id = 0;
        call_watch(e, copy, !over);
        return true;
    }
    return false;
}

static void *stub_main(void *ctx) {
    struct engine *e = ctx;
    pthread_mutex_lock(&e->lock);
    while (!e->stop) {
        if (step(e)) continue;
        pthread_mutex_unlock(&e->lock);
        usleep(2000);
        pthread_mutex_lock(&e->lock);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

struct engine *engine_stub_create(void) {
    struct engine *e = calloc(1, sizeof *e);
    if (e == NULL) abort();
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->changed, NULL);
    e->settings.outcome = ENGINE_COMPLETED;
    if (pthread_create(&e->thread, NULL, stub_main, e) != 0) abort();
    return e;
}

void engine_stub_destroy(struct engine *e) {
    pthread_mutex_lock(&e->lock);
    e->stop = true;
    pthread_mutex_unlock(&e->lock);
    pthread_join(e->thread, NULL);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

void engine_stub_set(struct engine *e, const struct engine_stub_settings *settings) {
    pthread_mutex_lock(&e->lock);
    e->settings = *settings;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

struct engine_stub_record engine_stub_read(struct engine *e) {
    pthread_mutex_lock(&e->lock);
    const struct engine_stub_record record = e->record;
    pthread_mutex_unlock(&e->lock);
    return record;
}

/* ---- jobs ---- */

cuzk_status engine_submit(struct engine *e, const struct engine_request *request,
                          struct engine_ticket *out, struct cuzk_error *err) {
    *out = (struct engine_ticket){0};
    uint64_t sum = 0;
    for (size_t i = 0; i < request->payload_bytes; i++)
        sum += ((const uint8_t *)request->payload)[i];
    pthread_mutex_lock(&e->lock);
    const struct engine_stub_settings set = e->settings;
    e->record.submits++;
    e->record.last = *request;
    e->record.last.payload = e->record.last.request_id = NULL;
    snprintf(e->record.last_request_id, sizeof e->record.last_request_id, "%s",
             request->request_id);
    e->record.last_payload_sum = sum;
    pthread_mutex_unlock(&e->lock);
    usleep(set.submit_ms * 1000);
    if (set.submit_error != CUZK_OK)
        return error_set(err, set.submit_error, "Phase1Out.seed", "look at it", "the stub refuses");
    pthread_mutex_lock(&e->lock);
    unsigned n = 0;
    for (unsigned i = 1; i <= e->n_jobs && n == 0; i++)
        if (request->request_id[0] != 0 &&
            strcmp(e->jobs[i].request_id, request->request_id) == 0 &&
            e->jobs[i].payload_sum == sum)
            n = i;
    out->existing = n != 0;
    if (n == 0) {
        if (e->n_jobs == MAX_JOBS) abort();
        n = ++e->n_jobs;
        struct stub_job *job = &e->jobs[n];
        snprintf(job->request_id, sizeof job->request_id, "%s", request->request_id);
        job->payload_sum = sum;
        job->ends_ns = clock_ns() + (uint64_t)set.job_ms * MS;
        job->outcome = set.outcome;
        job->error = set.job_error;
    }
    pthread_mutex_unlock(&e->lock);
    snprintf(out->job_id, sizeof out->job_id, "stub-%u", n);
    snprintf(out->device, sizeof out->device, "stub:0");
    out->queue_position = 7;
    return CUZK_OK;
}

cuzk_status engine_watch(struct engine *e, const char *job_id, uint64_t until_ns, engine_done_fn fn,
                         void *ctx, uint64_t *watch, struct cuzk_error *err) {
    pthread_mutex_lock(&e->lock);
    const unsigned job = job_number(e, job_id);
    unsigned i = 0;
    while (i < MAX_WATCHES && e->watches[i].id != 0)
        i++;
    if (i == MAX_WATCHES) abort();
    if (job != 0) {
        *watch = ++e->next_watch;
        e->watches[i] = (struct stub_watch){*watch, job, until_ns, fn, ctx};
        e->record.watches++;
        e->record.watching++;
    }
    pthread_mutex_unlock(&e->lock);
    if (job == 0) return error_set(err, CUZK_JOB_UNKNOWN, NULL, NULL, "there is no job %s", job_id);
    return CUZK_OK;
}

void engine_unwatch(struct engine *e, uint64_t watch) {
    pthread_mutex_lock(&e->lock);
    e->record.unwatches++;
    for (unsigned i = 0; i < MAX_WATCHES; i++)
        if (e->watches[i].id == watch) {
            e->watches[i].id = 0;
            e->record.watching--;
        }
    while (e->calling == watch)
        pthread_cond_wait(&e->changed, &e->lock);
    pthread_mutex_unlock(&e->lock);
}

cuzk_status engine_cancel(struct engine *e, const char *job_id, bool *was_running,
                          struct cuzk_error *err) {
    pthread_mutex_lock(&e->lock);
    const unsigned job = job_number(e, job_id);
    *was_running = job != 0 && !e->jobs[job].over;
    if (job != 0) {
        e->record.cancels++;
        snprintf(e->record.last_cancelled, sizeof e->record.last_cancelled, "%s", job_id);
    }
    if (*was_running) {
        e->jobs[job].over = true;
        e->jobs[job].outcome = ENGINE_CANCELLED;
        e->jobs[job].error = CUZK_CANCELLED;
    }
    pthread_mutex_unlock(&e->lock);
    if (job == 0) return error_set(err, CUZK_JOB_UNKNOWN, NULL, NULL, "there is no job %s", job_id);
    return CUZK_OK;
}

cuzk_status engine_cancel_dropped(struct engine *e, const char *job_id, bool *was_running,
                                  struct cuzk_error *err) {
    return engine_cancel(e, job_id, was_running, err);
}

/* ---- parameters ---- */

cuzk_status engine_preload(struct engine *e, const char *circuit_id, uint64_t until_ns,
                           bool *already, uint64_t *load_ms, struct cuzk_error *err) {
    if (strcmp(circuit_id, "porep-2k") != 0)
        return error_set(err, CUZK_USAGE, circuit_id, "see the list", "there is no such circuit");
    pthread_mutex_lock(&e->lock);
    e->record.preloads++;
    const unsigned preload_ms = e->settings.preload_ms;
    const uint64_t now = clock_ns();
    if (e->load_ends_ns == 0 && !e->loaded) e->load_ends_ns = now + (uint64_t)preload_ms * MS;
    *already = e->loaded;
    const uint64_t ends = e->loaded ? now : e->load_ends_ns;
    pthread_mutex_unlock(&e->lock);
    const uint64_t wake = until_ns != 0 && until_ns < ends ? until_ns : ends;
    if (wake > now) usleep((useconds_t)((wake - now) / 1000 + 1));
    if (wake < ends) return error_set(err, CUZK_DEADLINE, circuit_id, NULL, "it is not loaded yet");
    pthread_mutex_lock(&e->lock);
    e->loaded = true;
    e->load_ends_ns = 0;
    pthread_mutex_unlock(&e->lock);
    *load_ms = *already ? 0 : preload_ms;
    return CUZK_OK;
}

cuzk_status engine_evict(struct engine *e, const char *circuit_id, bool *was_loaded,
                         uint64_t *freed_bytes, struct cuzk_error *err) {
    if (strcmp(circuit_id, "porep-2k") != 0)
        return error_set(err, CUZK_USAGE, circuit_id, "see the list", "there is no such circuit");
    pthread_mutex_lock(&e->lock);
    e->record.evicts++;
    *was_loaded = e->loaded;
    e->loaded = false;
    pthread_mutex_unlock(&e->lock);
    *freed_bytes = *was_loaded ? 12345 : 0;
    return CUZK_OK;
}

/* ---- room ---- */

cuzk_status engine_input_reserve(struct engine *e, uint64_t bytes, uint64_t deadline_ns,
                                 const struct ledger_cancel *cancel, struct engine_input *out,
                                 struct cuzk_error *err) {
    cuzk_status status = CUZK_OK;
    *out = (struct engine_input){0};
    pthread_mutex_lock(&e->lock);
    e->record.waiting_for_room++;
    for (;;) {
        const uint64_t room = e->settings.room_bytes;
        if (room != 0 && bytes > room)
            status = error_set(err, CUZK_BUDGET, "room", NULL, "it can never fit");
        else if (cancel != NULL && cancel->raised)
            status = error_set(err, CUZK_CANCELLED, "room", NULL, "it was cancelled");
        else if (deadline_ns != 0 && clock_ns() >= deadline_ns)
            status = error_set(err, CUZK_DEADLINE, "room", NULL, "no room in time");
        else if (room != 0 && e->record.input_bytes + bytes > room) {
            struct timespec t;
            clock_gettime(CLOCK_REALTIME, &t);
            t.tv_nsec += 20 * MS;
            if (t.tv_nsec >= 1000 * MS) {
                t.tv_nsec -= 1000 * MS;
                t.tv_sec++;
            }
            pthread_cond_timedwait(&e->changed, &e->lock, &t);
            continue;
        }
        break;
    }
    e->record.waiting_for_room--;
    if (status == CUZK_OK) {
        out->reservation.bytes[MEM_INPUT] = bytes;
        e->record.inputs++;
        e->record.input_bytes += bytes;
        if (e->record.input_bytes > e->record.most_input_bytes)
            e->record.most_input_bytes = e->record.input_bytes;
    }
    pthread_mutex_unlock(&e->lock);
    return status;
}

void engine_input_cancel(struct engine *e, struct ledger_cancel *cancel) {
    pthread_mutex_lock(&e->lock);
    cancel->raised = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

void engine_input_shrink(struct engine *e, struct engine_input *in, uint64_t bytes) {
    pthread_mutex_lock(&e->lock);
    if (bytes > in->reservation.bytes[MEM_INPUT]) abort();
    e->record.input_bytes -= in->reservation.bytes[MEM_INPUT] - bytes;
    e->record.last_shrink_bytes = bytes;
    in->reservation.bytes[MEM_INPUT] = bytes;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

void engine_input_release(struct engine *e, struct engine_input *in) {
    engine_input_shrink(e, in, 0);
}

/* ---- snapshot ---- */

cuzk_status engine_snapshot_take(struct engine *e, struct engine_snapshot **out,
                                 struct cuzk_error *err) {
    struct engine_snapshot *s = calloc(1, sizeof *s);
    if (s == NULL) return error_set(err, CUZK_NO_MEMORY, NULL, NULL, "no memory");
    s->jobs = calloc(1, sizeof *s->jobs);
    s->workers = calloc(1, sizeof *s->workers);
    s->devices = calloc(1, sizeof *s->devices);
    s->circuits = calloc(2, sizeof *s->circuits);
    s->n_jobs = s->n_workers = s->n_devices = 1;
    s->n_circuits = 2;
    pthread_mutex_lock(&e->lock);
    for (unsigned i = 1; i <= e->n_jobs; i++) {
        if (!e->jobs[i].over)
            s->queued[ENGINE_KIND_POREP]++;
        else if (e->jobs[i].outcome == ENGINE_COMPLETED)
            s->completed[ENGINE_KIND_POREP]++;
        else if (e->jobs[i].outcome == ENGINE_FAILED)
            s->failed[ENGINE_KIND_POREP]++;
    }
    s->circuits[0].resident = e->loaded;
    pthread_mutex_unlock(&e->lock);
    s->uptime_seconds = 42.9;
    s->ledger.limit = 1000;
    s->ledger.reserved_total = 300;
    s->running[ENGINE_KIND_POREP] = 2;
    snprintf(s->jobs[0].job_id, sizeof s->jobs[0].job_id, "stub-1");
    s->jobs[0].kind = ENGINE_KIND_POREP;
    s->workers[0].busy = true;
    snprintf(s->workers[0].job_id, sizeof s->workers[0].job_id, "stub-1");
    snprintf(s->devices[0].state.name, sizeof s->devices[0].state.name, "stub device");
    snprintf(s->circuits[0].circuit_id, sizeof s->circuits[0].circuit_id, "porep-2k");
    s->circuits[0].srs_bytes = 777;
    s->circuits[0].references = 3;
    s->circuits[1].missing = true;
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

char *engine_metrics_text(const struct engine_snapshot *s, size_t *n) {
    char *text = NULL;
    const int length = asprintf(&text, "stub_uptime_seconds %.1f\n", s->uptime_seconds);
    *n = length > 0 ? (size_t)length : 0;
    return length > 0 ? text : NULL;
}
