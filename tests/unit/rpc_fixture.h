/* A server over a double of the engine, on a Unix socket and on TCP, and a client of each. */
#ifndef RPC_FIXTURE_H
#define RPC_FIXTURE_H

#include "rpc_client.h"
#include "rpc_server.h"
#include "support/engine_stub.h"

enum { SECOND_MS = 1000, MESSAGE_LIMIT = 16 << 20 };
#define SECOND_NS UINT64_C(1000000000)

struct rpc_fixture {
    struct engine *engine;
    struct rpc_server *server;
    struct rpc_client *local, *tcp; /* over the Unix socket, and over TCP */
    char folder[64], socket[100], socket_address[128], tcp_address[64];
};

/* cmocka's; the end asserts that no room is reserved and no wait left. */
int rpc_fixture_setup(void **state);
int rpc_fixture_teardown(void **state);

struct rpc_client *rpc_fixture_connect(const char *address);
/* A PoRep request with a payload of a few bytes. */
struct rpc_submit rpc_fixture_submit(const char *request_id);
struct rpc_call_info rpc_fixture_within(unsigned ms);

/* The call's own limit is far off: a test that needs it has failed. */
#define LIMIT (&(struct rpc_call_info){.timeout_ns = 20 * SECOND_NS})

#endif
