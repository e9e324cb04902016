#include "rpc_server.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <grpc/grpc_security.h>
#include <grpc/impl/codegen/compression_types.h>
#include <grpc/support/time.h>

#include "clock.h"
#include "file.h"
#include "log.h"
#include "rpc_internal.h"
#include "rpc_log.h"

#define USUAL_MESSAGE_BYTES ((uint64_t)256 << 20)
enum { USUAL_CALLS = 1024, MOST_PEM_BYTES = 1 << 20, ABORT_AFTER_SECONDS = 1 };

/* ---- gRPC's thread ---- */

static void handle(struct rpc_server *s, const grpc_event *e) {
    /* gRPC's queue hands over what a tag points to; the lock says so to those who check threads. */
    lock_take(&s->lock);
    struct rpc_tag tag = {0};
    if (e->tag == s) {
        s->shut_down = true;
        lock_cond_wake_all(&s->idle);
    } else {
        tag = *(const struct rpc_tag *)e->tag;
    }
    lock_give(&s->lock);
    if (tag.fn != NULL) tag.fn(tag.call, e->success != 0);
}

static void *serve(void *ctx) {
    struct rpc_server *s = ctx;
    uint64_t checked_ns = clock_ns();
    for (;;) {
        const gpr_timespec second =
            gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_seconds(1, GPR_TIMESPAN));
        const grpc_event e = grpc_completion_queue_next(s->queue, second, NULL);
        if (e.type == GRPC_QUEUE_SHUTDOWN) return NULL;
        if (e.type == GRPC_OP_COMPLETE) handle(s, &e);
        if (clock_ns() - checked_ns < 1000000000u) continue;
        rpc_call_check_late(s);
        checked_ns = clock_ns();
    }
}

/* ---- making ---- */

static grpc_arg int_arg(const char *key, int value) {
    return (grpc_arg){
        .type = GRPC_ARG_INTEGER, .key = (char *)(uintptr_t)key, .value = {.integer = value}};
}

static void make_server(struct rpc_server *s) {
    grpc_arg args[] = {
        /* Checked by us, with a text that names the setting; gRPC's own check comes no earlier. */
        int_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1),
        int_arg(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1),
        /* A compressed message may be any size when it is opened: none is accepted. */
        int_arg(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0),
        int_arg(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1u << GRPC_COMPRESS_NONE),
        int_arg(GRPC_ARG_MAX_CONCURRENT_STREAMS, (int)s->max_calls),
        int_arg(GRPC_ARG_MAX_METADATA_SIZE, 16 << 10),
        /* What a stream may send before its message is asked for. */
        int_arg(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 64 << 10),
        int_arg(GRPC_ARG_HTTP2_BDP_PROBE, 0),
        /* A client whose machine has gone is noticed within minutes; an idle one may stay long. */
        int_arg(GRPC_ARG_KEEPALIVE_TIME_MS, 120 * 1000),
        int_arg(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 30 * 1000),
        int_arg(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1),
        int_arg(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0),
        int_arg(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5 * 1000),
        int_arg(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 3600 * 1000),
        int_arg(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 20 * 1000),
        int_arg(GRPC_ARG_ALLOW_REUSEPORT, 0),
        {.type = GRPC_ARG_POINTER,
         .key = (char *)(uintptr_t)GRPC_ARG_RESOURCE_QUOTA,
         .value = {.pointer = {s->quota, grpc_resource_quota_arg_vtable()}}},
    };
    const grpc_channel_args all = {sizeof args / sizeof args[0], args};
    s->server = grpc_server_create(&all, NULL);
    s->queue = grpc_completion_queue_create_for_next(NULL);
    grpc_server_register_completion_queue(s->server, s->queue, NULL);
    for (unsigned i = 0; i < RPC_METHODS; i++) {
        if (rpc_methods[i].name == NULL) continue;
        char path[96];
        snprintf(path, sizeof path, "/cuzk.v1.ProvingEngine/%s", rpc_methods[i].name);
        s->registered[i] =
            grpc_server_register_method(s->server, path, NULL, GRPC_SRM_PAYLOAD_NONE, 0);
    }
}

