/*
 * Shapes of small rows. Nearly all rows of a circuit have one of a few dozen shapes: the
 * coefficients of A, B and C, and which of their terms are the same variable. A shape has slots for
 * the variables; a row is then a shape and a variable for each slot.
 *
 * Where every slot of A is a bit, the value of A is one of 2^slots: `table[0]` lists them, indexed
 * by the slots' bits (slot `used[0][i]` in bit i). The same for B and C.
 */
#ifndef R1CS_ROW_SHAPE_H
#define R1CS_ROW_SHAPE_H

#include "byte_buf.h"
#include "coef_dict.h"

enum {
    SHAPE_MAX_SLOTS = 6,
    SHAPE_MAX_TERMS = 24, /* of A, B, C together */
    SHAPE_MAX_COEF = 128, /* ids below: 2^k, -2^k for k < 64 */
    SHAPE_MAX_SHAPES = 2048,
    SHAPE_MAX_TABLE_SLOTS = 4,
    SHAPE_ONE = 0xff, /* the slot number of ONE */
};
#define SHAPE_NONE UINT32_MAX

struct shape_term {
    uint8_t slot, coef;
};

/* All bytes of it are compared, so unused ones must be zero. The terms of A, B and C follow each
 * other, in the row's order. */
struct row_shape {
    uint8_t n_slots;
    uint8_t n_terms[3];
    struct shape_term terms[SHAPE_MAX_TERMS];
};

struct shape_table {
    uint8_t n_used[3]; /* slots that occur; above SHAPE_MAX_TABLE_SLOTS there is no table */
    uint8_t used[3][SHAPE_MAX_SLOTS];
    uint32_t first[3]; /* of the 2^n_used values in shape_set.values */
};

struct shape_set {
    struct byte_buf shapes; /* struct row_shape */
    struct byte_buf tables; /* struct shape_table; after shape_set_seal */
    struct byte_buf values; /* fr */
    uint16_t *slots;        /* open addressing: id + 1, 0 empty */
    uint32_t n;
};

bool shape_set_init(struct shape_set *s);
void shape_set_deinit(struct shape_set *s);
/* The id of a shape, a new one if need be; SHAPE_NONE: the set is full or there is no memory. */
uint32_t shape_set_id(struct shape_set *s, const struct row_shape *shape);
/* Drops the index and makes the tables; false: no memory. */
bool shape_set_seal(struct shape_set *s, const struct coef_dict *dict);

static inline const struct row_shape *shape_at(const struct shape_set *s, uint32_t id) {
    return (const struct row_shape *)(const void *)s->shapes.data + id;
}
static inline const struct shape_table *shape_table_at(const struct shape_set *s, uint32_t id) {
    return (const struct shape_table *)(const void *)s->tables.data + id;
}
static inline const fr *shape_values(const struct shape_set *s, uint32_t first) {
    return (const fr *)(const void *)s->values.data + first;
}

#endif
