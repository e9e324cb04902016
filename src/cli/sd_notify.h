/*
 * Messages to the service manager, as sd_notify(3) describes them: one datagram to the socket that
 * NOTIFY_SOCKET names (a path, or @name for an abstract one).
 *
 * Threads: any.
 */
#ifndef CLI_SD_NOTIFY_H
#define CLI_SD_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

/* "READY=1\nSTATUS=…". Never waits. False: nobody listens, or the socket cannot be written to. */
bool sd_notify_send(const char *message);

/*
 * How often the manager wants WATCHDOG=1 at least, in nanoseconds (WATCHDOG_USEC); 0: not at all,
 * or it is meant for another process (WATCHDOG_PID).
 */
uint64_t sd_notify_watchdog_ns(void);

#endif
