/* The table of jobs: identity, watches, the end of a job, how long results are kept. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "clock.h"
#include "engine_internal.h"
#include "hash.h"
#include "log.h"

/* ---- the table ---- */

cuzk_status job_new_id(char out[ENGINE_JOB_ID_BYTES], struct cuzk_error *err) {
    uint8_t bytes[12];
    size_t got = 0;
    while (got < sizeof bytes) {
        const ssize_t n = getrandom(bytes + got, sizeof bytes - got, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return error_set(err, CUZK_RANDOMNESS, "job id", NULL, "getrandom: %s",
                             strerror(errno));
        got += (size_t)n;
    }
    memcpy(out, "j-", 2);
    hex_encode(out + 2, bytes, sizeof bytes);
    return CUZK_OK;
}

struct job *job_make(const char *request_id) {
    struct job *job = calloc(1, sizeof *job);
    if (job == NULL) return NULL;
    job->request_id = strdup(request_id != NULL ? request_id : "");
    job->circuit = -1;
    if (job->request_id != NULL) return job;
    free(job);
    return NULL;
}

cuzk_status job_make_partitions(struct job *job, unsigned n, struct cuzk_error *err) {
    if (job->proofs == NULL) {
        job->proofs = calloc(n, PROOF_BYTES);
        job->done = calloc(n, sizeof *job->done);
    }
    job->partitions = calloc(n, sizeof *job->partitions);
    if (job->proofs == NULL || job->done == NULL || job->partitions == NULL)
        return error_set(err, CUZK_NO_MEMORY, "job", NULL, "no memory for %u partitions", n);
    job->n_partitions = n;
    for (unsigned k = 0; k < n; k++) {
        job->partitions[k].job = job;
        job->partitions[k].device = -1;
    }
    return CUZK_OK;
}

void job_free(struct job *job) {
    if (job == NULL) return;
    c1_destroy(job->c1);
    free(job->partitions);
    free(job->proofs);
    free(job->done);
    free(job->payload_path);
    free(job->request_id);
    free(job);
}

void job_link_locked(struct engine *e, struct job *job) {
    job->number = ++e->next_number;
    job->previous = e->last;
    job->next = NULL;
    if (e->last != NULL)
        e->last->next = job;
    else
        e->first = job;
    e->last = job;
    e->n_jobs++;
}

void job_unlink_locked(struct engine *e, struct job *job) {
    if (job->previous != NULL)
        job->previous->next = job->next;
    else
        e->first = job->next;
    if (job->next != NULL)
        job->next->previous = job->previous;
    else
        e->last = job->previous;
    e->n_jobs--;
}

struct job *job_by_id_locked(struct engine *e, const char *id) {
    for (struct job *j = e->first; j != NULL; j = j->next) {
        if (j->state != JOB_ACCEPTING && strcmp(j->id, id) == 0) return j;
    }
    return NULL;
}

struct job *job_by_number_locked(struct engine *e, uint64_t number) {
    for (struct job *j = e->first; j != NULL; j = j->next) {
        if (j->number == number) return j;
    }
    return NULL;
}

struct job *job_by_key_locked(struct engine *e, const char *request_id, enum engine_kind kind,
                              const uint8_t digest[ENGINE_DIGEST_BYTES]) {
    for (struct job *j = e->last; j != NULL; j = j->previous) {
        if (j->outcome == ENGINE_FAILED || j->outcome == ENGINE_CANCELLED || j->kept) continue;
        if (j->kind == kind && memcmp(j->digest, digest, ENGINE_DIGEST_BYTES) == 0 &&
            strcmp(j->request_id, request_id) == 0)
            return j;
    }
    return NULL;
}

unsigned jobs_waiting_locked(const struct engine *e) {
    unsigned n = 0;
    for (const struct job *j = e->first; j != NULL; j = j->next) {
        if (j->state == JOB_ACCEPTING || job_waits(j)) n++;
    }
    return n;
}

static struct cuzk_error unknown_job(const char *id) {
    struct cuzk_error err;
    (void)error_set(&err, CUZK_JOB_UNKNOWN, NULL,
                    "ended jobs are kept for a limited time only; submit it again",
                    "there is no job %.60s", id);
    return err;
}

/* ---- begin, end ---- */

cuzk_status job_begin_locked(struct engine *e, struct job *job, struct cuzk_error *err) {
    struct circuit *c = circuit_of_shape(e, registered_seal_shape(c1_registered(job->c1)));
    CUZK_TRY(flow_job_add(e->flow, job->number, (enum flow_priority)job->priority,
                          job->n_partitions, (unsigned)(c - e->circuits), job->done, err));
    job->circuit = (int)(c - e->circuits);
    job->in_flow = true;
    job->state = JOB_OPEN;
    circuit_refer_locked(e, c);
    if (c->state == CIRCUIT_RESIDENT) job->resident_ns = clock_ns();
    engine_wake_locked(e);
    return CUZK_OK;
}

static void add_duration(struct engine_histogram *h, double seconds) {
    unsigned i = 0;
    while (i < ENGINE_BUCKETS && seconds > engine_bucket_bounds[i])
        i++;
    h->bucket[i]++;
    h->sum += seconds;
    h->count++;
}

static void count_outcome(struct engine *e, const struct job *job) {
    const double total = (double)(job->ended_ns - job->accepted_ns) * 1e-9;
    switch (job->outcome) {
    case ENGINE_COMPLETED:
        e->completed[job->kind]++;
        add_duration(&e->duration[job->kind], total);
        if (job->begun_ns != 0)
            e->recent[e->n_recent++ % ENGINE_MEDIAN_OF] =
                (double)(job->ended_ns - job->begun_ns) * 1e-9;
        break;
    case ENGINE_CANCELLED:
        e->cancelled[job->kind]++;
        break;
    case ENGINE_FAILED:
        e->failed[job->kind]++;
        break;
    case ENGINE_UNKNOWN:
    case ENGINE_TIMEOUT:
        break;
    }
}

static void log_outcome(const struct job *job) {
    if (job->outcome == ENGINE_COMPLETED)
        log_line(LOG_LEVEL_INFO, "engine", "job %s: completed in %.2f s", job->id,
                 (double)(job->ended_ns - job->accepted_ns) * 1e-9);
    else
        log_error_record(LOG_LEVEL_INFO, "engine", &job->error, "job %s: %s", job->id,
                         job->outcome == ENGINE_CANCELLED ? "cancelled" : "failed");
}

void job_end_locked(struct engine *e, struct job *job, enum engine_outcome outcome,
                    const struct cuzk_error *why) {
    if (job->outcome != ENGINE_UNKNOWN) return;
    job->outcome = outcome;
    job->ended_ns = clock_ns();
    if (why != NULL) job->error = *why;
    job->state = JOB_OVER;
    count_outcome(e, job);
    log_outcome(job);
    job->to_finish = true;
    job_stop_work_locked(e, job);
    engine_wake_locked(e);
}

/* What was READY belongs to nobody once the job has stopped; other stages have somebody. */
void job_stop_work_locked(struct engine *e, struct job *job) {
    if (!job->in_flow) return;
    flow_job_cancel(e->flow, job->number);
    for (unsigned k = 0; k < job->n_partitions; k++) {
        const struct flow_task task = {.job = job->number, .partition = k};
        if (flow_stage_of(e->flow, &task) == FLOW_DROPPED)
            pipeline_drop_slab_locked(e, &job->partitions[k]);
    }
    device_cancel_job_locked(e, job);
    job_settle_locked(e, job);
}

void job_settle_locked(struct engine *e, struct job *job) {
    if (!job->in_flow || flow_job_state(e->flow, job->number) != FLOW_JOB_OVER) return;
    /* All partitions done: the job has its outcome in the same hold of the lock (job_end_locked).
     */
    if (job->outcome == ENGINE_UNKNOWN && !job->kept) return;
    job->in_flow = false;
    flow_job_remove(e->flow, job->number);
    for (unsigned k = 0; k < job->n_partitions; k++) {
        job->synthesis_seconds += job->partitions[k].synthesis_seconds;
        job->device_seconds += job->partitions[k].device_seconds;
    }
    free(job->partitions);
    job->partitions = NULL;
    c1_destroy(job->c1);
    job->c1 = NULL;
    ledger_release(e->ledger, &job->input);
    circuit_unrefer_locked(e, &e->circuits[job->circuit]);
    engine_wake_locked(e);
}

static cuzk_status cancel(struct engine *e, const char *job_id, bool even_promised,
                          bool *was_running, struct cuzk_error *err) {
    lock_take(&e->lock);
    struct job *job = job_by_id_locked(e, job_id);
    if (job == NULL) {
        lock_give(&e->lock);
        const struct cuzk_error unknown = unknown_job(job_id);
        if (err != NULL) *err = unknown;
        return CUZK_JOB_UNKNOWN;
    }
    *was_running = job->outcome == ENGINE_UNKNOWN && (even_promised || !job->promised);
    if (*was_running) {
        struct cuzk_error why;
        (void)error_set(&why, CUZK_CANCELLED, NULL, NULL, "the job was cancelled");
        job->kept = false;
        job_end_locked(e, job, ENGINE_CANCELLED, &why);
        pipeline_pump_locked(e);
    }
    lock_give(&e->lock);
    return CUZK_OK;
}

cuzk_status engine_cancel(struct engine *e, const char *job_id, bool *was_running,
                          struct cuzk_error *err) {
    return cancel(e, job_id, true, was_running, err);
}

cuzk_status engine_cancel_dropped(struct engine *e, const char *job_id, bool *was_running,
                                  struct cuzk_error *err) {
    return cancel(e, job_id, false, was_running, err);
}

/* ---- watches ---- */

static uint64_t ms_between(uint64_t from_ns, uint64_t to_ns) {
    return from_ns == 0 || to_ns < from_ns ? 0 : (to_ns - from_ns) / 1000000u;
}

static struct engine_result result_of_locked(const struct job *job, bool timed_out) {
    struct engine_result r = {.outcome = timed_out ? ENGINE_TIMEOUT : job->outcome};
    memcpy(r.job_id, job->id, sizeof r.job_id);
    if (timed_out) {
        (void)error_set(&r.error, CUZK_DEADLINE, NULL, "wait for it again",
                        "the job is not done yet");
        return r;
    }
    r.error = job->error;
    if (job->outcome == ENGINE_COMPLETED) {
        r.proof = job->proofs;
        r.proof_bytes = (size_t)job->n_partitions * PROOF_BYTES;
    }
    double synthesis = job->synthesis_seconds, device = job->device_seconds;
    for (unsigned k = 0; job->in_flow && k < job->n_partitions; k++) {
        synthesis += job->partitions[k].synthesis_seconds;
        device += job->partitions[k].device_seconds;
    }
    r.queue_wait_ms = ms_between(job->accepted_ns, job->begun_ns);
    r.srs_load_ms = ms_between(job->accepted_ns, job->resident_ns);
    r.synthesis_ms = (uint64_t)(synthesis * 1e3);
    r.gpu_compute_ms = (uint64_t)(device * 1e3);
    r.total_ms = ms_between(job->accepted_ns, job->ended_ns);
    return r;
}

cuzk_status engine_watch(struct engine *e, const char *job_id, uint64_t until_ns, engine_done_fn fn,
                         void *ctx, uint64_t *watch, struct cuzk_error *err) {
    struct watch *w = calloc(1, sizeof *w);
    if (w == NULL) return error_set(err, CUZK_NO_MEMORY, "watch", NULL, "no memory for a wait");
    lock_take(&e->lock);
    struct job *job = job_by_id_locked(e, job_id);
    if (job == NULL) {
        lock_give(&e->lock);
        free(w);
        const struct cuzk_error unknown = unknown_job(job_id);
        if (err != NULL) *err = unknown;
        return CUZK_JOB_UNKNOWN;
    }
    *watch = ++e->next_watch;
    if (job->recorded) {
        job->pins++;
        const struct engine_result r = result_of_locked(job, false);
        lock_give(&e->lock);
        free(w);
        fn(ctx, &r);
        lock_take(&e->lock);
        job->pins--;
        engine_wake_locked(e);
        lock_give(&e->lock);
        return CUZK_OK;
    }
    *w = (struct watch){.next = e->watches,
                        .id = *watch,
                        .until_ns = until_ns,
                        .job = job,
                        .fn = fn,
                        .ctx = ctx,
                        .state = WATCH_WAITS};
    job->pins++;
    e->watches = w;
    engine_wake_locked(e);
    lock_give(&e->lock);
    return CUZK_OK;
}

static struct watch *find_watch(struct engine *e, uint64_t id) {
    struct watch *w = e->watches;
    while (w != NULL && w->id != id)
        w = w->next;
    return w;
}

/* Out of the list; its job is let go. */
static void remove_watch(struct engine *e, struct watch *w) {
    struct watch **at = &e->watches;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    w->job->pins--;
    free(w);
    engine_wake_locked(e);
}

void engine_unwatch(struct engine *e, uint64_t watch) {
    lock_take(&e->lock);
    struct watch *w;
    while ((w = find_watch(e, watch)) != NULL && w->state == WATCH_CALLING)
        lock_cond_wait(&e->changed, &e->lock);
    if (w != NULL) remove_watch(e, w);
    lock_give(&e->lock);
}

/* ---- the finisher ---- */

static struct job *next_to_finish(struct engine *e) {
    struct job *j = e->first;
    while (j != NULL && !j->to_finish)
        j = j->next;
    return j;
}

static struct watch *next_due(struct engine *e) {
    struct watch *w = e->watches;
    while (w != NULL && w->state != WATCH_TIMED_OUT &&
           !(w->state == WATCH_WAITS && w->job->recorded))
        w = w->next;
    return w;
}

/* A finished job whose proofs are not all on the disk: once more, or its outcome may not be
 * written either. */
static cuzk_status fill_gap(struct engine *e, const struct job *job, struct cuzk_error *err) {
    for (unsigned k = 0; job->gap && k < job->n_partitions; k++)
        CUZK_TRY(journal_partition(e->journal, job->id, k,
                                   job->proofs + (size_t)k * JOURNAL_PROOF_BYTES, err));
    return CUZK_OK;
}

/* The outcome goes to the state folder before anybody is told of it. A record that cannot be
 * written is no reason to keep a proof back: after a restart the job would be done again. */
static void record_outcome(struct engine *e, struct job *job) {
    enum journal_state state = JOURNAL_FAILED;
    if (job->outcome == ENGINE_COMPLETED) state = JOURNAL_COMPLETED;
    if (job->outcome == ENGINE_CANCELLED) state = JOURNAL_CANCELLED;
    job->to_finish = false;
    if (e->journal != NULL && !job->unrecorded) {
        job->pins++;
        lock_give(&e->lock);
        struct cuzk_error err;
        char message[800];
        error_format(&job->error, message, sizeof message);
        cuzk_status s = state == JOURNAL_COMPLETED ? fill_gap(e, job, &err) : CUZK_OK;
        if (s == CUZK_OK)
            s = journal_outcome(e->journal, job->id, state,
                                state == JOURNAL_FAILED ? message : NULL, &err);
        if (s != CUZK_OK)
            log_error_record(LOG_LEVEL_ERROR, "engine", &err, "job %s: outcome not recorded",
                             job->id);
        lock_take(&e->lock);
        job->pins--;
    }
    job->recorded = true;
    engine_wake_locked(e);
}

static void call_watcher(struct engine *e, struct watch *w) {
    const struct engine_result r =
        result_of_locked(w->job, w->state == WATCH_TIMED_OUT && !w->job->recorded);
    w->state = WATCH_CALLING;
    lock_give(&e->lock);
    w->fn(w->ctx, &r);
    lock_take(&e->lock);
    remove_watch(e, w);
}

void *engine_finisher(void *engine) {
    struct engine *e = engine;
    lock_take(&e->lock);
    for (;;) {
        struct job *job = next_to_finish(e);
        struct watch *w = job == NULL ? next_due(e) : NULL;
        if (job != NULL)
            record_outcome(e, job);
        else if (w != NULL)
            call_watcher(e, w);
        else if (e->finisher_end)
            break;
        else
            lock_cond_wait(&e->changed, &e->lock);
    }
    lock_give(&e->lock);
    return NULL;
}

/* ---- the timer ---- */

static void earlier(uint64_t *next, uint64_t t) {
    if (t != 0 && t < *next) *next = t;
}

static void end_late_jobs(struct engine *e, uint64_t now, uint64_t *next) {
    for (struct job *j = e->first; j != NULL; j = j->next) {
        if (j->deadline_ns == 0 || j->kept || (j->state != JOB_OPEN && j->state != JOB_PARKED))
            continue;
        if (j->deadline_ns > now) {
            earlier(next, j->deadline_ns);
            continue;
        }
        struct cuzk_error why;
        (void)error_set(&why, CUZK_DEADLINE, NULL, NULL,
                        "the deadline passed before the proof was made");
        job_end_locked(e, j, ENGINE_FAILED, &why);
        pipeline_pump_locked(e);
    }
}

static void end_late_watches(struct engine *e, uint64_t now, uint64_t *next) {
    for (struct watch *w = e->watches; w != NULL; w = w->next) {
        if (w->state != WATCH_WAITS || w->until_ns == 0) continue;
        if (w->until_ns > now) {
            earlier(next, w->until_ns);
            continue;
        }
        w->state = WATCH_TIMED_OUT;
        engine_wake_locked(e);
    }
}

static bool is_ended(const struct job *j) {
    return j->state == JOB_OVER && j->recorded && !j->in_flow;
}

/* The oldest result that need not be kept any more; NULL: none. */
static struct job *next_to_forget(struct engine *e, uint64_t now, uint64_t *next) {
    unsigned n = 0;
    struct job *oldest = NULL;
    for (struct job *j = e->first; j != NULL; j = j->next) {
        if (!is_ended(j)) continue;
        n++;
        if (j->pins == 0 && (oldest == NULL || j->ended_ns < oldest->ended_ns)) oldest = j;
    }
    if (oldest == NULL) return NULL;
    if (n > e->config.keep_results) return oldest;
    const uint64_t until = oldest->ended_ns + e->config.keep_result_ns;
    if (until <= now) return oldest;
    earlier(next, until);
    return NULL;
}

static void forget(struct engine *e, struct job *job) {
    job_unlink_locked(e, job);
    if (e->journal != NULL && !job->unrecorded) {
        lock_give(&e->lock);
        struct cuzk_error err;
        if (journal_forget(e->journal, job->id, &err) != CUZK_OK)
            log_error_record(LOG_LEVEL_WARN, "engine", &err, "job %s: not forgotten", job->id);
        lock_take(&e->lock);
    }
    job_free(job);
}

/* All that is resident now and stands in the ledger. */
static uint64_t own_bytes(struct engine *e) {
    uint64_t sum = mem_rss();
    lock_take(&e->lock);
    for (unsigned d = 0; d < e->n_devices; d++) {
        struct device_state s;
        if (e->devices[d].link == NULL) continue;
        device_link_state(e->devices[d].link, &s);
        if (s.rss_bytes > s.shared_bytes) sum += s.rss_bytes - s.shared_bytes;
    }
    lock_give(&e->lock);
    return sum;
}

static void read_budget_again(struct engine *e) {
    struct budget b;
    lock_give(&e->lock);
    memory_read_budget(e, &b, own_bytes(e));
    lock_take(&e->lock);
    memory_set_budget_locked(e, &b);
    if (e->replan_due) engine_wake_locked(e);
}

void *engine_timer(void *engine) {
    struct engine *e = engine;
    lock_take(&e->lock);
    uint64_t budget_at = clock_ns() + ENGINE_BUDGET_EVERY_NS;
    while (!e->threads_end) {
        const uint64_t now = clock_ns();
        if (now >= budget_at) {
            read_budget_again(e);
            budget_at = clock_ns() + ENGINE_BUDGET_EVERY_NS;
            continue;
        }
        uint64_t next = budget_at;
        end_late_jobs(e, now, &next);
        end_late_watches(e, now, &next);
        struct job *old = next_to_forget(e, now, &next);
        if (old != NULL) {
            forget(e, old);
            continue;
        }
        (void)lock_cond_wait_until(&e->changed, &e->lock, next);
    }
    lock_give(&e->lock);
    return NULL;
}
