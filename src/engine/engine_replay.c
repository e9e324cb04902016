/* What the state folder knows of: ended results are kept, open jobs are taken up one by one. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "engine_internal.h"
#include "file.h"
#include "hash.h"
#include "log.h"
#include "verifier.h"

/* Decoded jobs that wait; the others stay on the disk, so that they do not fill the memory. */
enum { MOST_WAITING = 2, RETRY_NS = 1000000000 };

static cuzk_status no_memory(struct cuzk_error *err) {
    return error_set(err, CUZK_NO_MEMORY, "state folder", NULL, "no memory for its jobs");
}

static void take_outcome(struct job *job, const struct journal_entry *entry) {
    job->state = JOB_OVER;
    job->recorded = true;
    job->ended_ns = job->accepted_ns;
    switch (entry->state) {
    case JOURNAL_COMPLETED:
        job->outcome = ENGINE_COMPLETED;
        if (job->n_done == job->n_partitions) break;
        job->outcome = ENGINE_FAILED;
        (void)error_set(&job->error, CUZK_STATE, "an earlier run", "submit it again",
                        "%u of its %u proofs are not in the state folder",
                        job->n_partitions - job->n_done, job->n_partitions);
        break;
    case JOURNAL_CANCELLED:
        job->outcome = ENGINE_CANCELLED;
        (void)error_set(&job->error, CUZK_CANCELLED, NULL, NULL, "the job was cancelled");
        break;
    case JOURNAL_FAILED:
    case JOURNAL_OPEN:
        job->outcome = ENGINE_FAILED;
        (void)error_set(&job->error, CUZK_STATE, "an earlier run", NULL, "%.300s",
                        entry->message != NULL ? entry->message : "the job failed");
        break;
    }
}

static cuzk_status fill(struct job *job, const struct journal_entry *entry,
                        struct cuzk_error *err) {
    const struct journal_job *j = &entry->job;
    memcpy(job->id, j->job_id, sizeof job->id);
    memcpy(job->digest, j->payload_digest, sizeof job->digest);
    job->kind = j->proof_kind < ENGINE_KINDS ? (enum engine_kind)j->proof_kind : ENGINE_KIND_NONE;
    job->priority =
        j->priority >= FLOW_LOW && j->priority <= FLOW_CRITICAL ? (int)j->priority : FLOW_NORMAL;
    job->miner_id = j->miner_id;
    job->has_miner = j->has_miner;
    job->sector_number = j->sector_number;
    job->accepted_ns = clock_ns();
    job->n_partitions = j->n_partitions;
    job->proofs = calloc(j->n_partitions, PROOF_BYTES);
    job->done = calloc(j->n_partitions, sizeof *job->done);
    if (job->proofs == NULL || job->done == NULL) return no_memory(err);
    memcpy(job->proofs, entry->proofs, (size_t)j->n_partitions * PROOF_BYTES);
    for (unsigned k = 0; k < j->n_partitions; k++) {
        job->done[k] = entry->done[k];
        if (entry->done[k]) job->n_done++;
    }
    if (entry->state != JOURNAL_OPEN || entry->payload_path == NULL) {
        take_outcome(job, entry);
        return CUZK_OK;
    }
    job->state = JOB_PARKED;
    job->payload_path = strdup(entry->payload_path);
    return job->payload_path != NULL ? CUZK_OK : no_memory(err);
}

static cuzk_status take_entry(void *ctx, const struct journal_entry *entry,
                              struct cuzk_error *err) {
    struct engine *e = ctx;
    struct job *job = job_make(entry->job.request_id);
    if (job == NULL) return no_memory(err);
    const cuzk_status s = fill(job, entry, err);
    if (s != CUZK_OK) {
        job_free(job);
        return s;
    }
    lock_take(&e->lock);
    job_link_locked(e, job);
    lock_give(&e->lock);
    return CUZK_OK;
}

cuzk_status replay_journal(struct engine *e, struct cuzk_error *err) {
    CUZK_TRY(journal_replay(e->journal, take_entry, e, err));
    unsigned open = 0, ended = 0;
    for (const struct job *j = e->first; j != NULL; j = j->next) {
        if (j->state == JOB_PARKED)
            open++;
        else
            ended++;
    }
    log_line(LOG_LEVEL_INFO, "engine", "state folder: %u open jobs, %u results", open, ended);
    return CUZK_OK;
}

/* ---- one at a time into the flow ---- */

/* Proofs of an earlier run count only if they verify with the parameters of now. */
static cuzk_status check_proofs(struct engine *e, struct job *job, const char *params,
                                struct cuzk_error *err) {
    if (job->n_done == 0 || e->config.accept_fake_proofs) return CUZK_OK;
    struct vkey vk;
    uint8_t digest[32];
    CUZK_TRY(circuit_read_key(&vk, digest, params, err));
    const size_t n = c1_public_inputs_count(job->c1);
    fr *inputs = calloc(n, sizeof *inputs);
    for (unsigned k = 0; inputs != NULL && k < job->n_partitions; k++) {
        if (!job->done[k]) continue;
        c1_public_inputs(job->c1, k, inputs);
        struct cuzk_error why;
        if (groth16_verify(&vk, inputs, n, job->proofs + (size_t)k * PROOF_BYTES, NULL, &why) ==
            CUZK_OK)
            continue;
        log_error_record(LOG_LEVEL_WARN, "engine", &why,
                         "job %s: partition %u of an earlier run is proved again", job->id, k);
        lock_take(&e->lock); /* a snapshot may look */
        job->done[k] = false;
        job->n_done--;
        lock_give(&e->lock);
    }
    free(inputs);
    vkey_destroy(&vk);
    return inputs != NULL ? CUZK_OK : no_memory(err);
}

