/*
 * Gadgets over single Booleans (struct bit, wires.h).
 *
 * Constants fold as in bellpepper's Boolean: an operation whose result is known, or is one of its
 * operands or the negation of one, allocates nothing. The rows of the operations are offered on
 * their own as well, for the word gadgets; those may be called only when cs_has_rows(cs).
 *
 * Outputs may alias inputs. Threads: as for the cs.
 */
#ifndef CIRCUIT_BOOLEAN_H
#define CIRCUIT_BOOLEAN_H

#include "wires.h"

/* A constant. */
struct bit bit_constant(bool value);

/* A new variable, with its row (1 - v) v = 0. */
struct bit bit_alloc(struct cs *cs, bool value);

struct bit bit_not(struct bit b);
struct bit bit_and(struct cs *cs, const struct bit *a, const struct bit *b);

/* lc += c b. */
void lc_add_bit(struct lc *lc, const struct bit *b, const fr *c);

/* (1 - v) v = 0 */
void row_boolean(struct cs *cs, var v);
/* out = a xor b for two variables; `out` is the exclusive or of the variables, negations aside. */
void row_xor(struct cs *cs, const struct bit *a, const struct bit *b, var out);
/* out = a and b, negations included, for two variables. */
void row_and(struct cs *cs, const struct bit *a, const struct bit *b, var out);
/* out = a ? b : c. */
void row_ch(struct cs *cs, const struct bit *a, const struct bit *b, const struct bit *c, var out);
/* out = majority of a, b, c, where bc = b and c has its own row. */
void row_maj(struct cs *cs, const struct bit *a, const struct bit *b, const struct bit *c, var bc,
             var out);

#endif
