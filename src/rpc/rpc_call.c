#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grpc/support/time.h>

#include "clock.h"
#include "log.h"
#include "rpc_codec.h"
#include "rpc_internal.h"
#include "rpc_status.h"

/* ---- life ---- */

static struct rpc_call *call_of_work(struct rpc_work *work) {
    return (struct rpc_call *)((char *)work - offsetof(struct rpc_call, work));
}

static struct rpc_call *call_of_drop(struct rpc_work *work) {
    return (struct rpc_call *)((char *)work - offsetof(struct rpc_call, drop_work));
}

static const char *method_name(const struct rpc_call *c) {
    return c->method->name != NULL ? c->method->name : "an unknown method";
}

static void call_free(struct rpc_call *c) {
    rpc_call_release_input(c);
    if (c->message != NULL) grpc_byte_buffer_destroy(c->message);
    if (c->answer != NULL) grpc_byte_buffer_destroy(c->answer);
    grpc_metadata_array_destroy(&c->metadata);
    grpc_call_details_destroy(&c->details);
    if (c->call != NULL) grpc_call_unref(c->call);
    free(c);
}

static void call_unref(struct rpc_call *c) {
    struct rpc_server *s = c->server;
    lock_take(&s->lock);
    const bool last = --c->refs == 0, counted = c->link != NULL;
    if (last && counted) {
        *c->link = c->next;
        if (c->next != NULL) c->next->link = c->link;
    }
    lock_give(&s->lock);
    if (!last) return;
    call_free(c);
    if (!counted) return;
    /* Only now: whoever destroys the server waits for it. */
    lock_take(&s->lock);
    s->n_calls--;
    lock_cond_wake_all(&s->idle);
    lock_give(&s->lock);
}

static void call_ref(struct rpc_call *c) {
    lock_take(&c->server->lock);
    c->refs++;
    lock_give(&c->server->lock);
}

/* Starts operations whose end is `tag`'s; it has a reference until then. */
static void start(struct rpc_call *c, const grpc_op *ops, size_t n, struct rpc_tag *tag) {
    call_ref(c);
    const grpc_call_error rc = grpc_call_start_batch(c->call, ops, n, tag, NULL);
    if (rc == GRPC_CALL_OK) return;
    log_line(LOG_LEVEL_WARN, "rpc", "%s: gRPC refused an operation (%d)", method_name(c), (int)rc);
    tag->fn(c, false);
}

uint64_t rpc_call_deadline_ns(const struct rpc_call *c) {
    if (gpr_time_cmp(c->deadline, gpr_inf_future(c->deadline.clock_type)) == 0) return 0;
    const gpr_timespec left = gpr_time_sub(c->deadline, gpr_now(c->deadline.clock_type));
    if (left.tv_sec < 0) return 1; /* over */
    if (left.tv_sec > 365 * 86400) return 0;
    return clock_ns() + (uint64_t)left.tv_sec * 1000000000u + (uint64_t)left.tv_nsec;
}

bool rpc_call_is_over(struct rpc_call *c) {
    lock_take(&c->server->lock);
    const bool over = c->gone || c->server->stopping;
    lock_give(&c->server->lock);
    return over;
}

void rpc_call_release_input(struct rpc_call *c) {
    mem_give(&c->bytes);
    lock_take(&c->server->lock);
    const bool has = c->has_input;
    c->has_input = false;
    lock_give(&c->server->lock);
    if (has) engine_input_release(c->server->engine, &c->input);
}

/* ---- answering ---- */

static void sent(struct rpc_call *c, bool ok) {
    (void)ok; /* a client that has gone shows in the call's close */
    call_unref(c);
}

static bool begin_answer(struct rpc_call *c) {
    lock_take(&c->server->lock);
    const bool first = !c->finished && !c->gone;
    c->finished = true;
    lock_give(&c->server->lock);
    return first;
}

static void send_answer(struct rpc_call *c, grpc_status_code code, const char *text) {
    grpc_slice details = grpc_slice_from_copied_string(text);
    grpc_op ops[3] = {{.op = GRPC_OP_SEND_INITIAL_METADATA}};
    size_t n = 1;
    if (c->answer != NULL) {
        ops[n].op = GRPC_OP_SEND_MESSAGE;
        ops[n++].data.send_message.send_message = c->answer;
    }
    ops[n].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
    ops[n].data.send_status_from_server.status = code;
    ops[n++].data.send_status_from_server.status_details = &details;
    start(c, ops, n, &c->on_sent);
    grpc_slice_unref(details);
}

void rpc_call_answer(struct rpc_call *c, struct rpc_packed packed) {
    if (packed.bytes == NULL) {
        struct cuzk_error err;
        error_set(&err, CUZK_NO_MEMORY, NULL, NULL, "no memory for the answer");
        rpc_call_refuse(c, &err);
        return;
    }
    if (!begin_answer(c)) {
        free(packed.bytes);
        return;
    }
    c->answer = rpc_buffer_take(&packed);
    send_answer(c, GRPC_STATUS_OK, "");
}