static cuzk_status read_payload(struct job *job, struct cuzk_error *err) {
    struct mem_block text = {0};
    size_t n = 0;
    uint8_t digest[ENGINE_DIGEST_BYTES];
    CUZK_TRY(file_read(&text, &n, job->payload_path, c1_default_limits.max_bytes, err));
    sha256(digest, text.ptr, n);
    cuzk_status s;
    if (memcmp(digest, job->digest, sizeof digest) != 0)
        s = error_set(err, CUZK_STATE, job->payload_path, "submit it again",
                      "the payload is not the one that was accepted");
    else
        s = c1_decode_memory(&job->c1, text.ptr, n, NULL, err);
    mem_give(&text);
    return s;
}

static cuzk_status take_up(struct engine *e, struct job *job, struct cuzk_error *err) {
    CUZK_TRY(read_payload(job, err));
    if (c1_bytes(job->c1) < job->input.bytes[MEM_INPUT])
        ledger_shrink(e->ledger, &job->input, MEM_INPUT, c1_bytes(job->c1));
    if (c1_partitions(job->c1) != job->n_partitions)
        return error_set(err, CUZK_STATE, job->payload_path, "submit it again",
                         "the recorded job has %u partitions, its payload %u", job->n_partitions,
                         c1_partitions(job->c1));
    const struct porep_shape *shape = registered_seal_shape(c1_registered(job->c1));
    struct param_place place;
    CUZK_TRY(submit_find_params(e, &place, shape, err));
    CUZK_TRY(check_proofs(e, job, place.path, err));
    CUZK_TRY(memory_admit(e, circuit_of_shape(e, shape), err));
    return job_make_partitions(job, job->n_partitions, err);
}

/* Is the file readable, and how long? Its text and its decoded form need room at once. */
static cuzk_status reserve(struct engine *e, struct job *job, struct ledger_reservation *text,
                           struct cuzk_error *err) {
    struct param_source src;
    CUZK_TRY(param_source_open(&src, job->payload_path, err));
    const uint64_t bytes = src.n_bytes;
    param_source_close(&src);
    struct ledger_request req = {.priority = job->priority};
    req.item[MEM_INPUT].bytes_each = bytes;
    CUZK_TRY(ledger_try_reserve(e->ledger, &req, text, err));
    req.item[MEM_INPUT].bytes_each = submit_input_bound(bytes);
    const cuzk_status s = ledger_try_reserve(e->ledger, &req, &job->input, err);
    if (s != CUZK_OK) ledger_release(e->ledger, text);
    return s;
}

static bool all_done(const struct job *job) {
    return job->n_partitions > 0 && job->n_done == job->n_partitions;
}

/* What may pass while the daemon starts: other processes still hold memory, a volume is not mounted
 * yet. It is no reason to give an acknowledged job up. */
static bool passes(cuzk_status s) {
    return s == CUZK_BUDGET_BUSY || s == CUZK_QUEUE_FULL || s == CUZK_BUDGET ||
           s == CUZK_NO_MEMORY || s == CUZK_PARAM_MISSING;
}

/* The highest priority first; NULL: none, or enough of them wait in the flow already. */
static struct job *next_parked(struct engine *e) {
    struct job *found = NULL;
    unsigned waiting = 0;
    const uint64_t now = clock_ns();
    for (struct job *j = e->first; j != NULL; j = j->next) {
        if (j->state == JOB_OPEN && job_waits(j)) waiting++;
        if (j->state != JOB_PARKED || j->kept) continue;
        if (j->retry_ns > now) {
            e->replay_waits = true;
            continue;
        }
        if (found == NULL || j->priority > found->priority) found = j;
    }
    return waiting < MOST_WAITING ? found : NULL;
}

bool replay_next_locked(struct engine *e) {
    struct job *job = next_parked(e);
    if (job == NULL || e->stopping) return false;
    job->pins++;
    lock_give(&e->lock);
    struct cuzk_error err;
    struct ledger_reservation text = {0};
    cuzk_status s = reserve(e, job, &text, &err);
    if (s == CUZK_OK) s = take_up(e, job, &err);
    ledger_release(e->ledger, &text);
    lock_take(&e->lock);
    job->pins--;
    const bool wanted = job->outcome == ENGINE_UNKNOWN && !job->kept;
    const bool over = s == CUZK_OK && wanted && all_done(job);
    if (s == CUZK_OK && wanted && !over)
        s = submit_check_room_locked(
            e, circuit_of_shape(e, registered_seal_shape(c1_registered(job->c1))), &err);
    if (s == CUZK_OK && wanted && !over) s = job_begin_locked(e, job, &err);
    if (s == CUZK_OK && wanted && !over) {
        pipeline_pump_locked(e);
        return true;
    }
    ledger_release(e->ledger, &job->input);
    c1_destroy(job->c1);
    job->c1 = NULL;
    free(job->partitions);
    job->partitions = NULL;
    if (passes(s)) {
        const bool busy = s == CUZK_BUDGET_BUSY || s == CUZK_QUEUE_FULL;
        if (!busy && job->retry_ns == 0)
            log_error_record(LOG_LEVEL_WARN, "engine", &err, "job %s of an earlier run waits",
                             job->id);
        job->retry_ns = clock_ns() + (busy ? RETRY_NS : 10 * (uint64_t)RETRY_NS);
        e->replay_waits = true;
        return false;
    }
    /* `over`: it ended between its last partition and its outcome. */
    if (wanted) job_end_locked(e, job, over ? ENGINE_COMPLETED : ENGINE_FAILED, over ? NULL : &err);
    return true;
}
