/* The native Poseidon hash and the derivation of its constants. */
#include "fr_dot.h"
#include "poseidon.h"
#include "poseidon_mix.h"
#include "test_main.h"

static const unsigned arities[] = {2, 4, 8, 11};
enum { N_ARITIES = sizeof arities / sizeof arities[0] };

static const uint8_t seed[32] = "test_poseidon";

static fr element_from_hex(const char *hex) {
    uint8_t bytes[32];
    fr out;
    for (unsigned i = 0; i < 32; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        bytes[i] = (uint8_t)byte;
    }
    assert_true(fr_from_bytes(&out, bytes));
    return out;
}

/* Commitments, columns and tree nodes of real and simulated sectors. */
static void test_sector_hashes(void **state) {
    (void)state;
    FILE *f = fopen(CUZK_FIXTURES "/poseidon/hashes.txt", "r");
    char *line = NULL;
    size_t capacity = 0;
    unsigned seen[POSEIDON_MAX_WIDTH] = {0};
    assert_non_null(f);
    while (getline(&line, &capacity, f) > 0) {
        char *save = NULL;
        fr in[POSEIDON_MAX_ARITY], out;
        if (line[0] == '#') continue;
        const unsigned arity = (unsigned)atoi(strtok_r(line, " \n", &save));
        assert_in_range(arity, 2, POSEIDON_MAX_ARITY);
        for (unsigned i = 0; i < arity; i++)
            in[i] = element_from_hex(strtok_r(NULL, " \n", &save));
        const fr expected = element_from_hex(strtok_r(NULL, " \n", &save));
        poseidon_hash(&out, in, arity);
        assert_true(fr_equal(&out, &expected));
        seen[arity]++;
    }
    free(line);
    fclose(f);
    assert_int_equal(seen[2], 4);
    assert_int_equal(seen[8], 2);
    assert_int_equal(seen[11], 2);
}

/* H(0, 1, 2, …), as neptune's own tests have it. Covers arity 4, which no sector here uses. */
static void test_counting_hashes(void **state) {
    static const uint64_t expected[N_ARITIES][4] = {
        {0x2e203c369a02e7ff, 0xa6fba9339d05a69d, 0x739e0fd902efe161, 0x396508d75e76a56b},
        {0x019814ff6662075d, 0xfb6b4605bf1327ec, 0x00db3c6579229399, 0x58a54b10a9e5848a},
        {0x2a9934f56d38a5e6, 0x4b682e9d9cc4aed9, 0x1201004211677077, 0x2394611da3a5de55},
        {0xcee3bbc32b693163, 0x09f3dcd8ccb08fc1, 0x6ca537e232ebe87a, 0x0c0fc1b2e5227f28}};
    (void)state;
    for (unsigned a = 0; a < N_ARITIES; a++) {
        fr in[POSEIDON_MAX_ARITY], out;
        fr_words words;
        for (unsigned i = 0; i < arities[a]; i++)
            fr_from_u64(&in[i], i);
        poseidon_hash(&out, in, arities[a]);
        fr_to_words(&words, &out);
        assert_memory_equal(words.l, expected[a], sizeof words.l);
    }
}

/* Poseidon as the paper defines it: key, S-boxes, matrix, in each round. */
static void plain_hash(fr *out, const fr *in, unsigned arity) {
    static fr keys[POSEIDON_MAX_ROUNDS][POSEIDON_MAX_WIDTH];
    fr m[POSEIDON_MAX_WIDTH][POSEIDON_MAX_WIDTH], s[POSEIDON_MAX_WIDTH], next[POSEIDON_MAX_WIDTH];
    const unsigned t = arity + 1, n_partial = poseidon_partial_rounds(arity);
    poseidon_round_keys(keys, t, n_partial);
    poseidon_mds(m, t);
    fr_from_u64(&s[0], (UINT64_C(1) << arity) - 1);
    memcpy(&s[1], in, arity * sizeof(fr));
    for (unsigned r = 0; r < POSEIDON_FULL_ROUNDS + n_partial; r++) {
        const bool is_partial = r >= POSEIDON_HALF_ROUNDS && r < POSEIDON_HALF_ROUNDS + n_partial;
        for (unsigned j = 0; j < t; j++) {
            fr_add(&s[j], &s[j], &keys[r][j]);
            if (j == 0 || !is_partial) fr_pow5(&s[j], &s[j]);
        }
        for (unsigned i = 0; i < t; i++) {
            next[i] = fr_zero;
            for (unsigned j = 0; j < t; j++) {
                fr product;
                fr_mul(&product, &m[i][j], &s[j]);
                fr_add(&next[i], &next[i], &product);
            }
        }
        memcpy(s, next, sizeof s);
    }
    *out = s[1];
}

