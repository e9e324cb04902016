/* Boolean and word gadgets against plain C, bit by bit references, and their own rows. */
#include "gadget_check.h"
#include "multieq.h"
#include "test_main.h"
#include "word.h"

enum op { OP_XOR, OP_CH, OP_MAJ, OP_SIGMA, OP_SMALL_SIGMA, OP_COUNT };

static const unsigned rotations[3] = {7, 18, 3};

/* A word as the test wants it: logical value, constants, negations. */
struct word_spec {
    uint32_t value, is_const, negated;
};

struct op_case {
    enum op op;
    struct word_spec in[3];
    bool alias;                        /* the output is the first operand's own struct */
    uint32_t value, is_const, negated; /* of the result, from the witness mode */
};

static void make_word(struct cs *cs, struct word *out, const struct word_spec *spec) {
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < 32; i++) {
        const bool value = spec->value >> i & 1;
        struct bit b;
        if (spec->is_const >> i & 1) {
            b = bit_constant(value);
        } else if (spec->negated >> i & 1) {
            b = bit_not(bit_alloc(cs, !value));
        } else {
            b = bit_alloc(cs, value);
        }
        word_set_bit(out, i, &b);
    }
}

static void op_body(struct cs *cs, void *ctx) {
    struct op_case *c = ctx;
    struct word in[3], separate, *const out = c->alias ? &in[0] : &separate;
    for (int i = 0; i < 3; i++)
        make_word(cs, &in[i], &c->in[i]);
    gadget_inputs_end(cs);
    if (c->op == OP_XOR) {
        word_xor(cs, out, &in[0], &in[1]);
    } else if (c->op == OP_CH) {
        word_ch(cs, out, &in[0], &in[1], &in[2]);
    } else if (c->op == OP_MAJ) {
        word_maj(cs, out, &in[0], &in[1], &in[2]);
    } else {
        word_sigma(cs, out, &in[0], rotations, c->op == OP_SMALL_SIGMA);
    }
    if (!cs_has_rows(cs)) {
        c->value = out->value;
        c->is_const = out->is_const;
        c->negated = out->negated;
    } else {
        for (unsigned i = 0; i < 32; i++) {
            assert_int_equal(out->is_const >> i & 1, out->bit[i].id == VAR_ONE.id);
        }
    }
    assert_int_equal(out->is_const & out->negated, 0);
}

/*
 * One position as the public code decides it: *n_new variables, and is the result a constant or a
 * negation? The order of the cases is the public order.
 */
struct position {
    bool is_const, negated;
    unsigned n_new;
};
enum { ZERO, ONE, PLAIN, NOT };

static int kind_of(const struct word_spec *w, unsigned i) {
    if (w->is_const >> i & 1) return w->value >> i & 1 ? ONE : ZERO;
    return w->negated >> i & 1 ? NOT : PLAIN;
}
static int opposite(int k) {
    return k ^ 1;
}
static struct position result_of(int k, unsigned n_new) {
    return (struct position){k == ZERO || k == ONE, k == NOT, n_new};
}
static struct position negate(struct position p) {
    p.negated = !p.is_const && !p.negated;
    return p;
}
static struct position reference_xor(int a, int b) {
    if (a == ZERO) return result_of(b, 0);
    if (b == ZERO) return result_of(a, 0);
    if (a == ONE) return result_of(opposite(b), 0);
    if (b == ONE) return result_of(opposite(a), 0);
    return result_of(a == b ? PLAIN : NOT, 1);
}
static struct position reference_and(int a, int b) {
    if (a == ZERO || b == ZERO) return result_of(ZERO, 0);
    if (a == ONE) return result_of(b, 0);
    if (b == ONE) return result_of(a, 0);
    return result_of(PLAIN, 1);
}
static struct position reference_ch(int a, int b, int c) {
    if (a == ZERO) return result_of(c, 0);
    if (b == ZERO) return reference_and(opposite(a), c);
    if (c == ZERO) return reference_and(a, b);
    if (c == ONE) return negate(reference_and(a, opposite(b)));
    if (b == ONE) return negate(reference_and(opposite(a), opposite(c)));
    return result_of(PLAIN, 1);
}
static struct position reference_maj(int a, int b, int c) {
    if (a == ZERO) return reference_and(b, c);
    if (b == ZERO) return reference_and(a, c);
    if (c == ZERO) return reference_and(a, b);
    if (c == ONE) return negate(reference_and(opposite(a), opposite(b)));
    if (b == ONE) return negate(reference_and(opposite(a), opposite(c)));
    if (a == ONE) return negate(reference_and(opposite(b), opposite(c)));
    return result_of(PLAIN, 2);
}

