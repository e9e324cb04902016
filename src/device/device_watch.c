/* The link's own thread: sends what is queued, turns messages into events, watches the clock. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "device_link_internal.h"
#include "device_spawn.h"
#include "log.h"

static const uint64_t second_ns = 1000000000u;

/* Messages taken before the clock and the queue are looked at again. */
enum { TURN = 64 };

/* ---- messages to events; all with the lock held ---- */

static cuzk_status nonsense(unsigned kind, const char *what, struct cuzk_error *err) {
    return error_set(err, CUZK_DEVICE_PROTOCOL, device_message_name(kind),
                     "report this, with the device's log", "%s", what);
}

static struct link_task *find_task(struct device_link *link, uint64_t task) {
    for (size_t i = 0; i < DEVICE_MAX_TASKS; i++)
        if (task != 0 && link->tasks[i].task == task) return &link->tasks[i];
    return NULL;
}

static struct link_circuit *find_circuit(struct device_link *link, const char *id) {
    for (size_t i = 0; i < DEVICE_MAX_CIRCUITS; i++) {
        struct link_circuit *c = &link->circuits[i];
        if (c->loads + c->evictions > 0 && strcmp(c->circuit_id, id) == 0) return c;
    }
    return NULL;
}

static void set_event_task(struct device_event *e, const struct link_task *t) {
    e->task = t->task;
    memcpy(e->circuit_id, t->circuit_id, sizeof e->circuit_id);
}

static void set_event_timings(struct device_event *e, const struct device_seconds *s) {
    e->timings = (struct device_timings){.queue = s->queue, .prover = s->prover};
}

static void end_task(struct device_link *link, struct link_task *t) {
    *t = (struct link_task){0};
    link->n_tasks--;
}

static cuzk_status on_task(struct device_link *link, const struct device_message *m, uint64_t task,
                           struct device_event *e, struct cuzk_error *err) {
    struct link_task *t = find_task(link, task);
    if (t == NULL) return nonsense(m->head.kind, "it is of a task that is not under way", err);
    t->heard_ns = link->progress_ns = clock_ns();
    set_event_task(e, t);
    switch (m->head.kind) {
    case DEVICE_PROGRESS:
        t->working = true;
        break;
    case DEVICE_STARTED:
        if (t->started) return nonsense(m->head.kind, "the task had started before", err);
        t->started = true;
        t->working = false;
        e->kind = EVENT_STARTED;
        set_event_timings(e, &m->body.started.seconds);
        break;
    case DEVICE_PROVED:
        if (!t->started) return nonsense(m->head.kind, "the task has not started", err);
        e->kind = EVENT_PROVED;
        memcpy(e->proof, m->body.proved.proof, sizeof e->proof);
        set_event_timings(e, &m->body.proved.seconds);
        end_task(link, t);
        break;
    default: /* DEVICE_FAILED */
        e->kind = EVENT_FAILED;
        device_failure_get(&m->body.failure, &e->error);
        end_task(link, t);
    }
    return CUZK_OK;
}

static cuzk_status on_circuit(struct device_link *link, const struct device_message *m,
                              const char *id, struct device_event *e, struct cuzk_error *err) {
    struct link_circuit *c = find_circuit(link, id);
    const bool eviction = m->head.kind == DEVICE_EVICTED;
    /* Refused loads were never sent. */
    if (c == NULL || (eviction ? c->evictions : c->loads - c->refused) == 0)
        return nonsense(m->head.kind, "nobody has asked for this", err);
    c->heard_ns = link->progress_ns = clock_ns();
    memcpy(e->circuit_id, c->circuit_id, sizeof e->circuit_id);
    if (m->head.kind == DEVICE_PROGRESS) {
        c->working = true;
        return CUZK_OK;
    }
    if (eviction)
        c->evictions--;
    else
        c->loads--;
    c->working = false;
    if (m->head.kind == DEVICE_LOAD_FAILED) {
        e->kind = EVENT_LOAD_FAILED;
        device_failure_get(&m->body.failure, &e->error);
        return CUZK_OK;
    }
    const struct device_circuit_report *r = &m->body.report;
    e->kind = eviction ? EVENT_EVICTED : EVENT_LOADED;
    e->srs_bytes = r->srs_bytes;
    e->matrices_bytes = r->matrices_bytes;
    e->seconds = r->seconds;
    e->development = r->development != 0;
    memcpy(e->vkey.bytes, r->vkey_digest, sizeof e->vkey.bytes);
    return CUZK_OK;
}

