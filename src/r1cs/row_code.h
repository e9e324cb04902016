/*
 * The byte code of rows and of port bindings (doc/r1cs.md).
 *
 * A reference to a variable is a varint: kind in the two low bits, then, for aux variables and
 * ports, the zigzag of its distance from the last reference of that kind (0 at the start of a
 * segment or list), for inputs the index.
 *
 * An operation of the code is either
 *   shape id + 1, count - 1 (one byte), a reference for each slot:   `count` rows of that shape;
 *       from row to row every slot's variable goes up by one;
 *   0, then for A, B, C: the number of runs, and the runs:           one row of any form.
 * A run is a reference, then coefficient id * 2 + d, and with d = 1 a byte, the length less one: so
 * many variables in a row, whose coefficients double.
 *
 * A binding list: runs of a reference and, by a flag in its varint, a length.
 */
#ifndef R1CS_ROW_CODE_H
#define R1CS_ROW_CODE_H

#include "cs.h"
#include "row_shape.h"

enum { OP_MAX_ROWS = 64, RUN_MAX_TERMS = 64 };

/* ---- writing ---- */

struct row_encoder {
    uint32_t base[3];
    /* The operation that may be extended: its shape (SHAPE_NONE: none), count, slots' variables in
     * its last row, and where its count is in the code. */
    uint32_t shape, count;
    uint32_t slots[SHAPE_MAX_SLOTS];
    size_t count_at;
};

/* The next row starts a new segment. */
void row_encoder_restart(struct row_encoder *e);

/* Appends a row (in order: lc_sort.h) to `code`. False: no memory. */
bool row_encode(struct row_encoder *e, struct byte_buf *code, struct coef_dict *dict,
                struct shape_set *shapes, const struct row_lc row[3]);

/* Appends n variables. False: no memory. */
bool bindings_encode(struct byte_buf *out, const var *vars, uint32_t n);

/* ---- reading ---- */

struct row_cursor {
    const uint8_t *p;
    uint32_t base[4];
};

static inline struct row_cursor row_cursor_at(const uint8_t *p) {
    return (struct row_cursor){.p = p};
}

static inline uint32_t ref_unpack(struct row_cursor *c, uint64_t packed) {
    const uint32_t kind = packed & 3, value = (uint32_t)(packed >> 2);
    uint32_t index = value;
    if (kind != VAR_INPUT) {
        index = c->base[kind] + (value >> 1 ^ -(value & 1));
        c->base[kind] = index;
    }
    return kind << 30 | index;
}

static inline var ref_next(struct row_cursor *c) {
    return (var){ref_unpack(c, varint_get(&c->p))};
}

/* The next operation: its shape's id, or SHAPE_NONE for a row of any form. */
static inline uint32_t op_next(struct row_cursor *c) {
    return (uint32_t)varint_get(&c->p) - 1;
}

/* Of a shaped operation: the number of rows; the slots follow (ref_next). */
static inline uint32_t op_rows(struct row_cursor *c) {
    return (uint32_t)*c->p++ + 1;
}

struct term_run {
    var first;
    uint32_t coef, n;
};

/* Of a free row: the number of runs of the next linear combination. */
static inline uint32_t runs_count(struct row_cursor *c) {
    return (uint32_t)varint_get(&c->p);
}

static inline struct term_run run_next(struct row_cursor *c) {
    struct term_run run = {.first = ref_next(c), .n = 1};
    const uint64_t v = varint_get(&c->p);
    run.coef = (uint32_t)(v >> 1);
    if ((v & 1) != 0) run.n = (uint32_t)*c->p++ + 1;
    return run;
}

/* The next run of a binding list. */
static inline var binding_next(struct row_cursor *c, uint32_t *n) {
    const uint64_t v = varint_get(&c->p);
    const var first = {ref_unpack(c, v >> 1)};
    *n = (v & 1) != 0 ? (uint32_t)varint_get(&c->p) : 1;
    return first;
}

#endif
