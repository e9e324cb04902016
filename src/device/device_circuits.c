/* Circuits of a device's process: the thread that makes the self-test, loads, and evicts. */
#include <assert.h>
#include <string.h>

#include "clock.h"
#include "device_process_internal.h"
#include "error.h"

static const uint64_t report_every_ns = 100000000u;

struct circuit *circuits_find(struct process *p, const char *id) {
    for (size_t i = 0; i < DEVICE_MAX_CIRCUITS; i++)
        if (strcmp(p->circuits[i].id, id) == 0) return &p->circuits[i];
    return NULL;
}

void circuits_request(struct process *p, bool load, const struct device_circuit_request *what) {
    lock_take(&p->lock);
    if (p->n_requests == sizeof p->requests / sizeof p->requests[0])
        process_break(p, load ? "LOAD" : "EVICT", "too many wait");
    p->requests[p->n_requests++] = (struct request){.load = load, .what = *what};
    lock_cond_wake_all(&p->changed);
    lock_give(&p->lock);
}

static struct request next_request(struct process *p) {
    lock_take(&p->lock);
    while (p->n_requests == 0)
        lock_cond_wait(&p->changed, &p->lock);
    const struct request r = p->requests[0];
    p->n_requests--;
    memmove(p->requests, p->requests + 1, p->n_requests * sizeof r);
    lock_give(&p->lock);
    return r;
}

/* ---- loading ---- */

struct loading {
    const struct process *process;
    const char *id;
    uint64_t reported_ns;
};

static void report(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    struct loading *l = ctx;
    struct device_message m;
    const uint64_t now = clock_ns();
    if (l->reported_ns != 0 && now - l->reported_ns < report_every_ns) return;
    l->reported_ns = now;
    device_message_init(&m, DEVICE_PROGRESS);
    memcpy(m.body.progress.circuit_id, l->id, CIRCUIT_ID_BYTES);
    if (!device_text_set(m.body.progress.phase, sizeof m.body.progress.phase, phase)) return;
    m.body.progress.done = total != 0 && done > total ? total : done;
    m.body.progress.total = total;
    process_send(l->process, &m);
}

static void send_report(const struct process *p, enum device_message_kind kind, const char *id,
                        const struct circuit *c) {
    struct device_message m;
    device_message_init(&m, kind);
    struct device_circuit_report *r = &m.body.report;
    memcpy(r->circuit_id, id, sizeof r->circuit_id);
    r->srs_bytes = c->run.srs_bytes;
    r->matrices_bytes = c->run.matrices_bytes;
    if (kind == DEVICE_LOADED) {
        r->seconds = c->seconds;
        r->development = c->run.development;
        memcpy(r->vkey_digest, c->run.vkey_digest, sizeof r->vkey_digest);
    }
    process_send(p, &m);
}

static void load_failed(const struct process *p, const char *id, const struct cuzk_error *err) {
    struct device_message m;
    device_message_init(&m, DEVICE_LOAD_FAILED);
    memcpy(m.body.failure.circuit_id, id, CIRCUIT_ID_BYTES);
    device_failure_set(&m.body.failure, err);
    process_send(p, &m);
}

static void load(struct process *p, const struct device_circuit_request *what) {
    struct circuit loaded = {0};
    struct loading l = {.process = p, .id = what->circuit_id};
    const struct progress progress = {.report = report, .ctx = &l};
    struct cuzk_error err;
    lock_take(&p->lock);
    const struct circuit *known = circuits_find(p, what->circuit_id);
    struct circuit *place = circuits_find(p, "");
    if (known != NULL) loaded = *known;
    lock_give(&p->lock);
    if (known == NULL) {
        const uint64_t began_ns = clock_ns();
        report(&l, "load", 0, 0);
        cuzk_status s = CUZK_OK;
        if (place == NULL)
            s = error_set(&err, CUZK_NO_MEMORY, what->circuit_id, "evict another circuit",
                          "as many circuits are resident as there may be");
        else
            s = p->runner->load(p->self, &loaded.run, what->circuit_id, what->path, &progress,
                                &err);
        if (s != CUZK_OK) {
            load_failed(p, what->circuit_id, &err);
            return;
        }
        loaded.seconds = clock_seconds_since(began_ns);
        memcpy(loaded.id, what->circuit_id, sizeof loaded.id);
        lock_take(&p->lock);
        *place = loaded; /* only this thread changes the table */
        lock_give(&p->lock);
    }
    send_report(p, DEVICE_LOADED, what->circuit_id, &loaded);
}

/* Waits until the tasks that use it are through. */
static void evict(struct process *p, const struct device_circuit_request *what) {
    struct circuit old = {0};
    lock_take(&p->lock);
    struct circuit *c = circuits_find(p, what->circuit_id);
    if (c != NULL) {
        c->leaving = true;
        while (c->uses > 0)
            lock_cond_wait(&p->changed, &p->lock);
        old = *c;
        *c = (struct circuit){0};
    }
    lock_give(&p->lock);
    if (c != NULL) p->runner->evict(p->self, old.run.state);
    send_report(p, DEVICE_EVICTED, what->circuit_id, &old);
}

static void come_up(struct process *p) {
    struct device_message m;
    struct cuzk_error err;
    void *self = NULL;
    device_message_init(&m, DEVICE_UP);
    const bool fits = device_text_set(m.body.up.backend, sizeof m.body.up.backend, p->runner->name);
    assert(fits);
    (void)fits;
    if (p->runner->create(&self, &p->config, m.body.up.name, &err) != CUZK_OK)
        process_fail(p, &err);
    process_send(p, &m); /* before any other message but PONG */
    lock_take(&p->lock);
    p->self = self;
    p->up = true;
    lock_cond_wake_all(&p->changed);
    lock_give(&p->lock);
}

void *circuits_thread(void *arg) {
    struct process *p = arg;
    come_up(p);
    for (;;) {
        const struct request r = next_request(p);
        if (r.load)
            load(p, &r.what);
        else
            evict(p, &r.what);
    }
    return NULL;
}