static cuzk_status on_progress(struct device_link *link, const struct device_message *m,
                               struct device_event *e, struct cuzk_error *err) {
    const struct device_progress *p = &m->body.progress;
    e->kind = EVENT_PROGRESS;
    e->phase = p->phase;
    e->done = p->done;
    e->total = p->total;
    return p->task != 0 ? on_task(link, m, p->task, e, err)
                        : on_circuit(link, m, p->circuit_id, e, err);
}

/* What a message means; *tell: the event is for the caller. An error ends the device. */
static cuzk_status on_message(struct device_link *link, const struct device_message *m,
                              struct device_event *e, bool *tell, struct cuzk_error *err) {
    const unsigned kind = m->head.kind;
    link->answer_ns = clock_ns();
    *tell = kind != DEVICE_PONG;
    if (!link->up && kind != DEVICE_UP && kind != DEVICE_PONG && kind != DEVICE_FATAL)
        return nonsense(kind, "the device has not said that it is up", err);
    switch (kind) {
    case DEVICE_UP:
        if (link->up) return nonsense(kind, "it came twice", err);
        link->up = true;
        link->progress_ns = link->answer_ns;
        link->identity = m->body.up;
        e->kind = EVENT_UP;
        return CUZK_OK;
    case DEVICE_PONG:
        if (!link->ping_open || m->body.pong.number != link->ping_number)
            return nonsense(kind, "nobody has asked for this", err);
        link->ping_open = false;
        link->pong = m->body.pong;
        return CUZK_OK;
    case DEVICE_FATAL:
        device_failure_get(&m->body.failure, err);
        return err->code;
    case DEVICE_PROGRESS:
        return on_progress(link, m, e, err);
    case DEVICE_STARTED:
        return on_task(link, m, m->body.started.task, e, err);
    case DEVICE_PROVED:
        return on_task(link, m, m->body.proved.task, e, err);
    case DEVICE_FAILED:
        return on_task(link, m, m->body.failure.task, e, err);
    case DEVICE_LOAD_FAILED:
        return on_circuit(link, m, m->body.failure.circuit_id, e, err);
    default: /* LOADED, EVICTED */
        return on_circuit(link, m, m->body.report.circuit_id, e, err);
    }
}

/* ---- receiving ---- */

/* Takes what is there. *all: nothing more is. Errors: the device's end; DEVICE_LOST without a text:
 * the socket is closed. */
static cuzk_status receive(struct device_link *link, bool *all, struct cuzk_error *err) {
    *all = false;
    for (int i = 0; i < TURN; i++) {
        struct device_message m;
        struct device_event e = {0};
        enum device_receipt receipt;
        int fd;
        bool tell;
        CUZK_TRY(device_receive(link->socket, &m, &fd, &receipt, FROM_DEVICE, err));
        if (receipt == RECEIVED_NOTHING) {
            *all = true;
            return CUZK_OK;
        }
        if (receipt == RECEIVED_END) {
            *err = (struct cuzk_error){.code = CUZK_DEVICE_LOST};
            return err->code;
        }
        lock_take(&link->lock);
        const cuzk_status s = on_message(link, &m, &e, &tell, err);
        lock_give(&link->lock);
        if (s != CUZK_OK) return s;
        if (tell) link->fn(link->ctx, &e);
    }
    return CUZK_OK;
}

/* ---- sending ---- */

/* Sends what the socket takes; what is left waits for POLLOUT. A closed socket shows when it is
 * read. */
