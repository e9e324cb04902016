#include <stdlib.h>
#include <string.h>

#include "api_internal.h"
#include "error.h"

/* Wraps a decoded C1; on failure nothing stays. */
static cuzk_status wrap(cuzk_sector **out, struct c1 *c1, struct cuzk_error *err) {
    cuzk_sector *sector = malloc(sizeof *sector);
    if (sector == NULL) {
        c1_destroy(c1);
        return error_set(err, CUZK_NO_MEMORY, "sector", NULL, "no memory for a sector");
    }
    sector->c1 = c1;
    *out = sector;
    return CUZK_OK;
}

cuzk_status cuzk_sector_read(cuzk_context *ctx, cuzk_sector **out, const char *path,
                             struct cuzk_error *err) {
    (void)ctx;
    *out = NULL;
    struct c1 *c1 = NULL;
    CUZK_TRY(c1_decode_file(&c1, path, NULL, err));
    return wrap(out, c1, err);
}

cuzk_status cuzk_sector_parse(cuzk_context *ctx, cuzk_sector **out, const void *json,
                              size_t n_bytes, struct cuzk_error *err) {
    (void)ctx;
    *out = NULL;
    struct c1 *c1 = NULL;
    CUZK_TRY(c1_decode_memory(&c1, json, n_bytes, NULL, err));
    return wrap(out, c1, err);
}

void cuzk_sector_destroy(cuzk_sector *sector) {
    if (sector == NULL) return;
    c1_destroy(sector->c1);
    free(sector);
}

void cuzk_sector_get_info(const cuzk_sector *sector, struct cuzk_sector_info *out) {
    const struct c1 *c1 = sector->c1;
    const struct registered_seal *seal = c1_registered(c1);
    const struct porep_shape *shape = registered_seal_shape(seal);
    const struct c1_values *v = c1_values(c1);
    *out = (struct cuzk_sector_info){
        .registered_proof = seal->number,
        .registered_proof_name = seal->name,
        .sector_bytes = seal->sector_bytes,
        .non_interactive = seal->kind == SEAL_NON_INTERACTIVE,
        .n_partitions = c1_partitions(c1),
        .n_challenges = shape->n_challenges,
    };
    circuit_id(out->circuit_id, shape);
    out->has_sector_number = c1_sector_number(c1, &out->sector_number);
    memcpy(out->replica_id, v->replica_id, 32);
    memcpy(out->comm_r, v->comm_r, 32);
    memcpy(out->comm_d, v->comm_d, 32);
    memcpy(out->seed, v->seed, 32);
    memcpy(out->ticket, v->ticket, 32);
}

cuzk_status cuzk_sector_check(cuzk_context *ctx, const cuzk_sector *sector, const uint64_t *miner,
                              struct cuzk_error *err) {
    const struct c1_claims claims = {.has_miner = miner != NULL,
                                     .miner = miner != NULL ? *miner : 0};
    return c1_check(sector->c1, &claims, ctx->pool, &ctx->progress, err);
}
