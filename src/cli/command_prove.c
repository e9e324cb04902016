#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuzk/cuzk.h>

#include "clock.h"
#include "command.h"
#include "file.h"
#include "json_out.h"
#include "options.h"

/* What the arguments ask for. */
struct prove_request {
    const char *c1, *params_dir, *out, *backend;
    struct option_u64 miner, partition, threads, r, s;
    bool check_only, check_constraints, json, quiet;
};

/* What was made, for the report. */
struct prove_result {
    unsigned first, n; /* partitions */
    uint8_t *proof;    /* n * CUZK_PROOF_BYTES */
    struct cuzk_timings *timings;
    double decode_seconds, check_seconds, load_seconds, prove_seconds;
    bool development;
};

struct prove_objects {
    cuzk_context *ctx;
    cuzk_sector *sector;
    cuzk_circuit *circuit;
    cuzk_params *params;
    struct cuzk_sector_info info;
};

static void objects_destroy(struct prove_objects *o) {
    cuzk_params_destroy(o->params);
    cuzk_circuit_destroy(o->circuit);
    cuzk_sector_destroy(o->sector);
    cuzk_context_destroy(o->ctx);
}

static cuzk_status check_request(const struct prove_request *req, struct cuzk_error *err) {
    if (strcmp(req->backend, "cuda") == 0)
        return error_set(err, CUZK_UNSUPPORTED, "--backend", "use --backend cpu",
                         "this version has no CUDA backend");
    if (strcmp(req->backend, "cpu") != 0)
        return error_set(err, CUZK_USAGE, "--backend", "cpu is the one there is",
                         "'%s' is no backend", req->backend);
    CUZK_TRY(check_threads(req->threads.value, err));
    if (req->r.given != req->s.given)
        return error_set(err, CUZK_USAGE, "--r, --s", "give both or none",
                         "one fixed blinding factor alone makes no reproducible proof");
    return CUZK_OK;
}

static cuzk_status select_partitions(const struct prove_request *req,
                                     const struct cuzk_sector_info *info,
                                     struct prove_result *result, struct cuzk_error *err) {
    if (req->partition.given && req->partition.value >= info->n_partitions)
        return error_set(err, CUZK_USAGE, "--partition", "partitions are counted from 0",
                         "there is no partition %" PRIu64 "; the sector has %u",
                         req->partition.value, info->n_partitions);
    result->first = req->partition.given ? (unsigned)req->partition.value : 0;
    result->n = req->partition.given ? 1 : info->n_partitions;
    result->proof = calloc(result->n, CUZK_PROOF_BYTES);
    result->timings = calloc(result->n, sizeof *result->timings);
    if (result->proof == NULL || result->timings == NULL)
        return error_set(err, CUZK_NO_MEMORY, "proofs", NULL, "no memory for %u proofs", result->n);
    return CUZK_OK;
}

/*
 * A proof of ours that does not verify: is it the input or the machine? The witness of a good input
 * satisfies every row.
 */
static cuzk_status explain_invalid(struct prove_objects *o, unsigned partition,
                                   struct cuzk_error *err) {
    CUZK_TRY(cuzk_witness_check(o->ctx, o->circuit, o->sector, partition, err));
    char where[40];
    snprintf(where, sizeof where, "partition %u", partition);
    return error_set(err, CUZK_PROOF_INVALID, where,
                     "suspect memory, processor or the parameters on disk: cuzk params check",
                     "the proof does not verify, though the witness satisfies every row");
}

static cuzk_status prove_partition(struct prove_objects *o, const struct prove_request *req,
                                   unsigned partition, uint8_t *proof, struct cuzk_timings *timings,
                                   struct cuzk_error *err) {
    const struct cuzk_prove_options options = {
        .fixed_blinding = req->r.given, .r = req->r.value, .s = req->s.value};
    cuzk_pending *pending = NULL;
    CUZK_TRY(cuzk_prove_start(o->ctx, &pending, o->circuit, o->params, o->sector, partition,
                              &options, err));
    const cuzk_status s = cuzk_prove_finish(o->ctx, proof, pending, err);
    cuzk_pending_get_timings(pending, timings);
    cuzk_pending_destroy(pending);
    return s == CUZK_PROOF_INVALID ? explain_invalid(o, partition, err) : s;
}

