#include "row_code.h"

static uint64_t ref_pack(uint32_t base[3], var v) {
    const enum var_kind kind = var_kind_of(v);
    const uint32_t index = var_index(v);
    if (kind == VAR_INPUT) return (uint64_t)index << 2 | kind;
    const uint32_t delta = index - base[kind];
    base[kind] = index;
    return (uint64_t)(uint32_t)(delta << 1 ^ -(delta >> 31)) << 2 | kind;
}

void row_encoder_restart(struct row_encoder *e) {
    *e = (struct row_encoder){.shape = SHAPE_NONE};
}

/* The shape of a row and its slots' variables; false: the row is not small enough for one. */
static bool find_shape(struct row_shape *shape, uint32_t slots[SHAPE_MAX_SLOTS],
                       struct coef_dict *dict, const struct row_lc row[3]) {
    *shape = (struct row_shape){0};
    if ((uint64_t)row[0].n + row[1].n + row[2].n > SHAPE_MAX_TERMS) return false;
    struct shape_term *out = shape->terms;
    for (int i = 0; i < 3; i++) {
        shape->n_terms[i] = (uint8_t)row[i].n;
        for (uint32_t t = 0; t < row[i].n; t++, out++) {
            const struct lc_term *term = &row[i].terms[t];
            const uint32_t coef = coef_dict_id(dict, &term->c);
            if (coef >= SHAPE_MAX_COEF) return false;
            out->coef = (uint8_t)coef;
            out->slot = SHAPE_ONE;
            if (term->v.id == VAR_ONE.id) continue;
            uint8_t slot = 0;
            while (slot < shape->n_slots && slots[slot] != term->v.id)
                slot++;
            if (slot == SHAPE_MAX_SLOTS) return false;
            if (slot == shape->n_slots) slots[shape->n_slots++] = term->v.id;
            out->slot = slot;
        }
    }
    return true;
}

/* Lengthens the last operation by this row, if that is how it goes on. */
static bool extend(struct row_encoder *e, struct byte_buf *code, uint32_t shape, unsigned n_slots,
                   const uint32_t slots[SHAPE_MAX_SLOTS]) {
    if (shape != e->shape || e->count == OP_MAX_ROWS) return false;
    for (unsigned i = 0; i < n_slots; i++) {
        if (slots[i] != e->slots[i] + 1) return false;
    }
    for (unsigned i = 0; i < n_slots; i++)
        e->slots[i]++;
    code->data[e->count_at] = (uint8_t)e->count++;
    return true;
}

static bool put_shaped(struct row_encoder *e, struct byte_buf *code, uint32_t shape,
                       unsigned n_slots, const uint32_t slots[SHAPE_MAX_SLOTS]) {
    bool ok = byte_buf_put_varint(code, (uint64_t)shape + 1);
    e->shape = shape;
    e->count = 1;
    e->count_at = code->n;
    ok = ok && byte_buf_put(code, &(uint8_t){0}, 1);
    for (unsigned i = 0; ok && i < n_slots; i++) {
        e->slots[i] = slots[i];
        ok = byte_buf_put_varint(code, ref_pack(e->base, (var){slots[i]}));
    }
    return ok;
}

/* Number of terms from `t` on whose variables follow each other and whose coefficients double. */
static uint32_t run_length(const struct row_lc *lc, uint32_t t, uint32_t coef,
                           struct coef_dict *dict) {
    const uint32_t first = lc->terms[t].v.id;
    uint32_t n = 1;
    if (first == VAR_ONE.id || coef >= COEF_N_PRESET) return 1;
    while (n < RUN_MAX_TERMS && t + n < lc->n && lc->terms[t + n].v.id == first + n &&
           coef + 2 * n < COEF_N_PRESET &&
           fr_equal(&lc->terms[t + n].c, &coef_at(dict, coef + 2 * n)->mont))
        n++;
    return n;
}

/* Writes the runs of one linear combination, or (code NULL) only counts them. Returns the number of
 * runs, COEF_NONE when there is no memory. */
static uint32_t put_runs(struct row_encoder *e, struct byte_buf *code, struct coef_dict *dict,
                         const struct row_lc *lc) {
    uint32_t n_runs = 0;
    for (uint32_t t = 0; t < lc->n; n_runs++) {
        const uint32_t coef = coef_dict_id(dict, &lc->terms[t].c);
        if (coef == COEF_NONE) return COEF_NONE;
        const uint32_t n = run_length(lc, t, coef, dict);
        if (code != NULL) {
            bool ok = byte_buf_put_varint(code, ref_pack(e->base, lc->terms[t].v));
            ok = ok && byte_buf_put_varint(code, (uint64_t)coef << 1 | (n > 1));
            if (ok && n > 1) ok = byte_buf_put(code, &(uint8_t){(uint8_t)(n - 1)}, 1);
            if (!ok) return COEF_NONE;
        }
        t += n;
    }
    return n_runs;
}

static bool put_free(struct row_encoder *e, struct byte_buf *code, struct coef_dict *dict,
                     const struct row_lc row[3]) {
    e->shape = SHAPE_NONE;
    if (!byte_buf_put_varint(code, 0)) return false;
    for (int i = 0; i < 3; i++) {
        const uint32_t n_runs = put_runs(e, NULL, dict, &row[i]);
        if (n_runs == COEF_NONE || !byte_buf_put_varint(code, n_runs)) return false;
        if (put_runs(e, code, dict, &row[i]) == COEF_NONE) return false;
    }
    return true;
}

bool row_encode(struct row_encoder *e, struct byte_buf *code, struct coef_dict *dict,
                struct shape_set *shapes, const struct row_lc row[3]) {
    struct row_shape shape;
    uint32_t slots[SHAPE_MAX_SLOTS] = {0};
    uint32_t id = SHAPE_NONE;
    if (find_shape(&shape, slots, dict, row)) id = shape_set_id(shapes, &shape);
    if (id == SHAPE_NONE) return put_free(e, code, dict, row);
    if (extend(e, code, id, shape.n_slots, slots)) return true;
    return put_shaped(e, code, id, shape.n_slots, slots);
}

bool bindings_encode(struct byte_buf *out, const var *vars, uint32_t n) {
    uint32_t base[3] = {0};
    for (uint32_t i = 0; i < n;) {
        uint32_t len = 1;
        if (vars[i].id != VAR_ONE.id) {
            while (i + len < n && vars[i + len].id == vars[i].id + len)
                len++;
        }
        const uint64_t ref = ref_pack(base, vars[i]) << 1 | (len > 1);
        if (!byte_buf_put_varint(out, ref)) return false;
        if (len > 1 && !byte_buf_put_varint(out, len)) return false;
        i += len;
    }
    return true;
}
