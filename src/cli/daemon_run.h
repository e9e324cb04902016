/*
 * The daemon: `cuzk-daemon`, and `cuzk daemon`, which is the same.
 *
 * Reads the configuration, starts engine, gRPC and HTTP, says so to the service manager, and serves
 * until SIGTERM or SIGINT; then takes no more jobs, waits for those under way until drain_timeout,
 * and ends. A second signal ends it at once, a third one kills. SIGHUP and SIGPIPE are ignored.
 */
#ifndef CLI_DAEMON_RUN_H
#define CLI_DAEMON_RUN_H

#include "config.h"

/*
 * `usage`: how it was called, for --help. `change` (NULL in the programs): tests alter the
 * configuration once it is read, which is the only way to a fake device.
 * Errors: those of config_read, engine_create, rpc_server_create and http_server_create, and USAGE.
 */
CUZK_NODISCARD cuzk_status daemon_run(const char *usage, int argc, char **argv,
                                      void (*change)(struct config *c), struct cuzk_error *err);

/*
 * The parameters of the preloaded circuits: `say` is called with each circuit whose files are not
 * there. Without require_params these are taken off the list, so that they hold up nothing.
 */
void daemon_check_preload(struct config *c, void (*say)(void *ctx, const struct cuzk_error *why),
                          void *ctx);

/* Is nobody serving the addresses of the configuration, and may we? Errors: ADDRESS_IN_USE, LISTEN,
 * CONFIG. */
CUZK_NODISCARD cuzk_status daemon_check_addresses(const struct config *c, struct cuzk_error *err);
CUZK_NODISCARD cuzk_status daemon_check_address(const char *address, struct cuzk_error *err);
CUZK_NODISCARD cuzk_status daemon_check_status_address(const char *address, struct cuzk_error *err);

#endif
