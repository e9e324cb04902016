/*
 * The verifying key: the first line of a parameter file, and all of a .vk file.
 *
 * Every point of a key is checked alone: flags, range, curve, group, and none is at infinity. A key
 * is immutable after it was read. Threads: any number may use one.
 */
#ifndef GROTH16_VKEY_H
#define GROTH16_VKEY_H

#include "g1.h"
#include "mem.h"
#include "param_layout.h"
#include "pool.h"

struct vkey {
    g1_affine alpha_g1, beta_g1, delta_g1;
    g2_affine beta_g2, gamma_g2, delta_g2;
    uint32_t n_ic;
    g1_affine *ic; /* one for each input, ONE first */
    struct mem_block block;
};

/*
 * Reads the key at the beginning of a source whose layout was read: flags, range, curve, infinity.
 * Errors: PARAM_POINT (with section and index), FILE_READ, NO_MEMORY.
 */
CUZK_NODISCARD cuzk_status vkey_read(struct vkey *out, const struct param_source *src,
                                     const struct param_layout *layout, struct cuzk_error *err);

/* Are all its points in the group? `src` names it. Errors: PARAM_SUBGROUP, NO_MEMORY,
 * RANDOMNESS. */
CUZK_NODISCARD cuzk_status vkey_check_group(const struct vkey *vk, const struct param_source *src,
                                            struct pool *pool, struct cuzk_error *err);

/*
 * Reads a .vk file; n_inputs 0: of any circuit. A file with a name of the network's must have that
 * file's digest (param_names.h).
 * Errors: as param_layout_read, vkey_read, vkey_check_group and param_digest_check.
 */
CUZK_NODISCARD cuzk_status vkey_load(struct vkey *out, const char *path, uint32_t n_inputs,
                                     struct pool *pool, struct cuzk_error *err);

/* The same from an open source, which stays the caller's. */
CUZK_NODISCARD cuzk_status vkey_load_source(struct vkey *out, const struct param_source *src,
                                            uint32_t n_inputs, struct pool *pool,
                                            struct cuzk_error *err);
void vkey_destroy(struct vkey *vk); /* an empty one is left alone */

/* Encodes the fixed points and the count of ic: VKEY_FIXED_BYTES + 4 bytes. */
void vkey_encode_head(uint8_t out[VKEY_FIXED_BYTES + 4], const struct vkey *vk);

#endif
