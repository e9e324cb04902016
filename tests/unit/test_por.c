/*
 * Poseidon, insertion and Merkle paths as circuits.
 *
 * A PoSt circuit is nothing but these: its digests, known from the public implementation, show
 * rows, variables and coefficients of all of them, in trees with and without levels above the base.
 */
#include "por.h"

#include "insertion.h"
#include "num.h"
#include "poseidon.h"
#include "poseidon_circuit.h"
#include "poseidon_params.h"
#include "r1cs_digest.h"
#include "test_main.h"

static const uint8_t seed[32] = "test_por";

/* ---- one gadget in both modes ---- */

typedef void (*gadget)(struct cs *cs, void *ctx);

static void ignore_row(void *ctx, const struct row_lc abc[3]) {
    (void)abc;
    ++*(uint64_t *)ctx;
}

/* Rows, the input rows not counted, and the counts of variables. */
static uint64_t count_rows(gadget body, void *ctx, struct cs_position *counts) {
    uint64_t n_rows = 0;
    struct cs *cs;
    const struct row_sink sink = {.row = ignore_row, .ctx = &n_rows};
    assert_int_equal(cs_create_flat(&cs, &sink, NULL), CUZK_OK);
    body(cs, ctx);
    *counts = cs_position_of(cs);
    assert_int_equal(cs_finish(cs, NULL, NULL), CUZK_OK);
    cs_destroy(cs);
    return n_rows - counts->n_inputs;
}

/* The matrices, with every stamp compared with its template. */
static struct r1cs *record(gadget body, void *ctx) {
    struct r1cs *r;
    struct cs *cs;
    assert_int_equal(cs_create_recorder(&cs, true, NULL), CUZK_OK);
    body(cs, ctx);
    assert_int_equal(cs_finish(cs, &r, NULL), CUZK_OK);
    cs_destroy(cs);
    return r;
}

/* Makes the witness of the same gadget; its counts must be those of the structure. */
static struct witness make_witness(gadget body, void *ctx) {
    struct cs_position counts;
    struct witness w;
    struct cs *cs;
    count_rows(body, ctx, &counts);
    assert_int_equal(witness_create(&w, counts.n_inputs, counts.n_aux, counts.n_elements, NULL),
                     CUZK_OK);
    assert_int_equal(cs_create_witness(&cs, &w, NULL), CUZK_OK);
    body(cs, ctx);
    assert_int_equal(cs_finish(cs, NULL, NULL), CUZK_OK);
    cs_destroy(cs);
    return w;
}

/*
 * Every row holds, and elements from the first_free-th on, about a hundred of them, cannot be
 * changed without breaking one: they follow from those before.
 */
static void check_rows(gadget body, void *ctx, uint32_t first_free) {
    struct r1cs *r = record(body, ctx);
    struct witness w = make_witness(body, ctx);
    struct cuzk_error err;
    if (r1cs_check(r, &w, NULL, NULL, &err) != CUZK_OK) fail_msg("%s: %s", err.where, err.what);
    const uint32_t step = 1 + w.n_elements / 100;
    for (uint32_t i = first_free; i < w.n_elements; i += step) {
        const fr right = w.elements[i];
        fr_add(&w.elements[i], &right, &fr_one);
        assert_int_equal(r1cs_check(r, &w, NULL, NULL, NULL), CUZK_UNSATISFIED);
        w.elements[i] = right;
    }
    witness_destroy(&w);
    r1cs_destroy(r);
}

/* ---- Poseidon ---- */

struct hash_case {
    unsigned arity;
    fr in[POSEIDON_MAX_ARITY];
    struct num out;
};

static void hash_gadget(struct cs *cs, void *ctx) {
    struct hash_case *c = ctx;
    struct num in[POSEIDON_MAX_ARITY];
    for (unsigned i = 0; i < c->arity; i++)
        in[i] = num_alloc(cs, &c->in[i]);
    poseidon_circuit(cs, &c->out, in, c->arity);
}