/* Two exclusive ors in a row, the last operand zero where a shift has left nothing. */
static struct position reference_sigma(const struct word_spec *a, unsigned i, bool shift) {
    const int x = kind_of(a, (i + rotations[0]) % 32), y = kind_of(a, (i + rotations[1]) % 32);
    const int z = shift && i + rotations[2] >= 32 ? ZERO : kind_of(a, (i + rotations[2]) % 32);
    const struct position first = reference_xor(x, y);
    const int first_kind = first.is_const ? (x == y ? ZERO : ONE) : first.negated ? NOT : PLAIN;
    struct position p = reference_xor(first_kind, z);
    p.n_new += first.n_new;
    return p;
}

static struct position reference(const struct op_case *c, unsigned i) {
    const int k[3] = {kind_of(&c->in[0], i), kind_of(&c->in[1], i), kind_of(&c->in[2], i)};
    switch (c->op) {
    case OP_XOR:
        return reference_xor(k[0], k[1]);
    case OP_CH:
        return reference_ch(k[0], k[1], k[2]);
    case OP_MAJ:
        return reference_maj(k[0], k[1], k[2]);
    default:
        return reference_sigma(&c->in[0], i, c->op == OP_SMALL_SIGMA);
    }
}

static uint32_t rotr(uint32_t x, unsigned by) {
    return x >> by | x << (32 - by);
}

static uint32_t plain_value(const struct op_case *c) {
    const uint32_t x = c->in[0].value, y = c->in[1].value, z = c->in[2].value;
    const uint32_t rotated = rotr(x, rotations[0]) ^ rotr(x, rotations[1]);
    switch (c->op) {
    case OP_XOR:
        return x ^ y;
    case OP_CH:
        return (x & y) ^ (~x & z);
    case OP_MAJ:
        return (x & y) ^ (x & z) ^ (y & z);
    case OP_SIGMA:
        return rotated ^ rotr(x, rotations[2]);
    default:
        return rotated ^ x >> rotations[2];
    }
}

static void check_op(struct op_case *c) {
    uint32_t n_inputs = 0, n_new = 0, is_const = 0, negated = 0;
    for (unsigned i = 0; i < 32; i++) {
        const struct position p = reference(c, i);
        n_new += p.n_new;
        is_const |= (uint32_t)p.is_const << i;
        negated |= (uint32_t)p.negated << i;
        for (int j = 0; j < 3; j++)
            n_inputs += kind_of(&c->in[j], i) >= PLAIN;
    }
    const struct gadget_counts counts = gadget_check(op_body, c);
    assert_int_equal(c->value, plain_value(c));
    assert_int_equal(c->is_const, is_const);
    assert_int_equal(c->negated, negated);
    assert_int_equal(counts.n_aux, n_inputs + n_new);
    assert_int_equal(counts.n_rows, n_inputs + n_new);
}

static void random_spec(struct word_spec *w, uint64_t *seed) {
    /* Constants all, none, many or some: each is a path of its own. */
    static const int kinds = 4;
    const uint64_t choice = test_random(seed) % kinds;
    w->value = (uint32_t)test_random(seed);
    w->is_const = choice == 0   ? UINT32_MAX
                  : choice == 1 ? 0
                  : choice == 2 ? (uint32_t)(test_random(seed) | test_random(seed))
                                : (uint32_t)(test_random(seed) & test_random(seed));
    w->negated = test_random(seed) % 2 ? (uint32_t)test_random(seed) & ~w->is_const : 0;
}

