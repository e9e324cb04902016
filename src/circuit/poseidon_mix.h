/*
 * The linear layers of Poseidon on values: shared by the native hash and by the circuit's witness.
 *
 * During the partial rounds only the first element is up to date: the others are updated once a
 * block of rounds (poseidon_params.h), and with the last round.
 */
#ifndef CIRCUIT_POSEIDON_MIX_H
#define CIRCUIT_POSEIDON_MIX_H

#include "poseidon_params.h"

/* s[0 .. width): the state. What follows: S-box outputs of the current block. */
struct poseidon_state {
    fr s[POSEIDON_MAX_WIDTH + POSEIDON_BLOCK - 1];
};

/* The dense layer of full round r (0 to 7). */
void poseidon_mix_full(const struct poseidon_params *p, unsigned r, struct poseidon_state *st);

/* Only element 1 of it: what the last round is asked for. */
void poseidon_mix_last(const struct poseidon_params *p, const struct poseidon_state *st, fr *out);

/* The sparse layer of partial round i; s[0] is the S-box's output before, the next round's input
 * after. The rounds must be mixed in order. */
void poseidon_mix_partial(const struct poseidon_params *p, unsigned i, struct poseidon_state *st);

#endif
