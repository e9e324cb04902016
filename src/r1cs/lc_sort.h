/*
 * Bringing linear combinations into the order in which they are stored and hashed: inputs before
 * ports before aux, ascending index, equal variables added up, zero coefficients dropped.
 *
 * Threads: a scratch belongs to one thread.
 */
#ifndef R1CS_LC_SORT_H
#define R1CS_LC_SORT_H

#include "cs.h"

/* The place of a variable in a row: ONE and the inputs, then ports, then aux. */
static inline uint32_t var_order(var v) {
    static const uint8_t rank[4] = {[VAR_INPUT] = 0, [VAR_PORT] = 1, [VAR_AUX] = 2, [3] = 3};
    return (uint32_t)rank[v.id >> 30] << 30 | (v.id & VAR_INDEX_MASK);
}

struct sort_scratch {
    uint64_t *keys; /* 2 * capacity */
    uint32_t capacity;
};
void sort_scratch_free(struct sort_scratch *s);
/* Room for n keys; false: no memory. */
bool sort_scratch_reserve(struct sort_scratch *s, uint32_t n);
/* Sorts s->keys[0 .. n) ascending. Keys must differ. */
void sort_keys(struct sort_scratch *s, uint32_t n);

/* out = in, in order. Returns false when memory could not be had, or `in` had failed before. */
bool lc_normalize(struct lc *out, const struct lc *in, struct sort_scratch *s);

#endif