void rpc_call_refuse(struct rpc_call *c, const struct cuzk_error *err) {
    if (!begin_answer(c)) return;
    const grpc_status_code code =
        c->method->name == NULL ? GRPC_STATUS_UNIMPLEMENTED : rpc_status_code(err->code);
    log_error_record(code == GRPC_STATUS_INTERNAL ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO, "rpc", err,
                     "%s is refused", method_name(c));
    char text[1200];
    error_format(err, text, sizeof text);
    send_answer(c, code, text);
}

static void refuse_stopping(struct rpc_call *c) {
    struct cuzk_error err;
    error_set(&err, CUZK_STOPPING, NULL, "try again later", "the daemon takes no more work");
    rpc_call_refuse(c, &err);
}

/* ---- receiving ---- */

/*
 * gRPC collects a message, however long it is, before it says how long it is. So its memory is
 * limited as well: to what has been reserved for messages, and room for connections. Beyond it gRPC
 * drops streams.
 */
enum { QUOTA_BASE_BYTES = 256 << 20 };

void rpc_call_fit_quota(struct rpc_server *s, int change) {
    lock_take(&s->lock);
    s->n_rooms = (unsigned)((int)s->n_rooms + change);
    /* A quarter more: slices are not full. */
    const uint64_t bytes =
        QUOTA_BASE_BYTES + s->n_rooms * (s->max_message_bytes + s->max_message_bytes / 4);
    grpc_resource_quota_resize(s->quota, (size_t)bytes);
    lock_give(&s->lock);
}

static void receive(struct rpc_call *c) {
    lock_take(&c->server->lock);
    const bool go = !c->gone && !c->finished;
    c->receiving = go;
    c->receive_until_ns = clock_ns() + RPC_RECEIVE_SECONDS * 1000000000ull;
    lock_give(&c->server->lock);
    if (!go) {
        rpc_call_release_input(c);
        return;
    }
    if (c->method->heavy) rpc_call_fit_quota(c->server, 1);
    grpc_op op = {.op = GRPC_OP_RECV_MESSAGE};
    op.data.recv_message.recv_message = &c->message;
    start(c, &op, 1, &c->on_message);
}

/* On the ROOM lane. */
static void reserve_room(struct rpc_work *work) {
    struct rpc_call *c = call_of_work(work);
    struct rpc_server *s = c->server;
    struct cuzk_error err;
    struct engine_input input;
    const cuzk_status status = engine_input_reserve(
        s->engine, s->max_message_bytes, rpc_call_deadline_ns(c), &c->room_cancel, &input, &err);
    if (status == CUZK_OK) {
        lock_take(&s->lock);
        c->input = input;
        c->has_input = true;
        lock_give(&s->lock);
        receive(c);
    } else if (rpc_call_is_over(c)) {
        refuse_stopping(c);
    } else {
        rpc_call_refuse(c, &err);
    }
    call_unref(c);
}

/* On the method's lane. */
static void run_method(struct rpc_work *work) {
    struct rpc_call *c = call_of_work(work);
    size_t n;
    struct cuzk_error err;
    if (rpc_call_is_over(c)) {
        refuse_stopping(c);
    } else if (rpc_buffer_flatten(&c->bytes, &n, c->message, &err) != CUZK_OK) {
        rpc_call_refuse(c, &err);
    } else {
        grpc_byte_buffer_destroy(c->message);
        c->message = NULL;
        c->method->run(c, c->bytes.ptr, n);
    }
    rpc_call_release_input(c);
    call_unref(c);
}

static cuzk_status check_message(struct rpc_call *c, struct cuzk_error *err) {
    if (c->message == NULL)
        return error_set(err, CUZK_MESSAGE_FORM, c->method->name, "send one message",
                         "the call ended without a message");
    const uint64_t limit =
        c->method->heavy ? c->server->max_message_bytes : RPC_SMALL_MESSAGE_BYTES;
    const uint64_t n = rpc_buffer_length(c->message);
    if (n <= limit) return CUZK_OK;
    return error_set(err, CUZK_MESSAGE_SIZE, c->method->name,
                     c->method->heavy ? "raise [daemon] max_message if it is a real one"
                                      : "this method has no payload",
                     "%llu bytes are more than the limit of %llu", (unsigned long long)n,
                     (unsigned long long)limit);
}

