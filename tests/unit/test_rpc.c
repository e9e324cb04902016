/* The gRPC server and client over a double of the engine, on a Unix socket and on TCP. */
#include "test_main.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <grpc/grpc.h>

#include "clock.h"
#include "rpc_fixture.h"

/* ---- helpers ---- */

#define WAIT_UNTIL(condition)                                                                      \
    do {                                                                                           \
        const uint64_t begin_ = clock_ns();                                                        \
        while (!(condition)) {                                                                     \
            if (clock_seconds_since(begin_) > 10) fail_msg("waited in vain: " #condition);         \
            usleep(2000);                                                                          \
        }                                                                                          \
    } while (0)

static void assert_proof(const struct rpc_result *r) {
    unsigned job = 0;
    assert_int_equal(r->outcome, ENGINE_COMPLETED);
    assert_int_equal(sscanf(r->job_id, "stub-%u", &job), 1);
    assert_int_equal(r->proof_bytes, STUB_PROOF_BYTES);
    for (size_t i = 0; i < r->proof_bytes; i++)
        assert_int_equal(r->proof[i], engine_stub_proof_byte(job, i));
}

/* ---- methods ---- */

static void every_method(struct rpc_fixture *f, struct rpc_client *c, const char *id) {
    struct cuzk_error err;
    struct rpc_ticket ticket;
    struct rpc_result result;
    const struct rpc_submit submit = rpc_fixture_submit(id);
    assert_int_equal(rpc_client_submit(c, &submit, &ticket, LIMIT, &err), CUZK_OK);
    assert_int_equal(ticket.queue_position, 7);
    assert_string_equal(ticket.device, "stub:0");
    const struct engine_stub_record r = engine_stub_read(f->engine);
    assert_string_equal(r.last_request_id, id);
    assert_int_equal(r.last.kind, ENGINE_KIND_POREP);
    assert_int_equal(r.last.sector_size, 2048);
    assert_int_equal(r.last.registered_proof, 5);
    assert_int_equal(r.last.sector_number, 11);
    assert_int_equal(r.last.miner_id, 1000);
    assert_int_equal(r.last.priority, FLOW_HIGH);
    assert_int_equal(r.last.payload_bytes, 15);
    assert_int_equal(r.last.deadline_ns, 0);
    assert_int_equal(rpc_client_await(c, ticket.job_id, 0, &result, LIMIT, &err), CUZK_OK);
    assert_string_equal(result.job_id, ticket.job_id);
    assert_proof(&result);
    assert_int_equal(result.queue_wait_ms, 1);
    assert_int_equal(result.total_ms, 5);
    rpc_result_clear(&result);
    assert_int_equal(rpc_client_prove(c, &submit, &result, LIMIT, &err), CUZK_OK);
    assert_proof(&result);
    assert_string_equal(result.job_id, ticket.job_id); /* the same work */
    rpc_result_clear(&result);
    assert_int_not_equal(engine_stub_read(f->engine).last.deadline_ns, 0);
    bool was_running = true;
    assert_int_equal(rpc_client_cancel(c, ticket.job_id, &was_running, LIMIT, &err), CUZK_OK);
    assert_false(was_running);
    char *text;
    assert_int_equal(rpc_client_metrics(c, &text, LIMIT, &err), CUZK_OK);
    assert_string_equal(text, "stub_uptime_seconds 42.9\n");
    free(text);
}

static void test_methods_unix(void **state) {
    struct rpc_fixture *f = *state;
    every_method(f, f->local, "porep-1000-11");
    struct stat st;
    assert_int_equal(stat(f->socket, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0660);
}

static void test_methods_tcp(void **state) {
    struct rpc_fixture *f = *state;
    every_method(f, f->tcp, "porep-1000-12");
}

static void test_parameters(void **state) {
    struct rpc_fixture *f = *state;
    struct cuzk_error err;
    bool flag;
    uint64_t n;
    engine_stub_set(f->engine, &(struct engine_stub_settings){.preload_ms = 600});
    assert_int_equal(rpc_client_preload(f->tcp, "porep-2k", &flag, &n, LIMIT, &err), CUZK_OK);
    assert_false(flag);
    assert_in_range(n, 550, 5000);
    assert_int_equal(rpc_client_preload(f->tcp, "porep-2k", &flag, &n, LIMIT, &err), CUZK_OK);
    assert_true(flag);
    assert_int_equal(rpc_client_evict(f->tcp, "porep-2k", &flag, &n, LIMIT, &err), CUZK_OK);
    assert_true(flag);
    assert_int_equal(n, 12345);
    struct rpc_call_info info = rpc_fixture_within(20 * SECOND_MS);
    assert_int_equal(rpc_client_evict(f->tcp, "porep-3k", &flag, &n, &info, &err), CUZK_USAGE);
    assert_int_equal(info.grpc_status, GRPC_STATUS_INVALID_ARGUMENT);
    /* A load that outlasts the call ends with it. */
    info = rpc_fixture_within(300);
    engine_stub_set(f->engine, &(struct engine_stub_settings){.preload_ms = 60000});
    assert_int_equal(rpc_client_preload(f->tcp, "porep-2k", &flag, &n, &info, &err), CUZK_DEADLINE);
    assert_int_equal(info.grpc_status, GRPC_STATUS_DEADLINE_EXCEEDED);
}

static void test_status(void **state) {
    struct rpc_fixture *f = *state;
    struct cuzk_error err;
    struct rpc_status *s;
    struct rpc_ticket ticket;
    const struct rpc_submit submit = rpc_fixture_submit("");
    engine_stub_set(f->engine, &(struct engine_stub_settings){.job_ms = 60000});
    assert_int_equal(rpc_client_submit(f->local, &submit, &ticket, LIMIT, &err), CUZK_OK);
    assert_int_equal(rpc_client_status(f->local, &s, LIMIT, &err), CUZK_OK);
    assert_int_equal(s->n_gpus, 1);
    assert_string_equal(s->gpus[0].name, "stub device");
    assert_string_equal(s->gpus[0].current_job_id, "stub-1");
    assert_string_equal(s->gpus[0].current_proof_kind, "porep");
    assert_int_equal(s->n_srs, 1);
    assert_string_equal(s->srs[0].circuit_id, "porep-2k");
    assert_int_equal(s->srs[0].tier, RPC_TIER_COLD);
    assert_int_equal(s->srs[0].size_bytes, 777);
    assert_int_equal(s->srs[0].ref_count, 3);
    assert_int_equal(s->n_queues, 4);
    assert_string_equal(s->queues[0].proof_kind, "porep");
    assert_int_equal(s->queues[0].pending, 1);
    assert_int_equal(s->queues[0].in_progress, 2);
    assert_int_equal(s->queues[2].pending, 0);
    assert_int_equal(s->uptime_seconds, 42);
    assert_int_equal(s->pinned_memory_bytes, 300);
    assert_int_equal(s->pinned_memory_limit_bytes, 1000);
    rpc_status_free(s);
    bool was_running = false;
    assert_int_equal(rpc_client_cancel(f->local, ticket.job_id, &was_running, LIMIT, &err),
                     CUZK_OK);
    assert_true(was_running);
    struct rpc_result result;
    assert_int_equal(rpc_client_await(f->local, ticket.job_id, 0, &result, LIMIT, &err), CUZK_OK);
    assert_int_equal(result.outcome, ENGINE_CANCELLED);
    assert_non_null(strstr(result.error, "CUZK-E-CANCELLED"));
    rpc_result_clear(&result);
}

/* ---- what goes wrong ---- */

static void test_refusals(void **state) {
    static const struct {
        cuzk_status ours;
        int grpc;
    } cases[] = {
        {CUZK_MERKLE_PATH, GRPC_STATUS_INVALID_ARGUMENT},
        {CUZK_REQUEST, GRPC_STATUS_INVALID_ARGUMENT},
        {CUZK_NOT_SERVED, GRPC_STATUS_FAILED_PRECONDITION},
        {CUZK_UNSUPPORTED, GRPC_STATUS_FAILED_PRECONDITION},
        {CUZK_PARAM_MISSING, GRPC_STATUS_FAILED_PRECONDITION},
        {CUZK_PARAM_HEADER, GRPC_STATUS_FAILED_PRECONDITION},
        {CUZK_BUDGET, GRPC_STATUS_RESOURCE_EXHAUSTED},
        {CUZK_QUEUE_FULL, GRPC_STATUS_RESOURCE_EXHAUSTED},
        {CUZK_STOPPING, GRPC_STATUS_UNAVAILABLE},
        {CUZK_NO_DEVICE, GRPC_STATUS_UNAVAILABLE},
        {CUZK_STATE, GRPC_STATUS_UNAVAILABLE},
        {CUZK_INTERNAL, GRPC_STATUS_INTERNAL},
    };
    struct rpc_fixture *f = *state;
    const struct rpc_submit submit = rpc_fixture_submit("r");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cuzk_error err;
        struct rpc_ticket ticket;
        struct rpc_result result;
        struct rpc_call_info info = rpc_fixture_within(20 * SECOND_MS);
        engine_stub_set(f->engine, &(struct engine_stub_settings){.submit_error = cases[i].ours});
        assert_int_equal(rpc_client_submit(f->tcp, &submit, &ticket, &info, &err), cases[i].ours);
        assert_int_equal(info.grpc_status, cases[i].grpc);
        assert_string_equal(err.what, "Phase1Out.seed: the stub refuses: look at it");
        assert_int_equal(rpc_client_prove(f->tcp, &submit, &result, &info, &err), cases[i].ours);
        assert_int_equal(info.grpc_status, cases[i].grpc);
        rpc_result_clear(&result);
    }
}

static void test_failed_job(void **state) {
    struct rpc_fixture *f = *state;
    struct cuzk_error err;
    struct rpc_result result;
    const struct rpc_submit submit = rpc_fixture_submit("f");
    engine_stub_set(f->engine, &(struct engine_stub_settings){.outcome = ENGINE_FAILED,
                                                              .job_error = CUZK_SUSPECT});
    assert_int_equal(rpc_client_prove(f->tcp, &submit, &result, LIMIT, &err), CUZK_OK);
    assert_int_equal(result.outcome, ENGINE_FAILED);
    assert_int_equal(result.proof_bytes, 0);
    assert_string_equal(result.error,
                        "CUZK-E-SUSPECT: partition 3: the stub was told so: look at it");
    rpc_result_clear(&result);
}

static void test_await(void **state) {
    struct rpc_fixture *f = *state;
    struct cuzk_error err;
    struct rpc_ticket ticket;
    struct rpc_result result;
    const struct rpc_submit submit = rpc_fixture_submit("a");
    struct rpc_call_info info = rpc_fixture_within(20 * SECOND_MS);
    engine_stub_set(f->engine,
                    &(struct engine_stub_settings){.job_ms = 60000, .outcome = ENGINE_COMPLETED});
    assert_int_equal(rpc_client_submit(f->local, &submit, &ticket, LIMIT, &err), CUZK_OK);
    const uint64_t begin = clock_ns();
    assert_int_equal(rpc_client_await(f->local, ticket.job_id, 150, &result, &info, &err), CUZK_OK);
    assert_int_equal(result.outcome, ENGINE_TIMEOUT);
    assert_true(clock_seconds_since(begin) >= 0.15 && clock_seconds_since(begin) < 5);
    rpc_result_clear(&result);
    assert_int_equal(rpc_client_await(f->local, "stub-99", 0, &result, &info, &err),
                     CUZK_JOB_UNKNOWN);
    assert_int_equal(info.grpc_status, GRPC_STATUS_NOT_FOUND);
    /* The call's own deadline: the wait ends in the daemon as well, and the job goes on. */
    info = rpc_fixture_within(200);
    assert_int_equal(rpc_client_await(f->local, ticket.job_id, 0, &result, &info, &err),
                     CUZK_DEADLINE);
    WAIT_UNTIL(engine_stub_read(f->engine).watching == 0);
    assert_int_equal(engine_stub_read(f->engine).cancels, 0);
}

/* ---- sizes ---- */

static void test_big(void **state) {
    struct rpc_fixture *f = *state;
    struct cuzk_error err;
    struct rpc_result result;
    const size_t n = 8 << 20;
    uint8_t *bytes = malloc(n);
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += bytes[i] = (uint8_t)(i * 31 + (i >> 13));
    struct rpc_submit submit = rpc_fixture_submit("big");
    submit.vanilla_proof = (struct rpc_bytes){bytes, n};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            rpc_client_prove(i == 0 ? f->local : f->tcp, &submit, &result, LIMIT, &err), CUZK_OK);
        assert_proof(&result);
        rpc_result_clear(&result);
        const struct engine_stub_record r = engine_stub_read(f->engine);
        assert_int_equal(r.last.payload_bytes, n);
        assert_int_equal(r.last_payload_sum, sum);
        /* The largest message was reserved first, then what had come; then nothing. */
        assert_int_equal(r.most_input_bytes, MESSAGE_LIMIT);
        assert_int_equal(r.input_bytes, 0);
    }
    free(bytes);
}

