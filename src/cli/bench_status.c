#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "command.h"
#include "options.h"

static const uint64_t status_timeout_ns = 5000000000;

cuzk_status bench_connect(struct rpc_client **out, const struct bench *bench,
                          struct cuzk_error *err) {
    const struct rpc_client_options options = {.address = bench->address};
    return rpc_client_create(out, &options, err);
}

/* Parses a command without options of its own but `circuit` (NULL: none). */
static cuzk_status parse(const char *usage, const char *summary, const char **circuit, int argc,
                         char **argv, bool *help, struct cuzk_error *err) {
    struct option_spec options[2] = {{.kind = OPTION_END}, {.kind = OPTION_END}};
    if (circuit != NULL)
        options[0] = (struct option_spec){"c|circuit-id", OPTION_STRING,  circuit,
                                          "ID",           "as porep-32g", true};
    const struct command_spec spec = {usage, summary, options};
    return options_parse(&spec, argc, argv, help, err);
}

static void print_status(const struct rpc_status *s) {
    static const char *const tiers[] = {"hot", "warm", "cold"};
    char bytes[32];
    printf("uptime:      %" PRIu64 " s\ncompleted:   %" PRIu64 "\nfailed:      %" PRIu64 "\n",
           s->uptime_seconds, s->total_proofs_completed, s->total_proofs_failed);
    for (size_t i = 0; i < s->n_gpus; i++) {
        const struct rpc_gpu *g = &s->gpus[i];
        printf("device %u:    %s%s%s\n", g->ordinal, g->name,
               g->current_job_id[0] != '\0' ? ", proves " : "", g->current_job_id);
    }
    for (size_t i = 0; i < s->n_srs; i++)
        printf("parameters:  %s, %s, %s, %u in use\n", s->srs[i].circuit_id,
               tiers[s->srs[i].tier <= RPC_TIER_COLD ? s->srs[i].tier : RPC_TIER_COLD],
               format_bytes(bytes, s->srs[i].size_bytes), s->srs[i].ref_count);
    for (size_t i = 0; i < s->n_queues; i++)
        printf("queue:       %s, %u pending, %u in progress\n", s->queues[i].proof_kind,
               s->queues[i].pending, s->queues[i].in_progress);
}

cuzk_status bench_status(const struct bench *bench, int argc, char **argv, struct cuzk_error *err) {
    bool help = false;
    CUZK_TRY(parse("cuzk-bench [-a ADDR] status", "Shows what the daemon does.", NULL, argc, argv,
                   &help, err));
    if (help) return CUZK_OK;
    struct rpc_client *client;
    CUZK_TRY(bench_connect(&client, bench, err));
    struct rpc_status *status = NULL;
    struct rpc_call_info call = {.timeout_ns = status_timeout_ns};
    const cuzk_status s = rpc_client_status(client, &status, &call, err);
    if (s == CUZK_OK) print_status(status);
    rpc_status_free(status);
    rpc_client_destroy(client);
    return s;
}

cuzk_status bench_metrics(const struct bench *bench, int argc, char **argv,
                          struct cuzk_error *err) {
    bool help = false;
    CUZK_TRY(parse("cuzk-bench [-a ADDR] metrics", "Prints the daemon's metrics.", NULL, argc, argv,
                   &help, err));
    if (help) return CUZK_OK;
    struct rpc_client *client;
    CUZK_TRY(bench_connect(&client, bench, err));
    char *text = NULL;
    struct rpc_call_info call = {.timeout_ns = status_timeout_ns};
    const cuzk_status s = rpc_client_metrics(client, &text, &call, err);
    if (s == CUZK_OK) fputs(text, stdout);
    free(text);
    rpc_client_destroy(client);
    return s;
}

cuzk_status bench_preload(const struct bench *bench, int argc, char **argv,
                          struct cuzk_error *err) {
    bool help = false, already = false;
    const char *circuit = NULL;
    CUZK_TRY(parse("cuzk-bench [-a ADDR] preload -c ID", "Loads a circuit's parameters.", &circuit,
                   argc, argv, &help, err));
    if (help) return CUZK_OK;
    struct rpc_client *client;
    CUZK_TRY(bench_connect(&client, bench, err));
    uint64_t ms = 0;
    const cuzk_status s = rpc_client_preload(client, circuit, &already, &ms, NULL, err);
    if (s == CUZK_OK && already) printf("%s was loaded already\n", circuit);
    if (s == CUZK_OK && !already) printf("%s loaded in %" PRIu64 " ms\n", circuit, ms);
    rpc_client_destroy(client);
    return s;
}

cuzk_status bench_evict(const struct bench *bench, int argc, char **argv, struct cuzk_error *err) {
    bool help = false, was_loaded = false;
    const char *circuit = NULL;
    CUZK_TRY(parse("cuzk-bench [-a ADDR] evict -c ID", "Gives a circuit's parameters back.",
                   &circuit, argc, argv, &help, err));
    if (help) return CUZK_OK;
    struct rpc_client *client;
    CUZK_TRY(bench_connect(&client, bench, err));
    uint64_t freed = 0;
    char bytes[32];
    const cuzk_status s = rpc_client_evict(client, circuit, &was_loaded, &freed, NULL, err);
    if (s == CUZK_OK && was_loaded) printf("%s: %s freed\n", circuit, format_bytes(bytes, freed));
    if (s == CUZK_OK && !was_loaded) printf("%s was not loaded\n", circuit);
    rpc_client_destroy(client);
    return s;
}
