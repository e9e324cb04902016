/*
 * The HTTP server: /metrics, /status, /healthz, /readyz, and the dashboard on /.
 *
 * Everything is made from one engine_snapshot per request (a snapshot younger than 100 ms is used
 * again). Threads: create and destroy on one thread; the server runs its own.
 */
#ifndef HTTP_HTTP_SERVER_H
#define HTTP_HTTP_SERVER_H

#include "engine.h"

struct http_server;

/* `listen`: "127.0.0.1:9821"; port 0: any. Errors: LISTEN, ADDRESS_IN_USE, CONFIG, NO_MEMORY. */
CUZK_NODISCARD cuzk_status http_server_create(struct http_server **out, struct engine *engine,
                                              const char *listen, struct cuzk_error *err);
unsigned http_server_port(const struct http_server *s);
void http_server_destroy(struct http_server *s); /* accepts NULL */

/* The body of /status: doc/interfaces.md. Owned by the caller (free); NULL: no
 * memory. */
char *http_status_json(const struct engine_snapshot *s, size_t *n);

#endif
