/*
 * The daemon's end of a device: starts `cuzk-device`, feeds it, watches it.
 *
 * A device is a process. It is spoken to over a SOCK_SEQPACKET pair (device_protocol.h); a
 * partition's witness crosses as a slab (slab.h) whose descriptor is sent once. Proving keys,
 * a, b, c and pending proofs live in that process. What comes back is not trusted: the daemon
 * verifies every proof, and a message that makes no sense ends the device.
 *
 * All events come on one thread of the link's own, in order, and none after EVENT_LOST, which is
 * the last one of every link: the process ended, was killed, hung, lied, or was told to end by
 * device_link_destroy. A caller that wants the device back destroys the link and starts a new one.
 * What an event points to is valid during the call only.
 *
 * Watchdog: the process answers pings on a thread of its own; no answer for `ping_timeout_ns`, or
 * no progress of a task or load for `progress_timeout_ns`, is a hang: the process is killed
 * (DEVICE_HANG). One that does not die of SIGKILL (D state) is left behind and reported as lost.
 *
 * Those that work are watched one by one; those that wait in the process for their turn are not,
 * as long as others make progress.
 *
 * Threads: any. device_link_destroy must not be called from an event, nor with a lock that an event
 * takes; the other functions may (rank LOCK_DEVICE is free while an event runs).
 */
#ifndef DEVICE_DEVICE_LINK_H
#define DEVICE_DEVICE_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "circuit_name.h"
#include "mem.h"
#include "prover.h"
#include "slab.h"

struct device_link;

struct device_spec {
    const char *program; /* path of cuzk-device */
    const char *backend; /* "cpu", or "fake" (tests: see device_fake.h) */
    const char *options; /* backend's own, e.g. what a fake device shall do; may be NULL */
    unsigned workers;    /* partitions that are started at the same time */
    unsigned pendings;   /* pending proofs beyond those in a start */
    unsigned threads;    /* of the whole process; 0: as many as it may run on */
    uint64_t ping_timeout_ns, progress_timeout_ns; /* 0: usual ones (10 s, 30 min) */
};

enum device_event_kind {
    EVENT_UP,          /* self-test passed; name and identity are known */
    EVENT_LOADED,      /* a circuit's parameters and matrices are resident */
    EVENT_LOAD_FAILED, /* error says why */
    EVENT_EVICTED,
    EVENT_STARTED,  /* the task's witness slab may be used again; a pending proof exists */
    EVENT_PROGRESS, /* of a task or load: phase, done, total */
    EVENT_PROVED,   /* proof, unverified */
    EVENT_FAILED,   /* this task could not be proved; error says why */
    EVENT_LOST,
};

struct device_timings {
    double queue; /* in the device, before its start */
    struct prover_timings prover;
};

struct device_event {
    enum device_event_kind kind;
    uint64_t task; /* STARTED, PROVED, FAILED, PROGRESS of a task */
    char circuit_id[CIRCUIT_ID_BYTES];
    uint64_t srs_bytes, matrices_bytes; /* LOADED; EVICTED: what was given back */
    double seconds;                     /* LOADED: how long it took */
    bool development;                   /* LOADED: development parameters */
    struct vkey_digest {
        uint8_t bytes[32];
    } vkey;                        /* LOADED: of the verifying key in the file */
    uint8_t proof[PROOF_BYTES];    /* PROVED */
    struct device_timings timings; /* STARTED, PROVED */
    const char *phase;             /* PROGRESS */
    uint64_t done, total;
    struct cuzk_error error; /* LOAD_FAILED, FAILED, LOST */
};

typedef void (*device_event_fn)(void *ctx, const struct device_event *event);

/* Returns at once; EVENT_UP or EVENT_LOST follows. Errors: DEVICE_LOST (it cannot be started). */
CUZK_NODISCARD cuzk_status device_link_create(struct device_link **out,
                                              const struct device_spec *spec, device_event_fn fn,
                                              void *ctx, struct cuzk_error *err);
/* Asks the process to end, kills it after a second, and waits for it; EVENT_LOST comes before it
 * returns, unless it came already. Accepts NULL. */
void device_link_destroy(struct device_link *link);

/* ---- requests: none of them waits for the device; all do nothing once it is lost ---- */

/* EVENT_LOADED or EVENT_LOAD_FAILED follows. One load at a time; others queue in the process. A
 * path that is NULL means the default folder (circuit_files.h); a folder is looked through. */
void device_link_load(struct device_link *link, const char *circuit_id, const char *params_path);
/* EVENT_EVICTED follows, with sizes 0 if it was not there, once no task uses the circuit; tasks
 * that come after this call fail. */
void device_link_evict(struct device_link *link, const char *circuit_id);

struct device_task {
    uint64_t task; /* the caller's number, not 0; unique among those under way */
    const char *circuit_id;
    const struct slab *witness; /* as witness_place() lays it out */
    bool fixed_blinding;        /* for tests */
    uint64_t r, s;
};
/* STARTED, then PROVED; or FAILED; at most workers + pendings tasks may be under way. */
void device_link_prove(struct device_link *link, const struct device_task *task);
/* The task ends with FAILED (CANCELLED) within one stage, or with PROVED if it is too late. */
void device_link_cancel(struct device_link *link, uint64_t task);
/* The slab is about to be closed: the process unmaps it. */
void device_link_drop_slab(struct device_link *link, uint64_t slab_id);
void device_link_kill(struct device_link *link); /* at once; EVENT_LOST follows */

/* ---- what is known of it; never waits ---- */

struct device_state {
    bool up, lost;
    int pid;
    char name[64];                      /* "cpu (AVX-512 IFMA, 2 threads)" */
    char backend[16];                   /* as it calls itself */
    uint64_t rss_bytes, peak_rss_bytes; /* of the process; shared slabs included */
    uint64_t shared_bytes;              /* of rss: slabs, which the daemon counts as well */
    uint64_t class_bytes[MEM_CLASSES];
    uint64_t class_high_water[MEM_CLASSES];
    uint64_t age_ns; /* since its last answer */
    unsigned tasks;  /* under way */
};
void device_link_state(struct device_link *link, struct device_state *out);

#endif
