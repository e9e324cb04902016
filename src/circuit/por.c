#include "por.h"

#include <assert.h>

#include "bits.h"
#include "boolean.h"
#include "insertion.h"
#include "num.h"
#include "poseidon_circuit.h"
#include "sha256_circuit.h"

enum { MAX_ARITY = PATH_MAX_SIBLINGS + 1, MAX_INDEX_BITS = 3, MAX_PATH_BITS = 64 };

/* What a level hands on: the node above, and the index bits for the packed input. */
struct level_out {
    struct num node;
    struct bit index[MAX_INDEX_BITS];
};

static unsigned index_bits(unsigned arity) {
    assert(arity == 2 || arity == 4 || arity == 8);
    return (unsigned)__builtin_ctz(arity);
}

static void level_body(struct cs *cs, enum tree_hash hash, unsigned arity, const struct num *node,
                       const struct path_element *element, struct level_out *out) {
    struct num siblings[PATH_MAX_SIBLINGS], children[MAX_ARITY];
    const uint32_t index = element != NULL ? element->index : 0;

    for (unsigned i = 0; i < index_bits(arity); i++) {
        const struct bit b = bit_alloc(cs, index >> i & 1);
        out->index[i].v = b.v;
        out->index[i].value = b.value;
    }
    for (unsigned i = 0; i < arity - 1; i++) {
        siblings[i] = num_alloc(cs, element != NULL ? &element->siblings[i] : &fr_zero);
    }
    insert_among(cs, children, node, out->index, siblings, arity);
    if (hash == TREE_SHA256) {
        sha256_hash2_circuit(cs, &out->node, &children[0], &children[1]);
    } else {
        poseidon_circuit(cs, &out->node, children, arity);
    }
}

static void path_level(struct cs *cs, enum tree_hash hash, unsigned arity, const struct num *node,
                       const struct path_element *element, struct level_out *out) {
    const unsigned key[2] = {hash, arity};
    struct num local = *node;
    var *const in[1] = {&local.v};
    var *const out_vars[1 + MAX_INDEX_BITS] = {&out->node.v, &out->index[0].v, &out->index[1].v,
                                               &out->index[2].v};
    const struct cs_call call = {.name = "path_level",
                                 .key = key,
                                 .key_bytes = sizeof key,
                                 .in = in,
                                 .n_in = 1,
                                 .out = out,
                                 .out_bytes = sizeof *out,
                                 .out_vars = out_vars,
                                 .n_out_vars = 1 + index_bits(arity)};
    memset(out, 0, sizeof *out);
    if (cs_call_enter(cs, &call)) {
        level_body(cs, hash, arity, &local, element, out);
        cs_call_leave(cs, &call);
    }
}

static void path_body(struct cs *cs, enum tree_hash hash, const struct tree_shape *shape,
                      uint64_t n_nodes, const struct num *leaf, const struct num *root,
                      const struct path_element *elements) {
    const unsigned n_levels = tree_path_levels(shape, n_nodes);
    struct bit bits[MAX_PATH_BITS];
    unsigned n_bits = 0;
    struct num node = *leaf;

    for (unsigned i = 0; i < n_levels; i++) {
        const unsigned arity = tree_path_arity(shape, n_nodes, i);
        struct level_out level;
        path_level(cs, hash, arity, &node, elements != NULL ? &elements[i] : NULL, &level);
        node = level.node;
        for (unsigned k = 0; k < index_bits(arity); k++) {
            assert(n_bits < MAX_PATH_BITS);
            bits[n_bits++] = level.index[k];
        }
    }
    pack_into_inputs(cs, bits, n_bits);
    num_enforce_equal(cs, &node, root);
}

void por_enforce_inclusion(struct cs *cs, enum tree_hash hash, const struct tree_shape *shape,
                           uint64_t n_nodes, const struct num *leaf, const struct num *root,
                           const struct path_element *elements) {
    const uint64_t key[5] = {hash, shape->base_arity, shape->sub_arity, shape->top_arity, n_nodes};
    struct num ends[2] = {*leaf, *root};
    var *const in[2] = {&ends[0].v, &ends[1].v};
    const struct cs_call call = {
        .name = "inclusion", .key = key, .key_bytes = sizeof key, .in = in, .n_in = 2};
    if (cs_call_enter(cs, &call)) {
        path_body(cs, hash, shape, n_nodes, &ends[0], &ends[1], elements);
        cs_call_leave(cs, &call);
    }
}
