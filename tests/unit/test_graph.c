/* The graph, its generator, the challenges and the replica id. */
#include "test_main.h"

#include "chacha.h"
#include "challenges.h"
#include "graph.h"
#include "hash.h"
#include "replica_id.h"

/* RFC 8439, 2.3.2: 20 rounds. */
static void test_chacha20(void **state) {
    (void)state;
    uint8_t key[32];
    for (unsigned i = 0; i < 32; i++)
        key[i] = (uint8_t)i;
    static const uint32_t position[4] = {1, 0x09000000, 0x4a000000, 0};
    static const uint32_t expected[16] = {0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3,
                                          0xc7f4d1c7, 0x0368c033, 0x9aaa2204, 0x4e6cd4c3,
                                          0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9,
                                          0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2};
    uint32_t out[16];
    chacha_block(out, key, position, 20);
    assert_memory_equal(out, expected, sizeof out);
}

/* ChaCha8, key and position zero (draft-strombergson-chacha-test-vectors, TC1, 256 bits). */
static void test_chacha8(void **state) {
    (void)state;
    static const uint8_t key[32] = {0};
    static const uint32_t position[4] = {0};
    uint32_t out[16];
    chacha_block(out, key, position, 8);
    assert_int_equal(out[0], 0x2fef003e);
    assert_int_equal(out[1], 0xd6405f89);
    assert_int_equal(out[2], 0xe8b85b7f);
    assert_int_equal(out[3], 0xa1a5091f);
}

static const struct registered_seal *seal(const char *name) {
    const struct registered_seal *s = registered_seal_by_name(name, strlen(name));
    assert_non_null(s);
    return s;
}

static void test_drg_parents(void **state) {
    (void)state;
    struct graph graph, legacy;
    graph_init_registered(&graph, seal("StackedDrg2KiBV1_1"));
    graph_init_registered(&legacy, seal("StackedDrg2KiBV1"));
    for (uint64_t node = 0; node < graph.n_nodes; node++) {
        uint32_t new[POREP_DRG_PARENTS], old[POREP_DRG_PARENTS];
        graph_drg_parents(&graph, node, new);
        graph_drg_parents(&legacy, node, old);
        for (unsigned i = 0; i < POREP_DRG_PARENTS; i++) {
            assert_true(node == 0 ? new[i] == 0 : new[i] < node);
            assert_true(node == 0 ? old[i] == 0 : old[i] < node);
        }
        if (node == 0) continue;
        assert_int_equal(new[0], node - 1);
        assert_int_equal(old[POREP_DRG_PARENTS - 1], node - 1);
    }
}

/* The order of API 1.0 apart, the same seed gives the same parents. */
static void test_drg_order(void **state) {
    (void)state;
    uint8_t porep_id[32] = {5};
    struct graph graph, legacy;
    graph_init(&graph, 1 << 20, porep_id, false);
    graph_init(&legacy, 1 << 20, porep_id, true);
    unsigned beyond_first_bucket = 0;
    for (uint64_t node = 2; node < 1 << 20; node += 9973) {
        uint32_t new[POREP_DRG_PARENTS], old[POREP_DRG_PARENTS];
        graph_drg_parents(&graph, node, new);
        graph_drg_parents(&legacy, node, old);
        assert_memory_equal(new + 1, old, 5 * sizeof new[0]);
        for (unsigned i = 1; i < POREP_DRG_PARENTS; i++)
            beyond_first_bucket += node - new[i] > 1000;
    }
    assert_in_range(beyond_first_bucket, 50, 450); /* 525 samples, buckets of equal chance */
}

/* As the public inputs of the 2 KiB fixture have them. */
static void test_fixture_parents(void **state) {
    (void)state;
    static const uint32_t drg[] = {17, 16, 17, 17, 16, 0};
    static const uint32_t exp[] = {53, 41, 53, 47, 32, 31, 4, 38};
    uint32_t d[POREP_DRG_PARENTS], e[POREP_EXP_PARENTS];
    struct graph graph;
    graph_init_registered(&graph, seal("StackedDrg2KiBV1_1"));
    graph_drg_parents(&graph, 18, d);
    graph_exp_parents(&graph, 18, e);
    assert_memory_equal(d, drg, sizeof drg);
    assert_memory_equal(e, exp, sizeof exp);
}

