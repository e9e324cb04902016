/*
 * What every proof of one circuit under one set of parameters shares: the parameters, the tables of
 * the evaluation domain, and the static maps between a witness and the queries.
 *
 * A query's sum over the witness falls into two parts (doc/params.md):
 *
 *   bits      variables that are bits: the sum of the points whose bit is one. The queries a and b
 *             hold only the variables that occur in A and in B, so the value plane is first packed
 *             by the static density plane.
 *   elements  inputs and variables that are no bits: a small multi-scalar multiplication, whose
 *             points are gathered here once, in witness order.
 *
 * Immutable after creation. Threads: any number may use one.
 */
#ifndef GROTH16_PROVER_KEY_H
#define GROTH16_PROVER_KEY_H

#include "backend.h"
#include "r1cs.h"
#include "srs.h"

/* One of the queries a and b. (l has every aux variable, and no input.) */
struct query {
    const uint64_t *aux_plane;            /* the r1cs's: which aux variables have a point */
    const uint64_t *input_plane;          /* which inputs */
    const uint64_t *element_plane;        /* which elements, by their number in the witness */
    uint32_t n_inputs, n_aux, n_elements; /* ones in these planes */
};

struct prover_key {
    const struct srs *srs;
    struct r1cs *r1cs;
    const struct backend *backend;
    struct r1cs_stats stats;
    unsigned log_n; /* the domain has 2^log_n points */
    const struct backend_domain *domain;
    struct query a, b;
    /* Points of inputs, then elements: a.n_inputs + a.n_elements of them, and so on. */
    const g1_affine *a_elements, *b_g1_elements, *l_elements;
    const g2_affine *b_g2_elements;
    struct mem_block domain_block, points_block, planes_block;
};

/*
 * `srs` and `r1cs` are borrowed and must outlive the key. Its memory: domain tables (MEM_OTHER),
 * gathered points (MEM_SRS), planes (MEM_MATRICES): prover_key_bytes.
 * Errors: PARAM_CIRCUIT when the parameters have other counts than the circuit, NO_MEMORY.
 */
CUZK_NODISCARD cuzk_status prover_key_create(struct prover_key **out, const struct srs *srs,
                                             struct r1cs *r1cs, const struct backend *backend,
                                             struct pool *pool, struct cuzk_error *err);
void prover_key_destroy(struct prover_key *key); /* accepts NULL */

/* An upper bound from the counts alone. */
size_t prover_key_bytes(const struct r1cs_stats *stats, const struct backend *backend);

#endif
