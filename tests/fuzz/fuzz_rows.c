/*
 * r1cs_from_rows on any bytes. What it accepts must come out of a walk exactly as it went in, and
 * must survive evaluation.
 */
#include <stdint.h>
#include <stdlib.h>

#include "r1cs_digest.h"
#include "row_bytes.h"

struct replay {
    const uint8_t *data;
    size_t n_bytes, at;
};

static void compare(struct replay *r, const void *bytes, size_t n) {
    if (r->n_bytes - r->at < n || memcmp(r->data + r->at, bytes, n) != 0) abort();
    r->at += n;
}

static void visit(void *ctx, uint64_t row, const struct row_lc abc[3]) {
    struct replay *r = ctx;
    (void)row;
    for (int m = 0; m < 3; m++) {
        uint8_t bytes[ROW_TERM_BYTES], c[32];
        row_put_count(bytes, abc[m].n);
        compare(r, bytes, ROW_COUNT_BYTES);
        for (uint32_t i = 0; i < abc[m].n; i++) {
            fr_to_bytes(c, &abc[m].terms[i].c);
            row_put_term(bytes, abc[m].terms[i].v, c);
            compare(r, bytes, ROW_TERM_BYTES);
        }
    }
}

static fr *ones(uint32_t n) {
    fr *values = malloc(n > 0 ? n * sizeof *values : 1);
    if (values == NULL) abort();
    for (uint32_t i = 0; i < n; i++)
        values[i] = fr_one;
    return values;
}

/* All variables one: runs every path that rows of numbers take. The witness is made of heap blocks,
 * whose ends a sanitizer knows; mapping pages would take longer than all the rest. */
static void evaluate(const struct r1cs *r, const struct r1cs_stats *stats) {
    struct witness w = {
        .n_inputs = stats->n_inputs, .n_aux = stats->n_aux, .n_elements = stats->n_elements};
    w.values = calloc((size_t)w.n_aux / 64 + 2, sizeof *w.values);
    w.elements = ones(w.n_elements);
    w.inputs = ones(w.n_inputs);
    if (w.values == NULL) abort();
    struct cuzk_error err;
    const cuzk_status status = r1cs_check(r, &w, NULL, NULL, &err);
    if (status != CUZK_OK && status != CUZK_UNSATISFIED) abort();
    free(w.values);
    free(w.elements);
    free(w.inputs);
}

/* A small quarantine stays in the cache; 256 MiB of fresh pages halve the speed. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "quarantine_size_mb=8";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    struct r1cs *r;
    struct r1cs_stats stats;
    if (r1cs_from_rows(&r, data, n_bytes, NULL) != CUZK_OK) return 0;
    if (r1cs_get_stats(r, &stats, NULL, NULL) != CUZK_OK) abort();
    struct replay replay = {.data = data, .n_bytes = n_bytes};
    r1cs_walk(r, 0, stats.n_rows, visit, &replay);
    if (replay.at != n_bytes) abort();
    evaluate(r, &stats);
    r1cs_destroy(r);
    return 0;
}
