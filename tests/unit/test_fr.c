/* Fr against a slow integer arithmetic of its own: numbers base 2^16, products bit by bit. */
#include "unit/test_main.h"

#include "fr.h"

enum { DIGITS = 17, MAX_EDGES = 64 };

typedef struct {
    int32_t d[DIGITS];
} big;

static const uint8_t seed[32] = "curve";
static big modulus;
static fr edges[MAX_EDGES];
static size_t n_edges;

static big big_of(const uint64_t words[4]) {
    big b = {{0}};
    for (int i = 0; i < 16; i++)
        b.d[i] = (int32_t)(words[i / 4] >> (16 * (i % 4)) & 0xffff);
    return b;
}

static bool big_less(const big *a, const big *b) {
    for (int i = DIGITS - 1; i >= 0; i--)
        if (a->d[i] != b->d[i]) return a->d[i] < b->d[i];
    return false;
}

/* a + sign b, which must not be negative */
static big big_sum(const big *a, const big *b, int sign) {
    big c;
    int32_t carry = 0;
    for (int i = 0; i < DIGITS; i++) {
        const int32_t t = a->d[i] + sign * b->d[i] + carry;
        c.d[i] = t & 0xffff;
        carry = t >> 16;
    }
    return c;
}

static big mod_add(const big *a, const big *b) {
    const big s = big_sum(a, b, 1);
    return big_less(&s, &modulus) ? s : big_sum(&s, &modulus, -1);
}

static big mod_sub(const big *a, const big *b) {
    const big s = big_sum(a, &modulus, 1);
    const big d = big_sum(&s, b, -1);
    return big_less(&d, &modulus) ? d : big_sum(&d, &modulus, -1);
}

static big mod_mul(const big *a, const big *b) {
    big product = {{0}};
    for (int bit = 255; bit >= 0; bit--) {
        product = mod_add(&product, &product);
        if (b->d[bit / 16] >> (bit % 16) & 1) product = mod_add(&product, a);
    }
    return product;
}

static big value_of(const fr *a) {
    fr_words w;
    fr_to_words(&w, a);
    return big_of(w.l);
}

static void assert_value(const fr *a, const big *expected) {
    const big raw = big_of(a->l);
    assert_true(big_less(&raw, &modulus));
    const big got = value_of(a);
    assert_memory_equal(&got, expected, sizeof got);
}

/* The 256-bit number `words`, reduced by subtraction, as an edge value, and again as a raw
 * Montgomery representation. */
static void add_edge(const uint64_t words[4]) {
    big b = big_of(words);
    while (!big_less(&b, &modulus))
        b = big_sum(&b, &modulus, -1);
    uint64_t w[4] = {0, 0, 0, 0};
    for (int i = 0; i < 16; i++)
        w[i / 4] |= (uint64_t)b.d[i] << (16 * (i % 4));
    const fr_words canonical = {{w[0], w[1], w[2], w[3]}};
    assert_true(n_edges + 2 <= MAX_EDGES);
    fr_from_words(&edges[n_edges], &canonical);
    assert_value(&edges[n_edges++], &b);
    edges[n_edges++] = (fr){{w[0], w[1], w[2], w[3]}};
}

