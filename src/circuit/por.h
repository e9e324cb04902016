/*
 * Inclusion of a leaf in a Merkle tree ("proof of retrievability").
 *
 * Source: storage-proofs-core, gadgets/por.rs.
 */
#ifndef CIRCUIT_POR_H
#define CIRCUIT_POR_H

#include "porep.h"
#include "wires.h"

enum tree_hash {
    TREE_POSEIDON, /* any arities */
    TREE_SHA256    /* binary: arities 2, 0, 0 */
};

/*
 * Enforces that `leaf` is in the tree of this shape over n_nodes leaves whose root is `root`; both
 * are variables already ("private root"). From the leaf up, for each level: the bits of the index,
 * the siblings, the node among them, the hash. Then one public input, the leaf's index in the tree
 * packed from all index bits, and the root's equality.
 *
 * `elements` has tree_path_levels() entries; it is NULL in CS_STRUCTURE. A template.
 */
void por_enforce_inclusion(struct cs *cs, enum tree_hash hash, const struct tree_shape *shape,
                           uint64_t n_nodes, const struct num *leaf, const struct num *root,
                           const struct path_element *elements);

#endif
