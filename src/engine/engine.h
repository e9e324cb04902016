/*
 * The engine: jobs in, verified proofs out. It knows neither gRPC nor HTTP.
 *
 * A job is one sector's PoRep (other kinds: NOT_SERVED). Its way: payload digest → decode → checks
 * against the request and the vanilla-proof checks → record in the state folder → accepted. Then
 * its partitions go through the flow (flow.h): synthesis workers make witnesses in slabs, devices
 * prove, finalizers verify. The job's proof is its partitions' proofs, one after the other.
 *
 * Memory: one ledger. The pipeline's slots (witnesses, a, b, c, pending proofs, scratch) are
 * planned and reserved by plan_make when a circuit becomes resident; a job reserves its decoded
 * input; a message is reserved by who receives it (engine_input_*), before it is read.
 *
 * Threads: all functions may be called from any thread. Callbacks come from the engine's threads,
 * without a lock of the engine held; they must not block.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "budget_source.h"
#include "device_link.h"
#include "flow.h"
#include "ledger.h"
#include "plan.h"

enum { ENGINE_JOB_ID_BYTES = 40, ENGINE_KINDS = 5 };

/* As in the gRPC interface. */
enum engine_kind {
    ENGINE_KIND_NONE,
    ENGINE_KIND_POREP,
    ENGINE_KIND_SNAP,
    ENGINE_KIND_WINDOW_POST,
    ENGINE_KIND_WINNING_POST,
};
/* "porep", "snap", "wpost", "winning"; "none". */
const char *engine_kind_name(enum engine_kind kind);

struct engine_device_config {
    const char *program, *backend, *options;
    unsigned workers; /* 0: from the plan */
};

struct engine_config {
    uint64_t memory_total;  /* 0: auto */
    uint64_t memory_margin; /* normally BUDGET_USUAL_MARGIN */
    struct budget_roots budget_roots;
    const char *param_dir; /* NULL: the default */
    const char *preload[PLAN_MAX_CIRCUITS];
    unsigned n_preload;
    struct engine_device_config devices[FLOW_MAX_DEVICES];
    unsigned n_devices;
    unsigned partition_workers, synthesis_threads, device_threads; /* 0: from the plan */
    unsigned age_after; /* flow.h: ageing of waiting jobs; 0: usual (64) */
    uint64_t evict_min_idle_ns;
    const char *state_dir;      /* NULL: acknowledged jobs do not survive; said at start */
    unsigned max_queued_jobs;   /* beyond it QUEUE_FULL; 0: usual (1000) */
    unsigned keep_results;      /* most results kept; 0: usual (1000) */
    uint64_t keep_result_ns;    /* … and for how long; 0: usual (1 hour) */
    uint64_t max_message_bytes; /* 0: usual (256 MiB) */
    bool no_input_check;        /* memlab and soak: decode only */

    /* Tests only. */
    bool fixed_blinding;
    uint64_t fixed_r, fixed_s;
    uint64_t device_ping_timeout_ns, device_progress_timeout_ns; /* 0: device_link.h's usual ones */
    bool accept_fake_proofs; /* the device is a fake one: proofs are compared with its pattern */
};

struct engine;

/*
 * Prints and keeps the budget, starts the devices, opens the state folder and takes up its open
 * jobs. Returns when the engine accepts jobs; devices come up on their own.
 * Errors: CONFIG, BUDGET, STATE, DEVICE_LOST, NO_MEMORY.
 */
CUZK_NODISCARD cuzk_status engine_create(struct engine **out, const struct engine_config *config,
                                         struct cuzk_error *err);

/* Takes no more jobs. Those that have not begun stay in the state folder for the next start, and
 * who waits for them is told so by engine_destroy; without a folder they are answered STOPPING. */
void engine_stop_accepting(struct engine *e);
/* Waits until nothing is under way, until `deadline_ns` at the latest; true: all is done. */
bool engine_drain(struct engine *e, uint64_t deadline_ns);
/* Ends at once what is left (open jobs stay in the state folder); accepts NULL. */
void engine_destroy(struct engine *e);

/* Are the preloaded circuits resident and a device up? `why` says what is missing. */
bool engine_ready(struct engine *e, char *why, size_t why_bytes);

/* ---- jobs ---- */

