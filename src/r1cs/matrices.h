/*
 * The layout of a structured system (doc/r1cs.md). Private to the room.
 *
 * A template's content is a list of items in row order. An item is a segment of raw rows in byte
 * code, or a stamp: another template at a place, with the variables that its ports stand for.
 */
#ifndef R1CS_MATRICES_H
#define R1CS_MATRICES_H

#include "r1cs.h"
#include "row_shape.h"

#define ITEM_RAW UINT32_MAX

/* All counts are of the frame, before the item. */
struct item {
    uint32_t first_row;
    uint32_t first_aux;   /* of a stamp */
    uint32_t first_input; /* of a stamp: inputs of the frame so far, ONE not among them */
    uint32_t child;       /* template id, ITEM_RAW for a segment of rows */
    uint32_t at;          /* offset of its bytes, in code or in bindings */
};

/* Variables [first, first + n) of the frame are bits, allocated by the frame itself. */
struct bit_run {
    uint32_t first, n;
};

/* A scope begins, or (name NULL) the innermost one ends, before row `row` of the frame. */
struct scope_mark {
    const char *name;
    int32_t index;
    uint32_t row;
};

struct template {
    const char *name;
    uint64_t key_hash;
    uint32_t n_ports;
    uint32_t n_inputs, n_aux, n_elements, n_rows; /* with everything stamped in it */
    uint32_t port_depth; /* ports of it and of the deepest chain of stamps in it, together */
    uint32_t n_items;
    uint32_t n_out_vars;
    struct byte_buf key;
    struct byte_buf items;    /* struct item */
    struct byte_buf code;     /* of the raw rows; row_code.h */
    struct byte_buf bindings; /* of the stamps' ports; row_code.h */
    struct byte_buf bit_runs; /* struct bit_run, ascending */
    struct byte_buf scopes;   /* struct scope_mark, in order */
    struct byte_buf out;      /* the output struct as the body left it */
    struct byte_buf out_vars; /* var, of the frame */
};

void template_deinit(struct template *t);
/* Bytes that it takes, itself included. */
size_t template_bytes(const struct template *t);

static inline const struct item *template_items(const struct template *t) {
    return (const struct item *)(const void *)t->items.data;
}
/* One past the last row of item i. */
static inline uint32_t item_end(const struct template *t, uint32_t i) {
    return i + 1 < t->n_items ? template_items(t)[i + 1].first_row : t->n_rows;
}
/* The item that holds a row of the template (row < n_rows). */
uint32_t template_find(const struct template *t, uint32_t row);

/* A rank directory over the kind plane: bits before each block of 512 variables. */
enum { RANK_BITS = 512 };

struct r1cs {
    struct coef_dict dict;
    struct shape_set shapes;
    struct byte_buf templates; /* struct template */
    uint32_t n_templates;
    uint32_t root;              /* template id; no ports */
    uint32_t max_terms;         /* of one linear combination, before merging */
    struct byte_buf kind_plane; /* and the directory: */
    const uint64_t *kind;
    const uint32_t *rank;
    struct byte_buf density_planes;
    uint64_t *a_aux, *b_aux, *b_input; /* NULL until the stats are there */
    uint64_t nnz[3];
};

static inline struct template *template_at(const struct r1cs *r, uint32_t id) {
    return (struct template *)(void *)r->templates.data + id;
}
static inline const struct template *r1cs_root(const struct r1cs *r) {
    return template_at(r, r->root);
}

/* Index among the elements of aux variable i, which is no bit. */
static inline uint32_t element_index(const struct r1cs *r, uint32_t i) {
    uint32_t bits = r->rank[i / RANK_BITS];
    for (uint32_t w = i / RANK_BITS * (RANK_BITS / 64); w < i / 64; w++)
        bits += (uint32_t)__builtin_popcountll(r->kind[w]);
    bits += (uint32_t)__builtin_popcountll(r->kind[i / 64] & ((UINT64_C(1) << i % 64) - 1));
    return i - bits;
}

/* Makes tables, kind plane and rank directory, once all templates are there. */
CUZK_NODISCARD cuzk_status r1cs_seal(struct r1cs *r, struct cuzk_error *err);

/* Planes for the densities, zeroed; a no-op where they are there. */
CUZK_NODISCARD cuzk_status r1cs_take_densities(struct r1cs *r, struct cuzk_error *err);

#endif
