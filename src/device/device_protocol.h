/*
 * The messages between the daemon and a device's process, over a SOCK_SEQPACKET socket pair.
 *
 * One packet is one message: a head, then the body of its kind as this header lays it out. Both
 * ends are of the same build on the same machine, so byte order and layout are the compiler's; the
 * version is raised with every change. Bodies hold no pointers; their padding is zero. A slab's
 * descriptor comes with DEVICE_SLAB by SCM_RIGHTS, no other message has one.
 *
 * Neither end trusts the other: a message is used only after device_message_decode has looked at
 * its length, its direction, and every string, enum, flag and floating-point number in it.
 *
 *     daemon                                   device
 *     CONFIGURE  backend, options, sizes   →   UP, or FATAL
 *     PING                                 →   PONG: memory by class
 *     LOAD, EVICT                          →   PROGRESS, LOADED or LOAD_FAILED; EVICTED
 *     SLAB, DROP_SLAB
 *     PROVE                                →   PROGRESS, STARTED, PROGRESS, PROVED; or FAILED
 *     CANCEL
 *     QUIT (or the end of the socket)      →   the process ends
 *
 * Threads: pure, but for the socket: sends of several threads do not mix.
 */
#ifndef DEVICE_DEVICE_PROTOCOL_H
#define DEVICE_DEVICE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "circuit_name.h"
#include "mem.h"
#include "prover.h"

enum {
    DEVICE_SOCKET_FD = 3, /* in the device's process */
    DEVICE_MESSAGE_MAX = 4096,
    DEVICE_MAX_TASKS = 64, /* workers + pendings */
    DEVICE_MAX_CIRCUITS = 16,
    DEVICE_MAX_SLABS = 256, /* announced and not dropped */
    DEVICE_MAX_THREADS = 4096,
    DEVICE_NAME_BYTES = 64,
    DEVICE_BACKEND_BYTES = 16,
    DEVICE_OPTIONS_BYTES = 512,
    DEVICE_PATH_BYTES = 1024,
    DEVICE_PHASE_BYTES = 32,
};

enum device_message_kind {
    /* to the device */
    DEVICE_CONFIGURE = 1,
    DEVICE_PING,
    DEVICE_LOAD,
    DEVICE_EVICT,
    DEVICE_SLAB,
    DEVICE_DROP_SLAB,
    DEVICE_PROVE,
    DEVICE_CANCEL,
    DEVICE_QUIT,
    /* from the device */
    DEVICE_UP,
    DEVICE_FATAL, /* it gives up, and says why */
    DEVICE_PONG,
    DEVICE_LOADED,
    DEVICE_LOAD_FAILED,
    DEVICE_EVICTED,
    DEVICE_PROGRESS,
    DEVICE_STARTED,
    DEVICE_PROVED,
    DEVICE_FAILED,
    DEVICE_MESSAGE_KINDS
};

struct device_head {
    uint32_t magic;
    uint16_t version, kind;
    uint32_t bytes; /* of the whole message */
    uint32_t zero;
};

struct device_configure {
    char backend[DEVICE_BACKEND_BYTES];
    char options[DEVICE_OPTIONS_BYTES];
    uint32_t workers, pendings; /* 1 worker at least, DEVICE_MAX_TASKS together at most */
    uint32_t threads;           /* 1 at least */
    uint32_t zero;
};

struct device_ping {
    uint64_t number; /* a pong has its ping's */
};

/* LOAD; EVICT has no path. */
struct device_circuit_request {
    char circuit_id[CIRCUIT_ID_BYTES];
    char path[DEVICE_PATH_BYTES];
};

/* SLAB, with a descriptor, and DROP_SLAB, with 0 bytes. */
struct device_slab {
    uint64_t slab_id; /* not 0 */
    uint64_t bytes;   /* to map */
};

struct device_prove {
    uint64_t task;
    char circuit_id[CIRCUIT_ID_BYTES];
    uint64_t slab_id;
    uint64_t witness_bytes; /* at the slab's beginning */
    uint64_t r, s;
    uint32_t fixed_blinding; /* 0, or 1: r and s are the blinding factors */
    uint32_t zero;
};

