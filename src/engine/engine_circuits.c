/* Which circuits are resident: load on demand, preload, evict. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "circuit_files.h"
#include "clock.h"
#include "engine_internal.h"
#include "hash.h"
#include "log.h"
#include "mem.h"

void circuits_init(struct engine *e) {
    const struct porep_shape *shape;
    while (e->n_circuits < PLAN_MAX_CIRCUITS && (shape = porep_shape_at(e->n_circuits)) != NULL) {
        struct circuit *c = &e->circuits[e->n_circuits++];
        c->shape = shape;
        circuit_id(c->id, shape);
    }
}

struct circuit *circuit_of_shape(struct engine *e, const struct porep_shape *shape) {
    for (unsigned i = 0; i < e->n_circuits; i++) {
        if (e->circuits[i].shape == shape) return &e->circuits[i];
    }
    abort(); /* circuits_init has all shapes */
}

static struct circuit *by_id(struct engine *e, const char *id) {
    for (unsigned i = 0; i < e->n_circuits; i++) {
        if (strcmp(e->circuits[i].id, id) == 0) return &e->circuits[i];
    }
    return NULL;
}

static unsigned index_of(const struct engine *e, const struct circuit *c) {
    return (unsigned)(c - e->circuits);
}

static bool is_wanted(const struct circuit *c) {
    return c->references > 0 || c->waiters > 0 || c->preload_due;
}

static void want_locked(struct engine *e, struct circuit *c) {
    if (c->needed_ns == 0) c->needed_ns = clock_ns();
    engine_wake_locked(e);
}

void circuit_refer_locked(struct engine *e, struct circuit *c) {
    c->references++;
    want_locked(e, c);
}

void circuit_unrefer_locked(struct engine *e, struct circuit *c) {
    c->references--;
    if (c->references == 0) c->idle_since_ns = clock_ns();
    engine_wake_locked(e);
}

static void destroy_part(struct r1cs *r1cs, struct vkey *vk, bool has_vk) {
    r1cs_destroy(r1cs);
    if (has_vk) vkey_destroy(vk);
}

void circuits_free(struct engine *e) {
    for (unsigned i = 0; i < e->n_circuits; i++) {
        struct circuit *c = &e->circuits[i];
        destroy_part(c->r1cs, &c->vk, c->has_vk);
    }
}

/* ---- which may be used ---- */

static bool has_parts(const struct circuit *c) {
    return c->state == CIRCUIT_LOADING || c->state == CIRCUIT_RESIDENT;
}

static void ask(struct device *d, struct circuit *c) {
    const uint32_t bit = 1u << d->index;
    if (!d->up || d->link == NULL || (c->asked & bit) != 0 || !device_in_plan_locked(d)) return;
    c->asked |= bit;
    device_link_load(d->link, c->id, c->place.path);
}

void circuits_ask_locked(struct engine *e, struct device *d) {
    for (unsigned i = 0; i < e->n_circuits; i++) {
        if (has_parts(&e->circuits[i])) ask(d, &e->circuits[i]);
    }
}

static void becomes_resident(struct engine *e, struct circuit *c) {
    const uint64_t now = clock_ns();
    c->state = CIRCUIT_RESIDENT;
    c->resident_ns = now;
    c->idle_since_ns = now;
    c->load_seconds = (double)(now - c->load_begin_ns) * 1e-9;
    c->needed_ns = 0;
    c->said_to_wait = false;
    c->preload_due = false;
    flow_circuit_ready(e->flow, index_of(e, c), true);
    log_line(LOG_LEVEL_INFO, "engine", "circuit %s is resident after %.2f s", c->id,
             c->load_seconds);
    for (struct job *j = e->first; j != NULL; j = j->next) {
        if (j->circuit == (int)index_of(e, c) && j->resident_ns == 0) j->resident_ns = now;
    }
}

void circuits_update_locked(struct engine *e) {
    uint32_t up = 0;
    for (unsigned d = 0; d < e->n_devices; d++) {
        if (e->devices[d].up && device_in_plan_locked(&e->devices[d])) {
            up |= 1u << d;
            circuits_ask_locked(e, &e->devices[d]);
        }
    }
    uint32_t complete = up; /* devices that have all that is resident */
    for (unsigned i = 0; i < e->n_circuits; i++) {
        struct circuit *c = &e->circuits[i];
        if (c->state == CIRCUIT_LOADING && up != 0 && (c->loaded & up) == up)
            becomes_resident(e, c);
        if (c->state == CIRCUIT_RESIDENT) complete &= c->loaded;
    }
    for (unsigned d = 0; d < e->n_devices; d++)
        flow_device_up(e->flow, d, (complete >> d & 1) != 0);
    engine_wake_locked(e);
}

