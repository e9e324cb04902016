/* The structs behind the opaque types of cuzk/cuzk.h. */
#ifndef API_INTERNAL_H
#define API_INTERNAL_H

#include <stdatomic.h>

#include <cuzk/cuzk.h>

#include "c1.h"
#include "circuit_name.h"
#include "pool.h"
#include "progress.h"
#include "prover.h"
#include "verifier.h"

struct cuzk_context {
    struct pool *pool;
    struct progress progress;
    atomic_bool cancel;
};

struct cuzk_sector {
    struct c1 *c1;
};

struct cuzk_circuit {
    const struct porep_shape *shape;
    struct r1cs *r1cs;
    char id[CIRCUIT_ID_BYTES];
};

struct cuzk_params {
    struct srs *srs;
    struct prover_key *key;
};

struct cuzk_vk {
    struct vkey vk;
};

struct cuzk_pending {
    struct pending_proof *proof;
    const cuzk_params *params;
    fr *inputs; /* the public inputs, for verification */
    size_t n_inputs;
    struct prover_timings timings;
    double witness_seconds, verify_seconds;
};

#endif
