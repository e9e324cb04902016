#include "prover.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "bit_plane.h"
#include "clock.h"
#include "groth16_common.h"
#include "ntt.h"
#include "prover_sums.h"

/*
 * What finish reads. A is complete; C too, since only B is still to be made in G2:
 *     A = alpha + r delta + sum a        B = beta + s delta + sum b
 *     C = s A' + r B' + rs delta + sum h + sum l      with A' = alpha + sum a, B' = beta + sum b
 */
struct pending_proof {
    const struct prover_key *key;
    g1_affine a;
    g1_affine c;
    fr s;
    struct selection b;
    struct mem_block block; /* owns b's arrays, class MEM_PENDING */
};

static size_t domain_bytes(const struct prover_key *key) {
    return sizeof(fr) << key->log_n;
}

/* Start's scratch: what the queries l and a select from the witness, then the scratch of a sum. */
static size_t selections_bytes(const struct query *a, size_t n_elements) {
    return align64(larger(selection_bytes(a), n_elements * sizeof(fr_words)));
}

/* What a plan depends on. */
struct plan_counts {
    const struct backend *backend;
    unsigned log_n;
    size_t n_elements;
    const struct query *a, *b; /* their counts only */
};

static struct prover_plan plan_of(const struct plan_counts *c, unsigned threads) {
    const struct backend *be = c->backend;
    const size_t n_a = (size_t)c->a->n_inputs + c->a->n_elements;
    const size_t n_b = (size_t)c->b->n_inputs + c->b->n_elements;
    if (threads == 0) threads = 1;
    size_t sums = be->plan_g1(((size_t)1 << c->log_n) - 1, threads).scratch_bytes;
    sums = larger(sums, sum_scratch_bytes_g1(be, c->n_elements, threads));
    sums = larger(sums, sum_scratch_bytes_g1(be, n_a, threads));
    sums = larger(sums, sum_scratch_bytes_g1(be, n_b, threads));
    return (struct prover_plan){
        .abc_bytes = 2 * (sizeof(fr) << c->log_n),
        .start_scratch_bytes = selections_bytes(c->a, c->n_elements) + sums,
        .pending_bytes = sizeof(struct pending_proof) + selection_bytes(c->b),
        .finish_scratch_bytes = sum_scratch_bytes_g2(be, n_b, threads),
    };
}

struct prover_plan prover_plan(const struct prover_key *key, unsigned threads) {
    const struct plan_counts counts = {
        key->backend, key->log_n, key->stats.n_elements, &key->a, &key->b,
    };
    return plan_of(&counts, threads);
}

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

struct prover_plan prover_plan_bound(const struct r1cs_stats *stats, const struct backend *backend,
                                     unsigned threads) {
    const struct query a = {
        .n_inputs = stats->n_inputs,
        .n_aux = stats->a_aux_density,
        .n_elements = smaller(stats->n_elements, stats->a_aux_density),
    };
    const struct query b = {
        .n_inputs = stats->b_input_density,
        .n_aux = stats->b_aux_density,
        .n_elements = smaller(stats->n_elements, stats->b_aux_density),
    };
    const struct plan_counts counts = {
        backend, ntt_log2_ceil(stats->n_rows), stats->n_elements, &a, &b,
    };
    return plan_of(&counts, threads);
}

/* ---- start ---- */

struct start {
    const struct prover_key *key;
    const struct witness *witness;
    const struct prover_options *options;
    struct prover_timings timings;
    struct mem_block a, b, scratch;
    g1 h, l, sum_a, sum_b;
};

static cuzk_status stage(const struct prover_options *options, unsigned percent,
                         struct cuzk_error *err) {
    progress_report(options->progress, "prove", percent, 100);
    if (progress_cancelled(options->progress))
        return error_set(err, CUZK_CANCELLED, NULL, NULL, "the proof was cancelled");
    return CUZK_OK;
}

/*
 * h = (a b - c) / Z, with two vectors and six transforms. On the coset g w^j, Z is the constant
 * g^n - 1, so it is enough to subtract c as coefficients, after the product has come back from the
 * coset: C w is evaluated into the second vector only then.
 */