/* ---- events ---- */

/* From here on nothing of it is begun; its memory is back when the devices have said so. */
static void begin_eviction(struct engine *e, struct circuit *c) {
    flow_circuit_ready(e->flow, index_of(e, c), false);
    c->state = CIRCUIT_EVICTING;
    c->freed_bytes = 0;
    for (unsigned d = 0; d < e->n_devices; d++) {
        if ((c->asked >> d & 1) == 0 || e->devices[d].link == NULL) continue;
        c->evicting |= 1u << d;
        device_link_evict(e->devices[d].link, c->id);
    }
    c->asked = 0;
    if (is_wanted(c)) c->needed_ns = clock_ns();
    circuits_update_locked(e);
}

static void fail_locked(struct engine *e, struct circuit *c, const struct cuzk_error *why) {
    c->error = *why;
    c->failures++;
    c->preload_due = false;
    c->needed_ns = 0;
    c->missing = why->code == CUZK_PARAM_MISSING;
    log_error_record(LOG_LEVEL_ERROR, "engine", why, "circuit %s cannot be loaded", c->id);
    for (struct job *j = e->first; j != NULL; j = j->next) {
        if (j->in_flow && j->circuit == (int)index_of(e, c))
            job_end_locked(e, j, ENGINE_FAILED, why);
    }
    if (c->state != CIRCUIT_ABSENT) begin_eviction(e, c);
    engine_wake_locked(e);
}

void circuit_loaded_locked(struct engine *e, unsigned device, const struct device_event *event) {
    struct circuit *c = by_id(e, event->circuit_id);
    if (c == NULL || !has_parts(c)) return; /* it is being evicted already */
    static const uint8_t none[32];
    if (c->has_vk && memcmp(event->vkey.bytes, none, sizeof none) != 0 &&
        memcmp(event->vkey.bytes, c->vk_digest, sizeof none) != 0) {
        struct cuzk_error why;
        (void)error_set(&why, CUZK_PARAM_DIGEST, c->place.path, "check it (cuzk params check)",
                        "device %u has read another verifying key from it than the daemon", device);
        fail_locked(e, c, &why);
        return;
    }
    c->loaded |= 1u << device;
    c->srs_bytes = event->srs_bytes;
    c->matrices_bytes = event->matrices_bytes;
    c->development = event->development;
    c->missing = false;
    circuits_update_locked(e);
}

void circuit_load_failed_locked(struct engine *e, unsigned device, const char *id,
                                const struct cuzk_error *why) {
    struct circuit *c = by_id(e, id);
    if (c == NULL) return;
    const uint32_t bit = 1u << device;
    c->asked &= ~bit;
    c->loaded &= ~bit;
    if (has_parts(c)) fail_locked(e, c, why);
}

void circuit_evicted_locked(struct engine *e, unsigned device, const struct device_event *event) {
    struct circuit *c = by_id(e, event->circuit_id);
    if (c == NULL) return;
    const uint32_t bit = 1u << device;
    c->evicting &= ~bit;
    c->loaded &= ~bit;
    c->freed_bytes += event->srs_bytes + event->matrices_bytes;
    circuits_update_locked(e);
}

void circuits_device_lost_locked(struct engine *e, unsigned device) {
    const uint32_t bit = 1u << device;
    for (unsigned i = 0; i < e->n_circuits; i++) {
        e->circuits[i].asked &= ~bit;
        e->circuits[i].loaded &= ~bit;
        e->circuits[i].evicting &= ~bit;
    }
}

/* ---- the loader: room ---- */

static bool in_flight(const struct engine *e, const struct circuit *c) {
    for (const struct job *j = e->first; j != NULL; j = j->next) {
        if (!j->in_flow || j->circuit != (int)index_of(e, c)) continue;
        for (unsigned k = 0; k < j->n_partitions; k++) {
            const struct flow_task task = {.job = j->number, .partition = k};
            const enum flow_stage s = flow_stage_of(e->flow, &task);
            if (s >= FLOW_SYNTHESIS && s <= FLOW_VERIFY) return true;
        }
    }
    return false;
}