/* An output that cannot be written should be known before the work, not after. */
static cuzk_status probe_output(const char *path, struct cuzk_error *err) {
    struct out_file f;
    CUZK_TRY(file_begin(&f, path, err));
    file_abandon(&f);
    return CUZK_OK;
}

static cuzk_status prove_all(struct prove_objects *o, const struct prove_request *req,
                             struct prove_result *result, struct cuzk_error *err) {
    uint64_t start = clock_ns();
    CUZK_TRY(probe_output(req->out, err));
    if (o->circuit == NULL)
        CUZK_TRY(cuzk_circuit_create(o->ctx, &o->circuit, o->info.circuit_id, err));
    CUZK_TRY(cuzk_params_load(o->ctx, &o->params, o->circuit, req->params_dir, err));
    result->load_seconds = clock_seconds_since(start);
    result->development = cuzk_params_are_development(o->params);
    start = clock_ns();
    for (unsigned i = 0; i < result->n; i++)
        CUZK_TRY(prove_partition(o, req, result->first + i, result->proof + i * CUZK_PROOF_BYTES,
                                 &result->timings[i], err));
    result->prove_seconds = clock_seconds_since(start);
    return file_write(req->out, result->proof, (size_t)result->n * CUZK_PROOF_BYTES, err);
}

static cuzk_status check_constraints(struct prove_objects *o, const struct prove_result *result,
                                     struct cuzk_error *err) {
    CUZK_TRY(cuzk_circuit_create(o->ctx, &o->circuit, o->info.circuit_id, err));
    for (unsigned i = 0; i < result->n; i++)
        CUZK_TRY(cuzk_witness_check(o->ctx, o->circuit, o->sector, result->first + i, err));
    return CUZK_OK;
}

static cuzk_status read_and_check(struct prove_objects *o, const struct prove_request *req,
                                  struct prove_result *result, struct cuzk_error *err) {
    uint64_t start = clock_ns();
    CUZK_TRY(cuzk_sector_read(o->ctx, &o->sector, req->c1, err));
    result->decode_seconds = clock_seconds_since(start);
    cuzk_sector_get_info(o->sector, &o->info);
    CUZK_TRY(select_partitions(req, &o->info, result, err));
    start = clock_ns();
    CUZK_TRY(
        cuzk_sector_check(o->ctx, o->sector, req->miner.given ? &req->miner.value : NULL, err));
    if (req->check_constraints) CUZK_TRY(check_constraints(o, result, err));
    result->check_seconds = clock_seconds_since(start);
    return CUZK_OK;
}

static bool replica_id_checked(const struct prove_request *req, const struct prove_objects *o) {
    return req->miner.given && o->info.has_sector_number;
}

static void print_warnings(const struct prove_request *req, const struct prove_objects *o,
                           const struct prove_result *result) {
    note_replica_id(req->miner.given, replica_id_checked(req, o));
    if (req->check_only) return;
    if (o->info.non_interactive)
        fprintf(stderr,
                "note: the chain accepts non-interactive proofs only as their aggregate; "
                "these are the circuit proofs, one for each partition\n");
    if (result->development)
        fprintf(stderr,
                "note: proved with development parameters; only a verifier that uses the "
                "same ones accepts this proof\n");
    if (req->r.given)
        fprintf(stderr,
                "note: proved with fixed blinding factors: not zero-knowledge, for tests "
                "only\n");
}

static void json_timings(struct json_out *j, unsigned partition, const struct cuzk_timings *t) {
    json_object_begin(j, NULL);
    json_u64(j, "partition", partition);
    json_double(j, "witness_seconds", t->witness);
    json_double(j, "evaluate_seconds", t->evaluate);
    json_double(j, "ntt_seconds", t->ntt);
    json_double(j, "msm_h_seconds", t->msm_h);
    json_double(j, "msm_l_seconds", t->msm_l);
    json_double(j, "msm_a_seconds", t->msm_a);
    json_double(j, "msm_b_g1_seconds", t->msm_b_g1);
    json_double(j, "msm_b_g2_seconds", t->msm_b_g2);
    json_double(j, "verify_seconds", t->verify);
    json_object_end(j);
}

