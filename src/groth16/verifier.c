#include "verifier.h"

#include <inttypes.h>

#include "groth16_common.h"
#include "msm.h"

static cuzk_status encoding_error(const char *part, enum point_fault fault, bool infinity,
                                  struct cuzk_error *err) {
    return error_set(err, CUZK_PROOF_ENCODING, part, "was the proof cut or changed?", "%s",
                     infinity ? "the point at infinity" : point_fault_text(fault));
}

static cuzk_status decode_g1_part(g1_affine *out, const uint8_t *in, const char *part,
                                  struct cuzk_error *err) {
    const enum point_fault fault = g1_decompress(out, in);
    const bool infinity = fault == POINT_GOOD && g1_affine_is_infinity(out);
    return fault == POINT_GOOD && !infinity ? CUZK_OK : encoding_error(part, fault, infinity, err);
}

static cuzk_status decode_g2_part(g2_affine *out, const uint8_t *in, const char *part,
                                  struct cuzk_error *err) {
    const enum point_fault fault = g2_decompress(out, in);
    const bool infinity = fault == POINT_GOOD && g2_affine_is_infinity(out);
    return fault == POINT_GOOD && !infinity ? CUZK_OK : encoding_error(part, fault, infinity, err);
}

/* Up to so many inputs are multiplied one by one; beyond, the bucket method is worth its memory. */
enum { FEW_INPUTS = 48 };

static cuzk_status sum_many(g1 *sum, const struct vkey *vk, const fr *inputs, size_t n,
                            struct pool *pool, struct cuzk_error *err) {
    const struct msm_plan plan = msm_plan_g1(n, pool_threads(pool));
    const size_t scalar_bytes = align64(n * sizeof(fr_words));
    struct mem_block block;
    CUZK_TRY(mem_take(&block, scalar_bytes + plan.scratch_bytes, MEM_OTHER, err));
    fr_words *scalars = block.ptr;
    for (size_t i = 0; i < n; i++)
        fr_to_words(&scalars[i], &inputs[i]);
    g1 product;
    msm_g1(&product, vk->ic + 1, scalars, n, &plan, (uint8_t *)block.ptr + scalar_bytes, pool);
    mem_give(&block);
    g1_add(sum, sum, &product);
    return CUZK_OK;
}

/* ic[0] + sum of inputs[i] ic[i + 1] */
static cuzk_status sum_inputs(g1_affine *out, const struct vkey *vk, const fr *inputs, size_t n,
                              struct pool *pool, struct cuzk_error *err) {
    g1 sum;
    g1_from_affine(&sum, &vk->ic[0]);
    if (n > FEW_INPUTS) {
        CUZK_TRY(sum_many(&sum, vk, inputs, n, pool, err));
    } else {
        for (size_t i = 0; i < n; i++) {
            g1 t;
            g1_from_affine(&t, &vk->ic[i + 1]);
            g1_mul(&t, &t, &inputs[i]);
            g1_add(&sum, &sum, &t);
        }
    }
    g1_to_affine(out, &sum);
    return CUZK_OK;
}

static void negate(g1_affine *a) {
    g1 t;
    g1_from_affine(&t, a);
    g1_neg(&t, &t);
    g1_to_affine(a, &t);
}

cuzk_status groth16_verify(const struct vkey *vk, const fr *inputs, size_t n_inputs,
                           const uint8_t proof[PROOF_BYTES], struct pool *pool,
                           struct cuzk_error *err) {
    if (n_inputs + 1 != vk->n_ic)
        return error_set(err, CUZK_PARAM_CIRCUIT, "verifying key", "use the key of this circuit",
                         "it is for %" PRIu32 " public inputs, there are %zu", vk->n_ic - 1,
                         n_inputs);
    /* A, alpha, inputs, C against B, beta, gamma, delta; the product of all four must be one when
     * the last three are negated. */
    g1_affine p[4];
    g2_affine q[4] = {[1] = vk->beta_g2, [2] = vk->gamma_g2, [3] = vk->delta_g2};
    CUZK_TRY(decode_g1_part(&p[0], proof, "A", err));
    CUZK_TRY(decode_g2_part(&q[0], proof + 48, "B", err));
    CUZK_TRY(decode_g1_part(&p[3], proof + 144, "C", err));
    p[1] = vk->alpha_g1;
    CUZK_TRY(sum_inputs(&p[2], vk, inputs, n_inputs, pool, err));
    for (int i = 1; i < 4; i++)
        negate(&p[i]);
    if (pairing_product_is_one(p, q, 4)) return CUZK_OK;
    return error_set(err, CUZK_PROOF_INVALID, NULL,
                     "are these the proof's own key, sector and partition?",
                     "the pairing equation does not hold");
}