static void test_over_limit(void **state) {
    struct rpc_fixture *f = *state;
    struct cuzk_error err;
    struct rpc_ticket ticket;
    struct rpc_call_info info = rpc_fixture_within(20 * SECOND_MS);
    const size_t n = MESSAGE_LIMIT + 1;
    uint8_t *bytes = calloc(1, n);
    struct rpc_submit submit = rpc_fixture_submit("over");
    submit.vanilla_proof = (struct rpc_bytes){bytes, n};
    assert_int_equal(rpc_client_submit(f->tcp, &submit, &ticket, &info, &err), CUZK_MESSAGE_SIZE);
    assert_int_equal(info.grpc_status, GRPC_STATUS_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(err.what, "limit of 16777216"));
    assert_non_null(strstr(err.what, "max_message"));
    assert_int_equal(engine_stub_read(f->engine).submits, 0);
    free(bytes);
    /* The others have a small limit of their own, without a reservation. */
    const unsigned inputs = engine_stub_read(f->engine).inputs;
    char *id = malloc(100001);
    memset(id, 'x', 100000);
    id[100000] = 0;
    bool flag;
    uint64_t ms;
    assert_int_equal(rpc_client_preload(f->tcp, id, &flag, &ms, &info, &err), CUZK_MESSAGE_SIZE);
    free(id);
    assert_int_equal(engine_stub_read(f->engine).inputs, inputs);
}

