/*
 * The decoder of the messages between daemon and device. The first byte says which end reads (bit
 * 0), and whether the head is made right first (bit 1: magic, version and length are set, so that
 * bodies are reached at once). What is accepted must decode to the same bytes, have its texts
 * ended, and come from the right end.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "device_protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void require(int condition) {
    if (!condition) abort();
}

static void check_failure(const struct device_failure *f) {
    struct cuzk_error err;
    device_failure_get(f, &err);
    require(err.code != CUZK_OK && err.code < CUZK_STATUS_COUNT);
    struct device_failure again = {.task = f->task};
    memcpy(again.circuit_id, f->circuit_id, sizeof again.circuit_id);
    device_failure_set(&again, &err);
    require(memcmp(&again, f, sizeof again) == 0);
}

static void check_texts(const struct device_message *m) {
    switch (m->head.kind) {
    case DEVICE_CONFIGURE:
        require(strlen(m->body.configure.options) < DEVICE_OPTIONS_BYTES);
        require(strlen(m->body.configure.backend) < DEVICE_BACKEND_BYTES);
        require(m->body.configure.workers + m->body.configure.pendings <= DEVICE_MAX_TASKS);
        break;
    case DEVICE_LOAD:
    case DEVICE_EVICT:
        require(strlen(m->body.circuit.path) < DEVICE_PATH_BYTES);
        break;
    case DEVICE_UP:
        require(strlen(m->body.up.name) < DEVICE_NAME_BYTES);
        break;
    case DEVICE_PROGRESS:
        require(strlen(m->body.progress.phase) < DEVICE_PHASE_BYTES);
        break;
    case DEVICE_FATAL:
    case DEVICE_FAILED:
    case DEVICE_LOAD_FAILED:
        check_failure(&m->body.failure);
        break;
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    static struct device_message m; /* static: 4 KiB that need no clearing */
    static uint8_t packet[DEVICE_MESSAGE_MAX];
    struct cuzk_error err = {.code = CUZK_OK};
    if (n_bytes < 1) return 0;
    const enum device_direction direction = (data[0] & 1) != 0 ? FROM_DEVICE : TO_DEVICE;
    size_t n = n_bytes - 1 < sizeof packet ? n_bytes - 1 : sizeof packet;
    memcpy(packet, data + 1, n);
    if ((data[0] & 2) != 0 && n >= sizeof(struct device_head)) {
        struct device_head head;
        memcpy(&head, packet, sizeof head);
        device_message_init(&m, 1 + head.kind % (DEVICE_MESSAGE_KINDS - 1));
        memcpy(packet, &m.head, sizeof m.head);
        if (n < m.head.bytes) memset(packet + n, 0, m.head.bytes - n);
        n = m.head.bytes;
    }
    /* Exactly n bytes, so that a sanitizer sees a read past the end. */
    uint8_t *exact = malloc(n > 0 ? n : 1);
    require(exact != NULL);
    memcpy(exact, packet, n);
    const cuzk_status s = device_message_decode(&m, exact, n, direction, &err);
    require(s == err.code && (s == CUZK_OK || s == CUZK_DEVICE_PROTOCOL));
    if (s == CUZK_OK) {
        require(m.head.bytes == n && memcmp(&m, exact, n) == 0);
        require((m.head.kind >= DEVICE_UP) == (direction == FROM_DEVICE));
        check_texts(&m);
    }
    free(exact);
    return 0;
}
