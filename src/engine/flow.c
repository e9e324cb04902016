#include "flow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "flow_internal.h"

/* ---- stages and what is held in them ---- */

static bool has_permit(const struct flow *f, enum flow_stage s) {
    return s == FLOW_SYNTHESIS || (s == FLOW_READY && !f->config.early_permit);
}

static bool has_witness(enum flow_stage s) {
    return s == FLOW_SYNTHESIS || s == FLOW_READY || s == FLOW_START;
}

static bool is_on_device(enum flow_stage s) {
    return s == FLOW_START || s == FLOW_FINISH;
}

static void leave(struct flow *f, struct flow_job *job, const struct flow_partition *p) {
    const enum flow_stage s = (enum flow_stage)p->stage;
    job->in[s]--;
    f->count.stage[s]--;
    if (has_permit(f, s)) f->count.permits_taken--;
    if (has_witness(s)) f->count.witnesses--;
    if (is_on_device(s)) f->count.on_device[p->device]--;
    if (s == FLOW_START) f->starting[p->device]--;
}

static void enter(struct flow *f, struct flow_job *job, struct flow_partition *p,
                  enum flow_stage s) {
    p->stage = (uint8_t)s;
    job->in[s]++;
    f->count.stage[s]++;
    if (has_permit(f, s)) f->count.permits_taken++;
    if (has_witness(s)) f->count.witnesses++;
    if (is_on_device(s)) f->count.on_device[p->device]++;
    if (s == FLOW_START) f->starting[p->device]++;
    if (f->count.witnesses > f->count.most_witnesses) f->count.most_witnesses = f->count.witnesses;
}

/* Permits taken before their number was lowered may stay out, but none that came back. */
static void settle_allowance(struct flow *f) {
    const unsigned limit = f->permits + f->config.critical_permits;
    f->allowance = f->count.permits_taken > limit ? f->count.permits_taken : limit;
}

void flow_move(struct flow *f, struct flow_job *job, struct flow_partition *p,
               enum flow_stage stage) {
    leave(f, job, p);
    enter(f, job, p, stage);
    if (f->count.permits_taken < f->allowance) settle_allowance(f);
}

/* ---- configuration ---- */

static cuzk_status check_config(const struct flow_config *c, struct cuzk_error *err) {
    if (c->permits == 0)
        return error_set(err, CUZK_CONFIG, "flow", "give at least 1", "there are no permits");
    if (c->n_devices == 0 || c->n_devices > FLOW_MAX_DEVICES)
        return error_set(err, CUZK_CONFIG, "flow", NULL, "%u devices; 1 to %d are possible",
                         c->n_devices, FLOW_MAX_DEVICES);
    for (unsigned d = 0; d < c->n_devices; d++) {
        if (c->workers[d] == 0)
            return error_set(err, CUZK_CONFIG, "flow", "give at least 1",
                             "device %u has no workers", d);
    }
    return CUZK_OK;
}

cuzk_status flow_create(struct flow **out, const struct flow_config *config,
                        struct cuzk_error *err) {
    *out = NULL;
    CUZK_TRY(check_config(config, err));
    struct flow *f = calloc(1, sizeof *f);
    if (f == NULL) return error_set(err, CUZK_NO_MEMORY, "flow", NULL, "no memory");
    f->config = *config;
    f->permits = config->permits;
    settle_allowance(f);
    *out = f;
    return CUZK_OK;
}

void flow_destroy(struct flow *f) {
    if (f == NULL) return;
    for (unsigned i = 0; i < f->count.jobs; i++)
        free(f->jobs[i]);
    free(f->jobs);
    free(f);
}

void flow_set_permits(struct flow *f, unsigned permits) {
    if (permits < 1) permits = 1;
    if (permits > f->config.permits) permits = f->config.permits;
    f->permits = permits;
    settle_allowance(f);
    flow_check_event(f);
}

void flow_circuit_ready(struct flow *f, unsigned circuit, bool ready) {
    assert(circuit < FLOW_MAX_CIRCUITS);
    const uint64_t bit = (uint64_t)1 << circuit;
    f->circuits_ready = ready ? f->circuits_ready | bit : f->circuits_ready & ~bit;
}

void flow_device_up(struct flow *f, unsigned device, bool up) {
    assert(device < f->config.n_devices);
    f->up[device] = up;
}

/* ---- jobs ---- */

static struct flow_job *find_job(const struct flow *f, uint64_t id) {
    for (unsigned i = 0; i < f->count.jobs; i++) {
        if (f->jobs[i]->id == id) return f->jobs[i];
    }
    return NULL;
}

static bool is_over(const struct flow_job *job) {
    return job->in[FLOW_DONE] + job->in[FLOW_DROPPED] == job->n_partitions;
}

