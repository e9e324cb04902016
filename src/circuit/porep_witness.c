/*
 * The witness of a partition, challenges in parallel.
 *
 * The prologue is written first; where it ends, the challenges begin, all of the same length, so
 * that the position of each follows from the circuit's counts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "porep_parts.h"

struct witness_job {
    const struct porep_shape *shape;
    const struct porep_partition *in;
    struct witness *w;
    struct porep_common common;
    struct cs_position start, step; /* of challenge 0; the length of one */
    struct {
        cuzk_status status;
        struct cuzk_error err;
    } * result; /* for each challenge */
};

/* The position of challenge i; of the witness's end for i = n_challenges. */
static struct cs_position position_of(const struct witness_job *job, uint32_t i) {
    return (struct cs_position){job->start.n_inputs + i * job->step.n_inputs,
                                job->start.n_aux + i * job->step.n_aux,
                                job->start.n_elements + i * job->step.n_elements};
}

static bool same_position(struct cs_position a, struct cs_position b) {
    return a.n_inputs == b.n_inputs && a.n_aux == b.n_aux && a.n_elements == b.n_elements;
}

/* Finishes a writer that should have come to `end`. */
static cuzk_status finish_part(struct cs *cs, struct cs_position end, const char *what,
                               struct cuzk_error *err) {
    const struct cs_position at = cs_position_of(cs);
    cuzk_status status = cs_finish(cs, NULL, err);
    if (status == CUZK_OK && !same_position(at, end)) {
        status = error_set(err, CUZK_INTERNAL, what, "report this",
                           "the witness came to variable %u and element %u, not to %u and %u",
                           at.n_aux, at.n_elements, end.n_aux, end.n_elements);
    }
    cs_destroy(cs);
    return status;
}

static cuzk_status write_prologue(struct witness_job *job, struct cuzk_error *err) {
    struct cs *cs;
    CUZK_TRY(cs_fork_witness(&cs, job->w, (struct cs_position){.n_inputs = 1}, err));
    porep_prologue(cs, job->in, &job->common);
    job->start = cs_position_of(cs);
    return finish_part(cs, job->start, "prologue", err);
}

static cuzk_status write_challenge(const struct witness_job *job, uint32_t i,
                                   struct cuzk_error *err) {
    struct cs *cs;
    CUZK_TRY(cs_fork_witness(&cs, job->w, position_of(job, i), err));
    porep_synthesize_challenge(cs, job->shape, &job->common, &job->in->challenges[i]);
    return finish_part(cs, position_of(job, i + 1), "challenge", err);
}

static void challenge_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    struct witness_job *job = ctx;
    job->result[task].status = write_challenge(job, (uint32_t)task, &job->result[task].err);
}

static cuzk_status run_challenges(struct witness_job *job, struct pool *pool,
                                  struct cuzk_error *err) {
    const uint32_t n = job->shape->n_challenges;
    const struct cs_position end = {job->w->n_inputs, job->w->n_aux, job->w->n_elements};
    job->step = (struct cs_position){(end.n_inputs - job->start.n_inputs) / n,
                                     (end.n_aux - job->start.n_aux) / n,
                                     (end.n_elements - job->start.n_elements) / n};
    if (!same_position(position_of(job, n), end))
        return error_set(err, CUZK_INTERNAL, "witness", "report this",
                         "the circuit's variables are not %u challenges of the same length", n);
    job->result = calloc(n, sizeof *job->result);
    if (job->result == NULL)
        return error_set(err, CUZK_NO_MEMORY, "witness", NULL, "no memory for %u challenges", n);
    pool_run(pool, n, challenge_task, job);
    cuzk_status status = CUZK_OK;
    for (uint32_t i = 0; i < n && status == CUZK_OK; i++) {
        status = job->result[i].status;
        if (status != CUZK_OK && err != NULL) *err = job->result[i].err;
    }
    free(job->result);
    return status;
}

/* ---- are there as many challenges and path elements as the circuit has ---- */

