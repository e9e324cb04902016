/* SHA-256 and the gadgets between numbers and bits, against base's SHA-256 and plain C. */
#include "bits.h"
#include "gadget_check.h"
#include "hash.h"
#include "label.h"
#include "sha256_circuit.h"
#include "test_main.h"
#include "word.h"

enum { MAX_MESSAGE_WORDS = 64 };

struct message_case {
    unsigned n_words;
    uint32_t value[MAX_MESSAGE_WORDS], is_const[MAX_MESSAGE_WORDS];
    uint32_t digest[SHA256_STATE_WORDS]; /* from the witness mode */
};

static void message_body(struct cs *cs, void *ctx) {
    struct message_case *c = ctx;
    struct word words[MAX_MESSAGE_WORDS] = {0}, out[SHA256_STATE_WORDS];
    const struct word *message[MAX_MESSAGE_WORDS];
    for (unsigned j = 0; j < c->n_words; j++) {
        message[j] = &words[j];
        for (unsigned i = 0; i < 32; i++) {
            const bool value = c->value[j] >> i & 1;
            const struct bit b =
                c->is_const[j] >> i & 1 ? bit_constant(value) : bit_alloc(cs, value);
            word_set_bit(&words[j], i, &b);
        }
    }
    gadget_inputs_end(cs);
    sha256_circuit(cs, out, message, c->n_words);
    if (cs_has_rows(cs)) return;
    for (unsigned i = 0; i < SHA256_STATE_WORDS; i++)
        c->digest[i] = out[i].value;
}

static void put_be32(uint8_t *out, uint32_t v) {
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void check_digest(const struct message_case *c) {
    uint8_t bytes[4 * MAX_MESSAGE_WORDS], expected[SHA256_BYTES], got[SHA256_BYTES];
    for (unsigned j = 0; j < c->n_words; j++)
        put_be32(bytes + 4 * j, c->value[j]);
    sha256(expected, bytes, 4 * (size_t)c->n_words);
    for (unsigned i = 0; i < SHA256_STATE_WORDS; i++)
        put_be32(got + 4 * i, c->digest[i]);
    assert_memory_equal(got, expected, SHA256_BYTES);
}

static void test_messages(void **state) {
    (void)state;
    uint64_t seed = 0x256;
    print_message("seed %#llx\n", (unsigned long long)seed);
    /* Around the lengths where the padding takes a block of its own: 13 words fit, 14 do not. */
    static const unsigned lengths[] = {0, 1, 8, 13, 14, 15, 16, 17, 29, 30, 64};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        struct message_case c = {.n_words = lengths[k]};
        for (unsigned j = 0; j < c.n_words; j++) {
            c.value[j] = (uint32_t)test_random(&seed);
            const uint64_t kind = test_random(&seed) % 4;
            c.is_const[j] = kind == 0 ? UINT32_MAX : kind == 1 ? (uint32_t)test_random(&seed) : 0;
        }
        gadget_check(message_body, &c);
        check_digest(&c);
    }
}

static void test_constant_message(void **state) {
    (void)state;
    struct message_case c = {.n_words = 5};
    for (unsigned j = 0; j < c.n_words; j++) {
        c.value[j] = 0x01020304u * (j + 1);
        c.is_const[j] = UINT32_MAX;
    }
    const struct gadget_counts counts = gadget_check(message_body, &c);
    check_digest(&c);
    assert_int_equal(counts.n_aux, 0);
    assert_int_equal(counts.n_rows, 0);
}

/* ---- the sizes that the public circuits have ---- */

struct block_case {
    bool has_state; /* a state of variables instead of the initial one */
    uint32_t is_const[SHA256_BLOCK_WORDS];
    uint32_t n_inputs;
};

static void block_body(struct cs *cs, void *ctx) {
    struct block_case *c = ctx;
    struct word w[SHA256_BLOCK_WORDS] = {0}, state[SHA256_STATE_WORDS];
    const struct word *message[SHA256_BLOCK_WORDS];
    sha256_circuit_init(state);
    for (unsigned i = 0; c->has_state && i < SHA256_STATE_WORDS; i++)
        word_alloc(cs, &state[i], 0);
    for (unsigned j = 0; j < SHA256_BLOCK_WORDS; j++) {
        message[j] = &w[j];
        for (unsigned i = 0; i < 32; i++) {
            const struct bit b =
                c->is_const[j] >> i & 1 ? bit_constant(false) : bit_alloc(cs, false);
            word_set_bit(&w[j], i, &b);
        }
    }
    c->n_inputs = cs_position_of(cs).n_aux;
    sha256_circuit_block(cs, state, message);
}

