/* From a request to a job in the flow. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "circuit_files.h"
#include "clock.h"
#include "engine_internal.h"
#include "hash.h"
#include "log.h"

/* A decoded path has room for the widest tree's siblings at each level, so that small sectors may
 * take somewhat more than their text. */
uint64_t submit_input_bound(uint64_t payload_bytes) {
    return 2 * payload_bytes + (1 << 20);
}

cuzk_status submit_find_params(const struct engine *e, struct param_place *out,
                               const struct porep_shape *shape, struct cuzk_error *err) {
    return circuit_file_find(out, e->config.param_dir, shape, "params", err);
}

bool devices_all_failed_locked(const struct engine *e) {
    for (unsigned d = 0; d < e->n_devices; d++) {
        if (!e->devices[d].failed) return false;
    }
    return true;
}

/* ---- what can be said before anything is read ---- */

static cuzk_status not_interactive(const char *name, struct cuzk_error *err) {
    return error_set(err, CUZK_NOT_SERVED, "registered proof",
                     "the chain takes the aggregate only, which is not made here yet",
                     "%s is a non-interactive seal", name);
}

static cuzk_status check_kind(const struct engine_request *r, struct cuzk_error *err) {
    switch (r->kind) {
    case ENGINE_KIND_POREP:
        return CUZK_OK;
    case ENGINE_KIND_NONE:
        return error_set(err, CUZK_REQUEST, "proof_kind", "name one: POREP_SEAL_COMMIT",
                         "no kind of proof is given");
    case ENGINE_KIND_SNAP:
    case ENGINE_KIND_WINDOW_POST:
    case ENGINE_KIND_WINNING_POST:
        break;
    }
    return error_set(err, CUZK_NOT_SERVED, "proof_kind",
                     "send it to another prover; this one makes PoRep proofs (POREP_SEAL_COMMIT)",
                     "proofs of kind %s have no circuit here", engine_kind_name(r->kind));
}

static cuzk_status check_early(const struct engine *e, const struct engine_request *r,
                               struct cuzk_error *err) {
    CUZK_TRY(check_kind(r, err));
    if (r->priority < 0 || r->priority > FLOW_CRITICAL)
        return error_set(err, CUZK_REQUEST, "priority", "give 1 (low) to 4 (critical), or 0",
                         "there is no priority %d", r->priority);
    if (r->payload_bytes == 0)
        return error_set(err, CUZK_REQUEST, "vanilla_proof", "send the C1 output",
                         "the request has no payload");
    if (r->payload_bytes > e->config.max_message_bytes)
        return error_set(err, CUZK_MESSAGE_SIZE, "vanilla_proof", NULL,
                         "%zu bytes are more than the limit of %" PRIu64, r->payload_bytes,
                         e->config.max_message_bytes);
    const struct registered_seal *seal =
        r->registered_proof != 0 ? registered_seal_by_number(r->registered_proof) : NULL;
    if (seal != NULL && seal->kind == SEAL_NON_INTERACTIVE) return not_interactive(seal->name, err);
    return CUZK_OK;
}

/* ---- decode and check ---- */

static cuzk_status check_fields(const struct engine_request *r, const struct c1 *c1,
                                struct cuzk_error *err) {
    const struct registered_seal *seal = c1_registered(c1);
    if (r->sector_size != 0 && r->sector_size != seal->sector_bytes)
        return error_set(err, CUZK_REQUEST, "sector_size",
                         "send 0, or the file's; cuzk-bench always sends 34359738368: use ours",
                         "the request says %" PRIu64 ", the C1 file is of a sector of %" PRIu64
                         " bytes",
                         r->sector_size, seal->sector_bytes);
    if (r->registered_proof != 0 && (int64_t)r->registered_proof != seal->number)
        return error_set(err, CUZK_REQUEST, "registered_proof", "send 0, or the file's",
                         "the request says %" PRIu64 ", the C1 file is of %s (%d)",
                         r->registered_proof, seal->name, seal->number);
    if (seal->kind == SEAL_NON_INTERACTIVE) return not_interactive(seal->name, err);
    return CUZK_OK;
}

