#include "ledger.h"

#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget_source.h"
#include "clock.h"

enum outcome { WAITING, GRANTED, TOO_LARGE, GIVEN_UP };

/* A request in the queue; it lives on the stack of the thread that waits. */
struct waiter {
    struct waiter *next;
    const struct ledger_request *req;
    const struct ledger_reservation *need;
    uint64_t total;
    enum outcome outcome;
    pthread_cond_t wake;
};

struct ledger {
    pthread_mutex_t lock; /* guards all that follows, and every ledger_cancel */
    struct ledger_counters count;
    struct waiter *queue; /* by falling priority, then by arrival */
    char limited_by[128];
};

static void lock(struct ledger *l) {
    pthread_mutex_lock(&l->lock);
}

static void unlock(struct ledger *l) {
    pthread_mutex_unlock(&l->lock);
}

/* Adds up a request. False: the sum is beyond what 64 bits hold; *total is then UINT64_MAX. */
static bool add_up(const struct ledger_request *req, struct ledger_reservation *need,
                   uint64_t *total) {
    bool fits = true;
    *total = 0;
    for (int k = 0; k < MEM_CLASSES; k++) {
        const struct ledger_item *i = &req->item[k];
        const uint64_t n = i->count != 0 ? i->count : 1;
        fits = fits && !__builtin_mul_overflow(i->bytes_each, n, &need->bytes[k]) &&
               !__builtin_add_overflow(*total, need->bytes[k], total);
    }
    if (!fits) *total = UINT64_MAX;
    return fits;
}

static bool has_room(const struct ledger *l, uint64_t total) {
    return l->count.reserved_total <= l->count.limit &&
           total <= l->count.limit - l->count.reserved_total;
}

static void book(struct ledger *l, const struct ledger_reservation *need, uint64_t total) {
    struct ledger_counters *c = &l->count;
    for (int k = 0; k < MEM_CLASSES; k++) {
        c->reserved[k] += need->bytes[k];
        if (c->reserved[k] > c->high_water[k]) c->high_water[k] = c->reserved[k];
    }
    c->reserved_total += total;
    if (c->reserved_total > c->high_water_total) c->high_water_total = c->reserved_total;
    c->granted++;
    assert(c->reserved_total <= c->limit);
}

static void take_out(struct ledger *l, struct waiter **at, enum outcome outcome) {
    struct waiter *w = *at;
    *at = w->next;
    l->count.waiters--;
    w->outcome = outcome;
    pthread_cond_signal(&w->wake);
}

/* After anything that may have made room: grants to the first in the queue while they fit. */
static void serve(struct ledger *l) {
    while (l->queue != NULL && has_room(l, l->queue->total)) {
        book(l, l->queue->need, l->queue->total);
        take_out(l, &l->queue, GRANTED);
    }
}

static bool cancelled(const struct ledger_request *req) {
    return req->cancel != NULL && req->cancel->raised;
}

/* Whether nobody waits whom a request of this priority would overtake. */
static bool is_first(const struct ledger *l, int priority) {
    return l->queue == NULL || l->queue->req->priority < priority;
}

static void enqueue(struct ledger *l, struct waiter *w) {
    struct waiter **at = &l->queue;
    while (*at != NULL && (*at)->req->priority >= w->req->priority)
        at = &(*at)->next;
    w->next = *at;
    *at = w;
    l->count.waiters++;
}

/* A waiter that gives up may have been the one that the others had to wait for. */
static void give_up(struct ledger *l, struct waiter *w) {
    struct waiter **at = &l->queue;
    while (*at != w)
        at = &(*at)->next;
    take_out(l, at, GIVEN_UP);
    serve(l);
}

/* Waits, with the lock held, until the request is granted, refused, cancelled or too late. */
static enum outcome wait_in_queue(struct ledger *l, struct waiter *w) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &attr);
    pthread_condattr_destroy(&attr);
    const uint64_t deadline = w->req->deadline_ns;
    const struct timespec until = {.tv_sec = (time_t)(deadline / 1000000000u),
                                   .tv_nsec = (long)(deadline % 1000000000u)};
    enqueue(l, w);
    while (w->outcome == WAITING) {
        if (cancelled(w->req) || (deadline != 0 && clock_ns() >= deadline)) {
            give_up(l, w);
        } else if (deadline != 0) {
            pthread_cond_timedwait(&w->wake, &l->lock, &until);
        } else {
            pthread_cond_wait(&w->wake, &l->lock);
        }
    }
    pthread_cond_destroy(&w->wake);
    return w->outcome;
}

struct text {
    char s[176];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(t->s + t->length, sizeof t->s - t->length, fmt, args);
    va_end(args);
    if (n > 0) t->length += (size_t)n;
    if (t->length >= sizeof t->s) t->length = sizeof t->s - 1;
}

/* The sum as `srs 44.1 + 2 partitions x 13.6`. */
static struct text sum_text(const struct ledger_request *req) {
    struct text t = {.s = ""};
    for (int k = 0; k < MEM_CLASSES; k++) {
        const struct ledger_item *i = &req->item[k];
        if (i->bytes_each == 0) continue;
        const char *label = i->label != NULL ? i->label : mem_class_name((enum mem_class)k);
        if (t.length > 0) put(&t, " + ");
        if (i->count > 1) {
            put(&t, "%u %s x %s", i->count, label, gib_text(i->bytes_each).s);
        } else {
            put(&t, "%s %s", label, gib_text(i->bytes_each).s);
        }
    }
    return t;
}

/* Called with the lock held: the limit's name may change. */
static cuzk_status too_large(struct ledger *l, const struct ledger_request *req, uint64_t total,
                             struct cuzk_error *err) {
    l->count.refused++;
    return error_set(err, CUZK_BUDGET, "memory",
                     "lower the partitions in flight or raise the limit",
                     "needs %s GiB (%s); budget is %s GiB, limited by %s", gib_text(total).s,
                     sum_text(req).s, gib_text(l->count.limit).s, l->limited_by);
}

