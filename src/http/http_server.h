/*
 * The HTTP server: /metrics, /status, /healthz, /readyz, and the dashboard on /.
 *
 * Only GET and HEAD; everything is read-only. What it serves is made from one engine_snapshot, and
 * answers younger than 100 ms are given again, so that many readers cost no more than one.
 *
 * A connection on which no request was answered to the end for HTTP_CONNECTION_SECONDS is closed,
 * however busy the client keeps it. When nearly HTTP_MOST_CONNECTIONS are open, each new one takes
 * the place of the one that has gone longest without an answer.
 *
 * Threads: create and destroy on one thread; the server runs its own.
 */
#ifndef HTTP_HTTP_SERVER_H
#define HTTP_HTTP_SERVER_H

#include "engine.h"

enum { HTTP_MOST_CONNECTIONS = 128, HTTP_CONNECTION_SECONDS = 25 };

struct http_server;

/*
 * `listen`: "127.0.0.1:9821", "[::1]:9821", "localhost:9821", or ":9821" and "9821" for
 * 127.0.0.1; other names are not looked up. Port 0: any. Other computers reach it only where
 * `listen` says so ("0.0.0.0:9821").
 * Errors: LISTEN, ADDRESS_IN_USE, CONFIG, NO_MEMORY.
 */
CUZK_NODISCARD cuzk_status http_server_create(struct http_server **out, struct engine *engine,
                                              const char *listen, struct cuzk_error *err);
unsigned http_server_port(const struct http_server *s);
/* Answers what has been asked, and closes all connections; accepts NULL. */
void http_server_destroy(struct http_server *s);

/* The same with another time than HTTP_CONNECTION_SECONDS: for tests. */
CUZK_NODISCARD cuzk_status http_server_create_timed(struct http_server **out, struct engine *engine,
                                                    const char *listen, uint64_t idle_ns,
                                                    struct cuzk_error *err);

/* The body of /status: doc/interfaces.md. `not_ready`: what engine_ready says is missing; NULL: it
 * is ready. Owned by the caller (free); NULL: no memory. */
char *http_status_json(const struct engine_snapshot *s, const char *not_ready, size_t *n);

#endif
