/* The state of a device's process. Internal to device_process.c, device_circuits.c and
 * device_tasks.c. */
#ifndef DEVICE_DEVICE_PROCESS_INTERNAL_H
#define DEVICE_DEVICE_PROCESS_INTERNAL_H

#include <stdatomic.h>

#include "device_maps.h"
#include "device_runner.h"
#include "lock.h"

enum task_stage { TASK_FREE, TASK_QUEUED, TASK_STARTING, TASK_PENDING, TASK_FINISHING };

struct task {
    enum task_stage stage;
    uint64_t order; /* of arrival: older ones go first */
    uint64_t queued_ns;
    double queue_seconds;
    struct circuit *circuit;
    struct device_map *map; /* until it has started */
    uint64_t r, s;
    struct runner_task run;
    struct progress progress;
    uint64_t reported_ns;
    atomic_bool cancel;
    struct process *process;
};

/* A circuit that is loaded, or is being evicted. */
struct circuit {
    char id[CIRCUIT_ID_BYTES]; /* empty: a free place */
    bool leaving;              /* no new tasks */
    unsigned uses;
    struct runner_circuit run;
    double seconds; /* that its load took */
};

struct request {
    bool load;
    struct device_circuit_request what;
};

struct process {
    int socket;
    const struct runner *runner;
    void *self;
    struct runner_config config;
    char options[DEVICE_OPTIONS_BYTES];

    struct lock lock; /* of all that follows */
    struct lock_cond changed;
    bool up;
    uint64_t n_arrived;
    struct task tasks[DEVICE_MAX_TASKS];
    struct circuit circuits[DEVICE_MAX_CIRCUITS];
    struct request requests[2 * DEVICE_MAX_CIRCUITS]; /* the oldest first */
    unsigned n_requests;
    struct device_maps maps;
};

/* Tells the daemon why, and ends the process. */
_Noreturn void process_fail(const struct process *p, const struct cuzk_error *err);
_Noreturn void process_break(const struct process *p, const char *message, const char *what);
/* Sends; ends the process if there is nobody any more. */
void process_send(const struct process *p, const struct device_message *m);

/* device_circuits.c */
void *circuits_thread(void *process);
void circuits_request(struct process *p, bool load, const struct device_circuit_request *what);
struct circuit *circuits_find(struct process *p, const char *id); /* lock held; NULL: none */

/* device_tasks.c */
struct worker {
    struct process *process;
    unsigned number;
};
void *tasks_worker_thread(void *worker);
void *tasks_finisher_thread(void *process);
void tasks_prove(struct process *p, const struct device_prove *prove);
void tasks_cancel(struct process *p, uint64_t number);

#endif