static void flush(struct device_link *link) {
    lock_take(&link->lock);
    while (link->first != NULL) {
        struct outgoing *o = link->first;
        if (device_send(link->socket, &o->message, o->fd, false) == SEND_LATER) break;
        link->first = o->next;
        if (link->first == NULL) link->last = NULL;
        if (o->fd >= 0) close(o->fd);
        free(o);
    }
    lock_give(&link->lock);
}

/* Loads whose path no message can hold. */
static void answer_refused(struct device_link *link) {
    for (size_t i = 0; i < DEVICE_MAX_CIRCUITS; i++) {
        struct link_circuit *c = &link->circuits[i];
        struct device_event e = {.kind = EVENT_LOAD_FAILED};
        lock_take(&link->lock);
        const bool refused = c->refused > 0;
        if (refused) {
            c->refused--;
            c->loads--;
            memcpy(e.circuit_id, c->circuit_id, sizeof e.circuit_id);
        }
        lock_give(&link->lock);
        if (!refused) continue;
        error_set(&e.error, CUZK_USAGE, "parameters", "use a shorter path",
                  "the path is empty, too long, or has control characters");
        link->fn(link->ctx, &e);
    }
}

/* ---- the clock; with the lock held ---- */

static cuzk_status hang(struct device_link *link, const char *what, uint64_t since_ns,
                        struct cuzk_error *err) {
    char where[64];
    snprintf(where, sizeof where, "device %s, process %d", link->backend, (int)link->pid);
    return error_set(err, CUZK_DEVICE_HANG, where, "see the log for what it did last",
                     "%s for %.1f s", what, clock_seconds_since(since_ns));
}

static bool overdue(uint64_t since_ns, uint64_t timeout_ns, uint64_t now_ns) {
    return now_ns > since_ns && now_ns - since_ns > timeout_ns;
}

/* Those that work are looked at one by one; those that wait for their turn, all together. */
static cuzk_status watch_progress(struct device_link *link, uint64_t now_ns,
                                  struct cuzk_error *err) {
    const uint64_t limit = link->progress_timeout_ns;
    bool waiting = !link->up;
    for (size_t i = 0; i < DEVICE_MAX_TASKS; i++) {
        const struct link_task *t = &link->tasks[i];
        if (t->task != 0 && !t->working) waiting = true;
        if (t->task != 0 && t->working && overdue(t->heard_ns, limit, now_ns))
            return hang(link, "no progress of a task", t->heard_ns, err);
    }
    for (size_t i = 0; i < DEVICE_MAX_CIRCUITS; i++) {
        const struct link_circuit *c = &link->circuits[i];
        const bool open = c->loads + c->evictions > 0;
        if (open && !c->working) waiting = true;
        if (open && c->working && overdue(c->heard_ns, limit, now_ns))
            return hang(link, "no progress of a load", c->heard_ns, err);
    }
    if (waiting && overdue(link->progress_ns, limit, now_ns))
        return hang(link, link->up ? "no progress" : "no end of the self-test", link->progress_ns,
                    err);
    return CUZK_OK;
}

static cuzk_status watch(struct device_link *link, struct cuzk_error *err) {
    const uint64_t now = clock_ns();
    if (link->no_memory)
        return error_set(err, CUZK_NO_MEMORY, "device", "free memory or descriptors",
                         "a message to the device could not be kept");
    if (link->kill)
        return error_set(err, CUZK_DEVICE_LOST, "device", NULL, "it was killed on request");
    if (link->quit) {
        if (!overdue(link->quit_ns, second_ns, now)) return CUZK_OK;
        return error_set(err, CUZK_DEVICE_LOST, "device", NULL,
                         "it did not end when it was told to");
    }
    if (link->ping_open && overdue(link->ping_ns, link->ping_timeout_ns, now))
        return hang(link, "no answer", link->ping_ns, err);
    if (!link->ping_open && now - link->ping_ns >= link->ping_every_ns) {
        struct device_message m;
        device_message_init(&m, DEVICE_PING);
        m.body.ping.number = ++link->ping_number;
        link->ping_ns = now;
        link->ping_open = true;
        link_enqueue(link, &m, -1);
    }
    return watch_progress(link, now, err);
}