static void test_poseidon_counts(void **state) {
    static const unsigned expected[][2] = {{2, 311}, {4, 377}, {8, 505}, {11, 598}};
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct hash_case c = {.arity = expected[i][0]};
        struct cs_position counts;
        assert_int_equal(count_rows(hash_gadget, &c, &counts), expected[i][1]);
        assert_int_equal(counts.n_aux, c.arity + expected[i][1]);
        assert_int_equal(counts.n_elements, counts.n_aux);
        assert_int_equal(counts.n_inputs, 1);
    }
}

static void test_poseidon_value(void **state) {
    static const unsigned arities[] = {2, 4, 8, 11};
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct hash_case c = {.arity = arities[i]};
        fr expected;
        for (unsigned k = 0; k < c.arity; k++)
            fr_from_seed(&c.in[k], seed, 16 * i + k);
        struct witness w = make_witness(hash_gadget, &c);
        poseidon_hash(&expected, c.in, c.arity);
        assert_true(fr_equal(&c.out.value, &expected));
        assert_true(fr_equal(&w.elements[w.n_elements - 1], &expected));
        assert_memory_equal(w.elements, c.in, c.arity * sizeof(fr));
        witness_destroy(&w);
        check_rows(hash_gadget, &c, c.arity);
    }
}

/* ---- insertion ---- */

struct insert_case {
    unsigned arity, index;
    fr value[8]; /* the element, then its siblings */
    struct num out[8];
};

static void insert_gadget(struct cs *cs, void *ctx) {
    struct insert_case *c = ctx;
    struct num in[8];
    struct bit bits[3];
    for (unsigned i = 0; i < c->arity; i++)
        in[i] = num_alloc(cs, &c->value[i]);
    for (unsigned i = 0; 1u << i < c->arity; i++) {
        const bool value = c->index >> i & 1;
        bits[i] = (struct bit){.v = cs_alloc_bits(cs, value, 1), .value = value};
    }
    insert_among(cs, c->out, &in[0], bits, &in[1], c->arity);
}

static void test_insertion(void **state) {
    static const unsigned rows[9] = {[2] = 2, [4] = 8, [8] = 22};
    (void)state;
    for (unsigned arity = 2; arity <= 8; arity *= 2) {
        for (unsigned index = 0; index < arity; index++) {
            struct insert_case c = {.arity = arity, .index = index};
            struct cs_position counts;
            for (unsigned i = 0; i < arity; i++)
                fr_from_u64(&c.value[i], 100 + i);
            assert_int_equal(count_rows(insert_gadget, &c, &counts), rows[arity]);
            struct witness w = make_witness(insert_gadget, &c);
            unsigned next_sibling = 1;
            for (unsigned i = 0; i < arity; i++) {
                const fr *expected = i == index ? &c.value[0] : &c.value[next_sibling++];
                assert_true(fr_equal(&c.out[i].value, expected));
            }
            witness_destroy(&w);
            check_rows(insert_gadget, &c, arity);
        }
    }
}

/* ---- paths ---- */

enum { MAX_LEVELS = 16 };

struct path_case {
    enum tree_hash hash;
    struct tree_shape shape;
    uint64_t n_nodes;
    uint64_t leaf_index;
    fr leaf, root;
    struct path_element elements[MAX_LEVELS];
};

static void hash_children(enum tree_hash hash, fr *out, const fr *children, unsigned arity) {
    uint8_t pair[64], digest[SHA256_BYTES];
    if (hash == TREE_POSEIDON) {
        poseidon_hash(out, children, arity);
        return;
    }
    fr_to_bytes(pair, &children[0]);
    fr_to_bytes(pair + 32, &children[1]);
    sha256(digest, pair, sizeof pair);
    fr_from_bytes_trimmed(out, digest);
}

