/*
 * The gRPC server: cuzk.v1.ProvingEngine over the engine (proto/cuzk.proto).
 *
 * On gRPC core's C API. A call is seen before its payload is read: the largest message is reserved
 * in the engine's ledger first (input), and shrunk to what came, so that a crowd of clients cannot
 * outgrow the budget; calls without a payload of weight (status, cancel …) are held small by
 * gRPC's resource quota, beside the ledger.
 *
 * Threads: create and destroy on one thread; the server runs its own.
 */
#ifndef RPC_RPC_SERVER_H
#define RPC_RPC_SERVER_H

#include "engine.h"

enum { RPC_MAX_ADDRESSES = 4 };

struct rpc_options {
    const char *listen[RPC_MAX_ADDRESSES]; /* "127.0.0.1:9820", "unix:///run/curio/cuzk.sock" */
    unsigned n_listen;
    unsigned socket_mode;       /* of a Unix socket; 0: 0660 */
    uint64_t max_message_bytes; /* 0: 256 MiB */
    unsigned max_calls;         /* in work at once; 0: usual (1024) */
    /* TLS: PEM files; cert and key NULL: plain text. client_ca not NULL: clients must have a
     * certificate of it. Unix sockets stay plain. */
    const char *tls_cert, *tls_key, *tls_client_ca;
};

struct rpc_server;

/* Errors: ADDRESS_IN_USE (a live daemon answers on it; a dead Unix socket is replaced), LISTEN,
 * CONFIG (an address or a certificate makes no sense), NO_MEMORY. */
CUZK_NODISCARD cuzk_status rpc_server_create(struct rpc_server **out, struct engine *engine,
                                             const struct rpc_options *options,
                                             struct cuzk_error *err);
/* The port of a TCP address that was given with port 0; 0: none. */
unsigned rpc_server_port(const struct rpc_server *s, unsigned address);

/* New Submit and Prove calls are answered UNAVAILABLE; Await and Prove under way go on. */
void rpc_server_stop_accepting(struct rpc_server *s);
void rpc_server_destroy(struct rpc_server *s); /* drops what is left; accepts NULL */

#endif
