/*
 * Walks through every order of events of small configurations of the flow, and checks in each state
 * that can be reached, and at each step, what flow.h promises:
 *
 * - the invariants (flow_broken), and with them witnesses <= flow_max_witnesses;
 * - what is handed out next is what a second, naive statement of the order says, no later and no
 *   earlier (so a CRITICAL job gets its permit in a crowd, and nobody idles while there is work);
 * - a partition goes only from stage to stage as the page says, so it is DONE or DROPPED once, and
 *   each event's outcome tells the truth about it;
 * - no deadlock: while a job is not over, a device is up and its circuit is ready, some event that
 * is no failure can happen;
 * - no starvation: each event that is no failure lowers the distance to the end (steps_left), so
 *   that every run, in whatever order, ends within that many of them; and where it ends all jobs
 *   are over, with each partition DONE, or DROPPED in a job that was cancelled or failed;
 * - events of tasks that are not their caller's any more change nothing.
 *
 * The stream configurations have no end: new HIGH jobs come for ever. There the check is that a LOW
 * partition is overtaken no more than a bound, in any order of events.
 */
#include "unit/test_main.h"

#include <stdbool.h>

#include "flow.h"
#include "flow_internal.h"
#include "unit/flow_rules.h"
#include "unit/state_set.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SLOW_BUILD 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define SLOW_BUILD 1
#endif
#ifndef SLOW_BUILD
#define SLOW_BUILD 0
#endif

enum { MOST_JOBS = 4, STATE_BYTES = 160 };

/* How often each failure, or change from outside, may still happen. */
struct budget {
    uint8_t cancels, losses, invalids, bad_syntheses, refusals, permit_changes;
};

struct model {
    const char *name;
    bool large; /* not in slow builds */
    struct flow_config config;
    struct {
        enum flow_priority priority;
        unsigned n_partitions;
    } jobs[MOST_JOBS];
    unsigned n_jobs;
    unsigned n_present; /* there at first; the others arrive in order, at any time */
    bool late_circuit;  /* the last job's circuit is loaded at any time */
    unsigned stream;    /* HIGH jobs of one partition kept alive for ever beside jobs[0] */
    struct budget budget;
};

/* All that the future depends on beside the flow. */
struct environment {
    struct budget left;
    uint8_t arrived;
    uint8_t overtaken; /* stream: others that went before the LOW partition in its present stage */
};

struct node {
    struct flow *f;
    struct environment env;
};

/* ---- the walk ---- */

struct walk {
    const struct model *m;
    struct state_set met;
    struct node *stack;
    size_t n_stack, stack_allocated;
    uint64_t next_job; /* names are no part of the state */
    unsigned long long steps, ends, broken;
    unsigned most_ready, most_witnesses, most_overtaken;
};

/* Fills `out` to the set's length: the flow's bytes, zeros, and the environment at the end. */
static void state_of(const struct walk *w, const struct node *n, uint8_t *out) {
    memset(out, 0, w->met.state_bytes);
    const size_t room = w->met.state_bytes - sizeof n->env;
    assert_true(flow_state_bytes(n->f, out, room) <= room);
    memcpy(out + room, &n->env, sizeof n->env);
}

static struct node copy_of(const struct node *n) {
    struct node copy = {.f = flow_copy(n->f), .env = n->env};
    assert_non_null(copy.f);
    return copy;
}

/* Takes the node's flow. */
static void push_if_new(struct walk *w, const struct node *n) {
    uint8_t state[STATE_BYTES];
    state_of(w, n, state);
    if (!state_set_insert(&w->met, state)) {
        flow_destroy(n->f);
        return;
    }
    if (w->n_stack == w->stack_allocated) {
        w->stack_allocated = w->stack_allocated == 0 ? 256 : 2 * w->stack_allocated;
        w->stack = realloc(w->stack, w->stack_allocated * sizeof *w->stack);
        assert_non_null(w->stack);
    }
    w->stack[w->n_stack++] = *n;
}

