/*
 * A constraint system as structured matrices: A, B, C stored as templates and the places where they
 * are stamped (doc/r1cs.md).
 *
 * Threads: immutable once r1cs_get_stats() or r1cs_digest() has returned, so that any number of
 * threads may use it from then on; the first of these calls adds the densities.
 *
 * Rows are those of bellperson, one for one, the input rows at the end included. Coefficients are
 * in Montgomery form.
 */
#ifndef R1CS_R1CS_H
#define R1CS_R1CS_H

#include "cs.h"
#include "pool.h"
#include "progress.h"
#include "witness.h"

struct r1cs;
void r1cs_destroy(struct r1cs *r); /* accepts NULL */

struct r1cs_stats {
    uint32_t n_inputs, n_aux, n_elements; /* n_elements: aux variables that are no bits */
    uint64_t n_rows;
    uint64_t nnz[3];        /* non-zero coefficients of A, B, C */
    uint32_t a_aux_density; /* distinct aux variables that occur in A */
    uint32_t b_aux_density, b_input_density;
    uint32_t n_templates;
    uint64_t n_stamps;
    size_t bytes; /* memory that the matrices take, kind plane and densities not counted */
};
/* nnz and densities are computed at the first call and kept. Errors: NO_MEMORY. */
CUZK_NODISCARD cuzk_status r1cs_get_stats(struct r1cs *r, struct r1cs_stats *out, struct pool *pool,
                                          struct cuzk_error *err);

/* Planes over the aux variables (one padding word at the end), and over the inputs for B. Valid
 * after r1cs_get_stats. Owned by the r1cs. */
const uint64_t *r1cs_kind_plane(const struct r1cs *r);    /* 1: the variable is a bit */
const uint64_t *r1cs_a_aux_plane(const struct r1cs *r);   /* 1: occurs in A */
const uint64_t *r1cs_b_aux_plane(const struct r1cs *r);   /* 1: occurs in B */
const uint64_t *r1cs_b_input_plane(const struct r1cs *r); /* 1: input occurs in B */

/*
 * Calls `visit` for rows [first, first + n) in order. Slices may be walked by different threads.
 * This and r1cs_evaluate() take a few hundred KB of scratch and abort where even that cannot be
 * had.
 */
typedef void (*r1cs_visit_fn)(void *ctx, uint64_t row, const struct row_lc abc[3]);
void r1cs_walk(const struct r1cs *r, uint64_t first, uint64_t n, r1cs_visit_fn visit, void *ctx);

/* Path of a row in the circuit, e.g. `challenge[3]/label[4]/sha256_block/row 123`. */
void r1cs_row_path(const struct r1cs *r, uint64_t row, char *out, size_t out_bytes);

/*
 * a = A w, b = B w, c = C w, each n_rows long (Montgomery form); any of them may be NULL, and then
 * neither it nor its matrix is looked at. The witness's counts must be the system's. The arrays may
 * be longer: what is past n_rows is left alone.
 */
void r1cs_evaluate(const struct r1cs *r, const struct witness *w, fr *a, fr *b, fr *c,
                   struct pool *pool);

/*
 * Is a∘b = c for every row, and is the witness well formed? Errors: UNSATISFIED, `where` the path
 * of the first bad row, `what` its number and the three values, or `where` "witness" when that is
 * malformed; CANCELLED; NO_MEMORY.
 */
CUZK_NODISCARD cuzk_status r1cs_check(const struct r1cs *r, const struct witness *w,
                                      struct pool *pool, const struct progress *progress,
                                      struct cuzk_error *err);

/*
 * Reads a system of rows in the byte format of the digest (r1cs_digest.h: for A, B, C a u32 count,
 * then kind, index and coefficient of each term). Every aux variable counts as no bit. Errors:
 * FIELD_RANGE, INPUT_SIZE, NOT_CANONICAL, with the byte offset; NO_MEMORY.
 */
CUZK_NODISCARD cuzk_status r1cs_from_rows(struct r1cs **out, const uint8_t *data, size_t n_bytes,
                                          struct cuzk_error *err);

#endif
