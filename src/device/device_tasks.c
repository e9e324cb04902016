/* Tasks of a device's process: the threads that start proofs, and the one that finishes them. */
#include <string.h>

#include "clock.h"
#include "device_process_internal.h"
#include "error.h"

static const uint64_t report_every_ns = 100000000u;

static struct task *find(struct process *p, uint64_t number) {
    for (size_t i = 0; i < DEVICE_MAX_TASKS; i++)
        if (p->tasks[i].stage != TASK_FREE && p->tasks[i].run.task == number) return &p->tasks[i];
    return NULL;
}

/* The oldest of a stage, which goes to its next one; waits for one. */
static struct task *next_task(struct process *p, enum task_stage stage) {
    lock_take(&p->lock);
    struct task *t = NULL;
    while (t == NULL) {
        for (size_t i = 0; p->up && i < DEVICE_MAX_TASKS; i++) {
            struct task *c = &p->tasks[i];
            if (c->stage == stage && (t == NULL || c->order < t->order)) t = c;
        }
        if (t == NULL) lock_cond_wait(&p->changed, &p->lock);
    }
    t->stage = stage + 1;
    lock_give(&p->lock);
    return t;
}

/* The lock is held. */
static void release_map(struct task *t) {
    device_maps_release(t->map);
    t->map = NULL;
}

/* Gives everything back; before the daemon hears of the end, so that it may send another. */
static void end_task(struct process *p, struct task *t) {
    if (t->run.pending != NULL) p->runner->drop(p->self, &t->run);
    lock_take(&p->lock);
    release_map(t);
    if (t->circuit != NULL) t->circuit->uses--;
    t->stage = TASK_FREE;
    lock_cond_wake_all(&p->changed);
    lock_give(&p->lock);
}

static void send_failed(const struct process *p, uint64_t number, const struct cuzk_error *err) {
    struct device_message m;
    device_message_init(&m, DEVICE_FAILED);
    m.body.failure.task = number;
    device_failure_set(&m.body.failure, err);
    process_send(p, &m);
}

static void fail_task(struct process *p, struct task *t, const struct cuzk_error *err) {
    const uint64_t number = t->run.task;
    end_task(p, t);
    send_failed(p, number, err);
}

/* ---- from the daemon ---- */

static void report(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    struct task *t = ctx;
    struct device_message m;
    const uint64_t now = clock_ns();
    if (t->reported_ns != 0 && now - t->reported_ns < report_every_ns) return;
    t->reported_ns = now;
    device_message_init(&m, DEVICE_PROGRESS);
    m.body.progress.task = t->run.task;
    if (!device_text_set(m.body.progress.phase, sizeof m.body.progress.phase, phase)) return;
    m.body.progress.done = total != 0 && done > total ? total : done;
    m.body.progress.total = total;
    process_send(t->process, &m);
}

static void fill_task(struct process *p, struct task *t, const struct device_prove *d) {
    t->order = p->n_arrived++;
    t->queued_ns = clock_ns();
    t->r = d->r;
    t->s = d->s;
    t->reported_ns = 0;
    t->process = p;
    atomic_store(&t->cancel, false);
    t->progress = (struct progress){.report = report, .ctx = t, .cancel = &t->cancel};
    t->run = (struct runner_task){.task = d->task,
                                  .circuit = t->circuit->run.state,
                                  .witness = t->map->ptr,
                                  .witness_bytes = d->witness_bytes,
                                  .fixed_r = d->fixed_blinding ? &t->r : NULL,
                                  .fixed_s = d->fixed_blinding ? &t->s : NULL,
                                  .progress = &t->progress};
    t->stage = TASK_QUEUED;
}

static unsigned count_tasks(const struct process *p) {
    unsigned n = 0;
    for (size_t i = 0; i < DEVICE_MAX_TASKS; i++)
        n += p->tasks[i].stage != TASK_FREE;
    return n;
}

