/*
 * The constraint-system interface: bit cursor, forks, counts, linear combinations.
 */
#include "test_main.h"

#include <pthread.h>

#include "toy_circuit.h"

/* ---- witness writers ---- */

/* A random list of allocations, with the position before each. */
enum { N_STEPS = 4000, N_THREADS = 4 };
struct step {
    unsigned n_bits; /* 65: a number; 66: an input */
    uint64_t value;
    struct cs_position at;
};
struct plan {
    struct step steps[N_STEPS];
    struct cs_position end;
};

static void make_plan(struct plan *p, uint64_t seed) {
    struct toy_random r = {seed};
    struct cs_position at = {.n_inputs = 1};
    for (int i = 0; i < N_STEPS; i++) {
        struct step *s = &p->steps[i];
        s->at = at;
        s->value = toy_next(&r);
        s->n_bits = toy_below(&r, 67);
        if (toy_below(&r, 3) == 0) s->n_bits = toy_below(&r, 2) == 0 ? 64 : 1;
        if (s->n_bits < 64) s->value &= (UINT64_C(1) << s->n_bits) - 1;
        at.n_inputs += s->n_bits == 66;
        at.n_elements += s->n_bits == 65;
        at.n_aux += s->n_bits == 65 ? 1 : s->n_bits == 66 ? 0 : s->n_bits;
    }
    p->end = at;
}

static void write_steps(struct cs *cs, const struct plan *p, int from, int to) {
    for (int i = from; i < to; i++) {
        const struct step *s = &p->steps[i];
        fr value;
        fr_from_u64(&value, s->value);
        if (s->n_bits == 66)
            cs_alloc_input(cs, &value);
        else if (s->n_bits == 65)
            cs_alloc_num(cs, &value);
        else
            cs_alloc_bits(cs, s->value, s->n_bits);
    }
}

/* Bit by bit, without the cursor. */
static void write_naively(struct witness *w, const struct plan *p) {
    for (int i = 0; i < N_STEPS; i++) {
        const struct step *s = &p->steps[i];
        if (s->n_bits == 66)
            fr_from_u64(&w->inputs[s->at.n_inputs], s->value);
        else if (s->n_bits == 65)
            fr_from_u64(&w->elements[s->at.n_elements], s->value);
        for (unsigned b = 0; s->n_bits < 65 && b < s->n_bits; b++) {
            const uint32_t at = s->at.n_aux + b;
            w->values[at / 64] |= (s->value >> b & 1) << at % 64;
        }
    }
}

static void create(struct witness *w, const struct plan *p) {
    assert_int_equal(witness_create(w, p->end.n_inputs, p->end.n_aux, p->end.n_elements, NULL),
                     CUZK_OK);
}

static void assert_same_witness(const struct witness *a, const struct witness *b) {
    assert_memory_equal(a->values, b->values, ((size_t)a->n_aux / 64 + 2) * 8);
    assert_memory_equal(a->elements, b->elements, a->n_elements * sizeof(fr));
    assert_memory_equal(a->inputs, b->inputs, a->n_inputs * sizeof(fr));
}

static void one_writer(void **state) {
    (void)state;
    static struct plan p;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct witness want, got;
        struct cs *cs;
        make_plan(&p, seed);
        create(&want, &p);
        create(&got, &p);
        write_naively(&want, &p);
        assert_int_equal(cs_create_witness(&cs, &got, NULL), CUZK_OK);
        assert_false(cs_has_rows(cs));
        write_steps(cs, &p, 0, N_STEPS / 2);
        const struct cs_position at = cs_position_of(cs);
        assert_memory_equal(&at, &p.steps[N_STEPS / 2].at, sizeof at);
        write_steps(cs, &p, N_STEPS / 2, N_STEPS);
        assert_int_equal(cs_finish(cs, NULL, NULL), CUZK_OK);
        cs_destroy(cs);
        assert_same_witness(&got, &want);
        witness_destroy(&want);
        witness_destroy(&got);
    }
}

/* Each thread writes every N_THREADS-th piece of a few steps, so that pieces meet within words. */
struct writer {
    struct witness *w;
    const struct plan *p;
    int first;
    cuzk_status status;
};

static void *write_pieces(void *ctx) {
    struct writer *job = ctx;
    enum { PIECE = 5 };
    for (int i = job->first * PIECE; i < N_STEPS; i += N_THREADS * PIECE) {
        struct cs *cs;
        job->status = cs_fork_witness(&cs, job->w, job->p->steps[i].at, NULL);
        if (job->status != CUZK_OK) return NULL;
        write_steps(cs, job->p, i, i + PIECE < N_STEPS ? i + PIECE : N_STEPS);
        job->status = cs_finish(cs, NULL, NULL);
        cs_destroy(cs);
        if (job->status != CUZK_OK) return NULL;
    }
    return NULL;
}

