/* The PoRep circuit of 2 KiB sectors: rows, witness, satisfaction; and the table of shapes. */
#include "golden.h"
#include "partition_fixture.h"
#include "porep.h"
#include "test_main.h"

#define FIXTURE(name) CUZK_FIXTURES "/porep/2KiB/" name
#define GOLDEN(name)  CUZK_FIXTURES "/golden/porep-2KiB." name

static const struct porep_shape *shape;
static struct r1cs *system_2k; /* recorded once */
static struct r1cs_stats stats_2k;
static struct partition_fixture fixture;

static int set_up(void **state) {
    (void)state;
    shape = porep_shape_by_name("2KiB");
    assert_non_null(shape);
    assert_int_equal(porep_record(shape, &system_2k, NULL), CUZK_OK);
    assert_int_equal(r1cs_get_stats(system_2k, &stats_2k, NULL, NULL), CUZK_OK);
    partition_fixture_load(&fixture, FIXTURE("partition-0.bin"));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    r1cs_destroy(system_2k);
    partition_fixture_free(&fixture);
    return 0;
}

/* ---- shapes ---- */

static void test_shapes(void **state) {
    (void)state;
    size_t n = 0;
    for (const struct porep_shape *s; (s = porep_shape_at(n)) != NULL; n++) {
        struct golden g;
        char path[256];
        assert_ptr_equal(porep_shape_by_bytes(s->sector_bytes), s);
        assert_ptr_equal(porep_shape_by_name(s->size_name), s);
        assert_ptr_equal(porep_shape_by_name(s->size_suffix), s);
        assert_int_equal(s->n_nodes * 32, s->sector_bytes);
        uint64_t leaves = 1;
        const unsigned levels = tree_path_levels(&s->tree, s->n_nodes);
        for (unsigned i = 0; i < levels; i++)
            leaves *= tree_path_arity(&s->tree, s->n_nodes, i);
        assert_int_equal(leaves, s->n_nodes);
        assert_true(s->n_layers == 2 || s->n_layers == POREP_MAX_LAYERS);

        snprintf(path, sizeof path, "%s/golden/porep-%s.json", CUZK_FIXTURES, s->size_name);
        golden_read(&g, path);
        snprintf(path, sizeof path, "-%u-%u-%u-sha256_hasher-%s", s->tree.base_arity,
                 s->tree.sub_arity, s->tree.top_arity, s->parameter_id);
        assert_non_null(strstr(g.circuit, path));
        /* ONE, three of the partition, and for each challenge 17 paths and the node. */
        assert_int_equal(g.n_inputs, 4 + 18 * s->n_challenges);
    }
    assert_int_equal(n, 8);
    assert_null(porep_shape_by_bytes(3 << 10));
    assert_null(porep_shape_by_name("1KiB"));
    assert_null(porep_shape_by_name(""));
}

/* 64 GiB: nine levels of 8, one of 8, one of 2. */
static void test_levels_from_the_leaf_up(void **state) {
    (void)state;
    const struct porep_shape *const s = porep_shape_by_name("64g");
    assert_int_equal(tree_path_levels(&s->tree, s->n_nodes), 11);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(tree_path_arity(&s->tree, s->n_nodes, i), 8);
    }
    assert_int_equal(tree_path_arity(&s->tree, s->n_nodes, 10), 2);
    const struct tree_shape binary = {.base_arity = 2};
    assert_int_equal(tree_path_levels(&binary, s->n_nodes), 31);
    assert_int_equal(tree_path_arity(&binary, s->n_nodes, 30), 2);
}

/* ---- rows ---- */

