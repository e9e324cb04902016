/* Set-up, prover and verifier on small circuits. */
#include <pthread.h>
#include <unistd.h>

#include "test_main.h"

#include "file.h"
#include "pool.h"
#include "progress_testing.h"
#include "prover.h"
#include "setup.h"
#include "tiny_circuit.h"
#include "verifier.h"

/* Circuits of these sizes: planes of one word, of several, with and without a partly filled one. */
static const unsigned sizes[] = {1, 3, 31, 64, 130, TINY_MAX_BITS};
enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

static char folder[] = "/tmp/cuzk-test-groth16-XXXXXX";
static struct pool *pool;

/* One circuit with its development parameters, loaded. */
struct fixture {
    unsigned n_bits;
    struct r1cs *r1cs;
    struct srs *srs;
    struct prover_key *key;
};

static void path_of(char *out, size_t bytes, const char *name) {
    snprintf(out, bytes, "%s/%s", folder, name);
}

static void fixture_init(struct fixture *f, unsigned n_bits) {
    char params[256], vk[256], stamp[300];
    struct cuzk_error err;
    path_of(params, sizeof params, "tiny.dev.params");
    path_of(vk, sizeof vk, "tiny.dev.vk");
    snprintf(stamp, sizeof stamp, "%s.stamp", params);
    *f = (struct fixture){.n_bits = n_bits, .r1cs = tiny_circuit(n_bits)};
    const struct setup_options setup_options = {.seeded = true, .seed = n_bits, .pool = pool};
    cuzk_status s = setup_write(params, vk, f->r1cs, &setup_options, &err);
    if (s != CUZK_OK) fail_msg("set-up: %s: %s", err.where, err.what);
    struct r1cs_stats stats;
    assert_int_equal(r1cs_get_stats(f->r1cs, &stats, NULL, NULL), CUZK_OK);
    const struct srs_options options = {.circuit = &stats, .pool = pool, .ignore_stamp = true};
    s = srs_load(&f->srs, params, &options, &err);
    if (s != CUZK_OK) fail_msg("loading: %s: %s", err.where, err.what);
    assert_int_equal(prover_key_create(&f->key, f->srs, f->r1cs, &backend_cpu, pool, NULL),
                     CUZK_OK);
    unlink(params);
    unlink(vk);
    unlink(stamp);
}

static void fixture_deinit(struct fixture *f) {
    prover_key_destroy(f->key);
    srs_destroy(f->srs);
    r1cs_destroy(f->r1cs);
}

static void prove(uint8_t proof[PROOF_BYTES], const struct fixture *f, const struct witness *w,
                  const struct prover_options *options) {
    struct pending_proof *pending;
    struct prover_timings t;
    assert_int_equal(prover_start(&pending, f->key, w, options, &t, NULL), CUZK_OK);
    assert_int_equal(prover_finish(proof, pending, options, &t, NULL), CUZK_OK);
    pending_proof_destroy(pending);
    assert_true(t.start >= t.evaluate + t.transform + t.msm_h + t.msm_l + t.msm_a + t.msm_b_g1);
    assert_true(t.finish >= t.msm_b_g2 && t.msm_b_g2 > 0);
}

static cuzk_status verify(const struct fixture *f, const struct witness *w,
                          const uint8_t proof[PROOF_BYTES]) {
    return groth16_verify(&f->srs->vk, w->inputs + 1, w->n_inputs - 1, proof, pool, NULL);
}

static void proofs_verify(void **state) {
    (void)state;
    for (size_t i = 0; i < N_SIZES; i++) {
        struct fixture f;
        struct witness w;
        fixture_init(&f, sizes[i]);
        tiny_witness(&w, f.r1cs, f.n_bits, 17 + i);
        assert_int_equal(r1cs_check(f.r1cs, &w, pool, NULL, NULL), CUZK_OK);
        const struct prover_options options = {.pool = pool};
        uint8_t proof[PROOF_BYTES];
        prove(proof, &f, &w, &options);
        assert_int_equal(verify(&f, &w, proof), CUZK_OK);
        witness_destroy(&w);
        fixture_deinit(&f);
    }
}