/* A PEM file as text; the caller gives the block back. */
static cuzk_status read_pem(struct mem_block *out, const char *path, struct cuzk_error *err) {
    size_t n;
    struct cuzk_error cause = {.code = CUZK_OK};
    if (file_read(out, &n, path, MOST_PEM_BYTES, &cause) != CUZK_OK)
        return error_set(err, CUZK_CONFIG, path, "name a readable PEM file", "%s", cause.what);
    const cuzk_status status = mem_grow(out, n + 1, MEM_INPUT, err);
    if (status != CUZK_OK) {
        mem_give(out);
        return status;
    }
    ((char *)out->ptr)[n] = 0;
    return CUZK_OK;
}

/* NULL in *out: plain text. */
static cuzk_status make_tls(grpc_server_credentials **out, const struct rpc_options *o,
                            struct cuzk_error *err) {
    struct mem_block cert = {0}, key = {0}, ca = {0};
    *out = NULL;
    if (o->tls_cert == NULL && o->tls_key == NULL && o->tls_client_ca == NULL) return CUZK_OK;
    if (o->tls_cert == NULL || o->tls_key == NULL)
        return error_set(err, CUZK_CONFIG, "tls", "give both, or none and no client CA",
                         "certificate and key belong together");
    cuzk_status status = read_pem(&cert, o->tls_cert, err);
    if (status == CUZK_OK) status = read_pem(&key, o->tls_key, err);
    if (status == CUZK_OK && o->tls_client_ca != NULL)
        status = read_pem(&ca, o->tls_client_ca, err);
    if (status == CUZK_OK) {
        grpc_ssl_pem_key_cert_pair pair = {.private_key = key.ptr, .cert_chain = cert.ptr};
        *out = grpc_ssl_server_credentials_create_ex(
            ca.ptr, &pair, 1,
            ca.ptr != NULL ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                           : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
            NULL);
        if (*out == NULL)
            status = error_set(err, CUZK_CONFIG, o->tls_cert, NULL, "makes no certificate");
    }
    mem_give(&cert);
    if (key.ptr != NULL) explicit_bzero(key.ptr, key.bytes);
    mem_give(&key);
    mem_give(&ca);
    return status;
}

static cuzk_status listen_at(struct rpc_server *s, const char *text, grpc_server_credentials *tls,
                             struct cuzk_error *err) {
    struct rpc_address *a = &s->address[s->n_addresses];
    CUZK_TRY(rpc_address_parse(a, text, CUZK_CONFIG, err));
    CUZK_TRY(rpc_address_check_free(a, err));
    const bool plain = a->is_unix || tls == NULL;
    grpc_server_credentials *credentials = plain ? grpc_insecure_server_credentials_create() : tls;
    /* From its first moment on a socket is open to no more than it shall be. */
    const mode_t mask = a->is_unix ? umask(0777 & ~s->socket_mode) : 0;
    const int port = grpc_server_add_http2_port(s->server, a->target, credentials);
    if (a->is_unix) umask(mask);
    if (plain) grpc_server_credentials_release(credentials);
    if (port == 0)
        return error_set(err, CUZK_LISTEN, text,
                         a->is_unix ? "see that its folder exists and may be written"
                         : plain    ? NULL
                                    : "see that certificate and key belong together",
                         "it cannot be listened on");
    if (a->is_unix && chmod(a->path, s->socket_mode) != 0)
        return error_set(err, CUZK_LISTEN, text, NULL, "its mode: %s", strerror(errno));
    s->port[s->n_addresses++] = a->is_unix ? 0 : port;
    log_line(LOG_LEVEL_INFO, "rpc", "listening on %s (%s)", text,
             a->is_unix ? "local"
             : plain    ? "plain"
                        : "TLS");
    return CUZK_OK;
}

static cuzk_status listen_all(struct rpc_server *s, const struct rpc_options *o,
                              struct cuzk_error *err) {
    if (o->n_listen == 0 || o->n_listen > RPC_MAX_ADDRESSES)
        return error_set(err, CUZK_CONFIG, "listen", NULL,
                         "1 to %d addresses can be served, not %u", RPC_MAX_ADDRESSES, o->n_listen);
    grpc_server_credentials *tls;
    CUZK_TRY(make_tls(&tls, o, err));
    cuzk_status status = CUZK_OK;
    for (unsigned i = 0; i < o->n_listen && status == CUZK_OK; i++)
        status = listen_at(s, o->listen[i], tls, err);
    if (tls != NULL) grpc_server_credentials_release(tls);
    return status;
}