static void test_flat_digest(void **state) {
    (void)state;
    struct flat_digest *d;
    struct cs *cs;
    struct golden g;
    struct r1cs_stats stats;
    uint8_t digest[SHA256_BYTES];
    char hex[65];
    golden_read(&g, GOLDEN("json"));
    assert_int_equal(flat_digest_create(&d, NULL), CUZK_OK);
    const struct row_sink sink = flat_digest_sink(d);
    assert_int_equal(cs_create_flat(&cs, &sink, NULL), CUZK_OK);
    porep_synthesize(cs, shape, NULL);
    const struct cs_position end = cs_position_of(cs);
    assert_int_equal(cs_finish(cs, NULL, NULL), CUZK_OK);
    assert_int_equal(flat_digest_finish(d, digest, &stats, NULL), CUZK_OK);
    hex_encode(hex, digest, SHA256_BYTES);
    assert_string_equal(hex, g.sha256);
    assert_int_equal(stats.n_rows, g.n_rows);
    assert_int_equal(end.n_aux, g.n_aux);
    assert_int_equal(end.n_inputs, g.n_inputs);
    assert_int_equal(end.n_elements, stats_2k.n_elements);
    cs_destroy(cs);
    flat_digest_destroy(d);
}

static void check_structured(struct r1cs *r) {
    struct golden g;
    struct block_digests blocks;
    uint8_t digest[SHA256_BYTES];
    char hex[65];
    golden_read(&g, GOLDEN("json"));
    assert_int_equal(r1cs_digest(r, digest, &blocks, NULL, NULL, NULL), CUZK_OK);
    golden_check_blocks(&blocks, GOLDEN("blocks"));
    block_digests_free(&blocks);
    hex_encode(hex, digest, SHA256_BYTES);
    assert_string_equal(hex, g.sha256);
}

static void test_structured_digest(void **state) {
    (void)state;
    struct golden g;
    golden_read(&g, GOLDEN("json"));
    check_structured(system_2k);
    golden_check_stats(&g, &stats_2k);
    assert_true(stats_2k.bytes < 1 << 20);
}

/* Each stamp recorded again and compared with its template: an assertion of the recorder. */
static void test_stamps_equal_their_templates(void **state) {
    (void)state;
    struct cs *cs;
    struct r1cs *r;
    assert_int_equal(cs_create_recorder(&cs, true, NULL), CUZK_OK);
    porep_synthesize(cs, shape, NULL);
    assert_int_equal(cs_finish(cs, &r, NULL), CUZK_OK);
    cs_destroy(cs);
    check_structured(r);
    r1cs_destroy(r);
}

/* ---- witness ---- */

static void check_witness(const struct witness *w) {
    struct block_digests blocks;
    uint8_t inputs[SHA256_BYTES], aux[SHA256_BYTES];
    char hex[65], expected[65];
    assert_int_equal(
        witness_digest(w, r1cs_kind_plane(system_2k), inputs, aux, &blocks, NULL, NULL), CUZK_OK);
    golden_check_blocks(&blocks, FIXTURE("witness-0.blocks"));
    block_digests_free(&blocks);
    hex_encode(hex, inputs, SHA256_BYTES);
    golden_witness_digest(expected, FIXTURE("witness-0.txt"), "inputs sha256");
    assert_string_equal(hex, expected);
    hex_encode(hex, aux, SHA256_BYTES);
    golden_witness_digest(expected, FIXTURE("witness-0.txt"), "aux sha256");
    assert_string_equal(hex, expected);
}

static void test_witness_digest(void **state) {
    (void)state;
    struct witness w;
    assert_int_equal(porep_witness(shape, system_2k, &fixture.partition, &w, NULL, NULL), CUZK_OK);
    check_witness(&w);
    witness_destroy(&w);
}

/* Challenges side by side write words that they share with their neighbours. */
static void test_witness_in_parallel(void **state) {
    (void)state;
    struct pool *pool;
    assert_int_equal(pool_create(&pool, 4, NULL), CUZK_OK);
    for (int i = 0; i < 5; i++) {
        struct witness w;
        assert_int_equal(porep_witness(shape, system_2k, &fixture.partition, &w, pool, NULL),
                         CUZK_OK);
        check_witness(&w);
        witness_destroy(&w);
    }
    pool_destroy(pool);
}

