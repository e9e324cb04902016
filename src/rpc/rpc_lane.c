#include "rpc_lane.h"

#include <string.h>

static void *lane_main(void *ctx) {
    struct rpc_lane *lane = ctx;
    lock_take(lane->lock);
    for (;;) {
        while (lane->first == NULL && !lane->stop)
            lock_cond_wait(&lane->wake, lane->lock);
        struct rpc_work *work = lane->first;
        if (work == NULL) break;
        lane->first = work->next;
        if (lane->first == NULL) lane->last = &lane->first;
        lock_give(lane->lock);
        work->fn(work);
        lock_take(lane->lock);
    }
    lock_give(lane->lock);
    return NULL;
}

cuzk_status rpc_lane_start(struct rpc_lane *lane, struct lock *lock, unsigned n_threads,
                           struct cuzk_error *err) {
    *lane = (struct rpc_lane){.lock = lock};
    lane->last = &lane->first;
    lock_cond_init(&lane->wake);
    for (; lane->n_threads < n_threads; lane->n_threads++) {
        const int rc = pthread_create(&lane->threads[lane->n_threads], NULL, lane_main, lane);
        if (rc != 0)
            return error_set(err, CUZK_NO_MEMORY, NULL, NULL, "no thread for the server: %s",
                             strerror(rc));
    }
    return CUZK_OK;
}

void rpc_lane_push(struct rpc_lane *lane, struct rpc_work *work) {
    work->next = NULL;
    *lane->last = work;
    lane->last = &work->next;
    lock_cond_wake_one(&lane->wake);
}

void rpc_lane_stop(struct rpc_lane *lane) {
    if (lane->lock == NULL) return;
    lock_take(lane->lock);
    lane->stop = true;
    lock_cond_wake_all(&lane->wake);
    lock_give(lane->lock);
    for (unsigned i = 0; i < lane->n_threads; i++)
        pthread_join(lane->threads[i], NULL);
    lock_cond_destroy(&lane->wake);
    *lane = (struct rpc_lane){0};
}