/* A path with siblings out of a stream, and the root that it leads to. */
static void make_path(struct path_case *c) {
    uint64_t rest = c->leaf_index;
    fr_from_seed(&c->leaf, seed, 5000);
    c->root = c->leaf;
    for (unsigned level = 0; level < tree_path_levels(&c->shape, c->n_nodes); level++) {
        const unsigned arity = tree_path_arity(&c->shape, c->n_nodes, level);
        struct path_element *e = &c->elements[level];
        fr children[8];
        e->index = (uint32_t)(rest % arity);
        rest /= arity;
        for (unsigned i = 0; i < arity - 1; i++) {
            fr_from_seed(&e->siblings[i], seed, 6000 + 8 * level + i);
            children[i < e->index ? i : i + 1] = e->siblings[i];
        }
        children[e->index] = c->root;
        hash_children(c->hash, &c->root, children, arity);
    }
    assert_int_equal(rest, 0);
}

static void path_gadget(struct cs *cs, void *ctx) {
    const struct path_case *c = ctx;
    const struct num leaf = num_alloc(cs, &c->leaf), root = num_alloc(cs, &c->root);
    por_enforce_inclusion(cs, c->hash, &c->shape, c->n_nodes, &leaf, &root,
                          cs_has_rows(cs) ? NULL : c->elements);
}

/* The public input is the leaf's index; the last variable is the computed root. */
static void test_path_witness(void **state) {
    static const struct path_case cases[] = {
        {.hash = TREE_SHA256, .shape = {2, 0, 0}, .n_nodes = 8, .leaf_index = 6},
        {.shape = {8, 0, 0}, .n_nodes = 64, .leaf_index = 43},
        {.shape = {8, 2, 0}, .n_nodes = 128, .leaf_index = 127},
        {.shape = {8, 4, 0}, .n_nodes = 256, .leaf_index = 130},
        {.shape = {8, 8, 0}, .n_nodes = 512, .leaf_index = 0},
        {.shape = {8, 8, 2}, .n_nodes = 1024, .leaf_index = 777}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct path_case c = cases[i];
        fr index;
        make_path(&c);
        struct witness w = make_witness(path_gadget, &c);
        fr_from_u64(&index, c.leaf_index);
        assert_int_equal(w.n_inputs, 2);
        assert_true(fr_equal(&w.inputs[1], &index));
        assert_true(fr_equal(&w.elements[w.n_elements - 1], &c.root));
        witness_destroy(&w);
        check_rows(path_gadget, &c, UINT32_MAX);
    }
}

/* A wrong leaf, root, sibling or place is noticed. */
static void test_path_forged(void **state) {
    (void)state;
    const struct path_case right = {.shape = {8, 8, 2}, .n_nodes = 1024, .leaf_index = 777};
    for (int forgery = 0; forgery < 4; forgery++) {
        struct path_case c = right;
        make_path(&c);
        if (forgery == 0) fr_add(&c.leaf, &c.leaf, &fr_one);
        if (forgery == 1) fr_add(&c.root, &c.root, &fr_one);
        if (forgery == 2) fr_add(&c.elements[2].siblings[6], &fr_one, &c.elements[2].siblings[6]);
        if (forgery == 3) c.elements[3].index ^= 1;
        struct r1cs *r = record(path_gadget, &c);
        struct witness w = make_witness(path_gadget, &c);
        assert_int_equal(r1cs_check(r, &w, NULL, NULL, NULL), CUZK_UNSATISFIED);
        witness_destroy(&w);
        r1cs_destroy(r);
    }
}

/* ---- PoSt circuits ---- */

struct post_case {
    const char *name;
    struct tree_shape shape;
    uint64_t n_nodes;
    unsigned n_sectors, n_challenges;
    uint64_t n_rows;
    const char *digest;
};