static cuzk_status check_path(const struct merkle_path *path, unsigned n_levels, uint32_t challenge,
                              const char *name, int index, struct cuzk_error *err) {
    char where[64];
    if (path->n_elements == n_levels) return CUZK_OK;
    if (index < 0)
        snprintf(where, sizeof where, "challenge[%u].%s", challenge, name);
    else
        snprintf(where, sizeof where, "challenge[%u].%s[%d]", challenge, name, index);
    return error_set(err, CUZK_FIELD_COUNT, where, NULL,
                     "the path has %u elements; the circuit has %u", path->n_elements, n_levels);
}

static cuzk_status check_counts(const struct porep_shape *shape, const struct porep_partition *in,
                                struct cuzk_error *err) {
    const unsigned binary = tree_path_levels(&porep_tree_d, shape->n_nodes);
    const unsigned levels = tree_path_levels(&shape->tree, shape->n_nodes);
    if (in->n_challenges != shape->n_challenges)
        return error_set(err, CUZK_FIELD_COUNT, "partition", NULL,
                         "it has %u challenges; the circuit has %u", in->n_challenges,
                         shape->n_challenges);
    for (uint32_t i = 0; i < in->n_challenges; i++) {
        const struct porep_challenge *const c = &in->challenges[i];
        CUZK_TRY(check_path(&c->comm_d, binary, i, "comm_d", -1, err));
        CUZK_TRY(check_path(&c->comm_r_last, levels, i, "comm_r_last", -1, err));
        CUZK_TRY(check_path(&c->c_x.path, levels, i, "c_x", -1, err));
        for (int k = 0; k < POREP_DRG_PARENTS; k++)
            CUZK_TRY(check_path(&c->drg[k].path, levels, i, "drg_parent", k, err));
        for (int k = 0; k < POREP_EXP_PARENTS; k++)
            CUZK_TRY(check_path(&c->exp[k].path, levels, i, "exp_parent", k, err));
    }
    return CUZK_OK;
}

/* The counts of a witness decide where its planes lie; wrong ones would be written past. */
static cuzk_status check_planes(const struct witness *w, const struct r1cs_stats *stats,
                                struct cuzk_error *err) {
    if (w->n_inputs == stats->n_inputs && w->n_aux == stats->n_aux &&
        w->n_elements == stats->n_elements)
        return CUZK_OK;
    return error_set(err, CUZK_INTERNAL, "witness", "report this",
                     "its planes are for %u inputs, %u variables and %u elements, the circuit has "
                     "%u, %u and %u",
                     w->n_inputs, w->n_aux, w->n_elements, stats->n_inputs, stats->n_aux,
                     stats->n_elements);
}

static cuzk_status fill(const struct porep_shape *shape, const struct porep_partition *in,
                        struct witness *w, struct pool *pool, struct cuzk_error *err) {
    struct witness_job job = {.shape = shape, .in = in, .w = w};
    CUZK_TRY(write_prologue(&job, err));
    return run_challenges(&job, pool, err);
}

cuzk_status porep_witness_into(const struct porep_shape *shape, struct r1cs *r,
                               const struct porep_partition *in, struct witness *w,
                               struct pool *pool, struct cuzk_error *err) {
    struct r1cs_stats stats;
    CUZK_TRY(check_counts(shape, in, err));
    CUZK_TRY(r1cs_get_stats(r, &stats, pool, err));
    CUZK_TRY(check_planes(w, &stats, err));
    return fill(shape, in, w, pool, err);
}

cuzk_status porep_witness(const struct porep_shape *shape, struct r1cs *r,
                          const struct porep_partition *in, struct witness *out, struct pool *pool,
                          struct cuzk_error *err) {
    struct r1cs_stats stats;
    *out = (struct witness){0};
    CUZK_TRY(check_counts(shape, in, err));
    CUZK_TRY(r1cs_get_stats(r, &stats, pool, err));
    CUZK_TRY(witness_create(out, stats.n_inputs, stats.n_aux, stats.n_elements, err));
    const cuzk_status status = fill(shape, in, out, pool, err);
    if (status != CUZK_OK) witness_destroy(out);
    return status;
}
