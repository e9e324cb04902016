/*
 * Flat rows, templates, re-recorded templates and witnesses of random circuits agree.
 */
#include "test_main.h"

#include "pool.h"
#include "r1cs_digest.h"
#include "toy_circuit.h"

enum { N_SEEDS = 30 };

static struct r1cs *record(uint64_t seed, bool check_stamps) {
    struct cs *cs;
    struct r1cs *r;
    struct cuzk_error err = {0};
    assert_int_equal(cs_create_recorder(&cs, check_stamps, &err), CUZK_OK);
    toy_synthesize(cs, seed, 0);
    if (cs_finish(cs, &r, &err) != CUZK_OK) fail_msg("seed %lu: %s", seed, err.what);
    cs_destroy(cs);
    return r;
}

static struct cs_position flat(uint64_t seed, struct toy_rows *rows) {
    struct cs *cs;
    const struct row_sink sink = {toy_rows_put, rows};
    assert_int_equal(cs_create_flat(&cs, &sink, NULL), CUZK_OK);
    toy_synthesize(cs, seed, 0);
    const struct cs_position p = cs_position_of(cs);
    assert_int_equal(cs_finish(cs, NULL, NULL), CUZK_OK);
    cs_destroy(cs);
    return p;
}

static void flat_digest(uint64_t seed, uint8_t out[SHA256_BYTES], struct r1cs_stats *stats) {
    struct cs *cs;
    struct flat_digest *d;
    assert_int_equal(flat_digest_create(&d, NULL), CUZK_OK);
    const struct row_sink sink = flat_digest_sink(d);
    assert_int_equal(cs_create_flat(&cs, &sink, NULL), CUZK_OK);
    toy_synthesize(cs, seed, 0);
    assert_int_equal(cs_finish(cs, NULL, NULL), CUZK_OK);
    assert_int_equal(flat_digest_finish(d, out, stats, NULL), CUZK_OK);
    assert_int_equal(flat_digest_blocks(d)->n, (stats->n_rows + 65535) / 65536);
    cs_destroy(cs);
    flat_digest_destroy(d);
}

static void make_witness(struct witness *w, uint64_t seed, uint64_t values,
                         const struct r1cs_stats *stats) {
    struct cs *cs;
    struct cuzk_error err = {0};
    assert_int_equal(witness_create(w, stats->n_inputs, stats->n_aux, stats->n_elements, NULL),
                     CUZK_OK);
    assert_int_equal(cs_create_witness(&cs, w, NULL), CUZK_OK);
    toy_synthesize(cs, seed, values);
    if (cs_finish(cs, NULL, &err) != CUZK_OK) fail_msg("seed %lu: %s", seed, err.what);
    cs_destroy(cs);
}

struct compare {
    const struct toy_rows *flat;
    uint64_t next;
    struct toy_rows one; /* the row as bytes; its memory is used again for the next one */
};
static void compare_row(void *ctx, uint64_t row, const struct row_lc abc[3]) {
    struct compare *c = ctx;
    assert_int_equal(row, c->next);
    c->one.n_rows = c->one.n_bytes = 0;
    toy_rows_put(&c->one, abc);
    assert_int_equal(c->one.n_bytes, c->flat->starts[row + 1] - c->flat->starts[row]);
    assert_memory_equal(c->one.bytes, c->flat->bytes + c->flat->starts[row], c->one.n_bytes);
    c->next++;
}

/* Walks the whole and random slices. */
static void assert_same_rows(const struct r1cs *r, const struct toy_rows *rows, uint64_t seed) {
    struct toy_random random = {seed};
    struct compare c = {.flat = rows};
    r1cs_walk(r, 0, rows->n_rows, compare_row, &c);
    assert_int_equal(c.next, rows->n_rows);
    for (int i = 0; i < 6; i++) {
        const uint64_t first = toy_below(&random, (uint32_t)rows->n_rows + 1);
        const uint64_t n = toy_below(&random, (uint32_t)(rows->n_rows - first + 1));
        c.next = first;
        r1cs_walk(r, first, n, compare_row, &c);
        assert_int_equal(c.next, first + n);
    }
    toy_rows_free(&c.one);
}

static void templates_equal_flat_rows(void **state) {
    (void)state;
    uint64_t n_stamps = 0;
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        print_message("seed %lu\r", seed);
        struct toy_rows rows = {0};
        const struct cs_position p = flat(seed, &rows);
        struct r1cs *plain = record(seed, false), *checked = record(seed, true);
        struct r1cs_stats stats, flat_stats;
        uint8_t want[SHA256_BYTES], got[SHA256_BYTES];
        assert_same_rows(plain, &rows, seed);
        flat_digest(seed, want, &flat_stats);
        assert_int_equal(r1cs_digest(plain, got, NULL, NULL, NULL, NULL), CUZK_OK);
        assert_memory_equal(got, want, sizeof got);
        assert_int_equal(r1cs_digest(checked, got, NULL, NULL, NULL, NULL), CUZK_OK);
        assert_memory_equal(got, want, sizeof got);
        assert_int_equal(r1cs_get_stats(plain, &stats, NULL, NULL), CUZK_OK);
        assert_int_equal(stats.n_rows, rows.n_rows);
        assert_int_equal(stats.n_aux, p.n_aux);
        assert_int_equal(stats.n_inputs, p.n_inputs);
        assert_int_equal(stats.n_elements, p.n_elements);
        assert_memory_equal(stats.nnz, flat_stats.nnz, sizeof stats.nnz);
        n_stamps += stats.n_stamps - (stats.n_templates - 1);
        toy_rows_free(&rows);
        r1cs_destroy(plain);
        r1cs_destroy(checked);
    }
    print_message("%lu templates were used again\n", n_stamps);
    assert_true(n_stamps > N_SEEDS);
}

