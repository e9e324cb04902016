#include "vkey.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "param_names.h"
#include "subgroup.h"

static const char fetch_again[] = "fetch or make the file again";

static cuzk_status point_error(const struct param_source *src, const char *what,
                               enum point_fault fault, bool infinity, struct cuzk_error *err) {
    const cuzk_status code = fault == POINT_NOT_IN_GROUP ? CUZK_PARAM_SUBGROUP : CUZK_PARAM_POINT;
    return error_set(err, code, src->name, fetch_again, "%s: %s", what,
                     infinity ? "the point at infinity" : point_fault_text(fault));
}

static cuzk_status decode_g1(g1_affine *out, const uint8_t *in, const char *what,
                             const struct param_source *src, struct cuzk_error *err) {
    const enum point_fault fault = g1_decode(out, in);
    const bool infinity = fault == POINT_GOOD && g1_affine_is_infinity(out);
    return fault == POINT_GOOD && !infinity ? CUZK_OK
                                            : point_error(src, what, fault, infinity, err);
}

static cuzk_status decode_g2(g2_affine *out, const uint8_t *in, const char *what,
                             const struct param_source *src, struct cuzk_error *err) {
    const enum point_fault fault = g2_decode(out, in);
    const bool infinity = fault == POINT_GOOD && g2_affine_is_infinity(out);
    return fault == POINT_GOOD && !infinity ? CUZK_OK
                                            : point_error(src, what, fault, infinity, err);
}

static cuzk_status read_fixed(struct vkey *vk, const struct param_source *src,
                              struct cuzk_error *err) {
    uint8_t raw[VKEY_FIXED_BYTES];
    CUZK_TRY(param_source_read(src, raw, sizeof raw, 0, err));
    CUZK_TRY(decode_g1(&vk->alpha_g1, raw, "alpha_g1", src, err));
    CUZK_TRY(decode_g1(&vk->beta_g1, raw + 96, "beta_g1", src, err));
    CUZK_TRY(decode_g2(&vk->beta_g2, raw + 192, "beta_g2", src, err));
    CUZK_TRY(decode_g2(&vk->gamma_g2, raw + 384, "gamma_g2", src, err));
    CUZK_TRY(decode_g1(&vk->delta_g1, raw + 576, "delta_g1", src, err));
    return decode_g2(&vk->delta_g2, raw + 672, "delta_g2", src, err);
}

static cuzk_status ic_error(const struct param_source *src, uint32_t i, enum point_fault fault,
                            bool infinity, struct cuzk_error *err) {
    char what[32];
    snprintf(what, sizeof what, "ic[%" PRIu32 "]", i);
    return point_error(src, what, fault, infinity, err);
}

static cuzk_status read_ic(struct vkey *vk, const struct param_source *src,
                           const struct param_layout *layout, struct cuzk_error *err) {
    enum { AT_A_TIME = 64 };
    uint8_t raw[AT_A_TIME * G1_BYTES];
    for (uint32_t i = 0; i < vk->n_ic; i++) {
        if (i % AT_A_TIME == 0) {
            const uint32_t n = vk->n_ic - i < AT_A_TIME ? vk->n_ic - i : AT_A_TIME;
            CUZK_TRY(param_source_read(src, raw, (size_t)n * G1_BYTES,
                                       layout->offset[SECTION_IC] + (uint64_t)i * G1_BYTES, err));
        }
        const enum point_fault fault = g1_decode(&vk->ic[i], raw + (i % AT_A_TIME) * G1_BYTES);
        const bool infinity = fault == POINT_GOOD && g1_affine_is_infinity(&vk->ic[i]);
        if (fault != POINT_GOOD || infinity) return ic_error(src, i, fault, infinity, err);
    }
    return CUZK_OK;
}

cuzk_status vkey_read(struct vkey *out, const struct param_source *src,
                      const struct param_layout *layout, struct cuzk_error *err) {
    *out = (struct vkey){.n_ic = layout->count[SECTION_IC]};
    CUZK_TRY(read_fixed(out, src, err));
    CUZK_TRY(mem_take(&out->block, (size_t)out->n_ic * sizeof(g1_affine), MEM_SRS, err));
    out->ic = out->block.ptr;
    const cuzk_status s = read_ic(out, src, layout, err);
    if (s != CUZK_OK) vkey_destroy(out);
    return s;
}

cuzk_status vkey_check_group(const struct vkey *vk, const struct param_source *src,
                             struct pool *pool, struct cuzk_error *err) {
    const struct {
        const char *name;
        const g1_affine *g1;
        const g2_affine *g2;
    } fixed[] = {{"alpha_g1", &vk->alpha_g1, NULL}, {"beta_g1", &vk->beta_g1, NULL},
                 {"beta_g2", NULL, &vk->beta_g2},   {"gamma_g2", NULL, &vk->gamma_g2},
                 {"delta_g1", &vk->delta_g1, NULL}, {"delta_g2", NULL, &vk->delta_g2}};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (fixed[i].g1 != NULL ? !g1_in_group(fixed[i].g1) : !g2_in_group(fixed[i].g2))
            return point_error(src, fixed[i].name, POINT_NOT_IN_GROUP, false, err);
    }
    size_t bad;
    CUZK_TRY(subgroup_check_g1(&bad, vk->ic, vk->n_ic, pool, NULL, err));
    return bad == SUBGROUP_ALL_GOOD ? CUZK_OK
                                    : ic_error(src, (uint32_t)bad, POINT_NOT_IN_GROUP, false, err);
}

cuzk_status vkey_load_source(struct vkey *out, const struct param_source *src, uint32_t n_inputs,
                             struct pool *pool, struct cuzk_error *err) {
    *out = (struct vkey){0};
    struct param_layout layout;
    cuzk_status s = vkey_layout_read(&layout, src, n_inputs, err);
    if (s == CUZK_PARAM_CIRCUIT) return param_explain_counts(src, NULL, err);
    if (s != CUZK_OK) return s;
    const struct network_file *entry = network_file_by_path(src->name);
    if (entry != NULL) {
        char digest[PARAM_DIGEST_HEX + 1];
        CUZK_TRY(param_digest(digest, src, NULL, err));
        CUZK_TRY(param_digest_check(src->name, entry, digest, err));
    }
    CUZK_TRY(vkey_read(out, src, &layout, err));
    s = vkey_check_group(out, src, pool, err);
    if (s != CUZK_OK) vkey_destroy(out);
    return s;
}

cuzk_status vkey_load(struct vkey *out, const char *path, uint32_t n_inputs, struct pool *pool,
                      struct cuzk_error *err) {
    *out = (struct vkey){0};
    struct param_source src;
    CUZK_TRY(param_source_open(&src, path, err));
    const cuzk_status s = vkey_load_source(out, &src, n_inputs, pool, err);
    param_source_close(&src);
    return s;
}

void vkey_destroy(struct vkey *vk) {
    mem_give(&vk->block);
    *vk = (struct vkey){0};
}

void vkey_encode_head(uint8_t out[VKEY_FIXED_BYTES + 4], const struct vkey *vk) {
    g1_encode(out, &vk->alpha_g1);
    g1_encode(out + 96, &vk->beta_g1);
    g2_encode(out + 192, &vk->beta_g2);
    g2_encode(out + 384, &vk->gamma_g2);
    g1_encode(out + 576, &vk->delta_g1);
    g2_encode(out + 672, &vk->delta_g2);
    for (int i = 0; i < 4; i++)
        out[VKEY_FIXED_BYTES + i] = (uint8_t)(vk->n_ic >> (24 - 8 * i));
}
