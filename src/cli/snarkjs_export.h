/*
 * A verifying key, a proof and its public inputs in the JSON that snarkjs reads
 * (`snarkjs groth16 verify verification_key.json public.json proof.json`, curve bls12381).
 */
#ifndef CLI_SNARKJS_EXPORT_H
#define CLI_SNARKJS_EXPORT_H

#include "vkey.h"

/*
 * Writes verification_key.json, public.json and proof.json into the folder `dir`, which is made
 * when it is not there. `proof` is 192 bytes; n_inputs does not count ONE and must be vk->n_ic - 1.
 * Errors: FILE_WRITE, PROOF_ENCODING.
 */
CUZK_NODISCARD cuzk_status snarkjs_export(const char *dir, const struct vkey *vk,
                                          const uint8_t proof[192], const fr *inputs,
                                          size_t n_inputs, struct cuzk_error *err);

#endif
