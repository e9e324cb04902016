/* `cuzk-bench`: loads a daemon, asks it, and the memory laboratory. */
#include <stdio.h>
#include <string.h>

#include <cuzk/cuzk.h>

#include "bench.h"
#include "log.h"

static const struct {
    const char *name;
    bench_fn run;
    const char *summary;
} commands[] = {
    {"single", bench_single, "send one proof and show its phases"},
    {"batch", bench_batch, "send many and report the times"},
    {"submit", bench_submit, "send one proof and do not wait for it"},
    {"await", bench_await, "wait for a job that was submitted"},
    {"cancel", bench_cancel, "cancel a job"},
    {"status", bench_status, "show what the daemon does"},
    {"preload", bench_preload, "load a circuit's parameters"},
    {"evict", bench_evict, "give a circuit's parameters back"},
    {"metrics", bench_metrics, "print the daemon's metrics"},
    {"sweep", bench_sweep, "run a daemon in many configurations, compare plan and peak"},
    {"memlab", bench_memlab, "the memory laboratory: what piles up, and why"},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *f) {
    fprintf(f, "usage: cuzk-bench [-a ADDR] [--log-level LEVEL] COMMAND [options]\n\ncommands:\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(f,
            "\n  -a, --addr ADDR  the daemon (default http://127.0.0.1:9820; unix:///PATH)\n"
            "`cuzk-bench COMMAND --help` explains one.\n");
}

static int fail(const struct cuzk_error *err) {
    char text[1200];
    error_format(err, text, sizeof text);
    fflush(stdout);
    fprintf(stderr, "%s\n", text);
    return status_exit_code(err->code);
}

/* The options before the command; returns the command's place in argv, 0: all is said, < 0: an
 * error. */
static int parse_global(struct bench *bench, int argc, char **argv, struct cuzk_error *err) {
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *name = argv[i];
        if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0) {
            print_usage(stdout);
            return 0;
        }
        if (strcmp(name, "--version") == 0) {
            printf("cuzk-bench %s\n", cuzk_version());
            return 0;
        }
        const char *equals = strchr(name, '=');
        const bool is_address = strcmp(name, "-a") == 0 || strncmp(name, "--addr", 6) == 0;
        if (!is_address && strncmp(name, "--log-level", 11) != 0) {
            error_set(err, CUZK_USAGE, name, "see cuzk-bench --help", "there is no such option");
            return -1;
        }
        const char *value = equals != NULL ? equals + 1 : ++i < argc ? argv[i] : NULL;
        enum log_level level;
        if (value == NULL || (!is_address && !log_level_parse(&level, value))) {
            error_set(err, CUZK_USAGE, name, "see cuzk-bench --help",
                      value == NULL ? "the option needs a value" : "there is no such level");
            return -1;
        }
        if (is_address)
            bench->address = value;
        else
            log_set(level, false);
    }
    if (i < argc) return i;
    error_set(err, CUZK_USAGE, NULL, "see cuzk-bench --help", "a command is missing");
    return -1;
}

int main(int argc, char **argv) {
    struct bench bench = {.address = "http://127.0.0.1:9820"};
    struct cuzk_error err = {.code = CUZK_OK};
    const int at = parse_global(&bench, argc, argv, &err);
    if (at == 0) return 0;
    if (at < 0) return fail(&err);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[at], commands[i].name) != 0) continue;
        const cuzk_status s = commands[i].run(&bench, argc - at, argv + at, &err);
        if (s == CUZK_OK && (fflush(stdout) != 0 || ferror(stdout) != 0))
            error_set(&err, CUZK_FILE_WRITE, "standard output", NULL, "it could not be written");
        err.code = s != CUZK_OK ? s : err.code;
        return err.code == CUZK_OK ? 0 : fail(&err);
    }
    error_set(&err, CUZK_USAGE, argv[at], "see cuzk-bench --help", "there is no such command");
    return fail(&err);
}