struct device_cancel {
    uint64_t task;
};

struct device_up {
    char name[DEVICE_NAME_BYTES];
    char backend[DEVICE_BACKEND_BYTES];
};

struct device_pong {
    uint64_t number;
    uint64_t class_bytes[MEM_CLASSES], class_high_water[MEM_CLASSES];
};

/* LOADED; EVICTED has only the id and the two sizes. */
struct device_circuit_report {
    char circuit_id[CIRCUIT_ID_BYTES];
    uint64_t srs_bytes, matrices_bytes;
    double seconds;
    uint8_t vkey_digest[32];
    uint32_t development; /* 0 or 1 */
    uint32_t zero;
};

struct device_progress {
    uint64_t task;                     /* 0: the load of circuit_id */
    char circuit_id[CIRCUIT_ID_BYTES]; /* empty for a task */
    char phase[DEVICE_PHASE_BYTES];
    uint64_t done, total;
};

struct device_seconds {
    double queue;
    struct prover_timings prover;
};

struct device_started {
    uint64_t task;
    struct device_seconds seconds;
};

struct device_proved {
    uint64_t task;
    uint8_t proof[PROOF_BYTES];
    struct device_seconds seconds;
};

/* FAILED (task), LOAD_FAILED (circuit_id), FATAL (neither). */
struct device_failure {
    uint64_t task;
    char circuit_id[CIRCUIT_ID_BYTES];
    uint32_t code; /* a cuzk_status that is not OK */
    char where[320], what[320], hint[320];
    uint32_t zero;
};

struct device_message {
    struct device_head head;
    union {
        struct device_configure configure;
        struct device_ping ping;
        struct device_circuit_request circuit;
        struct device_slab slab;
        struct device_prove prove;
        struct device_cancel cancel;
        struct device_up up;
        struct device_pong pong;
        struct device_circuit_report report;
        struct device_progress progress;
        struct device_started started;
        struct device_proved proved;
        struct device_failure failure;
    } body;
};

enum device_direction { TO_DEVICE, FROM_DEVICE };

/* Zeroes the message and fills the head. */
void device_message_init(struct device_message *m, enum device_message_kind kind);

/* Copies text into a message's field; false: it does not fit or has control characters, and the
 * field stays empty. */
bool device_text_set(char *out, size_t out_bytes, const char *text);

void device_failure_set(struct device_failure *f, const struct cuzk_error *err);
void device_failure_get(const struct device_failure *f, struct cuzk_error *err);

const char *device_message_name(unsigned kind);

/*
 * Fills *out from a packet. Errors: DEVICE_PROTOCOL, saying which message and what is wrong with
 * it; *out is then not to be used.
 */
CUZK_NODISCARD cuzk_status device_message_decode(struct device_message *out, const void *data,
                                                 size_t n_bytes, enum device_direction direction,
                                                 struct cuzk_error *err);

enum device_receipt { RECEIVED, RECEIVED_NOTHING, RECEIVED_END };

/*
 * Takes one packet from the socket without waiting (RECEIVED_NOTHING: there is none; RECEIVED_END:
 * the other end is closed). *fd: the descriptor that came with DEVICE_SLAB, close-on-exec and the
 * caller's, else -1. Errors: DEVICE_PROTOCOL, also for a descriptor with any other message, for
 * more than one, and for a missing one.
 */
CUZK_NODISCARD cuzk_status device_receive(int socket, struct device_message *out, int *fd,
                                          enum device_receipt *receipt,
                                          enum device_direction direction, struct cuzk_error *err);

enum device_sending { SENT, SEND_LATER, SEND_FAILED };

/* Sends one packet; fd -1: without a descriptor. `wait` false: SEND_LATER when the socket is full.
 * SEND_FAILED: the other end is closed. */
enum device_sending device_send(int socket, const struct device_message *m, int fd, bool wait);

#endif
