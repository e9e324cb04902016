/*
 * The graph of a sector: depth-robust (DRG) parents and expander parents of a node.
 *
 * DRG: bucket sampling (DRSample) with ChaCha8 as its generator, seeded by the PoRep id and the
 * node. Expander: Chung's construction through a three-round Feistel permutation over BLAKE2b.
 * Nothing is stored: a node's parents are computed in microseconds.
 *
 * Sources: storage-proofs-core drgraph.rs, crypto/feistel.rs; storage-proofs-porep stacked/vanilla/
 * graph.rs. Threads: a graph is immutable after graph_init().
 */
#ifndef FILECOIN_GRAPH_H
#define FILECOIN_GRAPH_H

#include "registered_proof.h"

struct graph {
    uint64_t n_nodes;
    bool legacy; /* API 1.0.0 */
    uint8_t drg_seed[28];
    uint64_t feistel_keys[3];
    unsigned half_bits; /* of the permutation's domain, the least 4^k >= 8 n_nodes */
};

void graph_init(struct graph *g, uint64_t n_nodes, const uint8_t porep_id[32], bool legacy);
void graph_init_registered(struct graph *g, const struct registered_seal *seal);

/* node < n_nodes. Parents of nodes 0 and 1 are 0; others are below the node. */
void graph_drg_parents(const struct graph *g, uint64_t node, uint32_t out[POREP_DRG_PARENTS]);
/* Any node may be a parent, the node itself included. */
void graph_exp_parents(const struct graph *g, uint64_t node, uint32_t out[POREP_EXP_PARENTS]);

#endif