static bool make_room(struct flow *f) {
    if (f->count.jobs < f->jobs_allocated) return true;
    const size_t n = f->jobs_allocated == 0 ? 16 : 2 * f->jobs_allocated;
    struct flow_job **jobs = realloc(f->jobs, n * sizeof *jobs);
    if (jobs == NULL) return false;
    f->jobs = jobs;
    f->jobs_allocated = n;
    return true;
}

cuzk_status flow_job_add(struct flow *f, uint64_t id, enum flow_priority priority,
                         unsigned n_partitions, unsigned circuit, const bool *done,
                         struct cuzk_error *err) {
    assert(find_job(f, id) == NULL);
    if (n_partitions == 0 || n_partitions > FLOW_MAX_PARTITIONS || circuit >= FLOW_MAX_CIRCUITS ||
        priority < FLOW_LOW || priority > FLOW_CRITICAL)
        return error_set(err, CUZK_INTERNAL, "flow", NULL,
                         "a job of %u partitions, circuit %u, priority %d is not possible",
                         n_partitions, circuit, (int)priority);
    struct flow_job *job = calloc(1, sizeof *job + n_partitions * sizeof job->partition[0]);
    if (job == NULL || !make_room(f)) {
        free(job);
        return error_set(err, CUZK_NO_MEMORY, "flow", NULL, "no memory for one more job");
    }
    job->id = id;
    job->priority = priority;
    job->circuit = circuit;
    job->n_partitions = n_partitions;
    for (unsigned i = 0; i < n_partitions; i++)
        enter(f, job, &job->partition[i], done != NULL && done[i] ? FLOW_DONE : FLOW_PENDING);
    f->jobs[f->count.jobs++] = job;
    flow_check_event(f);
    return CUZK_OK;
}

void flow_job_remove(struct flow *f, uint64_t id) {
    unsigned at = 0;
    while (at < f->count.jobs && f->jobs[at]->id != id)
        at++;
    if (at == f->count.jobs) return;
    struct flow_job *job = f->jobs[at];
    assert(is_over(job));
    for (unsigned i = 0; i < job->n_partitions; i++)
        leave(f, job, &job->partition[i]);
    free(job);
    f->count.jobs--;
    memmove(&f->jobs[at], &f->jobs[at + 1], (f->count.jobs - at) * sizeof(struct flow_job *));
    flow_check_event(f);
}

/* Nobody works on what is PENDING or READY: it is dropped here. The rest is at its next event. */
static void stop(struct flow *f, struct flow_job *job, enum flow_stop why) {
    job->stop = why;
    for (unsigned i = 0; i < job->n_partitions; i++) {
        struct flow_partition *p = &job->partition[i];
        if (p->stage == FLOW_PENDING || p->stage == FLOW_READY) flow_move(f, job, p, FLOW_DROPPED);
    }
}

void flow_job_cancel(struct flow *f, uint64_t id) {
    struct flow_job *job = find_job(f, id);
    if (job == NULL || job->stop != FLOW_STOP_NO || is_over(job)) return;
    stop(f, job, FLOW_STOP_CANCELLED);
    flow_check_event(f);
}

bool flow_job_cancelled(const struct flow *f, uint64_t id) {
    const struct flow_job *job = find_job(f, id);
    return job == NULL || job->stop != FLOW_STOP_NO;
}

enum flow_job_state flow_job_state(const struct flow *f, uint64_t id) {
    const struct flow_job *job = find_job(f, id);
    return job == NULL || is_over(job) ? FLOW_JOB_OVER : FLOW_JOB_RUNNING;
}

enum flow_stage flow_stage_of(const struct flow *f, const struct flow_task *task) {
    const struct flow_job *job = find_job(f, task->job);
    if (job == NULL || task->partition >= job->n_partitions) return FLOW_DROPPED;
    return (enum flow_stage)job->partition[task->partition].stage;
}

/* ---- events ---- */

struct place {
    struct flow_job *job;
    struct flow_partition *p;
};

/* False: the task is not what it was when the caller got it (its device was lost meanwhile). */
static bool find(const struct flow *f, const struct flow_task *task, struct place *out) {
    struct flow_job *job = find_job(f, task->job);
    if (job == NULL || task->partition >= job->n_partitions) return false;
    struct flow_partition *p = &job->partition[task->partition];
    *out = (struct place){job, p};
    return task->attempt == (unsigned)p->losses + p->invalids;
}

static bool find_in(const struct flow *f, const struct flow_task *task, enum flow_stage stage,
                    struct place *out) {
    return find(f, task, out) && out->p->stage == (uint8_t)stage;
}

