#include <inttypes.h>
#include <stdio.h>

#include "circuit_name.h"
#include "command.h"
#include "file.h"
#include "json_out.h"
#include "mem.h"
#include "options.h"
#include "r1cs_digest.h"

/* The fields and their order are those of the published golden figures. */
static void print_json(const struct porep_shape *shape, const struct r1cs_stats *stats,
                       const uint8_t digest[SHA256_BYTES], size_t n_blocks) {
    char name[CIRCUIT_NAME_BYTES], hex[2 * SHA256_BYTES + 1];
    struct json_out j;
    json_begin(&j, stdout);
    json_object_begin(&j, NULL);
    json_u64(&j, "a_aux_density", stats->a_aux_density);
    json_u64(&j, "b_aux_density", stats->b_aux_density);
    json_u64(&j, "b_input_density", stats->b_input_density);
    json_u64(&j, "block_rows", DIGEST_BLOCK_ROWS);
    json_u64(&j, "blocks", n_blocks);
    circuit_network_name(name, shape);
    json_string(&j, "circuit", name);
    json_u64(&j, "nnz_a", stats->nnz[0]);
    json_u64(&j, "nnz_b", stats->nnz[1]);
    json_u64(&j, "nnz_c", stats->nnz[2]);
    json_u64(&j, "num_aux", stats->n_aux);
    json_u64(&j, "num_constraints", stats->n_rows);
    json_u64(&j, "num_inputs", stats->n_inputs);
    hex_encode(hex, digest, SHA256_BYTES);
    json_string(&j, "sha256", hex);
    circuit_network_file(name, shape, "params");
    json_string(&j, "parameter_file", name);
    json_object_end(&j);
    json_end(&j);
}

static cuzk_status write_blocks(const char *path, const struct block_digests *blocks,
                                struct cuzk_error *err) {
    struct out_file f;
    CUZK_TRY(file_begin(&f, path, err));
    for (size_t i = 0; i < blocks->n; i++) {
        char hex[2 * SHA256_BYTES + 1];
        hex_encode(hex, blocks->digest[i], SHA256_BYTES);
        fprintf(f.stream, "%s\n", hex);
    }
    return file_commit(&f, err);
}

static cuzk_status digest_circuit(const struct porep_shape *shape, const char *blocks_path,
                                  bool verbose, struct workers *w, struct cuzk_error *err) {
    struct r1cs *r = NULL;
    struct block_digests blocks = {0};
    struct r1cs_stats stats;
    uint8_t digest[SHA256_BYTES];
    cuzk_status s = porep_record(shape, &r, err);
    if (s == CUZK_OK) s = r1cs_get_stats(r, &stats, w->pool, err);
    if (s == CUZK_OK) s = r1cs_digest(r, digest, &blocks, w->pool, &w->progress, err);
    if (s == CUZK_OK && blocks_path != NULL) s = write_blocks(blocks_path, &blocks, err);
    progress_bar_end(&w->bar);
    if (s == CUZK_OK) print_json(shape, &stats, digest, blocks.n);
    if (s == CUZK_OK && verbose)
        fprintf(stderr,
                "%u templates, %" PRIu64 " stamps, %zu bytes of matrices; peak memory %zu bytes\n",
                stats.n_templates, stats.n_stamps, stats.bytes, mem_peak_rss());
    block_digests_free(&blocks);
    r1cs_destroy(r);
    return s;
}

cuzk_status command_digest(int argc, char **argv, struct cuzk_error *err) {
    const char *circuit = NULL, *size = NULL, *blocks = NULL;
    struct option_u64 threads = {0};
    bool quiet = false, verbose = false, help = false;
    const struct option_spec options[] = {
        {"circuit", OPTION_STRING, &circuit, "NAME", "porep-2k, or porep with --size", true},
        {"size", OPTION_STRING, &size, "SIZE",
         "2KiB, 4KiB, 16KiB, 32KiB, 8MiB, 512MiB, 32GiB, 64GiB", false},
        {"blocks", OPTION_STRING, &blocks, "FILE", "write the digest of each 65,536 rows", false},
        {"threads", OPTION_U64, &threads, "N", "threads (all processors)", false},
        {"verbose", OPTION_FLAG, &verbose, NULL, "templates and memory on stderr", false},
        {"quiet", OPTION_FLAG, &quiet, NULL, "no progress on stderr", false},
        {.kind = OPTION_END},
    };
    const struct command_spec spec = {
        "cuzk digest --circuit NAME [--size SIZE] [--blocks FILE]",
        "Prints a circuit's counts and the digest of its constraint system as JSON. Two circuits\n"
        "are the same, row for row, when their digests are (doc/r1cs.md).",
        options};
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    if (help) return CUZK_OK;
    const struct porep_shape *shape = NULL;
    CUZK_TRY(circuit_find(&shape, circuit, size, err));
    struct workers w;
    CUZK_TRY(workers_init(&w, threads.value, !quiet, err));
    const cuzk_status s = digest_circuit(shape, blocks, verbose, &w, err);
    workers_deinit(&w);
    return s;
}
