/*
 * The stacked-DRG PoRep circuit: its shapes, its inputs, and the one piece of code that drives
 * recorder, digest and witness.
 *
 * Source: storage-proofs-porep, stacked/circuit (public Rust implementation); every row and
 * variable stands where it stands there.
 */
#ifndef CIRCUIT_POREP_H
#define CIRCUIT_POREP_H

#include "cs.h"
#include "pool.h"
#include "progress.h"
#include "r1cs.h"

enum {
    POREP_DRG_PARENTS = 6,
    POREP_EXP_PARENTS = 8,
    POREP_MAX_LAYERS = 11,
    PATH_MAX_SIBLINGS = 7,
};

/* A Merkle tree: a base tree of base_arity, then, where not 0, one level of sub_arity and one of
 * top_arity. 32 GiB: 8-8-0; 64 GiB: 8-8-2. */
struct tree_shape {
    unsigned base_arity, sub_arity, top_arity;
};

/* One sector size's circuit. From one table; nothing else in the project knows these numbers. */
struct porep_shape {
    const char *size_name;   /* "2KiB", as the oracle writes it */
    const char *size_suffix; /* "2k", as in the circuit id porep-2k */
    uint64_t sector_bytes;
    uint64_t n_nodes; /* sector_bytes / 32 */
    unsigned n_layers;
    unsigned n_challenges;    /* in one partition, one circuit */
    struct tree_shape tree;   /* trees C and R-last (Poseidon); tree D is binary (SHA-256) */
    const char *parameter_id; /* hex digest that names the parameter file */
};
const struct porep_shape *porep_shape_by_bytes(uint64_t sector_bytes); /* NULL: none */
const struct porep_shape *porep_shape_by_name(const char *name); /* "2KiB", "2k"; NULL: none */
const struct porep_shape *porep_shape_at(size_t i);              /* NULL past the end */

/* Levels of a path in the tree of this shape over n_nodes leaves, and the arity of each, from the
 * leaf up. */
unsigned tree_path_levels(const struct tree_shape *shape, uint64_t n_nodes);
unsigned tree_path_arity(const struct tree_shape *shape, uint64_t n_nodes, unsigned level);

/* ---- private inputs; all values Montgomery form, nothing is owned ---- */

struct path_element {
    uint32_t index;                 /* which child the path comes from */
    fr siblings[PATH_MAX_SIBLINGS]; /* arity - 1 of them, in order */
};
struct merkle_path {
    fr leaf, root;
    uint32_t n_elements;
    const struct path_element *elements; /* from the leaf up */
};
struct porep_column {
    fr rows[POREP_MAX_LAYERS]; /* labels, layer 1 first */
    struct merkle_path path;   /* in tree C; its leaf is the column's hash */
};
struct porep_challenge {
    uint64_t node;                  /* the challenged node */
    struct merkle_path comm_d;      /* its leaf is the data */
    struct merkle_path comm_r_last; /* its leaf is the encoded node */
    struct porep_column c_x;        /* the challenged column */
    struct porep_column drg[POREP_DRG_PARENTS];
    struct porep_column exp[POREP_EXP_PARENTS];
};
struct porep_partition {
    fr replica_id, comm_d, comm_r, comm_c, comm_r_last;
    const struct porep_challenge *challenges;
    uint32_t n_challenges;
};

/* ---- the circuit ---- */

/* Synthesizes one partition on cs. `in` is NULL in structure mode; otherwise its counts, of
 * challenges and of path elements, must be the shape's (porep_witness checks them). The public
 * inputs are allocated by the circuit itself, in its order. */
void porep_synthesize(struct cs *cs, const struct porep_shape *shape,
                      const struct porep_partition *in);

/* Records the structured matrices. */
CUZK_NODISCARD cuzk_status porep_record(const struct porep_shape *shape, struct r1cs **out,
                                        struct cuzk_error *err);

/*
 * Makes the witness of one partition, its challenges in parallel. `r` is the shape's recorded
 * system; its stats are taken (r1cs_get_stats), which is safe from several threads once they have
 * been taken before. Errors: FIELD_COUNT when there are not as many challenges, or elements in a
 * path, as the shape has; NO_MEMORY; INTERNAL. *out is then empty.
 */
CUZK_NODISCARD cuzk_status porep_witness(const struct porep_shape *shape, struct r1cs *r,
                                         const struct porep_partition *in, struct witness *out,
                                         struct pool *pool, struct cuzk_error *err);

/*
 * The same into a fresh witness of the system's counts that the caller created or placed
 * (witness.h). On an error it holds parts of a witness, and is still the caller's to wipe and free.
 */
CUZK_NODISCARD cuzk_status porep_witness_into(const struct porep_shape *shape, struct r1cs *r,
                                              const struct porep_partition *in, struct witness *w,
                                              struct pool *pool, struct cuzk_error *err);

#endif
