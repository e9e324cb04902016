/*
 * Several equalities of small sums in one row.
 *
 * Equality k of sums below 2^n_k is added with the weight 2^(n_0 + … + n_(k-1)); the row is
 * emitted when the next one would reach the field's capacity of 254 bits, and by
 * multieq_finish(). Where a row is emitted is its place in the circuit, as in bellperson. In
 * CS_WITNESS nothing is kept.
 */
#ifndef CIRCUIT_MULTIEQ_H
#define CIRCUIT_MULTIEQ_H

#include "wires.h"

struct multieq {
    struct cs *cs;
    struct lc sum, result;
    unsigned bits_used;
    fr weight; /* 2^bits_used */
    bool has_rows;
};

void multieq_init(struct multieq *eq, struct cs *cs);

/* The sum of `operands` equals the integer whose n_bits bits (32 to 36) are the consecutive
 * variables from `first_result` on. Does nothing in CS_WITNESS. */
void multieq_add(struct multieq *eq, const struct word *const *operands, unsigned n,
                 var first_result, unsigned n_bits);

/* Emits what is left and releases the memory. */
void multieq_finish(struct multieq *eq);

#endif
