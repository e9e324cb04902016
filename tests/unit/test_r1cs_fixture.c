/*
 * The window-2KiB system as the public implementation wrote it: rows, witness, golden digest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test_main.h"

#include "file.h"
#include "r1cs_digest.h"

#define PARAMS CUZK_SHARED "/fixtures/params/"

static const size_t file_limit = (size_t)64 << 20;

static struct r1cs *read_system(void) {
    struct mem_block file;
    size_t n;
    struct r1cs *r;
    struct cuzk_error err = {0};
    assert_int_equal(file_read(&file, &n, PARAMS "window-2KiB.rows", file_limit, &err), CUZK_OK);
    if (r1cs_from_rows(&r, file.ptr, n, &err) != CUZK_OK) fail_msg("%s: %s", err.where, err.what);
    mem_give(&file);
    return r;
}

static void read_witness(struct witness *w, const struct r1cs *r, const struct r1cs_stats *stats) {
    struct mem_block file;
    size_t n;
    struct cuzk_error err = {0};
    assert_int_equal(file_read(&file, &n, PARAMS "window-2KiB.witness", file_limit, &err), CUZK_OK);
    if (witness_from_values(w, r1cs_kind_plane(r), stats->n_inputs, stats->n_aux, stats->n_elements,
                            file.ptr, n, &err) != CUZK_OK)
        fail_msg("%s: %s", err.where, err.what);
    mem_give(&file);
}

static void digest_is_golden(void **state) {
    (void)state;
    struct r1cs *r = read_system();
    uint8_t digest[SHA256_BYTES];
    char hex[65];
    struct block_digests blocks;
    assert_int_equal(r1cs_digest(r, digest, &blocks, NULL, NULL, NULL), CUZK_OK);
    hex_encode(hex, digest, sizeof digest);
    assert_string_equal(hex, "98f511659b2fd3c061743d8065789b03eb636b09dd93f730ad34cb992cc01491");
    assert_int_equal(blocks.n, 1);
    block_digests_free(&blocks);

    struct r1cs_stats stats;
    assert_int_equal(r1cs_get_stats(r, &stats, NULL, NULL), CUZK_OK);
    assert_int_equal(stats.n_inputs, 23);
    assert_int_equal(stats.n_aux, 22128);
    assert_int_equal(stats.n_rows, 21889);
    assert_int_equal(stats.nnz[0], 150285);
    assert_int_equal(stats.nnz[1], 22230);
    assert_int_equal(stats.nnz[2], 27456);
    assert_int_equal(stats.a_aux_density, 16770);
    assert_int_equal(stats.b_aux_density, 16028);
    assert_int_equal(stats.b_input_density, 1);
    print_message("%zu bytes of matrices\n", stats.bytes);
    r1cs_destroy(r);
}

static void witness_satisfies(void **state) {
    (void)state;
    struct r1cs *r = read_system();
    struct r1cs_stats stats;
    struct witness w;
    struct cuzk_error err = {0};
    assert_int_equal(r1cs_get_stats(r, &stats, NULL, NULL), CUZK_OK);
    read_witness(&w, r, &stats);
    if (r1cs_check(r, &w, NULL, NULL, &err) != CUZK_OK) fail_msg("%s: %s", err.where, err.what);

    /* What the digests are over is in the file as it is, behind its two counts. */
    struct mem_block file;
    size_t n;
    uint8_t inputs[SHA256_BYTES], aux[SHA256_BYTES], want[SHA256_BYTES];
    const size_t n_inputs = (size_t)stats.n_inputs * 32, n_aux = (size_t)stats.n_aux * 32;
    assert_int_equal(file_read(&file, &n, PARAMS "window-2KiB.witness", file_limit, &err), CUZK_OK);
    assert_int_equal(n, 16 + n_inputs + n_aux);
    assert_int_equal(witness_digest(&w, r1cs_kind_plane(r), inputs, aux, NULL, NULL, NULL),
                     CUZK_OK);
    sha256(want, (const uint8_t *)file.ptr + 16, n_inputs);
    assert_memory_equal(inputs, want, sizeof want);
    sha256(want, (const uint8_t *)file.ptr + 16 + n_inputs, n_aux);
    assert_memory_equal(aux, want, sizeof want);
    mem_give(&file);
    witness_destroy(&w);
    r1cs_destroy(r);
}

/* Which rows look at a variable, found by walking them. */
struct user {
    uint32_t index;
    uint64_t first_row;
};
static void find_user(void *ctx, uint64_t row, const struct row_lc abc[3]) {
    struct user *u = ctx;
    for (int m = 0; m < 3; m++) {
        for (uint32_t t = 0; t < abc[m].n; t++) {
            if (abc[m].terms[t].v.id == u->index && row < u->first_row) u->first_row = row;
        }
    }
}

/* A wrong value is found, in a row not before the first that looks at it. */
static void wrong_values_are_found(void **state) {
    (void)state;
    struct r1cs *r = read_system();
    struct r1cs_stats stats;
    struct witness w;
    assert_int_equal(r1cs_get_stats(r, &stats, NULL, NULL), CUZK_OK);
    read_witness(&w, r, &stats);
    for (uint32_t i = 0; i < stats.n_aux; i += 2503) {
        struct user u = {.index = i, .first_row = UINT64_MAX};
        struct cuzk_error err = {0};
        char row[32];
        r1cs_walk(r, 0, stats.n_rows, find_user, &u);
        if (u.first_row == UINT64_MAX) continue;
        const fr saved = w.elements[i];
        fr_add(&w.elements[i], &w.elements[i], &fr_one);
        fr_double(&w.elements[i], &w.elements[i]);
        assert_int_equal(r1cs_check(r, &w, NULL, NULL, &err), CUZK_UNSATISFIED);
        unsigned long long at = 0;
        assert_int_equal(sscanf(err.what, "row %llu:", &at), 1);
        assert_true(at >= u.first_row);
        snprintf(row, sizeof row, "row %llu", at);
        assert_string_equal(err.where, row);
        w.elements[i] = saved;
    }
    assert_int_equal(r1cs_check(r, &w, NULL, NULL, NULL), CUZK_OK);
    witness_destroy(&w);
    r1cs_destroy(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digest_is_golden),
        cmocka_unit_test(witness_satisfies),
        cmocka_unit_test(wrong_values_are_found),
    };
    if (access(PARAMS "window-2KiB.rows", R_OK) != 0) {
        puts("skipped: there is no " PARAMS "window-2KiB.rows");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
