/*
 * The registered seal proofs: numbers, names, and what follows from them.
 *
 * One table. A registered proof fixes the sector size (and so the circuit's shape), the way in
 * which parents are sampled, the PoRep id that seeds the graph, how challenges are drawn, and how
 * many partitions there are. The challenges of one partition belong to the circuit: porep_shape.
 *
 * Sources: registry of the public Rust API (names, numbers, PoRep ids), FIP-0059 (synthetic),
 * FIP-0090 (non-interactive). The test sizes 4KiB, 16KiB and 32KiB are not registered on the
 * network; they exist here as V1_1 only, have no number, and borrow the PoRep id of
 * StackedDrg2KiBV1_1.
 *
 * Threads: everything is constant.
 */
#ifndef FILECOIN_REGISTERED_PROOF_H
#define FILECOIN_REGISTERED_PROOF_H

#include "porep.h"

enum seal_kind {
    SEAL_INTERACTIVE,     /* challenges from replica id and seed */
    SEAL_SYNTHETIC,       /* challenges from replica id, comm_r and seed, out of a fixed set */
    SEAL_NON_INTERACTIVE, /* challenges from replica id and comm_r */
};

enum { SEAL_NO_NUMBER = -1 };

struct registered_seal {
    int number;          /* as Go's abi package and gRPC carry it; SEAL_NO_NUMBER: a test size */
    const char *name;    /* "StackedDrg32GiBV1_1", as the Rust API prints it */
    const char *variant; /* "StackedDrg32GiBV1": the key under vanilla_proofs */
    uint64_t sector_bytes;
    enum seal_kind kind;
    bool legacy_graph;     /* API 1.0.0: the predecessor is the last parent, expander truncates */
    uint64_t porep_number; /* first eight bytes of the PoRep id, little-endian; the rest is zero */
    unsigned n_partitions;
};

/* NULL: unknown. */
const struct registered_seal *registered_seal_by_number(uint64_t number);
const struct registered_seal *registered_seal_by_name(const char *name, size_t name_bytes);
const struct registered_seal *registered_seal_at(size_t i); /* NULL past the end */

/* The shape of its circuit; never NULL. */
const struct porep_shape *registered_seal_shape(const struct registered_seal *seal);

/* The 32 bytes that seed graph and replica id. */
void registered_seal_porep_id(uint8_t out[32], const struct registered_seal *seal);

#endif
