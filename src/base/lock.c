#include "lock.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bit r: this thread holds a lock of rank r. One bit is enough, as ranks must rise. */
static _Thread_local unsigned held_ranks;

/* A failing mutex is memory that was overwritten or never initialised; nothing can go on. */
static void must(int code, const char *call) {
    if (code == 0) return;
    fprintf(stderr, "%s: %s\n", call, strerror(code));
    abort();
}

static void note_taken(const struct lock *lock) {
    assert((unsigned)lock->rank < LOCK_RANKS);
    assert(held_ranks >> lock->rank == 0 && "locks are taken in the order of their ranks");
    held_ranks |= 1u << lock->rank;
}

static void note_given(const struct lock *lock) {
    assert((held_ranks >> lock->rank & 1) != 0 && "who took a lock gives it");
    held_ranks &= ~(1u << lock->rank);
}

/* A wait takes its lock again while the others are held, so that none of them may rank higher. */
static void check_wait(const struct lock *lock) {
    assert(held_ranks >> lock->rank == 1 && "a wait is on the innermost lock");
    (void)lock;
}

void lock_init(struct lock *lock, enum lock_rank rank) {
    must(pthread_mutex_init(&lock->mutex, NULL), "pthread_mutex_init");
    lock->rank = rank;
}

void lock_destroy(struct lock *lock) {
    must(pthread_mutex_destroy(&lock->mutex), "pthread_mutex_destroy");
}

void lock_take(struct lock *lock) {
    note_taken(lock); /* before it can block: a wrong order shall abort, not hang */
    must(pthread_mutex_lock(&lock->mutex), "pthread_mutex_lock");
}

void lock_give(struct lock *lock) {
    note_given(lock);
    must(pthread_mutex_unlock(&lock->mutex), "pthread_mutex_unlock");
}

void lock_cond_init(struct lock_cond *c) {
    pthread_condattr_t attr;
    must(pthread_condattr_init(&attr), "pthread_condattr_init");
    must(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC), "pthread_condattr_setclock");
    must(pthread_cond_init(&c->cond, &attr), "pthread_cond_init");
    pthread_condattr_destroy(&attr);
}

void lock_cond_destroy(struct lock_cond *c) {
    must(pthread_cond_destroy(&c->cond), "pthread_cond_destroy");
}

void lock_cond_wait(struct lock_cond *c, struct lock *lock) {
    check_wait(lock);
    must(pthread_cond_wait(&c->cond, &lock->mutex), "pthread_cond_wait");
}

bool lock_cond_wait_until(struct lock_cond *c, struct lock *lock, uint64_t until_ns) {
    const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000u),
                                   .tv_nsec = (long)(until_ns % 1000000000u)};
    check_wait(lock);
    const int code = pthread_cond_timedwait(&c->cond, &lock->mutex, &until);
    if (code == ETIMEDOUT) return false;
    must(code, "pthread_cond_timedwait");
    return true;
}

void lock_cond_wake_one(struct lock_cond *c) {
    must(pthread_cond_signal(&c->cond), "pthread_cond_signal");
}

void lock_cond_wake_all(struct lock_cond *c) {
    must(pthread_cond_broadcast(&c->cond), "pthread_cond_broadcast");
}
