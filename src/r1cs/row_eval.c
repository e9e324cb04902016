#include "row_eval.h"

#include "row_walk.h"

/*
 * Where the variables of an operation are bits, they are read as words: one from the kind plane
 * that says so, one from the value plane. The rows of a shape then are look-ups in the shape's
 * table; a run of doubling coefficients is an integer that is shifted into place. All else is done
 * term by term.
 */

/* n <= 64 bits of a plane from bit i on; planes have a padding word. */
static inline uint64_t plane_bits(const uint64_t *plane, uint32_t i, unsigned n) {
    const uint32_t word = i / 64, shift = i % 64;
    uint64_t bits = plane[word] >> shift;
    if (shift > 0) bits |= plane[word + 1] << (64 - shift);
    return n == 64 ? bits : bits & ((UINT64_C(1) << n) - 1);
}

static inline uint64_t ones(unsigned n) {
    return n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static inline bool plane_bit(const uint64_t *plane, uint32_t i) {
    return (plane[i / 64] >> i % 64 & 1) != 0;
}

/* The values of n variables of the frame from v on; false: one of them is no bit. */
static bool word_of(const struct row_eval *e, const struct frame_view *f, var v, unsigned n,
                    uint64_t *bits) {
    const uint64_t *kind = e->r->kind, *values = e->w->values;
    const uint32_t index = var_index(v);
    if (var_kind_of(v) == VAR_AUX) {
        const uint32_t i = f->first_aux + index;
        *bits = plane_bits(values, i, n);
        return plane_bits(kind, i, n) == ones(n);
    }
    if (var_kind_of(v) == VAR_INPUT) return false;
    uint64_t word = 0;
    for (unsigned j = 0; j < n; j++) {
        const uint32_t id = f->ports[index + j];
        if (id > VAR_INDEX_MASK || !plane_bit(kind, id)) return false;
        word |= (uint64_t)plane_bit(values, id) << j;
    }
    *bits = word;
    return true;
}

/* sum += coefficient * value of a variable of the system. */
static void add_term(const struct row_eval *e, fr *sum, uint32_t coef, uint32_t id) {
    const fr *c = &coef_at(&e->r->dict, coef)->mont;
    const uint32_t index = id & VAR_INDEX_MASK;
    const fr *value;
    if (id == VAR_ONE.id) {
        fr_add(sum, sum, c);
        return;
    }
    if (id > VAR_INDEX_MASK) {
        value = &e->w->inputs[index];
    } else if (plane_bit(e->r->kind, index)) {
        if (plane_bit(e->w->values, index)) fr_add(sum, sum, c);
        return;
    } else {
        value = &e->w->elements[element_index(e->r, index)];
    }
    if (coef == COEF_ONE) {
        fr_add(sum, sum, value);
    } else if (coef == COEF_MINUS_ONE) {
        fr_sub(sum, sum, value);
    } else {
        fr product;
        fr_mul(&product, value, c);
        fr_add(sum, sum, &product);
    }
}

/* ---- shaped rows ---- */

/* out[j] = table[the j-th bits of the words], for rows j of [from, to). */
static void look_up(fr *out, const fr *table, unsigned n_words, const uint64_t *words,
                    uint32_t from, uint32_t to) {
    switch (n_words) {
    case 0:
        for (uint32_t j = from; j < to; j++)
            out[j] = table[0];
        return;
    case 1:
        for (uint32_t j = from; j < to; j++)
            out[j] = table[words[0] >> j & 1];
        return;
    case 2:
        for (uint32_t j = from; j < to; j++)
            out[j] = table[(words[0] >> j & 1) | (words[1] >> j & 1) << 1];
        return;
    case 3:
        for (uint32_t j = from; j < to; j++)
            out[j] =
                table[(words[0] >> j & 1) | (words[1] >> j & 1) << 1 | (words[2] >> j & 1) << 2];
        return;
    default:
        for (uint32_t j = from; j < to; j++)
            out[j] = table[(words[0] >> j & 1) | (words[1] >> j & 1) << 1 |
                           (words[2] >> j & 1) << 2 | (words[3] >> j & 1) << 3];
        return;
    }
}

static void term_by_term(const struct row_eval *e, const struct frame_view *f, fr *out,
                         const struct shape_term *terms, unsigned n_terms, const var *slots,
                         uint32_t from, uint32_t to) {
    for (uint32_t j = from; j < to; j++) {
        fr sum = fr_zero;
        for (unsigned t = 0; t < n_terms; t++) {
            const uint32_t id =
                terms[t].slot == SHAPE_ONE ? VAR_ONE.id : resolve(f, slots[terms[t].slot].id + j);
            add_term(e, &sum, terms[t].coef, id);
        }
        out[j] = sum;
    }
}

/* An operation of `rows` rows, of which [from, to) are wanted; `row` is the system's number of its
 * first one, modulo 2^64. */
static void eval_shaped(const struct row_eval *e, const struct frame_view *f,
                        struct row_cursor *cursor, uint32_t shape_id, uint32_t from, uint32_t to,
                        uint64_t row) {
    const struct row_shape *shape = shape_at(&e->r->shapes, shape_id);
    const struct shape_table *table = shape_table_at(&e->r->shapes, shape_id);
    var slots[SHAPE_MAX_SLOTS];
    uint64_t words[SHAPE_MAX_SLOTS];
    bool is_word[SHAPE_MAX_SLOTS];
    for (unsigned i = 0; i < shape->n_slots; i++)
        slots[i] = ref_next(cursor);
    if (from >= to) return;
    for (unsigned i = 0; i < shape->n_slots; i++)
        is_word[i] = word_of(e, f, slots[i], to, &words[i]);
    const struct shape_term *terms = shape->terms;
    for (int m = 0; m < 3; terms += shape->n_terms[m++]) {
        if (e->out[m] == NULL) continue;
        /* Row j goes to out[j]; the rows before `from` may lie before the array. */
        fr *out = (fr *)((uintptr_t)e->out[m] + (uintptr_t)((row - e->base_row) * sizeof(fr)));
        const unsigned n_used = table->n_used[m];
        uint64_t used[SHAPE_MAX_SLOTS];
        bool all = n_used <= SHAPE_MAX_TABLE_SLOTS;
        for (unsigned i = 0; all && i < n_used; i++) {
            used[i] = words[table->used[m][i]];
            all = is_word[table->used[m][i]];
        }
        if (all)
            look_up(out, shape_values(&e->r->shapes, table->first[m]), n_used, used, from, to);
        else
            term_by_term(e, f, out, terms, shape->n_terms[m], slots, from, to);
    }
}

/* ---- free rows ---- */

/* Sums of bits with coefficients 2^k: 320-bit integers, which cannot overflow, since one run's sum
 * is below 2^255. */
struct packed {
    uint64_t l[5];
};

static void packed_add(struct packed *p, uint64_t word, unsigned k) {
    const unsigned limb = k / 64, shift = k % 64;
    const uint64_t high = shift > 0 ? word >> (64 - shift) : 0;
    unsigned __int128 t = (unsigned __int128)p->l[limb] + (word << shift);
    p->l[limb] = (uint64_t)t;
    t = (unsigned __int128)p->l[limb + 1] + high + (uint64_t)(t >> 64);
    p->l[limb + 1] = (uint64_t)t;
    for (unsigned i = limb + 2; i < 5 && (t >> 64) != 0; i++) {
        t = (unsigned __int128)p->l[i] + 1;
        p->l[i] = (uint64_t)t;
    }
}

static bool subtract_modulus(uint64_t l[4]) {
    uint64_t out[4];
    unsigned __int128 borrow = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned __int128 t = (unsigned __int128)l[i] - fr_modulus[i] - borrow;
        out[i] = (uint64_t)t;
        borrow = t >> 64 & 1;
    }
    if (borrow != 0) return false;
    memcpy(l, out, sizeof out);
    return true;
}

