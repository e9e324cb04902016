#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "bench_load.h"
#include "clock.h"
#include "file.h"
#include "svg_plot.h"

enum { MAX_LIST = 12, MAX_RUNS = 200, START_TRIES = 300, MESSAGE_EXTRA_BYTES = 64 << 10 };

struct list {
    unsigned value[MAX_LIST];
    size_t n;
};

struct sweep_options {
    const char *pw, *gw, *j, *params_dir, *svg, *memory;
    struct option_u64 count;
    struct list pw_list, gw_list, j_list;
};

struct sweep_run {
    unsigned pw, gw, j;
    struct load_result load;
    double peak_rss, predicted, waiting; /* bytes, bytes, partitions */
    bool died;
    int signal; /* that ended the daemon, if it died of one */
};

/* ---- one daemon ---- */

struct daemon_run {
    char dir[64], address[128], config[128], log[128];
    size_t message_bytes; /* the largest message: room for it is kept all the time */
    pid_t pid;
    struct rpc_client *client;
    pthread_t watch;
    atomic_bool end;
    struct sweep_run *run;
};

static cuzk_status write_config(struct daemon_run *d, const struct sweep_options *o,
                                struct cuzk_error *err) {
    struct out_file f;
    snprintf(d->config, sizeof d->config, "%s/cuzk.toml", d->dir);
    snprintf(d->log, sizeof d->log, "%s/log", d->dir);
    snprintf(d->address, sizeof d->address, "unix://%s/cuzk.sock", d->dir);
    CUZK_TRY(file_begin(&f, d->config, err));
    fprintf(f.stream,
            "[daemon]\nlisten = \"%s\"\nmax_message = %zu\n[synthesis]\npartition_workers = %u\n"
            "[gpus]\ngpu_workers_per_device = %u\n[memory]\ntotal_budget = \"%s\"\n",
            d->address, d->message_bytes, d->run->pw, d->run->gw, o->memory);
    if (o->params_dir != NULL) fprintf(f.stream, "[srs]\nparam_cache = \"%s\"\n", o->params_dir);
    return file_commit(&f, err);
}

/* The daemon that stands beside this program. */
static void exec_daemon(const struct daemon_run *d) {
    char path[1024];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 16);
    if (n <= 0) _exit(127);
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    snprintf(slash + 1, sizeof path - (size_t)(slash + 1 - path), "cuzk-daemon");
    FILE *log = freopen(d->log, "w", stderr);
    if (log == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) _exit(127);
    execl(path, "cuzk-daemon", "--config", d->config, (char *)NULL);
    _exit(127);
}

static void pause_ms(long ms) {
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static bool daemon_ended(struct daemon_run *d) {
    int state = 0;
    if (d->pid <= 0) return true;
    if (waitpid(d->pid, &state, WNOHANG) != d->pid) return false;
    d->pid = 0;
    d->run->died = true;
    d->run->signal = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    return true;
}

static cuzk_status start_daemon(struct daemon_run *d, struct cuzk_error *err) {
    d->pid = fork();
    if (d->pid == 0) exec_daemon(d);
    const struct bench bench = {.address = d->address};
    CUZK_TRY(bench_connect(&d->client, &bench, err));
    for (int i = 0; i < START_TRIES && !daemon_ended(d); i++) {
        struct rpc_status *status = NULL;
        struct rpc_call_info call = {.timeout_ns = 1000000000};
        const cuzk_status s = rpc_client_status(d->client, &status, &call, NULL);
        rpc_status_free(status);
        if (s == CUZK_OK) return CUZK_OK;
        pause_ms(50);
    }
    return error_set(err, CUZK_CONNECT, d->address, "see the log in the folder",
                     "the daemon did not start");
}

static void stop_daemon(struct daemon_run *d) {
    if (d->pid <= 0) return;
    kill(d->pid, SIGTERM);
    for (int i = 0; i < START_TRIES && !daemon_ended(d); i++)
        pause_ms(50);
    if (d->pid > 0) {
        kill(d->pid, SIGKILL);
        waitpid(d->pid, NULL, 0);
    }
    d->run->died = false; /* it was told to */
}

/* ---- watching it ---- */

/* The value of a sample in Prometheus' text; NAN without one. */
static double sample_of(const char *text, const char *name) {
    const size_t n = strlen(name);
    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, name, n) == 0 && line[n] == ' ') return strtod(line + n + 1, NULL);
    }
    return NAN;
}

