/* Partitions: synthesis workers, what goes to the devices, verification. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "device_fake.h"
#include "engine_internal.h"
#include "log.h"
#include "verifier.h"

static struct partition *partition_of_locked(struct engine *e, const struct flow_task *task) {
    struct job *job = job_by_number_locked(e, task->job);
    return job != NULL && job->partitions != NULL ? &job->partitions[task->partition] : NULL;
}

void pipeline_drop_slab_locked(struct engine *e, struct partition *p) {
    if (p->slab.id != 0) slab_give(e->slabs, &p->slab);
    p->slab = (struct slab){0};
}

void pipeline_left_locked(struct engine *e, struct partition *p, enum flow_outcome outcome,
                          const struct cuzk_error *why) {
    struct job *job = p->job;
    switch (outcome) {
    case FLOW_GOES_ON:
        return;
    case FLOW_AGAIN:
        e->retries++;
        log_line(LOG_LEVEL_INFO, "engine", "job %s: partition %u is begun again", job->id,
                 p->task.partition);
        return;
    case FLOW_DROP:
        job_settle_locked(e, job);
        return;
    case FLOW_JOB_DONE:
        job_end_locked(e, job, ENGINE_COMPLETED, NULL);
        return;
    case FLOW_JOB_FAILED:
        job_end_locked(e, job, ENGINE_FAILED, why);
        return;
    }
}

/* ---- synthesis ---- */

/* One partition at a time means that its witness is back and its proof is made before the next. */
static bool may_synthesize_locked(const struct engine *e) {
    if (!e->has_plan) return false;
    if (!e->sequential) return true;
    const struct flow_counts c = flow_count(e->flow);
    return c.stage[FLOW_SYNTHESIS] + c.stage[FLOW_READY] + c.stage[FLOW_START] +
               c.stage[FLOW_FINISH] ==
           0;
}

static cuzk_status make_witness(struct engine *e, const struct circuit *c, const struct job *job,
                                unsigned k, struct slab *slab, struct pool *pool,
                                struct cuzk_error *err) {
    const struct r1cs_stats *s = &c->stats;
    const size_t bytes = witness_bytes(s->n_inputs, s->n_aux, s->n_elements);
    CUZK_TRY(slab_take(e->slabs, slab, bytes, MEM_WITNESS, err));
    struct witness w;
    witness_place(&w, slab->ptr, s->n_inputs, s->n_aux, s->n_elements);
    const cuzk_status status =
        porep_witness_into(c->shape, c->r1cs, c1_partition(job->c1, k), &w, pool, err);
    if (status != CUZK_OK) slab_give(e->slabs, slab);
    return status;
}

static void synthesize_locked(struct engine *e, struct partition *p, struct pool *pool) {
    struct job *job = p->job;
    const struct circuit *c = &e->circuits[job->circuit];
    const struct flow_task task = p->task;
    p->synthesis_begin_ns = clock_ns();
    if (job->begun_ns == 0) job->begun_ns = p->synthesis_begin_ns;
    engine_wake_locked(e);
    lock_give(&e->lock);

    struct slab slab = {0};
    struct cuzk_error err;
    uint8_t digest[ENGINE_DIGEST_BYTES] = {0};
    const bool ok = make_witness(e, c, job, task.partition, &slab, pool, &err) == CUZK_OK;
    if (ok && e->config.accept_fake_proofs) fake_witness_digest(digest, slab.ptr, slab.bytes);

    lock_take(&e->lock);
    p->synthesis_seconds = clock_seconds_since(p->synthesis_begin_ns);
    p->synthesis_begin_ns = 0;
    memcpy(p->fake_digest, digest, sizeof digest);
    const enum flow_outcome outcome = flow_synthesized(e->flow, &task, ok);
    if (outcome == FLOW_GOES_ON)
        p->slab = slab;
    else if (ok)
        slab_give(e->slabs, &slab);
    pipeline_left_locked(e, p, outcome, &err);
    pipeline_pump_locked(e);
}

/* A worker's pool; without one it works alone. */
static struct pool *make_pool(unsigned threads) {
    struct pool *pool = NULL;
    struct cuzk_error err;
    if (threads > 1 && pool_create(&pool, threads, &err) != CUZK_OK) {
        log_error_record(LOG_LEVEL_WARN, "engine", &err, "a synthesis worker has one thread");
        return NULL;
    }
    return pool;
}