static void test_random_patterns(void **state) {
    (void)state;
    uint64_t seed = 0x5eed;
    print_message("seed %#llx\n", (unsigned long long)seed);
    for (int round = 0; round < 300; round++) {
        struct op_case c = {.op = (enum op)(round % OP_COUNT), .alias = round % 2};
        for (int i = 0; i < 3; i++)
            random_spec(&c.in[i], &seed);
        check_op(&c);
    }
}

/* All 6^3 combinations of zero, one, and a variable or its negation of either value. */
static void test_every_position(void **state) {
    (void)state;
    for (int op = 0; op < OP_COUNT; op++) {
        for (unsigned first = 0; first < 216; first += 32) {
            struct op_case c = {.op = (enum op)op};
            for (unsigned i = 0; i < 32; i++) {
                unsigned combination = (first + i) % 216;
                for (int j = 0; j < 3; j++, combination /= 6) {
                    const unsigned k = combination % 6;
                    c.in[j].value |= (k & 1) << i;
                    c.in[j].is_const |= (uint32_t)(k < 2) << i;
                    c.in[j].negated |= (uint32_t)(k >= 4) << i;
                }
            }
            check_op(&c);
        }
    }
}

struct bit_case {
    bool is_const[2], negated[2], value[2];
    bool out[2];
};

static void bit_body(struct cs *cs, void *ctx) {
    struct bit_case *c = ctx;
    struct bit in[2];
    for (int i = 0; i < 2; i++) {
        in[i] = c->is_const[i] ? bit_constant(c->value[i])
                               : bit_alloc(cs, c->value[i] != c->negated[i]);
        if (!c->is_const[i] && c->negated[i]) in[i] = bit_not(in[i]);
    }
    gadget_inputs_end(cs);
    const struct bit out[2] = {bit_and(cs, &in[0], &in[1]), bit_not(in[0])};
    for (int i = 0; i < 2; i++) {
        assert_false(out[i].is_const && out[i].negated);
        if (!cs_has_rows(cs)) c->out[i] = out[i].value;
    }
}

static void test_bits(void **state) {
    (void)state;
    for (unsigned k = 0; k < 64; k++) {
        struct bit_case c = {.is_const = {k & 1, k >> 1 & 1},
                             .negated = {k >> 2 & 1, k >> 3 & 1},
                             .value = {k >> 4 & 1, k >> 5 & 1}};
        const struct gadget_counts counts = gadget_check(bit_body, &c);
        const bool a = c.value[0], b = c.value[1];
        assert_int_equal(c.out[0], a && b);
        assert_int_equal(c.out[1], !a);
        const unsigned n_vars = !c.is_const[0] + !c.is_const[1];
        assert_int_equal(counts.n_aux, n_vars == 2 ? 3 : n_vars);
        assert_int_equal(counts.n_rows, n_vars == 2 ? 3 : n_vars);
    }
}

struct add_case {
    unsigned n_operands, n_sums;
    struct word_spec in[10];
    uint32_t out;
    bool out_const;
};

static void add_body(struct cs *cs, void *ctx) {
    struct add_case *c = ctx;
    struct word in[10], out;
    const struct word *operands[10];
    for (unsigned i = 0; i < c->n_operands; i++) {
        make_word(cs, &in[i], &c->in[i]);
        operands[i] = &in[i];
    }
    gadget_inputs_end(cs);
    struct multieq eq;
    multieq_init(&eq, cs);
    for (unsigned i = 0; i < c->n_sums; i++)
        word_add(cs, &eq, &out, operands, c->n_operands);
    multieq_finish(&eq);
    c->out_const = out.is_const == UINT32_MAX;
    if (!cs_has_rows(cs)) c->out = out.value;
}