static void wrong_statements_are_rejected(void **state) {
    const struct fixture *f = *state;
    struct witness w;
    tiny_witness(&w, f->r1cs, f->n_bits, 5);
    const struct prover_options options = {.pool = pool};
    uint8_t proof[PROOF_BYTES];
    prove(proof, f, &w, &options);
    for (uint32_t i = 1; i < w.n_inputs; i++) {
        const fr right = w.inputs[i];
        fr_add(&w.inputs[i], &w.inputs[i], &fr_one);
        assert_int_equal(verify(f, &w, proof), CUZK_PROOF_INVALID);
        w.inputs[i] = right;
    }
    assert_int_equal(groth16_verify(&f->srs->vk, w.inputs + 1, w.n_inputs, proof, pool, NULL),
                     CUZK_PARAM_CIRCUIT);
    assert_int_equal(groth16_verify(&f->srs->vk, w.inputs + 1, 0, proof, pool, NULL),
                     CUZK_PARAM_CIRCUIT);
    assert_int_equal(verify(f, &w, proof), CUZK_OK);
    witness_destroy(&w);
}

static void unsatisfied_witnesses_prove_nothing(void **state) {
    const struct fixture *f = *state;
    const struct prover_options options = {.pool = pool};
    uint8_t proof[PROOF_BYTES];
    struct witness w;
    tiny_witness(&w, f->r1cs, f->n_bits, 6);
    const uint32_t element = w.n_elements / 2;
    const fr right = w.elements[element];
    fr_add(&w.elements[element], &w.elements[element], &fr_one);
    prove(proof, f, &w, &options);
    assert_int_equal(verify(f, &w, proof), CUZK_PROOF_INVALID);
    w.elements[element] = right;
    w.values[0] ^= 2; /* aux 1 is the first bit */
    prove(proof, f, &w, &options);
    assert_int_equal(verify(f, &w, proof), CUZK_PROOF_INVALID);
    witness_destroy(&w);
}

static void every_changed_byte_is_noticed(void **state) {
    const struct fixture *f = *state;
    struct witness w;
    tiny_witness(&w, f->r1cs, f->n_bits, 7);
    const struct prover_options options = {.pool = pool};
    uint8_t proof[PROOF_BYTES];
    prove(proof, f, &w, &options);
    size_t n_encoding = 0;
    for (size_t i = 0; i < PROOF_BYTES; i++) {
        proof[i] ^= (uint8_t)(1 << i % 8);
        const cuzk_status s = verify(f, &w, proof);
        if (s != CUZK_PROOF_INVALID && s != CUZK_PROOF_ENCODING)
            fail_msg("byte %zu: status %d", i, (int)s);
        n_encoding += s == CUZK_PROOF_ENCODING;
        proof[i] ^= (uint8_t)(1 << i % 8);
    }
    assert_true(n_encoding > PROOF_BYTES / 2);
    assert_int_equal(verify(f, &w, proof), CUZK_OK);
    witness_destroy(&w);
}

static void parts_at_infinity_are_no_proof(void **state) {
    const struct fixture *f = *state;
    static const size_t offset[] = {0, 48, 144}, bytes[] = {48, 96, 48};
    struct witness w;
    tiny_witness(&w, f->r1cs, f->n_bits, 8);
    const struct prover_options options = {.pool = pool};
    uint8_t proof[PROOF_BYTES], changed[PROOF_BYTES];
    prove(proof, f, &w, &options);
    for (int part = 0; part < 3; part++) {
        memcpy(changed, proof, sizeof proof);
        memset(changed + offset[part], 0, bytes[part]);
        changed[offset[part]] = 0xc0;
        assert_int_equal(verify(f, &w, changed), CUZK_PROOF_ENCODING);
        /* The negative of a part: a group element, but another one. */
        memcpy(changed, proof, sizeof proof);
        changed[offset[part]] ^= 0x20;
        assert_int_equal(verify(f, &w, changed), CUZK_PROOF_INVALID);
    }
    witness_destroy(&w);
}

