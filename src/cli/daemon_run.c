#include "daemon_run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cuzk/cuzk.h>

#include "circuit_files.h"
#include "clock.h"
#include "http_listen.h"
#include "http_server.h"
#include "options.h"
#include "rpc_listen.h"
#include "sd_notify.h"

static const char component[] = "daemon";

/* How long a wait for a drained engine lasts before signals are looked at again. */
#define DRAIN_SLICE_NS ((uint64_t)200 * 1000000)
/* Without a watchdog the manager is told the status as often. */
#define STATUS_EVERY_NS ((uint64_t)10 * 1000000000)

struct daemon {
    struct config config;
    struct engine *engine;
    struct rpc_server *rpc;
    struct http_server *http;
    sigset_t signals;
    bool watched;          /* the manager wants WATCHDOG=1 … */
    uint64_t pet_every_ns; /* … at twice the rate that it asks for */
    uint64_t next_pet_ns;
};

/* ---- configuration ---- */

struct arguments {
    const char *config, *listen, *log_level;
    bool version;
};

static cuzk_status parse_arguments(const char *usage, int argc, char **argv, struct arguments *out,
                                   bool *help, struct cuzk_error *err) {
    const struct option_spec options[] = {
        {"config", OPTION_STRING, &out->config, "FILE", "the configuration (all defaults)", false},
        {"listen", OPTION_STRING, &out->listen, "ADDR",
         "serve gRPC there only, as 127.0.0.1:9820 or unix:///run/cuzk.sock", false},
        {"log-level", OPTION_STRING, &out->log_level, "LEVEL", "error, warn, info, debug or trace",
         false},
        {"version", OPTION_FLAG, &out->version, NULL, "print the version", false},
        {.kind = OPTION_END},
    };
    const struct command_spec spec = {
        usage,
        "Serves proofs over gRPC, and its state over HTTP. SIGTERM ends it when the jobs under "
        "way\n"
        "are done. `cuzk doctor` makes all the checks of a start without serving.",
        options};
    return options_parse(&spec, argc, argv, help, err);
}

static void print_warning(void *ctx, const char *text) {
    fprintf(ctx, "%s\n", text);
}

/* Warnings of the file come before its level and format are known, so they are kept until then. */
static cuzk_status read_config(struct config *out, const struct arguments *args,
                               struct cuzk_error *err) {
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (f == NULL) return error_set(err, CUZK_NO_MEMORY, component, NULL, "%s", strerror(errno));
    cuzk_status s = config_read(out, args->config, print_warning, f, err);
    fclose(f);
    if (s == CUZK_OK && args->log_level != NULL &&
        !log_level_parse(&out->log_level, args->log_level)) {
        config_free(out);
        s = error_set(err, CUZK_USAGE, "--log-level", "one of error, warn, info, debug, trace",
                      "there is no level '%s'", args->log_level);
    }
    if (s == CUZK_OK) {
        log_set(out->log_level, out->log_json);
        char *rest = text;
        for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
            if (line[0] != '\0') log_line(LOG_LEVEL_WARN, "config", "%s", line);
        }
        if (args->listen != NULL) {
            out->rpc.listen[0] = args->listen;
            out->rpc.n_listen = 1;
        }
    }
    free(text);
    return s;
}

void daemon_check_preload(struct config *c, void (*say)(void *ctx, const struct cuzk_error *why),
                          void *ctx) {
    struct engine_config *e = &c->engine;
    unsigned kept = 0;
    for (unsigned i = 0; i < e->n_preload; i++) {
        const struct porep_shape *shape = NULL;
        struct param_place place;
        struct cuzk_error why = {0};
        cuzk_status s = circuit_find(&shape, e->preload[i], NULL, &why);
        if (s == CUZK_OK) s = circuit_file_find(&place, e->param_dir, shape, "params", &why);
        if (s == CUZK_OK) s = circuit_file_find(&place, e->param_dir, shape, "vk", &why);
        if (s != CUZK_OK) say(ctx, &why);
        if (s == CUZK_OK || c->require_params) e->preload[kept++] = e->preload[i];
    }
    e->n_preload = kept;
}

static void say_missing(void *ctx, const struct cuzk_error *why) {
    const struct config *c = ctx;
    log_error_record(LOG_LEVEL_WARN, component, why, "%s",
                     c->require_params ? "not ready until the parameters of a circuit are there"
                                       : "a circuit is not preloaded");
}