/* The whole partition by one writer gives the same. */
static void test_witness_in_one_go(void **state) {
    (void)state;
    struct witness w;
    struct cs *cs;
    assert_int_equal(
        witness_create(&w, stats_2k.n_inputs, stats_2k.n_aux, stats_2k.n_elements, NULL), CUZK_OK);
    assert_int_equal(cs_create_witness(&cs, &w, NULL), CUZK_OK);
    porep_synthesize(cs, shape, &fixture.partition);
    assert_int_equal(cs_finish(cs, NULL, NULL), CUZK_OK);
    cs_destroy(cs);
    check_witness(&w);
    witness_destroy(&w);
}

/* In memory of the caller: the same bytes, which stay the caller's, and a view of them. */
static void test_witness_in_given_memory(void **state) {
    (void)state;
    const struct r1cs_stats *const n = &stats_2k;
    struct witness made, placed, view;
    struct mem_block memory;
    assert_int_equal(porep_witness(shape, system_2k, &fixture.partition, &made, NULL, NULL),
                     CUZK_OK);
    const size_t bytes = witness_bytes(n->n_inputs, n->n_aux, n->n_elements);
    assert_int_equal(mem_take(&memory, bytes, MEM_WITNESS, NULL), CUZK_OK);
    witness_place(&placed, memory.ptr, n->n_inputs, n->n_aux, n->n_elements);
    assert_null(placed.block.ptr);
    assert_int_equal(porep_witness_into(shape, system_2k, &fixture.partition, &placed, NULL, NULL),
                     CUZK_OK);
    assert_memory_equal(memory.ptr, made.block.ptr, bytes);
    witness_destroy(&placed);
    assert_null(placed.values);
    assert_memory_equal(memory.ptr, made.block.ptr, bytes);
    witness_view(&view, memory.ptr, n->n_inputs, n->n_aux, n->n_elements);
    assert_memory_equal(memory.ptr, made.block.ptr, bytes);
    check_witness(&view);
    mem_give(&memory);
    witness_destroy(&made);
}

/* Planes of other counts are refused before anything is written. */
static void test_wrong_planes_are_refused(void **state) {
    (void)state;
    struct cuzk_error err = {0};
    struct witness w;
    assert_int_equal(
        witness_create(&w, stats_2k.n_inputs, stats_2k.n_aux, stats_2k.n_elements - 1, NULL),
        CUZK_OK);
    assert_int_equal(porep_witness_into(shape, system_2k, &fixture.partition, &w, NULL, &err),
                     CUZK_INTERNAL);
    assert_non_null(w.block.ptr);
    assert_true(fr_is_zero(&w.inputs[1]));
    witness_destroy(&w);
}

static void expect_unsatisfied(const struct witness *w, const char *path_part) {
    struct cuzk_error err = {0};
    assert_int_equal(r1cs_check(system_2k, w, NULL, NULL, &err), CUZK_UNSATISFIED);
    if (strstr(err.where, path_part) == NULL) print_message("%s: %s\n", err.where, err.what);
    assert_non_null(strstr(err.where, path_part));
}

static void test_satisfied_and_not(void **state) {
    (void)state;
    struct witness w;
    assert_int_equal(porep_witness(shape, system_2k, &fixture.partition, &w, NULL, NULL), CUZK_OK);
    assert_int_equal(r1cs_check(system_2k, &w, NULL, NULL, NULL), CUZK_OK);

    /* The last bit variable of the partition: in a path of the last challenge. */
    const uint64_t *const kind = r1cs_kind_plane(system_2k);
    uint32_t bit = w.n_aux - 1;
    while (!(kind[bit / 64] >> bit % 64 & 1))
        bit--;
    w.values[bit / 64] ^= UINT64_C(1) << bit % 64;
    expect_unsatisfied(&w, "challenge[1]/");
    w.values[bit / 64] ^= UINT64_C(1) << bit % 64;

    /* Replica id, a public input. */
    const fr replica_id = w.inputs[1];
    fr_add(&w.inputs[1], &w.inputs[1], &fr_one);
    expect_unsatisfied(&w, "row 0");
    w.inputs[1] = replica_id;

    fr_add(&w.elements[w.n_elements - 1], &w.elements[w.n_elements - 1], &fr_one);
    expect_unsatisfied(&w, "c_x");
    witness_destroy(&w);
}

