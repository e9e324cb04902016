/*
 * What does the work in a device's process: one table for each backend.
 *
 * The process (device_process.c) keeps tasks, circuits and slabs, and calls the runner from its
 * threads: create, load and evict from one, start from `workers` threads, finish and drop from one
 * more. A circuit is evicted only when no task uses it.
 */
#ifndef DEVICE_DEVICE_RUNNER_H
#define DEVICE_DEVICE_RUNNER_H

#include <stdbool.h>

#include "device_protocol.h"
#include "progress.h"

struct runner_config {
    const char *options;
    unsigned workers, pendings, threads;
    int socket; /* to the daemon */
};

struct runner_circuit {
    void *state; /* the runner's, until it is evicted */
    uint64_t srs_bytes, matrices_bytes;
    bool development;
    uint8_t vkey_digest[32];
};

struct runner_task {
    uint64_t task;
    unsigned worker; /* which thread starts it: below `workers` */
    void *circuit;   /* runner_circuit.state */
    const void *witness;
    size_t witness_bytes;
    const uint64_t *fixed_r, *fixed_s; /* both NULL: fresh blinding */
    const struct progress *progress;
    struct prover_timings timings;
    void *pending; /* made by start; given back by drop */
};

struct runner {
    const char *name;
    /* Ends with the self-test. `name`: what the device calls itself. */
    cuzk_status (*create)(void **self, const struct runner_config *config,
                          char name[DEVICE_NAME_BYTES], struct cuzk_error *err);
    cuzk_status (*load)(void *self, struct runner_circuit *out, const char *circuit_id,
                        const char *path, const struct progress *progress, struct cuzk_error *err);
    void (*evict)(void *self, void *circuit);
    cuzk_status (*start)(void *self, struct runner_task *task, struct cuzk_error *err);
    cuzk_status (*finish)(void *self, struct runner_task *task, uint8_t proof[PROOF_BYTES],
                          struct cuzk_error *err);
    void (*drop)(void *self, struct runner_task *task);
    bool (*answers)(void *self); /* false: pings are to be left alone. NULL: it always does */
};

extern const struct runner runner_cpu, runner_fake;

#endif
