/*
 * The label of a node in one layer, from the labels of its parents.
 *
 *     label = SHA-256(replica id ‖ layer ‖ node ‖ zeros to 64 bytes ‖ 37 parents), 254 bits of it
 *
 * The parents, 6 in layer 1 and 14 in the others, are repeated in order until there are 37.
 */
#ifndef CIRCUIT_LABEL_H
#define CIRCUIT_LABEL_H

#include "bits.h"

enum { LABEL_PARENTS = 37, LABEL_MAX_DISTINCT = 14 };

/*
 * Unpacks the n_parents (6 or 14) parents and hashes. replica_id is unpacked already; node is as
 * uint64_alloc makes it. A template for each layer; what follows its first block is one template
 * for all layers with the same number of parents.
 */
void label_circuit(struct cs *cs, struct num *out, const struct word replica_id[NUM_WORDS],
                   const struct word node[2], unsigned layer, const struct num *parents,
                   unsigned n_parents);

#endif