/* The naive system: rows as walked, and every value as a field element. */
struct naive {
    const struct r1cs *r;
    const struct witness *w;
    fr *aux;
    fr *abc[3];
    uint8_t *in_a, *in_b; /* aux variables that occur */
    uint64_t bad;
};

static void naive_row(void *ctx, uint64_t row, const struct row_lc abc[3]) {
    struct naive *n = ctx;
    fr product;
    for (int m = 0; m < 3; m++) {
        fr sum = fr_zero;
        for (uint32_t t = 0; t < abc[m].n; t++) {
            const struct lc_term *term = &abc[m].terms[t];
            const uint32_t i = var_index(term->v);
            const bool aux = var_kind_of(term->v) == VAR_AUX;
            fr_mul(&product, &term->c, aux ? &n->aux[i] : &n->w->inputs[i]);
            fr_add(&sum, &sum, &product);
            if (aux && m == 0) n->in_a[i] = 1;
            if (aux && m == 1) n->in_b[i] = 1;
        }
        n->abc[m][row] = sum;
    }
    fr_mul(&product, &n->abc[0][row], &n->abc[1][row]);
    if (!fr_equal(&product, &n->abc[2][row]) && row < n->bad) n->bad = row;
}

static void naive_evaluate(struct naive *n, const struct r1cs_stats *stats) {
    const uint64_t *kind = r1cs_kind_plane(n->r);
    uint32_t element = 0;
    n->aux = calloc((size_t)stats->n_aux + 1, sizeof(fr));
    n->in_a = calloc((size_t)stats->n_aux + 1, 1);
    n->in_b = calloc((size_t)stats->n_aux + 1, 1);
    for (uint32_t i = 0; i < stats->n_aux; i++) {
        if ((kind[i / 64] >> i % 64 & 1) == 0)
            n->aux[i] = n->w->elements[element++];
        else if ((n->w->values[i / 64] >> i % 64 & 1) != 0)
            n->aux[i] = fr_one;
    }
    for (int m = 0; m < 3; m++)
        n->abc[m] = calloc(stats->n_rows, sizeof(fr));
    n->bad = UINT64_MAX;
    r1cs_walk(n->r, 0, stats->n_rows, naive_row, n);
}

static void naive_free(struct naive *n) {
    free(n->aux);
    free(n->in_a);
    free(n->in_b);
    for (int m = 0; m < 3; m++)
        free(n->abc[m]);
}

static void assert_densities(const struct naive *n, const struct r1cs_stats *stats) {
    uint32_t a = 0, b = 0;
    for (uint32_t i = 0; i < stats->n_aux; i++) {
        assert_int_equal(n->in_a[i], r1cs_a_aux_plane(n->r)[i / 64] >> i % 64 & 1);
        assert_int_equal(n->in_b[i], r1cs_b_aux_plane(n->r)[i / 64] >> i % 64 & 1);
        a += n->in_a[i];
        b += n->in_b[i];
    }
    assert_int_equal(a, stats->a_aux_density);
    assert_int_equal(b, stats->b_aux_density);
}

static void evaluation_equals_naive(void **state) {
    (void)state;
    struct pool *pool;
    assert_int_equal(pool_create(&pool, 3, NULL), CUZK_OK);
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        print_message("seed %lu\r", seed);
        struct r1cs *r = record(seed, false);
        struct r1cs_stats stats;
        struct witness w;
        struct cuzk_error err = {0};
        assert_int_equal(r1cs_get_stats(r, &stats, pool, NULL), CUZK_OK);
        make_witness(&w, seed, seed + 7, &stats);
        struct naive n = {.r = r, .w = &w};
        naive_evaluate(&n, &stats);
        assert_int_equal(n.bad, UINT64_MAX);
        assert_densities(&n, &stats);
        fr *abc = calloc(3 * stats.n_rows, sizeof *abc);
        r1cs_evaluate(r, &w, abc, abc + stats.n_rows, abc + 2 * stats.n_rows, pool);
        for (int m = 0; m < 3; m++)
            assert_memory_equal(abc + (size_t)m * stats.n_rows, n.abc[m],
                                stats.n_rows * sizeof *abc);
        /* Each of them alone, and what is behind its last row is not touched. */
        const fr mark = {{1, 2, 3, seed}};
        for (int m = 0; m < 3; m++) {
            fr *out[3] = {NULL};
            out[m] = abc;
            memset(abc, 0xa5, stats.n_rows * sizeof *abc);
            abc[stats.n_rows] = mark;
            r1cs_evaluate(r, &w, out[0], out[1], out[2], NULL);
            assert_memory_equal(abc, n.abc[m], stats.n_rows * sizeof *abc);
            assert_true(fr_equal(&abc[stats.n_rows], &mark));
        }
        if (r1cs_check(r, &w, pool, NULL, &err) != CUZK_OK)
            fail_msg("seed %lu: %s: %s", seed, err.where, err.what);
        free(abc);
        naive_free(&n);
        witness_destroy(&w);
        r1cs_destroy(r);
    }
    pool_destroy(pool);
}

