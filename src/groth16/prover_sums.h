/*
 * Sums of a query over a witness, bits and elements apart. Internal to the prover.
 *
 * The scalars and packed bits of a query are laid into memory of the caller first, and summed from
 * there, so that the pending proof can keep those of b.
 */
#ifndef GROTH16_PROVER_SUMS_H
#define GROTH16_PROVER_SUMS_H

#include "prover_key.h"

/* What a query takes from one witness. */
struct selection {
    fr_words *scalars; /* inputs, then elements, canonical */
    size_t n_scalars;
    uint64_t *bits; /* in the order of the query's aux points */
    size_t n_bits;
};

/* Bytes of a query's selection, and its layout into `memory` (8-byte aligned). */
size_t selection_bytes(const struct query *q);
void selection_make(struct selection *out, void *memory, const struct query *q,
                    const struct witness *w);

/* The scalars of all elements, for l: n_elements of them. */
void element_scalars(fr_words *out, const struct witness *w);

/* Scratch of one sum. */
size_t sum_scratch_bytes_g1(const struct backend *backend, size_t n_scalars, unsigned threads);
size_t sum_scratch_bytes_g2(const struct backend *backend, size_t n_scalars, unsigned threads);

/* out = sum of scalars over `elements`, plus sum of `points` over bits. */
void sum_g1(g1 *out, const struct backend *backend, const struct selection *s,
            const g1_affine *elements, const g1_affine *points, void *scratch, struct pool *pool);
void sum_g2(g2 *out, const struct backend *backend, const struct selection *s,
            const g2_affine *elements, const g2_affine *points, void *scratch, struct pool *pool);

#endif