static struct task *free_place(struct process *p) {
    for (size_t i = 0; i < DEVICE_MAX_TASKS; i++)
        if (p->tasks[i].stage == TASK_FREE) return &p->tasks[i];
    return NULL;
}

void tasks_prove(struct process *p, const struct device_prove *d) {
    struct cuzk_error err;
    lock_take(&p->lock);
    if (find(p, d->task) != NULL) process_break(p, "PROVE", "the task is under way");
    struct task *t = free_place(p);
    if (t == NULL || count_tasks(p) >= p->config.workers + p->config.pendings)
        process_break(p, "PROVE", "too many tasks");
    struct device_map *map = device_maps_use(&p->maps, d->slab_id, d->witness_bytes);
    if (map == NULL) process_break(p, "PROVE", "the slab is unknown or too small");
    struct circuit *c = circuits_find(p, d->circuit_id);
    const bool loaded = c != NULL && !c->leaving;
    if (loaded) {
        t->map = map;
        t->circuit = c;
        c->uses++;
        fill_task(p, t, d);
        lock_cond_wake_all(&p->changed);
    } else {
        device_maps_release(map);
    }
    lock_give(&p->lock);
    if (loaded) return;
    error_set(&err, CUZK_INTERNAL, d->circuit_id, "report this", "the circuit is not loaded here");
    send_failed(p, d->task, &err);
}

void tasks_cancel(struct process *p, uint64_t number) {
    struct cuzk_error err;
    lock_take(&p->lock);
    struct task *t = find(p, number);
    if (t != NULL) atomic_store(&t->cancel, true);
    /* One that waits is taken out of the others' reach; one that is worked on ends by the flag. */
    const bool waits = t != NULL && (t->stage == TASK_QUEUED || t->stage == TASK_PENDING);
    if (waits) t->stage = TASK_FINISHING;
    lock_give(&p->lock);
    if (!waits) return;
    error_set(&err, CUZK_CANCELLED, NULL, NULL, "the proof was cancelled");
    fail_task(p, t, &err);
}

/* ---- the work ---- */

static void seconds_of(struct device_seconds *out, const struct task *t) {
    *out = (struct device_seconds){.queue = t->queue_seconds, .prover = t->run.timings};
}

static void start_task(struct process *p, struct task *t, unsigned worker) {
    struct device_message m;
    struct cuzk_error err;
    t->queue_seconds = clock_seconds_since(t->queued_ns);
    t->run.worker = worker;
    report(t, "start", 0, 0);
    if (p->runner->start(p->self, &t->run, &err) != CUZK_OK) {
        fail_task(p, t, &err);
        return;
    }
    device_message_init(&m, DEVICE_STARTED);
    m.body.started.task = t->run.task;
    seconds_of(&m.body.started.seconds, t);
    lock_take(&p->lock);
    release_map(t);
    lock_give(&p->lock);
    process_send(p, &m); /* before the finisher may send PROVED */
    lock_take(&p->lock);
    t->stage = TASK_PENDING;
    lock_cond_wake_all(&p->changed);
    lock_give(&p->lock);
}

static void finish_task(struct process *p, struct task *t) {
    struct device_message m;
    struct cuzk_error err;
    device_message_init(&m, DEVICE_PROVED);
    t->reported_ns = 0;
    report(t, "finish", 0, 0);
    if (p->runner->finish(p->self, &t->run, m.body.proved.proof, &err) != CUZK_OK) {
        fail_task(p, t, &err);
        return;
    }
    m.body.proved.task = t->run.task;
    seconds_of(&m.body.proved.seconds, t);
    end_task(p, t);
    process_send(p, &m);
}

void *tasks_worker_thread(void *arg) {
    const struct worker *w = arg;
    for (;;)
        start_task(w->process, next_task(w->process, TASK_QUEUED), w->number);
    return NULL;
}

void *tasks_finisher_thread(void *arg) {
    struct process *p = arg;
    for (;;)
        finish_task(p, next_task(p, TASK_PENDING));
    return NULL;
}