static cuzk_status check_values(struct engine *e, const struct job *job, const struct c1 *c1,
                                struct cuzk_error *err) {
    if (e->config.no_input_check) return CUZK_OK;
    uint64_t in_file;
    const bool in_request = job->sector_number != 0;
    const struct c1_claims claims = {
        .has_miner = job->has_miner,
        .miner = job->miner_id,
        /* 0 is a sector's number as well as "not given". */
        .has_sector = in_request || (job->has_miner && !c1_sector_number(c1, &in_file)),
        .sector = job->sector_number,
    };
    const bool have_pool = pthread_mutex_trylock(&e->check_mutex) == 0;
    const cuzk_status s = c1_check(c1, &claims, have_pool ? e->check_pool : NULL, NULL, err);
    if (have_pool) pthread_mutex_unlock(&e->check_mutex);
    return s;
}

static cuzk_status reserve_input(struct engine *e, struct job *job, size_t payload_bytes,
                                 struct cuzk_error *err) {
    uint64_t until = clock_ns() + ENGINE_INPUT_WAIT_NS;
    const bool own = job->deadline_ns != 0 && job->deadline_ns < until;
    if (own) until = job->deadline_ns;
    struct ledger_request req = {.priority = job->priority, .deadline_ns = until};
    req.item[MEM_INPUT] = (struct ledger_item){
        .bytes_each = submit_input_bound(payload_bytes), .count = 1, .label = "decoded input"};
    const cuzk_status s = ledger_reserve(e->ledger, &req, &job->input, err);
    if (s != CUZK_DEADLINE || own) return s;
    return error_set(err, CUZK_QUEUE_FULL, "memory", "submit it again later",
                     "there was no room for the decoded input (%s GiB) within 10 s",
                     gib_text(submit_input_bound(payload_bytes)).s);
}

cuzk_status submit_check_room_locked(const struct engine *e, const struct circuit *c,
                                     struct cuzk_error *err) {
    uint64_t smallest = c->smallest_bytes;
    for (const struct job *j = e->first; j != NULL; j = j->next) {
        if (j->in_flow && e->circuits[j->circuit].smallest_bytes > smallest)
            smallest = e->circuits[j->circuit].smallest_bytes;
    }
    const uint64_t inputs = memory_inputs_locked(e);
    /* One input is part of the smallest plan. */
    if (inputs == 0 || smallest + inputs <= e->limit) return CUZK_OK;
    return error_set(
        err, CUZK_QUEUE_FULL, "memory", "submit it again later, or allow more memory",
        "the inputs of the jobs that wait take %s GiB; one more would leave too little "
        "of %s GiB to prove with (%s)",
        gib_text(inputs).s, gib_text(e->limit).s, gib_text(smallest).s);
}

static cuzk_status decode(struct engine *e, const struct engine_request *r, struct job *job,
                          struct cuzk_error *err) {
    CUZK_TRY(reserve_input(e, job, r->payload_bytes, err));
    struct c1_limits limits = c1_default_limits;
    limits.max_bytes = e->config.max_message_bytes;
    CUZK_TRY(c1_decode_memory(&job->c1, r->payload, r->payload_bytes, &limits, err));
    const uint64_t bytes = c1_bytes(job->c1);
    if (bytes < job->input.bytes[MEM_INPUT])
        ledger_shrink(e->ledger, &job->input, MEM_INPUT, bytes);
    CUZK_TRY(check_fields(r, job->c1, err));
    struct param_place place;
    const struct porep_shape *shape = registered_seal_shape(c1_registered(job->c1));
    CUZK_TRY(submit_find_params(e, &place, shape, err));
    CUZK_TRY(check_values(e, job, job->c1, err));
    struct circuit *c = circuit_of_shape(e, shape);
    CUZK_TRY(memory_admit(e, c, err));
    CUZK_TRY(job_make_partitions(job, c1_partitions(job->c1), err));
    lock_take(&e->lock);
    const cuzk_status s = submit_check_room_locked(e, c, err);
    lock_give(&e->lock);
    return s;
}