static void *watch_daemon(void *arg) {
    struct daemon_run *d = arg;
    while (!atomic_load(&d->end)) {
        char *text = NULL;
        struct rpc_call_info call = {.timeout_ns = 1000000000};
        if (rpc_client_metrics(d->client, &text, &call, NULL) == CUZK_OK) {
            struct sweep_run *r = d->run;
            r->peak_rss = fmax(r->peak_rss, sample_of(text, "cuzk_rss_bytes"));
            r->predicted = fmax(r->predicted, sample_of(text, "cuzk_plan_peak_bytes"));
            r->waiting = fmax(r->waiting, sample_of(text, "cuzk_partitions{stage=\"ready\"}"));
        }
        free(text);
        pause_ms(50);
    }
    return NULL;
}

static cuzk_status run_daemon(struct daemon_run *d, const struct sweep_options *o,
                              const struct bench_request *request, struct cuzk_error *err) {
    CUZK_TRY(write_config(d, o, err));
    CUZK_TRY(start_daemon(d, err));
    if (pthread_create(&d->watch, NULL, watch_daemon, d) != 0)
        return error_set(err, CUZK_NO_MEMORY, NULL, NULL, "no thread could be started");
    const struct load_options load = {
        .client = d->client,
        .request = request,
        .count = o->count.given ? (unsigned)o->count.value : 2 * d->run->j,
        .concurrency = d->run->j,
        .quiet = true,
    };
    const cuzk_status s = bench_load_run(&d->run->load, &load, err);
    atomic_store(&d->end, true);
    pthread_join(d->watch, NULL);
    daemon_ended(d);
    return s;
}

static cuzk_status one_run(struct sweep_run *r, const struct sweep_options *o,
                           const struct bench_request *request, struct cuzk_error *err) {
    struct daemon_run d = {.dir = "/tmp/cuzk-sweep-XXXXXX",
                           .message_bytes = request->submit.vanilla_proof.n + MESSAGE_EXTRA_BYTES,
                           .run = r};
    if (mkdtemp(d.dir) == NULL)
        return error_set(err, CUZK_FILE_WRITE, d.dir, NULL, "%s", strerror(errno));
    const cuzk_status s = run_daemon(&d, o, request, err);
    rpc_client_destroy(d.client);
    if (!r->died) stop_daemon(&d);
    if (s != CUZK_OK || r->died) return s; /* the log stays */
    unlink(d.config);
    unlink(d.log);
    unlink(d.address + strlen("unix://"));
    rmdir(d.dir);
    return CUZK_OK;
}

/* ---- table and picture ---- */

static void print_run(const struct sweep_run *r) {
    const double mib = 1 << 20;
    const char *fate = r->signal == SIGKILL ? "OOM?" : r->died ? "died" : "no";
    printf("%4u %4u %4u %11.2f %13.1f %13.1f %8.1f%% %8.0f %7u %6s\n", r->pw, r->gw, r->j,
           r->load.completed > 0 ? r->load.seconds / r->load.completed : NAN, r->peak_rss / mib,
           r->predicted / mib, 100 * (r->peak_rss / r->predicted - 1), r->waiting, r->load.failed,
           fate);
    fflush(stdout);
}

static cuzk_status draw(const char *path, const struct sweep_run *runs, size_t n,
                        struct cuzk_error *err) {
    double x[MAX_RUNS], rss[MAX_RUNS], predicted[MAX_RUNS], seconds[MAX_RUNS];
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)i;
        rss[i] = runs[i].peak_rss / (1 << 20);
        predicted[i] = runs[i].predicted / (1 << 20);
        seconds[i] = runs[i].load.completed > 0 ? runs[i].load.seconds / runs[i].load.completed : 0;
    }
    const struct svg_chart charts[2] = {
        {"Peak memory of each configuration, in the table's order",
         "configuration",
         "MiB",
         {{"measured", x, rss, n}, {"planned", x, predicted, n}},
         2},
        {"Seconds a proof", "configuration", "s", {{"seconds a proof", x, seconds, n}}, 1},
    };
    return svg_write(path, charts, 2, err);
}

