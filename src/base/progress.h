/*
 * Progress of long work, and the flag that ends it early.
 *
 * Long functions take a `const struct progress *` (NULL: nobody watches). They call
 * progress_report() now and then from the calling thread only, and look at progress_cancelled()
 * between phases; work that is cancelled returns CUZK_CANCELLED after it has joined what it began.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    /* done of total units of the named phase; total 0: unknown. May be NULL. */
    void (*report)(void *ctx, const char *phase, uint64_t done, uint64_t total);
    void *ctx;
    const atomic_bool *cancel; /* may be NULL */
};

static inline void progress_report(const struct progress *p, const char *phase, uint64_t done,
                                   uint64_t total) {
    if (p != NULL && p->report != NULL) p->report(p->ctx, phase, done, total);
}

static inline bool progress_cancelled(const struct progress *p) {
    return p != NULL && p->cancel != NULL && atomic_load(p->cancel);
}

#endif
