/*
 * The memory plan: every term of a configuration's peak, and the peak, before anything is
 * allocated. `cuzk plan` prints it; the daemon runs by the same function; the tests hold the
 * measured peak against it (within 5 %, and below).
 *
 * Where the bytes are: the daemon's process holds decoded inputs, matrices and kind planes (for
 * synthesis), witnesses (slabs, shared with the devices), verifying keys, and a base for the
 * program and its libraries. A device's process holds the proving keys of the resident circuits
 * and, for each worker, a, b, c and scratch; for each pending proof, what finish reads; and a base.
 * Shared slabs count once.
 *
 * Several circuits: proving keys and matrices add up over the circuits that are resident together;
 * the pipeline's slots are sized for the largest.
 *
 * Units: bytes. Threads: pure, but that the circuit's counts are recorded at the first use of it.
 */
#ifndef ENGINE_PLAN_H
#define ENGINE_PLAN_H

#include "circuit_name.h"
#include "mem.h"
#include "r1cs.h"

enum { PLAN_MAX_CIRCUITS = 16 };

/* What the plan knows of one circuit. */
struct plan_circuit {
    char circuit_id[CIRCUIT_ID_BYTES];
    const struct porep_shape *shape;
    struct r1cs_stats stats;
    unsigned log_n;           /* of the domain */
    uint64_t srs_bytes;       /* parameters, gathered points, in the device */
    uint64_t key_other_bytes; /* domain tables, in the device */
    uint64_t matrices_bytes;  /* in each process that holds them */
    uint64_t record_bytes;    /* passing: while matrices are made */
    uint64_t witness_bytes;   /* one partition */
    uint64_t abc_bytes;       /* one start */
    uint64_t start_scratch_bytes;
    uint64_t pending_bytes; /* one pending proof */
    uint64_t finish_scratch_bytes;
    uint64_t input_bytes;   /* one sector, decoded, with its most partitions */
    uint64_t message_bytes; /* one sector's C1 text: an upper bound of the usual */
    unsigned max_partitions;
};
/* Records the circuit's counts once and keeps them; `device_threads` of the pool of one start (0:
 * 1). The result lives until the program ends. Errors: USAGE, UNSUPPORTED, NO_MEMORY. */
CUZK_NODISCARD cuzk_status plan_circuit_find(const struct plan_circuit **out,
                                             const char *circuit_id, unsigned device_threads,
                                             struct cuzk_error *err);

struct plan_options {
    const char *circuit_ids[PLAN_MAX_CIRCUITS]; /* resident together */
    unsigned n_circuits;
    unsigned n_devices;         /* 0: 1 */
    unsigned partition_workers; /* pw; 0: as many as fit and are of use */
    unsigned device_workers;    /* gw of each device; 0: chosen */
    unsigned pendings;          /* of each device, beyond those in a start; 0: chosen */
    unsigned synthesis_threads; /* of one synthesis worker; 0: chosen */
    unsigned device_threads;    /* of one device's process; 0: all processors */
    unsigned cpus;              /* 0: this machine's */
    unsigned queued_jobs;       /* jobs whose decoded inputs wait; 0: as many as fit, 1 at least */
    unsigned concurrent_messages; /* largest messages being received at once; 0: 1 */
    uint64_t max_message_bytes;   /* 0: 256 MiB */
    uint64_t budget_bytes;        /* 0: no limit, print only */
    char limited_by[400];         /* for the text: what the budget comes from */
    bool sequential;              /* exactly one partition's working set alive */
};

enum plan_term_kind {
    PLAN_BASE_DAEMON,
    PLAN_BASE_DEVICE,
    PLAN_SRS,
    PLAN_KEY_TABLES,
    PLAN_MATRICES,
    PLAN_INPUT,
    PLAN_MESSAGES,
    PLAN_WITNESS,
    PLAN_CRITICAL, /* kept back for a CRITICAL job: a witness slot */
    PLAN_ABC,
    PLAN_SCRATCH,
    PLAN_PENDING,
    PLAN_TERMS
};

struct plan_term {
    uint64_t each;  /* bytes of one */
    unsigned count; /* how many */
    uint64_t bytes; /* each * count */
    enum mem_class kind;
    bool in_device;
};

struct plan {
    struct plan_term term[PLAN_TERMS];
    uint64_t peak_bytes; /* the sum */
    unsigned n_devices, partition_workers, device_workers, pendings, queued_jobs;
    unsigned synthesis_threads, device_threads, device_worker_threads;
    bool sequential; /* asked for, or chosen because memory is small */
    bool reduced;    /* partitions in flight are fewer than asked for */
    bool fits;
    unsigned asked_partition_workers, asked_device_workers;
    uint64_t smallest_bytes; /* the least budget with which this circuit set can be proved at all */
    uint64_t next_bytes;     /* budget with which one more partition worker fits */
    char bottleneck[160];    /* one sentence: what would raise throughput */
};

/*
 * Makes the plan: what is asked for if it fits; else first fewer queued inputs, then fewer
 * partition workers, then fewer pendings and device workers, then sequential; else fits is false
 * and the smallest plan is given. Errors: BUDGET when not even the smallest fits, with the sum in
 * `what` as needs 71.2 GiB (srs 44.1 + 2 partitions x 13.6 …); budget is 64.0 GiB, limited by … and
 * in `hint` what would help; *out is filled all the same. USAGE, UNSUPPORTED, NO_MEMORY.
 */
CUZK_NODISCARD cuzk_status plan_make(struct plan *out, const struct plan_options *options,
                                     struct cuzk_error *err);

const char *plan_term_name(enum plan_term_kind kind);

/* The table that `cuzk plan` prints, or JSON; returns the length as snprintf does. */
int plan_print(const struct plan *p, const struct plan_options *options, char *out,
               size_t out_bytes);
int plan_print_json(const struct plan *p, const struct plan_options *options, char *out,
                    size_t out_bytes);

#endif