static int make_edges(void **state) {
    (void)state;
    modulus = big_of(fr_modulus);
    const uint64_t *r = fr_modulus;
    const uint64_t all = UINT64_MAX;
    const uint64_t list[][4] = {
        {0, 0, 0, 0},
        {1, 0, 0, 0},
        {2, 0, 0, 0},
        {r[0] - 1, r[1], r[2], r[3]},
        {r[0] - 2, r[1], r[2], r[3]},
        /* (r - 1) / 2 and (r + 1) / 2 */
        {0x7fffffff80000000, 0xa9ded2017fff2dff, 0x199cec0404d0ec02, 0x39f6d3a994cebea4},
        {0x7fffffff80000001, 0xa9ded2017fff2dff, 0x199cec0404d0ec02, 0x39f6d3a994cebea4},
        {all, all, all, all},
        {all, all, all, all >> 2},
        {all, 0, all, 0},
        {0, all, 0, all >> 2},
        {all, 0, 0, 0},
        {all >> 32, 0, 0, 0},
        {0, 1, 0, 0},
        {1, 1, 0, 0},
        {all, all, 0, 0},
        {0, 0, 1, 0},
        {1, 0, 1, 0},
        {all, all, all, 0},
        {0, 0, 0, 1},
        {1, 0, 0, 1},
        {(uint64_t)1 << 32, 0, 0, 0},
        {((uint64_t)1 << 32) + 1, 0, 0, 0},
        {0, (uint64_t)1 << 32, 0, 0},
        {all, (all >> 32), 0, 0},
        {1, 0, 0, (uint64_t)1 << 32},
        /* R and R^2 mod r */
        {0x00000001fffffffe, 0x5884b7fa00034802, 0x998c4fefecbc4ff5, 0x1824b159acc5056f},
        {0xc999e990f3f29c6d, 0x2b6cedcb87925c23, 0x05d314967254398f, 0x0748d9d99f59ff11},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        add_edge(list[i]);
    for (uint64_t i = 0; i < 4; i++)
        fr_from_seed(&edges[n_edges++], seed, 100 + i);
    return 0;
}

static void pairs_of_edge_values(void **state) {
    (void)state;
    for (size_t i = 0; i < n_edges; i++) {
        const big a = value_of(&edges[i]);
        for (size_t k = 0; k < n_edges; k++) {
            const big b = value_of(&edges[k]);
            const big sum = mod_add(&a, &b), difference = mod_sub(&a, &b),
                      product = mod_mul(&a, &b);
            fr c;
            fr_add(&c, &edges[i], &edges[k]);
            assert_value(&c, &sum);
            fr_sub(&c, &edges[i], &edges[k]);
            assert_value(&c, &difference);
            fr_mul(&c, &edges[i], &edges[k]);
            assert_value(&c, &product);
            assert_int_equal(fr_equal(&edges[i], &edges[k]), memcmp(&a, &b, sizeof a) == 0);
        }
    }
}

static void single_edge_values(void **state) {
    (void)state;
    const big zero = {{0}};
    for (size_t i = 0; i < n_edges; i++) {
        const big a = value_of(&edges[i]);
        const big twice = mod_add(&a, &a), square = mod_mul(&a, &a), negative = mod_sub(&zero, &a);
        const big fourth = mod_mul(&square, &square), fifth = mod_mul(&fourth, &a);
        fr c;
        fr_neg(&c, &edges[i]);
        assert_value(&c, &negative);
        fr_double(&c, &edges[i]);
        assert_value(&c, &twice);
        fr_sqr(&c, &edges[i]);
        assert_value(&c, &square);
        fr_pow5(&c, &edges[i]);
        assert_value(&c, &fifth);
        fr_pow_u64(&c, &edges[i], 5);
        assert_value(&c, &fifth);
        fr_inv_var(&c, &edges[i]);
        if (fr_is_zero(&edges[i])) {
            assert_true(fr_is_zero(&c));
        } else {
            fr_mul(&c, &c, &edges[i]);
            assert_true(fr_equal(&c, &fr_one));
        }
    }
    assert_true(fr_is_zero(&fr_zero) && !fr_is_zero(&fr_one));
}

static void outputs_may_alias_inputs(void **state) {
    (void)state;
    void (*const binary[])(fr *, const fr *, const fr *) = {fr_add, fr_sub, fr_mul};
    void (*const unary[])(fr *, const fr *) = {fr_neg, fr_double, fr_sqr, fr_pow5, fr_inv_var};
    for (size_t i = 0; i < n_edges; i++) {
        const fr *a = &edges[i], *b = &edges[n_edges - 1 - i];
        fr expected, c;
        for (size_t f = 0; f < 3; f++) {
            binary[f](&expected, a, b);
            c = *a;
            binary[f](&c, &c, b);
            assert_true(fr_equal(&c, &expected));
            c = *b;
            binary[f](&c, a, &c);
            assert_true(fr_equal(&c, &expected));
            binary[f](&expected, a, a);
            c = *a;
            binary[f](&c, &c, &c);
            assert_true(fr_equal(&c, &expected));
        }
        for (size_t f = 0; f < 5; f++) {
            unary[f](&expected, a);
            c = *a;
            unary[f](&c, &c);
            assert_true(fr_equal(&c, &expected));
        }
        fr_pow_u64(&expected, a, 13);
        c = *a;
        fr_pow_u64(&c, &c, 13);
        assert_true(fr_equal(&c, &expected));
    }
}

static void powers(void **state) {
    (void)state;
    fr c, expected = fr_one;
    fr_pow_u64(&c, &fr_zero, 0);
    assert_true(fr_equal(&c, &fr_one));
    fr_pow_u64(&c, &fr_zero, 9);
    assert_true(fr_is_zero(&c));
    for (unsigned e = 0; e < 255; e++) {
        fr_pow2(&c, e);
        assert_true(fr_equal(&c, &expected));
        fr_double(&expected, &expected);
    }
    fr two;
    fr_from_u64(&two, 2);
    fr_pow_u64(&c, &two, 254);
    fr_pow2(&expected, 254);
    assert_true(fr_equal(&c, &expected));
    /* the largest exponent: a^(2^64 - 1) a = a squared 64 times */
    c = expected = edges[n_edges - 1];
    fr_pow_u64(&c, &c, UINT64_MAX);
    fr_mul(&c, &c, &edges[n_edges - 1]);
    for (int i = 0; i < 64; i++)
        fr_sqr(&expected, &expected);
    assert_true(fr_equal(&c, &expected));
}

static void batch_inverse_skips_zeros(void **state) {
    (void)state;
    enum { N = 40 };
    fr a[N], was[N], scratch[N], c;
    /* zeros at bit positions of the pattern: none, all, ends, alternating */
    const uint64_t patterns[] = {
        0, UINT64_MAX, 1, (uint64_t)1 << (N - 1), 0x5555555555555555, 0xaaaaaaaaaaaaaaaa};
    for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
        for (size_t n = 0; n <= N; n++) {
            for (size_t i = 0; i < n; i++) {
                fr_from_seed(&a[i], seed, i);
                if (patterns[p] >> i & 1) a[i] = fr_zero;
                was[i] = a[i];
            }
            fr_batch_inv(a, n, scratch);
            for (size_t i = 0; i < n; i++) {
                fr_inv_var(&c, &was[i]);
                assert_true(fr_equal(&a[i], &c));
            }
        }
    }
}

