/*
 * What the parts of the server share: the server (rpc_server.c), its calls (rpc_call.c), and what
 * each method does (rpc_methods.c).
 *
 * A call's way:
 *
 *     seen → [room: the largest message is reserved] → message received → method → answer sent
 *
 * gRPC's thread only moves calls on; what may block runs on a lane: ROOM waits for the ledger,
 * SUBMIT decodes and checks, QUICK answers at once, SLOW loads and evicts. Each waits only for its
 * own kind, so that a status is answered while submits are under way.
 *
 * Lifetime: a call lives while somebody has a reference: each gRPC operation under way, each place
 * in a lane, the engine's watch.
 *
 * Locks: the server's (LOCK_SERVER) guards the lists and what is said to be under it. It is not
 * held over calls into gRPC or the engine.
 */
#ifndef RPC_RPC_INTERNAL_H
#define RPC_RPC_INTERNAL_H

#include <grpc/grpc.h>

#include "engine.h"
#include "rpc_buffer.h"
#include "rpc_lane.h"
#include "rpc_listen.h"
#include "rpc_server.h"

enum rpc_lane_name {
    RPC_LANE_ROOM,
    RPC_LANE_SUBMIT,
    RPC_LANE_QUICK,
    RPC_LANE_PRELOAD,
    RPC_LANE_EVICT,
    RPC_LANES
};

enum {
    RPC_SMALL_MESSAGE_BYTES = 64 << 10, /* of a method without a payload */
    RPC_RECEIVE_SECONDS = 120,          /* in which a message must have come */
    RPC_METHODS = 9                     /* the service's eight, and all others */
};

struct rpc_call;

struct rpc_method {
    const char *name; /* NULL: any other */
    bool heavy;       /* its message may have a payload: room is reserved first */
    enum rpc_lane_name lane;
    /* Answers, or sees to it that the call is answered later. The bytes go when it returns, or with
     * rpc_call_release_input(). */
    void (*run)(struct rpc_call *call, const void *bytes, size_t n);
};
extern const struct rpc_method rpc_methods[RPC_METHODS];

/* What gRPC's queue returns: which step of which call has ended. */
struct rpc_tag {
    void (*fn)(struct rpc_call *call, bool ok);
    struct rpc_call *call;
};

struct rpc_call {
    struct rpc_server *server;
    const struct rpc_method *method;
    unsigned method_index;

    grpc_call *call;
    gpr_timespec deadline;
    grpc_call_details details; /* of a method that we do not have */
    grpc_metadata_array metadata;
    grpc_byte_buffer *message, *answer;
    int failed; /* set by gRPC when the call has ended otherwise than by our answer */
    struct rpc_tag on_accept, on_message, on_close, on_sent;
    struct rpc_work work, drop_work;
    struct ledger_cancel room_cancel;
    struct mem_block bytes; /* the message in a row, while its method runs */

    /* Under the server's lock. */
    struct rpc_call *next, **link; /* among the calls under way */
    unsigned refs;
    bool gone;      /* nobody waits for the answer any more */
    bool finished;  /* an answer is on its way */
    bool receiving; /* until receive_until_ns */
    uint64_t receive_until_ns;
    bool room_cancelled;
    bool has_input;
    struct engine_input input;

    char job_id[ENGINE_JOB_ID_BYTES]; /* the job that it waits for; empty: none */
    bool prove;                       /* it is a Prove */
    bool owns;                        /* its end is the job's end, unless others wait */
    bool watching, watch_done, dropping;
    uint64_t watch;
};

struct rpc_server {
    struct engine *engine;
    uint64_t max_message_bytes;
    unsigned max_calls, socket_mode;

    grpc_server *server;
    grpc_completion_queue *queue;
    grpc_resource_quota *quota;
    void *registered[RPC_METHODS];
    struct rpc_address address[RPC_MAX_ADDRESSES];
    int port[RPC_MAX_ADDRESSES];
    unsigned n_addresses;
    pthread_t thread;
    bool has_thread;

    struct lock lock;
    /* Under the lock. */
    struct lock_cond idle; /* a call has gone, or gRPC has shut down */
    struct rpc_lane lane[RPC_LANES];
    struct rpc_call *calls;
    unsigned n_calls, n_rooms;
    bool accepting; /* jobs */
    bool stopping;
    bool shut_down;
};

/* ---- rpc_call.c ---- */

/* Asks gRPC for the next call of a method. */
void rpc_call_await(struct rpc_server *s, unsigned method);
/* Fits gRPC's own memory to the number of messages that are being received, changed by `change`. */
void rpc_call_fit_quota(struct rpc_server *s, int change);
/* Answers those whose message is late; from gRPC's thread, about once a second. */
void rpc_call_check_late(struct rpc_server *s);
/* Ends the waits of all calls and answers them STOPPING; their jobs go on. */
void rpc_call_stop_all(struct rpc_server *s);

/* Each answers the call, unless that is done already or nobody waits. */
void rpc_call_answer(struct rpc_call *c, struct rpc_packed packed);
void rpc_call_refuse(struct rpc_call *c, const struct cuzk_error *err);

/* When the call's own time is up, on clock_ns()'s clock; 0: never. */
uint64_t rpc_call_deadline_ns(const struct rpc_call *c);
/* Has the client gone, or is the server stopping? */
bool rpc_call_is_over(struct rpc_call *c);
/* Gives the message's bytes back, and the room that was reserved for it. */
void rpc_call_release_input(struct rpc_call *c);

/*
 * Waits for a job, then answers. `prove`: as a Prove; `owns`: the job was made by this call.
 * When the call is dropped the wait ends, and the job with it if it is this call's.
 */
void rpc_call_watch(struct rpc_call *c, const char *job_id, uint64_t until_ns, bool prove,
                    bool owns);

#endif