static void packed_to_fr(fr *out, const struct packed *p) {
    fr_words low;
    memcpy(low.l, p->l, sizeof low.l);
    while (subtract_modulus(low.l)) /* at most twice: 2^256 < 3 r */
        continue;
    fr_from_words(out, &low);
    if (p->l[4] == 0) return;
    fr high, power;
    fr_pow2(&power, 254);
    fr_double(&power, &power);
    fr_double(&power, &power);
    fr_from_u64(&high, p->l[4]);
    fr_mul(&high, &high, &power);
    fr_add(out, out, &high);
}

static void eval_free(const struct row_eval *e, const struct frame_view *f,
                      struct row_cursor *cursor, fr *out) {
    fr sum = fr_zero;
    struct packed packed[2] = {0}; /* positive, negative */
    bool any = false;
    for (uint32_t n_runs = runs_count(cursor); n_runs > 0; n_runs--) {
        const struct term_run run = run_next(cursor);
        uint64_t word;
        if (out == NULL) continue;
        if ((run.n > 1 || (any && run.coef < COEF_N_PRESET)) &&
            word_of(e, f, run.first, run.n, &word)) {
            any = true;
            packed_add(&packed[run.coef & 1], word, run.coef / 2);
            continue;
        }
        for (uint32_t i = 0; i < run.n; i++)
            add_term(e, &sum, run.coef + 2 * i, resolve(f, run.first.id + i));
    }
    if (out == NULL) return;
    if (any) {
        fr positive, negative;
        packed_to_fr(&positive, &packed[0]);
        packed_to_fr(&negative, &packed[1]);
        fr_add(&sum, &sum, &positive);
        fr_sub(&sum, &sum, &negative);
    }
    *out = sum;
}

static void eval_segment(void *ctx, const struct frame_view *f, const struct item *seg,
                         uint32_t from, uint32_t to) {
    const struct row_eval *e = ctx;
    struct row_cursor cursor = row_cursor_at(f->t->code.data + seg->at);
    for (uint32_t row = seg->first_row; row < to;) {
        const uint32_t shape = op_next(&cursor);
        if (shape != SHAPE_NONE) {
            const uint32_t rows = op_rows(&cursor);
            const uint32_t skip = row >= from ? 0 : from - row;
            const uint32_t n = to - row < rows ? to - row : rows;
            eval_shaped(e, f, &cursor, shape, skip, n, f->first_row + row);
            row += rows;
            continue;
        }
        for (int m = 0; m < 3; m++) {
            const bool wanted = row >= from && e->out[m] != NULL;
            eval_free(e, f, &cursor, wanted ? &e->out[m][f->first_row + row - e->base_row] : NULL);
        }
        row++;
    }
}

void row_eval(struct row_eval *e, uint64_t first, uint64_t n) {
    segments_visit(e->r, first, n, e->ports, eval_segment, e);
}