static cuzk_status busy(struct ledger *l, uint64_t total, struct cuzk_error *err) {
    return error_set(err, CUZK_BUDGET_BUSY, "memory", "wait, or try again later",
                     "needs %s GiB; of %s GiB %s are reserved and %u requests wait",
                     gib_text(total).s, gib_text(l->count.limit).s,
                     gib_text(l->count.reserved_total).s, l->count.waiters);
}

static cuzk_status was_cancelled(struct cuzk_error *err) {
    return error_set(err, CUZK_CANCELLED, "memory", NULL, "cancelled while it waited for memory");
}

static cuzk_status queue_up(struct ledger *l, const struct ledger_request *req,
                            const struct ledger_reservation *need, uint64_t total,
                            struct cuzk_error *err) {
    struct waiter w = {.req = req, .need = need, .total = total, .outcome = WAITING};
    const uint64_t start = clock_ns();
    switch (wait_in_queue(l, &w)) {
    case GRANTED:
        return CUZK_OK;
    case TOO_LARGE:
        return too_large(l, req, total, err);
    default:
        break;
    }
    if (cancelled(req)) return was_cancelled(err);
    return error_set(err, CUZK_DEADLINE, "memory", "give it more time, or let fewer jobs run",
                     "waited %.3f s for %s GiB", clock_seconds_since(start), gib_text(total).s);
}

static cuzk_status reserve(struct ledger *l, const struct ledger_request *req, bool may_wait,
                           struct ledger_reservation *out, struct cuzk_error *err) {
    struct ledger_reservation need = {{0}};
    uint64_t total = 0;
    const bool countable = add_up(req, &need, &total);
    *out = (struct ledger_reservation){{0}};
    cuzk_status status = CUZK_OK;
    lock(l);
    if (cancelled(req)) {
        status = was_cancelled(err);
    } else if (!countable || total > l->count.limit) {
        status = too_large(l, req, total, err);
    } else if (is_first(l, req->priority) && has_room(l, total)) {
        book(l, &need, total);
    } else if (may_wait) {
        status = queue_up(l, req, &need, total, err);
    } else {
        status = busy(l, total, err);
    }
    unlock(l);
    if (status == CUZK_OK) *out = need;
    return status;
}

cuzk_status ledger_reserve(struct ledger *ledger, const struct ledger_request *req,
                           struct ledger_reservation *out, struct cuzk_error *err) {
    return reserve(ledger, req, true, out, err);
}

cuzk_status ledger_try_reserve(struct ledger *ledger, const struct ledger_request *req,
                               struct ledger_reservation *out, struct cuzk_error *err) {
    return reserve(ledger, req, false, out, err);
}

static void lower(struct ledger *l, struct ledger_reservation *r, int kind, uint64_t bytes) {
    assert(bytes <= r->bytes[kind]);
    const uint64_t back = r->bytes[kind] - bytes;
    assert(back <= l->count.reserved[kind]);
    l->count.reserved[kind] -= back;
    l->count.reserved_total -= back;
    r->bytes[kind] = bytes;
}

void ledger_shrink(struct ledger *ledger, struct ledger_reservation *r, enum mem_class kind,
                   uint64_t bytes) {
    lock(ledger);
    lower(ledger, r, (int)kind, bytes);
    serve(ledger);
    unlock(ledger);
}

void ledger_release(struct ledger *ledger, struct ledger_reservation *r) {
    lock(ledger);
    for (int k = 0; k < MEM_CLASSES; k++)
        lower(ledger, r, k, 0);
    serve(ledger);
    unlock(ledger);
}

void ledger_cancel(struct ledger *ledger, struct ledger_cancel *cancel) {
    lock(ledger);
    cancel->raised = true;
    for (struct waiter **at = &ledger->queue; *at != NULL;) {
        if (cancelled((*at)->req)) {
            take_out(ledger, at, GIVEN_UP);
        } else {
            at = &(*at)->next;
        }
    }
    serve(ledger);
    unlock(ledger);
}

static void name_limit(struct ledger *l, uint64_t limit, const char *limited_by) {
    l->count.limit = limit;
    snprintf(l->limited_by, sizeof l->limited_by, "%s", limited_by);
}

void ledger_set_limit(struct ledger *ledger, uint64_t limit, const char *limited_by) {
    lock(ledger);
    name_limit(ledger, limit, limited_by);
    for (struct waiter **at = &ledger->queue; *at != NULL;) {
        if ((*at)->total > limit) {
            take_out(ledger, at, TOO_LARGE);
        } else {
            at = &(*at)->next;
        }
    }
    serve(ledger);
    unlock(ledger);
}

struct ledger_counters ledger_read(struct ledger *ledger) {
    lock(ledger);
    const struct ledger_counters count = ledger->count;
    unlock(ledger);
    return count;
}

cuzk_status ledger_create(struct ledger **out, uint64_t limit, const char *limited_by,
                          struct cuzk_error *err) {
    *out = NULL;
    struct ledger *l = calloc(1, sizeof *l);
    if (l == NULL)
        return error_set(err, CUZK_NO_MEMORY, "memory ledger", NULL, "%zu bytes", sizeof *l);
    pthread_mutex_init(&l->lock, NULL);
    name_limit(l, limit, limited_by);
    *out = l;
    return CUZK_OK;
}

void ledger_destroy(struct ledger *ledger) {
    if (ledger == NULL) return;
    assert(ledger->queue == NULL && ledger->count.reserved_total == 0);
    pthread_mutex_destroy(&ledger->lock);
    free(ledger);
}
