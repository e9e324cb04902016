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

/* All variables one: runs every path that rows of numbers take. */
static void evaluate(const struct r1cs *r, const struct r1cs_stats *stats) {
    struct witness w;
    if (witness_create(&w, stats->n_inputs, stats->n_aux, stats->n_elements, NULL) != CUZK_OK)
        return;
    for (uint32_t i = 0; i < stats->n_elements; i++)
        w.elements[i] = fr_one;
    for (uint32_t i = 0; i < stats->n_inputs; i++)
        w.inputs[i] = fr_one;
    struct cuzk_error err;
    const cuzk_status status = r1cs_check(r, &w, NULL, NULL, &err);
    if (status != CUZK_OK && status != CUZK_UNSATISFIED) abort();
    witness_destroy(&w);
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