/* Resident, not wanted, idle for long enough, and the longest so. */
static struct circuit *longest_idle(struct engine *e, uint64_t now) {
    struct circuit *found = NULL;
    for (unsigned i = 0; i < e->n_circuits; i++) {
        struct circuit *c = &e->circuits[i];
        if (c->state != CIRCUIT_RESIDENT || is_wanted(c)) continue;
        if (now - c->idle_since_ns < e->config.evict_min_idle_ns) continue;
        if (found == NULL || c->idle_since_ns < found->idle_since_ns) found = c;
    }
    return found;
}

/* Circuits that are always busy may not keep another one out for ever: the one that has been
 * resident for longest begins nothing more, and goes when what is under way has ended. */
static void take_turns(struct engine *e, const struct circuit *wanted, uint64_t now) {
    if (now - wanted->needed_ns < ENGINE_TURN_NS) return;
    struct circuit *oldest = NULL;
    for (unsigned i = 0; i < e->n_circuits; i++) {
        struct circuit *c = &e->circuits[i];
        if (c->state == CIRCUIT_EVICTING) return;
        if (c->state == CIRCUIT_RESIDENT &&
            (oldest == NULL || c->resident_ns < oldest->resident_ns))
            oldest = c;
    }
    if (oldest == NULL || now - oldest->resident_ns < ENGINE_TURN_NS) return;
    flow_circuit_ready(e->flow, index_of(e, oldest), false);
    oldest->yields = true;
    if (!in_flight(e, oldest)) begin_eviction(e, oldest);
}

/* Nobody needs the room any more: those that made way and are still there go on. */
static void end_turns(struct engine *e) {
    for (unsigned i = 0; i < e->n_circuits; i++) {
        struct circuit *c = &e->circuits[i];
        if (!c->yields) continue;
        c->yields = false;
        if (c->state != CIRCUIT_RESIDENT) continue;
        flow_circuit_ready(e->flow, index_of(e, c), true);
        pipeline_pump_locked(e);
    }
}

static struct circuit *next_wanted(struct engine *e) {
    struct circuit *found = NULL;
    for (unsigned i = 0; i < e->n_circuits; i++) {
        struct circuit *c = &e->circuits[i];
        if (c->state != CIRCUIT_ABSENT || !is_wanted(c)) continue;
        if (found == NULL || c->needed_ns < found->needed_ns) found = c;
    }
    return found;
}

/* ---- the loader: the daemon's part ---- */

/* The digest is of the bytes that the key has in the file, as the devices make it. */
cuzk_status circuit_read_key(struct vkey *vk, uint8_t digest[32], const char *path,
                             struct cuzk_error *err) {
    struct param_source src;
    CUZK_TRY(param_source_open(&src, path, err));
    struct param_layout layout;
    struct mem_block text = {0};
    cuzk_status s = param_layout_read(&layout, &src, NULL, err);
    if (s == CUZK_OK) s = vkey_read(vk, &src, &layout, err);
    if (s != CUZK_OK) goto out;
    s = vkey_check_group(vk, &src, NULL, err);
    if (s == CUZK_OK) s = mem_take(&text, layout.vkey_bytes, MEM_OTHER, err);
    if (s == CUZK_OK) s = param_source_read(&src, text.ptr, layout.vkey_bytes, 0, err);
    if (s == CUZK_OK)
        sha256(digest, text.ptr, layout.vkey_bytes);
    else
        vkey_destroy(vk);
    mem_give(&text);
out:
    param_source_close(&src);
    return s;
}

static cuzk_status prepare(const struct engine *e, const struct circuit *c, struct circuit *part,
                           struct cuzk_error *err) {
    CUZK_TRY(submit_find_params(e, &part->place, c->shape, err));
    CUZK_TRY(porep_record(c->shape, &part->r1cs, err));
    CUZK_TRY(r1cs_get_stats(part->r1cs, &part->stats, NULL, err));
    if (e->config.accept_fake_proofs) return CUZK_OK;
    CUZK_TRY(circuit_read_key(&part->vk, part->vk_digest, part->place.path, err));
    part->has_vk = true;
    return CUZK_OK;
}

