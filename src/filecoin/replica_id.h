/*
 * The replica id: SHA-256 of prover id, sector number, ticket, comm_d and PoRep id, its two top
 * bits cleared. Every label depends on it. Source: storage-proofs-porep params.rs. Threads: pure.
 */
#ifndef FILECOIN_REPLICA_ID_H
#define FILECOIN_REPLICA_ID_H

#include <stdint.h>

/* The 32-byte prover id of a miner: its actor id as unsigned LEB128, zero-padded. */
void prover_id_from_miner(uint8_t out[32], uint64_t miner);

void replica_id_compute(uint8_t out[32], uint64_t miner, uint64_t sector, const uint8_t ticket[32],
                        const uint8_t comm_d[32], const uint8_t porep_id[32]);

#endif
