/*
 * The daemon's configuration: a TOML file as Curio's cuzk.toml (doc/configuration.md).
 *
 * Keys of the present daemon that mean nothing to ours warn and say what replaces them; any other
 * unknown key is an error with the nearest name. Sizes are strings as "44GiB" or numbers of bytes,
 * times "5m" or numbers of seconds.
 *
 * Threads: none.
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "engine.h"
#include "log.h"
#include "rpc_server.h"

struct config {
    struct engine_config engine;
    struct rpc_options rpc;
    char *status_listen; /* NULL: none */
    enum log_level log_level;
    bool log_json;
    uint64_t drain_ns;   /* [daemon] drain_timeout; how long SIGTERM waits */
    bool require_params; /* without it a preloaded circuit without parameters is left out */
    void *owned;         /* the strings */
};

/* What is to be said of a file that loads: one call for each warning. */
typedef void (*config_warning_fn)(void *ctx, const char *text);

/* Defaults of doc/configuration.md. Errors: NO_MEMORY. */
CUZK_NODISCARD cuzk_status config_defaults(struct config *out, struct cuzk_error *err);
/*
 * path NULL: defaults only. `warn` may be NULL. On an error *out is empty.
 * Errors: CONFIG (file, line, key, what to do), UNSUPPORTED (a backend that this version does not
 * have), FILE_OPEN, FILE_READ, INPUT_SIZE (no configuration is that long), NO_MEMORY.
 */
CUZK_NODISCARD cuzk_status config_read(struct config *out, const char *path, config_warning_fn warn,
                                       void *ctx, struct cuzk_error *err);
/* The same from n bytes; `name` is what errors call them. */
CUZK_NODISCARD cuzk_status config_read_text(struct config *out, const char *name, const char *text,
                                            size_t n, config_warning_fn warn, void *ctx,
                                            struct cuzk_error *err);
/* One more string that lives as long as the configuration. Errors: NO_MEMORY. */
CUZK_NODISCARD cuzk_status config_keep(struct config *c, const char *text, char **out,
                                       struct cuzk_error *err);
void config_free(struct config *c);

#endif