static void forks(void **state) {
    (void)state;
    static struct plan p;
    for (uint64_t seed = 100; seed <= 105; seed++) {
        struct witness want, got;
        struct writer jobs[N_THREADS];
        pthread_t threads[N_THREADS];
        make_plan(&p, seed);
        create(&want, &p);
        create(&got, &p);
        write_naively(&want, &p);
        for (int t = 0; t < N_THREADS; t++) {
            jobs[t] = (struct writer){.w = &got, .p = &p, .first = t};
            assert_int_equal(pthread_create(&threads[t], NULL, write_pieces, &jobs[t]), 0);
        }
        for (int t = 0; t < N_THREADS; t++) {
            pthread_join(threads[t], NULL);
            assert_int_equal(jobs[t].status, CUZK_OK);
        }
        assert_same_witness(&got, &want);
        witness_destroy(&want);
        witness_destroy(&got);
    }
}

/* A circuit that allocates other than the witness was made for: an error, nothing overwritten. */
static void wrong_counts(void **state) {
    (void)state;
    const struct {
        unsigned bits, nums, inputs;
        cuzk_status want;
    } cases[] = {
        {128, 1, 1, CUZK_OK},       {127, 1, 1, CUZK_INTERNAL}, {129, 1, 1, CUZK_INTERNAL},
        {128, 0, 1, CUZK_INTERNAL}, {128, 2, 1, CUZK_INTERNAL}, {128, 1, 0, CUZK_INTERNAL},
        {128, 1, 2, CUZK_INTERNAL}, {900, 1, 1, CUZK_INTERNAL}, {0, 0, 0, CUZK_INTERNAL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct witness w;
        struct cs *cs;
        assert_int_equal(witness_create(&w, 2, 129, 1, NULL), CUZK_OK);
        assert_int_equal(cs_create_witness(&cs, &w, NULL), CUZK_OK);
        for (unsigned b = 0; b < cases[i].bits; b++)
            cs_alloc_bits(cs, 1, 1);
        for (unsigned b = 0; b < cases[i].nums; b++)
            cs_alloc_num(cs, &fr_one);
        for (unsigned b = 0; b < cases[i].inputs; b++)
            cs_alloc_input(cs, &fr_one);
        assert_int_equal(cs_finish(cs, NULL, NULL), cases[i].want);
        cs_destroy(cs);
        witness_destroy(&w);
    }
}

/* ---- linear combinations ---- */

struct last_row {
    struct lc_term terms[3][8];
    uint32_t n[3];
    unsigned n_rows;
};
static void keep_row(void *ctx, const struct row_lc abc[3]) {
    struct last_row *last = ctx;
    for (int m = 0; m < 3; m++) {
        assert_true(abc[m].n <= 8);
        last->n[m] = abc[m].n;
        memcpy(last->terms[m], abc[m].terms, abc[m].n * sizeof *abc[m].terms);
    }
    last->n_rows++;
}

static void assert_term(const struct lc_term *t, var v, int64_t c) {
    fr want;
    fr_from_u64(&want, (uint64_t)(c < 0 ? -c : c));
    if (c < 0) fr_neg(&want, &want);
    assert_int_equal(t->v.id, v.id);
    assert_true(fr_equal(&t->c, &want));
}

static void rows_are_merged_and_sorted(void **state) {
    (void)state;
    struct last_row last = {0};
    const struct row_sink sink = {keep_row, &last};
    struct cs *cs;
    struct lc a = {0}, b = {0}, c = {0};
    fr three;
    fr_from_u64(&three, 3);
    assert_int_equal(cs_create_flat(&cs, &sink, NULL), CUZK_OK);
    assert_true(cs_has_rows(cs));
    const var x = cs_alloc_num(cs, &fr_zero), input = cs_alloc_input(cs, &fr_zero);
    const var y = cs_alloc_bits(cs, 0, 3);
    lc_add(&a, y, &three);
    lc_add_var(&a, x);
    lc_add_var(&a, input);
    lc_sub_var(&a, y);
    lc_add_var(&a, VAR_ONE);
    lc_add_lc(&b, &a, &three); /* 3 + 3 input + 3 x + 6 y */
    lc_add_var(&c, x);
    lc_sub_var(&c, x);
    lc_add_lc(&c, &c, &fr_one); /* its own terms once more: still nothing */
    lc_add(&c, y, &fr_zero);
    cs_enforce(cs, &a, &b, &c);
    assert_int_equal(last.n_rows, 1);
    assert_int_equal(last.n[0], 4);
    assert_term(&last.terms[0][0], VAR_ONE, 1);
    assert_term(&last.terms[0][1], input, 1);
    assert_term(&last.terms[0][2], x, 1);
    assert_term(&last.terms[0][3], y, 2);
    assert_int_equal(last.n[1], 4);
    assert_term(&last.terms[1][3], y, 6);
    assert_int_equal(last.n[2], 0);
    assert_int_equal(cs_finish(cs, NULL, NULL), CUZK_OK);
    assert_int_equal(last.n_rows, 3); /* one more for ONE and for the input */
    assert_int_equal(last.n[0], 1);
    assert_term(&last.terms[0][0], input, 1);
    cs_destroy(cs);
    lc_free(&a);
    lc_free(&b);
    lc_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_writer),
        cmocka_unit_test(forks),
        cmocka_unit_test(wrong_counts),
        cmocka_unit_test(rows_are_merged_and_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
