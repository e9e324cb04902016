#include <stdlib.h>

#include "api_internal.h"
#include "clock.h"
#include "error.h"

static cuzk_status check_partition(const struct c1 *c1, unsigned partition,
                                   struct cuzk_error *err) {
    if (partition < c1_partitions(c1)) return CUZK_OK;
    return error_set(err, CUZK_USAGE, NULL, "partitions are counted from 0",
                     "there is no partition %u; the sector has %u", partition, c1_partitions(c1));
}

static cuzk_status check_fit(const struct c1 *c1, const cuzk_circuit *circuit, unsigned partition,
                             struct cuzk_error *err) {
    const struct porep_shape *shape = registered_seal_shape(c1_registered(c1));
    if (shape != circuit->shape)
        return error_set(err, CUZK_USAGE, NULL, "make the circuit that the sector's info names",
                         "the sector is of size %s, the circuit is %s", shape->size_name,
                         circuit->id);
    return check_partition(c1, partition, err);
}

/* The public inputs of a partition on the heap; NULL: no memory. */
static fr *take_inputs(const struct c1 *c1, unsigned partition, size_t *n) {
    *n = c1_public_inputs_count(c1);
    fr *inputs = calloc(*n, sizeof *inputs);
    if (inputs != NULL) c1_public_inputs(c1, partition, inputs);
    return inputs;
}

cuzk_status cuzk_prove_start(cuzk_context *ctx, cuzk_pending **out, const cuzk_circuit *circuit,
                             const cuzk_params *params, const cuzk_sector *sector,
                             unsigned partition, const struct cuzk_prove_options *options,
                             struct cuzk_error *err) {
    *out = NULL;
    CUZK_TRY(check_fit(sector->c1, circuit, partition, err));
    cuzk_pending *p = calloc(1, sizeof *p);
    if (p == NULL) return error_set(err, CUZK_NO_MEMORY, "pending", NULL, "no memory");
    cuzk_status s = CUZK_OK;
    struct witness w = {0};
    p->params = params;
    p->inputs = take_inputs(sector->c1, partition, &p->n_inputs);
    if (p->inputs == NULL) {
        s = error_set(err, CUZK_NO_MEMORY, "pending", NULL, "no memory for the public inputs");
        goto out;
    }
    const uint64_t start = clock_ns();
    progress_report(&ctx->progress, "witness", 0, 0);
    s = porep_witness(circuit->shape, circuit->r1cs, c1_partition(sector->c1, partition), &w,
                      ctx->pool, err);
    if (s != CUZK_OK) goto out;
    p->witness_seconds = clock_seconds_since(start);

    fr r, blind_s;
    struct prover_options prove = {.pool = ctx->pool, .progress = &ctx->progress};
    if (options != NULL && options->fixed_blinding) {
        fr_from_u64(&r, options->r);
        fr_from_u64(&blind_s, options->s);
        prove.fixed_r = &r;
        prove.fixed_s = &blind_s;
    }
    s = prover_start(&p->proof, params->key, &w, &prove, &p->timings, err);
out:
    witness_destroy(&w);
    if (s != CUZK_OK) {
        cuzk_pending_destroy(p);
        return s;
    }
    *out = p;
    return CUZK_OK;
}

cuzk_status cuzk_prove_finish(cuzk_context *ctx, uint8_t proof[CUZK_PROOF_BYTES],
                              cuzk_pending *pending, struct cuzk_error *err) {
    uint8_t unverified[CUZK_PROOF_BYTES];
    const struct prover_options options = {.pool = ctx->pool, .progress = &ctx->progress};
    CUZK_TRY(prover_finish(unverified, pending->proof, &options, &pending->timings, err));
    const uint64_t start = clock_ns();
    CUZK_TRY(groth16_verify(&pending->params->srs->vk, pending->inputs, pending->n_inputs,
                            unverified, ctx->pool, err));
    pending->verify_seconds = clock_seconds_since(start);
    memcpy(proof, unverified, sizeof unverified);
    return CUZK_OK;
}

cuzk_status cuzk_witness_check(cuzk_context *ctx, const cuzk_circuit *circuit,
                               const cuzk_sector *sector, unsigned partition,
                               struct cuzk_error *err) {
    CUZK_TRY(check_fit(sector->c1, circuit, partition, err));
    struct witness w = {0};
    CUZK_TRY(porep_witness(circuit->shape, circuit->r1cs, c1_partition(sector->c1, partition), &w,
                           ctx->pool, err));
    const cuzk_status s = r1cs_check(circuit->r1cs, &w, ctx->pool, &ctx->progress, err);
    witness_destroy(&w);
    return s;
}

void cuzk_pending_destroy(cuzk_pending *pending) {
    if (pending == NULL) return;
    pending_proof_destroy(pending->proof);
    free(pending->inputs);
    free(pending);
}

size_t cuzk_pending_bytes(const cuzk_pending *pending) {
    return sizeof *pending + pending->n_inputs * sizeof *pending->inputs +
           pending_proof_bytes(pending->proof);
}

void cuzk_pending_get_timings(const cuzk_pending *pending, struct cuzk_timings *out) {
    const struct prover_timings *t = &pending->timings;
    *out = (struct cuzk_timings){
        .witness = pending->witness_seconds,
        .evaluate = t->evaluate,
        .ntt = t->transform,
        .msm_h = t->msm_h,
        .msm_l = t->msm_l,
        .msm_a = t->msm_a,
        .msm_b_g1 = t->msm_b_g1,
        .msm_b_g2 = t->msm_b_g2,
        .verify = pending->verify_seconds,
    };
}

cuzk_status cuzk_verify(const cuzk_vk *vk, const cuzk_sector *sector, unsigned partition,
                        const uint8_t proof[CUZK_PROOF_BYTES], struct cuzk_error *err) {
    CUZK_TRY(check_partition(sector->c1, partition, err));
    size_t n = 0;
    fr *inputs = take_inputs(sector->c1, partition, &n);
    if (inputs == NULL)
        return error_set(err, CUZK_NO_MEMORY, "public inputs", NULL, "no memory for %zu inputs", n);
    const cuzk_status s = groth16_verify(&vk->vk, inputs, n, proof, NULL, err);
    free(inputs);
    return s;
}