/* ---- identity and queue ---- */

static cuzk_status check_open_locked(const struct engine *e, struct cuzk_error *err) {
    if (!e->accepting)
        return error_set(err, CUZK_STOPPING, NULL, "try another daemon, or later",
                         "the daemon is stopping and takes no more jobs");
    if (devices_all_failed_locked(e))
        return error_set(err, CUZK_NO_DEVICE, NULL, "look at the daemon's log, then start it anew",
                         "all devices have failed; the last said: %.160s",
                         e->devices[e->n_devices - 1].last_error);
    if (jobs_waiting_locked(e) >= e->config.max_queued_jobs)
        return error_set(err, CUZK_QUEUE_FULL, NULL, "submit it again later",
                         "%u jobs are waiting already", e->config.max_queued_jobs);
    return CUZK_OK;
}

static unsigned position_locked(const struct engine *e, const struct job *job) {
    unsigned n = 0;
    for (const struct job *j = e->first; j != NULL && j != job; j = j->next) {
        if (job_waits(j) && j->priority >= job->priority) n++;
    }
    return n;
}

static void fill_ticket_locked(const struct engine *e, const struct job *job, bool existing,
                               struct engine_ticket *out) {
    *out = (struct engine_ticket){.existing = existing, .queue_position = position_locked(e, job)};
    memcpy(out->job_id, job->id, sizeof out->job_id);
    if (e->n_devices == 1) snprintf(out->device, sizeof out->device, "%s", e->devices[0].name);
}

/* A job of the same key is waited for while it is being accepted: if that fails this one is tried
 * itself. True: *out is the ticket of the earlier one. */
static bool find_earlier_locked(struct engine *e, const struct job *job,
                                struct engine_ticket *out) {
    if (job->request_id[0] == '\0') return false;
    struct job *earlier;
    while ((earlier = job_by_key_locked(e, job->request_id, job->kind, job->digest)) != NULL &&
           earlier->state == JOB_ACCEPTING)
        lock_cond_wait(&e->changed, &e->lock);
    if (earlier == NULL) return false;
    /* Who has a ticket is promised the job, whatever the first client's patience was. */
    if (job->deadline_ns == 0) {
        earlier->deadline_ns = 0;
        earlier->promised = true;
    } else if (earlier->deadline_ns != 0 && earlier->deadline_ns < job->deadline_ns) {
        earlier->deadline_ns = job->deadline_ns;
    }
    fill_ticket_locked(e, earlier, true, out);
    return true;
}

static cuzk_status make_job(const struct engine_request *r, struct job **out,
                            struct cuzk_error *err) {
    struct job *job = job_make(r->request_id);
    if (job == NULL) return error_set(err, CUZK_NO_MEMORY, "job", NULL, "no memory for a job");
    job->kind = r->kind;
    job->priority = r->priority != 0 ? r->priority : FLOW_NORMAL;
    job->miner_id = r->miner_id;
    job->has_miner = r->miner_id != 0;
    job->sector_number = r->sector_number;
    job->deadline_ns = r->deadline_ns;
    sha256(job->digest, r->payload, r->payload_bytes);
    const cuzk_status s = job_new_id(job->id, err);
    if (s == CUZK_OK)
        *out = job;
    else
        job_free(job);
    return s;
}