/* ---- addresses ---- */

cuzk_status daemon_check_address(const char *address, struct cuzk_error *err) {
    struct rpc_address a;
    CUZK_TRY(rpc_address_parse(&a, address, CUZK_CONFIG, err));
    return rpc_address_check_free(&a, err);
}

cuzk_status daemon_check_status_address(const char *address, struct cuzk_error *err) {
    int fd = -1;
    unsigned port = 0;
    CUZK_TRY(http_listen(&fd, &port, address, err));
    close(fd);
    return CUZK_OK;
}

cuzk_status daemon_check_addresses(const struct config *c, struct cuzk_error *err) {
    for (unsigned i = 0; i < c->rpc.n_listen; i++)
        CUZK_TRY(daemon_check_address(c->rpc.listen[i], err));
    return c->status_listen == NULL ? CUZK_OK : daemon_check_status_address(c->status_listen, err);
}

static void say_address(const char *what, const char *address, unsigned port) {
    const size_t n = strlen(address);
    if (port != 0 && n >= 2 && strcmp(address + n - 2, ":0") == 0)
        log_line(LOG_LEVEL_INFO, component, "%s on %.*s:%u", what, (int)(n - 2), address, port);
    else
        log_line(LOG_LEVEL_INFO, component, "%s on %s", what, address);
}

static void say_addresses(const struct daemon *d) {
    const struct rpc_options *rpc = &d->config.rpc;
    for (unsigned i = 0; i < rpc->n_listen; i++) {
        const bool tls = rpc->tls_cert != NULL && strncmp(rpc->listen[i], "unix:", 5) != 0;
        say_address(tls ? "gRPC (TLS)" : "gRPC", rpc->listen[i], rpc_server_port(d->rpc, i));
    }
    if (d->http != NULL) say_address("HTTP", d->config.status_listen, http_server_port(d->http));
}

/* ---- the service manager ---- */

/* Says that we are alive, as far as we are: an engine that gives no snapshot is not. */
static void pet(struct daemon *d) {
    d->next_pet_ns = clock_ns() + d->pet_every_ns;
    struct engine_snapshot *s = NULL;
    struct cuzk_error err = {0};
    if (engine_snapshot_take(d->engine, &s, &err) != CUZK_OK) {
        log_error_record(LOG_LEVEL_ERROR, component, &err, "no snapshot of the engine");
        return;
    }
    unsigned open = 0, up = 0;
    for (unsigned i = 0; i < s->n_jobs; i++)
        open += !s->jobs[i].over;
    for (unsigned i = 0; i < s->n_devices; i++)
        up += s->devices[i].state.up;
    char text[120];
    snprintf(text, sizeof text, "%sSTATUS=%u jobs open, %u of %u devices up",
             d->watched ? "WATCHDOG=1\n" : "", open, up, s->n_devices);
    engine_snapshot_free(s);
    sd_notify_send(text);
}

static void pet_if_due(struct daemon *d) {
    if (clock_ns() >= d->next_pet_ns) pet(d);
}

/* ---- signals ---- */

/* SIGTERM and SIGINT are blocked in every thread and taken by the main one when it looks for them.
 */