static void message_came(struct rpc_call *c, bool ok) {
    (void)ok; /* then there is no message */
    struct rpc_server *s = c->server;
    if (c->method->heavy) rpc_call_fit_quota(s, -1);
    struct cuzk_error err;
    lock_take(&s->lock);
    c->receiving = false;
    const bool wanted = !c->gone && !c->finished, has_input = c->has_input;
    lock_give(&s->lock);
    const cuzk_status status = wanted ? check_message(c, &err) : CUZK_CANCELLED;
    if (status != CUZK_OK) {
        if (c->message != NULL) grpc_byte_buffer_destroy(c->message);
        c->message = NULL;
        rpc_call_release_input(c);
        if (wanted) rpc_call_refuse(c, &err);
        call_unref(c);
        return;
    }
    if (has_input) engine_input_shrink(s->engine, &c->input, rpc_buffer_length(c->message));
    c->work.fn = run_method;
    lock_take(&s->lock);
    rpc_lane_push(&s->lane[c->method->lane], &c->work); /* with this step's reference */
    lock_give(&s->lock);
}

void rpc_call_check_late(struct rpc_server *s) {
    const uint64_t now = clock_ns();
    for (;;) {
        struct rpc_call *late = NULL;
        lock_take(&s->lock);
        for (struct rpc_call *c = s->calls; c != NULL && late == NULL; c = c->next)
            if (c->receiving && now > c->receive_until_ns) late = c;
        if (late != NULL) {
            late->receiving = false;
            late->refs++;
        }
        lock_give(&s->lock);
        if (late == NULL) return;
        struct cuzk_error err;
        error_set(&err, CUZK_DEADLINE, late->method->name, NULL,
                  "the message did not arrive within %d s", RPC_RECEIVE_SECONDS);
        rpc_call_refuse(late, &err);
        call_unref(late);
    }
}

/* ---- the wait for a job ---- */

static void job_over(void *ctx, const struct engine_result *result) {
    struct rpc_call *c = ctx;
    lock_take(&c->server->lock);
    c->watch_done = true;
    c->watching = false;
    const bool prove = c->prove;
    lock_give(&c->server->lock);
    if (prove && result->error.code == CUZK_STOPPING &&
        (result->outcome == ENGINE_FAILED || result->outcome == ENGINE_CANCELLED))
        rpc_call_refuse(c, &result->error);
    else
        rpc_call_answer(c, rpc_encode_result(result, prove));
    call_unref(c);
}

/* Under the lock: whether the job ends with this call. Others that wait keep it; those of them that
 * are Proves inherit it. */
static bool last_owner(struct rpc_call *c) {
    if (!c->owns) return false;
    bool others = false;
    for (struct rpc_call *o = c->server->calls; o != NULL; o = o->next) {
        if (o == c || o->gone || o->finished || strcmp(o->job_id, c->job_id) != 0) continue;
        others = true;
        if (o->prove) o->owns = true;
    }
    return !others;
}

/* On the QUICK lane: the client has gone, or the server stops. */
static void drop_watch(struct rpc_work *work) {
    struct rpc_call *c = call_of_drop(work);
    struct rpc_server *s = c->server;
    lock_take(&s->lock);
    const bool watching = c->watching;
    const bool stopping = s->stopping;
    const bool cancel = watching && !stopping && last_owner(c);
    c->watching = false;
    lock_give(&s->lock);
    if (watching) {
        engine_unwatch(s->engine, c->watch);
        lock_take(&s->lock);
        const bool done = c->watch_done;
        lock_give(&s->lock);
        if (!done) call_unref(c); /* the watch's reference */
    }
    if (cancel) {
        bool was_running;
        if (engine_cancel_dropped(s->engine, c->job_id, &was_running, NULL) == CUZK_OK && was_running)
            log_line(LOG_LEVEL_INFO, "rpc", "job %s is cancelled: its client has gone", c->job_id);
    }
    if (stopping) refuse_stopping(c);
    call_unref(c);
}

/* Under the lock. */
static void push_drop(struct rpc_call *c) {
    if (!c->watching || c->dropping) return;
    c->dropping = true;
    c->refs++;
    c->drop_work.fn = drop_watch;
    rpc_lane_push(&c->server->lane[RPC_LANE_QUICK], &c->drop_work);
}

void rpc_call_watch(struct rpc_call *c, const char *job_id, uint64_t until_ns, bool prove,
                    bool owns) {
    struct rpc_server *s = c->server;
    struct cuzk_error err;
    lock_take(&s->lock);
    snprintf(c->job_id, sizeof c->job_id, "%s", job_id);
    c->prove = prove;
    c->owns = owns;
    c->refs++; /* job_over's */
    lock_give(&s->lock);
    uint64_t watch = 0;
    if (engine_watch(s->engine, job_id, until_ns, job_over, c, &watch, &err) != CUZK_OK) {
        rpc_call_refuse(c, &err);
        call_unref(c);
        return;
    }
    lock_take(&s->lock);
    c->watch = watch;
    c->watching = !c->watch_done;
    if (c->gone || s->stopping) push_drop(c);
    lock_give(&s->lock);
}

