/*
 * Gadgets over allocated field elements (struct num, wires.h).
 *
 * Threads: as for the cs.
 */
#ifndef CIRCUIT_NUM_H
#define CIRCUIT_NUM_H

#include "wires.h"

/* A new variable of this value, without a row. In CS_STRUCTURE the value is ignored. */
struct num num_alloc(struct cs *cs, const fr *value);

/* A new public input that is equal to `a`: input * 1 = a. */
void num_inputize(struct cs *cs, const struct num *a);

/* The row a * 1 = b. */
void num_enforce_equal(struct cs *cs, const struct num *a, const struct num *b);

/* A new variable with the row (a + b) * 1 = sum. */
struct num num_add(struct cs *cs, const struct num *a, const struct num *b);

/* A new variable that is a where `condition` holds, else b: (b - a) * condition = b - result. The
 * condition is a variable, not negated. */
struct num num_pick(struct cs *cs, const struct bit *condition, const struct num *a,
                    const struct num *b);

#endif
