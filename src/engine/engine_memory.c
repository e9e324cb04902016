/* Budget, plan and what is reserved for the plan. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "engine_internal.h"
#include "log.h"

/* Without any term to go by nothing limits us; sums must still not overflow. */
#define NO_LIMIT (UINT64_MAX / 4)
/* The plan's own reservation goes before every job's. */
enum { FIXED_PRIORITY = FLOW_CRITICAL + 1 };

/* ---- budget ---- */

void memory_read_budget(const struct engine *e, struct budget *out, uint64_t own_bytes) {
    const struct budget_options options = {.configured_bytes = e->config.memory_total,
                                           .margin_bytes = e->config.memory_margin,
                                           .own_bytes = own_bytes,
                                           .subtract_current = true};
    const struct budget_roots *roots =
        e->config.budget_roots.proc != NULL ? &e->config.budget_roots : NULL;
    budget_read(out, &options, roots);
}

void memory_set_budget_locked(struct engine *e, const struct budget *b) {
    e->budget = *b;
    const uint64_t limit = b->winner == BUDGET_TERMS ? NO_LIMIT : b->budget_bytes;
    budget_limited_by(b, e->limited_by, sizeof e->limited_by);
    e->limit = limit;
    if (e->ledger == NULL) return;
    ledger_set_limit(e->ledger, limit, e->limited_by);
    /* What is available goes up and down a little all the time; the plan follows large steps. */
    const uint64_t before = e->planned_limit;
    const uint64_t step = limit > before ? limit - before : before - limit;
    if (e->has_plan && step > e->plan.peak_bytes / 16) e->replan_due = true;
}

/* ---- plan ---- */

void memory_plan_options(const struct engine *e, struct plan_options *out) {
    *out = (struct plan_options){
        .n_devices = e->n_devices,
        .partition_workers = e->config.partition_workers,
        .synthesis_threads = e->config.synthesis_threads,
        .device_threads = e->config.device_threads,
        .queued_jobs = 1,
        .concurrent_messages = 1,
        .max_message_bytes = e->config.max_message_bytes,
    };
    for (unsigned d = 0; d < e->n_devices; d++) {
        if (e->devices[d].workers > out->device_workers)
            out->device_workers = e->devices[d].workers;
        if (e->devices[d].pendings > out->pendings) out->pendings = e->devices[d].pendings;
    }
    snprintf(out->limited_by, sizeof out->limited_by, "%s", e->limited_by);
}

static bool holds_room(const struct circuit *c) {
    return c->state != CIRCUIT_ABSENT;
}

uint64_t memory_inputs_locked(const struct engine *e) {
    uint64_t sum = 0;
    for (const struct job *j = e->first; j != NULL; j = j->next) {
        if (j->in_flow) sum += j->input.bytes[MEM_INPUT];
    }
    return sum;
}

cuzk_status memory_admit(struct engine *e, struct circuit *c, struct cuzk_error *err) {
    const struct plan_circuit *counts = NULL;
    CUZK_TRY(plan_circuit_find(&counts, c->id, e->config.device_threads, err));
    struct plan_options options;
    lock_take(&e->lock);
    c->counts = counts;
    const uint64_t limit = e->limit;
    memory_plan_options(e, &options);
    const bool known = c->smallest_bytes != 0 && c->smallest_bytes <= limit;
    lock_give(&e->lock);
    if (known) return CUZK_OK;

    options.circuit_ids[0] = c->id;
    options.n_circuits = 1;
    options.budget_bytes = limit;
    struct plan plan;
    const cuzk_status s = plan_make(&plan, &options, err);
    if (s != CUZK_OK) return s;
    lock_take(&e->lock);
    c->smallest_bytes = plan.smallest_bytes;
    lock_give(&e->lock);
    return CUZK_OK;
}

/* Inputs and messages are reserved by those who hold them. */
static bool is_fixed(enum plan_term_kind t) {
    return t != PLAN_INPUT && t != PLAN_MESSAGES;
}

