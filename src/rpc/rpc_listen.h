/*
 * Addresses: what they mean, and whether somebody serves them already.
 *
 * Threads: pure but for the sockets and files.
 */
#ifndef RPC_RPC_LISTEN_H
#define RPC_RPC_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct rpc_address {
    bool is_unix;
    bool tls;         /* "https://" was said */
    char path[104];   /* Unix: absolute */
    char target[300]; /* as gRPC wants it: "unix:/PATH", "HOST:PORT" */
    char host[256], port[8];
};

/*
 * "unix:///PATH", "unix:/PATH", "HOST:PORT", "[V6]:PORT", and with http:// or https:// before it.
 * Errors: `code`, which the caller chooses (CONFIG for a server, USAGE for a client).
 */
CUZK_NODISCARD cuzk_status rpc_address_parse(struct rpc_address *out, const char *text,
                                             cuzk_status code, struct cuzk_error *err);

/*
 * May a server listen there? A Unix socket on which nobody answers is removed. gRPC itself would
 * take a live one away from its owner, and share a port with it, hence this look before.
 * Errors: ADDRESS_IN_USE, LISTEN.
 */
CUZK_NODISCARD cuzk_status rpc_address_check_free(const struct rpc_address *a,
                                                  struct cuzk_error *err);

#endif
