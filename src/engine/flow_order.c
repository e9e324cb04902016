/* Which partition is next, and how those that are passed over age. */
#include <assert.h>

#include "flow_internal.h"

/* The level after `overtaken` others went first, one step for each age_after. It is never above
 * HIGH, because age stops counting there. */
static unsigned raised(const struct flow *f, unsigned level, unsigned overtaken) {
    if (f->config.age_after == 0 || level >= FLOW_HIGH) return level;
    level += overtaken / f->config.age_after;
    assert(level <= FLOW_HIGH);
    return level;
}

/* Counts one more that went first, as far as the count can change anything. */
static void age(const struct flow *f, unsigned level, unsigned *overtaken) {
    if (raised(f, level, *overtaken) < FLOW_HIGH && f->config.age_after != 0) ++*overtaken;
}

static bool can_begin(const struct flow *f, const struct flow_job *job) {
    return job->in[FLOW_PENDING] > 0 && (f->circuits_ready >> job->circuit & 1) != 0;
}

static bool has_permit_for(const struct flow *f, const struct flow_job *job) {
    const unsigned extra = job->priority == FLOW_CRITICAL ? f->config.critical_permits : 0;
    return f->count.permits_taken < f->permits + extra;
}

static struct flow_job *next_job(const struct flow *f, unsigned *level) {
    struct flow_job *best = NULL;
    for (unsigned i = 0; i < f->count.jobs; i++) {
        struct flow_job *job = f->jobs[i];
        if (!can_begin(f, job) || !has_permit_for(f, job)) continue;
        const unsigned l = raised(f, job->priority, job->overtaken);
        if (best != NULL && l <= *level) continue;
        best = job;
        *level = l;
    }
    return best;
}

/* Of each priority only the job that is first in line ages: a long queue of LOW jobs must not rise
 * as a whole and shut out those above it. */
static void age_waiting_jobs(struct flow *f, const struct flow_job *taken) {
    bool seen[FLOW_CRITICAL + 1] = {false};
    for (unsigned i = 0; i < f->count.jobs; i++) {
        struct flow_job *job = f->jobs[i];
        if (job != taken && (seen[job->priority] || !can_begin(f, job))) continue;
        if (job != taken) age(f, job->priority, &job->overtaken);
        seen[job->priority] = true;
    }
}

static struct flow_partition *first_in(struct flow_job *job, enum flow_stage stage) {
    unsigned i = 0;
    while (job->partition[i].stage != (uint8_t)stage)
        i++;
    assert(i < job->n_partitions);
    return &job->partition[i];
}

static struct flow_task task_of(const struct flow_job *job, const struct flow_partition *p) {
    return (struct flow_task){.job = job->id,
                              .partition = (unsigned)(p - job->partition),
                              .attempt = (unsigned)p->losses + p->invalids};
}

bool flow_next_synthesis(struct flow *f, struct flow_task *out) {
    unsigned level = 0;
    struct flow_job *job = next_job(f, &level);
    if (job == NULL) return false;
    struct flow_partition *p = first_in(job, FLOW_PENDING);
    age_waiting_jobs(f, job);
    job->overtaken = 0;
    p->level = (uint8_t)level;
    flow_move(f, job, p, FLOW_SYNTHESIS);
    *out = task_of(job, p);
    flow_check_event(f);
    return true;
}

/* ---- devices ---- */

static bool has_room(const struct flow *f, unsigned device) {
    const unsigned workers = f->config.workers[device];
    return f->up[device] && f->starting[device] < workers &&
           f->count.on_device[device] < workers + f->config.pendings[device];
}

static bool another_is_up(const struct flow *f, unsigned device) {
    for (unsigned d = 0; d < f->config.n_devices; d++) {
        if (d != device && f->up[d]) return true;
    }
    return false;
}

struct choice {
    struct flow_job *job;
    struct flow_partition *p;
    unsigned level;
};

static void consider_ready(const struct flow *f, struct flow_job *job, unsigned avoiding,
                           struct choice *best) {
    for (unsigned i = 0; i < job->n_partitions; i++) {
        struct flow_partition *p = &job->partition[i];
        if (p->stage != FLOW_READY || (avoiding != 0 && p->avoid == avoiding)) continue;
        const unsigned l = raised(f, p->level, p->overtaken);
        if (best->p == NULL || l > best->level) *best = (struct choice){job, p, l};
    }
}

static void age_ready(struct flow *f, const struct flow_job *taken) {
    for (unsigned i = 0; i < f->count.jobs; i++) {
        struct flow_job *job = f->jobs[i];
        if (job == taken || job->in[FLOW_READY] == 0) continue;
        for (unsigned k = 0; k < job->n_partitions; k++) {
            struct flow_partition *p = &job->partition[k];
            if (p->stage == FLOW_READY) age(f, p->level, &p->overtaken);
        }
    }
}

bool flow_next_start(struct flow *f, unsigned device, struct flow_task *out) {
    assert(device < f->config.n_devices);
    if (!has_room(f, device)) return false;
    const unsigned avoiding = another_is_up(f, device) ? device + 1 : 0;
    struct choice best = {NULL, NULL, 0};
    for (unsigned i = 0; i < f->count.jobs; i++) {
        if (f->jobs[i]->in[FLOW_READY] > 0) consider_ready(f, f->jobs[i], avoiding, &best);
    }
    if (best.p == NULL) return false;
    age_ready(f, best.job);
    best.p->device = (uint8_t)device;
    flow_move(f, best.job, best.p, FLOW_START);
    *out = task_of(best.job, best.p);
    flow_check_event(f);
    return true;
}