static void assert_equals_plain(const fr *in, unsigned arity) {
    fr out, expected;
    poseidon_hash(&out, in, arity);
    plain_hash(&expected, in, arity);
    assert_true(fr_equal(&out, &expected));
}

static void test_optimised_equals_plain(void **state) {
    (void)state;
    for (unsigned a = 0; a < N_ARITIES; a++) {
        for (unsigned round = 0; round < 8; round++) {
            fr in[POSEIDON_MAX_ARITY];
            for (unsigned i = 0; i < arities[a]; i++)
                fr_from_seed(&in[i], seed, 16 * round + i);
            assert_equals_plain(in, arities[a]);
        }
        /* The extremes, where carries and reductions are at their ends. */
        fr zeros[POSEIDON_MAX_ARITY], tops[POSEIDON_MAX_ARITY];
        for (unsigned i = 0; i < arities[a]; i++) {
            zeros[i] = fr_zero;
            tops[i] = (fr){{fr_modulus[0] - 1, fr_modulus[1], fr_modulus[2], fr_modulus[3]}};
        }
        assert_equals_plain(zeros, arities[a]);
        assert_equals_plain(tops, arities[a]);
    }
}

/* All 1x1 and 2x2 minors of the matrix are non-zero, and it is symmetric. */
static void test_mds(void **state) {
    (void)state;
    for (unsigned a = 0; a < N_ARITIES; a++) {
        const unsigned t = arities[a] + 1;
        fr m[POSEIDON_MAX_WIDTH][POSEIDON_MAX_WIDTH];
        poseidon_mds(m, t);
        for (unsigned i = 0; i < t; i++) {
            for (unsigned j = 0; j < t; j++) {
                assert_false(fr_is_zero(&m[i][j]));
                assert_true(fr_equal(&m[i][j], &m[j][i]));
                for (unsigned k = 0; k < i * j; k++) {
                    fr left, right;
                    fr_mul(&left, &m[i][j], &m[k / j][k % j]);
                    fr_mul(&right, &m[i][k % j], &m[k / j][j]);
                    assert_false(fr_equal(&left, &right));
                }
            }
        }
    }
}

static void test_params(void **state) {
    (void)state;
    for (unsigned a = 0; a < N_ARITIES; a++) {
        const struct poseidon_params *p = poseidon_params(arities[a]);
        assert_ptr_equal(p, poseidon_params(arities[a]));
        assert_int_equal(p->width, arities[a] + 1);
        assert_int_equal(p->n_partial, poseidon_partial_rounds(arities[a]));
    }
    assert_int_equal(poseidon_partial_rounds(3), 0);
}

static void assert_dot(const fr *a, const fr *b, unsigned n, const fr *addend) {
    fr expected = addend != NULL ? *addend : fr_zero, product, out;
    for (unsigned i = 0; i < n; i++) {
        fr_mul(&product, &a[i], &b[i]);
        fr_add(&expected, &expected, &product);
    }
    fr_dot(&out, a, b, n, addend);
    assert_true(fr_equal(&out, &expected));
}

/* Scalar products, of random operands and of the largest ones that there are. */
static void test_dot(void **state) {
    const fr top = {{fr_modulus[0] - 1, fr_modulus[1], fr_modulus[2], fr_modulus[3]}};
    (void)state;
    for (unsigned n = 0; n <= FR_DOT_MAX; n++) {
        fr a[FR_DOT_MAX], b[FR_DOT_MAX], tops[FR_DOT_MAX];
        for (unsigned i = 0; i < FR_DOT_MAX; i++)
            tops[i] = top;
        for (unsigned round = 0; round < 200; round++) {
            for (unsigned i = 0; i < n; i++) {
                fr_from_seed(&a[i], seed, 2000 + 100 * round + i);
                fr_from_seed(&b[i], seed, 2050 + 100 * round + i);
            }
            assert_dot(a, b, n, NULL);
            assert_dot(tops, b, n, NULL);
            if (n <= FR_DOT_MAX - 2) assert_dot(a, b, n, &top);
        }
        assert_dot(tops, tops, n, NULL);
        if (n <= FR_DOT_MAX - 2) assert_dot(tops, tops, n, &top);
    }
}

/* The hash may be written over its inputs. */
static void test_alias(void **state) {
    (void)state;
    fr in[8], out;
    for (unsigned i = 0; i < 8; i++)
        fr_from_seed(&in[i], seed, 1000 + i);
    poseidon_hash(&out, in, 8);
    poseidon_hash(&in[3], in, 8);
    assert_true(fr_equal(&out, &in[3]));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sector_hashes),
                                       cmocka_unit_test(test_counting_hashes),
                                       cmocka_unit_test(test_optimised_equals_plain),
                                       cmocka_unit_test(test_mds),
                                       cmocka_unit_test(test_params),
                                       cmocka_unit_test(test_dot),
                                       cmocka_unit_test(test_alias)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
