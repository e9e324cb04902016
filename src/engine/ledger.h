/*
 * The one ledger of host memory: who has reserved how much of the budget, by class.
 *
 * A job reserves before it begins, lowers its reservation as its buffers go, and releases the rest.
 * The sum of all reservations never grows beyond the limit. What does not fit now waits: higher
 * priority first, then first come, first served. Nobody is overtaken: while the first in the queue
 * does not fit, a smaller request behind it waits as well, so that a large one cannot starve. What
 * is larger than the whole limit is refused at once, with the sum.
 *
 * The limit may change at any time, also to less than what is reserved: nothing is taken back,
 * and new reservations wait until the sum has fallen far enough. A request that waits and has
 * become larger than the limit is refused then, so that it does not hold up the others.
 *
 * Whoever makes room grants it to those who wait, under the same lock, and wakes just them: no
 * wake-up is lost and nobody races for the room.
 *
 * Units: bytes. Threads: all functions may be called from any thread; a reservation is owned by one
 * thread at a time.
 */
#ifndef ENGINE_LEDGER_H
#define ENGINE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mem.h"

struct ledger;

/* One class of a request: count times bytes_each (a count of 0 means 1). */
struct ledger_item {
    uint64_t bytes_each;
    uint32_t count;
    const char *label; /* for the refusal's text, e.g. "partitions"; NULL: the class's name */
};

/* Set and read by the ledger only; begins as {false} and stays raised. */
struct ledger_cancel {
    bool raised;
};

struct ledger_request {
    struct ledger_item item[MEM_CLASSES];
    int priority;                       /* higher goes first */
    uint64_t deadline_ns;               /* on clock_ns()'s clock; 0: none */
    const struct ledger_cancel *cancel; /* may be NULL; must live until the call returns */
};

/* What one holder has reserved; {0} is empty. Changed through the functions below only. */
struct ledger_reservation {
    uint64_t bytes[MEM_CLASSES];
};

struct ledger_counters {
    uint64_t limit;
    uint64_t reserved[MEM_CLASSES];
    uint64_t reserved_total;
    uint64_t high_water[MEM_CLASSES];
    uint64_t high_water_total;
    uint64_t granted; /* requests, since the ledger was made */
    uint64_t refused; /* those that could never fit */
    unsigned waiters;
};

/* `limited_by` says what the limit comes from ("cgroup /x memory.max"); it is copied. */
CUZK_NODISCARD cuzk_status ledger_create(struct ledger **out, uint64_t limit,
                                         const char *limited_by, struct cuzk_error *err);

/* Everything must have been released; accepts NULL. */
void ledger_destroy(struct ledger *ledger);

/*
 * Reserves, and waits until there is room. A request of 0 bytes queues like any other.
 * Errors: BUDGET, it can never fit; CANCELLED; DEADLINE, it passed while waiting. *out is then
 * empty. What fits at once is granted even if the deadline has passed.
 */
CUZK_NODISCARD cuzk_status ledger_reserve(struct ledger *ledger, const struct ledger_request *req,
                                          struct ledger_reservation *out, struct cuzk_error *err);

/*
 * Reserves without waiting. Errors: as above, and BUDGET_BUSY: it does not fit now, or others of
 * the same or a higher priority wait already.
 */
CUZK_NODISCARD cuzk_status ledger_try_reserve(struct ledger *ledger,
                                              const struct ledger_request *req,
                                              struct ledger_reservation *out,
                                              struct cuzk_error *err);

/* Lowers what is reserved of a class to `bytes`, which may not be more than it is. */
void ledger_shrink(struct ledger *ledger, struct ledger_reservation *r, enum mem_class kind,
                   uint64_t bytes);

/* Gives all of it back and empties it; an empty one is left alone. */
void ledger_release(struct ledger *ledger, struct ledger_reservation *r);

/* Raises the flag, and wakes those who wait with it; they return CANCELLED. */
void ledger_cancel(struct ledger *ledger, struct ledger_cancel *cancel);

void ledger_set_limit(struct ledger *ledger, uint64_t limit, const char *limited_by);

struct ledger_counters ledger_read(struct ledger *ledger);

#endif
