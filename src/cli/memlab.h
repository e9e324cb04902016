/*
 * The memory laboratory: the pipeline's order and the allocator as switches, on buffers of real
 * sizes and with real proportions of time, so that what made the older daemon run out of memory
 * can be shown on any machine.
 *
 * It drives the engine's own flow (flow.h) and slabs (slab.h); only the work is false: synthesis
 * takes buffers, touches every page of them and waits; a start waits; a finish waits. The sizes are
 * those of a prover that keeps the witness and a, b, c as field elements in host memory, divided by
 * `scale`; the times are divided by `time_scale`.
 *
 * A run is a child process, so that resident memory and the allocator's state are its own.
 * Threads: call from a process with one thread.
 */
#ifndef CLI_MEMLAB_H
#define CLI_MEMLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum { MEMLAB_SAMPLES = 2000, MEMLAB_MAX_WORKERS = 64, MEMLAB_CHUNKS = 8 };

struct memlab_setup {
    /* the faults */
    bool early_permit; /* the permit goes back when synthesis ends, not when a worker takes it */
    bool late_abc;     /* a, b, c stay until the proof is finished */
    bool use_malloc;   /* buffers grow by realloc, as vectors do, instead of slabs */
    unsigned arenas;   /* glibc's M_ARENA_MAX; 0: its default */
    bool trim;         /* malloc_trim after each finished partition */

    unsigned partition_workers, device_workers, finishers;
    unsigned jobs;                                /* in the pipeline at once */
    unsigned proofs;                              /* in all */
    unsigned partitions;                          /* of one proof */
    uint64_t aux_bytes, abc_bytes, pending_bytes; /* of one partition; abc: all three together */
    double synthesis_seconds, start_seconds, finish_seconds;
};

/* The 32 GiB PoRep, its sizes divided by `scale` and its times by `time_scale`. */
CUZK_NODISCARD cuzk_status memlab_replay_32g(struct memlab_setup *out, unsigned scale,
                                             double time_scale, struct cuzk_error *err);

struct memlab_sample {
    double seconds;
    uint64_t rss_bytes;  /* of the run's process */
    uint64_t live_bytes; /* of buffers that are in use */
    unsigned waiting;    /* synthesized, not taken yet */
};

struct memlab_result {
    double seconds; /* for all proofs */
    uint64_t peak_rss_bytes, peak_live_bytes, end_rss_bytes;
    uint64_t planned_bytes; /* what the order of ours and slabs would take at most */
    unsigned most_waiting, most_witnesses;
    unsigned n_proofs;
    size_t n_samples;
    struct memlab_sample samples[MEMLAB_SAMPLES];
};

/* Errors: NO_MEMORY (also when the run was killed for memory), INTERNAL. */
CUZK_NODISCARD cuzk_status memlab_run(struct memlab_result *out, const struct memlab_setup *setup,
                                      struct cuzk_error *err);

#endif
