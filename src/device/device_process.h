/*
 * A device's process: reads the socket, and has the runner of the backend do the work.
 *
 * Threads: the first one reads messages and answers pings, whatever the others do; one makes the
 * self-test, loads and evicts circuits; `workers` start proofs; one finishes them. The process ends
 * with QUIT, with the end of the socket, or with FATAL: it never outlives the daemon.
 */
#ifndef DEVICE_DEVICE_PROCESS_H
#define DEVICE_DEVICE_PROCESS_H

/* Serves the daemon at the other end of the socket; does not return. */
_Noreturn void device_process_run(int socket);

#endif
