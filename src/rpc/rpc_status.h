/* Our status codes as gRPC's. Threads: pure. */
#ifndef RPC_RPC_STATUS_H
#define RPC_RPC_STATUS_H

#include <grpc/status.h>

#include "error.h"

/* What a client shall make of it: see doc/errors.md for each code. */
grpc_status_code rpc_status_code(cuzk_status status);

/* "INVALID_ARGUMENT" and so on; a number that gRPC does not have: "UNKNOWN". */
const char *rpc_status_name(int code);

/*
 * The other direction: fills `err` from the answer of a daemon (or of gRPC itself) to `method`, as
 * rpc_client.h says; returns its code. `text` need not end with a zero.
 */
cuzk_status rpc_status_to_error(struct cuzk_error *err, const char *method, int code,
                                const char *text, size_t text_bytes);

#endif
