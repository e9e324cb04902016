/* Devices: their events, what they have, and how they come back. */
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "engine_internal.h"
#include "log.h"

#define FIRST_BACK_OFF_NS ((uint64_t)200 * 1000000u)

/* ---- what a device has ---- */

bool device_in_plan_locked(const struct device *d) {
    const struct engine *e = d->engine;
    if (d->failed) return false;
    unsigned before = 0;
    for (unsigned i = 0; i < d->index; i++) {
        if (!e->devices[i].failed) before++;
    }
    return before < (e->has_plan ? e->plan.n_devices : e->n_devices);
}

bool device_has_room_locked(const struct device *d) {
    const struct engine *e = d->engine;
    const unsigned workers = d->workers < e->device_workers ? d->workers : e->device_workers;
    const unsigned own = d->workers + d->pendings;
    const unsigned tasks = own < e->device_tasks ? own : e->device_tasks;
    return d->n_starting < workers && d->n_tasks < tasks;
}

static struct device_entry *entry_of(struct device *d, uint64_t task) {
    for (unsigned i = 0; i < ENGINE_DEVICE_TASKS; i++) {
        if (d->tasks[i].task == task) return &d->tasks[i];
    }
    return NULL;
}

/* A worker that nobody has, else one whose task waits to be finished. */
static int choose_worker(struct device *d) {
    for (int w = 0; w < (int)d->workers; w++) {
        bool taken = false;
        for (unsigned i = 0; i < ENGINE_DEVICE_TASKS; i++)
            taken = taken || (d->tasks[i].task != 0 && d->tasks[i].worker == w);
        if (!taken) return w;
    }
    for (unsigned i = 0; i < ENGINE_DEVICE_TASKS; i++) {
        struct device_entry *t = &d->tasks[i];
        if (t->task == 0 || !t->started || t->worker < 0) continue;
        const int w = t->worker;
        t->worker = -1;
        return w;
    }
    return -1;
}

void device_give_locked(struct device *d, struct partition *p, const struct flow_task *task) {
    struct engine *e = d->engine;
    struct device_entry *entry = entry_of(d, 0);
    const int worker = choose_worker(d);
    p->task = *task;
    p->device = (int)d->index;
    p->device_begin_ns = clock_ns();
    p->device_task = ++e->next_task;
    snprintf(p->phase, sizeof p->phase, "start");
    *entry = (struct device_entry){.task = p->device_task,
                                   .flow = *task,
                                   .job = p->job,
                                   .worker = worker,
                                   .begin_ns = p->device_begin_ns};
    d->n_tasks++;
    d->n_starting++;
    const struct device_task t = {.task = p->device_task,
                                  .circuit_id = e->circuits[p->job->circuit].id,
                                  .witness = &p->slab,
                                  .fixed_blinding = e->config.fixed_blinding,
                                  .r = e->config.fixed_r,
                                  .s = e->config.fixed_s};
    device_link_prove(d->link, &t);
}

static struct partition *partition_of(const struct device_entry *entry) {
    return entry->job != NULL ? &entry->job->partitions[entry->flow.partition] : NULL;
}

static void has_started(struct device *d, struct device_entry *entry) {
    if (entry->started) return;
    entry->started = true;
    d->n_starting--;
}

static void remove_entry(struct device *d, struct device_entry *entry) {
    has_started(d, entry);
    struct partition *p = partition_of(entry);
    const double seconds = clock_seconds_since(entry->begin_ns);
    d->busy_seconds += seconds;
    if (p != NULL) {
        p->device_seconds = seconds;
        p->device_begin_ns = 0;
        p->phase[0] = '\0';
    }
    d->n_tasks--;
    *entry = (struct device_entry){0};
}

void device_cancel_job_locked(struct engine *e, const struct job *job) {
    for (unsigned d = 0; d < e->n_devices; d++) {
        struct device *dev = &e->devices[d];
        for (unsigned i = 0; dev->link != NULL && i < ENGINE_DEVICE_TASKS; i++) {
            if (dev->tasks[i].task != 0 && dev->tasks[i].job == job)
                device_link_cancel(dev->link, dev->tasks[i].task);
        }
    }
}

/* ---- events ---- */

static void on_started(struct device *d, struct device_entry *entry) {
    struct engine *e = d->engine;
    if (entry->started) return;
    has_started(d, entry);
    struct partition *p = partition_of(entry);
    if (p == NULL) return;
    snprintf(p->phase, sizeof p->phase, "finish");
    pipeline_drop_slab_locked(e, p);
    const enum flow_outcome outcome = flow_started(e->flow, &entry->flow);
    if (outcome == FLOW_DROP) entry->job = NULL; /* the device was told to end it */
    pipeline_left_locked(e, p, outcome, NULL);
}