/* Events that are no failure and can still happen, if none is a failure any more. */
static unsigned steps_left(const struct walk *w, const struct node *n) {
    static const unsigned left[FLOW_STAGES] = {6, 5, 4, 3, 2, 1, 0, 0};
    const struct flow *f = n->f;
    unsigned steps = 0;
    for (unsigned i = 0; i < f->count.jobs; i++) {
        for (unsigned k = 0; k < f->jobs[i]->n_partitions; k++)
            steps += left[f->jobs[i]->partition[k].stage];
    }
    for (unsigned i = n->env.arrived; i < w->m->n_jobs; i++)
        steps += 1 + 6 * w->m->jobs[i].n_partitions;
    for (unsigned d = 0; d < f->config.n_devices; d++)
        steps += !f->up[d];
    return steps + (f->circuits_ready != 3);
}

/* ---- events ---- */

enum kind {
    TAKE,
    START,
    NEXT_STAGE, /* of job a, partition b */
    ARRIVE,
    LOAD_CIRCUIT,
    DEVICE_UP,
    FIRST_FAILURE,
    BAD_EVENT = FIRST_FAILURE, /* the same, with the bad end */
    CANCEL,
    LOSE_DEVICE,
    CHANGE_PERMITS,
    KINDS
};

struct event {
    enum kind kind;
    unsigned a, b;
};

static void add_job(struct walk *w, struct node *n, enum flow_priority priority, unsigned parts,
                    unsigned circuit) {
    assert_int_equal(flow_job_add(n->f, ++w->next_job, priority, parts, circuit, NULL, NULL),
                     CUZK_OK);
}

static bool spend(uint8_t *left) {
    if (*left == 0) return false;
    --*left;
    return true;
}

static bool take(const struct node *before, struct node *n, int device) {
    struct flow_task t = {0};
    const bool taken =
        device < 0 ? flow_next_synthesis(n->f, &t) : flow_next_start(n->f, (unsigned)device, &t);
    flow_rules_order(before->f, device, taken, &t);
    return taken;
}

static struct flow_task task_of(const struct flow *f, unsigned i, unsigned k) {
    const struct flow_partition *p = &f->jobs[i]->partition[k];
    return (struct flow_task){f->jobs[i]->id, k, (unsigned)p->losses + p->invalids};
}

static bool next_stage(const struct node *before, struct node *n, unsigned i, unsigned k) {
    const struct flow_task t = task_of(n->f, i, k);
    enum flow_outcome o;
    switch ((enum flow_stage)n->f->jobs[i]->partition[k].stage) {
    case FLOW_SYNTHESIS:
        o = flow_synthesized(n->f, &t, true);
        break;
    case FLOW_START:
        o = flow_started(n->f, &t);
        break;
    case FLOW_FINISH:
        o = flow_finished(n->f, &t);
        break;
    case FLOW_VERIFY:
        o = flow_verified(n->f, &t, true);
        break;
    default:
        return false;
    }
    flow_rules_outcome(before->f, n->f, i, k, o);
    return true;
}

static bool bad_event(const struct node *before, struct node *n, unsigned i, unsigned k) {
    const struct flow_task t = task_of(n->f, i, k);
    struct budget *left = &n->env.left;
    enum flow_outcome o;
    switch ((enum flow_stage)n->f->jobs[i]->partition[k].stage) {
    case FLOW_SYNTHESIS:
        if (!spend(&left->bad_syntheses)) return false;
        o = flow_synthesized(n->f, &t, false);
        break;
    case FLOW_START:
    case FLOW_FINISH:
        if (!spend(&left->refusals)) return false;
        o = flow_device_refused(n->f, &t);
        break;
    case FLOW_VERIFY:
        if (!spend(&left->invalids)) return false;
        o = flow_verified(n->f, &t, false);
        break;
    default:
        return false;
    }
    REQUIRE(before->f, o != FLOW_GOES_ON && o != FLOW_JOB_DONE);
    flow_rules_outcome(before->f, n->f, i, k, o);
    return true;
}

struct heard {
    unsigned n;
    struct flow_task task[16];
    enum flow_outcome outcome[16];
};

static void hear(void *ctx, const struct flow_task *task, enum flow_outcome o) {
    struct heard *h = ctx;
    assert_true(h->n < 16);
    h->task[h->n] = *task;
    h->outcome[h->n++] = o;
}

