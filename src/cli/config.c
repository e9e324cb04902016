#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config_keys.h"
#include "config_value.h"
#include "file.h"
#include "toml_reader.h"

#define SECOND_NS ((uint64_t)1000000000)

enum { CONFIG_FILE_BYTES = 64 << 10 };

static const char doc_hint[] = "doc/configuration.md explains each key";

struct loader {
    struct config *config;
    config_warning_fn warn;
    void *warn_ctx;
    bool from_file;
    bool backend_given;
    char devices_where[320]; /* of [gpus] devices, if it names any */
};

/* ---- what the configuration owns ---- */

struct kept {
    struct kept *next;
    char text[];
};

cuzk_status config_keep(struct config *c, const char *text, char **out, struct cuzk_error *err) {
    const size_t n = strlen(text) + 1;
    struct kept *k = malloc(sizeof *k + n);
    if (k == NULL)
        return error_set(err, CUZK_NO_MEMORY, "configuration", NULL, "no memory for %zu bytes", n);
    memcpy(k->text, text, n);
    k->next = c->owned;
    c->owned = k;
    *out = k->text;
    return CUZK_OK;
}

void config_free(struct config *c) {
    for (struct kept *k = c->owned, *next; k != NULL; k = next) {
        next = k->next;
        free(k);
    }
    *c = (struct config){0};
}

/* ---- defaults ---- */

/* cuzk-device lies beside this program. */
static cuzk_status keep_device_program(struct config *c, struct cuzk_error *err) {
    char path[1024 + sizeof "cuzk-device"];
    const ssize_t n = readlink("/proc/self/exe", path, 1024);
    if (n <= 0)
        return error_set(err, CUZK_CONFIG, "/proc/self/exe", "mount /proc",
                         "the program's own folder cannot be found: %s", strerror(errno));
    path[n < 1024 ? n : 1023] = '\0';
    char *slash = strrchr(path, '/');
    memcpy(slash == NULL ? path : slash + 1, "cuzk-device", sizeof "cuzk-device");
    char *kept = NULL;
    CUZK_TRY(config_keep(c, path, &kept, err));
    c->engine.devices[0].program = kept;
    return CUZK_OK;
}

cuzk_status config_defaults(struct config *out, struct cuzk_error *err) {
    *out = (struct config){
        .engine = {.memory_margin = BUDGET_USUAL_MARGIN,
                   .budget_roots = {.proc = "/proc", .cgroup = "/sys/fs/cgroup"},
                   .devices = {{.backend = "cpu", .workers = 2}},
                   .n_devices = 1,
                   .evict_min_idle_ns = 300 * SECOND_NS,
                   .max_queued_jobs = 1000,
                   .age_after = 64,
                   .keep_results = 1000,
                   .keep_result_ns = 3600 * SECOND_NS,
                   .max_message_bytes = (uint64_t)256 << 20},
        .rpc = {.listen = {"127.0.0.1:9820"},
                .n_listen = 1,
                .socket_mode = 0660,
                .max_message_bytes = (uint64_t)256 << 20},
        .log_level = LOG_LEVEL_INFO,
        .drain_ns = 300 * SECOND_NS,
    };
    const cuzk_status s = keep_device_program(out, err);
    if (s != CUZK_OK) config_free(out);
    return s;
}

/* ---- values ---- */

