/*
 * The flow of partitions through the pipeline: who may do what next.
 *
 * Pure bookkeeping, without threads, clocks, memory of buffers or input and output: the engine
 * calls it under its lock, memlab drives it with false work, and the tests walk through every order
 * of events of small configurations.
 *
 *     PENDING → SYNTHESIS → READY → START → FINISH → VERIFY → DONE
 *
 * - A partition takes a permit and a witness slot when it enters SYNTHESIS. The permit travels
 *   with it and is given back when a device worker takes it (START), so READY can never hold more
 *   than there are permits. The witness slot is free when the start has ended (FINISH): the device
 *   has read the witness then.
 *   Hence at any time: SYNTHESIS + READY <= permits + critical_permits, START <= sum of the
 *   devices' workers, witnesses in memory <= permits + critical_permits + workers. After
 *   flow_set_permits has lowered the permits the first holds as soon as those that were out have
 *   come back.
 * - A device has `workers` that start; a start that has ended leaves a pending proof in the device.
 *   START + FINISH on one device <= workers + pendings, so that finished work cannot pile up.
 * - Order: higher priority first; within one, the older job first; within a job, partitions in
 *   order. A job runs on as many workers as there are; a CRITICAL one is taken at the next free
 *   permit or worker. One more permit (and witness slot) is kept for CRITICAL jobs, so that a crowd
 *   of others that fill the permits does not hold it up: others begin only while fewer than
 *   `permits` are taken by anybody, CRITICAL ones while fewer than `permits + critical_permits`.
 *   A lower priority is not starved by a steady stream of a higher one: a job that has waited while
 *   `age_after` partitions of other jobs were taken rises by one step (never to CRITICAL), until
 *   one of its own is taken. Of each priority only the first in line rises, so that a long queue of
 *   LOW jobs cannot shut out the others. A partition keeps the level at which it was taken and
 *   rises in the same way while others overtake it in READY.
 * - A device that is lost gives its partitions back to PENDING; a partition that was lost
 *   FLOW_MAX_LOSSES times fails its job (its input may be what kills devices).
 * - A proof that is invalid sends its partition back to PENDING once, to another device if one is
 *   up; the second time the job fails (SUSPECT).
 * - A job that is cancelled or failed starts nothing more. What of it is PENDING or READY is
 *   DROPPED in that very call: nobody works on it, so the caller frees the witnesses of those that
 *   were READY. What is under way is dropped at its next event, and the job is over
 *   (`FLOW_JOB_OVER`) when nothing of it is left in any stage.
 * - An event of a task that its caller no longer has (the device was lost, and the partition may be
 *   under way again with a higher `attempt`) changes nothing and answers FLOW_DROP. So a worker
 *   that comes late does no harm.
 *
 * How to wait. Nothing here blocks, so a wake-up cannot be lost here; the engine loses none if each
 * of its threads asks under the lock (flow_next_...) and, on false, waits on a condition variable
 * of that same lock and asks again after every return; and if every call below that changes
 * something, the questions that were answered with true included, is followed by a broadcast before
 * the lock is let go. One event can enable threads of several kinds (a start that is taken frees a
 * permit for a synthesis thread, its end a worker of the device, a lost device gives work to
 * another one); hence a broadcast, not a signal. The flow expects permits + critical_permits
 * synthesis threads: with fewer a CRITICAL job waits for a thread.
 *
 * Names: a job is a number that the caller chose; a task is (job, partition).
 * Threads: the caller's lock.
 */
#ifndef ENGINE_FLOW_H
#define ENGINE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum {
    FLOW_MAX_DEVICES = 16,
    FLOW_MAX_PARTITIONS = 128,
    FLOW_MAX_CIRCUITS = 64,
    FLOW_MAX_LOSSES = 2,
    FLOW_MAX_INVALIDS = 2,
};

/* As in the gRPC interface. */
enum flow_priority { FLOW_LOW = 1, FLOW_NORMAL, FLOW_HIGH, FLOW_CRITICAL };

enum flow_stage {
    FLOW_PENDING,
    FLOW_SYNTHESIS,
    FLOW_READY,
    FLOW_START,
    FLOW_FINISH,
    FLOW_VERIFY,
    FLOW_DONE,
    FLOW_DROPPED, /* its job was cancelled or failed */
    FLOW_STAGES
};

enum flow_job_state {
    FLOW_JOB_RUNNING, /* something is left to do, or under way */
    FLOW_JOB_OVER, /* all partitions DONE, or the job is cancelled or failed and nothing is left */
};

struct flow_config {
    unsigned permits;          /* synthesis workers: pw */
    unsigned critical_permits; /* beside them, for CRITICAL jobs only; normally 1 */
    unsigned n_devices;
    unsigned workers[FLOW_MAX_DEVICES];  /* gw of each device */
    unsigned pendings[FLOW_MAX_DEVICES]; /* pending proofs beyond those in START */
    unsigned age_after;                  /* 0: no ageing */

