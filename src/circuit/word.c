#include "word.h"

#include <assert.h>

#include "multieq.h"

/*
 * Stored values: the variable behind a negated bit holds value xor 1, so that the variables'
 * values of a word are `value ^ negated`.
 *
 * In CS_STRUCTURE the values of what is not constant are kept at zero after each operation
 * (`hide`), as wires.h promises, though the expressions would give something else.
 */

static void set_masks(struct word *out, uint32_t value, uint32_t is_const, uint32_t negated) {
    out->value = value;
    out->is_const = is_const;
    out->negated = negated;
}

void word_constant(struct word *out, uint32_t value) {
    set_masks(out, value, UINT32_MAX, 0);
    for (unsigned i = 0; i < 32; i++)
        out->bit[i] = VAR_ONE;
}

void word_copy(const struct cs *cs, struct word *out, const struct word *in) {
    if (cs_has_rows(cs)) {
        *out = *in;
    } else {
        set_masks(out, in->value, in->is_const, in->negated);
    }
}

struct bit word_bit(const struct word *w, unsigned i) {
    return (struct bit){.v = w->bit[i],
                        .is_const = w->is_const >> i & 1,
                        .negated = w->negated >> i & 1,
                        .value = w->value >> i & 1};
}

void word_set_bit(struct word *w, unsigned i, const struct bit *b) {
    w->value |= (uint32_t)b->value << i;
    w->is_const |= (uint32_t)b->is_const << i;
    w->negated |= (uint32_t)b->negated << i;
    w->bit[i] = b->v;
}

/* Moves whole runs of ones: masks here have few of them. */
uint64_t bits_gather(uint64_t value, uint64_t mask) {
    uint64_t out = 0;
    unsigned at = 0;
    while (mask != 0) {
        const unsigned skip = (unsigned)__builtin_ctzll(mask);
        value >>= skip;
        mask >>= skip;
        if (mask == UINT64_MAX) return value; /* only from the start, where `at` is 0 */
        const unsigned run = (unsigned)__builtin_ctzll(~mask);
        out |= (value & ((UINT64_C(1) << run) - 1)) << at;
        at += run;
        value >>= run;
        mask >>= run;
    }
    return out;
}