void *engine_synthesis(void *engine) {
    struct engine *e = engine;
    struct pool *pool = NULL;
    unsigned threads = 1;
    lock_take(&e->lock);
    while (!e->threads_end) {
        struct flow_task task;
        if (!may_synthesize_locked(e) || !flow_next_synthesis(e->flow, &task)) {
            lock_cond_wait(&e->changed, &e->lock);
            continue;
        }
        struct partition *p = partition_of_locked(e, &task);
        p->task = task;
        if (threads != e->synthesis_threads) {
            const unsigned want = e->synthesis_threads;
            lock_give(&e->lock);
            pool_destroy(pool);
            pool = make_pool(want);
            threads = want;
            lock_take(&e->lock);
        }
        synthesize_locked(e, p, pool);
    }
    lock_give(&e->lock);
    pool_destroy(pool);
    return NULL;
}

static void begin_threads_locked(struct engine *e) {
    const unsigned want = e->permits + 1; /* the flow keeps one more permit for CRITICAL jobs */
    while (e->has_plan && !e->stopping && e->n_synthesis < want &&
           e->n_synthesis < ENGINE_MAX_SYNTHESIS) {
        struct cuzk_error err;
        struct thread_slot *slot = &e->synthesis[e->n_synthesis];
        if (engine_thread(slot, engine_synthesis, e, &err) != CUZK_OK) {
            log_error_record(LOG_LEVEL_WARN, "engine", &err, "%u synthesis workers only",
                             e->n_synthesis);
            return;
        }
        e->n_synthesis++;
    }
}

/* ---- to the devices ---- */

void pipeline_pump_locked(struct engine *e) {
    begin_threads_locked(e);
    for (unsigned d = 0; d < e->n_devices; d++) {
        struct device *dev = &e->devices[d];
        struct flow_task task;
        while (dev->up && dev->link != NULL && device_has_room_locked(dev) &&
               flow_next_start(e->flow, d, &task)) {
            struct partition *p = partition_of_locked(e, &task);
            device_give_locked(dev, p, &task);
        }
    }
    engine_wake_locked(e);
}

/* ---- verification ---- */

void pipeline_to_verify_locked(struct engine *e, struct partition *p) {
    p->next_verify = NULL;
    if (e->verify_last != NULL)
        e->verify_last->next_verify = p;
    else
        e->verify_first = p;
    e->verify_last = p;
    engine_wake_locked(e);
}

static struct partition *take_to_verify_locked(struct engine *e) {
    struct partition *p = e->verify_first;
    if (p == NULL) return NULL;
    e->verify_first = p->next_verify;
    if (e->verify_first == NULL) e->verify_last = NULL;
    return p;
}

static cuzk_status check_fake(const struct partition *p, struct cuzk_error *err) {
    uint8_t expected[PROOF_BYTES];
    fake_proof(expected, p->device_task, p->fake_digest);
    if (memcmp(expected, p->candidate, sizeof expected) == 0) return CUZK_OK;
    return error_set(err, CUZK_PROOF_INVALID, NULL, NULL, "it is not the fake device's pattern");
}

static cuzk_status verify(const struct engine *e, const struct circuit *c,
                          const struct partition *p, struct cuzk_error *err) {
    if (e->config.accept_fake_proofs) return check_fake(p, err);
    const struct c1 *c1 = p->job->c1;
    const size_t n = c1_public_inputs_count(c1);
    fr *inputs = calloc(n, sizeof *inputs);
    if (inputs == NULL)
        return error_set(err, CUZK_NO_MEMORY, "verification", NULL,
                         "no memory for %zu public inputs", n);
    c1_public_inputs(c1, p->task.partition, inputs);
    const cuzk_status s = groth16_verify(&c->vk, inputs, n, p->candidate, NULL, err);
    free(inputs);
    return s;
}

/* Which is at fault, the inputs or the machine? A fresh witness is held against the circuit. */
static cuzk_status look_for_suspect(struct engine *e, const struct circuit *c,
                                    const struct partition *p, struct cuzk_error *err) {
    const struct r1cs_stats *st = &c->stats;
    struct ledger_request req = {.priority = FLOW_CRITICAL,
                                 .deadline_ns = clock_ns() + ENGINE_SUSPECT_WAIT_NS};
    req.item[MEM_WITNESS].bytes_each = witness_bytes(st->n_inputs, st->n_aux, st->n_elements);
    struct ledger_reservation room;
    CUZK_TRY(ledger_reserve(e->ledger, &req, &room, err));
    struct witness w = {0};
    cuzk_status s = witness_create(&w, st->n_inputs, st->n_aux, st->n_elements, err);
    if (s == CUZK_OK)
        s = porep_witness_into(c->shape, c->r1cs, c1_partition(p->job->c1, p->task.partition), &w,
                               NULL, err);
    if (s == CUZK_OK) s = r1cs_check(c->r1cs, &w, NULL, NULL, err);
    witness_destroy(&w);
    ledger_release(e->ledger, &room);
    return s;
}