static void test_additions(void **state) {
    (void)state;
    static const unsigned bits_of_sum[11] = {0, 0, 33, 34, 34, 35, 35, 35, 35, 36, 36};
    uint64_t seed = 0xadd;
    print_message("seed %#llx\n", (unsigned long long)seed);
    for (unsigned n = 2; n <= 10; n++) {
        for (unsigned n_sums = 1; n_sums <= 8; n_sums += 7) {
            struct add_case c = {.n_operands = n, .n_sums = n_sums};
            uint32_t expected = 0, n_inputs = 0;
            for (unsigned i = 0; i < n; i++) {
                random_spec(&c.in[i], &seed);
                if (i == 0) c.in[i].is_const = 0;
                if (n_sums == 8 && n == 7) c.in[i].value = UINT32_MAX; /* the largest carry */
                c.in[i].negated &= ~c.in[i].is_const;
                expected += c.in[i].value;
                n_inputs += (uint32_t)__builtin_popcount(~c.in[i].is_const);
            }
            const struct gadget_counts counts = gadget_check(add_body, &c);
            const unsigned per_row = (254 - 1) / bits_of_sum[n];
            assert_int_equal(c.out, expected);
            assert_false(c.out_const);
            assert_int_equal(counts.n_aux, n_inputs + n_sums * bits_of_sum[n]);
            assert_int_equal(counts.n_rows, counts.n_aux + (n_sums + per_row - 1) / per_row);
        }
    }
}

static void test_addition_of_constants(void **state) {
    (void)state;
    struct add_case c = {.n_operands = 3, .n_sums = 1};
    for (unsigned i = 0; i < 3; i++) {
        c.in[i] = (struct word_spec){.value = 0xf0000000u + i, .is_const = UINT32_MAX};
    }
    const struct gadget_counts counts = gadget_check(add_body, &c);
    assert_int_equal(c.out, 0xd0000003u);
    assert_true(c.out_const);
    assert_int_equal(counts.n_aux, 0);
    assert_int_equal(counts.n_rows, 0);
}

struct shift_case {
    struct word_spec in;
    unsigned by;
    struct word out[2];
    struct word copy;
};

static void shift_body(struct cs *cs, void *ctx) {
    struct shift_case *c = ctx;
    make_word(cs, &c->copy, &c->in);
    gadget_inputs_end(cs);
    word_rotr(cs, &c->out[0], &c->copy, c->by);
    word_shr(cs, &c->out[1], &c->copy, c->by);
    if (!cs_has_rows(cs)) {
        const uint32_t v = c->in.value;
        assert_int_equal(c->out[0].value, v >> c->by | v << (32 - c->by));
        assert_int_equal(c->out[1].value, v >> c->by);
        return;
    }
    for (unsigned i = 0; i < 32; i++) {
        const struct bit from = word_bit(&c->copy, (i + c->by) % 32);
        const struct bit rotated = word_bit(&c->out[0], i), shifted = word_bit(&c->out[1], i);
        assert_int_equal(rotated.v.id, from.v.id);
        assert_int_equal(rotated.negated, from.negated);
        assert_int_equal(rotated.is_const, from.is_const);
        assert_int_equal(shifted.is_const, i + c->by >= 32 || from.is_const);
        assert_int_equal(shifted.v.id, i + c->by >= 32 ? VAR_ONE.id : from.v.id);
    }
}

static void test_shifts(void **state) {
    (void)state;
    uint64_t seed = 0x517;
    print_message("seed %#llx\n", (unsigned long long)seed);
    for (unsigned by = 1; by < 32; by++) {
        struct shift_case c = {.by = by};
        random_spec(&c.in, &seed);
        gadget_check(shift_body, &c);
    }
}

static void test_gather(void **state) {
    (void)state;
    uint64_t seed = 0x6a7;
    print_message("seed %#llx\n", (unsigned long long)seed);
    for (int round = 0; round < 2000; round++) {
        const uint64_t value = test_random(&seed);
        const uint64_t mask = round == 0   ? 0
                              : round == 1 ? UINT64_MAX
                              : round == 2
                                  ? UINT64_C(1) << 63
                                  : test_random(&seed) | (round % 2 ? test_random(&seed) : 0);
        uint64_t expected = 0;
        unsigned n = 0;
        for (unsigned i = 0; i < 64; i++) {
            if (mask >> i & 1) expected |= (value >> i & 1) << n++;
        }
        assert_true(bits_gather(value, mask) == expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_every_position),
        cmocka_unit_test(test_random_patterns),
        cmocka_unit_test(test_additions),
        cmocka_unit_test(test_addition_of_constants),
        cmocka_unit_test(test_shifts),
        cmocka_unit_test(test_gather),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