static void on_proved(struct device *d, struct device_entry *entry,
                      const struct device_event *event) {
    struct engine *e = d->engine;
    on_started(d, entry);
    struct partition *p = partition_of(entry);
    const struct flow_task task = entry->flow;
    remove_entry(d, entry);
    if (p == NULL) return;
    memcpy(p->candidate, event->proof, sizeof p->candidate);
    const enum flow_outcome outcome = flow_finished(e->flow, &task);
    if (outcome == FLOW_GOES_ON) pipeline_to_verify_locked(e, p);
    pipeline_left_locked(e, p, outcome, NULL);
}

static void on_failed(struct device *d, struct device_entry *entry,
                      const struct device_event *event) {
    struct engine *e = d->engine;
    struct partition *p = partition_of(entry);
    const struct flow_task task = entry->flow;
    remove_entry(d, entry);
    if (p == NULL) return;
    pipeline_drop_slab_locked(e, p);
    if (event->error.code != CUZK_CANCELLED) {
        error_format(&event->error, d->last_error, sizeof d->last_error);
        log_error_record(LOG_LEVEL_WARN, "engine", &event->error,
                         "job %s: partition %u: device %u could not prove it", p->job->id,
                         task.partition, d->index);
    }
    pipeline_left_locked(e, p, flow_device_refused(e->flow, &task), &event->error);
}

/* What the flow says of each task while the device is taken from it. */
struct lost_tasks {
    unsigned n;
    struct {
        struct flow_task task;
        enum flow_outcome outcome;
    } of[ENGINE_DEVICE_TASKS];
};

static void note_lost(void *ctx, const struct flow_task *task, enum flow_outcome outcome) {
    struct lost_tasks *all = ctx;
    if (all->n == ENGINE_DEVICE_TASKS) return;
    all->of[all->n].task = *task;
    all->of[all->n++].outcome = outcome;
}

static struct partition *partition_of_task(struct engine *e, const struct flow_task *task) {
    struct job *job = job_by_number_locked(e, task->job);
    return job != NULL && job->partitions != NULL ? &job->partitions[task->partition] : NULL;
}

void device_gone_locked(struct device *d, const struct cuzk_error *why) {
    struct engine *e = d->engine;
    struct lost_tasks all = {0};
    flow_device_lost(e->flow, d->index, note_lost, &all);
    for (unsigned i = 0; i < all.n; i++) {
        struct partition *p = partition_of_task(e, &all.of[i].task);
        struct device_entry *entry = entry_of(d, p->device_task);
        if (entry != NULL) remove_entry(d, entry);
        pipeline_drop_slab_locked(e, p);
    }
    for (unsigned i = 0; i < ENGINE_DEVICE_TASKS; i++) { /* those that were dropped before */
        if (d->tasks[i].task == 0) continue;
        d->tasks[i].job = NULL;
        remove_entry(d, &d->tasks[i]);
    }
    for (unsigned i = 0; i < all.n; i++) {
        struct partition *p = partition_of_task(e, &all.of[i].task);
        /* NULL: its job has ended by the one before. */
        if (p != NULL) pipeline_left_locked(e, p, all.of[i].outcome, why);
    }
}

/* Losses within the window, this one included. */
static unsigned count_loss(struct device *d, uint64_t now) {
    d->loss_ns[d->losses++ % ENGINE_LOSSES_REMEMBERED] = now;
    unsigned n = 0;
    for (unsigned i = 0; i < ENGINE_LOSSES_REMEMBERED; i++) {
        if (d->loss_ns[i] != 0 && now - d->loss_ns[i] < ENGINE_LOSS_WINDOW_NS) n++;
    }
    return n;
}

static void end_all_jobs(struct engine *e, const struct cuzk_error *why) {
    for (struct job *j = e->first; j != NULL; j = j->next) {
        if (!j->kept && (j->state == JOB_OPEN || j->state == JOB_PARKED))
            job_end_locked(e, j, ENGINE_FAILED, why);
    }
}

