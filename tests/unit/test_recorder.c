/*
 * The recorder: templates and stamps, paths, limits, and what it does with a circuit that
 * contradicts itself.
 */
#include "test_main.h"

#include <sys/wait.h>
#include <unistd.h>

#include "pool.h"
#include "r1cs_digest.h"

/* ---- templates ---- */

/* gadget: out = a fresh variable; the row (in0 + in1) * ONE = out. */
static var sum_gadget(struct cs *cs, const char *name, const void *key, size_t key_bytes, var x,
                      var y, bool extra_row) {
    struct {
        var sum;
    } out = {VAR_ONE};
    var *in[] = {&x, &y}, *out_vars[] = {&out.sum};
    const struct cs_call call = {.name = name,
                                 .key = key,
                                 .key_bytes = key_bytes,
                                 .in = in,
                                 .n_in = 2,
                                 .out = &out,
                                 .out_bytes = sizeof out,
                                 .out_vars = out_vars,
                                 .n_out_vars = 1};
    if (!cs_call_enter(cs, &call)) return out.sum;
    struct lc a = {0}, b = {0}, c = {0};
    cs_scope_begin(cs, "add", 4);
    out.sum = cs_alloc_num(cs, &fr_zero);
    lc_add_var(&a, x);
    lc_add_var(&a, y);
    lc_add_var(&b, VAR_ONE);
    lc_add_var(&c, out.sum);
    cs_enforce(cs, &a, &b, &c);
    if (extra_row) cs_enforce(cs, &a, &b, &c);
    cs_scope_end(cs);
    lc_free(&a);
    lc_free(&b);
    lc_free(&c);
    cs_call_leave(cs, &call);
    return out.sum;
}

static void same_variable_at_two_ports(void **state) {
    (void)state;
    struct cs *cs;
    struct r1cs *r;
    struct r1cs_stats stats;
    assert_int_equal(cs_create_recorder(&cs, false, NULL), CUZK_OK);
    const var x = cs_alloc_num(cs, &fr_zero), y = cs_alloc_num(cs, &fr_zero);
    cs_scope_begin(cs, "outer", -1);
    const var s0 = sum_gadget(cs, "sum", "k", 1, x, y, false);
    const var s1 = sum_gadget(cs, "sum", "k", 1, s0, s0, false); /* 2 s0 */
    cs_scope_end(cs);
    const var s2 = sum_gadget(cs, "sum", "k", 1, s1, x, false); /* ports against the order */
    const var s3 = sum_gadget(cs, "sum", "k", 1, s2, VAR_ONE, false);
    assert_int_equal(s0.id, 2);
    assert_int_equal(s3.id, 5);
    assert_int_equal(cs_position_of(cs).n_aux, 6);
    assert_int_equal(cs_finish(cs, &r, NULL), CUZK_OK);
    cs_destroy(cs);
    assert_int_equal(r1cs_get_stats(r, &stats, NULL, NULL), CUZK_OK);
    assert_int_equal(stats.n_templates, 2);
    assert_int_equal(stats.n_stamps, 4);
    assert_int_equal(stats.n_rows, 5);
    assert_int_equal(stats.nnz[0], 2 + 1 + 2 + 2 + 1);
    char path[64];
    r1cs_row_path(r, 1, path, sizeof path);
    assert_string_equal(path, "outer/sum/add[4]/row 0");
    r1cs_row_path(r, 2, path, sizeof path);
    assert_string_equal(path, "sum/add[4]/row 0");
    r1cs_row_path(r, 4, path, sizeof path);
    assert_string_equal(path, "inputs/row 4");
    r1cs_row_path(r, 1, path, 9); /* cut, but whole as a string */
    assert_string_equal(path, "outer/su");
    r1cs_destroy(r);
}

