#include "label.h"

#include <assert.h>
#include <string.h>

#include "ports.h"
#include "sha256_circuit.h"
#include "word.h"

enum { PARENT_WORDS = LABEL_MAX_DISTINCT * NUM_WORDS };

/* The inputs of a label's call, copied into its frame. */
struct label_in {
    struct word replica_id[NUM_WORDS];
    struct word node[2];
    struct num parents[LABEL_MAX_DISTINCT];
    unsigned layer, n_parents;
};

/* The blocks behind the first: 37 parents and the padding. */
static void absorb_parents(struct cs *cs, struct num *out, struct word state[SHA256_STATE_WORDS],
                           const struct word *parents, unsigned n_parents) {
    const struct word *message[LABEL_PARENTS * NUM_WORDS];
    for (unsigned i = 0; i < LABEL_PARENTS * NUM_WORDS; i++) {
        message[i] = &parents[i % (n_parents * NUM_WORDS)];
    }
    sha256_circuit_finish(cs, state, message, LABEL_PARENTS * NUM_WORDS, SHA256_BLOCK_WORDS);
    words_to_num(cs, out, state);
}

static void call_absorb_parents(struct cs *cs, struct num *out,
                                const struct word state[SHA256_STATE_WORDS],
                                const struct word *parents, unsigned n_parents) {
    struct word local_state[SHA256_STATE_WORDS], local_parents[PARENT_WORDS];
    struct ports p;
    ports_init(&p, "label_parents", out, sizeof *out);
    for (unsigned i = 0; i < SHA256_STATE_WORDS; i++) {
        local_state[i] = state[i];
        ports_in_word(&p, &local_state[i]);
    }
    for (unsigned i = 0; i < n_parents * NUM_WORDS; i++) {
        local_parents[i] = parents[i];
        ports_in_word(&p, &local_parents[i]);
    }
    ports_out_num(&p, out);
    if (ports_enter(&p, cs)) {
        absorb_parents(cs, out, local_state, local_parents, n_parents);
        ports_leave(&p, cs);
    }
}

static void label_body(struct cs *cs, struct num *out, const struct label_in *in) {
    struct word parents[PARENT_WORDS], state[SHA256_STATE_WORDS], layer, zero;
    const struct word *block[SHA256_BLOCK_WORDS];
    for (unsigned i = 0; i < in->n_parents; i++) {
        num_to_words(cs, &parents[i * NUM_WORDS], &in->parents[i]);
    }
    word_constant(&layer, in->layer);
    word_constant(&zero, 0);
    for (unsigned i = 0; i < NUM_WORDS; i++) {
        block[i] = &in->replica_id[i];
        block[NUM_WORDS + i] = &zero;
    }
    block[NUM_WORDS] = &layer;
    block[NUM_WORDS + 1] = &in->node[0];
    block[NUM_WORDS + 2] = &in->node[1];
    sha256_circuit_init(state);
    sha256_circuit_block(cs, state, block);
    if (cs_has_rows(cs)) {
        call_absorb_parents(cs, out, state, parents, in->n_parents);
    } else {
        absorb_parents(cs, out, state, parents, in->n_parents);
    }
}

void label_circuit(struct cs *cs, struct num *out, const struct word replica_id[NUM_WORDS],
                   const struct word node[2], unsigned layer, const struct num *parents,
                   unsigned n_parents) {
    assert(n_parents > 0 && n_parents <= LABEL_MAX_DISTINCT);
    struct label_in in = {.layer = layer, .n_parents = n_parents};
    for (unsigned i = 0; i < NUM_WORDS; i++)
        word_copy(cs, &in.replica_id[i], &replica_id[i]);
    for (unsigned i = 0; i < 2; i++)
        word_copy(cs, &in.node[i], &node[i]);
    memcpy(in.parents, parents, n_parents * sizeof parents[0]);
    if (!cs_has_rows(cs)) {
        label_body(cs, out, &in);
        return;
    }
    struct ports p;
    ports_init(&p, "label", out, sizeof *out);
    ports_key(&p, layer);
    ports_key(&p, n_parents);
    for (unsigned i = 0; i < NUM_WORDS; i++)
        ports_in_word(&p, &in.replica_id[i]);
    for (unsigned i = 0; i < 2; i++)
        ports_in_word(&p, &in.node[i]);
    for (unsigned i = 0; i < n_parents; i++)
        ports_in_num(&p, &in.parents[i]);
    ports_out_num(&p, out);
    if (ports_enter(&p, cs)) {
        label_body(cs, out, &in);
        ports_leave(&p, cs);
    }
}
