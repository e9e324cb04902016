/* Life of the engine: its threads, its beginning and its end. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "engine_config.h"
#include "engine_internal.h"
#include "log.h"

enum { USUAL_MAX_PERMITS = 64 };
/* Slabs that nobody uses are kept for the next partition, up to this part of the budget. */
enum { KEPT_SLABS_PART = 16 };
#define KEPT_SLABS_NS ((uint64_t)10 * 1000000000u)

cuzk_status engine_thread(struct thread_slot *slot, void *(*fn)(void *), void *ctx,
                          struct cuzk_error *err) {
    const int code = pthread_create(&slot->id, NULL, fn, ctx);
    if (code != 0)
        return error_set(err, CUZK_NO_MEMORY, "threads", NULL, "a thread cannot be started: %s",
                         strerror(code));
    slot->begun = true;
    return CUZK_OK;
}

static void join(struct thread_slot *slot) {
    if (slot->begun) pthread_join(slot->id, NULL);
    slot->begun = false;
}

/* ---- making it ---- */

static void drop_mapping(void *ctx, uint64_t slab_id) {
    struct engine *e = ctx;
    lock_take(&e->lock);
    for (unsigned d = 0; d < e->n_devices; d++) {
        if (e->devices[d].link != NULL) device_link_drop_slab(e->devices[d].link, slab_id);
    }
    lock_give(&e->lock);
}

static void set_up_devices(struct engine *e) {
    const struct engine_config *c = &e->config;
    e->n_devices = c->n_devices;
    for (unsigned i = 0; i < c->n_devices; i++) {
        struct device *d = &e->devices[i];
        const unsigned planned = e->has_plan ? e->plan.device_workers : 1;
        d->engine = e;
        d->index = i;
        d->workers = c->devices[i].workers > 0 ? c->devices[i].workers : planned > 0 ? planned : 1;
        /* One at least: a plan without pending proofs is kept by the engine, not by the process. */
        d->pendings = e->has_plan && e->plan.pendings > 0 ? e->plan.pendings : 1;
        d->spec = (struct device_spec){.program = c->devices[i].program,
                                       .backend = c->devices[i].backend,
                                       .options = c->devices[i].options,
                                       .workers = d->workers,
                                       .pendings = d->pendings,
                                       .threads = c->device_threads,
                                       .ping_timeout_ns = c->device_ping_timeout_ns,
                                       .progress_timeout_ns = c->device_progress_timeout_ns};
        snprintf(d->name, sizeof d->name, "%s", c->devices[i].backend);
    }
}

static cuzk_status set_up_preload(struct engine *e, struct cuzk_error *err) {
    struct plan_options options;
    memory_plan_options(e, &options);
    options.n_devices = e->config.n_devices;
    for (unsigned i = 0; i < e->config.n_preload; i++) {
        const struct porep_shape *shape = NULL;
        struct cuzk_error why;
        if (circuit_find(&shape, e->config.preload[i], NULL, &why) != CUZK_OK)
            return error_set(err, CUZK_CONFIG, "preload", why.hint, "%s", why.what);
        struct circuit *c = circuit_of_shape(e, shape);
        c->preload = c->preload_due = true;
        options.circuit_ids[options.n_circuits++] = c->id;
    }
    if (options.n_circuits == 0) return CUZK_OK;
    for (unsigned i = 0; i < e->config.n_devices; i++) {
        if (e->config.devices[i].workers > options.device_workers)
            options.device_workers = e->config.devices[i].workers;
    }
    options.budget_bytes = e->limit;
    CUZK_TRY(plan_make(&e->plan, &options, err));
    e->has_plan = true; /* for the devices' numbers; it is made again when a circuit is loaded */
    return CUZK_OK;
}

static cuzk_status make_flow(struct engine *e, struct cuzk_error *err) {
    e->max_permits =
        e->config.partition_workers > 0 ? e->config.partition_workers : USUAL_MAX_PERMITS;
    struct flow_config config = {.permits = e->max_permits,
                                 .critical_permits = 1,
                                 .n_devices = e->n_devices,
                                 .age_after = e->config.age_after};
    for (unsigned d = 0; d < e->n_devices; d++) {
        config.workers[d] = e->devices[d].workers;
        config.pendings[d] = e->devices[d].pendings;
    }
    return flow_create(&e->flow, &config, err);
}