static void blinding_hides_and_is_reproducible(void **state) {
    const struct fixture *f = *state;
    struct witness w;
    tiny_witness(&w, f->r1cs, f->n_bits, 9);
    const struct prover_options fresh = {.pool = pool};
    uint8_t one[PROOF_BYTES], two[PROOF_BYTES];
    prove(one, f, &w, &fresh);
    prove(two, f, &w, &fresh);
    for (size_t part = 0; part < 4; part++) /* A, both halves of B, C */
        assert_memory_not_equal(one + 48 * part, two + 48 * part, 48);
    assert_int_equal(verify(f, &w, one), CUZK_OK);
    assert_int_equal(verify(f, &w, two), CUZK_OK);
    fr r, s;
    fr_from_u64(&r, 7);
    fr_from_u64(&s, 11);
    uint8_t first[PROOF_BYTES];
    for (unsigned threads = 0; threads <= 3; threads++) { /* 0: no pool at all */
        struct pool *other = NULL;
        if (threads > 0) assert_int_equal(pool_create(&other, threads, NULL), CUZK_OK);
        const struct prover_options fixed = {.pool = other, .fixed_r = &r, .fixed_s = &s};
        prove(one, f, &w, &fixed);
        pool_destroy(other);
        if (threads == 0) memcpy(first, one, sizeof first);
        assert_memory_equal(first, one, sizeof first);
    }
    assert_int_equal(verify(f, &w, first), CUZK_OK);
    witness_destroy(&w);
}

struct finisher {
    const struct pending_proof *pending;
    uint8_t proof[PROOF_BYTES];
    cuzk_status status;
};

static void *finish_elsewhere(void *arg) {
    struct finisher *job = arg;
    const struct prover_options options = {0};
    job->status = prover_finish(job->proof, job->pending, &options, NULL, NULL);
    return NULL;
}

struct prover_job {
    const struct fixture *f;
    const struct witness *w;
    struct prover_options options;
    uint8_t proof[PROOF_BYTES];
    cuzk_status status;
};

static void *prove_elsewhere(void *arg) {
    struct prover_job *job = arg;
    struct pending_proof *pending;
    job->status = prover_start(&pending, job->f->key, job->w, &job->options, NULL, NULL);
    if (job->status != CUZK_OK) return NULL;
    job->status = prover_finish(job->proof, pending, &job->options, NULL, NULL);
    pending_proof_destroy(pending);
    return NULL;
}

