#include "http_server.h"

#include <microhttpd.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "dashboard_page.h"
#include "hash.h"
#include "http_connections.h"
#include "http_listen.h"
#include "metrics_text.h"

enum { REQUEST_MEMORY_BYTES = 32 << 10 }; /* of one connection: a longer header is refused */
static const uint64_t answer_age_ns = 100000000;

struct http_server {
    struct engine *engine;
    struct MHD_Daemon *daemon;
    struct http_connections *connections;
    unsigned port;
    struct MHD_Response *dashboard;

    /* Made together from one snapshot; used by the library's one thread only. */
    struct MHD_Response *status, *metrics;
    uint64_t made_ns;
};

/* ---- responses ---- */

static void header(struct MHD_Response *r, const char *name, const char *value) {
    if (MHD_add_response_header(r, name, value) != MHD_YES) abort();
}

/* What every answer says: nothing of it may be kept, framed, guessed at, or read by other sites. */
static void common_headers(struct MHD_Response *r, const char *type, const char *policy) {
    header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    header(r, "Content-Security-Policy", policy);
    header(r, "X-Content-Type-Options", "nosniff");
    header(r, "X-Frame-Options", "DENY");
    header(r, "Referrer-Policy", "no-referrer");
    header(r, "Cross-Origin-Resource-Policy", "same-origin");
}

static struct MHD_Response *response(size_t n, void *body, enum MHD_ResponseMemoryMode mode,
                                     const char *type) {
    struct MHD_Response *r = MHD_create_response_from_buffer(n, body, mode);
    if (r != NULL) common_headers(r, type, "default-src 'none'; frame-ancestors 'none'");
    return r;
}

static enum MHD_Result answer_text(struct MHD_Connection *to, unsigned status, const char *text) {
    struct MHD_Response *r = response(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY,
                                      "text/plain; charset=utf-8");
    if (r == NULL) return MHD_NO;
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    const enum MHD_Result result = MHD_queue_response(to, status, r);
    MHD_destroy_response(r);
    return result;
}

/* ---- the dashboard ---- */

/* Appends "'sha256-…'" of what stands between `open` and `close` in the page. */
static void append_digest(char *policy, size_t policy_bytes, const char *open, const char *close) {
    const char *page = (const char *)dashboard_page;
    const char *begin = memmem(page, dashboard_page_bytes, open, strlen(open));
    if (begin == NULL) abort();
    begin += strlen(open);
    const char *end =
        memmem(begin, dashboard_page_bytes - (size_t)(begin - page), close, strlen(close));
    if (end == NULL) abort();
    uint8_t digest[SHA256_BYTES];
    unsigned char text[4 * (SHA256_BYTES + 2) / 3 + 1];
    sha256(digest, begin, (size_t)(end - begin));
    EVP_EncodeBlock(text, digest, sizeof digest);
    const size_t used = strlen(policy);
    snprintf(policy + used, policy_bytes - used, " 'sha256-%s'", (const char *)text);
}

/* The page brings its one style and script along; a browser runs nothing but these two. */
static struct MHD_Response *make_dashboard(void) {
    char policy[512] =
        "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; script-src";
    append_digest(policy, sizeof policy, "<script>", "</script>");
    strcat(policy, "; style-src");
    append_digest(policy, sizeof policy, "<style>", "</style>");
    struct MHD_Response *r = MHD_create_response_from_buffer(
        dashboard_page_bytes, (void *)(uintptr_t)dashboard_page, MHD_RESPMEM_PERSISTENT);
    if (r != NULL) common_headers(r, "text/html; charset=utf-8", policy);
    return r;
}

/* ---- /status and /metrics ---- */

static void forget_answers(struct http_server *s) {
    if (s->status != NULL) MHD_destroy_response(s->status);
    if (s->metrics != NULL) MHD_destroy_response(s->metrics);
    s->status = s->metrics = NULL;
}

/* Takes over `text`. */
static struct MHD_Response *response_of(char *text, size_t n, const char *type) {
    if (text == NULL) return NULL;
    struct MHD_Response *r = response(n, text, MHD_RESPMEM_MUST_FREE, type);
    if (r == NULL) free(text);
    return r;
}

static cuzk_status refresh_answers(struct http_server *s, struct cuzk_error *err) {
    const uint64_t now = clock_ns();
    if (s->status != NULL && now - s->made_ns < answer_age_ns) return CUZK_OK;
    forget_answers(s);
    struct engine_snapshot *snapshot = NULL;
    CUZK_TRY(engine_snapshot_take(s->engine, &snapshot, err));
    char why[400] = "";
    const bool ready = engine_ready(s->engine, why, sizeof why);
    size_t n_status = 0, n_metrics = 0;
    char *status = http_status_json(snapshot, ready ? NULL : why, &n_status);
    char *metrics = engine_metrics_text(snapshot, &n_metrics);
    engine_snapshot_free(snapshot);
    s->status = response_of(status, n_status, "application/json");
    s->metrics = response_of(metrics, n_metrics, "text/plain; version=0.0.4; charset=utf-8");
    if (s->status == NULL || s->metrics == NULL) {
        forget_answers(s);
        return error_set(err, CUZK_NO_MEMORY, "http", NULL, "no memory for the answer");
    }
    s->made_ns = now;
    return CUZK_OK;
}

