/*
 * Poseidon as a circuit: neptune's "legacy" one, which the network's parameters belong to.
 *
 * The domain tag is a constant. Each S-box makes the rows l^2, l^4, l^5 + key; its input, where it
 * is no variable yet but a linear combination, is allocated before with a row of its own. In the
 * first round the inputs are variables; the tag's S-box is computed as a constant. Rows and
 * variables (one each): 311 for arity 2, 377 for 4, 505 for 8, 598 for 11.
 */
#ifndef CIRCUIT_POSEIDON_CIRCUIT_H
#define CIRCUIT_POSEIDON_CIRCUIT_H

#include "wires.h"

/* out = H(in[0 .. arity)), a new variable; arity 2, 4, 8 or 11. A template. */
void poseidon_circuit(struct cs *cs, struct num *out, const struct num *in, unsigned arity);

#endif