/* One key serves several proofs at once; each has a pool of its own, or none. */
static void proofs_may_run_side_by_side(void **state) {
    const struct fixture *f = *state;
    enum { N = 3 };
    struct witness w[N];
    struct prover_job job[N];
    pthread_t thread[N];
    fr r, s;
    fr_from_u64(&r, 21);
    fr_from_u64(&s, 22);
    for (size_t i = 0; i < N; i++) {
        tiny_witness(&w[i], f->r1cs, f->n_bits, 100 + i);
        job[i] = (struct prover_job){.f = f, .w = &w[i], .options = {.fixed_r = &r, .fixed_s = &s}};
        assert_int_equal(pthread_create(&thread[i], NULL, prove_elsewhere, &job[i]), 0);
    }
    for (size_t i = 0; i < N; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (size_t i = 0; i < N; i++) {
        uint8_t alone[PROOF_BYTES];
        assert_int_equal(job[i].status, CUZK_OK);
        prove(alone, f, &w[i], &job[i].options);
        assert_memory_equal(job[i].proof, alone, sizeof alone);
        assert_int_equal(verify(f, &w[i], alone), CUZK_OK);
        if (i > 0) assert_memory_not_equal(job[i].proof, job[0].proof, sizeof alone);
        witness_destroy(&w[i]);
    }
}

static void pending_proof_holds_what_finish_reads(void **state) {
    const struct fixture *f = *state;
    struct witness w;
    struct peak_watch watch;
    peak_watch_init(&watch);
    const size_t total = mem_in_use_total(), other = mem_in_use(MEM_OTHER);
    tiny_witness(&w, f->r1cs, f->n_bits, 10);
    const struct prover_options options = {.pool = pool, .progress = &watch.progress};
    const struct prover_plan plan = prover_plan(f->key, pool_threads(pool));
    struct pending_proof *pending;
    assert_int_equal(prover_start(&pending, f->key, &w, &options, NULL, NULL), CUZK_OK);
    witness_destroy(&w); /* nothing of it is needed any more */
    assert_int_equal(mem_in_use(MEM_ABC), 0);
    assert_int_equal(mem_in_use(MEM_WITNESS), 0);
    assert_int_equal(mem_high_water(MEM_ABC), 2 * block_bytes(plan.abc_bytes / 2));
    assert_int_equal(watch.other - other, block_bytes(plan.start_scratch_bytes));
    /* The query's scalars, and its bits with the word that packing them needs. */
    const struct query *b = &f->key->b;
    const size_t read = (b->n_inputs + b->n_elements) * 32u + ((b->n_aux + 63) / 64 + 1) * 8u;
    /* Beside them two points (192 bytes), a scalar (32), and where all that is. */
    const size_t fixed = plan.pending_bytes - read;
    assert_in_range(fixed, 192 + 32, 192 + 32 + 80);
    assert_int_equal(pending_proof_bytes(pending), fixed + block_bytes(read));
    assert_int_equal(mem_in_use(MEM_PENDING), block_bytes(read));
    assert_int_equal(mem_in_use_total(), total + block_bytes(read)); /* no class holds more */
    struct finisher job = {.pending = pending};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, finish_elsewhere, &job), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(job.status, CUZK_OK);
    pending_proof_destroy(pending);
    assert_int_equal(mem_in_use(MEM_PENDING), 0);
    tiny_witness(&w, f->r1cs, f->n_bits, 10);
    assert_int_equal(verify(f, &w, job.proof), CUZK_OK);
    witness_destroy(&w);
}

/* Whatever the stage at which it is cancelled. */
static void a_cancelled_proof_leaves_nothing(void **state) {
    const struct fixture *f = *state;
    struct witness w;
    tiny_witness(&w, f->r1cs, f->n_bits, 11);
    struct cancel_after watch;
    const struct prover_options options = {.pool = pool, .progress = &watch.progress};
    const size_t before = mem_in_use_total();
    struct pending_proof *pending = NULL;
    struct cuzk_error err;
    unsigned stages = 0;
    for (; pending == NULL; stages++) {
        cancel_after_init(&watch, stages);
        const cuzk_status s = prover_start(&pending, f->key, &w, &options, NULL, &err);
        if (s == CUZK_OK) break;
        assert_int_equal(s, CUZK_CANCELLED);
        assert_null(pending);
        assert_int_equal(mem_in_use_total(), before);
    }
    assert_in_range(stages, 4, 20);
    const size_t held = mem_in_use_total();
    uint8_t proof[PROOF_BYTES];
    for (unsigned reports = 0; reports < 2; reports++) {
        cancel_after_init(&watch, reports);
        assert_int_equal(prover_finish(proof, pending, &options, NULL, &err), CUZK_CANCELLED);
        assert_int_equal(mem_in_use_total(), held);
    }
    cancel_after_init(&watch, 2);
    assert_int_equal(prover_finish(proof, pending, &options, NULL, &err), CUZK_OK);
    assert_int_equal(verify(f, &w, proof), CUZK_OK);
    pending_proof_destroy(pending);
    assert_int_equal(mem_in_use_total(), before);
    witness_destroy(&w);
}

