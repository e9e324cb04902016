#include "graph.h"

#include <sodium.h>
#include <string.h>

#include "chacha.h"
#include "hash.h"

/* SHA-256(tag, porep_id): the graph's two seeds, kept apart by their tags. */
static void domain_seed(uint8_t out[32], const char *tag, const uint8_t porep_id[32]) {
    uint8_t preimage[64];
    const size_t n = strlen(tag);
    memcpy(preimage, tag, n);
    memcpy(preimage + n, porep_id, 32);
    sha256(out, preimage, n + 32);
}

static uint64_t load64(const uint8_t *p) {
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

void graph_init(struct graph *g, uint64_t n_nodes, const uint8_t porep_id[32], bool legacy) {
    uint8_t seed[32];
    g->n_nodes = n_nodes;
    g->legacy = legacy;
    domain_seed(seed, "Filecoin_DRSample", porep_id);
    memcpy(g->drg_seed, seed, sizeof g->drg_seed);
    domain_seed(seed, "Filecoin_Feistel", porep_id);
    for (unsigned i = 0; i < 3; i++)
        g->feistel_keys[i] = load64(seed + 8 * i);
    g->half_bits = 1;
    while ((uint64_t)1 << 2 * g->half_bits < n_nodes * POREP_EXP_PARENTS)
        g->half_bits++;
}

void graph_init_registered(struct graph *g, const struct registered_seal *seal) {
    uint8_t porep_id[32];
    registered_seal_porep_id(porep_id, seal);
    graph_init(g, registered_seal_shape(seal)->n_nodes, porep_id, seal->legacy_graph);
}

/* ---- depth-robust parents ---- */

/* rand_chacha's ChaCha8Rng: 64-bit block counter, stream 0, words taken in order, low word first.
 */
struct generator {
    uint8_t key[32];
    uint32_t counter, words[16];
    unsigned used;
};

static uint64_t next64(struct generator *rng) {
    if (rng->used == 16) {
        const uint32_t position[4] = {rng->counter++};
        chacha_block(rng->words, rng->key, position, 8);
        rng->used = 0;
    }
    const uint64_t low = rng->words[rng->used], high = rng->words[rng->used + 1];
    rng->used += 2;
    return low | high << 32;
}

static unsigned ceil_log2(uint64_t v) {
    return v <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(v - 1);
}

/*
 * One parent by bucket sampling. The graph is seen as a finer one, in which each node is a run of
 * POREP_DRG_PARENTS - 1 metanodes of in-degree two: choose a bucket of distances [2^(i-1), 2^i]
 * with equal chance, then a distance in it.
 */
static uint32_t sample_parent(struct generator *rng, uint32_t node) {
    const uint64_t run = POREP_DRG_PARENTS - 1;
    const uint64_t metanode = node * run;
    const uint64_t bucket = next64(rng) % ceil_log2(metanode) + 1;
    const uint64_t end = (uint64_t)1 << bucket;
    const uint64_t largest = metanode < end ? metanode : end;
    const uint64_t smallest = largest >> 1 > 2 ? largest >> 1 : 2;
    const uint64_t distance = smallest + next64(rng) % (largest - smallest + 1);
    const uint32_t parent = (uint32_t)((metanode - distance) / run);
    return parent == node ? node - 1 : parent;
}

void graph_drg_parents(const struct graph *g, uint64_t node, uint32_t out[POREP_DRG_PARENTS]) {
    memset(out, 0, POREP_DRG_PARENTS * sizeof out[0]);
    if (node < 2) return;
    struct generator rng = {.used = 16};
    memcpy(rng.key, g->drg_seed, sizeof g->drg_seed);
    for (unsigned i = 0; i < 4; i++)
        rng.key[28 + i] = (uint8_t)(node >> 8 * i);
    /* API 1.1 moved the predecessor to the front, so that hashing cannot begin without it. */
    const unsigned predecessor = g->legacy ? POREP_DRG_PARENTS - 1 : 0;
    const unsigned first = g->legacy ? 0 : 1;
    for (unsigned i = 0; i < POREP_DRG_PARENTS - 1; i++)
        out[first + i] = sample_parent(&rng, (uint32_t)node);
    out[predecessor] = (uint32_t)node - 1;
}

/* ---- expander parents ---- */

static void store64_be(uint8_t *p, uint64_t v) {
    for (unsigned i = 0; i < 8; i++)
        p[i] = (uint8_t)(v >> (56 - 8 * i));
}

static uint64_t round_function(uint64_t right, uint64_t key, uint64_t mask) {
    uint8_t in[16], out[64];
    store64_be(in, right);
    store64_be(in + 8, key);
    crypto_generichash_blake2b(out, sizeof out, in, sizeof in, NULL, 0);
    return __builtin_bswap64(load64(out)) & mask;
}

static uint64_t feistel(const struct graph *g, uint64_t v) {
    const uint64_t mask = ((uint64_t)1 << g->half_bits) - 1;
    uint64_t left = v >> g->half_bits & mask, right = v & mask;
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t next = left ^ round_function(right, g->feistel_keys[i], mask);
        left = right;
        right = next;
    }
    return left << g->half_bits | right;
}

void graph_exp_parents(const struct graph *g, uint64_t node, uint32_t out[POREP_EXP_PARENTS]) {
    const uint64_t n = g->n_nodes * POREP_EXP_PARENTS;
    for (unsigned i = 0; i < POREP_EXP_PARENTS; i++) {
        uint64_t v = node * POREP_EXP_PARENTS + i;
        do /* the domain is larger than the graph: walk the cycle until inside */
            v = feistel(g, v);
        while (v >= n);
        /* API 1.0 cut the value to 32 bits before dividing. */
        out[i] = g->legacy ? (uint32_t)v / POREP_EXP_PARENTS : (uint32_t)(v / POREP_EXP_PARENTS);
    }
}
