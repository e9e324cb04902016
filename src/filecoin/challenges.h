/*
 * Which nodes of a sector each partition must open.
 *
 * Interactive: SHA-256 of replica id, seed and the challenge's number. Synthetic: the seed chooses
 * from a set that replica id and comm_r fix. Non-interactive: SHA-256 of a tag, replica id, comm_r
 * and the number. Node 0 is never challenged. Source: storage-proofs-porep challenges.rs.
 *
 * Threads: pure.
 */
#ifndef FILECOIN_CHALLENGES_H
#define FILECOIN_CHALLENGES_H

#include "registered_proof.h"

struct challenge_seed {
    const uint8_t *replica_id, *comm_r, *seed; /* 32 bytes each; borrowed */
};

/* The challenges of partition k into out[shape->n_challenges]. */
void challenges_derive(const struct registered_seal *seal, const struct challenge_seed *from,
                       unsigned k, uint64_t *out);

#endif
