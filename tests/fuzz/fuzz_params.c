/*
 * The reader of parameter files and of verifying keys. Whatever is accepted must have the length
 * that its counts give, and be written back to the same bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "srs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition) {
    if (!condition) abort();
}

/* The first line of a file, from a key that was read from it. */
static void check_key(const struct vkey *vk, const uint8_t *data) {
    uint8_t head[VKEY_FIXED_BYTES + 4], point[G1_BYTES];
    vkey_encode_head(head, vk);
    require(memcmp(head, data, sizeof head) == 0);
    for (uint32_t i = 0; i < vk->n_ic; i++) {
        g1_encode(point, &vk->ic[i]);
        require(memcmp(point, data + sizeof head + i * sizeof point, sizeof point) == 0);
    }
}

static void check_points(const struct srs *srs, const uint8_t *data) {
    const struct param_layout *l = &srs->layout;
    const g1_affine *const points[PARAM_SECTIONS] = {[SECTION_H] = srs->h,
                                                     [SECTION_L] = srs->l,
                                                     [SECTION_A] = srs->a,
                                                     [SECTION_B_G1] = srs->b_g1};
    uint8_t point[G2_BYTES];
    for (int s = SECTION_H; s < PARAM_SECTIONS; s++) {
        const unsigned bytes = param_point_bytes((enum param_section)s);
        for (uint32_t i = 0; i < l->count[s]; i++) {
            if (s == SECTION_B_G2)
                g2_encode(point, &srs->b_g2[i]);
            else
                g1_encode(point, &points[s][i]);
            require(memcmp(point, data + l->offset[s] + (size_t)i * bytes, bytes) == 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct param_source src;
    struct vkey vk;
    struct srs *srs;
    const struct srs_options options = {0};
    struct cuzk_error err;
    if (data == NULL) return 0;
    param_source_memory(&src, "fuzz", data, size);
    if (srs_load_source(&srs, &src, &options, &err) == CUZK_OK) {
        require(srs->layout.file_bytes == size);
        check_key(&srs->vk, data);
        check_points(srs, data);
        srs_destroy(srs);
    }
    if (vkey_load_source(&vk, &src, 0, NULL, &err) == CUZK_OK) {
        require(VKEY_FIXED_BYTES + 4 + (size_t)vk.n_ic * G1_BYTES == size);
        check_key(&vk, data);
        vkey_destroy(&vk);
    }
    require(mem_in_use_total() == 0);
    return 0;
}
