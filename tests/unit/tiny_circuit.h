/*
 * A small circuit with everything that the prover tells apart: bits and elements, variables that
 * are in A only, in B, in C only, and several public inputs.
 *
 * It shows knowledge of n bits such that a chain of products over them ends in the first public
 * input, and their binary number is the second one.
 */
#ifndef TINY_CIRCUIT_H
#define TINY_CIRCUIT_H

#include "r1cs.h"

enum { TINY_MAX_BITS = 200 };

/* Records the system for n_bits in [1, TINY_MAX_BITS]. */
struct r1cs *tiny_circuit(unsigned n_bits);

/* A witness whose bits are those of the stream that `seed` starts. */
void tiny_witness(struct witness *out, struct r1cs *r1cs, unsigned n_bits, uint64_t seed);

#endif