/* Of a job that this loss fails, those before the one that did it were told AGAIN, those after it
 * DROP; in the end all are DROPPED. */
static void compare_loss(const struct flow *before, const struct flow *after,
                         const struct heard *h) {
    bool failed[MOST_JOBS] = {false};
    for (unsigned e = 0; e < h->n; e++) {
        const struct flow_task *t = &h->task[e];
        unsigned i = 0;
        while (before->jobs[i]->id != t->job)
            i++;
        REQUIRE(before, t->attempt == task_of(before, i, t->partition).attempt);
        const bool in_vain = before->jobs[i]->stop != FLOW_STOP_NO || failed[i];
        REQUIRE(before, in_vain == (h->outcome[e] == FLOW_DROP));
        REQUIRE(before, in_vain || h->outcome[e] == FLOW_AGAIN || h->outcome[e] == FLOW_JOB_FAILED);
        failed[i] = failed[i] || h->outcome[e] == FLOW_JOB_FAILED;
        const bool stopped = after->jobs[i]->stop != FLOW_STOP_NO;
        REQUIRE(before, flow_stage_of(after, t) == (stopped ? FLOW_DROPPED : FLOW_PENDING));
    }
    for (unsigned i = 0; i < before->count.jobs; i++) {
        const bool fails =
            before->jobs[i]->stop == FLOW_STOP_NO && after->jobs[i]->stop == FLOW_STOP_FAILED;
        REQUIRE(before, failed[i] == fails);
    }
}

static bool lose_device(const struct node *before, struct node *n, unsigned device) {
    if (!n->f->up[device] || !spend(&n->env.left.losses)) return false;
    struct heard h = {0};
    flow_device_lost(n->f, device, hear, &h);
    REQUIRE(before->f, h.n == before->f->count.on_device[device]);
    REQUIRE(before->f, n->f->count.on_device[device] == 0);
    compare_loss(before->f, n->f, &h);
    return true;
}

static bool cancel(struct node *n, unsigned i) {
    const struct flow_job *job = n->f->jobs[i];
    if (job->stop != FLOW_STOP_NO || flow_job_state(n->f, job->id) == FLOW_JOB_OVER ||
        !spend(&n->env.left.cancels))
        return false;
    flow_job_cancel(n->f, job->id);
    REQUIRE(n->f, flow_job_cancelled(n->f, job->id));
    return true;
}

static bool change_permits(struct node *n) {
    if (!spend(&n->env.left.permit_changes)) return false;
    flow_set_permits(n->f, n->f->permits == 1 ? n->f->config.permits : 1);
    return true;
}

static bool arrive(struct walk *w, struct node *n) {
    const struct model *m = w->m;
    if (n->env.arrived == m->n_jobs) return false;
    const unsigned i = n->env.arrived++;
    const unsigned circuit = m->late_circuit && i == m->n_jobs - 1;
    add_job(w, n, m->jobs[i].priority, m->jobs[i].n_partitions, circuit);
    return true;
}

/* False: it cannot happen in this state. */
static bool apply(struct walk *w, const struct node *before, struct node *n, struct event e) {
    switch (e.kind) {
    case TAKE:
        return take(before, n, -1);
    case START:
        return take(before, n, (int)e.a);
    case NEXT_STAGE:
        return next_stage(before, n, e.a, e.b);
    case ARRIVE:
        return arrive(w, n);
    case LOAD_CIRCUIT:
        if (n->f->circuits_ready == 3) return false;
        flow_circuit_ready(n->f, 1, true);
        return true;
    case DEVICE_UP:
        if (n->f->up[e.a]) return false;
        flow_device_up(n->f, e.a, true);
        return true;
    case BAD_EVENT:
        return bad_event(before, n, e.a, e.b);
    case CANCEL:
        return cancel(n, e.a);
    case LOSE_DEVICE:
        return lose_device(before, n, e.a);
    case CHANGE_PERMITS:
        return change_permits(n);
    default:
        return false;
    }
}

