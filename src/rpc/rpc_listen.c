#include "rpc_listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static cuzk_status senseless(cuzk_status code, const char *text, const char *what,
                             struct cuzk_error *err) {
    return error_set(err, code, text, "use HOST:PORT or unix:///PATH", "the address %s", what);
}

static cuzk_status parse_unix(struct rpc_address *out, const char *path, const char *text,
                              cuzk_status code, struct cuzk_error *err) {
    if (path[0] == '/' && path[1] == '/') path += 2; /* what follows is a host, and there is none */
    if (path[0] != '/' || path[1] == 0)
        return senseless(code, text, "has no absolute path of a socket", err);
    if (strlen(path) >= sizeof out->path)
        return senseless(code, text, "has a path that is too long for a socket (103 bytes)", err);
    out->is_unix = true;
    snprintf(out->path, sizeof out->path, "%s", path);
    snprintf(out->target, sizeof out->target, "unix:%s", path);
    return CUZK_OK;
}

cuzk_status rpc_address_parse(struct rpc_address *out, const char *text, cuzk_status code,
                              struct cuzk_error *err) {
    *out = (struct rpc_address){0};
    if (strncmp(text, "unix:", 5) == 0) return parse_unix(out, text + 5, text, code, err);
    const char *at = text;
    if (strncmp(at, "http://", 7) == 0) at += 7;
    if (strncmp(at, "https://", 8) == 0) {
        at += 8;
        out->tls = true;
    }
    const char *colon = strrchr(at, ':');
    if (colon == NULL || colon == at) return senseless(code, text, "has no host and port", err);
    size_t host = (size_t)(colon - at), port = strlen(colon + 1);
    if (port > 0 && colon[port] == '/') port--; /* as in a URL's end */
    char *end;
    const long number = strtol(colon + 1, &end, 10);
    if (port == 0 || port > 5 || end != colon + 1 + port || number < 0 || number > 65535)
        return senseless(code, text, "has no port between 0 and 65535", err);
    if (host >= sizeof out->host) return senseless(code, text, "is too long", err);
    snprintf(out->target, sizeof out->target, "%.*s:%ld", (int)host, at, number);
    const bool v6 = at[0] == '[' && at[host - 1] == ']';
    if (!v6 && memchr(at, ':', host) != NULL)
        return senseless(code, text, "has several colons: write [V6]:PORT", err);
    if (v6) {
        at++;
        host -= 2;
    }
    snprintf(out->host, sizeof out->host, "%.*s", (int)host, at);
    snprintf(out->port, sizeof out->port, "%ld", number);
    return CUZK_OK;
}

static cuzk_status in_use(const struct rpc_address *a, struct cuzk_error *err) {
    return error_set(err, CUZK_ADDRESS_IN_USE, a->target,
                     "stop the other daemon, or listen elsewhere", "it is served already");
}

static cuzk_status check_unix(const struct rpc_address *a, struct cuzk_error *err) {
    struct stat st;
    if (lstat(a->path, &st) != 0) {
        if (errno == ENOENT) return CUZK_OK; /* a missing folder shows when the socket is made */
        return error_set(err, CUZK_LISTEN, a->path, NULL, "%s", strerror(errno));
    }
    if (!S_ISSOCK(st.st_mode))
        return error_set(err, CUZK_LISTEN, a->path, "choose another path",
                         "something that is no socket is there");
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    memcpy(sa.sun_path, a->path, strlen(a->path) + 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return error_set(err, CUZK_LISTEN, a->path, NULL, "%s", strerror(errno));
    const int rc = connect(fd, (const struct sockaddr *)&sa, sizeof sa) == 0 ? 0 : errno;
    close(fd);
    /* EAGAIN: it listens, and its queue is full. */
    if (rc == 0 || rc == EAGAIN || rc == EINPROGRESS) return in_use(a, err);
    if (rc != ECONNREFUSED && rc != ENOENT)
        return error_set(err, CUZK_LISTEN, a->path, NULL, "the old socket: %s", strerror(rc));
    if (rc == ECONNREFUSED && unlink(a->path) != 0 && errno != ENOENT)
        return error_set(err, CUZK_LISTEN, a->path, "remove it",
                         "the old socket cannot be removed: %s", strerror(errno));
    return CUZK_OK;
}

/* Binding finds every reason that gRPC would only call a failure. */
static cuzk_status check_tcp(const struct rpc_address *a, struct cuzk_error *err) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found;
    const int rc = getaddrinfo(a->host, a->port, &hints, &found);
    if (rc != 0)
        return error_set(err, CUZK_LISTEN, a->target, NULL, "the host: %s", gai_strerror(rc));
    /* A name may have several addresses, not all of them of this machine's families. */
    bool some = false, used = false;
    int last = EADDRNOTAVAIL;
    for (const struct addrinfo *f = found; f != NULL && !used; f = f->ai_next) {
        const int fd = socket(f->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) continue;
        const int on = 1;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        const bool bound = bind(fd, f->ai_addr, f->ai_addrlen) == 0;
        if (!bound) last = errno;
        some = some || bound;
        used = !bound && last == EADDRINUSE;
        close(fd);
    }
    freeaddrinfo(found);
    if (used) return in_use(a, err);
    if (!some) return error_set(err, CUZK_LISTEN, a->target, NULL, "%s", strerror(last));
    return CUZK_OK;
}

cuzk_status rpc_address_check_free(const struct rpc_address *a, struct cuzk_error *err) {
    return a->is_unix ? check_unix(a, err) : check_tcp(a, err);
}
