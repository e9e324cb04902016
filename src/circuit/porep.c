#include "porep.h"

#include <assert.h>

#include "label.h"
#include "num.h"
#include "por.h"
#include "porep_parts.h"
#include "ports.h"
#include "poseidon_circuit.h"
#include "word.h"

enum { N_PARENTS = POREP_DRG_PARENTS + POREP_EXP_PARENTS };

/* The values of the structure mode. */
static const struct porep_partition no_partition;
static const struct porep_challenge no_challenge;

void porep_prologue(struct cs *cs, const struct porep_partition *in, struct porep_common *out) {
    if (in == NULL) in = &no_partition;
    const struct num replica_id = num_alloc(cs, &in->replica_id);
    num_inputize(cs, &replica_id);
    num_to_words(cs, out->replica_id, &replica_id);
    out->comm_d = num_alloc(cs, &in->comm_d);
    num_inputize(cs, &out->comm_d);
    const struct num comm_r = num_alloc(cs, &in->comm_r);
    num_inputize(cs, &comm_r);
    out->comm_r_last = num_alloc(cs, &in->comm_r_last);
    out->comm_c = num_alloc(cs, &in->comm_c);
    const struct num roots[2] = {out->comm_c, out->comm_r_last};
    struct num hash;
    poseidon_circuit(cs, &hash, roots, 2);
    num_enforce_equal(cs, &comm_r, &hash);
}

/* A challenge's frame: its inputs' copy, and what its steps hand on. */
struct challenge {
    struct cs *cs;
    const struct porep_shape *shape;
    const struct porep_challenge *in; /* values; no_challenge in CS_STRUCTURE */
    struct porep_common common;
    struct num columns[N_PARENTS][POREP_MAX_LAYERS]; /* of the parents, DRG parents first */
    struct num labels[POREP_MAX_LAYERS];
};

static void enforce_in_tree(struct challenge *c, const char *scope, int index, enum tree_hash hash,
                            const struct num *leaf, const struct num *root,
                            const struct merkle_path *path) {
    const struct tree_shape *const tree = hash == TREE_SHA256 ? &porep_tree_d : &c->shape->tree;
    assert(cs_has_rows(c->cs) || path->n_elements == tree_path_levels(tree, c->shape->n_nodes));
    cs_scope_begin(c->cs, scope, index);
    por_enforce_inclusion(c->cs, hash, tree, c->shape->n_nodes, leaf, root, path->elements);
    cs_scope_end(c->cs);
}

/* Allocates a parent's column, and shows that its hash is in tree C. */
static void open_column(struct challenge *c, const char *scope, int index,
                        const struct porep_column *in, struct num *rows) {
    const unsigned n_layers = c->shape->n_layers;
    struct num hash;
    for (unsigned i = 0; i < n_layers; i++)
        rows[i] = num_alloc(c->cs, &in->rows[i]);
    poseidon_circuit(c->cs, &hash, rows, n_layers);
    enforce_in_tree(c, scope, index, TREE_POSEIDON, &hash, &c->common.comm_c, &in->path);
}

/* The label of each layer; DRG parents are of the same layer, the expander's of the one before. */
static void compute_labels(struct challenge *c, const struct word node[2]) {
    for (unsigned i = 0; i < c->shape->n_layers; i++) {
        const unsigned n_parents = i == 0 ? POREP_DRG_PARENTS : N_PARENTS;
        struct num parents[N_PARENTS];
        for (unsigned k = 0; k < n_parents; k++) {
            parents[k] = c->columns[k][k < POREP_DRG_PARENTS ? i : i - 1];
        }
        cs_scope_begin(c->cs, "layer", (int)i + 1);
        label_circuit(c->cs, &c->labels[i], c->common.replica_id, node, i + 1, parents, n_parents);
        cs_scope_end(c->cs);
    }
}

static void challenge_body(struct challenge *c) {
    const struct porep_challenge *const in = c->in;
    struct cs *const cs = c->cs;
    const struct num data = num_alloc(cs, &in->comm_d.leaf);
    enforce_in_tree(c, "comm_d", -1, TREE_SHA256, &data, &c->common.comm_d, &in->comm_d);
    for (int i = 0; i < POREP_DRG_PARENTS; i++) {
        open_column(c, "drg_parent", i, &in->drg[i], c->columns[i]);
    }
    for (int i = 0; i < POREP_EXP_PARENTS; i++) {
        open_column(c, "exp_parent", i, &in->exp[i], c->columns[POREP_DRG_PARENTS + i]);
    }

    struct word node[2];
    uint64_alloc(cs, node, in->node);
    uint64_pack_into_input(cs, node);
    compute_labels(c, node);

    const unsigned n_layers = c->shape->n_layers;
    const struct num encoded = num_add(cs, &c->labels[n_layers - 1], &data);
    enforce_in_tree(c, "comm_r_last", -1, TREE_POSEIDON, &encoded, &c->common.comm_r_last,
                    &in->comm_r_last);
    struct num column_hash;
    poseidon_circuit(cs, &column_hash, c->labels, n_layers);
    enforce_in_tree(c, "c_x", -1, TREE_POSEIDON, &column_hash, &c->common.comm_c, &in->c_x.path);
}

void porep_synthesize_challenge(struct cs *cs, const struct porep_shape *shape,
                                const struct porep_common *common,
                                const struct porep_challenge *in) {
    assert(in != NULL || cs_has_rows(cs));
    struct challenge c = {
        .cs = cs, .shape = shape, .in = in != NULL ? in : &no_challenge, .common = *common};
    if (!cs_has_rows(cs)) {
        challenge_body(&c);
        return;
    }
    struct ports p;
    ports_init(&p, "challenge", NULL, 0);
    for (unsigned i = 0; i < NUM_WORDS; i++)
        ports_in_word(&p, &c.common.replica_id[i]);
    ports_in_num(&p, &c.common.comm_d);
    ports_in_num(&p, &c.common.comm_c);
    ports_in_num(&p, &c.common.comm_r_last);
    if (ports_enter(&p, cs)) {
        challenge_body(&c);
        ports_leave(&p, cs);
    }
}

void porep_synthesize(struct cs *cs, const struct porep_shape *shape,
                      const struct porep_partition *in) {
    assert(in == NULL || in->n_challenges == shape->n_challenges);
    struct porep_common common;
    porep_prologue(cs, in, &common);
    for (unsigned i = 0; i < shape->n_challenges; i++) {
        cs_scope_begin(cs, "challenge", (int)i);
        porep_synthesize_challenge(cs, shape, &common, in != NULL ? &in->challenges[i] : NULL);
        cs_scope_end(cs);
    }
}

cuzk_status porep_record(const struct porep_shape *shape, struct r1cs **out,
                         struct cuzk_error *err) {
    struct cs *cs;
    *out = NULL;
    CUZK_TRY(cs_create_recorder(&cs, false, err));
    porep_synthesize(cs, shape, NULL);
    const cuzk_status status = cs_finish(cs, out, err);
    cs_destroy(cs);
    return status;
}