static void print_json(const struct prove_request *req, const struct prove_objects *o,
                       const struct prove_result *result) {
    struct json_out j;
    json_begin(&j, stdout);
    json_object_begin(&j, NULL);
    json_bool(&j, "valid", true);
    json_string(&j, "circuit_id", o->info.circuit_id);
    json_bool(&j, "replica_id_checked", replica_id_checked(req, o));
    json_double(&j, "decode_seconds", result->decode_seconds);
    json_double(&j, "check_seconds", result->check_seconds);
    if (!req->check_only) {
        json_string(&j, "proof", req->out);
        json_bool(&j, "development_parameters", result->development);
        json_double(&j, "load_seconds", result->load_seconds);
        json_double(&j, "prove_seconds", result->prove_seconds);
        json_array_begin(&j, "partitions");
        for (unsigned i = 0; i < result->n; i++)
            json_timings(&j, result->first + i, &result->timings[i]);
        json_array_end(&j);
    }
    json_u64(&j, "peak_rss_bytes", mem_peak_rss());
    json_object_end(&j);
    json_end(&j);
}

static void print_text(const struct prove_request *req, const struct prove_result *result) {
    char bytes[32];
    printf("checked in %.2f s (decoding %.2f s), peak memory %s\n",
           result->decode_seconds + result->check_seconds, result->decode_seconds,
           format_bytes(bytes, mem_peak_rss()));
    if (req->check_only) {
        printf("VALID\n");
        return;
    }
    printf("proved %u partition%s in %.2f s; each proof was verified\n", result->n,
           result->n == 1 ? "" : "s", result->prove_seconds);
    printf("VALID %s\n", req->out);
}

static cuzk_status run(const struct prove_request *req, struct cuzk_error *err) {
    struct prove_objects o = {0};
    struct prove_result result = {0};
    struct progress_bar bar;
    progress_bar_init(&bar, !req->quiet);
    const struct cuzk_context_options options = {.threads = (unsigned)req->threads.value,
                                                 .progress = progress_bar_report,
                                                 .progress_user = &bar};
    cuzk_status s = cuzk_context_create(&o.ctx, &options, err);
    if (s == CUZK_OK) s = read_and_check(&o, req, &result, err);
    if (s == CUZK_OK && !req->check_only) s = prove_all(&o, req, &result, err);
    progress_bar_end(&bar);
    if (s == CUZK_OK) {
        print_warnings(req, &o, &result);
        if (req->json) {
            print_json(req, &o, &result);
        } else {
            print_text(req, &result);
        }
    }
    free(result.proof);
    free(result.timings);
    objects_destroy(&o);
    return s;
}

cuzk_status command_prove(int argc, char **argv, struct cuzk_error *err) {
    struct prove_request req = {.out = "proof.bin", .backend = "cpu"};
    bool help = false;
    const struct option_spec options[] = {
        {"c1", OPTION_STRING, &req.c1, "FILE", "the sector's C1 file", true},
        {"miner", OPTION_U64, &req.miner, "N", "the miner's actor id; checks the replica id",
         false},
        {"partition", OPTION_U64, &req.partition, "K", "prove one partition (all)", false},
        {"params-dir", OPTION_STRING, &req.params_dir, "DIR",
         "folder of parameter files, or one file (FIL_PROOFS_PARAMETER_CACHE)", false},
        {"out", OPTION_STRING, &req.out, "FILE", "where the proof goes (proof.bin)", false},
        {"check-only", OPTION_FLAG, &req.check_only, NULL, "check the vanilla proofs, do not prove",
         false},
        {"check-constraints", OPTION_FLAG, &req.check_constraints, NULL,
         "also make each witness and check every row on it", false},
        {"backend", OPTION_STRING, &req.backend, "NAME", "cpu (the default)", false},
        {"threads", OPTION_U64, &req.threads, "N", "threads (all processors)", false},
        {"json", OPTION_FLAG, &req.json, NULL, "print JSON with stage times", false},
        {"quiet", OPTION_FLAG, &req.quiet, NULL, "no progress on stderr", false},
        {"r", OPTION_U64, &req.r, "N", "tests only: fixed blinding factor r", false},
        {"s", OPTION_U64, &req.s, "N", "tests only: fixed blinding factor s", false},
        {.kind = OPTION_END},
    };
    const struct command_spec spec = {
        "cuzk prove --c1 FILE [--miner N] [--partition K] [--params-dir DIR] [--out FILE]",
        "Checks a sector's vanilla proofs, proves its partitions and verifies each proof. The "
        "output\n"
        "is 192 bytes a partition, one after the other; the last line says VALID and its path.",
        options};
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    if (help) return CUZK_OK;
    CUZK_TRY(check_request(&req, err));
    return run(&req, err);
}
