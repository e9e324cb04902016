/*
 * The two parts of a PoRep partition that are synthesized on their own: the prologue once, then
 * the challenges, which depend on nothing but the prologue's wires and may be made in any order.
 * Private to porep.c and porep_witness.c.
 */
#ifndef CIRCUIT_POREP_PARTS_H
#define CIRCUIT_POREP_PARTS_H

#include "bits.h"
#include "porep.h"

/* Tree D, for every sector size: SHA-256, binary. */
static const struct tree_shape porep_tree_d = {.base_arity = 2};

/* What the prologue hands to each challenge. */
struct porep_common {
    struct word replica_id[NUM_WORDS];
    struct num comm_d, comm_c, comm_r_last;
};

/* Allocates what the partition shares: replica id, commitments, comm_r = H(comm_c, comm_r_last). */
void porep_prologue(struct cs *cs, const struct porep_partition *in, struct porep_common *out);

/* One challenge, a template; `in` is NULL in CS_STRUCTURE. */
void porep_synthesize_challenge(struct cs *cs, const struct porep_shape *shape,
                                const struct porep_common *common,
                                const struct porep_challenge *in);

#endif
