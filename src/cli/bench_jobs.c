#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "bench_request.h"
#include "clock.h"
#include "file.h"

const char *bench_outcome_name(enum engine_outcome outcome) {
    static const char *const names[] = {"UNKNOWN", "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"};
    return names[outcome];
}

/* ---- a line on the terminal while a call is under way ---- */

struct ticker {
    struct rpc_client *client;
    pthread_t thread;
    atomic_bool end;
    bool runs;
};

static void print_tick(struct rpc_client *client, double seconds) {
    struct rpc_status *status = NULL;
    struct rpc_call_info call = {.timeout_ns = 1000000000};
    if (rpc_client_status(client, &status, &call, NULL) != CUZK_OK) return;
    uint32_t pending = 0, in_progress = 0;
    for (size_t i = 0; i < status->n_queues; i++) {
        pending += status->queues[i].pending;
        in_progress += status->queues[i].in_progress;
    }
    fprintf(stderr, "\r%6.1f s  %u in progress, %u pending   ", seconds, in_progress, pending);
    rpc_status_free(status);
}

static void *tick(void *arg) {
    struct ticker *t = arg;
    const uint64_t start = clock_ns();
    const struct timespec pause = {.tv_nsec = 250000000};
    while (!atomic_load(&t->end)) {
        print_tick(t->client, clock_seconds_since(start));
        nanosleep(&pause, NULL);
    }
    fprintf(stderr, "\r%40s\r", "");
    return NULL;
}

static void ticker_start(struct ticker *t, struct rpc_client *client) {
    *t = (struct ticker){.client = client};
    t->runs = isatty(STDERR_FILENO) && pthread_create(&t->thread, NULL, tick, t) == 0;
}

static void ticker_stop(struct ticker *t) {
    atomic_store(&t->end, true);
    if (t->runs) pthread_join(t->thread, NULL);
}

/* ---- single, await ---- */

static cuzk_status print_result(const struct rpc_result *r, const char *out, double seconds,
                                struct cuzk_error *err) {
    printf("job:         %s\nstatus:      %s\nwall time:   %.1fs\n", r->job_id,
           bench_outcome_name(r->outcome), seconds);
    printf("queue:       %" PRIu64 " ms\nsrs load:    %" PRIu64 " ms\nsynthesis:   %" PRIu64
           " ms\ngpu compute: %" PRIu64 " ms\ntotal:       %" PRIu64 " ms\n",
           r->queue_wait_ms, r->srs_load_ms, r->synthesis_ms, r->gpu_compute_ms, r->total_ms);
    if (r->outcome != ENGINE_COMPLETED)
        return error_set(err, r->outcome == ENGINE_FAILED ? CUZK_PROOF_INVALID : CUZK_CANCELLED,
                         r->job_id, NULL, "the job ended as %s: %.250s",
                         bench_outcome_name(r->outcome), r->error);
    if (out != NULL) CUZK_TRY(file_write(out, r->proof, r->proof_bytes, err));
    printf("proof:       %zu bytes%s%s\n", r->proof_bytes, out != NULL ? ", " : "",
           out != NULL ? out : "");
    return CUZK_OK;
}

/* Proves `submit`, or waits for `job_id` if that is not NULL. */
static cuzk_status prove_or_await(const struct bench *bench, const struct rpc_submit *submit,
                                  const char *job_id, uint64_t timeout_seconds, const char *out,
                                  struct cuzk_error *err) {
    struct rpc_client *client;
    CUZK_TRY(bench_connect(&client, bench, err));
    struct rpc_result result = {0};
    struct rpc_call_info call = {0};
    struct ticker ticker;
    const uint64_t start = clock_ns();
    ticker_start(&ticker, client);
    cuzk_status s;
    if (job_id != NULL) {
        s = rpc_client_await(client, job_id, timeout_seconds * 1000, &result, &call, err);
    } else {
        call.timeout_ns = timeout_seconds * 1000000000u;
        s = rpc_client_prove(client, submit, &result, &call, err);
    }
    ticker_stop(&ticker);
    if (s == CUZK_OK) s = print_result(&result, out, clock_seconds_since(start), err);
    rpc_result_clear(&result);
    rpc_client_destroy(client);
    return s;
}

