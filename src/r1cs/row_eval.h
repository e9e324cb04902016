/*
 * Values of rows for a witness. Private to the room.
 *
 * Threads: an evaluator belongs to one thread; the system and the witness are read only.
 */
#ifndef R1CS_ROW_EVAL_H
#define R1CS_ROW_EVAL_H

#include "matrices.h"

struct row_eval {
    const struct r1cs *r;
    const struct witness *w;
    uint32_t *ports;   /* room for the root's port_depth ids */
    fr *out[3];        /* of A, B, C; a NULL one is not evaluated */
    uint64_t base_row; /* the row of out[m][0] */
};

/* Evaluates rows [first, first + n) into out[m][row - base_row]. */
void row_eval(struct row_eval *e, uint64_t first, uint64_t n);

#endif