static cuzk_status make_parts(struct engine *e, struct cuzk_error *err) {
    char line[2048];
    struct budget budget;
    memory_read_budget(e, &budget, mem_rss());
    memory_set_budget_locked(e, &budget);
    budget_print(&budget, line, sizeof line);
    log_line(LOG_LEVEL_INFO, "engine", "memory: %s", line);
    circuits_init(e);
    CUZK_TRY(set_up_preload(e, err));
    set_up_devices(e);
    e->has_plan = false;
    CUZK_TRY(make_flow(e, err));
    CUZK_TRY(ledger_create(&e->ledger, e->limit, e->limited_by, err));
    const struct slab_options slabs = {.keep_bytes = e->limit / KEPT_SLABS_PART,
                                       .idle_ns = KEPT_SLABS_NS,
                                       .huge_pages = true,
                                       .closing = drop_mapping,
                                       .ctx = e};
    CUZK_TRY(slab_pool_create(&e->slabs, &slabs, err));
    CUZK_TRY(pool_create(&e->check_pool, e->config.synthesis_threads, err));
    if (e->config.state_dir == NULL) {
        log_line(LOG_LEVEL_WARN, "engine",
                 "no state folder: jobs that were acknowledged do not survive the daemon");
        return CUZK_OK;
    }
    CUZK_TRY(journal_open(&e->journal, e->config.state_dir, err));
    return replay_journal(e, err);
}

static cuzk_status begin_threads(struct engine *e, struct cuzk_error *err) {
    CUZK_TRY(engine_thread(&e->finisher, engine_finisher, e, err));
    CUZK_TRY(engine_thread(&e->timer, engine_timer, e, err));
    CUZK_TRY(engine_thread(&e->keeper, engine_keeper, e, err));
    CUZK_TRY(engine_thread(&e->loader, engine_loader, e, err));
    for (unsigned i = 0; i < ENGINE_VERIFIERS; i++)
        CUZK_TRY(engine_thread(&e->verifiers[i], engine_verifier, e, err));
    return CUZK_OK;
}

static cuzk_status begin_devices(struct engine *e, struct cuzk_error *err) {
    cuzk_status s = CUZK_OK;
    lock_take(&e->lock);
    for (unsigned d = 0; d < e->n_devices && s == CUZK_OK; d++)
        s = device_start_locked(&e->devices[d], err);
    e->accepting = s == CUZK_OK;
    engine_wake_locked(e);
    lock_give(&e->lock);
    return s;
}

cuzk_status engine_create(struct engine **out, const struct engine_config *config,
                          struct cuzk_error *err) {
    *out = NULL;
    struct engine *e = calloc(1, sizeof *e);
    if (e == NULL) return error_set(err, CUZK_NO_MEMORY, "engine", NULL, "no memory");
    cuzk_status s = engine_config_copy(&e->config, config, err);
    if (s != CUZK_OK) {
        free(e);
        return s;
    }
    e->start_ns = clock_ns();
    lock_init(&e->lock, LOCK_ENGINE);
    lock_cond_init(&e->changed);
    pthread_mutex_init(&e->check_mutex, NULL);
    s = make_parts(e, err);
    if (s == CUZK_OK) s = begin_threads(e, err);
    if (s == CUZK_OK) s = begin_devices(e, err);
    if (s != CUZK_OK) {
        engine_destroy(e);
        return s;
    }
    *out = e;
    return CUZK_OK;
}

/* ---- ending it ---- */

static void hold_or_answer(struct engine *e, struct job *job) {
    if (e->journal != NULL) {
        job->kept = true;
        job_stop_work_locked(e, job);
        return;
    }
    struct cuzk_error why;
    (void)error_set(&why, CUZK_STOPPING, NULL, "submit it to another daemon, or later",
                    "the daemon is stopping");
    job_end_locked(e, job, ENGINE_FAILED, &why);
}

void engine_stop_accepting(struct engine *e) {
    lock_take(&e->lock);
    e->accepting = false;
    for (struct job *j = e->first; j != NULL; j = j->next) {
        if (job_waits(j)) hold_or_answer(e, j);
    }
    engine_wake_locked(e);
    lock_give(&e->lock);
}

static bool is_busy(const struct engine *e) {
    for (const struct job *j = e->first; j != NULL; j = j->next) {
        if (j->state == JOB_ACCEPTING || j->in_flow || j->to_finish) return true;
        if (j->state == JOB_PARKED && !j->kept) return true;
        if (j->state == JOB_OVER && !j->recorded) return true;
    }
    return false;
}