static cuzk_status start_threads(struct rpc_server *s, struct cuzk_error *err) {
    static const unsigned n_threads[RPC_LANES] = {[RPC_LANE_ROOM] = 1,
                                                  [RPC_LANE_SUBMIT] = 4,
                                                  [RPC_LANE_QUICK] = 2,
                                                  [RPC_LANE_PRELOAD] = 2,
                                                  [RPC_LANE_EVICT] = 1};
    for (int i = 0; i < RPC_LANES; i++)
        CUZK_TRY(rpc_lane_start(&s->lane[i], &s->lock, n_threads[i], err));
    const int rc = pthread_create(&s->thread, NULL, serve, s);
    if (rc != 0)
        return error_set(err, CUZK_NO_MEMORY, NULL, NULL, "no thread for the server: %s",
                         strerror(rc));
    s->has_thread = true;
    return CUZK_OK;
}

cuzk_status rpc_server_create(struct rpc_server **out, struct engine *engine,
                              const struct rpc_options *options, struct cuzk_error *err) {
    *out = NULL;
    struct rpc_server *s = calloc(1, sizeof *s);
    if (s == NULL) return error_set(err, CUZK_NO_MEMORY, NULL, NULL, "no memory for the server");
    s->engine = engine;
    s->max_message_bytes =
        options->max_message_bytes != 0 ? options->max_message_bytes : USUAL_MESSAGE_BYTES;
    s->max_calls = options->max_calls != 0 ? options->max_calls : USUAL_CALLS;
    s->socket_mode = options->socket_mode != 0 ? options->socket_mode & 0777 : 0660;
    s->accepting = true;
    lock_init(&s->lock, LOCK_SERVER);
    lock_cond_init(&s->idle);
    rpc_log_init();
    grpc_init();
    s->quota = grpc_resource_quota_create("cuzk");
    rpc_call_fit_quota(s, 0);
    make_server(s);
    cuzk_status status = listen_all(s, options, err);
    if (status == CUZK_OK) status = start_threads(s, err);
    if (status != CUZK_OK) {
        rpc_server_destroy(s);
        return status;
    }
    grpc_server_start(s->server);
    for (unsigned i = 0; i < RPC_METHODS; i++)
        rpc_call_await(s, i);
    *out = s;
    return CUZK_OK;
}

unsigned rpc_server_port(const struct rpc_server *s, unsigned address) {
    return address < s->n_addresses ? (unsigned)s->port[address] : 0;
}

/* ---- the end ---- */

void rpc_server_stop_accepting(struct rpc_server *s) {
    lock_take(&s->lock);
    s->accepting = false;
    lock_give(&s->lock);
}

/* Answers are given a moment to go out; then what is left is cut off. */
static void end_calls(struct rpc_server *s) {
    rpc_call_stop_all(s);
    grpc_server_shutdown_and_notify(s->server, s->queue, s);
    const uint64_t until = clock_ns() + ABORT_AFTER_SECONDS * 1000000000ull;
    lock_take(&s->lock);
    while ((s->n_calls > 0 || !s->shut_down) && lock_cond_wait_until(&s->idle, &s->lock, until))
        ;
    lock_give(&s->lock);
    grpc_server_cancel_all_calls(s->server);
    lock_take(&s->lock);
    while (s->n_calls > 0 || !s->shut_down)
        lock_cond_wait(&s->idle, &s->lock);
    lock_give(&s->lock);
}

/* Without threads of ours: it was never started, or could not be. */
static void end_unstarted(struct rpc_server *s) {
    grpc_server_shutdown_and_notify(s->server, s->queue, s);
    while (grpc_completion_queue_next(s->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL).tag != s)
        ;
}

void rpc_server_destroy(struct rpc_server *s) {
    if (s == NULL) return;
    if (s->has_thread)
        end_calls(s);
    else
        end_unstarted(s);
    for (int i = 0; i < RPC_LANES; i++)
        rpc_lane_stop(&s->lane[i]);
    grpc_completion_queue_shutdown(s->queue);
    if (s->has_thread) pthread_join(s->thread, NULL);
    while (!s->has_thread &&
           grpc_completion_queue_next(s->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL).type !=
               GRPC_QUEUE_SHUTDOWN)
        ;
    grpc_server_destroy(s->server);
    grpc_completion_queue_destroy(s->queue);
    grpc_resource_quota_unref(s->quota);
    grpc_shutdown_blocking();
    lock_cond_destroy(&s->idle);
    lock_destroy(&s->lock);
    free(s);
}