struct engine_request {
    const char *request_id; /* may be empty */
    enum engine_kind kind;
    uint64_t sector_size, registered_proof; /* 0: from the file */
    uint64_t sector_number, miner_id;       /* checked through the replica id; miner 0: not given */
    int priority;                           /* 0: NORMAL */
    const void *payload;                    /* C1; read during the call only */
    size_t payload_bytes;
    uint64_t deadline_ns; /* clock_ns(); 0: none. Work past it is dropped (DEADLINE) */
};

struct engine_ticket {
    char job_id[ENGINE_JOB_ID_BYTES];
    unsigned queue_position; /* jobs before it */
    char device[64];         /* where it will go, as far as that is known; may be empty */
    bool existing;           /* same request id and payload: this is the earlier job */
};

/*
 * Decodes, checks, records and queues. Blocks for as long as that takes (a second for 32 GiB).
 * Errors: those of c1_decode and c1_check; REQUEST (a field disagrees with the file), NOT_SERVED,
 * BUDGET (can never fit, with the sum), QUEUE_FULL, STOPPING, STATE, NO_DEVICE, PARAM_MISSING.
 */
CUZK_NODISCARD cuzk_status engine_submit(struct engine *e, const struct engine_request *request,
                                         struct engine_ticket *out, struct cuzk_error *err);

enum engine_outcome {
    ENGINE_UNKNOWN,
    ENGINE_COMPLETED,
    ENGINE_FAILED,
    ENGINE_CANCELLED,
    ENGINE_TIMEOUT, /* of the wait, not of the job */
};

struct engine_result {
    char job_id[ENGINE_JOB_ID_BYTES];
    enum engine_outcome outcome;
    const uint8_t *proof; /* valid during the callback only */
    size_t proof_bytes;
    struct cuzk_error error; /* FAILED, CANCELLED */
    uint64_t queue_wait_ms, srs_load_ms, synthesis_ms, gpu_compute_ms, total_ms;
};
typedef void (*engine_done_fn)(void *ctx, const struct engine_result *result);

/*
 * Calls `fn` exactly once: when the job is over (at once, from this call, if it is), or with
 * TIMEOUT when clock_ns() is `until_ns` (0: never). *watch names the wait for engine_unwatch.
 * Errors: JOB_UNKNOWN; fn is then not called.
 */
CUZK_NODISCARD cuzk_status engine_watch(struct engine *e, const char *job_id, uint64_t until_ns,
                                        engine_done_fn fn, void *ctx, uint64_t *watch,
                                        struct cuzk_error *err);
/* When it returns, fn has been called or will not be. May not be called from fn. */
void engine_unwatch(struct engine *e, uint64_t watch);

/* Its memory is back within one stage. Errors: JOB_UNKNOWN. An ended job: was_running false. */
CUZK_NODISCARD cuzk_status engine_cancel(struct engine *e, const char *job_id, bool *was_running,
                                         struct cuzk_error *err);

/* The same when the client that waits for it has gone: a job that another client was given a ticket
 * of (engine_submit with `existing`, without a deadline) goes on, and was_running is false. */
CUZK_NODISCARD cuzk_status engine_cancel_dropped(struct engine *e, const char *job_id,
                                                 bool *was_running, struct cuzk_error *err);

/* ---- parameters ---- */

/* Waits until it is resident, or `until_ns` (0: no limit). Errors: USAGE (no such circuit),
 * NOT_SERVED, PARAM_…, BUDGET, NO_DEVICE, DEADLINE. */
CUZK_NODISCARD cuzk_status engine_preload(struct engine *e, const char *circuit_id,
                                          uint64_t until_ns, bool *already, uint64_t *load_ms,
                                          struct cuzk_error *err);
/* Errors: USAGE, BUDGET_BUSY when jobs use it. Not loaded: was_loaded false. */
CUZK_NODISCARD cuzk_status engine_evict(struct engine *e, const char *circuit_id, bool *was_loaded,
                                        uint64_t *freed_bytes, struct cuzk_error *err);

/* ---- room for messages, before they are read ---- */

struct engine_input {
    struct ledger_reservation reservation;
};
/* Waits for the room of one message of `bytes`, by priority FLOW_NORMAL. Errors: as
 * ledger_reserve, STOPPING. */
CUZK_NODISCARD cuzk_status engine_input_reserve(struct engine *e, uint64_t bytes,
                                                uint64_t deadline_ns,
                                                const struct ledger_cancel *cancel,
                                                struct engine_input *out, struct cuzk_error *err);
