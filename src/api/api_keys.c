/* Circuits, parameters, verifying keys. */
#include <stdlib.h>

#include "api_internal.h"
#include "circuit_files.h"
#include "error.h"

static cuzk_status no_memory(const char *what, struct cuzk_error *err) {
    return error_set(err, CUZK_NO_MEMORY, what, NULL, "no memory for a handle");
}

cuzk_status cuzk_circuit_create(cuzk_context *ctx, cuzk_circuit **out, const char *id,
                                struct cuzk_error *err) {
    *out = NULL;
    const struct porep_shape *shape = NULL;
    CUZK_TRY(circuit_find(&shape, id, NULL, err));
    cuzk_circuit *c = calloc(1, sizeof *c);
    if (c == NULL) return no_memory("circuit", err);
    c->shape = shape;
    circuit_id(c->id, shape);
    progress_report(&ctx->progress, "circuit", 0, 0);
    struct r1cs_stats stats; /* asked for here, so that the circuit can be shared afterwards */
    cuzk_status s = porep_record(shape, &c->r1cs, err);
    if (s == CUZK_OK) s = r1cs_get_stats(c->r1cs, &stats, ctx->pool, err);
    if (s != CUZK_OK) {
        cuzk_circuit_destroy(c);
        return s;
    }
    *out = c;
    return CUZK_OK;
}

void cuzk_circuit_destroy(cuzk_circuit *circuit) {
    if (circuit == NULL) return;
    r1cs_destroy(circuit->r1cs);
    free(circuit);
}

cuzk_status cuzk_params_load(cuzk_context *ctx, cuzk_params **out, const cuzk_circuit *circuit,
                             const char *path, struct cuzk_error *err) {
    *out = NULL;
    struct param_place place;
    CUZK_TRY(circuit_file_find(&place, path, circuit->shape, "params", err));
    cuzk_params *p = calloc(1, sizeof *p);
    if (p == NULL) return no_memory("parameters", err);
    struct r1cs_stats stats;
    cuzk_status s = r1cs_get_stats(circuit->r1cs, &stats, ctx->pool, err);
    const struct srs_options options = {
        .circuit = &stats, .pool = ctx->pool, .progress = &ctx->progress};
    if (s == CUZK_OK) s = srs_load(&p->srs, place.path, &options, err);
    if (s == CUZK_OK)
        s = prover_key_create(&p->key, p->srs, circuit->r1cs, &backend_cpu, ctx->pool, err);
    if (s != CUZK_OK) {
        cuzk_params_destroy(p);
        return s;
    }
    *out = p;
    return CUZK_OK;
}

void cuzk_params_destroy(cuzk_params *params) {
    if (params == NULL) return;
    prover_key_destroy(params->key);
    srs_destroy(params->srs);
    free(params);
}

bool cuzk_params_are_development(const cuzk_params *params) {
    return !params->srs->network;
}

cuzk_status cuzk_vk_load(cuzk_vk **out, const char *id, const char *path, struct cuzk_error *err) {
    *out = NULL;
    const struct porep_shape *shape = NULL;
    CUZK_TRY(circuit_find(&shape, id, NULL, err));
    struct param_place place;
    CUZK_TRY(circuit_file_find(&place, path, shape, "vk", err));
    cuzk_vk *vk = calloc(1, sizeof *vk);
    if (vk == NULL) return no_memory("verifying key", err);
    const cuzk_status s = vkey_load(&vk->vk, place.path, 0, NULL, err);
    if (s != CUZK_OK) {
        free(vk);
        return s;
    }
    *out = vk;
    return CUZK_OK;
}

void cuzk_vk_destroy(cuzk_vk *vk) {
    if (vk == NULL) return;
    vkey_destroy(&vk->vk);
    free(vk);
}
