#include "boolean.h"

/*
 * Rows here have at most seven terms in a combination, so that the combinations live on the stack:
 * `struct lc` with a fixed capacity that is never exceeded.
 */
enum { ROW_TERMS = 8 };

struct row {
    struct lc_term terms[3][ROW_TERMS];
    struct lc abc[3];
};

static void row_begin(struct row *r) {
    for (int i = 0; i < 3; i++) {
        r->abc[i] = (struct lc){.terms = r->terms[i], .n = 0, .capacity = ROW_TERMS};
    }
}

static void row_end(struct cs *cs, const struct row *r) {
    cs_enforce(cs, &r->abc[0], &r->abc[1], &r->abc[2]);
}

struct bit bit_constant(bool value) {
    return (struct bit){.v = VAR_ONE, .is_const = true, .value = value};
}

struct bit bit_alloc(struct cs *cs, bool value) {
    const struct bit out = {.v = cs_alloc_bits(cs, value, 1), .value = value};
    if (cs_has_rows(cs)) row_boolean(cs, out.v);
    return out;
}

struct bit bit_not(struct bit b) {
    b.value = !b.value;
    b.negated = !b.is_const && !b.negated;
    return b;
}

struct bit bit_and(struct cs *cs, const struct bit *a, const struct bit *b) {
    if ((a->is_const && !a->value) || (b->is_const && !b->value)) return bit_constant(false);
    if (a->is_const) return *b;
    if (b->is_const) return *a;
    const bool value = a->value && b->value;
    const struct bit out = {.v = cs_alloc_bits(cs, value, 1), .value = value};
    if (cs_has_rows(cs)) row_and(cs, a, b, out.v);
    return out;
}

void lc_add_bit(struct lc *lc, const struct bit *b, const fr *c) {
    if (b->is_const) {
        if (b->value) lc_add(lc, VAR_ONE, c);
    } else if (b->negated) {
        fr minus;
        fr_neg(&minus, c);
        lc_add(lc, VAR_ONE, c);
        lc_add(lc, b->v, &minus);
    } else {
        lc_add(lc, b->v, c);
    }
}

void row_boolean(struct cs *cs, var v) {
    struct row r;
    row_begin(&r);
    lc_add_var(&r.abc[0], VAR_ONE);
    lc_sub_var(&r.abc[0], v);
    lc_add_var(&r.abc[1], v);
    row_end(cs, &r);
}

/*
 * 2 a b = a + b - out. Where exactly one of the two is negated, the public code brings the one that
 * is not to the front.
 */
void row_xor(struct cs *cs, const struct bit *a, const struct bit *b, var out) {
    const bool swap = a->negated && !b->negated;
    const var first = swap ? b->v : a->v, second = swap ? a->v : b->v;
    struct row r;
    row_begin(&r);
    lc_add_var(&r.abc[0], first);
    lc_add_var(&r.abc[0], first);
    lc_add_var(&r.abc[1], second);
    lc_add_var(&r.abc[2], first);
    lc_add_var(&r.abc[2], second);
    lc_sub_var(&r.abc[2], out);
    row_end(cs, &r);
}

/* a b = out; a mixed pair has the operand that is not negated first. */
void row_and(struct cs *cs, const struct bit *a, const struct bit *b, var out) {
    const bool swap = a->negated && !b->negated;
    struct row r;
    row_begin(&r);
    lc_add_bit(&r.abc[0], swap ? b : a, &fr_one);
    lc_add_bit(&r.abc[1], swap ? a : b, &fr_one);
    lc_add_var(&r.abc[2], out);
    row_end(cs, &r);
}

/* (b - c) a = out - c */
void row_ch(struct cs *cs, const struct bit *a, const struct bit *b, const struct bit *c, var out) {
    struct row r;
    fr minus_one;
    fr_neg(&minus_one, &fr_one);
    row_begin(&r);
    lc_add_bit(&r.abc[0], b, &fr_one);
    lc_add_bit(&r.abc[0], c, &minus_one);
    lc_add_bit(&r.abc[1], a, &fr_one);
    lc_add_var(&r.abc[2], out);
    lc_add_bit(&r.abc[2], c, &minus_one);
    row_end(cs, &r);
}

/* b c = bc, then (2 bc - b - c) a = bc - out */
void row_maj(struct cs *cs, const struct bit *a, const struct bit *b, const struct bit *c, var bc,
             var out) {
    struct row r;
    fr minus_one;
    fr_neg(&minus_one, &fr_one);
    row_and(cs, b, c, bc);
    row_begin(&r);
    lc_add_var(&r.abc[0], bc);
    lc_add_var(&r.abc[0], bc);
    lc_add_bit(&r.abc[0], b, &minus_one);
    lc_add_bit(&r.abc[0], c, &minus_one);
    lc_add_bit(&r.abc[1], a, &fr_one);
    lc_add_var(&r.abc[2], bc);
    lc_sub_var(&r.abc[2], out);
    row_end(cs, &r);
}