/* Bit i to bit 2i. */
static uint64_t spread(uint32_t x) {
    uint64_t v = x;
    v = (v | v << 16) & UINT64_C(0x0000ffff0000ffff);
    v = (v | v << 8) & UINT64_C(0x00ff00ff00ff00ff);
    v = (v | v << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    v = (v | v << 2) & UINT64_C(0x3333333333333333);
    v = (v | v << 1) & UINT64_C(0x5555555555555555);
    return v;
}
/* Bit i of `even` to bit 2i, of `odd` to bit 2i + 1. */
static uint64_t interleave(uint32_t even, uint32_t odd) {
    return spread(even) | spread(odd) << 1;
}

/* Variables for the positions of `mask`, ascending; the first one's var. Nearly always the mask is
 * a low part of the word, all of it or what a shift leaves. */
static var alloc_masked(struct cs *cs, uint64_t values, uint64_t mask) {
    if (mask == 0) return VAR_ONE;
    if ((mask & (mask + 1)) == 0) {
        return cs_alloc_bits(cs, values & mask, 64 - (unsigned)__builtin_clzll(mask));
    }
    return cs_alloc_bits(cs, bits_gather(values, mask), (unsigned)__builtin_popcountll(mask));
}

static void hide(const struct cs *cs, struct word *w) {
    if (cs_has_rows(cs)) w->value &= w->is_const;
}

static var next_var(var *v) {
    const var out = *v;
    v->id++;
    return out;
}

void word_alloc(struct cs *cs, struct word *out, uint32_t value) {
    const var first = cs_alloc_bits(cs, value, 32);
    set_masks(out, value, 0, 0);
    if (!cs_has_rows(cs)) return;
    hide(cs, out);
    var v = first;
    for (unsigned i = 0; i < 32; i++) {
        out->bit[i] = next_var(&v);
        row_boolean(cs, out->bit[i]);
    }
}

static uint32_t rotr32(uint32_t x, unsigned by) {
    return x >> by | x << (-by & 31);
}

void word_rotr(const struct cs *cs, struct word *out, const struct word *a, unsigned by) {
    assert(by < 32);
    if (cs_has_rows(cs)) {
        const struct word in = *a;
        for (unsigned i = 0; i < 32; i++)
            out->bit[i] = in.bit[(i + by) % 32];
    }
    set_masks(out, rotr32(a->value, by), rotr32(a->is_const, by), rotr32(a->negated, by));
}

void word_shr(const struct cs *cs, struct word *out, const struct word *a, unsigned by) {
    assert(by > 0 && by < 32);
    if (cs_has_rows(cs)) {
        const struct word in = *a;
        for (unsigned i = 0; i < 32; i++)
            out->bit[i] = i + by < 32 ? in.bit[i + by] : VAR_ONE;
    }
    set_masks(out, a->value >> by, a->is_const >> by | ~(UINT32_MAX >> by), a->negated >> by);
}

void word_xor(struct cs *cs, struct word *out, const struct word *a, const struct word *b) {
    const uint32_t fresh = ~a->is_const & ~b->is_const;
    const uint32_t value = a->value ^ b->value, is_const = a->is_const & b->is_const;
    const uint32_t negated =
        (a->negated ^ b->negated ^ (a->is_const & a->value) ^ (b->is_const & b->value)) & ~is_const;
    var v = alloc_masked(cs, value ^ negated, fresh);
    if (cs_has_rows(cs)) {
        for (unsigned i = 0; i < 32; i++) {
            const struct bit x = word_bit(a, i), y = word_bit(b, i);
            if (fresh >> i & 1) {
                row_xor(cs, &x, &y, v);
                out->bit[i] = next_var(&v);
            } else {
                out->bit[i] = x.is_const ? y.v : x.v;
            }
        }
    }
    set_masks(out, value, is_const, negated);
    hide(cs, out);
}

/* (x rotr by[0]) xor (x rotr by[1]) */
static uint32_t first_xor(uint32_t x, const unsigned by[3]) {
    return rotr32(x, by[0]) ^ rotr32(x, by[1]);
}

void word_sigma(struct cs *cs, struct word *out, const struct word *a, const unsigned by[3],
                bool shift) {
    if (a->is_const != 0 || cs_has_rows(cs)) {
        struct word x, y;
        word_rotr(cs, &x, a, by[0]);
        word_rotr(cs, &y, a, by[1]);
        word_xor(cs, &x, &x, &y);
        if (shift) {
            word_shr(cs, &y, a, by[2]);
        } else {
            word_rotr(cs, &y, a, by[2]);
        }
        word_xor(cs, out, &x, &y);
        return;
    }
    /* The common case while a witness is made: both results at once. The operation is linear, so
     * that it applies to values, negations and stored values alike. */
    const uint32_t value = a->value, negated = a->negated, stored = value ^ negated;
    const uint32_t last_mask = shift ? UINT32_MAX >> by[2] : UINT32_MAX;
    const uint32_t first = first_xor(stored, by);
    const uint32_t second = (first ^ rotr32(stored, by[2])) & last_mask;
    cs_alloc_bits(cs, first | (uint64_t)second << 32, shift ? 64 - by[2] : 64);
    set_masks(out, first_xor(value, by) ^ (rotr32(value, by[2]) & last_mask), 0,
              first_xor(negated, by) ^ (rotr32(negated, by[2]) & last_mask));
}

/*
 * Ch and Maj fold alike: where a constant decides, the result is one `and` of two operands, each
 * maybe negated, maybe negated itself. A plan says so for each position.
 */
struct fold {
    uint32_t full;            /* nothing folds: the operation's own row */
    uint32_t x_a, x_b, x_not; /* first operand: a, b, else the constant one; negated */
    uint32_t y_b, y_not;      /* second operand: b, else c; negated */
    uint32_t not_result;
};

static void fold_operands(const struct cs *cs, const struct fold *f, const struct word *a,
                          const struct word *b, const struct word *c, struct word *x,
                          struct word *y) {
    const uint32_t x_one = ~(f->x_a | f->x_b), y_c = ~f->y_b;
    set_masks(x, (a->value & f->x_a) | (b->value & f->x_b) | x_one,
              (a->is_const & f->x_a) | (b->is_const & f->x_b) | x_one,
              (a->negated & f->x_a) | (b->negated & f->x_b));
    set_masks(y, (b->value & f->y_b) | (c->value & y_c),
              (b->is_const & f->y_b) | (c->is_const & y_c),
              (b->negated & f->y_b) | (c->negated & y_c));
    x->value ^= f->x_not;
    x->negated ^= f->x_not & ~x->is_const;
    y->value ^= f->y_not;
    y->negated ^= f->y_not & ~y->is_const;
    if (!cs_has_rows(cs)) return;
    for (unsigned i = 0; i < 32; i++) {
        x->bit[i] = f->x_a >> i & 1 ? a->bit[i] : f->x_b >> i & 1 ? b->bit[i] : VAR_ONE;
        y->bit[i] = f->y_b >> i & 1 ? b->bit[i] : c->bit[i];
    }
}

/* The masks of x and y, and which positions need a variable for it. */
static uint32_t and_masks(struct word *out, const struct word *x, const struct word *y) {
    const uint32_t zero = (x->is_const & ~x->value) | (y->is_const & ~y->value);
    const uint32_t fresh = ~x->is_const & ~y->is_const;
    set_masks(out, x->value & y->value, zero | (x->is_const & y->is_const),
              ((x->is_const & y->negated) | (y->is_const & x->negated)) & ~zero);
    return fresh;
}

/* Rows and vars of Ch or Maj, position by position. `v` is the first allocated var. */
static void fold_rows(struct cs *cs, const struct fold *f, const struct word *in[3],
                      const struct word *x, const struct word *y, uint32_t fresh, bool is_maj,
                      struct word *out, var v) {
    for (unsigned i = 0; i < 32; i++) {
        const struct bit p = word_bit(x, i), q = word_bit(y, i);
        if (f->full >> i & 1) {
            const struct bit a = word_bit(in[0], i), b = word_bit(in[1], i), c = word_bit(in[2], i);
            out->bit[i] = next_var(&v);
            if (is_maj) {
                row_maj(cs, &a, &b, &c, next_var(&v), out->bit[i]);
            } else {
                row_ch(cs, &a, &b, &c, out->bit[i]);
            }
        } else if (fresh >> i & 1) {
            row_and(cs, &p, &q, v);
            out->bit[i] = next_var(&v);
        } else if (out->is_const >> i & 1) {
            out->bit[i] = VAR_ONE;
        } else {
            out->bit[i] = p.is_const ? q.v : p.v;
        }
    }
}

/* `value` is the operation's result, `bc` the second variable that a full position of Maj has. */
static void fold_apply(struct cs *cs, const struct fold *f, const struct word *in[3],
                       uint32_t value, bool is_maj, struct word *out) {
    struct word x, y, result;
    fold_operands(cs, f, in[0], in[1], in[2], &x, &y);
    const uint32_t fresh = and_masks(&result, &x, &y) & ~f->full;
    const uint32_t stored = (value & f->full) | (result.value & ~f->full);
    const uint32_t bc = in[1]->value & in[2]->value;
    const var v =
        is_maj ? alloc_masked(cs, interleave(stored, bc), interleave(fresh | f->full, f->full))
               : alloc_masked(cs, stored, fresh | f->full);
    result.is_const &= ~f->full;
    result.negated &= ~f->full;
    if (cs_has_rows(cs)) fold_rows(cs, f, in, &x, &y, fresh, is_maj, &result, v);
    result.value = value;
    result.negated ^= f->not_result & ~result.is_const;
    word_copy(cs, out, &result);
    hide(cs, out);
}

/* The common case while a witness is made: nothing folds, and no rows are wanted. */
static bool all_full(const struct cs *cs, const struct word *a, const struct word *b,
                     const struct word *c) {
    return (a->is_const | b->is_const | c->is_const) == 0 && !cs_has_rows(cs);
}

void word_ch(struct cs *cs, struct word *out, const struct word *a, const struct word *b,
             const struct word *c) {
    const uint32_t value = (a->value & b->value) ^ (~a->value & c->value);
    if (all_full(cs, a, b, c)) {
        cs_alloc_bits(cs, value, 32);
        set_masks(out, value, 0, 0);
        return;
    }
    /* The cases in their order; each takes what the ones before it left. */
    uint32_t rest = UINT32_MAX;
    const uint32_t a_zero = rest & a->is_const & ~a->value; /* c */
    rest &= ~a_zero;
    const uint32_t b_zero = rest & b->is_const & ~b->value; /* not a and c */
    rest &= ~b_zero;
    const uint32_t c_zero = rest & c->is_const & ~c->value; /* a and b */
    rest &= ~c_zero;
    const uint32_t c_one = rest & c->is_const; /* not (a and not b) */
    rest &= ~c_one;
    const uint32_t b_one = rest & b->is_const; /* not (not a and not c) */
    rest &= ~b_one;
    const struct fold f = {
        .full = rest,
        .x_a = b_zero | c_zero | c_one | b_one,
        .x_not = b_zero | b_one,
        .y_b = c_zero | c_one,
        .y_not = c_one | b_one,
        .not_result = c_one | b_one,
    };
    fold_apply(cs, &f, (const struct word *[3]){a, b, c}, value, false, out);
}

void word_maj(struct cs *cs, struct word *out, const struct word *a, const struct word *b,
              const struct word *c) {
    const uint32_t value = (a->value & b->value) ^ (a->value & c->value) ^ (b->value & c->value);
    if (all_full(cs, a, b, c)) {
        cs_alloc_bits(cs, interleave(value, b->value & c->value), 64);
        set_masks(out, value, 0, 0);
        return;
    }
    uint32_t rest = UINT32_MAX;
    const uint32_t a_zero = rest & a->is_const & ~a->value; /* b and c */
    rest &= ~a_zero;
    const uint32_t b_zero = rest & b->is_const & ~b->value; /* a and c */
    rest &= ~b_zero;
    const uint32_t c_zero = rest & c->is_const & ~c->value; /* a and b */
    rest &= ~c_zero;
    const uint32_t c_one = rest & c->is_const; /* not (not a and not b) */
    rest &= ~c_one;
    const uint32_t b_one = rest & b->is_const; /* not (not a and not c) */
    rest &= ~b_one;
    const uint32_t a_one = rest & a->is_const; /* not (not b and not c) */
    rest &= ~a_one;
    const uint32_t negative = c_one | b_one | a_one;
    const struct fold f = {
        .full = rest,
        .x_a = b_zero | c_zero | c_one | b_one,
        .x_b = a_zero | a_one,
        .x_not = negative,
        .y_b = c_zero | c_one,
        .y_not = negative,
        .not_result = negative,
    };
    fold_apply(cs, &f, (const struct word *[3]){a, b, c}, value, true, out);
}

void word_add(struct cs *cs, struct multieq *eq, struct word *out,
              const struct word *const *operands, unsigned n) {
    assert(n >= 2 && n <= 10);
    uint64_t sum = 0;
    uint32_t is_const = UINT32_MAX;
    for (unsigned i = 0; i < n; i++) {
        sum += operands[i]->value;
        is_const &= operands[i]->is_const;
    }
    if (is_const == UINT32_MAX) {
        word_constant(out, (uint32_t)sum);
        return;
    }
    const unsigned n_bits = 64 - (unsigned)__builtin_clzll(n * (uint64_t)UINT32_MAX);
    const bool has_rows = cs_has_rows(cs);
    const var first = cs_alloc_bits(cs, has_rows ? 0 : sum, n_bits);
    if (has_rows) {
        var v = first;
        for (unsigned i = 0; i < n_bits; i++)
            row_boolean(cs, next_var(&v));
        multieq_add(eq, operands, n, first, n_bits);
        v = first;
        for (unsigned i = 0; i < 32; i++)
            out->bit[i] = next_var(&v);
    }
    set_masks(out, (uint32_t)sum, 0, 0);
    hide(cs, out);
}