/* Every event that might happen; apply says which can. */
static unsigned list_events(const struct flow *f, struct event *out) {
    unsigned n = 0;
    for (enum kind kind = TAKE; kind < KINDS; kind++) {
        const bool of_device = kind == START || kind == DEVICE_UP || kind == LOSE_DEVICE;
        const bool of_partition = kind == NEXT_STAGE || kind == BAD_EVENT;
        const bool of_job = of_partition || kind == CANCEL;
        const unsigned n_a = of_device ? f->config.n_devices : of_job ? f->count.jobs : 1;
        for (unsigned a = 0; a < n_a; a++) {
            const unsigned n_b = of_partition ? f->jobs[a]->n_partitions : 1;
            for (unsigned b = 0; b < n_b; b++)
                out[n++] = (struct event){kind, a, b};
        }
    }
    return n;
}

/* ---- the checks of a state ---- */

/* Events that do not fit the stage, or come from an attempt before, change nothing. */
static void check_strangers(struct walk *w, const struct node *n) {
    struct flow *f = n->f;
    uint8_t before[STATE_BYTES], after[STATE_BYTES];
    state_of(w, n, before);
    for (unsigned i = 0; i < f->count.jobs; i++) {
        for (unsigned k = 0; k < f->jobs[i]->n_partitions; k++) {
            struct flow_task t = task_of(f, i, k);
            const enum flow_stage s = (enum flow_stage)f->jobs[i]->partition[k].stage;
            const bool on_device = s == FLOW_START || s == FLOW_FINISH;
            for (int late = 0; late < 2; late++, t.attempt--) {
                if (late && t.attempt == UINT32_MAX) break;
                bool dropped = true;
                if (late || s != FLOW_SYNTHESIS)
                    dropped = dropped && flow_synthesized(f, &t, true) == FLOW_DROP;
                if (late || s != FLOW_START) dropped = dropped && flow_started(f, &t) == FLOW_DROP;
                if (late || s != FLOW_FINISH)
                    dropped = dropped && flow_finished(f, &t) == FLOW_DROP;
                if (late || s != FLOW_VERIFY)
                    dropped = dropped && flow_verified(f, &t, late != 0) == FLOW_DROP;
                if (late || !on_device)
                    dropped = dropped && flow_device_refused(f, &t) == FLOW_DROP;
                REQUIRE(f, dropped);
                if (t.attempt == 0) break;
            }
        }
    }
    state_of(w, n, after);
    REQUIRE(f, memcmp(before, after, w->met.state_bytes) == 0);
}

/* Whether anything is left that does not wait for a circuit. */
static bool has_work(const struct flow *f) {
    for (unsigned i = 0; i < f->count.jobs; i++) {
        const struct flow_job *job = f->jobs[i];
        const unsigned left = job->n_partitions - job->in[FLOW_DONE] - job->in[FLOW_DROPPED];
        if (left > (flow_rules_circuit_ready(f, job) ? 0 : job->in[FLOW_PENDING])) return true;
    }
    return false;
}

static bool a_device_is_up(const struct flow *f) {
    for (unsigned d = 0; d < f->config.n_devices; d++) {
        if (f->up[d]) return true;
    }
    return false;
}

/* A state in which nothing but failures can happen. */
static void check_end(struct walk *w, const struct flow *f) {
    w->ends++;
    for (unsigned i = 0; i < f->count.jobs; i++) {
        const struct flow_job *job = f->jobs[i];
        REQUIRE(f, flow_job_state(f, job->id) == FLOW_JOB_OVER);
        REQUIRE(f, job->stop != FLOW_STOP_NO || flow_rules_all_are(job, FLOW_DONE));
    }
    REQUIRE(f, f->count.jobs == w->m->n_jobs);
    REQUIRE(f, f->count.witnesses == 0 && f->count.permits_taken == 0);
}

static void check_state(struct walk *w, const struct node *n) {
    const struct flow *f = n->f;
    const char *why = flow_broken(f);
    if (f->config.early_permit) {
        w->broken += why != NULL;
    } else if (why != NULL) {
        flow_rules_print(f);
        fail_msg("%s", why);
    }
    const unsigned ready = flow_rules_count(f, FLOW_READY, -1);
    const unsigned witnesses =
        ready + flow_rules_count(f, FLOW_SYNTHESIS, -1) + flow_rules_count(f, FLOW_START, -1);
    if (ready > w->most_ready) w->most_ready = ready;
    if (witnesses > w->most_witnesses) w->most_witnesses = witnesses;
    check_strangers(w, n);
}

