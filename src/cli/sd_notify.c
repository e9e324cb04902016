#include "sd_notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

bool sd_notify_send(const char *message) {
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (path == NULL || (path[0] != '/' && path[0] != '@')) return false;
    const size_t n = strlen(path);
    if (n >= sizeof to.sun_path) return false;
    memcpy(to.sun_path, path, n);
    if (path[0] == '@') to.sun_path[0] = '\0';
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    const socklen_t to_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
    const ssize_t sent = sendto(fd, message, strlen(message), MSG_NOSIGNAL | MSG_DONTWAIT,
                                (const struct sockaddr *)&to, to_bytes);
    close(fd);
    return sent == (ssize_t)strlen(message);
}

static bool read_u64(const char *name, uint64_t *out) {
    const char *text = getenv(name);
    if (text == NULL || text[0] < '0' || text[0] > '9') return false;
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

uint64_t sd_notify_watchdog_ns(void) {
    uint64_t usec, pid, ns;
    if (!read_u64("WATCHDOG_USEC", &usec)) return 0;
    if (getenv("WATCHDOG_PID") != NULL &&
        (!read_u64("WATCHDOG_PID", &pid) || pid != (uint64_t)getpid()))
        return 0;
    return __builtin_mul_overflow(usec, 1000, &ns) ? 0 : ns;
}
