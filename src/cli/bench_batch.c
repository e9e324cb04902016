#include <inttypes.h>
#include <stdio.h>

#include "bench.h"
#include "bench_load.h"

static void print_figures(const char *name, const struct load_figures *f) {
    if (f->n == 0)
        printf("%-15savg=- min=- max=-\n", name);
    else
        printf("%-15savg=%.1fs min=%.1fs max=%.1fs\n", name, f->sum / f->n, f->min, f->max);
}

static void print_summary(const struct load_result *r) {
    printf("\n=== Batch Summary ===\n");
    printf("total time:    %.1fs\n", r->seconds);
    printf("completed:     %u\n", r->completed);
    printf("failed:        %u\n", r->failed);
    print_figures("wall time:", &r->wall);
    print_figures("prove time:", &r->prove);
    if (r->completed > 0)
        printf("throughput:    %.3f proofs/min (%.1fs/proof)\n", r->completed / r->seconds * 60,
               r->seconds / r->completed);
    else
        printf("throughput:    0.000 proofs/min\n");
}

static cuzk_status load_and_run(const struct bench *bench, struct bench_request *request,
                                struct load_options *load, struct cuzk_error *err) {
    CUZK_TRY(bench_request_load(request, err));
    CUZK_TRY(bench_connect(&load->client, bench, err));
    printf("=== Batch Benchmark ===\nproof type:  %s\ncount:       %u\nconcurrency: %u\n\n",
           request->type, load->count, load->concurrency);
    struct load_result result;
    cuzk_status s = bench_load_run(&result, load, err);
    if (s == CUZK_OK) print_summary(&result);
    if (s == CUZK_OK && result.failed > 0) {
        s = result.first_error.code;
        if (err != NULL) *err = result.first_error;
    }
    rpc_client_destroy(load->client);
    return s;
}

static cuzk_status check_range(const char *option, uint64_t value, uint64_t most,
                               struct cuzk_error *err) {
    if (value >= 1 && value <= most) return CUZK_OK;
    return error_set(err, CUZK_USAGE, option, NULL, "give a number from 1 to %" PRIu64, most);
}

cuzk_status bench_batch(const struct bench *bench, int argc, char **argv, struct cuzk_error *err) {
    struct bench_request request = {0};
    struct option_u64 count = {.value = 3}, concurrency = {.value = 1}, timeout = {.value = 1800};
    struct load_options load = {.request = &request};
    struct option_spec options[BENCH_REQUEST_OPTIONS + 8] = {
        {"c|count", OPTION_U64, &count, "N", "how many proofs (default 3)", false},
        {"j|concurrency", OPTION_U64, &concurrency, "N", "how many at once (default 1)", false},
        {"timeout", OPTION_U64, &timeout, "SECONDS", "for one proof (default 1800; 0: none)",
         .required = false},
        {"out", OPTION_STRING, &load.out_dir, "DIR", "write the proofs there, as proof-N.bin",
         .required = false},
    };
    const size_t n = bench_request_options(&request, options, 4);
    options[n] = (struct option_spec){.kind = OPTION_END};
    const struct command_spec spec = {"cuzk-bench [-a ADDR] batch -t TYPE --c1 FILE [options]",
                                      "Sends the same proof many times and reports the times.",
                                      options};
    bool help = false;
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    if (help) return CUZK_OK;
    CUZK_TRY(check_range("--count", count.value, LOAD_MAX_COUNT, err));
    CUZK_TRY(check_range("--concurrency", concurrency.value, LOAD_MAX_CONCURRENCY, err));
    load.count = (unsigned)count.value;
    load.concurrency = (unsigned)concurrency.value;
    load.timeout_ns = timeout.value * 1000000000u;
    const cuzk_status s = load_and_run(bench, &request, &load, err);
    bench_request_free(&request);
    return s;
}