/* No more messages are taken in than there is room for, and all are answered. */
struct crowd {
    struct rpc_fixture *f;
    unsigned number;
    cuzk_status status;
};

static void *crowd_main(void *ctx) {
    struct crowd *m = ctx;
    struct cuzk_error err;
    struct rpc_result result;
    char id[32];
    snprintf(id, sizeof id, "crowd-%u", m->number);
    const struct rpc_submit submit = rpc_fixture_submit(id);
    struct rpc_call_info info = rpc_fixture_within(20 * SECOND_MS);
    m->status = rpc_client_prove(m->f->tcp, &submit, &result, &info, &err);
    if (m->status == CUZK_OK && result.outcome != ENGINE_COMPLETED) m->status = CUZK_INTERNAL;
    rpc_result_clear(&result);
    return NULL;
}

static void test_crowd(void **state) {
    enum { N = 24 };
    struct rpc_fixture *f = *state;
    struct crowd members[N];
    pthread_t threads[N];
    engine_stub_set(f->engine, &(struct engine_stub_settings){.room_bytes = 2 * MESSAGE_LIMIT,
                                                              .submit_ms = 20,
                                                              .job_ms = 20,
                                                              .outcome = ENGINE_COMPLETED});
    for (unsigned i = 0; i < N; i++) {
        members[i] = (struct crowd){f, i, CUZK_INTERNAL};
        assert_int_equal(pthread_create(&threads[i], NULL, crowd_main, &members[i]), 0);
    }
    for (unsigned i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(members[i].status, CUZK_OK);
    const struct engine_stub_record r = engine_stub_read(f->engine);
    assert_in_range(r.most_input_bytes, MESSAGE_LIMIT, 2 * MESSAGE_LIMIT);
    assert_int_equal(r.submits, N);
}

static void test_room_too_small(void **state) {
    struct rpc_fixture *f = *state;
    struct cuzk_error err;
    struct rpc_ticket ticket;
    const struct rpc_submit submit = rpc_fixture_submit("r");
    struct rpc_call_info info = rpc_fixture_within(20 * SECOND_MS);
    engine_stub_set(f->engine, &(struct engine_stub_settings){.room_bytes = MESSAGE_LIMIT - 1});
    assert_int_equal(rpc_client_submit(f->tcp, &submit, &ticket, &info, &err), CUZK_BUDGET);
    assert_int_equal(info.grpc_status, GRPC_STATUS_RESOURCE_EXHAUSTED);
}

/* ---- clients that go ---- */

struct waiter {
    struct rpc_client *client;
    const char *request_id; /* a Prove of it; NULL: an Await of job_id */
    const char *job_id;
    unsigned ms;
    pthread_t thread;
    cuzk_status status;
    enum engine_outcome outcome;
};

static void *waiter_main(void *ctx) {
    struct waiter *w = ctx;
    struct cuzk_error err;
    struct rpc_result result;
    struct rpc_call_info info = rpc_fixture_within(w->ms);
    if (w->request_id != NULL) {
        const struct rpc_submit submit = rpc_fixture_submit(w->request_id);
        w->status = rpc_client_prove(w->client, &submit, &result, &info, &err);
    } else {
        w->status = rpc_client_await(w->client, w->job_id, 0, &result, &info, &err);
    }
    w->outcome = result.outcome;
    rpc_result_clear(&result);
    return NULL;
}

static void begin_waiting(struct waiter *w, struct rpc_fixture *f, unsigned watching) {
    assert_int_equal(pthread_create(&w->thread, NULL, waiter_main, w), 0);
    WAIT_UNTIL(engine_stub_read(f->engine).watching == watching);
}

static void long_jobs(struct rpc_fixture *f) {
    engine_stub_set(f->engine,
                    &(struct engine_stub_settings){.job_ms = 60000, .outcome = ENGINE_COMPLETED});
}

static void test_dropped_client(void **state) {
    struct rpc_fixture *f = *state;
    long_jobs(f);
    struct rpc_client *c = rpc_fixture_connect(f->tcp_address);
    struct waiter w = {.client = c, .request_id = "d", .ms = 30 * SECOND_MS};
    begin_waiting(&w, f, 1);
    rpc_client_abort(c);
    pthread_join(w.thread, NULL);
    assert_int_equal(w.status, CUZK_CANCELLED);
    WAIT_UNTIL(engine_stub_read(f->engine).cancels == 1);
    assert_string_equal(engine_stub_read(f->engine).last_cancelled, "stub-1");
    WAIT_UNTIL(engine_stub_read(f->engine).watching == 0);
    rpc_client_destroy(c);
}

static void test_prove_deadline(void **state) {
    struct rpc_fixture *f = *state;
    long_jobs(f);
    struct waiter w = {.client = f->local, .request_id = "p", .ms = 300};
    begin_waiting(&w, f, 1);
    pthread_join(w.thread, NULL);
    assert_int_equal(w.status, CUZK_DEADLINE);
    WAIT_UNTIL(engine_stub_read(f->engine).cancels == 1);
}

/* A job that somebody else waits for, or that an earlier Submit made, outlives the dropped Prove.
 */
static void test_shared_job(void **state) {
    struct rpc_fixture *f = *state;
    long_jobs(f);
    struct rpc_client *c = rpc_fixture_connect(f->tcp_address),
                      *d = rpc_fixture_connect(f->tcp_address);
    struct waiter first = {.client = c, .request_id = "s", .ms = 30 * SECOND_MS};
    struct waiter second = {.client = d, .request_id = "s", .ms = 30 * SECOND_MS};
    begin_waiting(&first, f, 1);
    begin_waiting(&second, f, 2);
    rpc_client_abort(c);
    pthread_join(first.thread, NULL);
    WAIT_UNTIL(engine_stub_read(f->engine).watching == 1);
    usleep(50000);
    assert_int_equal(engine_stub_read(f->engine).cancels, 0);
    /* The last of the Proves takes it along. */
    rpc_client_abort(d);
    pthread_join(second.thread, NULL);
    WAIT_UNTIL(engine_stub_read(f->engine).cancels == 1);
    rpc_client_destroy(c);
    rpc_client_destroy(d);

    struct cuzk_error err;
    struct rpc_ticket ticket;
    const struct rpc_submit submit = rpc_fixture_submit("t");
    assert_int_equal(rpc_client_submit(f->tcp, &submit, &ticket, LIMIT, &err), CUZK_OK);
    struct waiter third = {.client = f->tcp, .request_id = "t", .ms = 200};
    begin_waiting(&third, f, 1);
    pthread_join(third.thread, NULL);
    WAIT_UNTIL(engine_stub_read(f->engine).watching == 0);
    usleep(50000);
    assert_int_equal(engine_stub_read(f->engine).cancels, 1);
}

/* A client that goes while it waits for room gives its place up. */
static void test_dropped_in_room(void **state) {
    struct rpc_fixture *f = *state;
    engine_stub_set(f->engine, &(struct engine_stub_settings){.room_bytes = MESSAGE_LIMIT,
                                                              .submit_ms = 400,
                                                              .outcome = ENGINE_COMPLETED});
    struct engine_input taken;
    assert_int_equal(engine_input_reserve(f->engine, MESSAGE_LIMIT, 0, NULL, &taken, NULL),
                     CUZK_OK);
    struct waiter w = {.client = f->local, .request_id = "q", .ms = 200};
    begin_waiting(&w, f, 0);
    WAIT_UNTIL(engine_stub_read(f->engine).waiting_for_room == 1);
    pthread_join(w.thread, NULL);
    assert_int_equal(w.status, CUZK_DEADLINE);
    WAIT_UNTIL(engine_stub_read(f->engine).waiting_for_room == 0);
    engine_input_release(f->engine, &taken);
    struct waiter next = {.client = f->tcp, .request_id = "r", .ms = 20 * SECOND_MS};
    assert_int_equal(pthread_create(&next.thread, NULL, waiter_main, &next), 0);
    pthread_join(next.thread, NULL);
    assert_int_equal(next.outcome, ENGINE_COMPLETED);
    assert_int_equal(engine_stub_read(f->engine).submits, 1);
}

/* ---- the service ---- */

static void *submit_main(void *ctx) {
    struct cuzk_error err;
    struct rpc_ticket ticket;
    const struct rpc_submit submit = rpc_fixture_submit("");
    struct rpc_call_info info = rpc_fixture_within(30 * SECOND_MS);
    return rpc_client_submit(ctx, &submit, &ticket, &info, &err) == CUZK_OK ? ctx : NULL;
}

/* Ten submits of half a second each do not hold up a status. */
static void test_status_under_load(void **state) {
    enum { N = 10 };
    struct rpc_fixture *f = *state;
    pthread_t threads[N];
    engine_stub_set(f->engine, &(struct engine_stub_settings){.submit_ms = 500});
    for (int i = 0; i < N; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, submit_main, f->tcp), 0);
    WAIT_UNTIL(engine_stub_read(f->engine).submits >= 4);
    double worst = 0;
    for (int i = 0; i < 20; i++) {
        struct cuzk_error err;
        struct rpc_status *s;
        const uint64_t begin = clock_ns();
        assert_int_equal(rpc_client_status(f->local, &s, LIMIT, &err), CUZK_OK);
        const double t = clock_seconds_since(begin);
        if (t > worst) worst = t;
        rpc_status_free(s);
    }
    const unsigned submits = engine_stub_read(f->engine).submits;
    printf("status under load: worst %.1f ms, %u submits begun\n", worst * 1e3, submits);
    assert_true(submits < N || worst < 0.1);
    for (int i = 0; i < N; i++) {
        void *ok;
        pthread_join(threads[i], &ok);
        assert_non_null(ok);
    }
}