static enum flow_outcome drop(struct flow *f, const struct place *at) {
    flow_move(f, at->job, at->p, FLOW_DROPPED);
    return FLOW_DROP;
}

static enum flow_outcome fail(struct flow *f, const struct place *at) {
    flow_move(f, at->job, at->p, FLOW_DROPPED);
    stop(f, at->job, FLOW_STOP_FAILED);
    return FLOW_JOB_FAILED;
}

static enum flow_outcome again(struct flow *f, const struct place *at) {
    flow_move(f, at->job, at->p, FLOW_PENDING);
    return FLOW_AGAIN;
}

static enum flow_outcome go_on(struct flow *f, const struct place *at, enum flow_stage stage) {
    if (at->job->stop != FLOW_STOP_NO) return drop(f, at);
    flow_move(f, at->job, at->p, stage);
    return FLOW_GOES_ON;
}

static enum flow_outcome give_back(struct flow *f, const struct place *at) {
    if (at->job->stop != FLOW_STOP_NO) return drop(f, at);
    at->p->losses++;
    return at->p->losses >= FLOW_MAX_LOSSES ? fail(f, at) : again(f, at);
}

enum flow_outcome flow_synthesized(struct flow *f, const struct flow_task *task, bool ok) {
    struct place at;
    if (!find_in(f, task, FLOW_SYNTHESIS, &at)) return FLOW_DROP;
    at.p->overtaken = 0;
    const enum flow_outcome o =
        ok || at.job->stop != FLOW_STOP_NO ? go_on(f, &at, FLOW_READY) : fail(f, &at);
    flow_check_event(f);
    return o;
}

enum flow_outcome flow_started(struct flow *f, const struct flow_task *task) {
    struct place at;
    if (!find_in(f, task, FLOW_START, &at)) return FLOW_DROP;
    const enum flow_outcome o = go_on(f, &at, FLOW_FINISH);
    flow_check_event(f);
    return o;
}

enum flow_outcome flow_finished(struct flow *f, const struct flow_task *task) {
    struct place at;
    if (!find_in(f, task, FLOW_FINISH, &at)) return FLOW_DROP;
    const enum flow_outcome o = go_on(f, &at, FLOW_VERIFY);
    flow_check_event(f);
    return o;
}

enum flow_outcome flow_device_refused(struct flow *f, const struct flow_task *task) {
    struct place at;
    if (!find(f, task, &at) || !is_on_device((enum flow_stage)at.p->stage)) return FLOW_DROP;
    at.p->avoid = (uint8_t)(at.p->device + 1);
    const enum flow_outcome o = give_back(f, &at);
    flow_check_event(f);
    return o;
}

static enum flow_outcome verified_bad(struct flow *f, const struct place *at) {
    if (at->job->stop != FLOW_STOP_NO) return drop(f, at);
    at->p->invalids++;
    at->p->avoid = (uint8_t)(at->p->device + 1);
    return at->p->invalids >= FLOW_MAX_INVALIDS ? fail(f, at) : again(f, at);
}

enum flow_outcome flow_verified(struct flow *f, const struct flow_task *task, bool valid) {
    struct place at;
    if (!find_in(f, task, FLOW_VERIFY, &at)) return FLOW_DROP;
    enum flow_outcome o = valid ? go_on(f, &at, FLOW_DONE) : verified_bad(f, &at);
    if (o == FLOW_GOES_ON && is_over(at.job)) o = FLOW_JOB_DONE;
    flow_check_event(f);
    return o;
}

static void lose(struct flow *f, const struct place *at,
                 void (*fn)(void *ctx, const struct flow_task *task, enum flow_outcome o),
                 void *ctx) {
    const struct flow_task task = {.job = at->job->id,
                                   .partition = (unsigned)(at->p - at->job->partition),
                                   .attempt = (unsigned)at->p->losses + at->p->invalids};
    const enum flow_outcome o = give_back(f, at);
    if (fn != NULL) fn(ctx, &task, o);
}

void flow_device_lost(struct flow *f, unsigned device,
                      void (*fn)(void *ctx, const struct flow_task *task, enum flow_outcome o),
                      void *ctx) {
    assert(device < f->config.n_devices);
    f->up[device] = false;
    for (unsigned i = 0; i < f->count.jobs && f->count.on_device[device] > 0; i++) {
        struct flow_job *job = f->jobs[i];
        for (unsigned k = 0; k < job->n_partitions; k++) {
            const struct place at = {job, &job->partition[k]};
            if (is_on_device((enum flow_stage)at.p->stage) && at.p->device == device)
                lose(f, &at, fn, ctx);
        }
    }
    flow_check_event(f);
}