static void the_counts_alone_bound_the_plan(void **state) {
    const struct fixture *f = *state;
    for (unsigned threads = 0; threads < 5; threads++) {
        const struct prover_plan exact = prover_plan(f->key, threads);
        const struct prover_plan bound = prover_plan_bound(&f->key->stats, &backend_cpu, threads);
        assert_int_equal(bound.abc_bytes, exact.abc_bytes);
        assert_in_range(bound.start_scratch_bytes, exact.start_scratch_bytes,
                        2 * exact.start_scratch_bytes);
        assert_in_range(bound.pending_bytes, exact.pending_bytes, 2 * exact.pending_bytes);
        assert_in_range(bound.finish_scratch_bytes, exact.finish_scratch_bytes,
                        2 * exact.finish_scratch_bytes);
    }
}

static void a_key_keeps_to_its_memory(void **state) {
    const struct fixture *f = *state;
    const size_t before = mem_in_use_total();
    const size_t plan = prover_key_bytes(&f->key->stats, &backend_cpu);
    struct prover_key *key;
    assert_int_equal(prover_key_create(&key, f->srs, f->r1cs, &backend_cpu, pool, NULL), CUZK_OK);
    /* Three blocks; the plan is a bound, and not twice too high. */
    assert_in_range(mem_in_use_total() - before, plan / 2, plan + (size_t)3 * 4096);
    prover_key_destroy(key);
    assert_int_equal(mem_in_use_total(), before);
}

static void multiple_g1(g1_affine *out, const fr *k) {
    g1 p;
    g1_from_affine(&p, &g1_generator);
    g1_mul(&p, &p, k);
    g1_to_affine(out, &p);
}

static void multiple_g2(g2_affine *out, const fr *k) {
    g2 p;
    g2_from_affine(&p, &g2_generator);
    g2_mul(&p, &p, k);
    g2_to_affine(out, &p);
}

enum { MANY_INPUTS = 300 };

/* A key whose secrets are known, and the proof that they make for any inputs:
 * c = (a b - alpha beta - gamma sum of inputs) / delta. */
static void forge(struct vkey *vk, uint8_t proof[PROOF_BYTES], const fr *inputs, size_t n) {
    enum { ALPHA, BETA, GAMMA, DELTA, A, B, IC };
    static const uint8_t seed[32] = "test_groth16";
    fr k[IC + 1 + MANY_INPUTS], c, t;
    for (size_t i = 0; i < IC + 1 + n; i++)
        fr_from_seed(&k[i], seed, i);
    multiple_g1(&vk->alpha_g1, &k[ALPHA]);
    multiple_g2(&vk->beta_g2, &k[BETA]);
    multiple_g2(&vk->gamma_g2, &k[GAMMA]);
    multiple_g2(&vk->delta_g2, &k[DELTA]);
    vk->n_ic = (uint32_t)n + 1;
    fr sum = k[IC];
    multiple_g1(&vk->ic[0], &k[IC]);
    for (size_t i = 0; i < n; i++) {
        multiple_g1(&vk->ic[i + 1], &k[IC + 1 + i]);
        fr_mul(&t, &inputs[i], &k[IC + 1 + i]);
        fr_add(&sum, &sum, &t);
    }
    fr_mul(&c, &k[A], &k[B]);
    fr_mul(&t, &k[ALPHA], &k[BETA]);
    fr_sub(&c, &c, &t);
    fr_mul(&t, &k[GAMMA], &sum);
    fr_sub(&c, &c, &t);
    fr_inv_var(&t, &k[DELTA]);
    fr_mul(&c, &c, &t);
    g1_affine p;
    g2_affine q;
    multiple_g1(&p, &k[A]);
    g1_compress(proof, &p);
    multiple_g2(&q, &k[B]);
    g2_compress(proof + 48, &q);
    multiple_g1(&p, &c);
    g1_compress(proof + 144, &p);
}

