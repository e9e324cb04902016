/*
 * The wires that gadgets pass to each other.
 *
 * Each holds what both modes need. In CS_WITNESS the values are real and the vars are unspecified;
 * in CS_STRUCTURE the vars are real and the values of what is not constant are zero. What is
 * constant, and what is negated, is known and equal in both modes: allocation follows from it.
 */
#ifndef CIRCUIT_WIRES_H
#define CIRCUIT_WIRES_H

#include "cs.h"

/* A Boolean: a constant, a bit variable, or the negation of one. */
struct bit {
    var v; /* VAR_ONE when constant */
    bool is_const;
    bool negated; /* never set when constant */
    bool value;   /* logical value: after the negation */
};

/*
 * 32 Booleans as an unsigned integer; bit i has weight 2^i. Masks describe bit i in their bit i.
 */
struct word {
    uint32_t value; /* logical value */
    uint32_t is_const;
    uint32_t negated; /* zero where constant */
    var bit[32];      /* VAR_ONE where constant; meaningless in CS_WITNESS */
};

/* A field element held by one allocated variable. */
struct num {
    var v;
    fr value;
};

#endif
