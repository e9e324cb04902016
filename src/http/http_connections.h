/*
 * Open connections and how long they may go without an answer.
 *
 * The HTTP library's own time-out is one of inactivity: a client that sends one byte now and then,
 * or takes its answer byte by byte, would keep its place for ever. Here a connection is shut down
 * when no request of it was answered to the end for a set time; and when places become scarce, the
 * one that has gone longest without an answer makes room.
 *
 * Threads: any.
 */
#ifndef HTTP_HTTP_CONNECTIONS_H
#define HTTP_HTTP_CONNECTIONS_H

#include <stdint.h>

#include "error.h"

struct http_connections;
struct http_connection;

/* Errors: NO_MEMORY. */
CUZK_NODISCARD cuzk_status http_connections_create(struct http_connections **out, uint64_t limit_ns,
                                                   struct cuzk_error *err);
void http_connections_destroy(struct http_connections *c); /* all are closed; accepts NULL */

/* NULL: there is no place. `fd` must stay open until http_connection_closed. */
struct http_connection *http_connection_opened(struct http_connections *c, int fd);
void http_connection_answered(struct http_connections *c, struct http_connection *one);
void http_connection_closed(struct http_connections *c, struct http_connection *one);

#endif
