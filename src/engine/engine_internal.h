/*
 * What the engine's files share; not for others.
 *
 * One lock guards everything below but what is said to be immutable. One condition, `changed`, is
 * broadcast whenever something has changed (flow.h says why a broadcast): every thread asks under
 * the lock what it may do, and waits on `changed` otherwise. Long work is done without the lock;
 * what it reads cannot go away meanwhile, because a job stays until nothing of it is in any stage
 * of the flow and nobody has pinned it, and a circuit as long as a job refers to it.
 *
 * Functions whose names end in _locked are called with the lock held.
 *
 * Threads: synthesis workers (engine_pipeline.c), verifiers (same), the loader, which makes
 * circuits resident and takes up recorded jobs (engine_circuits.c), the keeper, which restarts
 * devices (engine_devices.c), the finisher, which records outcomes and calls watchers, and the
 * timer (engine_jobs.c).
 */
#ifndef ENGINE_ENGINE_INTERNAL_H
#define ENGINE_ENGINE_INTERNAL_H

#include <pthread.h>

#include "c1.h"
#include "engine.h"
#include "journal.h"
#include "lock.h"
#include "pool.h"
#include "vkey.h"

enum {
    ENGINE_DIGEST_BYTES = 32,
    ENGINE_VERIFIERS = 2,
    ENGINE_MAX_SYNTHESIS = 128, /* threads */
    ENGINE_USUAL_JOBS = 1000,
    ENGINE_USUAL_AGE_AFTER = 64, /* partitions of others */
    ENGINE_USUAL_RESULTS = 1000,
    ENGINE_LOSSES_REMEMBERED = 4, /* more than 3 in ENGINE_LOSS_WINDOW_NS: the device has failed */
    ENGINE_MEDIAN_OF = 31,
};
#define ENGINE_USUAL_KEEP_NS   ((uint64_t)3600 * 1000000000u)
#define ENGINE_USUAL_MESSAGE   ((uint64_t)256 << 20)
#define ENGINE_LOSS_WINDOW_NS  ((uint64_t)600 * 1000000000u)
#define ENGINE_BUDGET_EVERY_NS ((uint64_t)5 * 1000000000u)
#define ENGINE_INPUT_WAIT_NS   ((uint64_t)10 * 1000000000u) /* for room for a decoded input */
#define ENGINE_ROOM_RETRY_NS   ((uint64_t)100 * 1000000u) /* the ledger tells nobody of new room */
#define ENGINE_SUSPECT_WAIT_NS ((uint64_t)30 * 1000000000u)
#define ENGINE_TURN_NS         ((uint64_t)60 * 1000000000u) /* a circuit waits for busy ones so long */

/* ---- jobs ---- */

struct job;

struct partition {
    struct partition *next_verify; /* in the verifiers' queue */
    struct job *job;
    struct flow_task task; /* the one that it is in now */
    struct slab slab;      /* its witness; id 0: none */
    int device;            /* on which it is or was last; -1: none yet */
    unsigned invalids;
    uint64_t synthesis_begin_ns, device_begin_ns; /* 0: not in it now */
    double synthesis_seconds, device_seconds;
    char phase[24];
    uint64_t device_task;                     /* its number on the device */
    uint8_t fake_digest[ENGINE_DIGEST_BYTES]; /* accept_fake_proofs: of the witness */
    uint8_t candidate[PROOF_BYTES];           /* not verified yet */
};

enum job_state {
    JOB_ACCEPTING, /* being decoded and checked by engine_submit; not to be seen from outside */
    JOB_PARKED,    /* found in the state folder, not decoded yet */
    JOB_OPEN,      /* in the flow */
    JOB_OVER,      /* has an outcome; may still have partitions in the flow (in_flow) */
};

struct job {
    struct job *next, *previous; /* in order of acceptance */
    char id[ENGINE_JOB_ID_BYTES];
    uint64_t number; /* the flow's */
    char *request_id;
    uint8_t digest[ENGINE_DIGEST_BYTES];
    enum engine_kind kind;
    int priority;
    uint64_t miner_id, sector_number;
    bool has_miner;
    uint64_t deadline_ns;