static uint64_t block_rows(struct block_case *c) {
    return gadget_count(block_body, c).n_rows - c->n_inputs;
}

/* Figures of design/synthesis.md, measured on the public system. */
static void test_block_sizes(void **state) {
    (void)state;
    const uint32_t top = 0x80; /* bit 255 of a number, in its last word */
    struct block_case tree = {.is_const = {[7] = top, [15] = top}};
    assert_int_equal(block_rows(&tree), 25832);
    struct block_case parents = {.has_state = true, .is_const = {[7] = top, [15] = top}};
    assert_int_equal(block_rows(&parents), 26184);
    struct block_case label = {.is_const = {[7] = top, [8] = UINT32_MAX}};
    for (unsigned j = 11; j < SHA256_BLOCK_WORDS; j++)
        label.is_const[j] = UINT32_MAX;
    assert_int_equal(block_rows(&label), 25363);
    struct block_case last = {.has_state = true, .is_const = {[7] = top}};
    for (unsigned j = 8; j < SHA256_BLOCK_WORDS; j++)
        last.is_const[j] = UINT32_MAX;
    assert_int_equal(block_rows(&last), 25593);
    struct block_case padding = {.has_state = true};
    for (unsigned j = 0; j < SHA256_BLOCK_WORDS; j++)
        padding.is_const[j] = UINT32_MAX;
    assert_int_equal(block_rows(&padding), 19034);
}

/* ---- numbers ---- */

static const uint8_t element_seed[32] = "test_sha256_circuit";

struct num_case {
    fr in[2];
    struct num out;
    struct word words[NUM_WORDS];
};

static struct num alloc_num(struct cs *cs, const fr *value) {
    return (struct num){.v = cs_alloc_num(cs, value), .value = *value};
}

static void round_trip_body(struct cs *cs, void *ctx) {
    struct num_case *c = ctx;
    const struct num in = alloc_num(cs, &c->in[0]);
    gadget_inputs_end(cs);
    num_to_words(cs, c->words, &in);
    words_to_num(cs, &c->out, c->words);
}

static void hash2_body(struct cs *cs, void *ctx) {
    struct num_case *c = ctx;
    const struct num left = alloc_num(cs, &c->in[0]), right = alloc_num(cs, &c->in[1]);
    gadget_inputs_end(cs);
    sha256_hash2_circuit(cs, &c->out, &left, &right);
}

static void test_num_bits(void **state) {
    (void)state;
    for (uint64_t k = 0; k < 8; k++) {
        struct num_case c;
        fr_from_seed(&c.in[0], element_seed, k);
        if (k == 0) c.in[0] = fr_zero;
        if (k == 1) fr_neg(&c.in[0], &fr_one); /* the largest: 255 bits */
        const struct gadget_counts counts = gadget_check(round_trip_body, &c);
        assert_int_equal(counts.n_aux, 1 + NUM_BITS + 1);
        assert_int_equal(counts.n_rows, NUM_BITS + 1 + 1);
        uint8_t bytes[32];
        fr_to_bytes(bytes, &c.in[0]);
        for (unsigned j = 0; j < NUM_WORDS; j++) {
            uint8_t word[4];
            put_be32(word, c.words[j].value);
            assert_memory_equal(word, bytes + 4 * j, 4);
            assert_int_equal(c.words[j].is_const, j == 7 ? 0x80 : 0);
        }
        fr expected;
        fr_from_bytes_trimmed(&expected, bytes);
        assert_true(fr_equal(&c.out.value, &expected));
    }
}

static void test_hash2(void **state) {
    (void)state;
    struct num_case c;
    uint8_t bytes[64], digest[SHA256_BYTES];
    for (int i = 0; i < 2; i++) {
        fr_from_seed(&c.in[i], element_seed, 100 + (uint64_t)i);
        fr_to_bytes(bytes + 32 * i, &c.in[i]);
    }
    const struct gadget_counts counts = gadget_check(hash2_body, &c);
    assert_int_equal(counts.n_rows, 2 * 256 + 25832 + 19034 + 1);
    fr expected;
    sha256(digest, bytes, sizeof bytes);
    fr_from_bytes_trimmed(&expected, digest);
    assert_true(fr_equal(&c.out.value, &expected));
}