/* Until the next look at the clock: precise enough for timeouts of some tenths of a second. */
static int pause_ms(const struct device_link *link) {
    uint64_t ns = link->ping_every_ns;
    if (link->progress_timeout_ns / 8 < ns) ns = link->progress_timeout_ns / 8;
    if (link->quit && ns > second_ns / 8) ns = second_ns / 8;
    return ns < 1000000 ? 1 : (int)(ns / 1000000);
}

/* ---- the end ---- */

static void describe_end(const struct device_link *link, int status, struct cuzk_error *err) {
    char where[64];
    snprintf(where, sizeof where, "device %s, process %d", link->backend, (int)link->pid);
    if (link->quit)
        error_set(err, CUZK_DEVICE_LOST, where, NULL, "it ended as it was told to");
    else if (status >= 0 && WIFSIGNALED(status))
        error_set(err, CUZK_DEVICE_LOST, where,
                  WTERMSIG(status) == SIGKILL ? "look for the out-of-memory killer in the kernel's "
                                                "log"
                                              : "see the device's log",
                  "it ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (status >= 0 && WIFEXITED(status))
        error_set(err, CUZK_DEVICE_LOST, where, "see the device's log",
                  "it ended with exit code %d", WEXITSTATUS(status));
    else
        error_set(err, CUZK_DEVICE_LOST, where, "see the device's log", "it ended");
}

/* Ends the process whatever its state, and tells the caller. */
static void end(struct device_link *link, struct cuzk_error *why) {
    int status = -1;
    struct device_event e = {.kind = EVENT_LOST};
    lock_take(&link->lock);
    link->lost = true;
    link->up = false;
    link->n_tasks = 0;
    lock_give(&link->lock);
    const bool closed = why->code == CUZK_DEVICE_LOST && why->what[0] == '\0';
    close(link->socket);
    /* One that ends by itself says more of the reason than one that is killed. */
    bool gone = closed && device_reap(link->pid, second_ns / 2, &status);
    if (!gone) {
        kill(link->pid, SIGKILL);
        gone = device_reap(link->pid, 5 * second_ns, &status);
    }
    if (closed) describe_end(link, status, why);
    e.error = *why;
    if (!gone)
        log_error_record(LOG_LEVEL_ERROR, "device", why,
                         "process %d does not end and is left behind", (int)link->pid);
    link->fn(link->ctx, &e);
}

static cuzk_status turn(struct device_link *link, struct cuzk_error *err) {
    bool all;
    lock_take(&link->lock);
    struct pollfd fds[] = {
        {.fd = link->socket, .events = (short)(POLLIN | (link->first != NULL ? POLLOUT : 0))},
        {.fd = link->wake, .events = POLLIN},
    };
    const int timeout = pause_ms(link);
    lock_give(&link->lock);
    if (poll(fds, 2, timeout) > 0 && fds[1].revents != 0) {
        uint64_t count;
        if (read(link->wake, &count, sizeof count) < 0 && errno != EAGAIN) abort();
    }
    answer_refused(link);
    CUZK_TRY(receive(link, &all, err));
    /* The clock counts only when all that has come was read: this thread may itself have been held
     * up by an event. */
    cuzk_status s = CUZK_OK;
    lock_take(&link->lock);
    if (all || link->kill || link->quit) s = watch(link, err);
    lock_give(&link->lock);
    if (s == CUZK_OK) flush(link);
    return s;
}

void *link_thread(void *arg) {
    struct device_link *link = arg;
    struct cuzk_error err = {.code = CUZK_OK};
    flush(link);
    while (turn(link, &err) == CUZK_OK) {
    }
    end(link, &err);
    return NULL;
}