    enum job_state state;
    bool in_flow;       /* flow, input and the reference to the circuit are held */
    bool kept;          /* stays in the state folder for the next start */
    bool unrecorded;    /* its outcome is not written to the state folder */
    bool gap;           /* a partition's proof is not on the disk */
    bool promised;      /* somebody holds a ticket of it: it does not end with its first client */
    bool to_finish;     /* the finisher has yet to record it … */
    bool recorded;      /* … has done so: watchers may be told */
    unsigned pins;      /* threads that use it without the lock */
    char *payload_path; /* PARKED */
    uint64_t retry_ns;  /* PARKED: not taken up before */

    struct c1 *c1;
    struct ledger_reservation input;
    int circuit; /* index; -1: not known yet */
    unsigned n_partitions, n_done;
    struct partition *partitions; /* until nothing of it is in the flow */
    uint8_t *proofs;              /* [n_partitions][PROOF_BYTES] */
    bool *done;
    /* The partitions' figures, kept for the snapshot of an ended job. */
    double synthesis_seconds, device_seconds;

    uint64_t accepted_ns, begun_ns, ended_ns, resident_ns; /* 0: not yet */
    enum engine_outcome outcome;
    struct cuzk_error error;
};

struct watch {
    struct watch *next;
    uint64_t id, until_ns;
    struct job *job;
    engine_done_fn fn;
    void *ctx;
    enum { WATCH_WAITS, WATCH_TIMED_OUT, WATCH_CALLING } state;
};

/* ---- circuits: one for each shape, its index is the flow's circuit number ---- */

enum circuit_state {
    CIRCUIT_ABSENT,
    CIRCUIT_PREPARING, /* room is reserved; the loader makes the daemon's part */
    CIRCUIT_LOADING,   /* the devices are at it */
    CIRCUIT_RESIDENT,
    CIRCUIT_EVICTING,
};

struct circuit {
    const struct porep_shape *shape; /* NULL past the last */
    char id[CIRCUIT_ID_BYTES];
    enum circuit_state state;
    struct param_place place; /* of the parameters */
    const struct plan_circuit *counts;
    uint64_t smallest_bytes;          /* least budget for it alone; 0: not planned yet */
    unsigned references, waiters;     /* jobs; calls of engine_preload */
    bool preload, preload_due;        /* named in the configuration; … and not resident yet */
    bool said_to_wait;                /* for room */
    bool yields;                      /* begins nothing more, so that another may be loaded */
    uint64_t needed_ns;               /* since when it is wanted and not there */
    uint32_t asked, loaded, evicting; /* one bit a device */
    uint64_t load_begin_ns, resident_ns, idle_since_ns;
    double load_seconds;
    uint64_t srs_bytes, matrices_bytes, freed_bytes;
    bool development, missing;
    unsigned failures;       /* loads that failed, ever */
    struct cuzk_error error; /* of the last of them */
    /* The daemon's part; immutable while LOADING or RESIDENT. */
    struct r1cs *r1cs;
    struct r1cs_stats stats;
    struct vkey vk;
    bool has_vk;
    uint8_t vk_digest[32];
};

/* ---- devices ---- */

struct device_entry { /* a task that the device has */
    uint64_t task;    /* 0: free */
    struct flow_task flow;
    struct job *job; /* NULL: dropped; what comes back is ignored */
    bool started;
    int worker; /* -1: a pending one whose worker has gone on */
    uint64_t begin_ns;
};

enum { ENGINE_DEVICE_TASKS = 64 };

struct device {
    struct engine *engine;
    unsigned index;
    struct device_spec spec;
    struct device_link *link; /* NULL: none now */
    bool up, lost, failed;
    unsigned workers, pendings;
    unsigned n_tasks, n_starting;
    struct device_entry tasks[ENGINE_DEVICE_TASKS];
    uint64_t restart_ns;
    uint64_t loss_ns[ENGINE_LOSSES_REMEMBERED];
    unsigned losses, restarts, invalid_proofs;
    double busy_seconds; /* of tasks that have ended */
    char name[64];
    char last_error[200];
};

struct thread_slot {
    pthread_t id;
    bool begun;
};

struct engine {
    struct engine_config config; /* its strings are owned; immutable */
    struct ledger *ledger;
    struct slab_pool *slabs;
    struct journal *journal;
    pthread_mutex_t check_mutex; /* of check_pool: one check at a time uses it, others do without */
    struct pool *check_pool;
    uint64_t start_ns;