/* Without waiting; BUDGET_BUSY. */
CUZK_NODISCARD cuzk_status engine_input_try(struct engine *e, uint64_t bytes,
                                            struct engine_input *out, struct cuzk_error *err);
void engine_input_cancel(struct engine *e, struct ledger_cancel *cancel);
void engine_input_shrink(struct engine *e, struct engine_input *in, uint64_t bytes);
void engine_input_release(struct engine *e, struct engine_input *in);

/* ---- snapshot ---- */

struct engine_partition_view {
    enum flow_stage stage;
    unsigned attempt;
    int device;                               /* -1: none */
    double synthesis_seconds, device_seconds; /* so far, or as it took */
    char phase[24];                           /* on the device: "msm h", … */
};
struct engine_job_view {
    char job_id[ENGINE_JOB_ID_BYTES], request_id[96], circuit_id[CIRCUIT_ID_BYTES];
    enum engine_kind kind;
    int priority;
    uint64_t miner_id, sector_number;
    bool running; /* a partition of it has begun */
    bool over;
    enum engine_outcome outcome; /* if over */
    char error[200];             /* if FAILED: code and sentence */
    double age_seconds;          /* since it was accepted */
    double seconds[5];           /* queue, srs load, synthesis, device, total: as far as known */
    double eta_seconds;          /* from the running median; < 0: not known */
    uint64_t reserved_bytes;
    unsigned n_partitions, n_done;
    struct engine_partition_view partitions[FLOW_MAX_PARTITIONS];
};
struct engine_worker_view {
    unsigned device, worker;
    bool busy;
    char job_id[ENGINE_JOB_ID_BYTES];
    unsigned partition;
    double busy_seconds;
};
struct engine_device_view {
    struct device_state state;
    bool failed; /* taken out after repeated faults */
    unsigned restarts, invalid_proofs, losses;
    double busy_seconds; /* of all its workers, since start */
    char last_error[200];
};
struct engine_circuit_view {
    char circuit_id[CIRCUIT_ID_BYTES];
    bool resident, loading, missing;
    bool development; /* parameters that `cuzk params setup` made */
    uint64_t srs_bytes, matrices_bytes;
    unsigned references; /* jobs that need it */
    double idle_seconds;
    double load_seconds;
};
/* Seconds of proofs that were made, as Prometheus has histograms. */
enum { ENGINE_BUCKETS = 14 };
extern const double engine_bucket_bounds[ENGINE_BUCKETS]; /* ascending; one more is +Inf */
struct engine_histogram {
    uint64_t bucket[ENGINE_BUCKETS + 1]; /* not cumulative */
    double sum;
    uint64_t count;
};
struct engine_snapshot {
    double uptime_seconds;
    struct budget budget;
    struct plan plan;
    bool has_plan; /* a circuit was resident once */
    struct ledger_counters ledger;
    uint64_t rss_bytes, peak_rss_bytes; /* of the daemon's process */
    uint64_t total_rss_bytes;           /* of all processes, shared pages once */
    uint64_t class_bytes[MEM_CLASSES];  /* tracked, all processes */
    uint64_t class_high_water[MEM_CLASSES];
    struct slab_counters slabs;
    struct flow_counts flow;
    uint64_t completed[ENGINE_KINDS], failed[ENGINE_KINDS], cancelled[ENGINE_KINDS];
    uint64_t rejected;       /* submits that were refused */
    uint64_t invalid_proofs; /* caught by verification */
    uint64_t retries;
    struct engine_histogram duration[ENGINE_KINDS];
    unsigned queued[ENGINE_KINDS];  /* accepted, no partition begun */
    unsigned running[ENGINE_KINDS]; /* begun, not answered */
    unsigned queued_by_priority[5]; /* index: flow_priority */
    double oldest_queued_seconds;
    bool accepting;
    bool persistent; /* a state folder is used */
    unsigned n_jobs, n_workers, n_devices, n_circuits;
    struct engine_job_view *jobs; /* open ones in order of acceptance, then the latest ended ones */
    struct engine_worker_view *workers;
    struct engine_device_view *devices;
    struct engine_circuit_view *circuits;
};
/* Never waits for a device; under 10 ms. Errors: NO_MEMORY. */
CUZK_NODISCARD cuzk_status engine_snapshot_take(struct engine *e, struct engine_snapshot **out,
                                                struct cuzk_error *err);
void engine_snapshot_free(struct engine_snapshot *s); /* accepts NULL */

#endif
