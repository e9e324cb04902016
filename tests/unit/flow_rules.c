#include "unit/flow_rules.h"

#include "unit/test_main.h"

void flow_rules_print(const struct flow *f) {
    static const char letter[FLOW_STAGES + 1] = "PSRTFVD-";
    for (unsigned i = 0; i < f->count.jobs; i++) {
        const struct flow_job *job = f->jobs[i];
        fprintf(stderr, " job %u (priority %d, stop %d) ", i, (int)job->priority, (int)job->stop);
        for (unsigned k = 0; k < job->n_partitions; k++)
            fputc(letter[job->partition[k].stage], stderr);
    }
    fputc('\n', stderr);
}

unsigned flow_rules_count(const struct flow *f, enum flow_stage stage, int device) {
    unsigned n = 0;
    for (unsigned i = 0; i < f->count.jobs; i++) {
        for (unsigned k = 0; k < f->jobs[i]->n_partitions; k++) {
            const struct flow_partition *p = &f->jobs[i]->partition[k];
            n += p->stage == (uint8_t)stage && (device < 0 || p->device == device);
        }
    }
    return n;
}

bool flow_rules_circuit_ready(const struct flow *f, const struct flow_job *job) {
    return (f->circuits_ready >> job->circuit & 1) != 0;
}

static bool may_be_synthesized(const struct flow *f, const struct flow_job *job) {
    const bool critical = job->priority == FLOW_CRITICAL;
    const unsigned taken = flow_rules_count(f, FLOW_SYNTHESIS, -1) +
                           (f->config.early_permit ? 0 : flow_rules_count(f, FLOW_READY, -1));
    return flow_rules_circuit_ready(f, job) &&
           taken < f->permits + (critical ? f->config.critical_permits : 0);
}

static bool may_be_started(const struct flow *f, unsigned device, const struct flow_partition *p) {
    const struct flow_config *c = &f->config;
    const unsigned starting = flow_rules_count(f, FLOW_START, (int)device);
    bool another = false;
    for (unsigned d = 0; d < c->n_devices; d++)
        another = another || (d != device && f->up[d]);
    return f->up[device] && starting < c->workers[device] &&
           starting + flow_rules_count(f, FLOW_FINISH, (int)device) <
               c->workers[device] + c->pendings[device] &&
           !(another && p->avoid == device + 1);
}

/* The first by priority, age of the job, and number; device < 0: for synthesis. */
static bool first_by_order(const struct flow *f, int device, uint64_t *job, unsigned *partition) {
    int best = 0;
    for (unsigned i = 0; i < f->count.jobs; i++) {
        const struct flow_job *j = f->jobs[i];
        if ((int)j->priority <= best) continue;
        for (unsigned k = j->n_partitions; k-- > 0;) {
            const struct flow_partition *p = &j->partition[k];
            const bool may = device < 0
                                 ? p->stage == FLOW_PENDING && may_be_synthesized(f, j)
                                 : p->stage == FLOW_READY && may_be_started(f, (unsigned)device, p);
            if (!may) continue;
            best = (int)j->priority;
            *job = j->id;
            *partition = k;
        }
    }
    return best != 0;
}

void flow_rules_order(const struct flow *before, int device, bool taken,
                      const struct flow_task *t) {
    uint64_t job = 0;
    unsigned partition = 0;
    REQUIRE(before, taken == first_by_order(before, device, &job, &partition));
    if (!taken || before->config.age_after != 0) return;
    REQUIRE(before, t->job == job);
    REQUIRE(before, t->partition == partition);
}

static bool may_follow(enum flow_stage from, enum flow_stage to) {
    static const unsigned next[FLOW_STAGES] = {
        [FLOW_PENDING] = 1u << FLOW_SYNTHESIS,
        [FLOW_SYNTHESIS] = 1u << FLOW_READY,
        [FLOW_READY] = 1u << FLOW_START,
        [FLOW_START] = 1u << FLOW_FINISH | 1u << FLOW_PENDING,
        [FLOW_FINISH] = 1u << FLOW_VERIFY | 1u << FLOW_PENDING,
        [FLOW_VERIFY] = 1u << FLOW_DONE | 1u << FLOW_PENDING,
    };
    const bool over = from == FLOW_DONE || from == FLOW_DROPPED;
    return from == to || (next[from] >> to & 1) != 0 || (to == FLOW_DROPPED && !over);
}

void flow_rules_stages(const struct flow *before, const struct flow *after) {
    for (unsigned i = 0; i < before->count.jobs; i++) {
        const struct flow_job *a = before->jobs[i], *b = after->jobs[i];
        for (unsigned k = 0; k < a->n_partitions; k++) {
            const enum flow_stage from = (enum flow_stage)a->partition[k].stage;
            const enum flow_stage to = (enum flow_stage)b->partition[k].stage;
            REQUIRE(before, may_follow(from, to));
            REQUIRE(before, to != FLOW_DROPPED || b->stop != FLOW_STOP_NO);
        }
    }
}

bool flow_rules_all_are(const struct flow_job *job, enum flow_stage stage) {
    for (unsigned k = 0; k < job->n_partitions; k++) {
        if (job->partition[k].stage != (uint8_t)stage) return false;
    }
    return true;
}

void flow_rules_outcome(const struct flow *before, const struct flow *after, unsigned i, unsigned k,
                        enum flow_outcome o) {
    const struct flow_job *a = before->jobs[i], *b = after->jobs[i];
    const enum flow_stage from = (enum flow_stage)a->partition[k].stage;
    const enum flow_stage to = (enum flow_stage)b->partition[k].stage;
    const bool ran = a->stop == FLOW_STOP_NO, runs = b->stop == FLOW_STOP_NO;
    switch (o) {
    case FLOW_GOES_ON:
        REQUIRE(before, ran && runs && to == from + 1 && !flow_rules_all_are(b, FLOW_DONE));
        break;
    case FLOW_JOB_DONE:
        REQUIRE(before, ran && runs && flow_rules_all_are(b, FLOW_DONE));
        break;
    case FLOW_AGAIN:
        REQUIRE(before, ran && to == FLOW_PENDING);
        break;
    case FLOW_DROP:
        REQUIRE(before, !runs && to == FLOW_DROPPED);
        break;
    case FLOW_JOB_FAILED:
        REQUIRE(before, ran && b->stop == FLOW_STOP_FAILED && to == FLOW_DROPPED);
        break;
    }
}
