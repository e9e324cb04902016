#include "challenges.h"

#include <sodium.h>
#include <string.h>

#include "chacha.h"
#include "hash.h"

static void store32(uint8_t *p, uint32_t v) {
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/* 32 bytes as a little-endian integer, reduced to [1, n_nodes). */
static uint64_t to_node(const uint8_t bytes[32], uint64_t n_nodes) {
    uint64_t rest = 0; /* below 2^32, as n_nodes is: no step overflows */
    for (unsigned i = 32; i-- > 0;)
        rest = (rest << 8 | bytes[i]) % (n_nodes - 1);
    return rest + 1;
}

/* ---- interactive, non-interactive: a hash of what binds the sector, and the number ---- */

static void hashed(const struct registered_seal *seal, const struct challenge_seed *from,
                   unsigned k, uint64_t *out) {
    static const char tag[] = "filecoin.io|PoRep|1|NonInteractive|1";
    const struct porep_shape *shape = registered_seal_shape(seal);
    const bool interactive = seal->kind == SEAL_INTERACTIVE;
    uint8_t preimage[sizeof tag - 1 + 32 + 32 + 4], digest[SHA256_BYTES];
    size_t n = 0;
    if (!interactive) {
        memcpy(preimage, tag, sizeof tag - 1);
        n = sizeof tag - 1;
    }
    memcpy(preimage + n, from->replica_id, 32);
    memcpy(preimage + n + 32, interactive ? from->seed : from->comm_r, 32);
    n += 64;
    for (unsigned i = 0; i < shape->n_challenges; i++) {
        store32(preimage + n, shape->n_challenges * k + i);
        sha256(digest, preimage, n + 4);
        out[i] = to_node(digest, shape->n_nodes);
    }
}

/* ---- synthetic (FIP-0059) ---- */

/* A ChaCha20 keystream whose key binds `tag`, the replica id and one more value. */
struct keystream {
    uint8_t key[32];
};

static void keystream_init(struct keystream *s, const char *tag, const uint8_t replica_id[32],
                           const uint8_t other[32]) {
    crypto_generichash_blake2b_state state;
    crypto_generichash_blake2b_init(&state, (const unsigned char *)tag, strlen(tag), 32);
    crypto_generichash_blake2b_update(&state, replica_id, 32);
    crypto_generichash_blake2b_update(&state, other, 32);
    crypto_generichash_blake2b_final(&state, s->key, 32);
}

/* n bytes of the stream from byte `at`; they lie in one block. */
static void keystream_read(const struct keystream *s, uint64_t at, uint8_t *out, size_t n) {
    static const uint8_t nonce[12] = "synth-porep"; /* and a zero byte */
    uint32_t block[16], position[4] = {(uint32_t)(at / 64)};
    uint8_t bytes[64];
    for (unsigned i = 0; i < 3; i++)
        position[1 + i] = (uint32_t)nonce[4 * i] | (uint32_t)nonce[4 * i + 1] << 8 |
                          (uint32_t)nonce[4 * i + 2] << 16 | (uint32_t)nonce[4 * i + 3] << 24;
    chacha_block(block, s->key, position, 20);
    for (unsigned i = 0; i < 16; i++)
        store32(bytes + 4 * i, block[i]);
    memcpy(out, bytes + at % 64, n);
}

static void synthetic(const struct registered_seal *seal, const struct challenge_seed *from,
                      unsigned k, uint64_t *out) {
    const uint64_t most = (uint64_t)1 << 18; /* size of the set, for sectors that have as many */
    const struct porep_shape *shape = registered_seal_shape(seal);
    const uint64_t n_set = shape->n_nodes < most ? shape->n_nodes : most;
    struct keystream generation, selection;
    keystream_init(&generation, "filecoin.io|PoRep|1|Synthetic|1|Generation", from->replica_id,
                   from->comm_r);
    keystream_init(&selection, "filecoin.io|PoRep|1|Synthetic|1|Selection", from->replica_id,
                   from->seed);
    for (unsigned i = 0; i < shape->n_challenges; i++) {
        const uint64_t number = (uint64_t)shape->n_challenges * k + i;
        uint8_t index[4], challenge[32];
        keystream_read(&selection, 4 * number, index, sizeof index);
        const uint32_t chosen = (uint32_t)index[0] | (uint32_t)index[1] << 8 |
                                (uint32_t)index[2] << 16 | (uint32_t)index[3] << 24;
        keystream_read(&generation, 32 * (chosen % n_set), challenge, sizeof challenge);
        out[i] = to_node(challenge, shape->n_nodes);
    }
}

void challenges_derive(const struct registered_seal *seal, const struct challenge_seed *from,
                       unsigned k, uint64_t *out) {
    if (seal->kind == SEAL_SYNTHETIC)
        synthetic(seal, from, k, out);
    else
        hashed(seal, from, k, out);
}
