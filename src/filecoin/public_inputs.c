#include "c1_types.h"
#include "challenges.h"
#include "graph.h"

/* What a challenge adds: the data's path, 14 parents' paths, the node, the encoded node's path, the
 * column's path. A path's input is the index of its leaf. */
enum { INPUTS_FIRST = 3, INPUTS_PER_CHALLENGE = 1 + POREP_DRG_PARENTS + POREP_EXP_PARENTS + 3 };

size_t c1_public_inputs_count(const struct c1 *c1) {
    return INPUTS_FIRST + (size_t)INPUTS_PER_CHALLENGE * c1->layout.shape->n_challenges;
}

static fr *challenge_inputs(fr *out, const struct graph *graph, uint64_t node) {
    uint32_t drg[POREP_DRG_PARENTS], exp[POREP_EXP_PARENTS];
    graph_drg_parents(graph, node, drg);
    graph_exp_parents(graph, node, exp);
    fr_from_u64(out++, node);
    for (unsigned i = 0; i < POREP_DRG_PARENTS; i++)
        fr_from_u64(out++, drg[i]);
    for (unsigned i = 0; i < POREP_EXP_PARENTS; i++)
        fr_from_u64(out++, exp[i]);
    for (unsigned i = 0; i < 3; i++)
        fr_from_u64(out++, node);
    return out;
}

void c1_public_inputs(const struct c1 *c1, unsigned k, fr *out) {
    const struct porep_partition *view = &c1->parts[k].view;
    const struct challenge_seed from = {
        .replica_id = c1->values.replica_id, .comm_r = c1->values.comm_r, .seed = c1->values.seed};
    struct graph graph;
    uint64_t nodes[C1_MAX_CHALLENGES];
    graph_init_registered(&graph, c1->seal);
    challenges_derive(c1->seal, &from, k, nodes);
    *out++ = view->replica_id;
    *out++ = view->comm_d;
    *out++ = view->comm_r;
    for (unsigned i = 0; i < c1->layout.shape->n_challenges; i++)
        out = challenge_inputs(out, &graph, nodes[i]);
}
