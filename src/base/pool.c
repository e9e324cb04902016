#include "pool.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * One loop at a time. A loop is published under the mutex with a new generation number; workers
 * wake, take task numbers from the atomic counter until it runs out, and report once. The caller
 * waits for all reports, so no worker can touch a finished loop.
 */
struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t start;
    pthread_cond_t done;
    pthread_t *threads;
    unsigned n_workers; /* threads started: pool_threads() - 1 */
    unsigned long generation;
    unsigned reported;
    bool stop;
    pool_fn fn;
    void *ctx;
    size_t n_tasks;
    _Atomic size_t next;
};

struct worker {
    struct pool *pool;
    unsigned number;
};

static void take_tasks(struct pool *pool, unsigned worker) {
    for (;;) {
        const size_t task = atomic_fetch_add(&pool->next, 1);
        if (task >= pool->n_tasks) return;
        pool->fn(pool->ctx, task, worker);
    }
}

static void *worker_main(void *arg) {
    const struct worker self = *(struct worker *)arg;
    free(arg);
    struct pool *pool = self.pool;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->stop && pool->generation == seen)
            pthread_cond_wait(&pool->start, &pool->mutex);
        if (pool->stop) break;
        seen = pool->generation;
        pthread_mutex_unlock(&pool->mutex);
        take_tasks(pool, self.number);
        pthread_mutex_lock(&pool->mutex);
        if (++pool->reported == pool->n_workers) pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

static bool start_worker(struct pool *pool, unsigned number) {
    struct worker *arg = malloc(sizeof *arg);
    if (arg == NULL) return false;
    *arg = (struct worker){.pool = pool, .number = number};
    if (pthread_create(&pool->threads[number - 1], NULL, worker_main, arg) != 0) {
        free(arg);
        return false;
    }
    pool->n_workers++;
    return true;
}

cuzk_status pool_create(struct pool **out, unsigned n_threads, struct cuzk_error *err) {
    *out = NULL;
    if (n_threads == 0) n_threads = pool_cpus();
    struct pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) goto no_memory;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->threads = calloc(n_threads, sizeof *pool->threads);
    if (pool->threads == NULL) goto no_memory;
    for (unsigned i = 1; i < n_threads; i++) {
        if (!start_worker(pool, i)) goto no_memory;
    }
    *out = pool;
    return CUZK_OK;
no_memory:
    pool_destroy(pool);
    return error_set(err, CUZK_NO_MEMORY, "thread pool", "raise the limit on threads",
                     "%u threads could not be started", n_threads);
}

void pool_destroy(struct pool *pool) {
    if (pool == NULL) return;
    pthread_mutex_lock(&pool->mutex);
    pool->stop = true;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < pool->n_workers; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->start);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->threads);
    free(pool);
}

unsigned pool_threads(const struct pool *pool) {
    return pool == NULL ? 1 : pool->n_workers + 1;
}

void pool_run(struct pool *pool, size_t n_tasks, pool_fn fn, void *ctx) {
    if (n_tasks == 0) return;
    if (pool == NULL || pool->n_workers == 0 || n_tasks == 1) {
        for (size_t i = 0; i < n_tasks; i++)
            fn(ctx, i, 0);
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->fn = fn;
    pool->ctx = ctx;
    pool->n_tasks = n_tasks;
    atomic_store(&pool->next, 0);
    pool->reported = 0;
    pool->generation++;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->mutex);
    take_tasks(pool, 0);
    pthread_mutex_lock(&pool->mutex);
    while (pool->reported < pool->n_workers)
        pthread_cond_wait(&pool->done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

unsigned pool_cpus(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    const int n = CPU_COUNT(&set);
    return n > 0 ? (unsigned)n : 1;
}
