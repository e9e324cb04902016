/*
 * The flow of partitions through the pipeline: who may do what next.
 *
 * Pure bookkeeping, without threads, clocks, memory of buffers or input and output: the engine
 * calls it under its lock, memlab drives it with false work, and the tests walk through every order
 * of events of small configurations.
 *
 *     PENDING → SYNTHESIS → READY → START → FINISH → VERIFY → DONE
 *
 * - A partition takes a permit and a witness slot when it enters SYNTHESIS. The permit travels with
 *   it and is given back when a device worker takes it (START), so READY can never hold more than
 *   there are permits. The witness slot is free when the start has ended (FINISH): the device has
 *   read the witness then.
 *   Hence at any time: SYNTHESIS + READY <= permits, START <= sum of the devices' workers, witnesses
 *   in memory <= permits + workers.
 * - A device has `workers` that start; a start that has ended leaves a pending proof in the device.
 *   START + FINISH on one device <= workers + pendings, so that finished work cannot pile up either.
 * - Order: higher priority first; within one, the older job first; within a job, partitions in
 *   order. A job runs on as many workers as there are; a CRITICAL one is taken at the next free
 *   permit or worker. One more permit (and witness slot) is kept for CRITICAL jobs, so that a crowd
 *   of others that fill the permits does not hold it up.
 *   A lower priority is not starved by a steady stream of a higher one: a job that has waited while
 *   `age_after` partitions of other jobs were taken rises by one step (never to CRITICAL).
 * - A device that is lost gives its partitions back to PENDING; a partition that was lost
 *   FLOW_MAX_LOSSES times fails its job (its input may be what kills devices).
 * - A proof that is invalid sends its partition back to PENDING once, to another device if there is
 *   one; the second time the job fails (SUSPECT).
 * - A job that is cancelled or failed starts nothing more; what is under way is dropped at its next
 *   event, and the job is over (`FLOW_JOB_OVER`) when nothing of it is left in any stage.
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

enum { FLOW_MAX_DEVICES = 16, FLOW_MAX_PARTITIONS = 128, FLOW_MAX_LOSSES = 2 };

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
    FLOW_JOB_OVER,    /* all partitions DONE, or the job is cancelled or failed and nothing is left */
};

struct flow_config {
    unsigned permits;          /* synthesis workers: pw */
    unsigned critical_permits; /* beside them, for CRITICAL jobs only; normally 1 */
    unsigned n_devices;
    unsigned workers[FLOW_MAX_DEVICES];  /* gw of each device */
    unsigned pendings[FLOW_MAX_DEVICES]; /* pending proofs beyond those in START */
    unsigned age_after;                  /* 0: no ageing */

    /* The fault of the laboratory: the permit is given back when synthesis has ended. */
    bool early_permit;
};

struct flow_task {
    uint64_t job;
    unsigned partition;
    unsigned attempt; /* 0 for the first time */
};

struct flow;

CUZK_NODISCARD cuzk_status flow_create(struct flow **out, const struct flow_config *config,
                                       struct cuzk_error *err);
void flow_destroy(struct flow *f);

/* done[i]: partition i is proved already (found in the state folder); NULL: none is.
 * `circuit` is any number; only its equality matters (see flow_next_synthesis). */
CUZK_NODISCARD cuzk_status flow_job_add(struct flow *f, uint64_t job, enum flow_priority priority,
                                        unsigned n_partitions, unsigned circuit, const bool *done,
                                        struct cuzk_error *err);
void flow_job_remove(struct flow *f, uint64_t job); /* it must be over */
void flow_job_cancel(struct flow *f, uint64_t job); /* once or more; unknown: nothing */
bool flow_job_cancelled(const struct flow *f, uint64_t job);
/* A job whose circuit is not loaded starts nothing; jobs are held when added and let go then. */
void flow_circuit_ready(struct flow *f, unsigned circuit, bool ready);
enum flow_job_state flow_job_state(const struct flow *f, uint64_t job);
enum flow_stage flow_stage_of(const struct flow *f, const struct flow_task *task);

/* ---- what may be done now: each takes it, or returns false ---- */

bool flow_next_synthesis(struct flow *f, struct flow_task *out);
bool flow_next_start(struct flow *f, unsigned device, struct flow_task *out);

/* ---- what has happened ---- */

enum flow_outcome {
    FLOW_GOES_ON, /* the task is in its next stage */
    FLOW_AGAIN,   /* the task is PENDING again */
    FLOW_DROP,    /* its job is cancelled or failed: drop what it holds */
    FLOW_JOB_DONE,
    FLOW_JOB_FAILED, /* by this event: answer its client */
};

/* ok false: the input is bad or memory was not to be had; the job fails. */
enum flow_outcome flow_synthesized(struct flow *f, const struct flow_task *task, bool ok);
enum flow_outcome flow_started(struct flow *f, const struct flow_task *task);
enum flow_outcome flow_finished(struct flow *f, const struct flow_task *task);
/* The device says that it cannot: the same counts as a loss of the device do. */
enum flow_outcome flow_device_refused(struct flow *f, const struct flow_task *task);
enum flow_outcome flow_verified(struct flow *f, const struct flow_task *task, bool valid);

/* Every task in START or FINISH on it goes back, one call of `fn` for each, with its outcome. */
void flow_device_lost(struct flow *f, unsigned device,
                      void (*fn)(void *ctx, const struct flow_task *task, enum flow_outcome o),
                      void *ctx);
/* A device that is not up is given nothing. All are down at first. */
void flow_device_up(struct flow *f, unsigned device, bool up);

/* Changes the number of permits while running (memory shrank); never below 1. */
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

/* Aborts if an invariant of this page does not hold; debug builds call it after every event. */
void flow_check(const struct flow *f);

#endif