/* ---- streams ---- */

/* The LOW job is the one that is not HIGH; it has one partition. */
static const struct flow_job *low_job(const struct flow *f) {
    unsigned i = 0;
    while (f->jobs[i]->priority != FLOW_LOW)
        i++;
    return f->jobs[i];
}

static void go_on_for_ever(struct walk *w, struct node *n) {
    for (unsigned i = n->f->count.jobs; i-- > 0;) {
        const struct flow_job *job = n->f->jobs[i];
        if (flow_job_state(n->f, job->id) != FLOW_JOB_OVER) continue;
        const enum flow_priority priority = job->priority;
        flow_job_remove(n->f, job->id);
        add_job(w, n, priority, 1, 0);
    }
}

/* Counts those that go before the LOW partition while it waits in line or in READY. */
static void count_overtaking(struct walk *w, const struct node *before, struct node *n,
                             struct event e) {
    const struct flow_partition *was = &low_job(before->f)->partition[0];
    const struct flow_partition *is = &low_job(n->f)->partition[0];
    if (was->stage != is->stage) {
        n->env.overtaken = 0;
    } else if ((e.kind == TAKE && is->stage == FLOW_PENDING) ||
               (e.kind == START && is->stage == FLOW_READY)) {
        n->env.overtaken++;
    }
    if (n->env.overtaken > w->most_overtaken) w->most_overtaken = n->env.overtaken;
    /* Two steps up, and then those of its level that are older. */
    REQUIRE(n->f, n->env.overtaken <= 2 * w->m->config.age_after + w->m->stream);
}

/* ---- the walk through all states ---- */

static void check_step(struct walk *w, const struct node *before, struct node *after,
                       struct event e) {
    w->steps++;
    flow_rules_stages(before->f, after->f);
    if (w->m->stream != 0) {
        count_overtaking(w, before, after, e);
        go_on_for_ever(w, after);
    } else if (e.kind < FIRST_FAILURE) {
        REQUIRE(before->f, steps_left(w, after) < steps_left(w, before));
    }
}

static void expand(struct walk *w, const struct node *n) {
    struct event events[64];
    check_state(w, n);
    const unsigned n_events = list_events(n->f, events);
    assert_true(n_events <= 64);
    unsigned n_good = 0, n_work = 0;
    struct node next = copy_of(n);
    for (unsigned i = 0; i < n_events; i++) {
        if (!apply(w, n, &next, events[i])) continue; /* and next is as it was */
        n_good += events[i].kind < FIRST_FAILURE;
        n_work += events[i].kind <= NEXT_STAGE;
        check_step(w, n, &next, events[i]);
        push_if_new(w, &next);
        next = copy_of(n);
    }
    flow_destroy(next.f);
    REQUIRE(n->f, n_work > 0 || !has_work(n->f) || !a_device_is_up(n->f));
    if (n_good == 0) check_end(w, n->f);
}

static struct node first_node(struct walk *w) {
    const struct model *m = w->m;
    struct node n = {.env = {.left = m->budget}};
    assert_int_equal(flow_create(&n.f, &m->config, NULL), CUZK_OK);
    for (unsigned d = 0; d < m->config.n_devices; d++)
        flow_device_up(n.f, d, true);
    flow_circuit_ready(n.f, 0, true);
    flow_circuit_ready(n.f, 1, !m->late_circuit);
    while (n.env.arrived < m->n_present)
        arrive(w, &n);
    for (unsigned i = 0; i < m->stream; i++)
        add_job(w, &n, FLOW_HIGH, 1, 0);
    return n;
}

static size_t most_state_bytes(struct walk *w) {
    struct node n = first_node(w);
    while (arrive(w, &n)) {
    }
    const size_t bytes = flow_state_bytes_max(n.f) + sizeof n.env;
    flow_destroy(n.f);
    assert_true(bytes <= STATE_BYTES);
    return bytes;
}