static void say_suspect(struct engine *e, const struct circuit *c, const struct partition *p,
                        const char *device, struct cuzk_error *out) {
    struct cuzk_error found;
    char where[64];
    snprintf(where, sizeof where, "partition %u", p->task.partition);
    const cuzk_status s = look_for_suspect(e, c, p, &found);
    if (s == CUZK_OK)
        (void)error_set(out, CUZK_SUSPECT, where,
                        "test the machine's memory and the device, and check the parameters "
                        "(cuzk params check)",
                        "two proofs were invalid, the last from %.60s; its witness satisfies the "
                        "circuit: suspect are device, memory and parameters, not the inputs",
                        device);
    else if (s == CUZK_UNSATISFIED)
        (void)error_set(out, CUZK_SUSPECT, where, "check the C1 file (cuzk prove --check-only)",
                        "two proofs were invalid, and its witness does not satisfy the circuit at "
                        "%.120s: suspect are the inputs",
                        found.where);
    else
        (void)error_set(out, CUZK_SUSPECT, where, "check C1 file, parameters and the machine",
                        "two proofs were invalid; the inputs could not be checked (%s)",
                        status_name(s));
}

static bool record_partition(struct engine *e, const struct job *job, unsigned k,
                             const uint8_t *proof) {
    struct cuzk_error err;
    if (e->journal == NULL || journal_partition(e->journal, job->id, k, proof, &err) == CUZK_OK)
        return true;
    log_error_record(LOG_LEVEL_ERROR, "engine", &err, "job %s: partition %u is not recorded",
                     job->id, k);
    return false;
}

static void is_valid_locked(struct engine *e, struct partition *p, const struct flow_task *task) {
    struct job *job = p->job;
    memcpy(job->proofs + (size_t)task->partition * PROOF_BYTES, p->candidate, PROOF_BYTES);
    const enum flow_outcome outcome = flow_verified(e->flow, task, true);
    if (outcome == FLOW_GOES_ON || outcome == FLOW_JOB_DONE) {
        job->done[task->partition] = true;
        job->n_done++;
    }
    pipeline_left_locked(e, p, outcome, NULL);
}

static void is_invalid_locked(struct engine *e, struct partition *p, const struct flow_task *task,
                              const struct cuzk_error *why, const struct cuzk_error *suspect) {
    e->invalid_proofs++;
    p->invalids++;
    if (p->device >= 0) e->devices[p->device].invalid_proofs++;
    log_error_record(LOG_LEVEL_WARN, "engine", why,
                     "job %s: partition %u: device %d made a proof "
                     "that is not valid",
                     p->job->id, task->partition, p->device);
    pipeline_left_locked(e, p, flow_verified(e->flow, task, false), suspect);
}

static void verify_locked(struct engine *e, struct partition *p) {
    struct job *job = p->job;
    const struct circuit *c = &e->circuits[job->circuit];
    const struct flow_task task = p->task;
    const bool second = p->invalids > 0;
    char device[64] = "";
    if (p->device >= 0) memcpy(device, e->devices[p->device].name, sizeof device);
    const bool in_vain = job->outcome != ENGINE_UNKNOWN || job->kept;
    lock_give(&e->lock);

    struct cuzk_error err, suspect = {0};
    cuzk_status s = CUZK_OK;
    bool on_disk = true;
    if (!in_vain) {
        s = verify(e, c, p, &err);
        const bool invalid = s == CUZK_PROOF_INVALID || s == CUZK_PROOF_ENCODING;
        if (s == CUZK_OK) on_disk = record_partition(e, job, task.partition, p->candidate);
        if (invalid && second) say_suspect(e, c, p, device, &suspect);
    }

    lock_take(&e->lock);
    if (!on_disk) job->gap = true;
    if (s == CUZK_OK) {
        is_valid_locked(e, p, &task);
    } else if (s == CUZK_PROOF_INVALID || s == CUZK_PROOF_ENCODING) {
        is_invalid_locked(e, p, &task, &err, &suspect);
    } else { /* it could not be verified at all: the job ends, and this drops the task */
        job_end_locked(e, job, ENGINE_FAILED, &err);
        pipeline_left_locked(e, p, flow_verified(e->flow, &task, true), NULL);
    }
    pipeline_pump_locked(e);
}

void *engine_verifier(void *engine) {
    struct engine *e = engine;
    lock_take(&e->lock);
    for (;;) {
        struct partition *p = take_to_verify_locked(e);
        if (p != NULL)
            verify_locked(e, p);
        else if (e->threads_end)
            break;
        else
            lock_cond_wait(&e->changed, &e->lock);
    }
    lock_give(&e->lock);
    return NULL;
}
