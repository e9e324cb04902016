#include "gadget_check.h"

#include "r1cs.h"
#include "test_main.h"

/* All rows, flattened: term list with three counts a row. */
struct row_store {
    struct lc_term *terms;
    size_t n_terms, terms_capacity;
    uint32_t (*counts)[3];
    size_t n_rows, rows_capacity;
};

static void store_row(void *ctx, const struct row_lc abc[3]) {
    struct row_store *s = ctx;
    if (s->n_rows == s->rows_capacity) {
        s->rows_capacity = s->rows_capacity * 2 + 1024;
        s->counts = realloc(s->counts, s->rows_capacity * sizeof s->counts[0]);
        assert_non_null(s->counts);
    }
    for (int i = 0; i < 3; i++) {
        s->counts[s->n_rows][i] = abc[i].n;
        if (s->n_terms + abc[i].n > s->terms_capacity) {
            s->terms_capacity = (s->n_terms + abc[i].n) * 2;
            s->terms = realloc(s->terms, s->terms_capacity * sizeof s->terms[0]);
            assert_non_null(s->terms);
        }
        if (abc[i].n > 0)
            memcpy(s->terms + s->n_terms, abc[i].terms, abc[i].n * sizeof s->terms[0]);
        s->n_terms += abc[i].n;
    }
    s->n_rows++;
}

static uint32_t inputs_end;

void gadget_inputs_end(struct cs *cs) {
    inputs_end = cs_position_of(cs).n_aux;
}

static struct gadget_counts run_structure(struct row_store *rows, gadget_body body, void *ctx) {
    struct cs *cs;
    const struct row_sink sink = {store_row, rows};
    assert_int_equal(cs_create_flat(&cs, &sink, NULL), CUZK_OK);
    body(cs, ctx);
    const struct cs_position p = cs_position_of(cs);
    const struct gadget_counts counts = {p.n_inputs, p.n_aux, p.n_elements, rows->n_rows};
    assert_int_equal(cs_finish(cs, NULL, NULL), CUZK_OK);
    cs_destroy(cs);
    return counts;
}

static struct r1cs *record(gadget_body body, void *ctx) {
    struct cs *cs;
    struct r1cs *r;
    struct r1cs_stats stats;
    assert_int_equal(cs_create_recorder(&cs, true, NULL), CUZK_OK);
    body(cs, ctx);
    assert_int_equal(cs_finish(cs, &r, NULL), CUZK_OK);
    cs_destroy(cs);
    assert_int_equal(r1cs_get_stats(r, &stats, NULL, NULL), CUZK_OK);
    return r;
}

static void run_witness(struct witness *w, const struct gadget_counts *counts, gadget_body body,
                        void *ctx) {
    struct cs *cs;
    assert_int_equal(witness_create(w, counts->n_inputs, counts->n_aux, counts->n_elements, NULL),
                     CUZK_OK);
    assert_int_equal(cs_create_witness(&cs, w, NULL), CUZK_OK);
    body(cs, ctx);
    assert_int_equal(cs_finish(cs, NULL, NULL), CUZK_OK);
    cs_destroy(cs);
}

/* All values of a witness, written out. */
static fr *expand(const struct witness *w, const struct r1cs *r) {
    const uint64_t *const kind = r1cs_kind_plane(r);
    fr *const values = malloc((w->n_aux + 1) * sizeof *values);
    uint32_t element = 0;
    assert_non_null(values);
    for (uint32_t i = 0; i < w->n_aux; i++) {
        if (kind[i / 64] >> i % 64 & 1) {
            values[i] = w->values[i / 64] >> i % 64 & 1 ? fr_one : fr_zero;
        } else {
            values[i] = w->elements[element++];
        }
    }
    assert_int_equal(element, w->n_elements);
    return values;
}