/* The results are in *w; nothing in it is left to free. */
static void walk_through(struct walk *w, const struct model *m) {
    *w = (struct walk){.m = m};
    w->met.state_bytes = most_state_bytes(w);
    const struct node first = first_node(w);
    push_if_new(w, &first);
    while (w->n_stack > 0) {
        const struct node n = w->stack[--w->n_stack];
        expand(w, &n);
        flow_destroy(n.f);
    }
    printf("%-50s %8zu states %9llu steps %5llu ends, most READY %u, witnesses %u of %u\n", m->name,
           w->met.n, w->steps, w->ends, w->most_ready, w->most_witnesses,
           flow_max_witnesses(&m->config));
    state_set_free(&w->met);
    free(w->stack);
}

/* ---- the configurations ---- */

static const struct model models[] = {
    {.name = "1 job x 3, 1 permit, no failures",
     .config = {.permits = 1, .n_devices = 1, .workers = {1}, .pendings = {1}},
     .jobs = {{FLOW_NORMAL, 3}},
     .n_jobs = 1,
     .n_present = 1},
    {.name = "jobs of 2 and 1, every failure once",
     .config = {.permits = 2, .n_devices = 1, .workers = {1}, .pendings = {1}},
     .jobs = {{FLOW_NORMAL, 2}, {FLOW_HIGH, 1}},
     .n_jobs = 2,
     .n_present = 1,
     .budget = {1, 1, 1, 1, 1, 0}},
    {.name = "2 jobs x 2, cancel, loss, invalid, bad synthesis",
     .large = true,
     .config = {.permits = 2, .n_devices = 1, .workers = {1}, .pendings = {1}},
     .jobs = {{FLOW_NORMAL, 2}, {FLOW_HIGH, 2}},
     .n_jobs = 2,
     .n_present = 2,
     .budget = {1, 1, 1, 1, 0, 0}},
    {.name = "1 job x 2 on 2 devices, failures twice",
     .config = {.permits = 2, .n_devices = 2, .workers = {1, 1}, .pendings = {1, 0}},
     .jobs = {{FLOW_NORMAL, 2}},
     .n_jobs = 1,
     .n_present = 1,
     .budget = {1, 2, 2, 1, 2, 0}},
    {.name = "jobs of 2 and 1 on 2 devices, 2 workers",
     .large = true,
     .config = {.permits = 2, .n_devices = 2, .workers = {2, 1}, .pendings = {1, 1}},
     .jobs = {{FLOW_LOW, 2}, {FLOW_NORMAL, 1}},
     .n_jobs = 2,
     .n_present = 2,
     .budget = {1, 1, 1, 0, 0, 0}},
    {.name = "CRITICAL arrives in a crowd, 1 + 1 permits",
     .config =
         {.permits = 1, .critical_permits = 1, .n_devices = 1, .workers = {1}, .pendings = {1}},
     .jobs = {{FLOW_NORMAL, 2}, {FLOW_HIGH, 1}, {FLOW_CRITICAL, 2}},
     .n_jobs = 3,
     .n_present = 1,
     .budget = {1, 1, 0, 0, 0, 0}},
    {.name = "CRITICAL, 2 + 1 permits, permits change",
     .large = true,
     .config =
         {.permits = 2, .critical_permits = 1, .n_devices = 1, .workers = {2}, .pendings = {1}},
     .jobs = {{FLOW_NORMAL, 3}, {FLOW_CRITICAL, 1}},
     .n_jobs = 2,
     .n_present = 1,
     .budget = {0, 1, 0, 0, 0, 2}},
    {.name = "2 jobs x 3, cancel",
     .config = {.permits = 2, .n_devices = 1, .workers = {1}, .pendings = {1}},
     .jobs = {{FLOW_NORMAL, 3}, {FLOW_HIGH, 3}},
     .n_jobs = 2,
     .n_present = 2,
     .budget = {1, 0, 0, 0, 0, 0}},
    {.name = "3 jobs x 1, a circuit is loaded late",
     .config = {.permits = 1, .n_devices = 1, .workers = {1}, .pendings = {1}},
     .jobs = {{FLOW_HIGH, 1}, {FLOW_NORMAL, 1}, {FLOW_CRITICAL, 1}},
     .n_jobs = 3,
     .n_present = 0,
     .late_circuit = true,
     .budget = {1, 1, 1, 1, 0, 0}},
    {.name = "3 jobs x 2 with ageing",
     .large = true,
     .config = {.permits = 2, .n_devices = 1, .workers = {1}, .pendings = {1}, .age_after = 1},
     .jobs = {{FLOW_LOW, 2}, {FLOW_NORMAL, 2}, {FLOW_HIGH, 2}},
     .n_jobs = 3,
     .n_present = 3,
     .budget = {1, 0, 0, 0, 0, 0}},
    {.name = "2 jobs x 2 on 2 devices, 2 workers",
     .large = true,
     .config = {.permits = 2, .n_devices = 2, .workers = {2, 1}, .pendings = {1, 1}},
     .jobs = {{FLOW_LOW, 2}, {FLOW_NORMAL, 2}},
     .n_jobs = 2,
     .n_present = 2,
     .budget = {0, 1, 1, 0, 0, 0}},
    {.name = "3 jobs x 3, no failures",
     .large = true,
     .config = {.permits = 2, .n_devices = 1, .workers = {1}, .pendings = {1}},
     .jobs = {{FLOW_NORMAL, 3}, {FLOW_NORMAL, 3}, {FLOW_HIGH, 3}},
     .n_jobs = 3,
     .n_present = 3},
    {.name = "3 jobs x 2, one loss",
     .large = true,
     .config = {.permits = 2, .n_devices = 1, .workers = {1}, .pendings = {1}},
     .jobs = {{FLOW_NORMAL, 2}, {FLOW_NORMAL, 2}, {FLOW_HIGH, 2}},
     .n_jobs = 3,
     .n_present = 3,
     .budget = {0, 1, 0, 0, 0, 0}},
};