/* Few inputs are multiplied one by one, many (the large PoReps have more than 48) in buckets. */
static void any_number_of_inputs_is_verified(void **state) {
    (void)state;
    static const size_t counts[] = {0, 1, 48, 49, MANY_INPUTS};
    static g1_affine ic[MANY_INPUTS + 1];
    static const uint8_t seed[32] = "inputs";
    const size_t before = mem_in_use_total();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const size_t n = counts[i];
        struct vkey vk = {.ic = ic};
        uint8_t proof[PROOF_BYTES];
        fr inputs[MANY_INPUTS];
        for (size_t k = 0; k < n; k++)
            fr_from_seed(&inputs[k], seed, k);
        if (n > 1) inputs[n / 2] = fr_zero;
        forge(&vk, proof, inputs, n);
        assert_int_equal(groth16_verify(&vk, inputs, n, proof, pool, NULL), CUZK_OK);
        assert_int_equal(groth16_verify(&vk, inputs, n, proof, NULL, NULL), CUZK_OK);
        for (size_t k = 0; k < n; k += 1 + n / 3) {
            fr_add(&inputs[k], &inputs[k], &fr_one);
            assert_int_equal(groth16_verify(&vk, inputs, n, proof, pool, NULL), CUZK_PROOF_INVALID);
            fr_sub(&inputs[k], &inputs[k], &fr_one);
        }
        assert_int_equal(mem_in_use_total(), before);
    }
}

static void parameters_of_another_circuit_make_no_key(void **state) {
    const struct fixture *f = *state;
    struct r1cs *other = tiny_circuit(f->n_bits + 1);
    struct prover_key *key;
    struct cuzk_error err;
    assert_int_equal(prover_key_create(&key, f->srs, other, &backend_cpu, pool, &err),
                     CUZK_PARAM_CIRCUIT);
    assert_null(key);
    r1cs_destroy(other);
}

static void a_witness_of_another_circuit_is_refused(void **state) {
    const struct fixture *f = *state;
    struct r1cs *other = tiny_circuit(f->n_bits + 1);
    struct witness w;
    tiny_witness(&w, other, f->n_bits + 1, 1);
    const struct prover_options options = {.pool = pool};
    struct pending_proof *pending;
    assert_int_equal(prover_start(&pending, f->key, &w, &options, NULL, NULL), CUZK_INTERNAL);
    witness_destroy(&w);
    r1cs_destroy(other);
}

static int group_setup(void **state) {
    static struct fixture f;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(pool_create(&pool, 2, NULL), CUZK_OK);
    fixture_init(&f, 70);
    *state = &f;
    return 0;
}

static int group_teardown(void **state) {
    fixture_deinit(*state);
    pool_destroy(pool);
    assert_int_equal(rmdir(folder), 0); /* nothing was left in it */
    assert_int_equal(mem_in_use_total(), 0);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pending_proof_holds_what_finish_reads),
        cmocka_unit_test(proofs_verify),
        cmocka_unit_test(wrong_statements_are_rejected),
        cmocka_unit_test(unsatisfied_witnesses_prove_nothing),
        cmocka_unit_test(every_changed_byte_is_noticed),
        cmocka_unit_test(parts_at_infinity_are_no_proof),
        cmocka_unit_test(blinding_hides_and_is_reproducible),
        cmocka_unit_test(proofs_may_run_side_by_side),
        cmocka_unit_test(a_cancelled_proof_leaves_nothing),
        cmocka_unit_test(the_counts_alone_bound_the_plan),
        cmocka_unit_test(a_key_keeps_to_its_memory),
        cmocka_unit_test(any_number_of_inputs_is_verified),
        cmocka_unit_test(parameters_of_another_circuit_make_no_key),
        cmocka_unit_test(a_witness_of_another_circuit_is_refused),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
