#include "replica_id.h"

#include <string.h>

#include "hash.h"

void prover_id_from_miner(uint8_t out[32], uint64_t miner) {
    memset(out, 0, 32);
    unsigned i = 0;
    for (; miner >= 0x80; miner >>= 7)
        out[i++] = (uint8_t)(miner | 0x80);
    out[i] = (uint8_t)miner;
}

void replica_id_compute(uint8_t out[32], uint64_t miner, uint64_t sector, const uint8_t ticket[32],
                        const uint8_t comm_d[32], const uint8_t porep_id[32]) {
    uint8_t preimage[32 + 8 + 32 + 32 + 32];
    uint8_t *at = preimage;
    prover_id_from_miner(at, miner);
    at += 32;
    for (unsigned i = 0; i < 8; i++)
        *at++ = (uint8_t)(sector >> (56 - 8 * i));
    memcpy(at, ticket, 32);
    memcpy(at + 32, comm_d, 32);
    memcpy(at + 64, porep_id, 32);
    sha256(out, preimage, sizeof preimage);
    out[31] &= 0x3f;
}