static void lost(struct device *d, const struct cuzk_error *why) {
    struct engine *e = d->engine;
    const uint64_t now = clock_ns();
    d->up = false;
    d->lost = true;
    error_format(why, d->last_error, sizeof d->last_error);
    const unsigned recent = count_loss(d, now);
    d->failed = recent >= ENGINE_LOSSES_REMEMBERED;
    d->restart_ns = now + (FIRST_BACK_OFF_NS << (2 * (recent - 1))); /* 0.2, 0.8, 3.2 s */
    log_error_record(d->failed ? LOG_LEVEL_ERROR : LOG_LEVEL_WARN, "engine", why,
                     "device %u was lost%s", d->index,
                     d->failed ? " too often and is not used any more" : "; it is started anew");
    device_gone_locked(d, why);
    circuits_device_lost_locked(e, d->index);
    if (devices_all_failed_locked(e)) {
        struct cuzk_error none;
        (void)error_set(&none, CUZK_NO_DEVICE, NULL, "look at the daemon's log, then start it anew",
                        "all devices have failed; the last said: %.160s", d->last_error);
        end_all_jobs(e, &none);
    }
    circuits_update_locked(e);
}

static void on_up(struct device *d) {
    struct device_state state;
    d->up = true;
    d->lost = false;
    if (d->link != NULL) {
        device_link_state(d->link, &state);
        snprintf(d->name, sizeof d->name, "%.63s", state.name);
    }
    log_line(LOG_LEVEL_INFO, "engine", "device %u is up: %s", d->index, d->name);
    circuits_ask_locked(d->engine, d);
    circuits_update_locked(d->engine);
}

static void on_progress(struct device *d, const struct device_event *event) {
    struct device_entry *entry = event->task != 0 ? entry_of(d, event->task) : NULL;
    struct partition *p = entry != NULL ? partition_of(entry) : NULL;
    if (p != NULL && event->phase != NULL)
        snprintf(p->phase, sizeof p->phase, "%.23s", event->phase);
}

static void on_task_event(struct device *d, const struct device_event *event) {
    struct device_entry *entry = event->task != 0 ? entry_of(d, event->task) : NULL;
    if (entry == NULL) return;
    if (event->kind == EVENT_STARTED)
        on_started(d, entry);
    else if (event->kind == EVENT_PROVED)
        on_proved(d, entry, event);
    else
        on_failed(d, entry, event);
}

static void on_event(void *ctx, const struct device_event *event) {
    struct device *d = ctx;
    struct engine *e = d->engine;
    lock_take(&e->lock);
    switch (event->kind) {
    case EVENT_UP:
        on_up(d);
        break;
    case EVENT_LOADED:
        circuit_loaded_locked(e, d->index, event);
        break;
    case EVENT_LOAD_FAILED:
        circuit_load_failed_locked(e, d->index, event->circuit_id, &event->error);
        break;
    case EVENT_EVICTED:
        circuit_evicted_locked(e, d->index, event);
        break;
    case EVENT_PROGRESS:
        on_progress(d, event);
        break;
    case EVENT_STARTED:
    case EVENT_PROVED:
    case EVENT_FAILED:
        on_task_event(d, event);
        break;
    case EVENT_LOST:
        if (!e->stopping) lost(d, &event->error); /* else engine_destroy has ended it */
        break;
    }
    if (event->kind != EVENT_PROGRESS) pipeline_pump_locked(e);
    lock_give(&e->lock);
}

/* ---- start and restart ---- */

/* The link's thread may be at its first event before the call returns: it waits for our lock. */
cuzk_status device_start_locked(struct device *d, struct cuzk_error *err) {
    d->lost = false;
    return device_link_create(&d->link, &d->spec, on_event, d, err);
}

static struct device *next_for_keeper(struct engine *e, uint64_t now, uint64_t *next) {
    for (unsigned i = 0; i < e->n_devices; i++) {
        struct device *d = &e->devices[i];
        if (!d->lost) continue;
        if (d->link != NULL) return d;
        if (d->failed) continue;
        if (d->restart_ns <= now) return d;
        if (d->restart_ns < *next) *next = d->restart_ns;
    }
    return NULL;
}

static void keep(struct engine *e, struct device *d) {
    struct cuzk_error err;
    if (d->link != NULL) {
        struct device_link *link = d->link;
        d->link = NULL;
        lock_give(&e->lock);
        device_link_destroy(link);
        lock_take(&e->lock);
        return;
    }
    d->restarts++;
    if (device_start_locked(d, &err) == CUZK_OK) return;
    lost(d, &err);
    pipeline_pump_locked(e);
}

void *engine_keeper(void *engine) {
    struct engine *e = engine;
    lock_take(&e->lock);
    while (!e->threads_end) {
        const uint64_t now = clock_ns();
        uint64_t next = now + ENGINE_BUDGET_EVERY_NS;
        struct device *d = next_for_keeper(e, now, &next);
        if (d != NULL)
            keep(e, d);
        else
            (void)lock_cond_wait_until(&e->changed, &e->lock, next);
    }
    lock_give(&e->lock);
    return NULL;
}
