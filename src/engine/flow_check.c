/* The invariants of the flow, its counts, and its state as bytes. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow_internal.h"

struct flow_counts flow_count(const struct flow *f) {
    return f->count;
}

unsigned flow_max_witnesses(const struct flow_config *config) {
    unsigned n = config->permits + config->critical_permits;
    for (unsigned d = 0; d < config->n_devices; d++)
        n += config->workers[d];
    return n;
}

/* ---- invariants ---- */

struct tally {
    struct flow_counts count;
    unsigned starting[FLOW_MAX_DEVICES];
};

static void tally_partition(const struct flow *f, const struct flow_partition *p, struct tally *t) {
    const bool ready = p->stage == FLOW_READY, starts = p->stage == FLOW_START;
    t->count.stage[p->stage]++;
    t->count.permits_taken += p->stage == FLOW_SYNTHESIS || (ready && !f->config.early_permit);
    t->count.witnesses += p->stage == FLOW_SYNTHESIS || ready || starts;
    t->count.on_device[p->device] += starts || p->stage == FLOW_FINISH;
    t->starting[p->device] += starts;
}

static const char *broken_job(const struct flow *f, const struct flow_job *job, struct tally *t) {
    unsigned in[FLOW_STAGES] = {0};
    for (unsigned i = 0; i < job->n_partitions; i++) {
        const struct flow_partition *p = &job->partition[i];
        if (p->stage >= FLOW_STAGES || p->device >= f->config.n_devices)
            return "a partition is in no stage or on no device";
        in[p->stage]++;
        tally_partition(f, p, t);
        const bool spent = p->losses >= FLOW_MAX_LOSSES || p->invalids >= FLOW_MAX_INVALIDS;
        if (spent && (job->stop == FLOW_STOP_NO || p->stage != FLOW_DROPPED))
            return "a partition that failed too often goes on";
        if (p->stage == FLOW_DROPPED && job->stop == FLOW_STOP_NO)
            return "a partition of a running job is dropped";
    }
    if (memcmp(in, job->in, sizeof in) != 0) return "a job's counts are wrong";
    if (job->stop != FLOW_STOP_NO && in[FLOW_PENDING] + in[FLOW_READY] != 0)
        return "a stopped job waits for something";
    return NULL;
}

static const char *broken_bounds(const struct flow *f) {
    const struct flow_config *c = &f->config;
    const struct flow_counts *n = &f->count;
    if (n->stage[FLOW_SYNTHESIS] + n->stage[FLOW_READY] > f->allowance)
        return "more partitions are in SYNTHESIS and READY than there are permits";
    if (f->allowance > c->permits + c->critical_permits) return "there are too many permits";
    for (unsigned d = 0; d < c->n_devices; d++) {
        if (f->starting[d] > c->workers[d]) return "a device starts more than it has workers";
        if (n->on_device[d] > c->workers[d] + c->pendings[d])
            return "a device holds more pending proofs than it may";
    }
    if (n->most_witnesses > flow_max_witnesses(c)) return "more witnesses were held than planned";
    return NULL;
}

const char *flow_broken(const struct flow *f) {
    struct tally t = {.count = {.jobs = f->count.jobs, .most_witnesses = f->count.most_witnesses}};
    for (unsigned i = 0; i < f->count.jobs; i++) {
        const char *why = broken_job(f, f->jobs[i], &t);
        if (why != NULL) return why;
    }
    if (memcmp(&t.count, &f->count, sizeof t.count) != 0 ||
        memcmp(t.starting, f->starting, sizeof t.starting) != 0)
        return "the counts are wrong";
    return broken_bounds(f);
}

void flow_check(const struct flow *f) {
    const char *why = flow_broken(f);
    if (why == NULL) return;
    fprintf(stderr, "cuzk: broken invariant of the flow: %s\n", why);
    abort();
}

void flow_check_event(const struct flow *f) {
#ifdef NDEBUG
    (void)f;
#else
    if (!f->config.early_permit) flow_check(f);
#endif
}

/* ---- states, for the model check ---- */

static size_t job_bytes(const struct flow_job *job) {
    return sizeof *job + job->n_partitions * sizeof job->partition[0];
}

struct flow *flow_copy(const struct flow *f) {
    struct flow *copy = malloc(sizeof *copy);
    if (copy == NULL) return NULL;
    *copy = *f;
    copy->count.jobs = 0;
    copy->jobs_allocated = f->count.jobs;
    copy->jobs = calloc(f->count.jobs + 1u, sizeof(struct flow_job *));
    if (copy->jobs == NULL) goto failed;
    for (unsigned i = 0; i < f->count.jobs; i++) {
        copy->jobs[i] = malloc(job_bytes(f->jobs[i]));
        if (copy->jobs[i] == NULL) goto failed;
        memcpy(copy->jobs[i], f->jobs[i], job_bytes(f->jobs[i]));
        copy->count.jobs++;
    }
    return copy;
failed:
    flow_destroy(copy);
    return NULL;
}

struct writer {
    uint8_t *at, *end;
};

static void put(struct writer *w, unsigned value) {
    assert(value < 256 && w->at < w->end);
    *w->at++ = (uint8_t)value;
}

enum { JOB_HEAD_BYTES = 6, PARTITION_BYTES = 7 };

static void put_job(struct writer *w, const struct flow_job *job) {
    put(w, job->priority);
    put(w, job->stop);
    put(w, job->circuit);
    put(w, job->overtaken & 0xff);
    put(w, job->overtaken >> 8);
    put(w, job->n_partitions);
    for (unsigned i = 0; i < job->n_partitions; i++) {
        const struct flow_partition *p = &job->partition[i];
        const bool over = p->stage == FLOW_DONE || p->stage == FLOW_DROPPED;
        const bool placed = p->stage >= FLOW_START && p->stage <= FLOW_VERIFY;
        put(w, p->stage);
        put(w, p->stage == FLOW_SYNTHESIS || p->stage == FLOW_READY ? p->level : 0);
        put(w, placed ? p->device : 0);
        put(w, over ? 0 : p->avoid);
        put(w, over ? 0 : (unsigned)(p->losses << 4 | p->invalids));
        put(w, p->stage == FLOW_READY ? p->overtaken & 0xff : 0);
        put(w, p->stage == FLOW_READY ? p->overtaken >> 8 : 0);
    }
}

size_t flow_state_bytes_max(const struct flow *f) {
    size_t n = 2 + 8 + f->config.n_devices;
    for (unsigned i = 0; i < f->count.jobs; i++)
        n += JOB_HEAD_BYTES + f->jobs[i]->n_partitions * PARTITION_BYTES;
    return n;
}

size_t flow_state_bytes(const struct flow *f, uint8_t *out, size_t out_bytes) {
    assert(out_bytes >= flow_state_bytes_max(f));
    struct writer w = {out, out + out_bytes};
    put(&w, f->permits);
    put(&w, f->allowance);
    for (unsigned i = 0; i < 8; i++)
        put(&w, f->circuits_ready >> 8 * i & 0xff);
    for (unsigned d = 0; d < f->config.n_devices; d++)
        put(&w, f->up[d]);
    for (unsigned i = 0; i < f->count.jobs; i++)
        put_job(&w, f->jobs[i]);
    return (size_t)(w.at - out);
}
