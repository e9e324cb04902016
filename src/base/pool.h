/*
 * A fixed pool of threads for data-parallel loops.
 *
 * The pool is passed as an argument, never a global. pool_run() hands out task numbers one by one,
 * the calling thread takes part, and it returns when every task is done. A task may not call
 * pool_run() on the same pool. Threads: one pool_run() at a time on one pool.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>

#include "error.h"

struct pool;

/* `task` in [0, n_tasks); `worker` in [0, pool_threads(pool)) names the thread, for its scratch. */
typedef void (*pool_fn)(void *ctx, size_t task, unsigned worker);

/* n_threads 0: as many as this process may run on. A pool of one thread starts none. */
CUZK_NODISCARD cuzk_status pool_create(struct pool **out, unsigned n_threads,
                                       struct cuzk_error *err);
void pool_destroy(struct pool *pool); /* accepts NULL */

/* Number of threads that work, the caller's included; 1 for a NULL pool. */
unsigned pool_threads(const struct pool *pool);

/* Runs fn for every task; a NULL pool runs them on the calling thread, in order. */
void pool_run(struct pool *pool, size_t n_tasks, pool_fn fn, void *ctx);

/* Number of processors that this process may run on. */
unsigned pool_cpus(void);

#endif
