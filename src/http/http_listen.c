#include "http_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 128 };

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to;
    socklen_t bytes;
};

static bool parse_port(unsigned *port, const char *s) {
    unsigned v = 0;
    if (*s == '\0' || strlen(s) > 5) return false;
    for (; *s != '\0'; s++) {
        if (*s < '0' || *s > '9') return false;
        v = 10 * v + (unsigned)(*s - '0');
    }
    *port = v;
    return v <= 65535;
}

static bool parse_host(struct address *a, const char *host, unsigned port) {
    memset(a, 0, sizeof *a);
    if (*host == '\0' || strcmp(host, "localhost") == 0) host = "127.0.0.1";
    if (inet_pton(AF_INET, host, &a->to.v4.sin_addr) == 1) {
        a->to.v4.sin_family = AF_INET;
        a->to.v4.sin_port = htons((uint16_t)port);
        a->bytes = sizeof a->to.v4;
        return true;
    }
    const size_t n = strlen(host);
    char inner[INET6_ADDRSTRLEN];
    if (n < 4 || n - 2 >= sizeof inner || host[0] != '[' || host[n - 1] != ']') return false;
    memcpy(inner, host + 1, n - 2);
    inner[n - 2] = '\0';
    a->to.v6.sin6_family = AF_INET6;
    a->to.v6.sin6_port = htons((uint16_t)port);
    a->bytes = sizeof a->to.v6;
    return inet_pton(AF_INET6, inner, &a->to.v6.sin6_addr) == 1;
}

static bool parse(struct address *a, const char *listen) {
    char host[64] = "";
    const char *colon = strrchr(listen, ':');
    unsigned port;
    if (!parse_port(&port, colon == NULL ? listen : colon + 1)) return false;
    if (colon != NULL) {
        const size_t n = (size_t)(colon - listen);
        if (n >= sizeof host) return false;
        memcpy(host, listen, n);
    }
    return parse_host(a, host, port);
}

/* Binds and listens; 0 or errno. */
static int open_on(int fd, const struct address *a) {
    const int one = 1;
    /* A restart may take the port although closed connections of the one before linger; a second
     * daemon that listens is refused all the same. */
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0) return errno;
    if (bind(fd, &a->to.any, a->bytes) != 0) return errno;
    return listen(fd, BACKLOG) == 0 ? 0 : errno;
}

static unsigned port_of(int fd) {
    struct address a = {.bytes = sizeof a.to};
    if (getsockname(fd, &a.to.any, &a.bytes) != 0) return 0;
    return ntohs(a.to.any.sa_family == AF_INET6 ? a.to.v6.sin6_port : a.to.v4.sin_port);
}

cuzk_status http_listen(int *fd, unsigned *port, const char *listen, struct cuzk_error *err) {
    struct address a;
    if (!parse(&a, listen))
        return error_set(err, CUZK_CONFIG, "status_listen",
                         "write an address and a port, such as 127.0.0.1:9821 or [::1]:9821",
                         "\"%s\" is no address to listen on", listen);
    const int s = socket(a.to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int e = s < 0 ? errno : open_on(s, &a);
    if (e == 0) {
        *fd = s;
        *port = port_of(s);
        return CUZK_OK;
    }
    if (s >= 0) close(s);
    if (e == EADDRINUSE)
        return error_set(err, CUZK_ADDRESS_IN_USE, listen,
                         "end the other program or set another status_listen",
                         "another program listens on this address");
    return error_set(err, CUZK_LISTEN, listen, "set another status_listen",
                     "it cannot be listened on: %s", strerror(e));
}