static cuzk_status record(struct engine *e, const struct engine_request *r, const struct job *job,
                          struct cuzk_error *err) {
    if (e->journal == NULL) return CUZK_OK;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct journal_job entry = {
        .request_id = job->request_id,
        .proof_kind = (uint32_t)job->kind,
        .priority = (uint32_t)job->priority,
        .miner_id = job->miner_id,
        .sector_number = job->sector_number,
        .has_miner = job->has_miner,
        .n_partitions = job->n_partitions,
        .submitted_unix_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000,
    };
    memcpy(entry.job_id, job->id, sizeof job->id);
    memcpy(entry.payload_digest, job->digest, sizeof job->digest);
    return journal_accept(e->journal, &entry, r->payload, r->payload_bytes, err);
}

/* The job is in the table as ACCEPTING; on failure it is to be taken out. */
static cuzk_status accept(struct engine *e, const struct engine_request *r, struct job *job,
                          struct engine_ticket *out, struct cuzk_error *err) {
    CUZK_TRY(decode(e, r, job, err));
    CUZK_TRY(record(e, r, job, err));
    lock_take(&e->lock);
    /* It may have been told to stop meanwhile; the job is recorded, so it is treated as the others
     * that were accepted before. */
    job->accepted_ns = clock_ns();
    /* Again, because others have begun since. */
    cuzk_status s = submit_check_room_locked(
        e, circuit_of_shape(e, registered_seal_shape(c1_registered(job->c1))), err);
    if (s == CUZK_OK && devices_all_failed_locked(e)) s = check_open_locked(e, err);
    if (s == CUZK_OK) s = job_begin_locked(e, job, err);
    if (s == CUZK_OK) {
        fill_ticket_locked(e, job, false, out);
        pipeline_pump_locked(e);
        if (!e->accepting && e->journal == NULL) {
            struct cuzk_error why;
            (void)error_set(&why, CUZK_STOPPING, NULL, "submit it to another daemon, or later",
                            "the daemon is stopping");
            job_end_locked(e, job, ENGINE_FAILED, &why);
        }
    }
    lock_give(&e->lock);
    if (s != CUZK_OK && e->journal != NULL) {
        struct cuzk_error ignored;
        if (journal_forget(e->journal, job->id, &ignored) != CUZK_OK)
            log_error_record(LOG_LEVEL_WARN, "engine", &ignored, "job %s: not forgotten", job->id);
    }
    return s;
}

static cuzk_status submit(struct engine *e, const struct engine_request *r,
                          struct engine_ticket *out, struct cuzk_error *err) {
    struct job *job = NULL;
    CUZK_TRY(check_early(e, r, err));
    CUZK_TRY(make_job(r, &job, err));
    lock_take(&e->lock);
    if (find_earlier_locked(e, job, out)) {
        lock_give(&e->lock);
        job_free(job);
        return CUZK_OK;
    }
    cuzk_status s = check_open_locked(e, err);
    if (s == CUZK_OK) job_link_locked(e, job);
    lock_give(&e->lock);
    if (s != CUZK_OK) {
        job_free(job);
        return s;
    }
    char id[ENGINE_JOB_ID_BYTES];
    memcpy(id, job->id, sizeof id);
    s = accept(e, r, job, out, err);
    if (s == CUZK_OK) {
        log_line(LOG_LEVEL_INFO, "engine", "job %s: accepted (%.80s)", id,
                 r->request_id != NULL ? r->request_id : "");
        return CUZK_OK;
    }
    lock_take(&e->lock);
    job_unlink_locked(e, job);
    engine_wake_locked(e);
    lock_give(&e->lock);
    ledger_release(e->ledger, &job->input);
    job_free(job);
    return s;
}

cuzk_status engine_submit(struct engine *e, const struct engine_request *request,
                          struct engine_ticket *out, struct cuzk_error *err) {
    *out = (struct engine_ticket){0};
    const cuzk_status s = submit(e, request, out, err);
    if (s == CUZK_OK) return s;
    lock_take(&e->lock);
    e->rejected++;
    lock_give(&e->lock);
    return s;
}