/* Runs a circuit that must end in abort(), in a child process. */
static void assert_aborts(void (*circuit)(void)) {
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(2);
        circuit();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void incomplete_key(void) {
    struct cs *cs;
    if (cs_create_recorder(&cs, true, NULL) != CUZK_OK) _exit(3);
    const var x = cs_alloc_num(cs, &fr_zero);
    sum_gadget(cs, "sum", "k", 1, x, x, false);
    sum_gadget(cs, "sum", "k", 1, x, x, true);
}

static void re_recording_finds_an_incomplete_key(void **state) {
    (void)state;
    assert_aborts(incomplete_key);
    /* With the difference in the key it is two templates. */
    struct cs *cs;
    struct r1cs *r;
    struct r1cs_stats stats;
    assert_int_equal(cs_create_recorder(&cs, true, NULL), CUZK_OK);
    const var x = cs_alloc_num(cs, &fr_zero);
    sum_gadget(cs, "sum", "k", 1, x, x, false);
    sum_gadget(cs, "sum", "l", 1, x, x, true);
    sum_gadget(cs, "other", "k", 1, x, x, true);
    sum_gadget(cs, "sum", NULL, 0, x, x, true);
    assert_int_equal(cs_finish(cs, &r, NULL), CUZK_OK);
    assert_int_equal(r1cs_get_stats(r, &stats, NULL, NULL), CUZK_OK);
    assert_int_equal(stats.n_templates, 5);
    assert_int_equal(stats.n_rows, 1 + 2 + 2 + 2 + 1);
    cs_destroy(cs);
    r1cs_destroy(r);
}

/* A recorder that is given up in the middle of a call frees what it has. */
static void abandoned_recorder(void **state) {
    (void)state;
    struct cs *cs;
    assert_int_equal(cs_create_recorder(&cs, false, NULL), CUZK_OK);
    var x = cs_alloc_num(cs, &fr_zero);
    var *in[] = {&x};
    const struct cs_call call = {.name = "open", .in = in, .n_in = 1};
    sum_gadget(cs, "sum", "k", 1, x, x, false);
    assert_true(cs_call_enter(cs, &call));
    assert_int_equal(var_kind_of(x), VAR_PORT);
    assert_int_equal(cs_position_of(cs).n_aux, 2);
    cs_alloc_bits(cs, 0, 7);
    assert_int_equal(cs_position_of(cs).n_aux, 9);
    cs_destroy(cs);
}

static void empty_systems(void **state) {
    (void)state;
    struct cs *cs;
    struct r1cs *r;
    struct witness w;
    uint8_t digest[SHA256_BYTES], want[SHA256_BYTES], one[SHA256_BYTES];
    /* Without any call there is one row, for ONE. */
    assert_int_equal(cs_create_recorder(&cs, false, NULL), CUZK_OK);
    assert_int_equal(cs_finish(cs, &r, NULL), CUZK_OK);
    cs_destroy(cs);
    assert_int_equal(r1cs_digest(r, digest, NULL, NULL, NULL, NULL), CUZK_OK);
    uint8_t row[4 + 37 + 8] = {1};
    row[9] = 1;
    sha256(one, row, sizeof row);
    sha256(want, one, sizeof one);
    assert_memory_equal(digest, want, sizeof want);
    assert_int_equal(witness_create(&w, 1, 0, 0, NULL), CUZK_OK);
    assert_int_equal(r1cs_check(r, &w, NULL, NULL, NULL), CUZK_OK);
    witness_destroy(&w);
    r1cs_destroy(r);
}

/* Calls that need more variables, or deeper nesting, than there can be: an error at the end, and
 * nothing goes wrong before. */
static void bits_gadget(struct cs *cs, uint32_t n_words) {
    const struct cs_call call = {.name = "bits", .key = &n_words, .key_bytes = sizeof n_words};
    if (!cs_call_enter(cs, &call)) return;
    for (uint32_t i = 0; i < n_words; i++)
        cs_alloc_bits(cs, 0, 64);
    cs_call_leave(cs, &call);
}

static void too_many_variables(void **state) {
    (void)state;
    for (int stamps = 15; stamps <= 17; stamps++) {
        struct cs *cs;
        struct r1cs *r;
        struct cuzk_error err = {0};
        assert_int_equal(cs_create_recorder(&cs, false, NULL), CUZK_OK);
        for (int i = 0; i < stamps; i++)
            bits_gadget(cs, 1 << 20);
        const cuzk_status status = cs_finish(cs, &r, &err);
        assert_int_equal(status, stamps < 16 ? CUZK_OK : CUZK_INTERNAL);
        if (status == CUZK_OK) {
            assert_int_equal(r1cs_kind_plane(r)[(15 << 20) - 1], UINT64_MAX);
            assert_int_equal(r1cs_kind_plane(r)[15 << 20], 0);
        } else {
            assert_non_null(strstr(err.what, "2^30 variables"));
            assert_null(r);
        }
        r1cs_destroy(r);
        cs_destroy(cs);
    }
}

/* 2^depth inputs: each level stamps the one below twice. */
static void inputs_gadget(struct cs *cs, uint32_t depth) {
    const struct cs_call call = {.name = "inputs", .key = &depth, .key_bytes = sizeof depth};
    if (!cs_call_enter(cs, &call)) return;
    if (depth == 0) cs_alloc_input(cs, &fr_zero);
    for (int i = 0; depth > 0 && i < 2; i++)
        inputs_gadget(cs, depth - 1);
    cs_call_leave(cs, &call);
}

static void too_many_inputs(void **state) {
    (void)state;
    struct cs *cs;
    struct r1cs *r;
    struct cuzk_error err = {0};
    assert_int_equal(cs_create_recorder(&cs, false, NULL), CUZK_OK);
    inputs_gadget(cs, 29);
    assert_int_equal(cs_position_of(cs).n_inputs, (1 << 29) + 1);
    inputs_gadget(cs, 29);
    assert_int_equal(cs_finish(cs, &r, &err), CUZK_INTERNAL);
    assert_non_null(strstr(err.what, "2^30 variables"));
    assert_null(r);
    cs_destroy(cs);
}

static void nest(struct cs *cs, int depth) {
    const struct cs_call call = {.name = "nest", .key = &depth, .key_bytes = sizeof depth};
    if (depth == 0 || !cs_call_enter(cs, &call)) return;
    cs_alloc_num(cs, &fr_zero);
    nest(cs, depth - 1);
    cs_call_leave(cs, &call);
}

static void too_deep(void **state) {
    (void)state;
    for (int depth = 63; depth <= 64; depth++) {
        struct cs *cs;
        struct r1cs *r;
        assert_int_equal(cs_create_recorder(&cs, false, NULL), CUZK_OK);
        nest(cs, depth);
        assert_int_equal(cs_finish(cs, &r, NULL), depth == 63 ? CUZK_OK : CUZK_INTERNAL);
        r1cs_destroy(r);
        cs_destroy(cs);
    }
}

/* More rows than a block of the digest and a task of the evaluation hold, in templates whose rows
 * are many to an operation: the flat digest, hashed by several threads, and a witness. */
static void pairs_gadget(struct cs *cs, var x, uint64_t value) {
    var *in[] = {&x};
    const struct cs_call call = {.name = "pairs", .key = "", .key_bytes = 1, .in = in, .n_in = 1};
    struct lc a = {0}, b = {0}, c = {0};
    if (!cs_call_enter(cs, &call)) return;
    for (unsigned word = 0; word < 40; word++) {
        const var bits = cs_alloc_bits(cs, value * (word + 1), 64);
        for (unsigned i = 0; cs_has_rows(cs) && i < 64; i++) {
            lc_clear(&a), lc_clear(&b);
            lc_add_var(&a, VAR_ONE);
            lc_sub_var(&a, (var){bits.id + i});
            lc_add_var(&b, (var){bits.id + i});
            cs_enforce(cs, &a, &b, &c);
        }
        lc_clear(&a);
        lc_sub_var(&a, x);
        lc_add_var(&a, x);
        if (cs_has_rows(cs)) cs_enforce(cs, &a, &b, &c);
    }
    lc_free(&a);
    lc_free(&b);
    cs_call_leave(cs, &call);
}

enum { N_PAIRS = 64, PAIRS_ROWS = 40 * 65 };

static void large_circuit(struct cs *cs, uint64_t value) {
    const var x = cs_alloc_num(cs, &fr_one);
    for (unsigned i = 0; i < N_PAIRS; i++)
        pairs_gadget(cs, x, value + i);
}

static void many_blocks(void **state) {
    (void)state;
    struct cs *cs;
    struct r1cs *r;
    struct r1cs_stats stats;
    struct flat_digest *flat;
    struct block_digests blocks;
    struct pool *pool;
    struct witness w;
    struct cuzk_error err;
    uint8_t want[SHA256_BYTES], got[SHA256_BYTES];
    assert_int_equal(pool_create(&pool, 3, NULL), CUZK_OK);
    assert_int_equal(flat_digest_create(&flat, NULL), CUZK_OK);
    const struct row_sink sink = flat_digest_sink(flat);
    assert_int_equal(cs_create_flat(&cs, &sink, NULL), CUZK_OK);
    large_circuit(cs, 0);
    assert_int_equal(cs_finish(cs, NULL, NULL), CUZK_OK);
    cs_destroy(cs);
    assert_int_equal(flat_digest_finish(flat, want, NULL, NULL), CUZK_OK);
    assert_int_equal(cs_create_recorder(&cs, false, NULL), CUZK_OK);
    large_circuit(cs, 0);
    assert_int_equal(cs_finish(cs, &r, NULL), CUZK_OK);
    cs_destroy(cs);

    /* Cancelled before it is done: no half-counted statistics are left behind. */
    atomic_bool cancel = true;
    const struct progress progress = {.cancel = &cancel};
    assert_int_equal(r1cs_digest(r, got, &blocks, pool, &progress, NULL), CUZK_CANCELLED);
    assert_int_equal(r1cs_digest(r, got, &blocks, pool, NULL, NULL), CUZK_OK);
    assert_memory_equal(got, want, sizeof got);
    assert_int_equal(blocks.n, 3);
    assert_int_equal(flat_digest_blocks(flat)->n, 3);
    assert_memory_equal(blocks.digest, flat_digest_blocks(flat)->digest, 3 * SHA256_BYTES);
    block_digests_free(&blocks);
    flat_digest_destroy(flat);
    assert_int_equal(r1cs_get_stats(r, &stats, pool, NULL), CUZK_OK);
    assert_int_equal(stats.n_rows, N_PAIRS * PAIRS_ROWS + 1);
    assert_int_equal(stats.nnz[0], N_PAIRS * 40 * 128 + 1);
    assert_int_equal(stats.nnz[1], N_PAIRS * 40 * 65);
    assert_int_equal(stats.a_aux_density, N_PAIRS * 40 * 64);
    assert_true(stats.bytes < 200000);

    assert_int_equal(witness_create(&w, stats.n_inputs, stats.n_aux, stats.n_elements, NULL),
                     CUZK_OK);
    assert_int_equal(cs_create_witness(&cs, &w, NULL), CUZK_OK);
    large_circuit(cs, UINT64_C(0x123456789abcdef1));
    assert_int_equal(cs_finish(cs, NULL, NULL), CUZK_OK);
    cs_destroy(cs);
    assert_int_equal(r1cs_check(r, &w, pool, NULL, NULL), CUZK_OK);
    assert_int_equal(r1cs_check(r, &w, pool, &progress, NULL), CUZK_CANCELLED);
    w.inputs[0] = fr_zero;
    assert_int_equal(r1cs_check(r, &w, pool, NULL, &err), CUZK_UNSATISFIED);
    assert_string_equal(err.where, "witness");
    witness_destroy(&w);
    r1cs_destroy(r);
    pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_variable_at_two_ports),
        cmocka_unit_test(re_recording_finds_an_incomplete_key),
        cmocka_unit_test(abandoned_recorder),
        cmocka_unit_test(empty_systems),
        cmocka_unit_test(too_many_variables),
        cmocka_unit_test(too_many_inputs),
        cmocka_unit_test(too_deep),
        cmocka_unit_test(many_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
