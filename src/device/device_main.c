/* `cuzk-device`: one device, one process. Started by the daemon; by hand it only explains itself.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "device_process.h"
#include "device_protocol.h"
#include "error.h"

static void print_help(FILE *f) {
    fprintf(
        f,
        "usage: cuzk-device --help | --version\n\n"
        "One proving device of cuzk-daemon, as a process of its own: it holds parameters and\n"
        "constraint systems, and proves the partitions that the daemon hands to it. The daemon\n"
        "starts it, watches it and ends it; it is of no use alone, and ends with the daemon.\n");
}

static int usage(const char *what) {
    struct cuzk_error err;
    char text[1200];
    error_set(&err, CUZK_USAGE, "cuzk-device", "start cuzk-daemon, which starts its devices", "%s",
              what);
    error_format(&err, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return status_exit_code(err.code);
}

/* Is there the socket that a daemon passes? */
static bool started_by_daemon(void) {
    int type = 0;
    socklen_t n = sizeof type;
    return getsockopt(DEVICE_SOCKET_FD, SOL_SOCKET, SO_TYPE, &type, &n) == 0 &&
           type == SOCK_SEQPACKET;
}

int main(int argc, char **argv) {
    const char *word = argc >= 2 ? argv[1] : "";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(word, "--version") == 0) {
        printf("cuzk-device %s\n", CUZK_VERSION);
        return 0;
    }
    if (strcmp(word, "--serve") != 0) return usage("it is started by the daemon, not by hand");
    if (!started_by_daemon()) return usage("there is no daemon at the other end");
    device_process_run(DEVICE_SOCKET_FD);
}