static void prepare_locked(struct engine *e, struct circuit *c) {
    struct circuit part = {0};
    struct cuzk_error err;
    c->state = CIRCUIT_PREPARING;
    c->load_begin_ns = clock_ns();
    c->asked = c->loaded = c->evicting = 0;
    engine_wake_locked(e);
    lock_give(&e->lock);
    const cuzk_status s = prepare(e, c, &part, &err);
    lock_take(&e->lock);
    c->place = part.place;
    c->r1cs = part.r1cs;
    c->stats = part.stats;
    c->vk = part.vk;
    c->has_vk = part.has_vk;
    memcpy(c->vk_digest, part.vk_digest, sizeof c->vk_digest);
    if (s != CUZK_OK) {
        fail_locked(e, c, &err);
        return;
    }
    c->state = CIRCUIT_LOADING;
    circuits_update_locked(e);
    pipeline_pump_locked(e);
}

static void unload_locked(struct engine *e, struct circuit *c) {
    struct r1cs *r1cs = c->r1cs;
    struct vkey vk = c->vk;
    const bool has_vk = c->has_vk;
    c->r1cs = NULL;
    c->has_vk = false;
    lock_give(&e->lock);
    destroy_part(r1cs, &vk, has_vk);
    lock_take(&e->lock);
    c->state = CIRCUIT_ABSENT;
    c->loaded = c->asked = 0;
    e->replan_due = true;
    log_line(LOG_LEVEL_INFO, "engine", "circuit %s was evicted", c->id);
    engine_wake_locked(e);
}

/* ---- the loader: one step of each kind ---- */

static bool unload_one(struct engine *e) {
    for (unsigned i = 0; i < e->n_circuits; i++) {
        struct circuit *c = &e->circuits[i];
        if (c->state == CIRCUIT_EVICTING && c->evicting == 0 && !in_flight(e, c)) {
            unload_locked(e, c);
            return true;
        }
    }
    return false;
}

/* True: something was done. */
static bool load_one(struct engine *e) {
    struct circuit *c = next_wanted(e);
    if (c == NULL) {
        end_turns(e);
        return false;
    }
    const uint64_t now = clock_ns();
    struct cuzk_error err;
    if (c->needed_ns == 0) c->needed_ns = now;
    const cuzk_status s = memory_apply_locked(e, c, &err);
    if (s == CUZK_OK) {
        end_turns(e);
        prepare_locked(e, c);
        return true;
    }
    if (s != CUZK_BUDGET_BUSY && s != CUZK_BUDGET) {
        fail_locked(e, c, &err);
        return true;
    }
    /* It fits alone, or its jobs had not been accepted: it waits for others, or for the limit to
     * rise again. */
    e->replan_due = true;
    if (!c->said_to_wait)
        log_error_record(LOG_LEVEL_INFO, "engine", &err, "circuit %s waits for room", c->id);
    c->said_to_wait = true;
    struct circuit *idle = longest_idle(e, now);
    if (idle != NULL)
        begin_eviction(e, idle);
    else
        take_turns(e, c, now);
    return idle != NULL;
}

static void replan(struct engine *e) {
    if (!e->replan_due || next_wanted(e) != NULL) return;
    struct cuzk_error err;
    const cuzk_status s = memory_apply_locked(e, NULL, &err);
    if (s == CUZK_OK) {
        pipeline_pump_locked(e);
        return;
    }
    if (s == CUZK_BUDGET_BUSY) return; /* tried again */
    struct circuit *idle = longest_idle(e, clock_ns());
    if (idle != NULL) {
        begin_eviction(e, idle);
        return;
    }
    e->replan_due = false;
    e->planned_limit = e->limit; /* until it changes again */
    log_error_record(LOG_LEVEL_WARN, "engine", &err,
                     "less memory is left than what is resident was planned with");
}

/* The counts of a circuit are recorded without the lock, once. */
static void count_wanted(struct engine *e) {
    struct circuit *c = next_wanted(e);
    if (c == NULL || c->counts != NULL) return;
    const struct plan_circuit *counts = NULL;
    struct cuzk_error err;
    lock_give(&e->lock);
    const cuzk_status s = plan_circuit_find(&counts, c->id, e->config.device_threads, &err);
    lock_take(&e->lock);
    if (s == CUZK_OK)
        c->counts = counts;
    else
        fail_locked(e, c, &err);
}