static void make_h(struct start *s) {
    const struct prover_key *key = s->key;
    const struct backend *be = key->backend;
    struct pool *pool = s->options->pool;
    const size_t n = (size_t)1 << key->log_n;
    fr *a = s->a.ptr, *b = s->b.ptr;
    uint64_t t = clock_ns();
    r1cs_evaluate(key->r1cs, s->witness, a, b, NULL, pool);
    s->timings.evaluate = clock_seconds_since(t);
    t = clock_ns();
    be->transform(key->domain, TRANSFORM_INVERSE, a, pool);
    be->transform(key->domain, TRANSFORM_COSET_FORWARD, a, pool);
    be->transform(key->domain, TRANSFORM_INVERSE, b, pool);
    be->transform(key->domain, TRANSFORM_COSET_FORWARD, b, pool);
    be->multiply(a, b, n, pool);
    be->transform(key->domain, TRANSFORM_COSET_INVERSE, a, pool);
    s->timings.transform = clock_seconds_since(t);
    t = clock_ns();
    r1cs_evaluate(key->r1cs, s->witness, NULL, NULL, b, pool);
    memset(b + key->stats.n_rows, 0, (n - key->stats.n_rows) * sizeof *b);
    s->timings.evaluate += clock_seconds_since(t);
    t = clock_ns();
    be->transform(key->domain, TRANSFORM_INVERSE, b, pool);
    fr vanishing_inv;
    ntt_coset_vanishing_inv(&vanishing_inv, key->log_n);
    be->scaled_difference(a, b, &vanishing_inv, n, pool);
    s->timings.transform += clock_seconds_since(t);
}

/* a holds h as canonical words; its last coefficient is zero and has no point. */
static void sum_h(struct start *s) {
    const struct backend *be = s->key->backend;
    const size_t n = ((size_t)1 << s->key->log_n) - 1;
    const struct msm_plan plan = be->plan_g1(n, pool_threads(s->options->pool));
    const uint64_t t = clock_ns();
    be->msm_g1(&s->h, s->key->srs->h, s->a.ptr, n, &plan, s->scratch.ptr, s->options->pool);
    s->timings.msm_h = clock_seconds_since(t);
}

static void *sum_scratch(const struct start *s) {
    return (uint8_t *)s->scratch.ptr + selections_bytes(&s->key->a, s->key->stats.n_elements);
}

static void sum_l(struct start *s) {
    const struct prover_key *key = s->key;
    const uint64_t t = clock_ns();
    struct selection all = {.scalars = s->scratch.ptr,
                            .n_scalars = s->witness->n_elements,
                            .bits = s->witness->values,
                            .n_bits = s->witness->n_aux};
    element_scalars(all.scalars, s->witness);
    sum_g1(&s->l, key->backend, &all, key->l_elements, key->srs->l, sum_scratch(s),
           s->options->pool);
    s->timings.msm_l = clock_seconds_since(t);
}

static void sum_a(struct start *s) {
    const struct prover_key *key = s->key;
    const uint64_t t = clock_ns();
    struct selection a;
    selection_make(&a, s->scratch.ptr, &key->a, s->witness);
    sum_g1(&s->sum_a, key->backend, &a, key->a_elements, key->srs->a + key->a.n_inputs,
           sum_scratch(s), s->options->pool);
    s->timings.msm_a = clock_seconds_since(t);
}

static void sum_b(struct start *s, struct pending_proof *p) {
    const struct prover_key *key = s->key;
    const uint64_t t = clock_ns();
    selection_make(&p->b, p->block.ptr, &key->b, s->witness);
    sum_g1(&s->sum_b, key->backend, &p->b, key->b_g1_elements, key->srs->b_g1 + key->b.n_inputs,
           sum_scratch(s), s->options->pool);
    s->timings.msm_b_g1 = clock_seconds_since(t);
}

static void add_multiple(g1 *sum, const g1 *p, const fr *k) {
    g1 t;
    g1_mul(&t, p, k);
    g1_add(sum, sum, &t);
}

static void assemble(struct pending_proof *p, const struct start *s) {
    const struct vkey *vk = &s->key->srs->vk;
    const struct prover_options *o = s->options;
    fr r, rs;
    if (o->fixed_r != NULL)
        r = *o->fixed_r;
    else
        fr_random(&r);
    if (o->fixed_s != NULL)
        p->s = *o->fixed_s;
    else
        fr_random(&p->s);
    fr_mul(&rs, &r, &p->s);
    g1 delta, a, b, c;
    g1_from_affine(&delta, &vk->delta_g1);
    g1_add_affine(&a, &s->sum_a, &vk->alpha_g1);
    g1_add_affine(&b, &s->sum_b, &vk->beta_g1);
    g1_add(&c, &s->h, &s->l);
    add_multiple(&c, &a, &p->s);
    add_multiple(&c, &b, &r);
    add_multiple(&c, &delta, &rs);
    add_multiple(&a, &delta, &r);
    g1_to_affine(&p->a, &a);
    g1_to_affine(&p->c, &c);
    sodium_memzero(&r, sizeof r);
    sodium_memzero(&rs, sizeof rs);
}

/* The heavy part: everything that needs vectors of the domain's size. They are gone afterwards. */
static cuzk_status start_heavy(struct start *s, struct cuzk_error *err) {
    const struct prover_plan plan = prover_plan(s->key, pool_threads(s->options->pool));
    CUZK_TRY(mem_take(&s->a, domain_bytes(s->key), MEM_ABC, err));
    CUZK_TRY(mem_take(&s->b, domain_bytes(s->key), MEM_ABC, err));
    CUZK_TRY(stage(s->options, 0, err));
    make_h(s);
    mem_give(&s->b);
    CUZK_TRY(stage(s->options, 20, err));
    CUZK_TRY(mem_take(&s->scratch, plan.start_scratch_bytes, MEM_OTHER, err));
    sum_h(s);
    mem_give(&s->a);
    return stage(s->options, 70, err);
}

