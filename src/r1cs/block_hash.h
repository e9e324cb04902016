/*
 * Hashing in blocks: a list of block digests that grows, and the digest over it.
 */
#ifndef R1CS_BLOCK_HASH_H
#define R1CS_BLOCK_HASH_H

#include "r1cs_digest.h"

/* Room for n digests; they are zero. */
CUZK_NODISCARD cuzk_status block_digests_reserve(struct block_digests *d, size_t n,
                                                 struct cuzk_error *err);

/* The SHA-256 over the digests in order. */
void block_digests_total(const struct block_digests *d, uint8_t out[SHA256_BYTES]);

#endif