void rpc_call_stop_all(struct rpc_server *s) {
    lock_take(&s->lock);
    s->stopping = true;
    s->accepting = false;
    for (struct rpc_call *c = s->calls; c != NULL; c = c->next)
        push_drop(c);
    /* Those that wait for room are let go; the lock may not be held over it. */
    for (bool again = true; again;) {
        again = false;
        for (struct rpc_call *c = s->calls; c != NULL; c = c->next) {
            if (!c->method->heavy || c->room_cancelled) continue;
            c->room_cancelled = true;
            c->refs++;
            lock_give(&s->lock);
            engine_input_cancel(s->engine, &c->room_cancel);
            call_unref(c);
            lock_take(&s->lock);
            again = true;
            break;
        }
    }
    lock_give(&s->lock);
}

/* ---- beginning and end ---- */

static void closed(struct rpc_call *c, bool ok) {
    (void)ok;
    struct rpc_server *s = c->server;
    lock_take(&s->lock);
    const bool drop = c->failed != 0 && !c->finished;
    if (drop) {
        c->gone = true;
        push_drop(c);
    }
    lock_give(&s->lock);
    if (drop && c->method->heavy) engine_input_cancel(s->engine, &c->room_cancel);
    call_unref(c);
}

/* A crowd of Proves may not keep out the calls that say what is going on. */
enum { SMALL_CALLS = 256 };

static void begin(struct rpc_call *c, unsigned n_calls, bool accepting, bool stopping) {
    struct rpc_server *s = c->server;
    struct cuzk_error err;
    if (c->method->name == NULL) {
        error_set(&err, CUZK_UNSUPPORTED, NULL, "see cuzk.proto for those that there are",
                  "there is no such method");
        rpc_call_refuse(c, &err);
    } else if (stopping || (c->method->heavy && !accepting)) {
        refuse_stopping(c);
    } else if (n_calls > s->max_calls + (c->method->heavy ? 0 : SMALL_CALLS)) {
        error_set(&err, CUZK_QUEUE_FULL, NULL, "try again later",
                  "%u calls are in work, which is the limit", s->max_calls);
        rpc_call_refuse(c, &err);
    } else if (c->method->heavy) {
        c->work.fn = reserve_room;
        lock_take(&s->lock);
        c->refs++;
        rpc_lane_push(&s->lane[RPC_LANE_ROOM], &c->work);
        lock_give(&s->lock);
    } else {
        receive(c);
    }
}

static void accepted(struct rpc_call *c, bool ok) {
    struct rpc_server *s = c->server;
    if (!ok) { /* gRPC shuts down: there is no call */
        call_free(c);
        return;
    }
    lock_take(&s->lock);
    c->next = s->calls;
    c->link = &s->calls;
    if (c->next != NULL) c->next->link = &c->next;
    s->calls = c;
    const unsigned n_calls = ++s->n_calls;
    const bool accepting = s->accepting, stopping = s->stopping;
    lock_give(&s->lock);
    if (!stopping) rpc_call_await(s, c->method_index);
    grpc_op op = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};
    op.data.recv_close_on_server.cancelled = &c->failed;
    start(c, &op, 1, &c->on_close);
    begin(c, n_calls, accepting, stopping);
    call_unref(c);
}

void rpc_call_await(struct rpc_server *s, unsigned method) {
    struct rpc_call *c = calloc(1, sizeof *c);
    if (c == NULL) {
        log_line(LOG_LEVEL_WARN, "rpc", "no memory for another call");
        return;
    }
    lock_take(&s->lock);
    c->server = s;
    c->method = &rpc_methods[method];
    c->method_index = method;
    c->refs = 1;
    c->deadline = gpr_inf_future(GPR_CLOCK_REALTIME);
    c->on_accept = (struct rpc_tag){accepted, c};
    c->on_message = (struct rpc_tag){message_came, c};
    c->on_close = (struct rpc_tag){closed, c};
    c->on_sent = (struct rpc_tag){sent, c};
    lock_give(&s->lock);
    grpc_metadata_array_init(&c->metadata);
    grpc_call_details_init(&c->details);
    const grpc_call_error rc =
        c->method->name != NULL
            ? grpc_server_request_registered_call(s->server, s->registered[method], &c->call,
                                                  &c->deadline, &c->metadata, NULL, s->queue,
                                                  s->queue, &c->on_accept)
            : grpc_server_request_call(s->server, &c->call, &c->details, &c->metadata, s->queue,
                                       s->queue, &c->on_accept);
    if (rc == GRPC_CALL_OK) return;
    log_line(LOG_LEVEL_WARN, "rpc", "gRPC gives no more calls (%d)", (int)rc);
    call_free(c);
}