static cuzk_status start_light(struct start *s, struct pending_proof *p, struct cuzk_error *err) {
    CUZK_TRY(mem_take(&p->block, selection_bytes(&s->key->b), MEM_PENDING, err));
    sum_l(s);
    CUZK_TRY(stage(s->options, 77, err));
    sum_a(s);
    CUZK_TRY(stage(s->options, 85, err));
    sum_b(s, p);
    assemble(p, s);
    return stage(s->options, 90, err);
}

static cuzk_status check_witness(const struct prover_key *key, const struct witness *w,
                                 struct cuzk_error *err) {
    const struct r1cs_stats *stats = &key->stats;
    if (w->n_inputs == stats->n_inputs && w->n_aux == stats->n_aux &&
        w->n_elements == stats->n_elements)
        return CUZK_OK;
    return error_set(err, CUZK_INTERNAL, "witness", "report this",
                     "%" PRIu32 " inputs, %" PRIu32 " aux, %" PRIu32
                     " elements; the circuit has "
                     "%" PRIu32 ", %" PRIu32 ", %" PRIu32,
                     w->n_inputs, w->n_aux, w->n_elements, stats->n_inputs, stats->n_aux,
                     stats->n_elements);
}

cuzk_status prover_start(struct pending_proof **out, const struct prover_key *key,
                         const struct witness *witness, const struct prover_options *options,
                         struct prover_timings *timings, struct cuzk_error *err) {
    *out = NULL;
    CUZK_TRY(check_witness(key, witness, err));
    CUZK_TRY(sodium_ready(err));
    const uint64_t t = clock_ns();
    struct start s = {.key = key, .witness = witness, .options = options};
    struct pending_proof *p = NULL;
    cuzk_status status = start_heavy(&s, err);
    mem_give(&s.a);
    mem_give(&s.b);
    if (status == CUZK_OK) {
        p = calloc(1, sizeof *p);
        if (p == NULL)
            status = error_set(err, CUZK_NO_MEMORY, "pending proof", NULL, "%zu bytes", sizeof *p);
    }
    if (status == CUZK_OK) {
        p->key = key;
        status = start_light(&s, p, err);
    }
    mem_give(&s.scratch);
    if (status != CUZK_OK) {
        pending_proof_destroy(p);
        return status;
    }
    s.timings.start = clock_seconds_since(t);
    if (timings != NULL) *timings = s.timings;
    *out = p;
    return CUZK_OK;
}

/* ---- finish ---- */

cuzk_status prover_finish(uint8_t proof[PROOF_BYTES], const struct pending_proof *p,
                          const struct prover_options *options, struct prover_timings *timings,
                          struct cuzk_error *err) {
    const struct prover_key *key = p->key;
    const struct vkey *vk = &key->srs->vk;
    struct mem_block scratch;
    const uint64_t start = clock_ns();
    const size_t bytes = prover_plan(key, pool_threads(options->pool)).finish_scratch_bytes;
    CUZK_TRY(stage(options, 90, err));
    CUZK_TRY(mem_take(&scratch, bytes, MEM_OTHER, err));
    g2 b, t;
    sum_g2(&b, key->backend, &p->b, key->b_g2_elements, key->srs->b_g2 + key->b.n_inputs,
           scratch.ptr, options->pool);
    mem_give(&scratch);
    const double msm_seconds = clock_seconds_since(start);
    g2_from_affine(&t, &vk->delta_g2);
    g2_mul(&t, &t, &p->s);
    g2_add(&b, &b, &t);
    g2_add_affine(&b, &b, &vk->beta_g2);
    g2_affine b_affine;
    g2_to_affine(&b_affine, &b);
    g1_compress(proof, &p->a);
    g2_compress(proof + G1_COMPRESSED_BYTES, &b_affine);
    g1_compress(proof + G1_COMPRESSED_BYTES + G2_COMPRESSED_BYTES, &p->c);
    if (timings != NULL) {
        timings->msm_b_g2 = msm_seconds;
        timings->finish = clock_seconds_since(start);
    }
    return stage(options, 100, err);
}

size_t pending_proof_bytes(const struct pending_proof *p) {
    return sizeof *p + p->block.bytes;
}

void pending_proof_destroy(struct pending_proof *p) {
    if (p == NULL) return;
    if (p->block.ptr != NULL) sodium_memzero(p->block.ptr, p->block.bytes);
    mem_give(&p->block);
    sodium_memzero(p, sizeof *p);
    free(p);
}
