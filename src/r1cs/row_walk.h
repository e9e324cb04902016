/*
 * Walking the rows of a structured system. Private to the room.
 *
 * Two levels: segments_visit() goes down the templates and hands out pieces of raw byte code with
 * the frame that they are in; rows_visit() decodes them into rows in the digest's order.
 *
 * Threads: the system is read only; a scratch belongs to one thread.
 */
#ifndef R1CS_ROW_WALK_H
#define R1CS_ROW_WALK_H

#include "lc_sort.h"
#include "matrices.h"
#include "row_code.h"

/* A stamp that is being walked. */
struct frame_view {
    const struct template *t;
    const uint32_t *ports; /* ids of global variables */
    uint32_t first_aux;
    uint32_t first_input; /* global index of the frame's input 1, less one */
    uint64_t first_row;
};

/* Rows [from, to) of the frame, all in segment `seg`. */
typedef void (*segment_fn)(void *ctx, const struct frame_view *f, const struct item *seg,
                           uint32_t from, uint32_t to);

/* Visits the segments that rows [first, first + n) of the system touch. `ports` has room for
 * r1cs_root(r)->port_depth ids. */
void segments_visit(const struct r1cs *r, uint64_t first, uint64_t n, uint32_t *ports,
                    segment_fn fn, void *ctx);

/* A variable of the frame, as one of the system. */
static inline uint32_t resolve(const struct frame_view *f, uint32_t id) {
    const uint32_t index = id & VAR_INDEX_MASK;
    switch (id >> 30) {
    case VAR_AUX:
        return f->first_aux + index;
    case VAR_INPUT:
        return index == 0 ? id : id + f->first_input;
    default:
        return f->ports[index];
    }
}

/* The place of a system's variable in a row: inputs before aux. */
static inline uint32_t global_order(uint32_t id) {
    return id ^ (uint32_t)VAR_INPUT << 30;
}

struct row_term {
    uint32_t id;
    const struct coef *c;
};
struct row_terms {
    struct row_term *terms;
    uint32_t n;
};

/* Called for each row, in order. The terms are valid during the call. */
typedef void (*row_fn)(void *ctx, uint64_t row, const struct row_terms abc[3]);

struct row_scratch {
    uint32_t *ports;
    struct row_terms abc[3];
    struct row_term *sorted;
    struct coef *sums; /* of terms that were added up */
    uint32_t n_sums;
    struct sort_scratch sort;
    struct byte_buf memory;
};

CUZK_NODISCARD cuzk_status row_scratch_create(struct row_scratch *s, const struct r1cs *r,
                                              struct cuzk_error *err);
void row_scratch_destroy(struct row_scratch *s);

void rows_visit(const struct r1cs *r, uint64_t first, uint64_t n, struct row_scratch *s, row_fn fn,
                void *ctx);

#endif