static void fixed_of(const struct plan *plan, uint64_t out[MEM_CLASSES]) {
    memset(out, 0, MEM_CLASSES * sizeof *out);
    for (int t = 0; t < PLAN_TERMS; t++) {
        if (is_fixed((enum plan_term_kind)t)) out[plan->term[t].kind] += plan->term[t].bytes;
    }
}

/* The budget for a plan whose one input and one message are part of what others hold now. */
static uint64_t budget_beside_others(const struct engine *e, const struct plan_options *options) {
    const struct ledger_counters l = ledger_read(e->ledger);
    uint64_t fixed = 0, planned = options->max_message_bytes, input = 0;
    for (int k = 0; k < MEM_CLASSES; k++)
        fixed += e->fixed.bytes[k];
    for (unsigned i = 0; i < e->n_circuits; i++) {
        const struct circuit *c = &e->circuits[i];
        if (c->counts != NULL && c->counts->input_bytes > input) input = c->counts->input_bytes;
    }
    planned += input;
    const uint64_t others = l.reserved_total - fixed;
    const uint64_t excess = others > planned ? others - planned : 0;
    return e->limit > excess ? e->limit - excess : 1;
}

/* Lowers what is in force to what both plans allow; true: nothing more than that is in memory. */
static bool lower_locked(struct engine *e, const struct plan *plan) {
    if (plan->partition_workers < e->permits) e->permits = plan->partition_workers;
    if (plan->device_workers < e->device_workers) e->device_workers = plan->device_workers;
    const unsigned tasks = plan->device_workers + plan->pendings;
    if (tasks < e->device_tasks) e->device_tasks = tasks;
    if (plan->sequential) e->sequential = true;
    flow_set_permits(e->flow, e->permits);

    const struct flow_counts count = flow_count(e->flow);
    bool settled = e->sequential ? count.witnesses <= 1 : true;
    const unsigned critical = e->sequential ? 0 : 1;
    if (count.permits_taken > e->permits + critical) settled = false;
    for (unsigned d = 0; d < e->n_devices; d++) {
        if (e->devices[d].n_starting > e->device_workers || e->devices[d].n_tasks > e->device_tasks)
            settled = false;
    }
    return settled;
}

/* Shrinks what is more than wanted, then reserves what is missing. */
static cuzk_status reserve_locked(struct engine *e, const uint64_t want[MEM_CLASSES],
                                  struct cuzk_error *err) {
    struct ledger_request req = {.priority = FIXED_PRIORITY};
    bool more = false;
    for (int k = 0; k < MEM_CLASSES; k++) {
        if (want[k] < e->fixed.bytes[k])
            ledger_shrink(e->ledger, &e->fixed, (enum mem_class)k, want[k]);
        req.item[k].bytes_each = want[k] - e->fixed.bytes[k];
        if (req.item[k].bytes_each != 0) more = true;
    }
    if (!more) return CUZK_OK;
    struct ledger_reservation extra;
    CUZK_TRY(ledger_try_reserve(e->ledger, &req, &extra, err));
    /* The ledger knows sums only, so that two reservations of one holder are one. */
    for (int k = 0; k < MEM_CLASSES; k++)
        e->fixed.bytes[k] += extra.bytes[k];
    return CUZK_OK;
}

static bool same_slots(const struct plan *a, const struct plan *b) {
    return a->partition_workers == b->partition_workers && a->device_workers == b->device_workers &&
           a->pendings == b->pendings && a->sequential == b->sequential &&
           a->peak_bytes == b->peak_bytes;
}

static void adopt_locked(struct engine *e, const struct plan *plan) {
    const bool news = !e->has_plan || !same_slots(&e->plan, plan);
    e->plan = *plan;
    e->has_plan = true;
    e->planned_limit = e->limit;
    e->replan_due = false;
    e->permits =
        plan->partition_workers < e->max_permits ? plan->partition_workers : e->max_permits;
    if (e->permits == 0) e->permits = 1;
    e->device_workers = plan->device_workers > 0 ? plan->device_workers : 1;
    e->device_tasks = e->device_workers + plan->pendings;
    e->sequential = plan->sequential;
    e->synthesis_threads = plan->synthesis_threads > 0 ? plan->synthesis_threads : 1;
    flow_set_permits(e->flow, e->permits);
    if (!news) return;
    log_line(
        LOG_LEVEL_INFO, "engine",
        "plan: %u partition workers of %u threads, %u workers and %u pending proofs a device%s; "
        "peak %s GiB of %s",
        e->permits, e->synthesis_threads, e->device_workers, plan->pendings,
        plan->sequential ? ", one partition at a time" : "", gib_text(plan->peak_bytes).s,
        gib_text(e->limit).s);
}

