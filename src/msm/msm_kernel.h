/*
 * Inside of the msm room: the few point operations that everything else is built on, as a table,
 * so that sorting, slicing and tree sums exist once for G1 and G2, portable and vectorised.
 *
 * A *record* is an affine point in a kernel's working form. Kernels work on arrays of records,
 * whose record 0 is spare: always infinity, used as padding. Each call does hundreds of additions,
 * so the indirect call costs nothing.
 */
#ifndef MSM_KERNEL_H
#define MSM_KERNEL_H

#include "g1.h"

/* record[a] += record[b] */
struct msm_pair {
    uint32_t a, b;
};

enum {
    MSM_PAIR_PADDING = 16,  /* pairs that add_pairs may write behind the ones it is given */
    MSM_ENTRY_PADDING = 64, /* entries that gather may look at, for prefetching, behind its own */
};

/* A sum in Jacobian coordinates, of either group. */
union msm_sum {
    g1 in_g1;
    g2 in_g2;
};

/* A group on its own: its points' size and its Jacobian sums. add and add_point are complete. */
struct msm_group {
    size_t point_bytes; /* of g1_affine or g2_affine */
    void (*set_infinity)(union msm_sum *out);
    void (*add)(union msm_sum *out, const union msm_sum *a);
    void (*add_point)(union msm_sum *out, const void *point);
    void (*dbl)(union msm_sum *out);
    void (*to_point)(void *point, const union msm_sum *a);
};

struct msm_kernel {
    const struct msm_group *group;
    size_t record_bytes;     /* a multiple of 32 */
    size_t product_bytes;    /* memory of add_pairs for each pair, padding included */
    size_t slice_records;    /* records that are reduced together; about what the L2 cache holds */
    double add_ns, batch_ns; /* costs of an addition and of a batch, for the choice of the window */

    void (*set_infinity)(void *records, size_t n);
    /*
     * records[i] = +- points[entries[i] >> 1], i < n, negative where entries[i] is odd. entries has
     * MSM_ENTRY_PADDING readable, valid ones after the n.
     */
    void (*gather)(void *records, const void *points, const uint32_t *entries, size_t n);
    /*
     * All additions of the batch, with one inversion. No a occurs twice, and none is a b of the
     * same batch; a b may occur any number of times. Equal, opposite and infinite operands are
     * allowed. `pairs` is clobbered behind n.
     */
    void (*add_pairs)(void *records, struct msm_pair *pairs, size_t n, void *products);
    /* points[i] = records[i], i < n */
    void (*scatter)(void *points, const void *records, size_t n);
};

/* The kernels of this processor; CUZK_CPU=portable in the environment, read once, overrides it. */
const struct msm_kernel *msm_kernel_g1(void);
const struct msm_kernel *msm_kernel_g2(void);

extern const struct msm_group msm_group_g1;
extern const struct msm_group msm_group_g2;
extern const struct msm_kernel msm_portable_g1;
extern const struct msm_kernel msm_portable_g2;
#ifdef MSM_HAVE_IFMA
extern const struct msm_kernel msm_ifma_g1;
extern const struct msm_kernel msm_ifma_g2;
#endif

/*
 * Cuts the next part out of a block of scratch, in steps of 64 bytes. With a null block it only
 * measures, so that one function serves for the size and for the layout.
 */
static inline void *msm_carve(uint8_t *block, size_t *used, size_t bytes) {
    void *part = block == NULL ? NULL : block + *used;
    *used += (bytes + 63) & ~(size_t)63;
    return part;
}

static inline void *msm_record(const struct msm_kernel *kernel, void *records, size_t i) {
    return (uint8_t *)records + i * kernel->record_bytes;
}

#endif
