/*
 * What the plan knows of one circuit, from the planners of the rooms that take the memory.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "c1.h"
#include "ntt.h"
#include "param_layout.h"
#include "plan_internal.h"
#include "porep.h"
#include "prover.h"
#include "srs.h"

/* The circuits run on this backend; a device of another kind would bring its own planner. */
static const struct backend *const planned_backend = &backend_cpu;

/* ---- the size of a sector's text ---- */

/*
 * Upper bounds of what a value takes in JSON: 32 numbers of three digits with their commas, and the
 * keys around a path's element, an opened column, a labelling proof, and a challenge's rest.
 */
enum {
    TEXT_HASH = 130,
    TEXT_ELEMENT = 40,
    TEXT_OPENED = 200,
    TEXT_LABELING = 80,
    TEXT_CHALLENGE = 1000,
    TEXT_SECTOR = 4000,
    LABEL_PARENTS = 37,
    COLUMNS = 1 + POREP_DRG_PARENTS + POREP_EXP_PARENTS,
};

static uint64_t path_text_bytes(const struct tree_shape *tree, uint64_t n_nodes) {
    const unsigned levels = tree_path_levels(tree, n_nodes);
    uint64_t hashes = 2; /* root and leaf */
    for (unsigned i = 0; i < levels; i++)
        hashes += tree_path_arity(tree, n_nodes, i) - 1;
    return hashes * TEXT_HASH + levels * TEXT_ELEMENT;
}

static uint64_t text_bytes(const struct porep_shape *shape, unsigned n_partitions) {
    static const struct tree_shape binary = {.base_arity = 2};
    const uint64_t labelings = shape->n_layers + 1; /* with the encoding proof */
    const uint64_t challenge = path_text_bytes(&binary, shape->n_nodes) +
                               (COLUMNS + 1) * path_text_bytes(&shape->tree, shape->n_nodes) +
                               COLUMNS * ((uint64_t)shape->n_layers * TEXT_HASH + TEXT_OPENED) +
                               labelings * (LABEL_PARENTS * TEXT_HASH + TEXT_LABELING) +
                               TEXT_CHALLENGE;
    const uint64_t inner = n_partitions * shape->n_challenges * challenge + TEXT_SECTOR;
    return (inner + 2) / 3 * 4 + TEXT_SECTOR; /* base64 in the wrapper */
}

/* ---- one circuit ---- */

/* Planes over the aux variables: the kind and its ranks, and two densities. */
static uint64_t planes_bytes(const struct r1cs_stats *stats) {
    const uint64_t plane = ((uint64_t)stats->n_aux / 64 + 2) * sizeof(uint64_t);
    const uint64_t inputs = ((uint64_t)stats->n_inputs / 64 + 2) * sizeof(uint64_t);
    const uint64_t ranks = ((uint64_t)stats->n_aux / 512 + 1) * sizeof(uint32_t);
    return plan_block_bytes(plane + ranks) + plan_block_bytes(2 * plane + inputs);
}

static void plan_sector(struct plan_circuit *c) {
    const struct registered_seal *most = NULL, *fewest = NULL;
    for (size_t i = 0; registered_seal_at(i) != NULL; i++) {
        const struct registered_seal *seal = registered_seal_at(i);
        if (seal->sector_bytes != c->shape->sector_bytes) continue;
        if (most == NULL || seal->n_partitions > most->n_partitions) most = seal;
        if (fewest == NULL || seal->n_partitions < fewest->n_partitions) fewest = seal;
    }
    assert(most != NULL && fewest != NULL);
    c->max_partitions = most->n_partitions;
    /* Each partition is a block. */
    const uint64_t partition = c1_decoded_bytes(most) / most->n_partitions;
    c->input_bytes = most->n_partitions * plan_block_bytes(partition);
    c->message_bytes = text_bytes(c->shape, fewest->n_partitions);
}

static void plan_parameters(struct plan_circuit *c) {
    struct param_layout layout;
    param_layout_of_circuit(&layout, &c->stats);
    const uint64_t domain = planned_backend->domain_bytes(c->log_n);
    const uint64_t key = prover_key_bytes(&c->stats, planned_backend);
    c->key_other_bytes = plan_block_bytes(domain);
    /* Points in G1, in G2, gathered ones: three blocks. The key's planes are in the last figure;
     * they are a thousandth of it. */
    c->srs_bytes = srs_bytes(&layout) + (key - domain) + 3 * plan_block_bytes(2 << 20);
}