static void hold_signals(struct daemon *d) {
    sigemptyset(&d->signals);
    sigaddset(&d->signals, SIGTERM);
    sigaddset(&d->signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &d->signals, NULL);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

/* The signal that has come, waiting `ns` for it at most; 0: none. */
static int wait_signal(const struct daemon *d, uint64_t ns) {
    const struct timespec limit = {.tv_sec = (time_t)(ns / 1000000000),
                                   .tv_nsec = (long)(ns % 1000000000)};
    const int got = sigtimedwait(&d->signals, NULL, &limit);
    return got > 0 ? got : 0;
}

/* The next signal ends us, should ending take too long; those that have come already do not. */
static void release_signals(const struct daemon *d) {
    while (wait_signal(d, 0) != 0)
        ;
    pthread_sigmask(SIG_UNBLOCK, &d->signals, NULL);
}

static const char *signal_name(int signal) {
    return signal == SIGINT ? "SIGINT" : "SIGTERM";
}

static int serve(struct daemon *d) {
    for (;;) {
        pet_if_due(d);
        const uint64_t now = clock_ns();
        const uint64_t rest = d->next_pet_ns > now ? d->next_pet_ns - now : 0;
        const int got = wait_signal(d, rest);
        if (got != 0) return got;
    }
}

/* Waits for what is under way; a second signal or the time-out ends the wait. */
static void drain(struct daemon *d, int first) {
    char text[120];
    snprintf(text, sizeof text, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRIu64,
             d->config.drain_ns / 1000 + 30000000);
    sd_notify_send(text);
    log_line(LOG_LEVEL_INFO, component, "%s: no more jobs; those under way have %.0f s",
             signal_name(first), (double)d->config.drain_ns * 1e-9);
    rpc_server_stop_accepting(d->rpc);
    engine_stop_accepting(d->engine);
    const uint64_t until = clock_ns() + d->config.drain_ns;
    for (;;) {
        const uint64_t slice = clock_ns() + DRAIN_SLICE_NS;
        if (engine_drain(d->engine, slice < until ? slice : until)) {
            log_line(LOG_LEVEL_INFO, component, "all jobs under way are done");
            return;
        }
        if (clock_ns() >= until) {
            log_line(LOG_LEVEL_WARN, component, "the time to drain is over; jobs are left%s",
                     d->config.engine.state_dir != NULL ? " for the next start" : " undone");
            return;
        }
        const int second = wait_signal(d, 0);
        if (second != 0) {
            log_line(LOG_LEVEL_WARN, component, "%s again: ending at once", signal_name(second));
            return;
        }
        pet_if_due(d);
    }
}

/* ---- start and end ---- */

/* Each connection takes a descriptor, and so does each slab. */
static void raise_descriptors(void) {
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur == r.rlim_max) return;
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
}

static cuzk_status start(struct daemon *d, struct cuzk_error *err) {
    raise_descriptors();
    log_line(LOG_LEVEL_INFO, component, "cuzk %s, process %d", cuzk_version(), (int)getpid());
    /* Before anything else: a second daemon must not touch the first one's state folder. */
    CUZK_TRY(daemon_check_addresses(&d->config, err));
    daemon_check_preload(&d->config, say_missing, &d->config);
    CUZK_TRY(engine_create(&d->engine, &d->config.engine, err));
    /* The engine has printed its budget, what survives, and its plan if it has a circuit yet. */
    if (d->config.engine.n_preload == 0)
        log_line(LOG_LEVEL_INFO, component, "plan: made when the first circuit is loaded");
    CUZK_TRY(rpc_server_create(&d->rpc, d->engine, &d->config.rpc, err));
    if (d->config.status_listen != NULL)
        CUZK_TRY(http_server_create(&d->http, d->engine, d->config.status_listen, err));
    say_addresses(d);
    const uint64_t watchdog_ns = sd_notify_watchdog_ns();
    d->watched = watchdog_ns != 0;
    d->pet_every_ns = d->watched ? watchdog_ns / 2 : STATUS_EVERY_NS;
    sd_notify_send("READY=1\nSTATUS=accepting jobs");
    return CUZK_OK;
}

static void end(struct daemon *d) {
    release_signals(d);
    rpc_server_destroy(d->rpc);
    http_server_destroy(d->http);
    engine_destroy(d->engine);
    config_free(&d->config);
}

cuzk_status daemon_run(const char *usage, int argc, char **argv, void (*change)(struct config *c),
                       struct cuzk_error *err) {
    struct daemon d = {0};
    struct arguments args = {0};
    bool help = false;
    CUZK_TRY(parse_arguments(usage, argc, argv, &args, &help, err));
    if (help) return CUZK_OK;
    if (args.version) {
        printf("cuzk-daemon %s\n", cuzk_version());
        return CUZK_OK;
    }
    CUZK_TRY(read_config(&d.config, &args, err));
    if (change != NULL) change(&d.config);
    hold_signals(&d);
    const cuzk_status s = start(&d, err);
    if (s == CUZK_OK) {
        drain(&d, serve(&d));
        end(&d);
        log_line(LOG_LEVEL_INFO, component, "ended");
        return CUZK_OK;
    }
    sd_notify_send("STOPPING=1\nSTATUS=the start failed");
    end(&d);
    return s;
}