static cuzk_status bad_value(const struct toml_value *v, struct cuzk_error *err, const char *hint,
                             const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static cuzk_status bad_value(const struct toml_value *v, struct cuzk_error *err, const char *hint,
                             const char *fmt, ...) {
    char what[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return error_set(err, CUZK_CONFIG, v->where, hint, "%s %s", v->key, what);
}

static cuzk_status bad_type(const struct toml_value *v, struct cuzk_error *err,
                            const char *wanted) {
    if (v->index >= 0)
        return bad_value(v, err, doc_hint, "has %s as element %d; %s is expected",
                         toml_type_name(v->type), v->index, wanted);
    return bad_value(v, err, doc_hint, "is %s; %s is expected", toml_type_name(v->type), wanted);
}

static void warn_about(const struct loader *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void warn_about(const struct loader *l, const char *fmt, ...) {
    if (l->warn == NULL) return;
    char text[800];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    l->warn(l->warn_ctx, text);
}

static void *place_of(const struct loader *l, const struct config_key *k) {
    return (char *)l->config + k->offset;
}

static cuzk_status set_text(struct loader *l, const struct config_key *k,
                            const struct toml_value *v, struct cuzk_error *err) {
    if (v->type != TOML_STRING) return bad_type(v, err, "a string");
    char *text = NULL;
    if (v->string[0] != '\0') CUZK_TRY(config_keep(l->config, v->string, &text, err));
    *(char **)place_of(l, k) = text;
    return CUZK_OK;
}

static cuzk_status add_listen(struct loader *l, const struct toml_value *v,
                              struct cuzk_error *err) {
    struct rpc_options *rpc = &l->config->rpc;
    if (v->type != TOML_STRING) return bad_type(v, err, "a string or an array of strings");
    if (strncmp(v->string, "unix:", 5) != 0 && strchr(v->string, ':') == NULL)
        return bad_value(v, err, "write \"127.0.0.1:9820\" or \"unix:///run/cuzk/cuzk.sock\"",
                         "is no address: '%.120s'", v->string);
    if (rpc->n_listen == RPC_MAX_ADDRESSES)
        return bad_value(v, err, "leave some out", "has more than %d addresses", RPC_MAX_ADDRESSES);
    char *text = NULL;
    CUZK_TRY(config_keep(l->config, v->string, &text, err));
    rpc->listen[rpc->n_listen++] = text;
    return CUZK_OK;
}

static cuzk_status set_listen(struct loader *l, const struct toml_value *v,
                              struct cuzk_error *err) {
    if (v->index < 0) l->config->rpc.n_listen = 0;
    if (v->type != TOML_ARRAY || v->index >= 0) return add_listen(l, v, err);
    return v->n_items > 0 ? CUZK_OK
                          : bad_value(v, err, "give at least one address", "is an empty array");
}

static cuzk_status check_range(const struct config_key *k, const struct toml_value *v, bool fits,
                               uint64_t value, struct cuzk_error *err) {
    if (fits && value >= k->min && value <= k->max) return CUZK_OK;
    const char *unit = k->form == CONFIG_TIME    ? " seconds"
                       : k->form == CONFIG_COUNT ? ""
                                                 : " bytes";
    return bad_value(v, err, doc_hint, "is out of range: %" PRIu64 " to %" PRIu64 "%s", k->min,
                     k->max, unit);
}

static cuzk_status set_size(struct loader *l, const struct config_key *k,
                            const struct toml_value *v, struct cuzk_error *err) {
    uint64_t bytes = 0;
    if (v->type == TOML_STRING) {
        const bool automatic = k->form == CONFIG_BUDGET && strcmp(v->string, "auto") == 0;
        if (!automatic && !size_parse(&bytes, v->string))
            return bad_value(v, err, "write for instance \"44GiB\"", "is no size: '%.100s'",
                             v->string);
        if (!automatic) CUZK_TRY(check_range(k, v, true, bytes, err));
    } else if (v->type == TOML_INTEGER) {
        bytes = (uint64_t)v->integer;
        CUZK_TRY(check_range(k, v, v->integer >= 0, bytes, err));
    } else {
        return bad_type(v, err, "a size as \"44GiB\"");
    }
    *(uint64_t *)place_of(l, k) = bytes;
    return CUZK_OK;
}

static cuzk_status set_time(struct loader *l, const struct config_key *k,
                            const struct toml_value *v, struct cuzk_error *err) {
    uint64_t ns = 0;
    bool fits = true;
    if (v->type == TOML_STRING) {
        if (!duration_parse(&ns, v->string))
            return bad_value(v, err, "write for instance \"5m\"", "is no time: '%.100s'",
                             v->string);
    } else if (v->type == TOML_INTEGER) {
        fits = v->integer >= 0 && !__builtin_mul_overflow((uint64_t)v->integer, SECOND_NS, &ns);
    } else {
        return bad_type(v, err, "a time as \"5m\"");
    }
    /* Whole seconds, rounded up for the upper end: "1s1ms" is more than a second. */
    CUZK_TRY(check_range(k, v, fits && ns <= k->max * SECOND_NS, ns / SECOND_NS, err));
    *(uint64_t *)place_of(l, k) = ns;
    return CUZK_OK;
}

static cuzk_status set_count(struct loader *l, const struct config_key *k,
                             const struct toml_value *v, struct cuzk_error *err) {
    if (v->type != TOML_INTEGER) return bad_type(v, err, "an integer");
    CUZK_TRY(check_range(k, v, v->integer >= 0, (uint64_t)v->integer, err));
    *(unsigned *)place_of(l, k) = (unsigned)v->integer;
    return CUZK_OK;
}

static cuzk_status set_flag(struct loader *l, const struct config_key *k,
                            const struct toml_value *v, struct cuzk_error *err) {
    if (v->type != TOML_BOOLEAN) return bad_type(v, err, "true or false");
    *(bool *)place_of(l, k) = v->boolean;
    return CUZK_OK;
}

static cuzk_status set_mode(struct loader *l, const struct config_key *k,
                            const struct toml_value *v, struct cuzk_error *err) {
    static const char hint[] = "write for instance \"0660\"";
    unsigned long mode = 0;
    if (v->type == TOML_STRING) {
        char *end = NULL;
        mode = strtoul(v->string, &end, 8);
        if (v->string[0] < '0' || v->string[0] > '7' || *end != '\0' || mode > k->max)
            return bad_value(v, err, hint, "is no mode of a socket: '%.40s'", v->string);
    } else if (v->type == TOML_INTEGER) {
        if (v->integer < 0 || (uint64_t)v->integer > k->max)
            return bad_value(v, err, hint, "is no mode of a socket: 0o%" PRIo64,
                             (uint64_t)v->integer);
        mode = (unsigned long)v->integer;
    } else {
        return bad_type(v, err, "a string as \"0660\"");
    }
    /* 0 would be taken for the usual mode, and nobody could connect. */
    if (mode == 0) return bad_value(v, err, hint, "lets nobody connect");
    *(unsigned *)place_of(l, k) = (unsigned)mode;
    return CUZK_OK;
}

static cuzk_status set_level(struct loader *l, const struct config_key *k,
                             const struct toml_value *v, struct cuzk_error *err) {
    if (v->type != TOML_STRING) return bad_type(v, err, "a string");
    if (log_level_parse((enum log_level *)place_of(l, k), v->string)) return CUZK_OK;
    return bad_value(v, err, "one of error, warn, info, debug, trace", "is no level: '%.40s'",
                     v->string);
}

static cuzk_status set_format(struct loader *l, const struct config_key *k,
                              const struct toml_value *v, struct cuzk_error *err) {
    if (v->type != TOML_STRING) return bad_type(v, err, "a string");
    const bool json = strcmp(v->string, "json") == 0;
    if (!json && strcmp(v->string, "text") != 0)
        return bad_value(v, err, "one of text, json", "is no format: '%.40s'", v->string);
    *(bool *)place_of(l, k) = json;
    return CUZK_OK;
}

static cuzk_status set_preload(struct loader *l, const struct toml_value *v,
                               struct cuzk_error *err) {
    struct engine_config *e = &l->config->engine;
    if (v->index < 0 && v->type == TOML_ARRAY) {
        e->n_preload = 0;
        return CUZK_OK;
    }
    if (v->type != TOML_STRING || v->index < 0) return bad_type(v, err, "an array of circuit ids");
    const struct porep_shape *shape;
    struct cuzk_error why = {0};
    const cuzk_status s = circuit_find(&shape, v->string, NULL, &why);
    if (s == CUZK_UNSUPPORTED) {
        warn_about(l, "%s: %s: %s is left out: %s", v->where, v->key, v->string, why.what);
        return CUZK_OK;
    }
    if (s != CUZK_OK) return bad_value(v, err, why.hint, "names no circuit: '%.60s'", v->string);
    for (unsigned i = 0; i < e->n_preload; i++) {
        if (strcmp(e->preload[i], v->string) == 0) return CUZK_OK;
    }
    if (e->n_preload == PLAN_MAX_CIRCUITS)
        return bad_value(v, err, "leave some out", "has more than %d circuits", PLAN_MAX_CIRCUITS);
    char *text = NULL;
    CUZK_TRY(config_keep(l->config, v->string, &text, err));
    e->preload[e->n_preload++] = text;
    return CUZK_OK;
}

static cuzk_status set_devices(struct loader *l, const struct toml_value *v,
                               struct cuzk_error *err) {
    if (v->index < 0) {
        if (v->type != TOML_ARRAY) return bad_type(v, err, "an array");
        if (v->n_items > 0) memcpy(l->devices_where, v->where, sizeof l->devices_where);
        return CUZK_OK;
    }
    if (v->type == TOML_INTEGER || v->type == TOML_STRING) return CUZK_OK;
    return bad_type(v, err, "a GPU's number or name");
}

static cuzk_status set_backend(struct loader *l, const struct toml_value *v,
                               struct cuzk_error *err) {
    if (v->type != TOML_STRING) return bad_type(v, err, "a string");
    if (strcmp(v->string, "cuda") == 0)
        return error_set(err, CUZK_UNSUPPORTED, v->where,
                         "write backend = \"cpu\" to prove on the CPU",
                         "gpus.backend is \"cuda\"; this version has the backend cpu only, and "
                         "does not fall back to it unasked");
    if (strcmp(v->string, "cpu") != 0)
        return bad_value(v, err, "one of cpu, cuda", "is no backend: '%.40s'", v->string);
    l->backend_given = true;
    return CUZK_OK;
}

static cuzk_status set_unused(const struct loader *l, const struct config_key *k,
                              const struct toml_value *v) {
    const bool usual = (v->type == TOML_INTEGER && v->integer == k->usual) ||
                       (v->type == TOML_BOOLEAN && v->boolean == (k->usual != 0));
    if (!usual) warn_about(l, "%s: %s has no effect: %s", v->where, k->name, k->note);
    return CUZK_OK;
}

static cuzk_status set_key(struct loader *l, const struct config_key *k, const struct toml_value *v,
                           struct cuzk_error *err) {
    switch (k->form) {
    case CONFIG_TEXT:
        return set_text(l, k, v, err);
    case CONFIG_LISTEN:
        return set_listen(l, v, err);
    case CONFIG_SIZE:
    case CONFIG_BUDGET:
        return set_size(l, k, v, err);
    case CONFIG_TIME:
        return set_time(l, k, v, err);
    case CONFIG_COUNT:
        return set_count(l, k, v, err);
    case CONFIG_FLAG:
        return set_flag(l, k, v, err);
    case CONFIG_MODE:
        return set_mode(l, k, v, err);
    case CONFIG_LEVEL:
        return set_level(l, k, v, err);
    case CONFIG_FORMAT:
        return set_format(l, k, v, err);
    case CONFIG_PRELOAD:
        return set_preload(l, v, err);
    case CONFIG_DEVICES:
        return set_devices(l, v, err);
    case CONFIG_BACKEND:
        return set_backend(l, v, err);
    case CONFIG_UNUSED:
        return set_unused(l, k, v);
    case CONFIG_OBSOLETE:
        if (v->index < 0)
            warn_about(l, "%s: %s is obsolete and has no effect: %s", v->where, k->name, k->note);
        return CUZK_OK;
    }
    abort(); /* a form in the table that is not in the list above */
}

static cuzk_status on_value(void *ctx, const struct toml_value *v, struct cuzk_error *err) {
    struct loader *l = ctx;
    const bool section = config_section_known(v->key);
    if (section && v->type == TOML_TABLE && v->index < 0) return CUZK_OK;
    if (section) return bad_type(v, err, "a section, [name] on a line of its own,");
    const struct config_key *k = config_key_find(v->key);
    if (k != NULL) return set_key(l, k, v, err);
    char hint[160];
    snprintf(hint, sizeof hint, "the nearest key is %s; remove or correct the line",
             config_key_nearest(v->key)->name);
    return error_set(err, CUZK_CONFIG, v->where, hint, "there is no key '%.120s'", v->key);
}

/* ---- the whole ---- */

/* What single keys cannot show. */
static cuzk_status check_whole(struct loader *l, const char *name, struct cuzk_error *err) {
    struct config *c = l->config;
    if (l->devices_where[0] != '\0' && !l->backend_given)
        return error_set(err, CUZK_UNSUPPORTED, l->devices_where,
                         "remove gpus.devices, or add backend = \"cpu\" to prove on the CPU",
                         "gpus.devices names GPUs; this version has the backend cpu only, and does "
                         "not fall back to it unasked");
    if (l->devices_where[0] != '\0')
        warn_about(l, "%s: gpus.devices has no effect with backend = \"cpu\"", l->devices_where);
    if (l->from_file && !l->backend_given)
        warn_about(l, "%s: gpus.backend is not set: this version proves on the CPU", name);
    if ((c->rpc.tls_cert == NULL) != (c->rpc.tls_key == NULL))
        return error_set(err, CUZK_CONFIG, name, "give both or none",
                         "daemon.%s is set without daemon.%s",
                         c->rpc.tls_cert != NULL ? "tls_cert" : "tls_key",
                         c->rpc.tls_cert != NULL ? "tls_key" : "tls_cert");
    if (c->rpc.tls_client_ca != NULL && c->rpc.tls_cert == NULL)
        return error_set(err, CUZK_CONFIG, name, "give daemon.tls_cert and daemon.tls_key as well",
                         "daemon.tls_client_ca is set without a certificate of the daemon's own");
    if (c->engine.devices[0].program == NULL) CUZK_TRY(keep_device_program(c, err));
    c->engine.max_message_bytes = c->rpc.max_message_bytes;
    return CUZK_OK;
}

cuzk_status config_read_text(struct config *out, const char *name, const char *text, size_t n,
                             config_warning_fn warn, void *ctx, struct cuzk_error *err) {
    struct loader l = {.config = out, .warn = warn, .warn_ctx = ctx, .from_file = true};
    CUZK_TRY(config_defaults(out, err));
    cuzk_status s = toml_read(name, text, n, on_value, &l, err);
    if (s == CUZK_OK) s = check_whole(&l, name, err);
    if (s != CUZK_OK) config_free(out);
    return s;
}

cuzk_status config_read(struct config *out, const char *path, config_warning_fn warn, void *ctx,
                        struct cuzk_error *err) {
    *out = (struct config){0};
    if (path == NULL) return config_defaults(out, err);
    struct mem_block text = {0};
    size_t n = 0;
    CUZK_TRY(file_read(&text, &n, path, CONFIG_FILE_BYTES, err));
    const cuzk_status s = config_read_text(out, path, text.ptr, n, warn, ctx, err);
    mem_give(&text);
    return s;
}