    /* The fault of the laboratory: the permit is given back when synthesis has ended. Events then
     * check nothing by themselves; flow_check aborts as soon as READY has outgrown the permits. */
    bool early_permit;
};

struct flow_task {
    uint64_t job;
    unsigned partition;
    unsigned attempt; /* how often it was PENDING again; 0 for the first time */
};

struct flow;

/* Errors: CONFIG (no permits, no devices or too many, a device without workers), NO_MEMORY. */
CUZK_NODISCARD cuzk_status flow_create(struct flow **out, const struct flow_config *config,
                                       struct cuzk_error *err);
void flow_destroy(struct flow *f); /* accepts NULL */

/* done[i]: partition i is proved already (found in the state folder); NULL: none is.
 * `circuit` is any number below FLOW_MAX_CIRCUITS; see flow_circuit_ready. The id must be new.
 * Errors: NO_MEMORY, INTERNAL (a number out of its range). */
CUZK_NODISCARD cuzk_status flow_job_add(struct flow *f, uint64_t job, enum flow_priority priority,
                                        unsigned n_partitions, unsigned circuit, const bool *done,
                                        struct cuzk_error *err);
void flow_job_remove(struct flow *f, uint64_t job); /* it must be over; unknown: nothing */
void flow_job_cancel(struct flow *f, uint64_t job); /* once or more; over or unknown: nothing */
/* Whether its work is in vain: cancelled, failed, or unknown. */
bool flow_job_cancelled(const struct flow *f, uint64_t job);
/* A job whose circuit is not loaded begins no synthesis; none is loaded at first. What is under way
 * goes on when a circuit is no longer ready, so that no permit is kept by a job that waits. */
void flow_circuit_ready(struct flow *f, unsigned circuit, bool ready);
/* Unknown: OVER. */
enum flow_job_state flow_job_state(const struct flow *f, uint64_t job);
/* Whatever the attempt; unknown: DROPPED. */
enum flow_stage flow_stage_of(const struct flow *f, const struct flow_task *task);

/* ---- what may be done now: each takes it, or returns false ---- */

bool flow_next_synthesis(struct flow *f, struct flow_task *out);
bool flow_next_start(struct flow *f, unsigned device, struct flow_task *out);

/* ---- what has happened ---- */

enum flow_outcome {
    FLOW_GOES_ON, /* the task is in its next stage */
    FLOW_AGAIN,   /* the task is PENDING again */
    FLOW_DROP,    /* its job is cancelled or failed, or the task is another's now: drop what it
                     holds; the job may be over by that (flow_job_state) */
    FLOW_JOB_DONE,
    FLOW_JOB_FAILED, /* by this event: answer its client, free what it had in READY; other
                        partitions may still be under way (flow_job_state) */
};

/* ok false: the input is bad or memory was not to be had; the job fails. */
enum flow_outcome flow_synthesized(struct flow *f, const struct flow_task *task, bool ok);
enum flow_outcome flow_started(struct flow *f, const struct flow_task *task);
enum flow_outcome flow_finished(struct flow *f, const struct flow_task *task);
/* The device says that it cannot (in START or FINISH): counts as a loss does, and the partition
 * goes to another device if one is up. */
enum flow_outcome flow_device_refused(struct flow *f, const struct flow_task *task);
enum flow_outcome flow_verified(struct flow *f, const struct flow_task *task, bool valid);

/* Every task in START or FINISH on it goes back, one call of `fn` for each, with its outcome. The
 * device is not up any more. `fn` may be NULL and may not call the flow. When one of them fails its
 * job, others of that job may have been told AGAIN before: they are DROPPED all the same. */
void flow_device_lost(struct flow *f, unsigned device,
                      void (*fn)(void *ctx, const struct flow_task *task, enum flow_outcome o),
                      void *ctx);
/* A device that is not up is given nothing; what it has goes on. All are down at first. */
void flow_device_up(struct flow *f, unsigned device, bool up);

/* Changes the number of permits while running (memory shrank): at least 1 and at most the
 * configuration's. Permits that are out stay out until they come back. */
void flow_set_permits(struct flow *f, unsigned permits);

/* ---- counts ---- */

struct flow_counts {
    unsigned stage[FLOW_STAGES]; /* partitions of all jobs, DONE and DROPPED included */
    unsigned witnesses;          /* partitions that hold a witness now */
    unsigned most_witnesses;     /* … and the most that ever did */
    unsigned permits_taken;
    unsigned on_device[FLOW_MAX_DEVICES];
    unsigned jobs;
};
struct flow_counts flow_count(const struct flow *f);
/* Most witnesses that can be in memory at once, from the configuration. */
unsigned flow_max_witnesses(const struct flow_config *config);

/* Aborts if an invariant of this page does not hold; debug builds call it after every event (not
 * with early_permit). */
void flow_check(const struct flow *f);

#endif