static enum MHD_Result answer_from_snapshot(struct http_server *s, struct MHD_Connection *to,
                                            bool metrics) {
    struct cuzk_error err = {.code = CUZK_OK};
    if (refresh_answers(s, &err) == CUZK_OK)
        return MHD_queue_response(to, MHD_HTTP_OK, metrics ? s->metrics : s->status);
    char text[1100];
    error_format(&err, text, sizeof text - 1);
    strcat(text, "\n");
    return answer_text(to, MHD_HTTP_SERVICE_UNAVAILABLE, text);
}

static enum MHD_Result answer_ready(struct http_server *s, struct MHD_Connection *to) {
    char why[400] = "", text[440];
    if (engine_ready(s->engine, why, sizeof why)) return answer_text(to, MHD_HTTP_OK, "ready\n");
    snprintf(text, sizeof text, "not ready: %s\n", why);
    return answer_text(to, MHD_HTTP_SERVICE_UNAVAILABLE, text);
}

/* ---- the library's calls ---- */

static enum MHD_Result answer(void *cls, struct MHD_Connection *to, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_bytes, void **request) {
    (void)version;
    (void)upload;
    static char seen;
    struct http_server *s = cls;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return answer_text(to, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are served here\n");
    /* An answer at the first call, before the request's end is read, closes the connection. */
    if (*request == NULL || *upload_bytes > 0) {
        *request = &seen;
        *upload_bytes = 0;
        return MHD_YES;
    }
    if (strcmp(path, "/") == 0) return MHD_queue_response(to, MHD_HTTP_OK, s->dashboard);
    if (strcmp(path, "/status") == 0) return answer_from_snapshot(s, to, false);
    if (strcmp(path, "/metrics") == 0) return answer_from_snapshot(s, to, true);
    if (strcmp(path, "/healthz") == 0) return answer_text(to, MHD_HTTP_OK, "ok\n");
    if (strcmp(path, "/readyz") == 0) return answer_ready(s, to);
    return answer_text(to, MHD_HTTP_NOT_FOUND,
                       "not found; there are /, /status, /metrics, /healthz and /readyz\n");
}

static void connection_event(void *cls, struct MHD_Connection *connection, void **context,
                             enum MHD_ConnectionNotificationCode code) {
    struct http_server *s = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const int fd =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        *context = http_connection_opened(s->connections, fd);
    } else if (*context != NULL) {
        http_connection_closed(s->connections, *context);
        *context = NULL;
    }
}

static void request_completed(void *cls, struct MHD_Connection *connection, void **request,
                              enum MHD_RequestTerminationCode code) {
    (void)request;
    struct http_server *s = cls;
    struct http_connection *one =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    if (one != NULL && code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        http_connection_answered(s->connections, one);
}

/* ---- life ---- */

static cuzk_status start_daemon(struct http_server *s, int fd, struct cuzk_error *err) {
    s->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, answer,
                                 s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
                                 (unsigned)HTTP_MOST_CONNECTIONS,
                                 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MEMORY_BYTES,
                                 MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_CONNECTION_SECONDS,
                                 MHD_OPTION_NOTIFY_CONNECTION, connection_event, s,
                                 MHD_OPTION_NOTIFY_COMPLETED, request_completed, s, MHD_OPTION_END);
    if (s->daemon == NULL) {
        close(fd);
        return error_set(err, CUZK_LISTEN, "http", NULL, "the HTTP server could not be started");
    }
    return CUZK_OK;
}

cuzk_status http_server_create_timed(struct http_server **out, struct engine *engine,
                                     const char *listen, uint64_t idle_ns, struct cuzk_error *err) {
    struct http_server *s = calloc(1, sizeof *s);
    if (s == NULL) return error_set(err, CUZK_NO_MEMORY, "http", NULL, "no memory for the server");
    s->engine = engine;
    int fd = -1;
    cuzk_status status = http_connections_create(&s->connections, idle_ns, err);
    if (status == CUZK_OK) {
        s->dashboard = make_dashboard();
        if (s->dashboard == NULL)
            status = error_set(err, CUZK_NO_MEMORY, "http", NULL, "no memory for the dashboard");
    }
    if (status == CUZK_OK) status = http_listen(&fd, &s->port, listen, err);
    if (status == CUZK_OK) status = start_daemon(s, fd, err);
    if (status != CUZK_OK) {
        http_server_destroy(s);
        return status;
    }
    *out = s;
    return CUZK_OK;
}

cuzk_status http_server_create(struct http_server **out, struct engine *engine, const char *listen,
                               struct cuzk_error *err) {
    return http_server_create_timed(out, engine, listen,
                                    (uint64_t)HTTP_CONNECTION_SECONDS * 1000000000u, err);
}

unsigned http_server_port(const struct http_server *s) {
    return s->port;
}

void http_server_destroy(struct http_server *s) {
    if (s == NULL) return;
    if (s->daemon != NULL) MHD_stop_daemon(s->daemon); /* closes the listening socket as well */
    http_connections_destroy(s->connections);
    forget_answers(s);
    if (s->dashboard != NULL) MHD_destroy_response(s->dashboard);
    free(s);
}