cuzk_status memory_apply_locked(struct engine *e, const struct circuit *more,
                                struct cuzk_error *err) {
    struct plan_options options;
    memory_plan_options(e, &options);
    for (unsigned i = 0; i < e->n_circuits; i++) {
        const struct circuit *c = &e->circuits[i];
        if (holds_room(c) || c == more) options.circuit_ids[options.n_circuits++] = c->id;
    }
    if (options.n_circuits == 0) { /* nothing is resident: only the processes' bases stay */
        e->replan_due = false;
        uint64_t base[MEM_CLASSES] = {0};
        if (e->has_plan)
            base[MEM_OTHER] =
                e->plan.term[PLAN_BASE_DAEMON].bytes + e->plan.term[PLAN_BASE_DEVICE].bytes;
        return reserve_locked(e, base, err);
    }
    options.budget_bytes = budget_beside_others(e, &options);
    struct plan plan;
    CUZK_TRY(plan_make(&plan, &options, err));
    if (e->has_plan && !lower_locked(e, &plan))
        return error_set(err, CUZK_BUDGET_BUSY, "plan", NULL,
                         "partitions that are under way hold the room");
    uint64_t want[MEM_CLASSES];
    fixed_of(&plan, want);
    CUZK_TRY(reserve_locked(e, want, err));
    adopt_locked(e, &plan);
    return CUZK_OK;
}

/* ---- messages ---- */

static struct ledger_request message_request(uint64_t bytes, uint64_t deadline_ns,
                                             const struct ledger_cancel *cancel) {
    struct ledger_request req = {
        .priority = FLOW_NORMAL, .deadline_ns = deadline_ns, .cancel = cancel};
    req.item[MEM_INPUT] = (struct ledger_item){.bytes_each = bytes, .count = 1, .label = "message"};
    return req;
}

static cuzk_status check_accepting(struct engine *e, struct cuzk_error *err) {
    lock_take(&e->lock);
    const bool accepting = e->accepting;
    lock_give(&e->lock);
    if (accepting) return CUZK_OK;
    return error_set(err, CUZK_STOPPING, NULL, "try another daemon, or later",
                     "the daemon is stopping");
}

cuzk_status engine_input_reserve(struct engine *e, uint64_t bytes, uint64_t deadline_ns,
                                 const struct ledger_cancel *cancel, struct engine_input *out,
                                 struct cuzk_error *err) {
    *out = (struct engine_input){0};
    CUZK_TRY(check_accepting(e, err));
    const struct ledger_request req = message_request(bytes, deadline_ns, cancel);
    return ledger_reserve(e->ledger, &req, &out->reservation, err);
}

cuzk_status engine_input_try(struct engine *e, uint64_t bytes, struct engine_input *out,
                             struct cuzk_error *err) {
    *out = (struct engine_input){0};
    CUZK_TRY(check_accepting(e, err));
    const struct ledger_request req = message_request(bytes, 0, NULL);
    return ledger_try_reserve(e->ledger, &req, &out->reservation, err);
}

void engine_input_cancel(struct engine *e, struct ledger_cancel *cancel) {
    ledger_cancel(e->ledger, cancel);
}

void engine_input_shrink(struct engine *e, struct engine_input *in, uint64_t bytes) {
    ledger_shrink(e->ledger, &in->reservation, MEM_INPUT, bytes);
}

void engine_input_release(struct engine *e, struct engine_input *in) {
    ledger_release(e->ledger, &in->reservation);
}
