#include "rpc_fixture.h"

#include "test_main.h"

#include <unistd.h>

#include "log.h"

static struct rpc_options options_of(const struct rpc_fixture *f) {
    return (struct rpc_options){.listen = {f->socket_address, "127.0.0.1:0"},
                                .n_listen = 2,
                                .max_message_bytes = MESSAGE_LIMIT};
}

struct rpc_client *rpc_fixture_connect(const char *address) {
    struct rpc_client *c;
    struct cuzk_error err = {.code = CUZK_OK};
    const struct rpc_client_options o = {.address = address};
    const cuzk_status status = rpc_client_create(&c, &o, &err);
    if (status != CUZK_OK) fail_msg("%s", err.what);
    return c;
}

/* The refusals that the tests provoke are logged as they should be; nobody needs to read them. */
static void swallow(void *ctx, const char *line, size_t n) {
    (void)ctx;
    (void)line;
    (void)n;
}

int rpc_fixture_setup(void **state) {
    struct rpc_fixture *f = calloc(1, sizeof *f);
    log_set_sink(swallow, NULL);
    snprintf(f->folder, sizeof f->folder, "/tmp/test_rpc.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->socket, sizeof f->socket, "%s/s", f->folder);
    snprintf(f->socket_address, sizeof f->socket_address, "unix://%s", f->socket);
    f->engine = engine_stub_create();
    struct cuzk_error err = {.code = CUZK_OK};
    const struct rpc_options o = options_of(f);
    if (rpc_server_create(&f->server, f->engine, &o, &err) != CUZK_OK) fail_msg("%s", err.what);
    assert_int_not_equal(rpc_server_port(f->server, 1), 0);
    snprintf(f->tcp_address, sizeof f->tcp_address, "http://127.0.0.1:%u",
             rpc_server_port(f->server, 1));
    f->local = rpc_fixture_connect(f->socket_address);
    f->tcp = rpc_fixture_connect(f->tcp_address);
    *state = f;
    return 0;
}

int rpc_fixture_teardown(void **state) {
    struct rpc_fixture *f = *state;
    rpc_client_destroy(f->local);
    rpc_client_destroy(f->tcp);
    rpc_server_destroy(f->server);
    assert_int_equal(engine_stub_read(f->engine).input_bytes, 0);
    assert_int_equal(engine_stub_read(f->engine).watching, 0);
    engine_stub_destroy(f->engine);
    unlink(f->socket);
    rmdir(f->folder);
    free(f);
    return 0;
}

struct rpc_submit rpc_fixture_submit(const char *request_id) {
    return (struct rpc_submit){.request_id = request_id,
                               .kind = ENGINE_KIND_POREP,
                               .sector_size = 2048,
                               .registered_proof = 5,
                               .priority = FLOW_HIGH,
                               .vanilla_proof = {"{\"SectorNum\":1}", 15},
                               .sector_number = 11,
                               .miner_id = 1000};
}

struct rpc_call_info rpc_fixture_within(unsigned ms) {
    return (struct rpc_call_info){.timeout_ns = ms * (SECOND_NS / 1000)};
}
