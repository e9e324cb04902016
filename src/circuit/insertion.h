/*
 * Inserting a node among its siblings at the place that bits give.
 */
#ifndef CIRCUIT_INSERTION_H
#define CIRCUIT_INSERTION_H

#include "wires.h"

/*
 * out[0 .. arity) are the arity - 1 siblings in order with `element` inserted at the index whose
 * bits are given, the lowest first; all are new variables. Arity 2, 4 or 8, with 1, 2 or 3 bits,
 * which must be variables, not negated. Rows: 2, 8, 22.
 */
void insert_among(struct cs *cs, struct num *out, const struct num *element, const struct bit *bits,
                  const struct num *siblings, unsigned arity);

#endif