cuzk_status bench_single(const struct bench *bench, int argc, char **argv, struct cuzk_error *err) {
    struct bench_request request = {0};
    struct option_u64 timeout = {.value = 1800};
    const char *out = NULL;
    struct option_spec options[BENCH_REQUEST_OPTIONS + 8] = {
        {"timeout", OPTION_U64, &timeout, "SECONDS", "for the proof (default 1800; 0: none)",
         .required = false},
        {"out", OPTION_STRING, &out, "FILE", "write the proof there", .required = false},
        {"partition", OPTION_U64, &request.partition, "N", "partition index (wpost)",
         .required = false},
    };
    const size_t n = bench_request_options(&request, options, 3);
    options[n] = (struct option_spec){.kind = OPTION_END};
    const struct command_spec spec = {"cuzk-bench [-a ADDR] single -t TYPE --c1 FILE [options]",
                                      "Sends one proof and reports its phases.", options};
    bool help = false;
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    if (help) return CUZK_OK;
    char id[64];
    snprintf(id, sizeof id, "bench-%d", (int)getpid());
    request.submit.request_id = id;
    cuzk_status s = bench_request_load(&request, err);
    if (s == CUZK_OK) s = prove_or_await(bench, &request.submit, NULL, timeout.value, out, err);
    bench_request_free(&request);
    return s;
}

cuzk_status bench_await(const struct bench *bench, int argc, char **argv, struct cuzk_error *err) {
    struct option_u64 timeout = {0};
    const char *job = NULL, *out = NULL;
    const struct option_spec options[] = {
        {"job", OPTION_STRING, &job, "ID", "the job", .required = true},
        {"timeout", OPTION_U64, &timeout, "SECONDS", "how long (default 0: no limit)",
         .required = false},
        {"out", OPTION_STRING, &out, "FILE", "write the proof there", .required = false},
        {.kind = OPTION_END},
    };
    const struct command_spec spec = {"cuzk-bench [-a ADDR] await --job ID [options]",
                                      "Waits for a job that was submitted.", options};
    bool help = false;
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    if (help) return CUZK_OK;
    return prove_or_await(bench, NULL, job, timeout.value, out, err);
}

/* ---- submit, cancel ---- */

static cuzk_status submit_only(const struct bench *bench, struct bench_request *request,
                               struct cuzk_error *err) {
    CUZK_TRY(bench_request_load(request, err));
    struct rpc_client *client;
    CUZK_TRY(bench_connect(&client, bench, err));
    struct rpc_ticket ticket;
    const cuzk_status s = rpc_client_submit(client, &request->submit, &ticket, NULL, err);
    if (s == CUZK_OK)
        printf("job:         %s\nposition:    %u\n", ticket.job_id, ticket.queue_position);
    rpc_client_destroy(client);
    return s;
}

cuzk_status bench_submit(const struct bench *bench, int argc, char **argv, struct cuzk_error *err) {
    struct bench_request request = {0};
    const char *id = NULL;
    struct option_u64 priority = {0};
    struct option_spec options[BENCH_REQUEST_OPTIONS + 8] = {
        {"request-id", OPTION_STRING, &id, "ID", "with the payload, the key of the job",
         .required = false},
        {"priority", OPTION_U64, &priority, "N", "1 low, 2 normal, 3 high, 4 critical",
         .required = false},
    };
    const size_t n = bench_request_options(&request, options, 2);
    options[n] = (struct option_spec){.kind = OPTION_END};
    const struct command_spec spec = {"cuzk-bench [-a ADDR] submit -t TYPE --c1 FILE [options]",
                                      "Sends one proof and prints the job's id.", options};
    bool help = false;
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    if (help) return CUZK_OK;
    request.submit.request_id = id;
    request.submit.priority = (int)priority.value;
    const cuzk_status s = submit_only(bench, &request, err);
    bench_request_free(&request);
    return s;
}

cuzk_status bench_cancel(const struct bench *bench, int argc, char **argv, struct cuzk_error *err) {
    const char *job = NULL;
    const struct option_spec options[] = {
        {"job", OPTION_STRING, &job, "ID", "the job", .required = true},
        {.kind = OPTION_END},
    };
    const struct command_spec spec = {"cuzk-bench [-a ADDR] cancel --job ID", "Cancels a job.",
                                      options};
    bool help = false, was_running = false;
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    if (help) return CUZK_OK;
    struct rpc_client *client;
    CUZK_TRY(bench_connect(&client, bench, err));
    const cuzk_status s = rpc_client_cancel(client, job, &was_running, NULL, err);
    if (s == CUZK_OK) printf("%s %s\n", job, was_running ? "is cancelled" : "had ended");
    rpc_client_destroy(client);
    return s;
}
