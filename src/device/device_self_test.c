#include "device_self_test.h"

#include <stdlib.h>
#include <string.h>

#include "cs.h"
#include "hash.h"
#include "ntt.h"
#include "prover.h"
#include "setup_scalars.h"
#include "verifier.h"

enum { STEPS = 8 };

/* SHA-256 of the proof; it follows from the circuit, the seed and the blinding below. */
static const char known_answer[] =
    "6a8d657eb4e81bd41b57e00c0aba41b8713aa65dfec07e52a15cbd1d610389ef";

/* x (x + b) = next, b a bit, from x = 3; the last x is public. The bits of 0xb5 are used. */
static void synthesize(struct cs *cs) {
    struct lc lc[3] = {0};
    fr x;
    fr_from_u64(&x, 3);
    var chain = cs_alloc_num(cs, &x);
    for (unsigned i = 0; i < STEPS; i++) {
        const uint64_t bit = 0xb5 >> i & 1;
        const var b = cs_alloc_bits(cs, bit, 1);
        fr right = x, next;
        if (bit) fr_add(&right, &right, &fr_one);
        fr_mul(&next, &x, &right);
        const var after = cs_alloc_num(cs, &next);
        if (cs_has_rows(cs)) {
            lc_add_var(&lc[0], b); /* b (1 - b) = 0 */
            lc_add_var(&lc[1], VAR_ONE);
            lc_sub_var(&lc[1], b);
            cs_enforce(cs, &lc[0], &lc[1], &lc[2]);
            for (int m = 0; m < 3; m++)
                lc_clear(&lc[m]);
            lc_add_var(&lc[0], chain);
            lc_add_var(&lc[1], chain);
            lc_add_var(&lc[1], b);
            lc_add_var(&lc[2], after);
            cs_enforce(cs, &lc[0], &lc[1], &lc[2]);
            for (int m = 0; m < 3; m++)
                lc_clear(&lc[m]);
        }
        chain = after;
        x = next;
    }
    const var end = cs_alloc_input(cs, &x);
    if (cs_has_rows(cs)) { /* chain 1 = end */
        lc_add_var(&lc[0], chain);
        lc_add_var(&lc[1], VAR_ONE);
        lc_add_var(&lc[2], end);
        cs_enforce(cs, &lc[0], &lc[1], &lc[2]);
    }
    for (int m = 0; m < 3; m++)
        lc_free(&lc[m]);
}

/* ---- parameters in memory ---- */

struct making {
    struct setup_secrets secrets;
    struct setup_columns columns;
    struct r1cs_stats stats;
    struct param_layout layout;
    fr gamma_inv, delta_inv;
    uint8_t *file;
};

static void multiple_g2(g2_affine *out, const fr *k) {
    g2 p;
    g2_from_affine(&p, &g2_generator);
    g2_mul(&p, &p, k);
    g2_to_affine(out, &p);
}

static void multiple_g1(g1_affine *out, const fr *k) {
    g1 p;
    g1_from_affine(&p, &g1_generator);
    g1_mul(&p, &p, k);
    g1_to_affine(out, &p);
}

/* The point number *n of a section, a multiple of the generator; *n then counts on. */
static void put_point(const struct making *m, enum param_section section, uint32_t *n,
                      const fr *k) {
    uint8_t *at = m->file + m->layout.offset[section] + (size_t)*n * param_point_bytes(section);
    if (section == SECTION_B_G2) {
        g2_affine p;
        multiple_g2(&p, k);
        g2_encode(at, &p);
    } else {
        g1_affine p;
        multiple_g1(&p, k);
        g1_encode(at, &p);
    }
    ++*n;
}

/* Sections l and ic: (beta u + alpha v + w) / divisor. */
static void combined(fr *out, const struct making *m, size_t i, const fr *divisor_inv) {
    fr t, sum;
    fr_mul(&sum, &m->secrets.beta, &m->columns.u[i]);
    fr_mul(&t, &m->secrets.alpha, &m->columns.v[i]);
    fr_add(&sum, &sum, &t);
    fr_add(&sum, &sum, &m->columns.w[i]);
    fr_mul(out, &sum, divisor_inv);
}

static void put_sections(const struct making *m) {
    uint32_t n[PARAM_SECTIONS] = {0};
    const struct setup_columns *c = &m->columns;
    for (size_t i = 0; i < c->n_variables; i++) {
        const bool input = i < c->n_inputs;
        const enum param_section section = input ? SECTION_IC : SECTION_L;
        fr k;
        combined(&k, m, i, input ? &m->gamma_inv : &m->delta_inv);
        put_point(m, section, &n[section], &k);
        if (!fr_is_zero(&c->u[i])) put_point(m, SECTION_A, &n[SECTION_A], &c->u[i]);
        if (fr_is_zero(&c->v[i])) continue;
        put_point(m, SECTION_B_G1, &n[SECTION_B_G1], &c->v[i]);
        put_point(m, SECTION_B_G2, &n[SECTION_B_G2], &c->v[i]);
    }
    fr power; /* tau^i Z(tau) / delta */
    setup_vanishing(&power, &m->secrets.tau, ntt_log2_ceil(m->stats.n_rows));
    fr_mul(&power, &power, &m->delta_inv);
    while (n[SECTION_H] < m->layout.count[SECTION_H]) {
        put_point(m, SECTION_H, &n[SECTION_H], &power);
        fr_mul(&power, &power, &m->secrets.tau);
    }
}