bool engine_drain(struct engine *e, uint64_t deadline_ns) {
    lock_take(&e->lock);
    while (is_busy(e) && lock_cond_wait_until(&e->changed, &e->lock, deadline_ns)) {
    }
    const bool done = !is_busy(e);
    lock_give(&e->lock);
    return done;
}

/* Watchers hear of it; in the state folder open jobs stay as they are. */
static void end_open_jobs(struct engine *e) {
    struct cuzk_error why;
    const bool kept = e->journal != NULL;
    (void)error_set(&why, CUZK_STOPPING, NULL,
                    kept ? "wait for it again when the daemon runs again" : "submit it again",
                    kept ? "the daemon is stopping; the job stays recorded and goes on with its "
                           "next start"
                         : "the daemon is stopping");
    lock_take(&e->lock);
    e->accepting = false;
    e->stopping = true;
    for (struct job *j = e->first; j != NULL; j = j->next) {
        if (j->state != JOB_OPEN && j->state != JOB_PARKED) continue;
        j->unrecorded = true;
        job_end_locked(e, j, ENGINE_FAILED, &why);
    }
    e->threads_end = true;
    engine_wake_locked(e);
    lock_give(&e->lock);
}

/* The keeper has ended, so that nobody else takes a link away. */
static void end_devices(struct engine *e) {
    struct cuzk_error why;
    (void)error_set(&why, CUZK_STOPPING, NULL, NULL, "the daemon is stopping");
    for (unsigned d = 0; d < e->n_devices; d++) {
        struct device *dev = &e->devices[d];
        lock_take(&e->lock);
        struct device_link *link = dev->link;
        dev->link = NULL;
        dev->up = false;
        lock_give(&e->lock);
        device_link_destroy(link);
        lock_take(&e->lock);
        device_gone_locked(dev, &why);
        lock_give(&e->lock);
    }
}

static void end_threads(struct engine *e) {
    join(&e->keeper);
    end_devices(e);
    for (unsigned i = 0; i < ENGINE_MAX_SYNTHESIS; i++)
        join(&e->synthesis[i]);
    for (unsigned i = 0; i < ENGINE_VERIFIERS; i++)
        join(&e->verifiers[i]);
    join(&e->loader);
    join(&e->timer);
    lock_take(&e->lock);
    e->finisher_end = true;
    engine_wake_locked(e);
    lock_give(&e->lock);
    join(&e->finisher);
}

void engine_destroy(struct engine *e) {
    if (e == NULL) return;
    end_open_jobs(e);
    if (e->flow != NULL) end_threads(e);
    slab_pool_destroy(e->slabs);
    while (e->first != NULL) {
        struct job *job = e->first;
        job_unlink_locked(e, job);
        job_free(job);
    }
    circuits_free(e);
    flow_destroy(e->flow);
    if (e->ledger != NULL) ledger_release(e->ledger, &e->fixed);
    ledger_destroy(e->ledger);
    pool_destroy(e->check_pool);
    journal_close(e->journal);
    pthread_mutex_destroy(&e->check_mutex);
    lock_cond_destroy(&e->changed);
    lock_destroy(&e->lock);
    engine_config_free(&e->config);
    free(e);
}

/* ---- is it ready? ---- */

static bool is_ready(const struct engine *e, char *why, size_t why_bytes) {
    bool up = false;
    for (unsigned d = 0; d < e->n_devices; d++)
        up = up || e->devices[d].up;
    if (!up) {
        snprintf(why, why_bytes, "no device is up%s%.160s",
                 e->devices[0].last_error[0] != '\0' ? ": " : "", e->devices[0].last_error);
        return false;
    }
    for (unsigned i = 0; i < e->n_circuits; i++) {
        const struct circuit *c = &e->circuits[i];
        if (!c->preload || c->resident_ns != 0) continue;
        snprintf(why, why_bytes, "circuit %s is not resident%s%.160s", c->id,
                 c->failures != 0 ? ": " : "", c->failures != 0 ? c->error.what : "");
        return false;
    }
    if (!e->accepting) {
        snprintf(why, why_bytes, "the daemon is stopping");
        return false;
    }
    return true;
}

bool engine_ready(struct engine *e, char *why, size_t why_bytes) {
    if (why_bytes > 0) why[0] = '\0';
    lock_take(&e->lock);
    const bool ready = is_ready(e, why, why_bytes);
    lock_give(&e->lock);
    return ready;
}
