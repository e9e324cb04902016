/*
 * Mutexes with ranks, and conditions on the monotonic clock.
 *
 * A thread may take a lock only if its rank is higher than that of every lock the thread holds.
 * Debug builds (NDEBUG not defined) assert it, so that a cycle shows in any test that walks the
 * path, not only in the run that deadlocks.
 *
 * Threads: a lock may be used from any thread; who took it gives it.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* In the order in which they may be nested, outermost first. */
enum lock_rank {
    LOCK_SERVER, /* rpc and http: calls and connections */
    LOCK_ENGINE, /* jobs, flow, residency */
    LOCK_DEVICE, /* a device link */
    LOCK_JOURNAL,
    LOCK_LEDGER,
    LOCK_SLABS,
    LOCK_LOG,
    LOCK_MEM, /* kept blocks of mem.h */
    LOCK_RANKS
};

struct lock {
    pthread_mutex_t mutex;
    enum lock_rank rank;
};

void lock_init(struct lock *lock, enum lock_rank rank);
void lock_destroy(struct lock *lock);
void lock_take(struct lock *lock);
void lock_give(struct lock *lock);

/* A condition of one lock. */
struct lock_cond {
    pthread_cond_t cond;
};
void lock_cond_init(struct lock_cond *c);
void lock_cond_destroy(struct lock_cond *c);
void lock_cond_wait(struct lock_cond *c, struct lock *lock);
/* Waits until clock_ns() is `until_ns` at the latest; false: that time has come. */
bool lock_cond_wait_until(struct lock_cond *c, struct lock *lock, uint64_t until_ns);
void lock_cond_wake_one(struct lock_cond *c);
void lock_cond_wake_all(struct lock_cond *c);

#endif