    struct lock lock;
    struct lock_cond changed;
    bool accepting, stopping, threads_end, finisher_end;

    struct budget budget;
    uint64_t limit;
    char limited_by[400];

    struct plan plan;
    bool has_plan, replan_due, replay_waits;
    uint64_t planned_limit;          /* the limit that the plan was made for */
    struct ledger_reservation fixed; /* everything of the plan but inputs and messages */
    unsigned permits, device_workers, device_tasks; /* in force now; never more than the plan's */
    bool sequential;

    struct flow *flow;
    unsigned max_permits;
    struct job *first, *last;
    unsigned n_jobs, n_kept_results;
    uint64_t next_number, next_task, next_watch;
    struct watch *watches;
    struct partition *verify_first, *verify_last;
    struct circuit circuits[PLAN_MAX_CIRCUITS];
    unsigned n_circuits;
    struct device devices[FLOW_MAX_DEVICES];
    unsigned n_devices;

    uint64_t completed[ENGINE_KINDS], failed[ENGINE_KINDS], cancelled[ENGINE_KINDS];
    uint64_t rejected, invalid_proofs, retries;
    struct engine_histogram duration[ENGINE_KINDS];
    double recent[ENGINE_MEDIAN_OF]; /* seconds from begin to end of the last proofs */
    unsigned n_recent;

    struct thread_slot synthesis[ENGINE_MAX_SYNTHESIS], verifiers[ENGINE_VERIFIERS];
    struct thread_slot loader, keeper, finisher, timer;
    unsigned n_synthesis, synthesis_threads;
};

static inline void engine_wake_locked(struct engine *e) {
    lock_cond_wake_all(&e->changed);
}

/* Begins a thread. Errors: NO_MEMORY. */
CUZK_NODISCARD cuzk_status engine_thread(struct thread_slot *slot, void *(*fn)(void *), void *ctx,
                                         struct cuzk_error *err);

/* ---- engine_jobs.c ---- */

void *engine_finisher(void *engine);
void *engine_timer(void *engine);
CUZK_NODISCARD cuzk_status job_new_id(char out[ENGINE_JOB_ID_BYTES], struct cuzk_error *err);
/* A job with request id; NULL: no memory. */
struct job *job_make(const char *request_id);
void job_free(struct job *job);
void job_link_locked(struct engine *e, struct job *job);
void job_unlink_locked(struct engine *e, struct job *job);
struct job *job_by_id_locked(struct engine *e, const char *id);
struct job *job_by_number_locked(struct engine *e, uint64_t number);
/* The job of this key that is neither failed nor cancelled; NULL: none. */
struct job *job_by_key_locked(struct engine *e, const char *request_id, enum engine_kind kind,
                              const uint8_t digest[ENGINE_DIGEST_BYTES]);
/* Takes c1 (and with it the job's partitions) into the flow. c1 is the job's then. */
CUZK_NODISCARD cuzk_status job_begin_locked(struct engine *e, struct job *job,
                                            struct cuzk_error *err);
/* The outcome, unless it has one: its work ends, its watchers are told. `why` may be NULL. */
void job_end_locked(struct engine *e, struct job *job, enum engine_outcome outcome,
                    const struct cuzk_error *why);
/* Stops its work and gives back what nobody uses, without an outcome. */
void job_stop_work_locked(struct engine *e, struct job *job);
/* Frees input and partitions if nothing of the job is in the flow any more. */
void job_settle_locked(struct engine *e, struct job *job);
static inline bool job_waits(const struct job *job) {
    return (job->state == JOB_OPEN || job->state == JOB_PARKED) && job->begun_ns == 0 && !job->kept;
}
/* Partitions need memory for their arrays. Errors: NO_MEMORY. */
CUZK_NODISCARD cuzk_status job_make_partitions(struct job *job, unsigned n, struct cuzk_error *err);
unsigned jobs_waiting_locked(const struct engine *e);

/* ---- engine_submit.c ---- */

/* Bytes to reserve before a text is decoded. */
uint64_t submit_input_bound(uint64_t payload_bytes);
/* Are the parameters of a circuit where they should be? Errors: PARAM_MISSING, USAGE. */
CUZK_NODISCARD cuzk_status submit_find_params(const struct engine *e, struct param_place *out,
                                              const struct porep_shape *shape,
                                              struct cuzk_error *err);
