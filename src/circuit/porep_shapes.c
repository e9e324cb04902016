/*
 * The table of PoRep circuits. Layers and challenges are those of rust-fil-proofs' constants; the
 * parameter ids are digests of the public parameters' description.
 */
#include <string.h>

#include "porep.h"

enum { NODE_BYTES = 32 };

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

#define SHAPE(name, suffix, bytes, layers, challenges, base, sub, top, id)                         \
    {                                                                                              \
        .size_name = (name), .size_suffix = (suffix), .sector_bytes = (bytes),                     \
        .n_nodes = (bytes) / NODE_BYTES, .n_layers = (layers), .n_challenges = (challenges),       \
        .tree = {(base), (sub), (top)}, .parameter_id = (id)                                       \
    }

static const struct porep_shape shapes[] = {
    SHAPE("2KiB", "2k", 2 * KIB, 2, 2, 8, 0, 0,
          "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f"),
    SHAPE("4KiB", "4k", 4 * KIB, 2, 2, 8, 2, 0,
          "71fadf776fff80d5977d027cdf5b4af941c75de6aafee6530ff15997f7173b9b"),
    SHAPE("16KiB", "16k", 16 * KIB, 2, 2, 8, 8, 0,
          "5d6414be6742cfc2d41b04c9f12eacd8f78775cf01c1f5cdcf5b370808fe5b74"),
    SHAPE("32KiB", "32k", 32 * KIB, 2, 2, 8, 8, 2,
          "2a21b24b412f71b8441648d2cd849229afd278d96964baf1a0f2712f4afbadfd"),
    SHAPE("8MiB", "8m", 8 * MIB, 2, 2, 8, 0, 0,
          "ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb"),
    SHAPE("512MiB", "512m", 512 * MIB, 2, 2, 8, 0, 0,
          "6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472"),
    SHAPE("32GiB", "32g", 32 * GIB, 11, 18, 8, 8, 0,
          "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820"),
    SHAPE("64GiB", "64g", 64 * GIB, 11, 18, 8, 8, 2,
          "96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2"),
};

const struct porep_shape *porep_shape_at(size_t i) {
    return i < sizeof shapes / sizeof shapes[0] ? &shapes[i] : NULL;
}

const struct porep_shape *porep_shape_by_bytes(uint64_t sector_bytes) {
    for (size_t i = 0; porep_shape_at(i) != NULL; i++) {
        if (shapes[i].sector_bytes == sector_bytes) return &shapes[i];
    }
    return NULL;
}

const struct porep_shape *porep_shape_by_name(const char *name) {
    for (size_t i = 0; porep_shape_at(i) != NULL; i++) {
        if (strcmp(shapes[i].size_name, name) == 0 || strcmp(shapes[i].size_suffix, name) == 0)
            return &shapes[i];
    }
    return NULL;
}

/* Levels of the base trees: what the levels above them leave of the leaves. */
static unsigned base_levels(const struct tree_shape *shape, uint64_t n_nodes) {
    if (shape->sub_arity > 0) n_nodes /= shape->sub_arity;
    if (shape->top_arity > 0) n_nodes /= shape->top_arity;
    unsigned levels = 0;
    for (; n_nodes > 1; n_nodes /= shape->base_arity)
        levels++;
    return levels;
}

unsigned tree_path_levels(const struct tree_shape *shape, uint64_t n_nodes) {
    return base_levels(shape, n_nodes) + (shape->sub_arity > 0) + (shape->top_arity > 0);
}

unsigned tree_path_arity(const struct tree_shape *shape, uint64_t n_nodes, unsigned level) {
    const unsigned n_base = base_levels(shape, n_nodes);
    if (level < n_base) return shape->base_arity;
    return level == n_base && shape->sub_arity > 0 ? shape->sub_arity : shape->top_arity;
}