void *engine_loader(void *engine) {
    struct engine *e = engine;
    lock_take(&e->lock);
    while (!e->threads_end) {
        count_wanted(e);
        if (unload_one(e) || load_one(e)) continue;
        replan(e);
        e->replay_waits = false;
        if (replay_next_locked(e)) continue;
        if (next_wanted(e) != NULL || e->replan_due || e->replay_waits)
            (void)lock_cond_wait_until(&e->changed, &e->lock, clock_ns() + ENGINE_ROOM_RETRY_NS);
        else
            lock_cond_wait(&e->changed, &e->lock);
    }
    lock_give(&e->lock);
    return NULL;
}

/* ---- preload, evict ---- */

static cuzk_status find(struct engine *e, const char *id, struct circuit **out,
                        struct cuzk_error *err) {
    const struct porep_shape *shape = NULL;
    const cuzk_status s = circuit_find(&shape, id, NULL, err);
    if (s == CUZK_UNSUPPORTED) {
        if (err != NULL) err->code = CUZK_NOT_SERVED;
        return CUZK_NOT_SERVED;
    }
    CUZK_TRY(s);
    *out = circuit_of_shape(e, shape);
    return CUZK_OK;
}

/* Waits; the caller has counted itself among the waiters. */
static cuzk_status wait_resident_locked(struct engine *e, struct circuit *c, uint64_t until_ns,
                                        struct cuzk_error *err) {
    const unsigned failures = c->failures;
    for (;;) {
        if (c->state == CIRCUIT_RESIDENT) return CUZK_OK;
        if (c->failures != failures) {
            if (err != NULL) *err = c->error;
            return c->error.code;
        }
        if (e->stopping)
            return error_set(err, CUZK_STOPPING, c->id, NULL, "the daemon is stopping");
        if (devices_all_failed_locked(e))
            return error_set(err, CUZK_NO_DEVICE, c->id, "look at the daemon's log",
                             "all devices have failed");
        if (until_ns == 0)
            lock_cond_wait(&e->changed, &e->lock);
        else if (!lock_cond_wait_until(&e->changed, &e->lock, until_ns))
            return error_set(err, CUZK_DEADLINE, c->id, "it goes on if a job needs it",
                             "it was not resident in time");
    }
}

cuzk_status engine_preload(struct engine *e, const char *circuit, uint64_t until_ns, bool *already,
                           uint64_t *load_ms, struct cuzk_error *err) {
    struct circuit *c = NULL;
    *already = false;
    *load_ms = 0;
    CUZK_TRY(find(e, circuit, &c, err));
    struct param_place place;
    CUZK_TRY(submit_find_params(e, &place, c->shape, err));
    CUZK_TRY(memory_admit(e, c, err));
    const uint64_t begin = clock_ns();
    lock_take(&e->lock);
    *already = c->state == CIRCUIT_RESIDENT;
    c->waiters++;
    want_locked(e, c);
    const cuzk_status s = wait_resident_locked(e, c, until_ns, err);
    c->waiters--;
    if (c->references == 0 && c->state == CIRCUIT_RESIDENT) c->idle_since_ns = clock_ns();
    lock_give(&e->lock);
    if (s == CUZK_OK && !*already) *load_ms = (clock_ns() - begin) / 1000000u;
    return s;
}

cuzk_status engine_evict(struct engine *e, const char *circuit, bool *was_loaded,
                         uint64_t *freed_bytes, struct cuzk_error *err) {
    struct circuit *c = NULL;
    *was_loaded = false;
    *freed_bytes = 0;
    CUZK_TRY(find(e, circuit, &c, err));
    cuzk_status s = CUZK_OK;
    lock_take(&e->lock);
    if (is_wanted(c)) {
        s = error_set(err, CUZK_BUDGET_BUSY, c->id, "wait for its jobs, or cancel them",
                      "%u jobs need it", c->references);
    } else if (c->state == CIRCUIT_RESIDENT) {
        *was_loaded = true;
        begin_eviction(e, c);
        while (c->state == CIRCUIT_EVICTING && !e->stopping)
            lock_cond_wait(&e->changed, &e->lock);
        *freed_bytes = c->freed_bytes;
    }
    lock_give(&e->lock);
    return s;
}