static void test_stop_accepting(void **state) {
    struct rpc_fixture *f = *state;
    struct cuzk_error err;
    struct rpc_ticket ticket;
    struct rpc_status *s;
    engine_stub_set(f->engine,
                    &(struct engine_stub_settings){.job_ms = 400, .outcome = ENGINE_COMPLETED});
    struct waiter w = {.client = f->local, .request_id = "w", .ms = 20 * SECOND_MS};
    begin_waiting(&w, f, 1);
    rpc_server_stop_accepting(f->server);
    const struct rpc_submit submit = rpc_fixture_submit("late");
    struct rpc_call_info info = rpc_fixture_within(20 * SECOND_MS);
    assert_int_equal(rpc_client_submit(f->tcp, &submit, &ticket, &info, &err), CUZK_STOPPING);
    assert_int_equal(info.grpc_status, GRPC_STATUS_UNAVAILABLE);
    assert_int_equal(rpc_client_status(f->tcp, &s, LIMIT, &err), CUZK_OK);
    rpc_status_free(s);
    pthread_join(w.thread, NULL);
    assert_int_equal(w.status, CUZK_OK);
    assert_int_equal(w.outcome, ENGINE_COMPLETED);
}

/* The end of the server answers who waits, and leaves the jobs alone. */
static void test_destroy_answers(void **state) {
    struct rpc_fixture *f = *state;
    long_jobs(f);
    struct waiter w = {.client = f->local, .request_id = "x", .ms = 30 * SECOND_MS};
    begin_waiting(&w, f, 1);
    rpc_server_destroy(f->server);
    f->server = NULL;
    pthread_join(w.thread, NULL);
    assert_int_equal(w.status, CUZK_STOPPING);
    assert_int_equal(engine_stub_read(f->engine).cancels, 0);
    struct cuzk_error err;
    struct rpc_status *s;
    struct rpc_call_info info = rpc_fixture_within(5 * SECOND_MS);
    assert_int_equal(rpc_client_status(f->tcp, &s, &info, &err), CUZK_CONNECT);
    assert_int_equal(info.grpc_status, GRPC_STATUS_UNAVAILABLE);
}