static void put_head(const struct making *m) {
    struct vkey key = {.n_ic = m->stats.n_inputs};
    multiple_g1(&key.alpha_g1, &m->secrets.alpha);
    multiple_g1(&key.beta_g1, &m->secrets.beta);
    multiple_g2(&key.beta_g2, &m->secrets.beta);
    multiple_g2(&key.gamma_g2, &m->secrets.gamma);
    multiple_g1(&key.delta_g1, &m->secrets.delta);
    multiple_g2(&key.delta_g2, &m->secrets.delta);
    vkey_encode_head(m->file, &key);
    for (int s = SECTION_H; s < PARAM_SECTIONS; s++) {
        const uint32_t count = m->layout.count[s];
        uint8_t *at = m->file + m->layout.offset[s] - 4;
        for (int i = 0; i < 4; i++)
            at[i] = (uint8_t)(count >> (24 - 8 * i));
    }
}

static cuzk_status make_srs(struct srs **out, struct r1cs *r1cs, struct pool *pool,
                            struct cuzk_error *err) {
    struct making m = {0};
    const struct setup_options options = {.seeded = true, .seed = 1, .pool = pool};
    *out = NULL;
    CUZK_TRY(r1cs_get_stats(r1cs, &m.stats, pool, err));
    param_layout_of_circuit(&m.layout, &m.stats);
    setup_secrets_draw(&m.secrets, &options, ntt_log2_ceil(m.stats.n_rows));
    fr_inv_var(&m.gamma_inv, &m.secrets.gamma);
    fr_inv_var(&m.delta_inv, &m.secrets.delta);
    CUZK_TRY(setup_columns_make(&m.columns, r1cs, &m.stats, &m.secrets.tau, pool, err));
    cuzk_status s = CUZK_OK;
    m.file = calloc(1, m.layout.file_bytes);
    if (m.file == NULL) s = error_set(err, CUZK_NO_MEMORY, "self-test", NULL, "no memory for it");
    if (s == CUZK_OK) {
        struct param_source source;
        const struct srs_options load = {.circuit = &m.stats, .pool = pool};
        put_head(&m);
        put_sections(&m);
        param_source_memory(&source, "self-test", m.file, m.layout.file_bytes);
        s = srs_load_source(out, &source, &load, err);
    }
    free(m.file);
    setup_columns_destroy(&m.columns);
    return s;
}

/* ---- the proof ---- */

static cuzk_status make_circuit(struct r1cs **out, struct cuzk_error *err) {
    struct cs *cs;
    CUZK_TRY(cs_create_recorder(&cs, false, err));
    synthesize(cs);
    const cuzk_status s = cs_finish(cs, out, err);
    cs_destroy(cs);
    return s;
}

static cuzk_status make_witness(struct witness *out, struct r1cs *r1cs, struct cuzk_error *err) {
    struct r1cs_stats stats;
    struct cs *cs;
    CUZK_TRY(r1cs_get_stats(r1cs, &stats, NULL, err));
    CUZK_TRY(witness_create(out, stats.n_inputs, stats.n_aux, stats.n_elements, err));
    cuzk_status s = cs_create_witness(&cs, out, err);
    if (s == CUZK_OK) {
        synthesize(cs);
        s = cs_finish(cs, NULL, err);
        cs_destroy(cs);
    }
    if (s != CUZK_OK) witness_destroy(out);
    return s;
}

static cuzk_status check(const struct srs *srs, const struct witness *w,
                         const uint8_t proof[PROOF_BYTES], struct cuzk_error *err) {
    uint8_t digest[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    sha256(digest, proof, PROOF_BYTES);
    hex_encode(hex, digest, sizeof digest);
    const cuzk_status s =
        groth16_verify(&srs->vk, w->inputs + 1, w->n_inputs - 1, proof, NULL, err);
    if (s != CUZK_OK || strcmp(hex, known_answer) != 0)
        return error_set(err, CUZK_INTERNAL, "self-test",
                         "do not prove with this device; test the hardware, then report this",
                         "the proof is %s, and its digest %s instead of %s",
                         s == CUZK_OK ? "valid" : "not valid", hex, known_answer);
    return CUZK_OK;
}

static cuzk_status prove(const struct prover_key *key, const struct witness *w, struct pool *pool,
                         struct cuzk_error *err) {
    struct pending_proof *pending;
    uint8_t proof[PROOF_BYTES];
    fr r, s;
    fr_from_u64(&r, 7);
    fr_from_u64(&s, 11);
    const struct prover_options options = {.pool = pool, .fixed_r = &r, .fixed_s = &s};
    CUZK_TRY(prover_start(&pending, key, w, &options, NULL, err));
    const cuzk_status status = prover_finish(proof, pending, &options, NULL, err);
    pending_proof_destroy(pending);
    return status == CUZK_OK ? check(key->srs, w, proof, err) : status;
}

cuzk_status device_self_test(const struct backend *backend, struct pool *pool,
                             struct cuzk_error *err) {
    struct r1cs *r1cs = NULL;
    struct srs *srs = NULL;
    struct prover_key *key = NULL;
    struct witness w = {0};
    cuzk_status s = make_circuit(&r1cs, err);
    if (s == CUZK_OK) s = make_srs(&srs, r1cs, pool, err);
    if (s == CUZK_OK) s = prover_key_create(&key, srs, r1cs, backend, pool, err);
    if (s == CUZK_OK) s = make_witness(&w, r1cs, err);
    if (s == CUZK_OK) s = prove(key, &w, pool, err);
    witness_destroy(&w);
    prover_key_destroy(key);
    srs_destroy(srs);
    r1cs_destroy(r1cs);
    return s;
}
