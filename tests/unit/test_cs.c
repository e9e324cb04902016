/*
 * The constraint-system interface: bit cursor, forks, counts, linear combinations, paths, and what
 * the recorder does with a circuit that contradicts itself.
 */
#include "test_main.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "r1cs_digest.h"
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_writer),
        cmocka_unit_test(forks),
        cmocka_unit_test(wrong_counts),
        cmocka_unit_test(rows_are_merged_and_sorted),
        cmocka_unit_test(same_variable_at_two_ports),
        cmocka_unit_test(re_recording_finds_an_incomplete_key),
        cmocka_unit_test(abandoned_recorder),
        cmocka_unit_test(empty_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
