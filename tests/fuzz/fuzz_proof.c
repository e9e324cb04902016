/*
 * The verifier: 192 bytes of proof, then up to two public inputs, against a fixed key. What is not
 * a proof is PROOF_ENCODING or PROOF_INVALID; nobody finds a proof by chance.
 */
#include <stdlib.h>
#include <string.h>

#include "verifier.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_INPUTS = 2 };

static void multiple_g1(g1_affine *out, uint64_t k) {
    g1 p;
    fr s;
    fr_from_u64(&s, k);
    g1_from_affine(&p, &g1_generator);
    g1_mul(&p, &p, &s);
    g1_to_affine(out, &p);
}

static void multiple_g2(g2_affine *out, uint64_t k) {
    g2 p;
    fr s;
    fr_from_u64(&s, k);
    g2_from_affine(&p, &g2_generator);
    g2_mul(&p, &p, &s);
    g2_to_affine(out, &p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct vkey vk;
    static g1_affine ic[N_INPUTS + 1];
    if (vk.n_ic == 0) {
        multiple_g1(&vk.alpha_g1, 1000003);
        multiple_g2(&vk.beta_g2, 1000033);
        multiple_g2(&vk.gamma_g2, 1000037);
        multiple_g2(&vk.delta_g2, 1000039);
        for (uint64_t i = 0; i <= N_INPUTS; i++)
            multiple_g1(&ic[i], 2000003 + i);
        vk.ic = ic;
        vk.n_ic = N_INPUTS + 1;
    }
    uint8_t proof[PROOF_BYTES] = {0};
    fr inputs[N_INPUTS] = {{{0}}};
    if (data == NULL) return 0;
    memcpy(proof, data, size < PROOF_BYTES ? size : PROOF_BYTES);
    for (size_t i = 0; i < N_INPUTS; i++) {
        if (size < PROOF_BYTES + 32 * (i + 1)) break;
        fr_from_bytes_trimmed(&inputs[i], data + PROOF_BYTES + 32 * i);
    }
    struct cuzk_error err;
    const cuzk_status s = groth16_verify(&vk, inputs, N_INPUTS, proof, NULL, &err);
    if (s != CUZK_PROOF_ENCODING && s != CUZK_PROOF_INVALID) abort();
    return 0;
}