static void big_to_bytes(uint8_t out[32], const big *a) {
    for (int i = 0; i < 32; i++)
        out[i] = (uint8_t)(a->d[i / 2] >> (8 * (i % 2)));
}

static void bytes_are_canonical(void **state) {
    (void)state;
    uint8_t in[32], out[32];
    fr c;
    for (size_t i = 0; i < n_edges; i++) {
        const big a = value_of(&edges[i]);
        big_to_bytes(in, &a);
        assert_true(fr_from_bytes(&c, in));
        assert_true(fr_equal(&c, &edges[i]));
        fr_to_bytes(out, &c);
        assert_memory_equal(out, in, 32);
    }
    /* r, r + 1, r + 2^64, 2^255, all ones: refused, the output untouched */
    const uint64_t *r = fr_modulus;
    const uint64_t refused[][4] = {{r[0], r[1], r[2], r[3]},
                                   {r[0] + 1, r[1], r[2], r[3]},
                                   {r[0], r[1] + 1, r[2], r[3]},
                                   {0, 0, r[2] + 1, r[3]},
                                   {0, 0, 0, r[3] + 1},
                                   {0, 0, 0, (uint64_t)1 << 63},
                                   {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const big a = big_of(refused[i]);
        big_to_bytes(in, &a);
        c = edges[3];
        assert_false(fr_from_bytes(&c, in));
        assert_true(fr_equal(&c, &edges[3]));
    }
    /* the two top bits are dropped, and only they */
    memset(in, 0xff, 32);
    fr_from_bytes_trimmed(&c, in);
    fr_to_bytes(out, &c);
    in[31] = 0x3f;
    assert_memory_equal(out, in, 32);
}

static void small_integers(void **state) {
    (void)state;
    const uint64_t values[] = {0, 1, 2, 7, (uint64_t)1 << 32, (uint64_t)1 << 63, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        fr c;
        fr_words w;
        fr_from_u64(&c, values[i]);
        fr_to_words(&w, &c);
        assert_int_equal(w.l[0], values[i]);
        assert_int_equal(w.l[1] | w.l[2] | w.l[3], 0);
    }
}

/* Expected values from Python's hashlib and integers. */
static void seeds_give_a_fixed_stream(void **state) {
    (void)state;
    const struct {
        uint64_t index;
        const char *hex;
    } cases[] = {
        {0, "0x624bb20bbd82ef0e13f3c7d95234ce0ba1def9189e8e8995473c151f7875b034"},
        {1, "0x1dc463615ff81edbc6f70a52f24640596718cb87efd819e2d0b1f3656a4f1c6a"},
        {(uint64_t)1 << 40, "0x12c1c43cee5b9ddc4c635df7b247aadeab742acfd33b52a34951df46edfd81a1"},
    };
    for (size_t i = 0; i < 3; i++) {
        fr c;
        char text[80];
        fr_from_seed(&c, seed, cases[i].index);
        fr_format(text, sizeof text, &c);
        assert_string_equal(text, cases[i].hex);
    }
}

static void random_values_are_reduced_and_differ(void **state) {
    (void)state;
    enum { N = 64 };
    fr a[N];
    int high = 0;
    for (int i = 0; i < N; i++) {
        fr_random(&a[i]);
        const big raw = big_of(a[i].l);
        assert_true(big_less(&raw, &modulus));
        fr_words w;
        fr_to_words(&w, &a[i]);
        high += (w.l[3] >> 62) != 0;
        for (int k = 0; k < i; k++)
            assert_false(fr_equal(&a[i], &a[k]));
    }
    /* 45 % of all residues are 2^254 or more; none or all of 64 happens once in 10^16 runs */
    assert_in_range(high, 1, N - 1);
}

static void values_are_written_as_the_oracle_does(void **state) {
    (void)state;
    char text[80];
    fr c;
    const struct {
        uint64_t value;
        const char *plus, *minus;
    } small[] = {{0, "0", "0"},
                 {1, "1", "-1"},
                 {256, "256", "-256"},
                 {UINT64_MAX, "18446744073709551615", "-18446744073709551615"}};
    for (size_t i = 0; i < 4; i++) {
        fr_from_u64(&c, small[i].value);
        assert_int_equal(fr_format(text, sizeof text, &c), strlen(small[i].plus));
        assert_string_equal(text, small[i].plus);
        fr_neg(&c, &c);
        fr_format(text, sizeof text, &c);
        assert_string_equal(text, small[i].minus);
    }
    for (unsigned e = 64; e < 255; e++) {
        char expected[16];
        snprintf(expected, sizeof expected, "-2^%u", e);
        fr_pow2(&c, e);
        fr_format(text, sizeof text, &c);
        assert_string_equal(text, expected + 1);
        fr_neg(&c, &c);
        fr_format(text, sizeof text, &c);
        assert_string_equal(text, expected);
    }
    fr_pow2(&c, 64);
    fr_add(&c, &c, &fr_one);
    assert_int_equal(fr_format(text, sizeof text, &c), 66);
    assert_string_equal(text, "0x0000000000000000000000000000000000000000000000010000000000000001");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_edge_values),
        cmocka_unit_test(single_edge_values),
        cmocka_unit_test(outputs_may_alias_inputs),
        cmocka_unit_test(powers),
        cmocka_unit_test(batch_inverse_skips_zeros),
        cmocka_unit_test(bytes_are_canonical),
        cmocka_unit_test(small_integers),
        cmocka_unit_test(seeds_give_a_fixed_stream),
        cmocka_unit_test(random_values_are_reduced_and_differ),
        cmocka_unit_test(values_are_written_as_the_oracle_does),
    };
    return cmocka_run_group_tests(tests, make_edges, NULL);
}
