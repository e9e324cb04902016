/*
 * The struct behind device_link.h. Internal to device_link.c (requests and state) and
 * device_watch.c (the link's thread).
 *
 * All sending and receiving is the thread's. A request puts its message into `queue` under the lock
 * and wakes the thread, so that no caller ever waits for a device.
 */
#ifndef DEVICE_DEVICE_LINK_INTERNAL_H
#define DEVICE_DEVICE_LINK_INTERNAL_H

#include <pthread.h>
#include <sys/types.h>

#include "device_link.h"
#include "device_protocol.h"
#include "lock.h"

struct outgoing {
    struct outgoing *next;
    int fd; /* owned; -1: none */
    struct device_message message;
};

/* A task under way. */
struct link_task {
    uint64_t task; /* 0: a free place */
    char circuit_id[CIRCUIT_ID_BYTES];
    bool started;
    bool working; /* in a start or finish, not waiting for one: watched by itself */
    uint64_t heard_ns;
};

/* Loads and evictions under way of one circuit. */
struct link_circuit {
    char circuit_id[CIRCUIT_ID_BYTES];
    unsigned loads, evictions; /* both 0: a free place */
    unsigned refused;          /* of the loads: to be answered by the link itself */
    bool working;
    uint64_t heard_ns;
};

struct device_link {
    device_event_fn fn;
    void *ctx;
    char backend[DEVICE_BACKEND_BYTES]; /* that was asked for */
    unsigned max_tasks;
    uint64_t ping_timeout_ns, ping_every_ns, progress_timeout_ns;
    pthread_t thread;
    int socket, wake;
    pid_t pid;

    struct lock lock; /* of all that follows */
    struct outgoing *first, *last;
    struct link_task tasks[DEVICE_MAX_TASKS];
    unsigned n_tasks;
    struct link_circuit circuits[DEVICE_MAX_CIRCUITS];
    uint64_t slabs[DEVICE_MAX_SLABS]; /* known to the process, oldest first */
    unsigned n_slabs;
    bool up, lost, quit, kill, no_memory;
    uint64_t quit_ns;     /* when it was told to */
    uint64_t ping_number; /* of the last one */
    uint64_t ping_ns;     /* when that was sent */
    bool ping_open;       /* it has not been answered */
    uint64_t answer_ns;   /* when anything came last */
    uint64_t progress_ns; /* when any task or load made progress last */
    struct device_up identity;
    struct device_pong pong;
};

/* Puts a message at the queue's end, with a copy of `fd` (-1: none). The lock is held. Where there
 * is no memory, the link ends. */
void link_enqueue(struct device_link *link, const struct device_message *m, int fd);
void link_wake(struct device_link *link);

void *link_thread(void *link); /* starts with the lock free; ends after EVENT_LOST */

#endif
