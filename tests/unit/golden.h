/*
 * Reads the golden files: one flat JSON object of numbers and strings for a circuit's figures, a
 * list of hex digests for its blocks.
 */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include "r1cs_digest.h"

struct golden {
    uint64_t n_inputs, n_aux, n_rows, nnz[3], a_aux_density, b_aux_density, b_input_density;
    char sha256[65];
    char circuit[200];
};

/* Each asserts that the file is there and has what is asked for. */
void golden_read(struct golden *out, const char *path);
/* Asserts that the digests are the file's lines, naming the first block that differs. */
void golden_check_blocks(const struct block_digests *blocks, const char *path);
/* The hex digest behind `label` in a witness-K.txt: "inputs sha256" or "aux sha256". */
void golden_witness_digest(char out[65], const char *path, const char *label);

void golden_check_stats(const struct golden *g, const struct r1cs_stats *stats);

#endif
