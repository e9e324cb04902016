#include "plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "budget_source.h"
#include "plan_internal.h"

/* What is chosen where nothing is asked for. */
enum {
    USUAL_INPUTS = 16, /* decoded inputs: as many clients as Curio usually has at once */
    USUAL_DEVICE_WORKERS =
        1,              /* a start uses all threads; a second would double a, b, c for little */
    USUAL_PENDINGS = 1, /* the next start goes on while one is finished */
    MOST = 4096,        /* of anything that is counted */
};
#define USUAL_MESSAGE_BYTES ((uint64_t)256 << 20)

/* ---- what is planned for ---- */

/* The numbers that the plan may lower. */
struct slots {
    unsigned n_devices, partition_workers, device_workers, pendings, inputs;
    bool sequential;
};

struct setup {
    const struct plan_options *options;
    const char *ids[PLAN_MAX_CIRCUITS]; /* each once */
    unsigned n_circuits;
    unsigned cpus, device_threads;
    unsigned messages;
    uint64_t message_bytes;
    struct slots asked;
};

static unsigned or_else(unsigned given, unsigned usual) {
    return given > 0 ? given : usual;
}

static unsigned most(unsigned a, unsigned b) {
    return a > b ? a : b;
}

static uint64_t most_bytes(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static const struct slots one_at_a_time = {
    .n_devices = 1, .partition_workers = 1, .device_workers = 1, .inputs = 1, .sequential = true};

static cuzk_status check_options(const struct plan_options *o, struct cuzk_error *err) {
    const struct {
        const char *name;
        unsigned value;
    } counts[] = {
        {"devices", o->n_devices},
        {"partition workers", o->partition_workers},
        {"device workers", o->device_workers},
        {"pending proofs", o->pendings},
        {"synthesis threads", o->synthesis_threads},
        {"device threads", o->device_threads},
        {"processors", o->cpus},
        {"queued jobs", o->queued_jobs},
        {"concurrent messages", o->concurrent_messages},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (counts[i].value > MOST)
            return error_set(err, CUZK_USAGE, "plan", "give at most 4096", "%u %s are too many",
                             counts[i].value, counts[i].name);
    }
    if (o->max_message_bytes > UINT64_C(1) << 40)
        return error_set(err, CUZK_USAGE, "plan", "give at most 1 TiB",
                         "a message of %" PRIu64 " bytes", o->max_message_bytes);
    if (o->n_circuits == 0 || o->n_circuits > PLAN_MAX_CIRCUITS)
        return error_set(err, CUZK_USAGE, "plan", "name one circuit to sixteen",
                         "%u circuits are given", o->n_circuits);
    return CUZK_OK;
}

static void add_circuit(struct setup *s, const char *id) {
    for (unsigned i = 0; i < s->n_circuits; i++)
        if (strcmp(s->ids[i], id) == 0) return;
    s->ids[s->n_circuits++] = id;
}

static cuzk_status set_up(struct setup *s, const struct plan_options *o, struct cuzk_error *err) {
    CUZK_TRY(check_options(o, err));
    *s = (struct setup){.options = o};
    for (unsigned i = 0; i < o->n_circuits; i++)
        add_circuit(s, o->circuit_ids[i]);
    s->cpus = or_else(o->cpus, pool_cpus());
    s->device_threads = or_else(o->device_threads, s->cpus);
    s->messages = or_else(o->concurrent_messages, 1);
    s->message_bytes = o->max_message_bytes > 0 ? o->max_message_bytes : USUAL_MESSAGE_BYTES;
    s->asked = one_at_a_time;
    if (o->sequential) return CUZK_OK;
    struct slots *a = &s->asked;
    a->sequential = false;
    a->n_devices = or_else(o->n_devices, 1);
    a->device_workers = or_else(o->device_workers, USUAL_DEVICE_WORKERS);
    a->pendings = or_else(o->pendings, USUAL_PENDINGS);
    a->inputs = or_else(o->queued_jobs, USUAL_INPUTS);
    /* A witness is made in a small part of the time that its proof takes: one more than is being
     * proved is always ready, and further ones would only wait. */
    a->partition_workers = or_else(o->partition_workers, a->n_devices * a->device_workers + 1);
    return CUZK_OK;
}

/* ---- the terms ---- */

/* Over all circuits: sums of what is resident together, the largest of what is a slot. */
struct needs {
    uint64_t srs, tables, matrices;
    uint64_t record, input, witness, abc, pending;
    uint64_t start_extra;  /* what a start takes at its most, beyond a, b, c */
    uint64_t finish;       /* scratch of a finish beside starts */
    uint64_t finish_extra; /* what a finish takes in the place of a start, beyond a, b, c */
};

static uint64_t beyond(uint64_t bytes, uint64_t slot) {
    return bytes > slot ? bytes - slot : 0;
}

/* `finisher`: the same circuit with the threads of a finish. */
static void add_needs(struct needs *n, const struct plan_circuit *c,
                      const struct plan_circuit *finisher) {
    n->srs += c->srs_bytes;
    n->tables += c->key_other_bytes;
    n->matrices += c->matrices_bytes;
    n->record = most_bytes(n->record, c->record_bytes);
    n->input = most_bytes(n->input, c->input_bytes);
    n->witness = most_bytes(n->witness, c->witness_bytes);
    n->abc = most_bytes(n->abc, c->abc_bytes);
    n->pending = most_bytes(n->pending, c->pending_bytes);
    n->finish = most_bytes(n->finish, finisher->finish_scratch_bytes);
    /* One of the two vectors is back before the scratch of the sums is taken, the other one before
     * the pending proof is made. */
    const uint64_t start = most_bytes(c->abc_bytes / 2, c->pending_bytes) + c->start_scratch_bytes;
    n->start_extra = most_bytes(n->start_extra, beyond(start, c->abc_bytes));
    n->finish_extra = most_bytes(
        n->finish_extra, beyond(c->pending_bytes + finisher->finish_scratch_bytes, c->abc_bytes));
}

static unsigned worker_threads(const struct setup *s, unsigned device_workers) {
    return most(s->device_threads / device_workers, 1);
}

/* A device finishes one proof after the other, on a quarter of its threads. */
static unsigned finisher_threads(const struct setup *s) {
    return most(s->device_threads / 4, 1);
}

static unsigned synthesis_threads(const struct setup *s, unsigned partition_workers) {
    return or_else(s->options->synthesis_threads, most(s->cpus / partition_workers, 1));
}

static void put_term(struct plan *p, enum plan_term_kind which, enum mem_class kind, uint64_t each,
                     unsigned count, bool in_device) {
    p->term[which] = (struct plan_term){
        .each = each, .count = count, .bytes = each * count, .kind = kind, .in_device = in_device};
    p->peak_bytes += each * count;
}

static void put_bases(struct plan *p, const struct setup *s, const struct needs *n) {
    const unsigned daemon_threads =
        PLAN_DAEMON_OWN_THREADS + most(s->cpus, p->partition_workers * p->synthesis_threads);
    const unsigned device_threads =
        PLAN_DEVICE_OWN_THREADS + most(s->device_threads, p->device_workers) + finisher_threads(s);
    put_term(p, PLAN_BASE_DAEMON, MEM_OTHER,
             PLAN_DAEMON_FIXED_BYTES + daemon_threads * PLAN_THREAD_BYTES + n->record, 1, false);
    put_term(p, PLAN_BASE_DEVICE, MEM_OTHER,
             PLAN_DEVICE_FIXED_BYTES + device_threads * PLAN_THREAD_BYTES + n->record, p->n_devices,
             true);
}

static void put_terms(struct plan *p, const struct setup *s, const struct needs *n) {
    const unsigned starts = p->n_devices * p->device_workers;
    /* Without room for pending proofs a finish stands in the place of a start. */
    const uint64_t scratch = p->pendings > 0
                                 ? p->device_workers * n->start_extra + n->finish
                                 : p->device_workers * most_bytes(n->start_extra, n->finish_extra);
    /* A witness belongs to a permit until it has been started, and to a start then; one partition
     * at a time has one. */
    const unsigned witnesses = p->sequential ? 1 : p->partition_workers + starts;
    put_bases(p, s, n);
    put_term(p, PLAN_SRS, MEM_SRS, n->srs, p->n_devices, true);
    put_term(p, PLAN_KEY_TABLES, MEM_OTHER, n->tables, p->n_devices, true);
    put_term(p, PLAN_MATRICES, MEM_MATRICES, n->matrices, 1 + p->n_devices, false);
    put_term(p, PLAN_INPUT, MEM_INPUT, n->input, p->queued_jobs, false);
    put_term(p, PLAN_MESSAGES, MEM_INPUT, s->message_bytes, s->messages, false);
    put_term(p, PLAN_WITNESS, MEM_WITNESS, n->witness, witnesses, false);
    put_term(p, PLAN_CRITICAL, MEM_WITNESS, n->witness, p->sequential ? 0 : 1, false);
    put_term(p, PLAN_ABC, MEM_ABC, n->abc, starts, true);
    put_term(p, PLAN_SCRATCH, MEM_OTHER, scratch, p->n_devices, true);
    put_term(p, PLAN_PENDING, MEM_PENDING, n->pending, p->n_devices * p->pendings, true);
}

/* The plan with just these slots, whatever the budget. */
static cuzk_status plan_slots(struct plan *p, const struct setup *s, const struct slots *slots,
                              struct cuzk_error *err) {
    struct needs needs = {0};
    const unsigned threads = worker_threads(s, slots->device_workers);
    for (unsigned i = 0; i < s->n_circuits; i++) {
        const struct plan_circuit *c, *finisher;
        CUZK_TRY(plan_circuit_find(&c, s->ids[i], threads, err));
        CUZK_TRY(plan_circuit_find(&finisher, s->ids[i], finisher_threads(s), err));
        add_needs(&needs, c, finisher);
    }
    *p = (struct plan){
        .n_devices = slots->n_devices,
        .partition_workers = slots->partition_workers,
        .device_workers = slots->device_workers,
        .pendings = slots->pendings,
        .queued_jobs = slots->inputs,
        .sequential = slots->sequential,
        .synthesis_threads = synthesis_threads(s, slots->partition_workers),
        .device_threads = s->device_threads,
        .device_worker_threads = threads,
        .asked_partition_workers = s->asked.partition_workers,
        .asked_device_workers = s->asked.device_workers,
    };
    put_terms(p, s, &needs);
    const uint64_t budget = s->options->budget_bytes;
    p->fits = budget == 0 || p->peak_bytes <= budget;
    return CUZK_OK;
}

/* ---- reductions ---- */

/* Lowers *number, which is in *slots, until the plan fits or *number is `least`. */
static cuzk_status lower(struct plan *p, const struct setup *s, struct slots *slots,
                         unsigned *number, unsigned least, struct cuzk_error *err) {
    while (!p->fits && *number > least) {
        (*number)--;
        CUZK_TRY(plan_slots(p, s, slots, err));
    }
    return CUZK_OK;
}

static cuzk_status reduce(struct plan *p, const struct setup *s, struct cuzk_error *err) {
    struct slots slots = s->asked;
    CUZK_TRY(plan_slots(p, s, &slots, err));
    CUZK_TRY(lower(p, s, &slots, &slots.inputs, 1, err));
    CUZK_TRY(lower(p, s, &slots, &slots.partition_workers, 1, err));
    CUZK_TRY(lower(p, s, &slots, &slots.pendings, 0, err));
    CUZK_TRY(lower(p, s, &slots, &slots.device_workers, 1, err));
    return p->fits ? CUZK_OK : plan_slots(p, s, &one_at_a_time, err);
}

/* The least budget with which `lower` stops at one more partition worker. */
static cuzk_status next_budget(uint64_t *out, const struct plan *p, const struct setup *s,
                               struct cuzk_error *err) {
    struct slots slots = s->asked;
    slots.inputs = 1;
    slots.partition_workers = p->partition_workers + 1;
    if (p->sequential) {
        slots = one_at_a_time;
        slots.sequential = false;
        slots.n_devices = or_else(s->options->n_devices, 1);
    }
    struct plan next;
    CUZK_TRY(plan_slots(&next, s, &slots, err));
    *out = next.peak_bytes;
    return CUZK_OK;
}

/* ---- texts ---- */

static void say_bottleneck(struct plan *p, const struct setup *s) {
    char *out = p->bottleneck;
    const size_t n = sizeof p->bottleneck;
    if (!p->fits)
        snprintf(out, n, "memory: nothing can be proved with less than %s GiB",
                 gib_text(p->smallest_bytes).s);
    else if (p->sequential && !s->options->sequential)
        snprintf(out, n, "memory: with %s GiB witnesses are made while proofs are",
                 gib_text(p->next_bytes).s);
    else if (p->sequential)
        snprintf(out, n, "the sequential mode: without it witnesses are made while proofs are");
    else if (p->reduced)
        snprintf(out, n, "memory: with %s GiB one more partition worker fits (%u of %u)",
                 gib_text(p->next_bytes).s, p->partition_workers, p->asked_partition_workers);
    else
        snprintf(out, n,
                 "proving: %u threads a device; more processors or devices, not more partition "
                 "workers",
                 p->device_threads);
}

static cuzk_status refuse(const struct plan *p, const struct plan_options *o,
                          struct cuzk_error *err) {
    char sum[200], hint[320];
    plan_print_sum(p, sum, sizeof sum);
    snprintf(hint, sizeof hint,
             "allow %s GiB, or less at once: fewer circuits, shorter messages (%s GiB now)",
             gib_text(p->peak_bytes).s, gib_text(p->term[PLAN_MESSAGES].bytes).s);
    return error_set(err, CUZK_BUDGET, "plan", hint, "needs %s GiB (%s); budget is %s GiB%s%.80s",
                     gib_text(p->peak_bytes).s, sum, gib_text(o->budget_bytes).s,
                     o->limited_by[0] != '\0' ? ", limited by " : "", o->limited_by);
}

cuzk_status plan_make(struct plan *out, const struct plan_options *options,
                      struct cuzk_error *err) {
    struct setup s;
    struct plan smallest;
    *out = (struct plan){0};
    CUZK_TRY(set_up(&s, options, err));
    CUZK_TRY(plan_slots(&smallest, &s, &one_at_a_time, err));
    CUZK_TRY(reduce(out, &s, err));
    out->smallest_bytes = smallest.peak_bytes;
    CUZK_TRY(next_budget(&out->next_bytes, out, &s, err));
    out->reduced = out->partition_workers < s.asked.partition_workers ||
                   out->device_workers < s.asked.device_workers ||
                   out->sequential != s.asked.sequential;
    say_bottleneck(out, &s);
    return out->fits ? CUZK_OK : refuse(out, options, err);
}