/* Changes a random value; true if it was one that can be changed. */
static void damage(struct witness *w, const uint64_t *kind, struct toy_random *random) {
    if (toy_below(random, 2) == 0 && w->n_elements > 0) {
        fr *e = &w->elements[toy_below(random, w->n_elements)];
        fr_add(e, e, &fr_one);
        return;
    }
    uint32_t i = toy_below(random, w->n_aux);
    while ((kind[i / 64] >> i % 64 & 1) == 0)
        i = (i + 1) % w->n_aux;
    w->values[i / 64] ^= UINT64_C(1) << i % 64;
}

static void first_bad_row_is_named(void **state) {
    (void)state;
    unsigned n_bad = 0;
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        print_message("seed %lu\r", seed);
        struct toy_random random = {seed};
        struct r1cs *r = record(seed, false);
        struct r1cs_stats stats;
        struct witness w;
        struct cuzk_error err = {0};
        assert_int_equal(r1cs_get_stats(r, &stats, NULL, NULL), CUZK_OK);
        make_witness(&w, seed, seed + 9, &stats);
        damage(&w, r1cs_kind_plane(r), &random);
        struct naive n = {.r = r, .w = &w};
        naive_evaluate(&n, &stats);
        const cuzk_status status = r1cs_check(r, &w, NULL, NULL, &err);
        if (n.bad == UINT64_MAX) {
            assert_int_equal(status, CUZK_OK);
        } else {
            char row[32], path[320];
            assert_int_equal(status, CUZK_UNSATISFIED);
            snprintf(row, sizeof row, "row %lu: ", n.bad);
            assert_memory_equal(err.what, row, strlen(row));
            r1cs_row_path(r, n.bad, path, sizeof path);
            assert_string_equal(err.where, path);
            n_bad++;
        }
        naive_free(&n);
        witness_destroy(&w);
        r1cs_destroy(r);
    }
    assert_true(n_bad > N_SEEDS / 2);
}

static void malformed_witness_is_refused(void **state) {
    (void)state;
    struct r1cs *r = record(1, false);
    struct r1cs_stats stats;
    struct witness w;
    assert_int_equal(r1cs_get_stats(r, &stats, NULL, NULL), CUZK_OK);
    make_witness(&w, 1, 1, &stats);
    assert_int_equal(r1cs_check(r, &w, NULL, NULL, NULL), CUZK_OK);
    w.inputs[0] = fr_zero;
    assert_int_equal(r1cs_check(r, &w, NULL, NULL, NULL), CUZK_UNSATISFIED);
    w.inputs[0] = fr_one;
    memcpy(w.elements[0].l, fr_modulus, sizeof fr_modulus);
    assert_int_equal(r1cs_check(r, &w, NULL, NULL, NULL), CUZK_UNSATISFIED);
    witness_destroy(&w);
    make_witness(&w, 1, 1, &stats);
    w.values[w.n_aux / 64 + 1] = 1;
    assert_int_equal(r1cs_check(r, &w, NULL, NULL, NULL), CUZK_UNSATISFIED);
    w.values[w.n_aux / 64 + 1] = 0;
    w.n_elements--;
    assert_int_equal(r1cs_check(r, &w, NULL, NULL, NULL), CUZK_UNSATISFIED);
    w.n_elements++;
    assert_int_equal(r1cs_check(r, &w, NULL, NULL, NULL), CUZK_OK);
    witness_destroy(&w);
    r1cs_destroy(r);
}

/* Rows that were read back are the rows that were written. */
static void rows_survive_the_round_trip(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct toy_rows rows = {0};
        struct r1cs *r;
        struct cuzk_error err = {0};
        flat(seed, &rows);
        if (r1cs_from_rows(&r, rows.bytes, rows.n_bytes, &err) != CUZK_OK)
            fail_msg("seed %lu: %s: %s", seed, err.where, err.what);
        assert_same_rows(r, &rows, seed);
        r1cs_destroy(r);
        toy_rows_free(&rows);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates_equal_flat_rows),
        cmocka_unit_test(evaluation_equals_naive),
        cmocka_unit_test(first_bad_row_is_named),
        cmocka_unit_test(rows_survive_the_round_trip),
        cmocka_unit_test(malformed_witness_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