/* The expander is a permutation of (node, place): each node is a parent eight times. Sizes that are
 * and are not the Feistel network's own domain. */
static void test_expander_is_permutation(void **state) {
    (void)state;
    static const uint64_t sizes[] = {64, 128, 512, 1000, 2048};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (unsigned legacy = 0; legacy < 2; legacy++) {
            static unsigned times[2048];
            memset(times, 0, sizeof times);
            uint8_t porep_id[32] = {(uint8_t)s};
            struct graph graph;
            graph_init(&graph, sizes[s], porep_id, legacy == 1);
            for (uint64_t node = 0; node < sizes[s]; node++) {
                uint32_t parents[POREP_EXP_PARENTS];
                graph_exp_parents(&graph, node, parents);
                for (unsigned i = 0; i < POREP_EXP_PARENTS; i++) {
                    assert_true(parents[i] < sizes[s]);
                    times[parents[i]]++;
                }
            }
            for (uint64_t node = 0; node < sizes[s]; node++)
                assert_int_equal(times[node], POREP_EXP_PARENTS);
        }
}

/* In sectors of 2^29 nodes and more, API 1.0 drops the upper half of the permuted value. */
static void test_legacy_truncation(void **state) {
    (void)state;
    struct graph graph, legacy;
    const uint8_t porep_id[32] = {3};
    graph_init(&graph, (uint64_t)1 << 30, porep_id, false);
    graph_init(&legacy, (uint64_t)1 << 30, porep_id, true);
    unsigned differ = 0;
    for (uint64_t node = 0; node < 64; node++) {
        uint32_t new[POREP_EXP_PARENTS], old[POREP_EXP_PARENTS];
        graph_exp_parents(&graph, node, new);
        graph_exp_parents(&legacy, node, old);
        for (unsigned i = 0; i < POREP_EXP_PARENTS; i++) {
            assert_int_equal(old[i], new[i] % ((uint32_t)1 << 29));
            differ += old[i] != new[i];
        }
    }
    assert_in_range(differ, 150, 362); /* about half of 512 */
}

/* ---- challenges ---- */

static void test_challenges(void **state) {
    (void)state;
    static const char *const names[] = {"StackedDrg32GiBV1_1",
                                        "StackedDrg32GiBV1_1_Feat_SyntheticPoRep",
                                        "StackedDrg32GiBV1_2_Feat_NonInteractivePoRep"};
    /* which of replica id, comm_r, seed each kind depends on */
    static const bool depends[3][3] = {
        {true, false, true}, {true, true, true}, {true, true, false}};
    for (unsigned kind = 0; kind < 3; kind++) {
        const struct registered_seal *s = seal(names[kind]);
        uint8_t values[3][32] = {{1}, {2}, {3}};
        const struct challenge_seed from = {
            .replica_id = values[0], .comm_r = values[1], .seed = values[2]};
        uint64_t first[18], other[18];
        challenges_derive(s, &from, 0, first);
        for (unsigned i = 0; i < 18; i++)
            assert_in_range(first[i], 1, ((uint64_t)1 << 30) - 1);
        challenges_derive(s, &from, s->n_partitions - 1, other);
        assert_memory_not_equal(first, other, sizeof first);
        for (unsigned v = 0; v < 3; v++) {
            values[v][31] ^= 0x20;
            challenges_derive(s, &from, 0, other);
            assert_int_equal(memcmp(first, other, sizeof first) != 0, depends[kind][v]);
            values[v][31] ^= 0x20;
        }
    }
}

/* ---- replica id ---- */