static void expect_no_server(const struct rpc_fixture *f, const char *address,
                             cuzk_status expected) {
    struct rpc_server *s;
    struct cuzk_error err = {.code = CUZK_OK};
    const struct rpc_options o = {.listen = {address}, .n_listen = 1};
    const cuzk_status status = rpc_server_create(&s, f->engine, &o, &err);
    if (status != expected) fail_msg("%s: %s (%s)", address, status_name(status), err.what);
    assert_null(s);
}

static void test_addresses(void **state) {
    struct rpc_fixture *f = *state;
    char text[256];
    struct cuzk_error err;
    struct rpc_status *status;
    /* Live ones are left alone, and go on serving. */
    expect_no_server(f, f->socket_address, CUZK_ADDRESS_IN_USE);
    expect_no_server(f, f->tcp_address, CUZK_ADDRESS_IN_USE);
    assert_int_equal(rpc_client_status(f->local, &status, LIMIT, &err), CUZK_OK);
    rpc_status_free(status);
    struct rpc_client *fresh = rpc_fixture_connect(f->socket_address);
    assert_int_equal(rpc_client_status(fresh, &status, LIMIT, &err), CUZK_OK);
    rpc_status_free(status);
    rpc_client_destroy(fresh);
    /* What makes no sense, or cannot be. */
    expect_no_server(f, "nonsense", CUZK_CONFIG);
    expect_no_server(f, "127.0.0.1:99999", CUZK_CONFIG);
    expect_no_server(f, "unix://relative", CUZK_CONFIG);
    expect_no_server(f, "203.0.113.7:9820", CUZK_LISTEN);
    snprintf(text, sizeof text, "unix://%s/none/s", f->folder);
    expect_no_server(f, text, CUZK_LISTEN);
    /* A file that is no socket is not removed. */
    snprintf(text, sizeof text, "%s/file", f->folder);
    close(open(text, O_CREAT | O_WRONLY, 0600));
    char address[300];
    snprintf(address, sizeof address, "unix://%s", text);
    expect_no_server(f, address, CUZK_LISTEN);
    assert_int_equal(unlink(text), 0);
    /* A socket that nobody serves is replaced. */
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    snprintf(sa.sun_path, sizeof sa.sun_path, "%s/stale", f->folder);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof sa), 0);
    close(fd);
    snprintf(address, sizeof address, "unix://%s", sa.sun_path);
    struct rpc_server *second;
    const struct rpc_options o = {.listen = {address}, .n_listen = 1, .socket_mode = 0600};
    assert_int_equal(rpc_server_create(&second, f->engine, &o, &err), CUZK_OK);
    struct stat st;
    assert_int_equal(stat(sa.sun_path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    rpc_server_destroy(second);
    assert_int_equal(access(sa.sun_path, F_OK), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, rpc_fixture_setup, rpc_fixture_teardown)
        T(test_methods_unix),    T(test_methods_tcp),
        T(test_parameters),      T(test_status),
        T(test_refusals),        T(test_failed_job),
        T(test_await),           T(test_big),
        T(test_over_limit),      T(test_crowd),
        T(test_room_too_small),  T(test_dropped_client),
        T(test_prove_deadline),  T(test_shared_job),
        T(test_dropped_in_room), T(test_status_under_load),
        T(test_stop_accepting),  T(test_destroy_answers),
        T(test_addresses),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
