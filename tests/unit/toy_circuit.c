#include "toy_circuit.h"

#include <stdlib.h>

enum { N_FUNCTIONS = 6, MAX_WIRES = 160, N_OUT = 5, MAX_ARGS = 24 };

uint64_t toy_next(struct toy_random *r) {
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

struct wire {
    var v;
    uint32_t is_const; /* the constant one; no bool, since padding would be compared */
    fr value;
};

struct toy {
    struct cs *cs;
    uint64_t seed;
    struct toy_random *values;
};

struct frame {
    struct wire wires[MAX_WIRES];
    uint32_t n;
};

static struct wire constant_wire(void) {
    return (struct wire){.v = VAR_ONE, .is_const = true, .value = fr_one};
}

static void push(struct frame *f, struct wire w) {
    if (f->n < MAX_WIRES) f->wires[f->n++] = w;
}

/* Values are zero where the circuit is only recorded. */
static fr random_value(const struct toy *t) {
    fr value = fr_zero;
    if (cs_mode_of(t->cs) == CS_WITNESS) {
        const uint64_t seed[4] = {toy_next(t->values)};
        fr_from_seed(&value, (const uint8_t *)seed, 0);
    }
    return value;
}

static void random_coefficient(fr *c, struct toy_random *r) {
    switch (toy_below(r, 6)) {
    case 0:
        fr_from_u64(c, toy_next(r));
        return;
    case 1:
        fr_pow2(c, toy_below(r, 255));
        return;
    case 2:
        *c = fr_zero;
        return;
    default:
        fr_pow2(c, toy_below(r, 4));
    }
    if (toy_below(r, 2) == 0) fr_neg(c, c);
}

static void add(const struct toy *t, struct lc *lc, fr *value, const struct wire *w, const fr *c) {
    fr product;
    if (cs_has_rows(t->cs)) lc_add(lc, w->v, c);
    fr_mul(&product, &w->value, c);
    fr_add(value, value, &product);
}

static void random_lc(const struct toy *t, const struct frame *f, struct toy_random *r,
                      struct lc *lc, fr *value) {
    lc_clear(lc);
    *value = fr_zero;
    for (uint32_t n = toy_below(r, 5); n > 0; n--) {
        const struct wire *w = &f->wires[toy_below(r, f->n)];
        fr c;
        random_coefficient(&c, r);
        add(t, lc, value, w, &c);
        if (toy_below(r, 6) == 0) { /* cancels */
            fr_neg(&c, &c);
            add(t, lc, value, w, &c);
        }
    }
    /* A packed word: neighbours with doubling coefficients, some of them negated. */
    if (toy_below(r, 4) != 0) return;
    const uint32_t first = toy_below(r, f->n), shift = toy_below(r, 240);
    for (uint32_t i = first, k = 0; i < f->n && k < 12; i++, k++) {
        fr c;
        fr_pow2(&c, shift + k);
        if (shift % 2 != 0) fr_neg(&c, &c);
        add(t, lc, value, &f->wires[i], &c);
    }
}

/* A new variable that is the product of two linear combinations. */
static void product_row(const struct toy *t, struct frame *f, struct toy_random *r) {
    struct lc a = {0}, b = {0}, c = {0};
    fr value_a, value_b;
    random_lc(t, f, r, &a, &value_a);
    random_lc(t, f, r, &b, &value_b);
    struct wire w = {.value = fr_zero};
    fr_mul(&w.value, &value_a, &value_b);
    if (cs_mode_of(t->cs) == CS_STRUCTURE) w.value = fr_zero;
    w.v = cs_alloc_num(t->cs, &w.value);
    if (cs_has_rows(t->cs)) lc_add_var(&c, w.v);
    cs_enforce(t->cs, &a, &b, &c);
    lc_free(&a);
    lc_free(&b);
    lc_free(&c);
    push(f, w);
}

/* n bits with their booleanity rows, then their exclusive ors with each other, rotated. */
static void bit_rows(const struct toy *t, struct frame *f, struct toy_random *r) {
    const unsigned n = 1 + toy_below(r, 64);
    const uint64_t mask = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    uint64_t x = 0;
    if (cs_mode_of(t->cs) == CS_WITNESS) x = toy_next(t->values) & mask;
    const var bits = cs_alloc_bits(t->cs, x, n);
    const unsigned turn = toy_below(r, n);
    const uint64_t y = turn == 0 ? x : (x >> turn | x << (n - turn)) & mask;
    const var sums = cs_alloc_bits(t->cs, x ^ y, n);
    struct lc a = {0}, b = {0}, c = {0};
    fr two;
    fr_from_u64(&two, 2);
    for (unsigned i = 0; cs_has_rows(t->cs) && i < n; i++) {
        const var v = {bits.id + i}, other = {bits.id + (i + turn) % n}, sum = {sums.id + i};
        lc_clear(&a), lc_clear(&b), lc_clear(&c);
        lc_add_var(&a, VAR_ONE);
        lc_sub_var(&a, v);
        lc_add_var(&b, v);
        cs_enforce(t->cs, &a, &b, &c);
        lc_clear(&a), lc_clear(&b), lc_clear(&c);
        lc_add(&a, v, &two);
        lc_add_var(&b, other);
        lc_sub_var(&c, sum);
        lc_add_var(&c, v);
        lc_add_var(&c, other);
        cs_enforce(t->cs, &a, &b, &c);
    }
    lc_free(&a);
    lc_free(&b);
    lc_free(&c);
    for (unsigned i = 0; i < n; i++) {
        struct wire w = {.v = {sums.id + i}};
        if (((x ^ y) >> i & 1) != 0) w.value = fr_one;
        push(f, w);
    }
}

struct results {
    struct wire wires[N_OUT];
};

static void call_function(const struct toy *t, unsigned function, struct frame *f,
                          struct toy_random *r);

static void body(const struct toy *t, unsigned function, struct frame *f, struct results *out) {
    struct toy_random r = {t->seed * 1000 + function};
    static const char *const scopes[] = {"left", "right"};
    memset(out, 0, sizeof *out);
    for (uint32_t steps = 4 + toy_below(&r, 12); steps > 0; steps--) {
        cs_scope_begin(t->cs, scopes[steps % 2], (int)steps % 3 - 1);
        switch (toy_below(&r, 5)) {
        case 0: {
            const fr value = random_value(t);
            push(f, (struct wire){.v = cs_alloc_input(t->cs, &value), .value = value});
            break;
        }
        case 1:
            bit_rows(t, f, &r);
            break;
        case 2:
            if (function > 0) call_function(t, toy_below(&r, function), f, &r);
            break;
        default:
            product_row(t, f, &r);
        }
        cs_scope_end(t->cs);
    }
    for (unsigned i = 0; i < N_OUT; i++)
        out->wires[i] = f->wires[toy_below(&r, f->n)];
}

static void call_function(const struct toy *t, unsigned function, struct frame *f,
                          struct toy_random *r) {
    static const char *const names[N_FUNCTIONS] = {"f0", "f1", "f2", "f3", "f4", "f5"};
    struct frame *inner = calloc(1, sizeof *inner);
    struct {
        unsigned char n_args, is_const[MAX_ARGS];
    } key = {0};
    var *in[MAX_ARGS];
    uint32_t n_in = 0;
    key.n_args = (unsigned char)(1 + toy_below(r, 2) * (MAX_ARGS - 1));
    /* Half of the arguments are neighbours, the others anything, duplicates included. */
    uint32_t at = toy_below(r, f->n);
    for (unsigned i = 0; i < key.n_args; i++) {
        at = toy_below(r, 2) == 0 ? toy_below(r, f->n) : (at + 1) % f->n;
        const struct wire *w = &f->wires[at];
        push(inner, *w);
        key.is_const[i] = (unsigned char)w->is_const;
    }
    push(inner, constant_wire());
    for (unsigned i = 0; i < key.n_args; i++) {
        if (key.is_const[i] == 0) in[n_in++] = &inner->wires[i].v;
    }
    struct results out;
    var *out_vars[N_OUT];
    for (unsigned i = 0; i < N_OUT; i++)
        out_vars[i] = &out.wires[i].v;
    const struct cs_call call = {.name = names[function],
                                 .key = &key,
                                 .key_bytes = sizeof key,
                                 .in = in,
                                 .n_in = n_in,
                                 .out = &out,
                                 .out_bytes = sizeof out,
                                 .out_vars = out_vars,
                                 .n_out_vars = N_OUT};
    if (cs_call_enter(t->cs, &call)) {
        body(t, function, inner, &out);
        cs_call_leave(t->cs, &call);
    }
    for (unsigned i = 0; i < N_OUT; i++)
        push(f, out.wires[i]);
    free(inner);
}

void toy_synthesize(struct cs *cs, uint64_t seed, uint64_t values) {
    struct toy_random value_stream = {values}, r = {seed};
    const struct toy t = {.cs = cs, .seed = seed, .values = &value_stream};
    struct frame *f = calloc(1, sizeof *f);
    push(f, constant_wire());
    bit_rows(&t, f, &r);
    for (uint32_t calls = 3 + toy_below(&r, 12); calls > 0; calls--) {
        cs_scope_begin(cs, "call", (int)calls);
        call_function(&t, toy_below(&r, N_FUNCTIONS), f, &r);
        product_row(&t, f, &r);
        cs_scope_end(cs);
    }
    free(f);
}

/* ---- rows as bytes ---- */

static void *grown(void *data, size_t *capacity, size_t need, size_t size) {
    if (need <= *capacity) return data;
    *capacity = 2 * need + 64;
    data = realloc(data, *capacity * size);
    if (data == NULL) abort();
    return data;
}

void toy_rows_put(void *ctx, const struct row_lc abc[3]) {
    struct toy_rows *rows = ctx;
    rows->starts =
        grown(rows->starts, &rows->rows_capacity, rows->n_rows + 2, sizeof *rows->starts);
    rows->starts[rows->n_rows++] = rows->n_bytes;
    for (int m = 0; m < 3; m++) {
        rows->bytes =
            grown(rows->bytes, &rows->capacity, rows->n_bytes + 4 + (size_t)abc[m].n * 37, 1);
        memcpy(rows->bytes + rows->n_bytes, &abc[m].n, 4);
        rows->n_bytes += 4;
        for (uint32_t i = 0; i < abc[m].n; i++) {
            uint8_t *at = rows->bytes + rows->n_bytes;
            const uint32_t index = var_index(abc[m].terms[i].v);
            at[0] = var_kind_of(abc[m].terms[i].v) == VAR_AUX;
            memcpy(at + 1, &index, 4);
            fr_to_bytes(at + 5, &abc[m].terms[i].c);
            rows->n_bytes += 37;
        }
    }
    rows->starts[rows->n_rows] = rows->n_bytes;
}

void toy_rows_free(struct toy_rows *rows) {
    free(rows->bytes);
    free(rows->starts);
    *rows = (struct toy_rows){0};
}