static void every_order_keeps_the_promises(void **state) {
    (void)state;
    size_t states = 0;
    unsigned long long steps = 0;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        if (models[i].large && SLOW_BUILD) continue;
        struct walk w;
        walk_through(&w, &models[i]);
        assert_true(w.ends > 0);
        assert_true(w.most_witnesses <= flow_max_witnesses(&models[i].config));
        states += w.met.n;
        steps += w.steps;
    }
    printf("%-50s %8zu states %9llu steps\n", "together", states, steps);
}

static void a_low_partition_is_overtaken_a_bounded_number_of_times(void **state) {
    (void)state;
    for (unsigned permits = 1; permits <= 2; permits++) {
        for (unsigned age_after = 1; age_after <= 3; age_after++) {
            const struct model m = {
                .name = "a LOW job in an endless stream of HIGH ones",
                .config = {.permits = permits,
                           .n_devices = 1,
                           .workers = {1},
                           .pendings = {1},
                           .age_after = age_after},
                .jobs = {{FLOW_LOW, 1}},
                .n_jobs = 1,
                .n_present = 1,
                .stream = 3,
            };
            struct walk w;
            walk_through(&w, &m);
            assert_int_equal(w.ends, 0);
            assert_true(w.most_overtaken >= 2 * age_after);
        }
    }
}

/* The permit that is given back too early: READY grows with the work, and the invariant says so. */
static void early_permits_are_found_out(void **state) {
    (void)state;
    for (unsigned n = 2; n <= 5; n++) {
        struct model m = {
            .name = "the permit is kept until the start",
            .config = {.permits = 1, .n_devices = 1, .workers = {1}, .pendings = {0}},
            .jobs = {{FLOW_NORMAL, n}},
            .n_jobs = 1,
            .n_present = 1,
        };
        struct walk w;
        walk_through(&w, &m);
        assert_int_equal(w.most_ready, 1);
        assert_int_equal(w.broken, 0);
        m.name = "the permit is given back early";
        m.config.early_permit = true;
        walk_through(&w, &m);
        assert_int_equal(w.most_ready, n);
        assert_true(w.broken > 0);
        assert_int_equal(w.most_witnesses > flow_max_witnesses(&m.config), n > 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_keeps_the_promises),
        cmocka_unit_test(a_low_partition_is_overtaken_a_bounded_number_of_times),
        cmocka_unit_test(early_permits_are_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
