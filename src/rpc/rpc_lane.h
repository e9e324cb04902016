/*
 * Threads that do queued work in its order: what may block never runs on gRPC's thread.
 *
 * Threads: a lane shares the server's lock, which the caller of rpc_lane_push holds; work runs
 * without it.
 */
#ifndef RPC_RPC_LANE_H
#define RPC_RPC_LANE_H

#include "error.h"
#include "lock.h"

enum { RPC_LANE_THREADS = 8 };

/* Lives in what it works on, and may be in one lane at a time. */
struct rpc_work {
    void (*fn)(struct rpc_work *work);
    struct rpc_work *next;
};

struct rpc_lane {
    struct lock *lock;
    struct lock_cond wake;
    struct rpc_work *first, **last;
    pthread_t threads[RPC_LANE_THREADS];
    unsigned n_threads;
    bool stop;
};

/* Errors: NO_MEMORY (no thread could be had); the lane is then empty, and stopping it is right. */
CUZK_NODISCARD cuzk_status rpc_lane_start(struct rpc_lane *lane, struct lock *lock,
                                          unsigned n_threads, struct cuzk_error *err);
void rpc_lane_push(struct rpc_lane *lane, struct rpc_work *work);
/* Ends when the queued work is done. One that never started ({0}) is left alone. */
void rpc_lane_stop(struct rpc_lane *lane);

#endif