static void test_prover_id(void **state) {
    (void)state;
    static const struct {
        uint64_t miner;
        uint8_t bytes[11];
    } cases[] = {
        {0, {0}},
        {127, {0x7f}},
        {128, {0x80, 0x01}},
        {1000, {0xe8, 0x07}},
        {16384, {0x80, 0x80, 0x01}},
        {UINT64_MAX, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t id[32], expected[32] = {0};
        memcpy(expected, cases[i].bytes, sizeof cases[i].bytes);
        prover_id_from_miner(id, cases[i].miner);
        assert_memory_equal(id, expected, 32);
    }
}

static void from_hex(uint8_t out[32], const char *hex) {
    for (unsigned i = 0; i < 32; i++) {
        unsigned v;
        assert_int_equal(sscanf(hex + 2 * (size_t)i, "%2x", &v), 1);
        out[i] = (uint8_t)v;
    }
}

/* The 2 KiB fixture: miner 1000, sector 101. */
static void test_replica_id(void **state) {
    (void)state;
    uint8_t ticket[32], comm_d[32], porep_id[32], id[32];
    char hex[65];
    from_hex(ticket, "50464ace80989ae45f0731af49f4c42780dbc17741740daf697680f0be726917");
    from_hex(comm_d, "45dd923edf88e36a6c8bb27e903afd975a0a36e59c902c301b3ebd8055973427");
    registered_seal_porep_id(porep_id, seal("StackedDrg2KiBV1_1"));
    replica_id_compute(id, 1000, 101, ticket, comm_d, porep_id);
    hex_encode(hex, id, 32);
    /* inputs.txt has it big-endian */
    assert_string_equal(hex, "709e06c2b2bdedf14156457e2c9c9e16c50169470824e3f5394ede200a54fb32");
    replica_id_compute(id, 1000, 102, ticket, comm_d, porep_id);
    assert_int_equal(id[31] & 0xc0, 0);
    hex_encode(hex, id, 32);
    assert_string_not_equal(hex,
                            "709e06c2b2bdedf14156457e2c9c9e16c50169470824e3f5394ede200a54fb32");
}

/* ---- registered proofs ---- */

static void test_table(void **state) {
    (void)state;
    static const uint64_t sizes[] = {2048, 8 << 20, 512 << 20, (uint64_t)32 << 30,
                                     (uint64_t)64 << 30};
    static const enum seal_kind kinds[] = {SEAL_INTERACTIVE, SEAL_INTERACTIVE, SEAL_SYNTHETIC,
                                           SEAL_NON_INTERACTIVE};
    for (unsigned n = 0; n < 20; n++) {
        const struct registered_seal *s = registered_seal_by_number(n);
        assert_non_null(s);
        assert_int_equal(s->number, n);
        assert_int_equal(s->porep_number, n);
        assert_int_equal(s->sector_bytes, sizes[n % 5]);
        assert_int_equal(s->kind, kinds[n / 5]);
        assert_int_equal(s->legacy_graph, n < 5);
        const bool large = n % 5 >= 3;
        assert_int_equal(s->n_partitions, n >= 15 ? (large ? 126 : 13) : (large ? 10 : 1));
        const struct porep_shape *shape = registered_seal_shape(s);
        assert_int_equal(shape->n_challenges, large ? 18 : 2);
        assert_int_equal(shape->n_layers, large ? 11 : 2);
        assert_ptr_equal(registered_seal_by_name(s->name, strlen(s->name)), s);
        char stem[40];
        snprintf(stem, sizeof stem, "StackedDrg%sV1", shape->size_name);
        assert_string_equal(s->variant, stem);
        assert_memory_equal(s->name, stem, strlen(stem));
    }
    assert_null(registered_seal_by_number(20));
    assert_null(registered_seal_by_number(UINT64_MAX));
    assert_null(registered_seal_by_name("StackedDrg2KiBV", 15));
    unsigned n_test_sizes = 0;
    for (size_t i = 0; registered_seal_at(i) != NULL; i++)
        if (registered_seal_at(i)->number == SEAL_NO_NUMBER) {
            assert_int_equal(registered_seal_at(i)->porep_number, 5);
            assert_non_null(registered_seal_shape(registered_seal_at(i)));
            n_test_sizes++;
        }
    assert_int_equal(n_test_sizes, 3);
}

static void test_porep_id(void **state) {
    (void)state;
    uint8_t id[32], expected[32] = {18};
    registered_seal_porep_id(id, seal("StackedDrg32GiBV1_2_Feat_NonInteractivePoRep"));
    assert_memory_equal(id, expected, 32);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chacha20),
        cmocka_unit_test(test_chacha8),
        cmocka_unit_test(test_drg_parents),
        cmocka_unit_test(test_drg_order),
        cmocka_unit_test(test_fixture_parents),
        cmocka_unit_test(test_expander_is_permutation),
        cmocka_unit_test(test_legacy_truncation),
        cmocka_unit_test(test_challenges),
        cmocka_unit_test(test_prover_id),
        cmocka_unit_test(test_replica_id),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_porep_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
