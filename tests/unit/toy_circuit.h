/*
 * Random circuits for the tests of src/r1cs: nested calls with ports that pass through, duplicate
 * and constant arguments, inputs inside frames, cancelling coefficients, packed rows. The same seed
 * gives the same circuit in every mode; in witness mode every row is satisfied.
 */
#ifndef TOY_CIRCUIT_H
#define TOY_CIRCUIT_H

#include "cs.h"

/* splitmix64 */
struct toy_random {
    uint64_t state;
};
uint64_t toy_next(struct toy_random *r);
static inline uint32_t toy_below(struct toy_random *r, uint32_t n) {
    return (uint32_t)(toy_next(r) % n);
}

/* `values`: seed of the bits and numbers; another one gives another witness of the same circuit. */
void toy_synthesize(struct cs *cs, uint64_t seed, uint64_t values);

/* Rows as bytes, in the digest's format, from a flat sink. */
struct toy_rows {
    uint8_t *bytes;
    size_t n_bytes, capacity;
    size_t *starts; /* of each row, and the end */
    size_t n_rows, rows_capacity;
};
void toy_rows_put(void *rows, const struct row_lc abc[3]);
void toy_rows_free(struct toy_rows *rows);

#endif