/* What fallback/circuit.rs makes of a sector. */
static void post_sector(struct cs *cs, const struct post_case *c) {
    const struct num comm_r_last = num_alloc(cs, &fr_zero);
    const struct num comm_c = num_alloc(cs, &fr_zero);
    const struct num comm_r = num_alloc(cs, &fr_zero);
    const struct num pair[2] = {comm_c, comm_r_last};
    struct num hash;
    num_inputize(cs, &comm_r);
    poseidon_circuit(cs, &hash, pair, 2);
    num_enforce_equal(cs, &comm_r, &hash);
    for (unsigned i = 0; i < c->n_challenges; i++) {
        const struct num leaf = num_alloc(cs, &fr_zero);
        por_enforce_inclusion(cs, TREE_POSEIDON, &c->shape, c->n_nodes, &leaf, &comm_r_last, NULL);
    }
}

static const struct post_case post_cases[] = {
    {"window-2KiB",
     {8, 0, 0},
     64,
     2,
     10,
     21889,
     "98f511659b2fd3c061743d8065789b03eb636b09dd93f730ad34cb992cc01491"},
    {"window-4KiB",
     {8, 2, 0},
     128,
     2,
     10,
     28169,
     "bbdcd8fbb46d8234798b6868e1a1d63fe2786d29af60b85b556b4ef8326e0d09"},
    {"window-16KiB",
     {8, 8, 0},
     512,
     2,
     10,
     32489,
     "2340fdfdde73572d32bd2ac453b10e352f1c813b0645bf0140b22bac43c8be1c"},
    {"window-32KiB",
     {8, 8, 2},
     1024,
     2,
     10,
     38769,
     "863e051f80433264d0a00bf94d536f99ae1084c20d0ea67d938644bbc7438c3b"},
    {"winning-2KiB",
     {8, 0, 0},
     64,
     66,
     1,
     90883,
     "f9e73121216667acd2930e15068daaf8e6d0d7af78d0cde741279b5aa29721b8"},
    {"winning-8MiB",
     {8, 0, 0},
     1 << 18,
     66,
     1,
     230803,
     "223aa1e78dbf9a30e725ba2c69709b3a55099154f4164677f9a091130246fe13"}};

static void post_gadget(struct cs *cs, void *ctx) {
    const struct post_case *c = ctx;
    for (unsigned s = 0; s < c->n_sectors; s++)
        post_sector(cs, c);
}

static void assert_digest(const uint8_t bytes[SHA256_BYTES], const struct post_case *c) {
    char hex[2 * SHA256_BYTES + 1];
    hex_encode(hex, bytes, SHA256_BYTES);
    if (strcmp(hex, c->digest) != 0) fail_msg("%s has the digest %s", c->name, hex);
}

/* Row by row, and from the recorded templates. */
static void test_post_digests(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof post_cases / sizeof post_cases[0]; i++) {
        struct post_case c = post_cases[i];
        struct flat_digest *flat;
        struct r1cs_stats stats;
        struct cs *cs;
        uint8_t digest[SHA256_BYTES];
        assert_int_equal(flat_digest_create(&flat, NULL), CUZK_OK);
        const struct row_sink sink = flat_digest_sink(flat);
        assert_int_equal(cs_create_flat(&cs, &sink, NULL), CUZK_OK);
        post_gadget(cs, &c);
        assert_int_equal(cs_finish(cs, NULL, NULL), CUZK_OK);
        assert_int_equal(flat_digest_finish(flat, digest, &stats, NULL), CUZK_OK);
        assert_int_equal(stats.n_rows, c.n_rows);
        assert_digest(digest, &c);
        cs_destroy(cs);
        flat_digest_destroy(flat);

        struct r1cs *r = record(post_gadget, &c);
        assert_int_equal(r1cs_digest(r, digest, NULL, NULL, NULL, NULL), CUZK_OK);
        assert_digest(digest, &c);
        r1cs_destroy(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poseidon_counts), cmocka_unit_test(test_poseidon_value),
        cmocka_unit_test(test_insertion),       cmocka_unit_test(test_path_witness),
        cmocka_unit_test(test_path_forged),     cmocka_unit_test(test_post_digests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