/* ---- the command ---- */

static cuzk_status parse_list(struct list *out, const char *option, const char *text,
                              struct cuzk_error *err) {
    for (const char *at = text; out->n < MAX_LIST;) {
        char *end = NULL;
        const unsigned long v = strtoul(at, &end, 10);
        if (end == at || v < 1 || v > 512 || (*end != ',' && *end != '\0')) break;
        out->value[out->n++] = (unsigned)v;
        if (*end == '\0') return CUZK_OK;
        at = end + 1;
    }
    return error_set(err, CUZK_USAGE, option, "as 2,4,6", "'%s' is no list of numbers", text);
}

static cuzk_status sweep_all(const struct sweep_options *o, const struct bench_request *request,
                             struct sweep_run *runs, size_t *n, struct cuzk_error *err) {
    printf("%4s %4s %4s %11s %13s %13s %9s %8s %7s %6s\n", "pw", "gw", "j", "s/proof",
           "peak RSS MiB", "planned MiB", "deviation", "waiting", "failed", "OOM");
    for (size_t a = 0; a < o->pw_list.n; a++)
        for (size_t b = 0; b < o->gw_list.n; b++)
            for (size_t c = 0; c < o->j_list.n && *n < MAX_RUNS; c++) {
                struct sweep_run *r = &runs[(*n)++];
                *r = (struct sweep_run){
                    .pw = o->pw_list.value[a], .gw = o->gw_list.value[b], .j = o->j_list.value[c]};
                CUZK_TRY(one_run(r, o, request, err));
                print_run(r);
            }
    return CUZK_OK;
}

static cuzk_status load_and_sweep(struct sweep_options *o, struct bench_request *request,
                                  struct cuzk_error *err) {
    static struct sweep_run runs[MAX_RUNS];
    size_t n = 0;
    CUZK_TRY(parse_list(&o->pw_list, "--pw", o->pw, err));
    CUZK_TRY(parse_list(&o->gw_list, "--gw", o->gw, err));
    CUZK_TRY(parse_list(&o->j_list, "--j", o->j, err));
    CUZK_TRY(bench_request_load(request, err));
    CUZK_TRY(sweep_all(o, request, runs, &n, err));
    return o->svg != NULL ? draw(o->svg, runs, n, err) : CUZK_OK;
}

cuzk_status bench_sweep(const struct bench *bench, int argc, char **argv, struct cuzk_error *err) {
    (void)bench; /* starts its own daemons */
    struct bench_request request = {0};
    struct sweep_options o = {.pw = "2,4,6", .gw = "1,2", .j = "1,5", .memory = "auto"};
    struct option_spec options[BENCH_REQUEST_OPTIONS + 8] = {
        {"pw", OPTION_STRING, &o.pw, "LIST", "synthesis workers (default 2,4,6)",
         .required = false},
        {"gw", OPTION_STRING, &o.gw, "LIST", "proving workers (default 1,2)", .required = false},
        {"j", OPTION_STRING, &o.j, "LIST", "proofs at once (default 1,5)", .required = false},
        {"c|count", OPTION_U64, &o.count, "N", "proofs in each run (default twice j)", false},
        {"params-dir", OPTION_STRING, &o.params_dir, "DIR", "parameters", .required = false},
        {"memory", OPTION_STRING, &o.memory, "SIZE", "memory.total_budget (default auto)",
         .required = false},
        {"svg", OPTION_STRING, &o.svg, "FILE", "draw the figures", .required = false},
    };
    const size_t n = bench_request_options(&request, options, 7);
    options[n] = (struct option_spec){.kind = OPTION_END};
    const struct command_spec spec = {
        "cuzk-bench sweep -t TYPE --c1 FILE [options]",
        "Runs a daemon in each configuration, loads it, and prints time a proof, peak memory of\n"
        "all processes, what was planned, and the most partitions that waited for a device.",
        options};
    bool help = false;
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    if (help) return CUZK_OK;
    const cuzk_status s = load_and_sweep(&o, &request, err);
    bench_request_free(&request);
    return s;
}
