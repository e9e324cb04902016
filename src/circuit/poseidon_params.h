/*
 * The constants of Poseidon as Filecoin uses it, and where they come from (doc/poseidon.md).
 *
 * A permutation of width t = arity + 1: four full rounds, n_partial partial rounds, four full
 * rounds, S-box x^5. Two moves make the partial rounds cheap, and both show in the circuit's rows,
 * so that they are no matter of taste here: round keys are pushed back through the linear layers
 * until each is added right after an S-box ("compressed"), and the matrices of the partial rounds
 * are factored into one dense matrix before them and one sparse matrix for each.
 *
 * Source: Grassi et al., "Poseidon" (eprint 2019/458), sections 2.2 and 4, appendices B and F;
 * neptune 11.
 */
#ifndef CIRCUIT_POSEIDON_PARAMS_H
#define CIRCUIT_POSEIDON_PARAMS_H

#include "fr.h"

enum {
    POSEIDON_MAX_ARITY = 11,
    POSEIDON_MAX_WIDTH = POSEIDON_MAX_ARITY + 1,
    POSEIDON_FULL_ROUNDS = 8,
    POSEIDON_HALF_ROUNDS = POSEIDON_FULL_ROUNDS / 2,
    POSEIDON_MAX_PARTIAL = 57,
    POSEIDON_MAX_ROUNDS = POSEIDON_FULL_ROUNDS + POSEIDON_MAX_PARTIAL,
    /* Partial rounds whose outputs are folded into the rest of the state together. */
    POSEIDON_BLOCK = 4,
    POSEIDON_MAX_BLOCKS = (POSEIDON_MAX_PARTIAL + POSEIDON_BLOCK - 1) / POSEIDON_BLOCK,
};

struct poseidon_params {
    unsigned width, n_partial;

    /* Keys. pre: added before the first S-boxes. full[r]: added after the S-boxes of full round r
     * (the last full round has none). partial[i]: added after the S-box of partial round i. */
    fr pre[POSEIDON_MAX_WIDTH];
    fr full[POSEIDON_FULL_ROUNDS - 1][POSEIDON_MAX_WIDTH];
    fr partial[POSEIDON_MAX_PARTIAL];

    /* What the first round makes of the state's first element, the domain tag, which is 2^arity - 1
     * for a full Merkle node: (tag + pre[0])^5 + full[0][0]. */
    fr first_of_tag;

    /* Linear layers, row j giving element j of the new state: `mds` after full rounds 0 to 2 and 4
     * to 7, `pre_sparse` after full round 3. */
    fr mds[POSEIDON_MAX_WIDTH][POSEIDON_MAX_WIDTH];
    fr pre_sparse[POSEIDON_MAX_WIDTH][POSEIDON_MAX_WIDTH];

    /*
     * The linear layer after partial round i, sparse: with x the S-box's output and s_j the other
     * elements, the new first element is w[i][0] x + sum_j w[i][j] s_j, and s_j becomes
     * s_j + v_j x, with v_j of round i in v[i / BLOCK][j][i % BLOCK].
     *
     * The updates of s_j may wait until a block of rounds is over. Until then the k-th round of the
     * block adds sum_l w[i][width + l] x_l to the first element, x_l the output of the block's l-th
     * S-box, l < k; the weights follow from w and v.
     */
    fr w[POSEIDON_MAX_PARTIAL][POSEIDON_MAX_WIDTH + POSEIDON_BLOCK - 1];
    fr v[POSEIDON_MAX_BLOCKS][POSEIDON_MAX_WIDTH][POSEIDON_BLOCK];
};

/* The constants of arity 2, 4, 8 or 11: made at the first call, immutable after. Any thread. */
const struct poseidon_params *poseidon_params(unsigned arity);

/* ---- the steps of the derivation, for poseidon_params() and the tests ---- */

/* Number of partial rounds; 0 for an arity that is not supported. */
unsigned poseidon_partial_rounds(unsigned arity);

/* The plain round constants from the Grain LFSR: `keys[r]` is added before the S-boxes of round r;
 * POSEIDON_FULL_ROUNDS + n_partial rounds. */
void poseidon_round_keys(fr keys[POSEIDON_MAX_ROUNDS][POSEIDON_MAX_WIDTH], unsigned width,
                         unsigned n_partial);

/* The Cauchy matrix 1 / (i + j + width). */
void poseidon_mds(fr m[POSEIDON_MAX_WIDTH][POSEIDON_MAX_WIDTH], unsigned width);

#endif