struct label_case {
    fr replica_id, parents[LABEL_MAX_DISTINCT];
    uint64_t node;
    unsigned layer, n_parents;
    struct num out;
};

static void label_case_body(struct cs *cs, void *ctx) {
    struct label_case *c = ctx;
    struct num parents[LABEL_MAX_DISTINCT];
    struct word replica_id[NUM_WORDS], node[2];
    const struct num id = alloc_num(cs, &c->replica_id);
    num_to_words(cs, replica_id, &id);
    uint64_alloc(cs, node, c->node);
    for (unsigned i = 0; i < c->n_parents; i++)
        parents[i] = alloc_num(cs, &c->parents[i]);
    gadget_inputs_end(cs);
    label_circuit(cs, &c->out, replica_id, node, c->layer, parents, c->n_parents);
}

static void test_labels(void **state) {
    (void)state;
    for (unsigned layer = 1; layer <= 11; layer += 10) {
        struct label_case c = {.node = 0x123456789abcdefULL, .layer = layer};
        uint8_t message[64 + 32 * LABEL_PARENTS] = {0}, digest[SHA256_BYTES];
        c.n_parents = layer == 1 ? 6 : 14;
        fr_from_seed(&c.replica_id, element_seed, 200);
        fr_to_bytes(message, &c.replica_id);
        put_be32(message + 32, layer);
        put_be32(message + 36, (uint32_t)(c.node >> 32));
        put_be32(message + 40, (uint32_t)c.node);
        for (unsigned i = 0; i < LABEL_PARENTS; i++) {
            fr_from_seed(&c.parents[i % c.n_parents], element_seed, 300 + i % c.n_parents);
            fr_to_bytes(message + 64 + 32 * i, &c.parents[i % c.n_parents]);
        }
        const struct gadget_counts counts = gadget_check_recorded(label_case_body, &c);
        assert_int_equal(counts.n_rows - 256 - 64, layer == 1 ? 523805 : 525853);
        fr expected;
        sha256(digest, message, sizeof message);
        fr_from_bytes_trimmed(&expected, digest);
        assert_true(fr_equal(&c.out.value, &expected));
    }
}

/* ---- packed inputs ---- */

struct pack_case {
    uint64_t value;
    unsigned n;
};

static void pack_body(struct cs *cs, void *ctx) {
    const struct pack_case *c = ctx;
    struct bit bits[300];
    for (unsigned i = 0; i < c->n; i++)
        bits[i] = bit_alloc(cs, c->value >> i % 64 & 1);
    if (c->n > 1) bits[1] = bit_not(bits[1]);
    gadget_inputs_end(cs);
    pack_into_inputs(cs, bits, c->n);
}

static void test_pack_into_inputs(void **state) {
    (void)state;
    static const unsigned counts_of_bits[] = {1, 64, 254, 255, 300};
    for (size_t k = 0; k < sizeof counts_of_bits / sizeof counts_of_bits[0]; k++) {
        struct pack_case c = {.value = 0xfedcba9876543210ULL, .n = counts_of_bits[k]};
        const struct gadget_counts counts = gadget_check(pack_body, &c);
        const unsigned n_packed = (c.n + 253) / 254;
        assert_int_equal(counts.n_inputs, 1 + n_packed);
        assert_int_equal(counts.n_rows, c.n + n_packed);
    }
}

struct node_case {
    uint64_t value;
};

static void node_body(struct cs *cs, void *ctx) {
    const struct node_case *c = ctx;
    struct word node[2];
    uint64_alloc(cs, node, c->value);
    gadget_inputs_end(cs);
    uint64_pack_into_input(cs, node);
    if (!cs_has_rows(cs)) {
        assert_int_equal(node[0].value, c->value >> 32);
        assert_int_equal(node[1].value, c->value & UINT32_MAX);
    }
}

static void test_uint64(void **state) {
    (void)state;
    struct node_case c = {0x8000000100000002ULL};
    const struct gadget_counts counts = gadget_check(node_body, &c);
    assert_int_equal(counts.n_aux, 64);
    assert_int_equal(counts.n_inputs, 2);
    assert_int_equal(counts.n_rows, 65);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_constant_message),
        cmocka_unit_test(test_block_sizes),
        cmocka_unit_test(test_num_bits),
        cmocka_unit_test(test_hash2),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_pack_into_inputs),
        cmocka_unit_test(test_uint64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
