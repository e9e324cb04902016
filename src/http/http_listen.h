/*
 * The address that the HTTP server listens on.
 *
 * Threads: pure but for the socket.
 */
#ifndef HTTP_HTTP_LISTEN_H
#define HTTP_HTTP_LISTEN_H

#include "error.h"

/* Makes a listening socket of `listen` (its forms: http_server.h) and says its port.
 * Errors: CONFIG, ADDRESS_IN_USE, LISTEN. */
CUZK_NODISCARD cuzk_status http_listen(int *fd, unsigned *port, const char *listen,
                                       struct cuzk_error *err);

#endif
