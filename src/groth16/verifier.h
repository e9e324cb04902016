/*
 * The Groth16 verifier: e(A, B) = e(alpha, beta) e(sum of inputs, gamma) e(C, delta).
 *
 * Threads: pure; a pool only speeds up the sum over the inputs.
 */
#ifndef GROTH16_VERIFIER_H
#define GROTH16_VERIFIER_H

#include "prover.h"
#include "vkey.h"

/*
 * `inputs`: the public inputs without ONE, in the circuit's order, Montgomery form.
 * Errors: PROOF_ENCODING (which of A, B, C, and its fault: flags, range, curve, group, infinity),
 * PROOF_INVALID, PARAM_CIRCUIT (the key has another number of inputs), NO_MEMORY.
 */
CUZK_NODISCARD cuzk_status groth16_verify(const struct vkey *vk, const fr *inputs, size_t n_inputs,
                                          const uint8_t proof[PROOF_BYTES], struct pool *pool,
                                          struct cuzk_error *err);

#endif