static void evaluate(fr *out, const struct lc_term *terms, uint32_t n, const fr *inputs,
                     const fr *aux) {
    *out = fr_zero;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t index = var_index(terms[i].v);
        const fr *const value = var_kind_of(terms[i].v) == VAR_INPUT ? &inputs[index] : &aux[index];
        fr product;
        fr_mul(&product, &terms[i].c, value);
        fr_add(out, out, &product);
    }
}

/* The first row that does not hold; n_rows when all do. With `only`, looks at rows that mention
 * this aux variable. */
static size_t first_bad_row(const struct row_store *rows, const fr *inputs, const fr *aux,
                            const uint32_t *only) {
    size_t at = 0;
    for (size_t row = 0; row < rows->n_rows; row++) {
        const uint32_t *const n = rows->counts[row];
        const struct lc_term *const a = rows->terms + at, *const b = a + n[0], *const c = b + n[1];
        const size_t total = (size_t)n[0] + n[1] + n[2];
        bool looked_at = only == NULL;
        for (size_t i = 0; !looked_at && i < total; i++)
            looked_at = a[i].v.id == *only;
        if (looked_at) {
            fr abc[3];
            evaluate(&abc[0], a, n[0], inputs, aux);
            evaluate(&abc[1], b, n[1], inputs, aux);
            evaluate(&abc[2], c, n[2], inputs, aux);
            fr_mul(&abc[0], &abc[0], &abc[1]);
            if (!fr_equal(&abc[0], &abc[2])) return row;
        }
        at += total;
    }
    return rows->n_rows;
}

/* Changes variables behind the inputs, one after the other; some hundred at most, since each one
 * takes a walk through all rows. */
static void check_determined(const struct row_store *rows, const fr *inputs, fr *aux,
                             uint32_t first, uint32_t end) {
    const uint32_t step = (end - first) / 300 + 1;
    for (uint32_t i = first; i < end; i += step) {
        const fr value = aux[i];
        fr_sub(&aux[i], &fr_one, &value);
        assert_true(first_bad_row(rows, inputs, aux, &i) < rows->n_rows);
        aux[i] = value;
    }
}

struct gadget_counts gadget_check(gadget_body body, void *ctx) {
    struct row_store rows = {0};
    struct witness w;
    inputs_end = UINT32_MAX;
    const struct gadget_counts counts = run_structure(&rows, body, ctx);
    const uint32_t structure_inputs_end = inputs_end;
    struct r1cs *const r = record(body, ctx);
    run_witness(&w, &counts, body, ctx);
    assert_int_equal(inputs_end, structure_inputs_end);
    fr *const aux = expand(&w, r);
    assert_int_equal(first_bad_row(&rows, w.inputs, aux, NULL), rows.n_rows);
    check_determined(&rows, w.inputs, aux, inputs_end, counts.n_aux);
    free(aux);
    r1cs_destroy(r);
    witness_destroy(&w);
    free(rows.terms);
    free(rows.counts);
    return counts;
}

static void count_row(void *ctx, const struct row_lc abc[3]) {
    (void)abc;
    ++*(uint64_t *)ctx;
}

struct gadget_counts gadget_count(gadget_body body, void *ctx) {
    struct cs *cs;
    uint64_t n_rows = 0;
    const struct row_sink sink = {count_row, &n_rows};
    assert_int_equal(cs_create_flat(&cs, &sink, NULL), CUZK_OK);
    body(cs, ctx);
    const struct cs_position p = cs_position_of(cs);
    const struct gadget_counts counts = {p.n_inputs, p.n_aux, p.n_elements, n_rows};
    cs_destroy(cs);
    return counts;
}

struct gadget_counts gadget_check_recorded(gadget_body body, void *ctx) {
    struct witness w;
    const struct gadget_counts counts = gadget_count(body, ctx);
    struct r1cs *const r = record(body, ctx);
    run_witness(&w, &counts, body, ctx);
    assert_int_equal(r1cs_check(r, &w, NULL, NULL, NULL), CUZK_OK);
    r1cs_destroy(r);
    witness_destroy(&w);
    return counts;
}

uint64_t test_random(uint64_t *state) {
    /* splitmix64 */
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
