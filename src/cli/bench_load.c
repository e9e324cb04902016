#include "bench_load.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "bench.h"
#include "clock.h"
#include "file.h"

static void count_in(struct load_figures *f, double v) {
    f->min = f->n == 0 ? v : fmin(f->min, v);
    f->max = f->n == 0 ? v : fmax(f->max, v);
    f->sum += v;
    f->n++;
}

struct load {
    const struct load_options *options;
    struct load_result *result;
    pthread_mutex_t mutex;
    unsigned begun, ended;
};

static cuzk_status keep_proof(const struct load *load, unsigned index, const struct rpc_result *r,
                              struct cuzk_error *err) {
    if (load->options->out_dir == NULL) return CUZK_OK;
    char path[1024];
    snprintf(path, sizeof path, "%s/proof-%u.bin", load->options->out_dir, index + 1);
    return file_write(path, r->proof, r->proof_bytes, err);
}

/* The line of a proof that ended, in the order of ending. */
static void report(struct load *load, const struct rpc_result *r, double seconds,
                   const struct cuzk_error *err) {
    pthread_mutex_lock(&load->mutex);
    load->ended++;
    const bool ok = err->code == CUZK_OK && r->outcome == ENGINE_COMPLETED;
    if (ok) {
        const uint64_t prove_ms = r->total_ms - r->queue_wait_ms;
        load->result->completed++;
        count_in(&load->result->wall, seconds);
        count_in(&load->result->prove, (double)prove_ms * 1e-3);
        if (!load->options->quiet)
            printf("  [%u/%u] COMPLETED — %.1fs (prove=%" PRIu64 " ms, queue=%" PRIu64 " ms)\n",
                   load->ended, load->options->count, seconds, prove_ms, r->queue_wait_ms);
    } else {
        char text[1200];
        if (err->code != CUZK_OK)
            error_format(err, text, sizeof text);
        else
            snprintf(text, sizeof text, "%s", r->error);
        load->result->failed++;
        if (load->result->first_error.code == CUZK_OK) {
            load->result->first_error = *err;
            if (err->code == CUZK_OK)
                error_set(&load->result->first_error, CUZK_PROOF_INVALID, r->job_id,
                          "see the lines above", "the job ended as %s: %.200s",
                          bench_outcome_name(r->outcome), r->error);
        }
        if (!load->options->quiet)
            printf("  [%u/%u] %s — %.1fs (%s)\n", load->ended, load->options->count,
                   err->code != CUZK_OK ? "FAILED" : bench_outcome_name(r->outcome), seconds, text);
    }
    fflush(stdout);
    pthread_mutex_unlock(&load->mutex);
}

static void prove_one(struct load *load, unsigned index) {
    char id[64];
    struct rpc_submit submit = load->options->request->submit;
    snprintf(id, sizeof id, "bench-%d-%u", (int)getpid(), index);
    submit.request_id = id;
    struct rpc_result result = {0};
    struct cuzk_error err = {.code = CUZK_OK};
    struct rpc_call_info call = {.timeout_ns = load->options->timeout_ns};
    const uint64_t start = clock_ns();
    cuzk_status s = rpc_client_prove(load->options->client, &submit, &result, &call, &err);
    const double seconds = clock_seconds_since(start);
    if (s == CUZK_OK && result.outcome == ENGINE_COMPLETED)
        s = keep_proof(load, index, &result, &err);
    err.code = s;
    report(load, &result, seconds, &err);
    rpc_result_clear(&result);
}

static void *load_worker(void *arg) {
    struct load *load = arg;
    for (;;) {
        pthread_mutex_lock(&load->mutex);
        const unsigned index = load->begun;
        if (index < load->options->count) load->begun++;
        pthread_mutex_unlock(&load->mutex);
        if (index >= load->options->count) return NULL;
        prove_one(load, index);
    }
}

cuzk_status bench_load_run(struct load_result *out, const struct load_options *options,
                           struct cuzk_error *err) {
    *out = (struct load_result){0};
    struct load load = {.options = options, .result = out};
    pthread_t threads[LOAD_MAX_CONCURRENCY];
    unsigned n = 0;
    pthread_mutex_init(&load.mutex, NULL);
    const uint64_t start = clock_ns();
    while (n < options->concurrency && n < options->count &&
           pthread_create(&threads[n], NULL, load_worker, &load) == 0)
        n++;
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&load.mutex);
    out->seconds = clock_seconds_since(start);
    if (n == 0) return error_set(err, CUZK_NO_MEMORY, NULL, NULL, "no thread could be started");
    return CUZK_OK;
}