static void plan_work(struct plan_circuit *c, unsigned threads) {
    const struct prover_plan work = prover_plan_bound(&c->stats, planned_backend, threads);
    c->abc_bytes = 2 * plan_block_bytes(work.abc_bytes / 2);
    c->start_scratch_bytes = plan_block_bytes(work.start_scratch_bytes);
    c->pending_bytes = plan_block_bytes(work.pending_bytes);
    c->finish_scratch_bytes = plan_block_bytes(work.finish_scratch_bytes);
    c->witness_bytes =
        plan_block_bytes(witness_bytes(c->stats.n_inputs, c->stats.n_aux, c->stats.n_elements));
}

/* The counts need the recorded system, which is given back at once. */
static cuzk_status count(struct r1cs_stats *out, const struct porep_shape *shape,
                         struct cuzk_error *err) {
    struct r1cs *r = NULL;
    struct pool *pool;
    CUZK_TRY(pool_create(&pool, 0, err));
    cuzk_status s = porep_record(shape, &r, err);
    if (s == CUZK_OK) s = r1cs_get_stats(r, out, pool, err);
    r1cs_destroy(r);
    pool_destroy(pool);
    return s;
}

static void fill(struct plan_circuit *c, unsigned threads) {
    circuit_id(c->circuit_id, c->shape);
    c->log_n = ntt_log2_ceil(c->stats.n_rows);
    c->matrices_bytes = c->stats.bytes + planes_bytes(&c->stats);
    /* Buffers grow by doubling: the old half, the new one, and what is not trimmed yet. */
    c->record_bytes = 3 * c->stats.bytes;
    plan_parameters(c);
    plan_work(c, threads);
    plan_sector(c);
}

/* ---- what has been found ---- */

/* One for a circuit and a number of threads, kept until the program ends: some dozen at most. */
struct found {
    struct plan_circuit circuit;
    unsigned threads;
    struct found *next;
};
static struct found *all_found;

/* Held while a circuit is recorded, so that a second asker waits instead of recording it again.
 * No lock of base/lock.h: nothing is locked inside, and it is taken from under any of them. */
static pthread_mutex_t found_mutex = PTHREAD_MUTEX_INITIALIZER;

static const struct found *look_up(const struct porep_shape *shape, unsigned threads) {
    for (const struct found *f = all_found; f != NULL; f = f->next) {
        if (f->circuit.shape == shape && (threads == 0 || f->threads == threads)) return f;
    }
    return NULL;
}

static cuzk_status find(const struct plan_circuit **out, const struct porep_shape *shape,
                        unsigned threads, struct cuzk_error *err) {
    const struct found *known = look_up(shape, threads);
    if (known != NULL) {
        *out = &known->circuit;
        return CUZK_OK;
    }
    struct found *f = calloc(1, sizeof *f);
    if (f == NULL) return error_set(err, CUZK_NO_MEMORY, "plan", NULL, "%zu bytes", sizeof *f);
    f->circuit.shape = shape;
    f->threads = threads;
    known = look_up(shape, 0); /* the counts are the same for any number of threads */
    if (known != NULL) f->circuit.stats = known->circuit.stats;
    const cuzk_status s = known != NULL ? CUZK_OK : count(&f->circuit.stats, shape, err);
    if (s != CUZK_OK) {
        free(f);
        return s;
    }
    fill(&f->circuit, threads);
    f->next = all_found;
    all_found = f;
    *out = &f->circuit;
    return CUZK_OK;
}

cuzk_status plan_circuit_find(const struct plan_circuit **out, const char *circuit_id,
                              unsigned device_threads, struct cuzk_error *err) {
    const struct porep_shape *shape;
    CUZK_TRY(circuit_find(&shape, circuit_id, NULL, err));
    pthread_mutex_lock(&found_mutex);
    const cuzk_status s = find(out, shape, device_threads > 0 ? device_threads : 1, err);
    pthread_mutex_unlock(&found_mutex);
    return s;
}
