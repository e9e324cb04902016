/*
 * Poseidon over Fr as Filecoin uses it: neptune 11, strength "standard", S-box x^5, full rounds 8,
 * hash type "Merkle tree" with arity 2, 4, 8 and 11 (11: columns; hash type as neptune's default).
 *
 * The constants are derived (Grain LFSR round constants, Cauchy MDS, sparse factorisation of the
 * partial rounds); nothing is a table in the source. They are made once, on first use, behind
 * pthread_once, and immutable after.
 */
#ifndef CIRCUIT_POSEIDON_H
#define CIRCUIT_POSEIDON_H

#include "fr.h"

/* out = H(in[0 .. arity)); arity 2, 4, 8 or 11. */
void poseidon_hash(fr *out, const fr *in, unsigned arity);

#endif
