/* Starting and ending a device's process. Threads: any. */
#ifndef DEVICE_DEVICE_SPAWN_H
#define DEVICE_DEVICE_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/*
 * Starts `program --serve BACKEND` with a socket at DEVICE_SOCKET_FD, the caller's stderr, and no
 * other descriptor; in a process group of its own, so that a terminal's Ctrl-C is the daemon's to
 * handle, and with no signal blocked. *socket is this end, close-on-exec; the process ends when it
 * is closed. Errors: DEVICE_LOST.
 */
CUZK_NODISCARD cuzk_status device_spawn(const char *program, const char *backend, int *socket,
                                        pid_t *pid, struct cuzk_error *err);

/* Waits for the end of a child; false: it still runs after `timeout_ns`. *status as waitpid has
 * it, -1 where somebody else has asked before. */
bool device_reap(pid_t pid, uint64_t timeout_ns, int *status);

#endif