/* A label that does not follow from its parents is found where the label is. */
static void test_wrong_inputs_are_located(void **state) {
    (void)state;
    struct porep_challenge challenges[2] = {fixture.challenges[0], fixture.challenges[1]};
    struct porep_partition partition = fixture.partition;
    partition.challenges = challenges;
    struct witness w;

    challenges[1].node ^= 1;
    assert_int_equal(porep_witness(shape, system_2k, &partition, &w, NULL, NULL), CUZK_OK);
    expect_unsatisfied(&w, "challenge[1]/");
    witness_destroy(&w);

    challenges[1].node ^= 1;
    fr_add(&challenges[0].drg[3].rows[1], &challenges[0].drg[3].rows[1], &fr_one);
    assert_int_equal(porep_witness(shape, system_2k, &partition, &w, NULL, NULL), CUZK_OK);
    expect_unsatisfied(&w, "drg_parent[3]");
    witness_destroy(&w);
}

static void expect_wrong_count(const struct porep_partition *partition, const char *where) {
    struct cuzk_error err = {0};
    struct witness w;
    assert_int_equal(porep_witness(shape, system_2k, partition, &w, NULL, &err), CUZK_FIELD_COUNT);
    assert_string_equal(err.where, where);
    assert_null(w.block.ptr);
}

/* Too few or too many challenges or path elements are an error in every build. */
static void test_wrong_counts_are_refused(void **state) {
    (void)state;
    struct porep_challenge challenges[2] = {fixture.challenges[0], fixture.challenges[1]};
    struct porep_partition partition = fixture.partition;
    partition.challenges = challenges;
    for (uint32_t n = 0; n <= 3; n++) {
        partition.n_challenges = n;
        if (n != 2) expect_wrong_count(&partition, "partition");
    }
    partition.n_challenges = 2;
    const struct {
        struct merkle_path *path;
        const char *where;
    } cases[] = {{&challenges[0].comm_d, "challenge[0].comm_d"},
                 {&challenges[1].comm_r_last, "challenge[1].comm_r_last"},
                 {&challenges[0].c_x.path, "challenge[0].c_x"},
                 {&challenges[1].drg[5].path, "challenge[1].drg_parent[5]"},
                 {&challenges[0].exp[7].path, "challenge[0].exp_parent[7]"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t right = cases[i].path->n_elements;
        cases[i].path->n_elements = right - 1;
        expect_wrong_count(&partition, cases[i].where);
        cases[i].path->n_elements = right + 1;
        expect_wrong_count(&partition, cases[i].where);
        cases[i].path->n_elements = right;
    }
}

/* The matrices of another size: the challenges do not fit, and nothing is written past the end. */
static void test_another_circuit_is_refused(void **state) {
    (void)state;
    struct r1cs *other;
    struct witness w;
    assert_int_equal(porep_record(porep_shape_by_name("4KiB"), &other, NULL), CUZK_OK);
    assert_int_equal(porep_witness(shape, other, &fixture.partition, &w, NULL, NULL),
                     CUZK_INTERNAL);
    assert_null(w.block.ptr);
    r1cs_destroy(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_levels_from_the_leaf_up),
        cmocka_unit_test(test_flat_digest),
        cmocka_unit_test(test_structured_digest),
        cmocka_unit_test(test_stamps_equal_their_templates),
        cmocka_unit_test(test_witness_digest),
        cmocka_unit_test(test_witness_in_parallel),
        cmocka_unit_test(test_witness_in_one_go),
        cmocka_unit_test(test_witness_in_given_memory),
        cmocka_unit_test(test_wrong_planes_are_refused),
        cmocka_unit_test(test_satisfied_and_not),
        cmocka_unit_test(test_wrong_inputs_are_located),
        cmocka_unit_test(test_wrong_counts_are_refused),
        cmocka_unit_test(test_another_circuit_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