/* Inputs may not take the room without which no partition of theirs can be proved. Errors:
 * QUEUE_FULL. */
CUZK_NODISCARD cuzk_status submit_check_room_locked(const struct engine *e, const struct circuit *c,
                                                    struct cuzk_error *err);
bool devices_all_failed_locked(const struct engine *e);

/* ---- engine_replay.c ---- */

/* All recorded jobs into the table; open ones are PARKED. */
CUZK_NODISCARD cuzk_status replay_journal(struct engine *e, struct cuzk_error *err);
/* Takes up one PARKED job if there is room for it (lets the lock go meanwhile); false: none, or no
 * room. */
bool replay_next_locked(struct engine *e);

/* ---- engine_pipeline.c ---- */

void *engine_synthesis(void *engine);
void *engine_verifier(void *engine);
/* Gives the devices what they may take, and begins synthesis threads up to what may run. */
void pipeline_pump_locked(struct engine *e);
/* An event's outcome for a partition that leaves the stage it was in. */
void pipeline_left_locked(struct engine *e, struct partition *p, enum flow_outcome outcome,
                          const struct cuzk_error *why);
void pipeline_to_verify_locked(struct engine *e, struct partition *p);
void pipeline_drop_slab_locked(struct engine *e, struct partition *p);

/* ---- engine_devices.c ---- */

void *engine_keeper(void *engine);
CUZK_NODISCARD cuzk_status device_start_locked(struct device *d, struct cuzk_error *err);
void device_give_locked(struct device *d, struct partition *p, const struct flow_task *task);
/* What the devices have of a job is told to end. */
void device_cancel_job_locked(struct engine *e, const struct job *job);
bool device_has_room_locked(const struct device *d);
/* Is it one of those that the plan has room for? */
bool device_in_plan_locked(const struct device *d);
/* Its link is no more: everything that it had goes back to the flow. */
void device_gone_locked(struct device *d, const struct cuzk_error *why);

/* ---- engine_circuits.c ---- */

void *engine_loader(void *engine);
void circuits_init(struct engine *e);
/* The verifying key at the head of a parameter file, its points checked, and the digest of its
 * bytes; vkey_destroy is the caller's. */
cuzk_status circuit_read_key(struct vkey *vk, uint8_t digest[32], const char *path,
                             struct cuzk_error *err);
void circuits_free(struct engine *e);
struct circuit *circuit_of_shape(struct engine *e, const struct porep_shape *shape);
void circuit_refer_locked(struct engine *e, struct circuit *c);
void circuit_unrefer_locked(struct engine *e, struct circuit *c);
/* After devices or loads have changed: which circuits and devices may be used? */
void circuits_update_locked(struct engine *e);
/* Asks a device that came up for all circuits that are to be resident. */
void circuits_ask_locked(struct engine *e, struct device *d);
void circuits_device_lost_locked(struct engine *e, unsigned device);
void circuit_loaded_locked(struct engine *e, unsigned device, const struct device_event *event);
void circuit_load_failed_locked(struct engine *e, unsigned device, const char *circuit_id,
                                const struct cuzk_error *why);
void circuit_evicted_locked(struct engine *e, unsigned device, const struct device_event *event);

/* ---- engine_memory.c ---- */

void memory_read_budget(const struct engine *e, struct budget *out, uint64_t own_bytes);
/* Takes over a budget: limit and its text. */
void memory_set_budget_locked(struct engine *e, const struct budget *b);
void memory_plan_options(const struct engine *e, struct plan_options *out);
/* Can this circuit ever be proved here? Errors: BUDGET with the sum, and plan_circuit_find's. */
CUZK_NODISCARD cuzk_status memory_admit(struct engine *e, struct circuit *c,
                                        struct cuzk_error *err);
/*
 * Makes the plan for the circuits that hold room and `more` (may be NULL), and reserves for it.
 * Errors: BUDGET_BUSY (later, or after an eviction), BUDGET (these together never fit), others.
 */
CUZK_NODISCARD cuzk_status memory_apply_locked(struct engine *e, const struct circuit *more,
                                               struct cuzk_error *err);
/* Inputs of all open jobs. */
uint64_t memory_inputs_locked(const struct engine *e);

#endif
