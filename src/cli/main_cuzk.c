/* `cuzk`: the tool. Finds the command, runs it, prints its error. */
#include <stdio.h>
#include <string.h>

#include <cuzk/cuzk.h>

#include "command.h"

static const struct {
    const char *name;
    cuzk_status (*run)(int argc, char **argv, struct cuzk_error *err);
    const char *summary;
} commands[] = {
    {"prove", command_prove, "prove a sector from its C1 file"},
    {"verify", command_verify, "verify a proof"},
    {"inspect", command_inspect, "show what is in a C1 file"},
    {"digest", command_digest, "print a circuit's counts and digest"},
    {"plan", command_plan, "print what a daemon's configuration takes of memory"},
    {"params", command_params, "make, list or check parameter files"},
    {"daemon", command_daemon, "serve proofs over gRPC, as cuzk-daemon does"},
    {"doctor", command_doctor, "make the checks of the daemon's start without serving"},
    {"export", command_export, "write key, proof and public inputs for other verifiers"},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *f) {
    fprintf(f, "usage: cuzk COMMAND [options]\n\ncommands:\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(f,
            "\n`cuzk COMMAND --help` explains one. `cuzk --version` prints the version.\n"
            "exit codes: 0 done, 1 input or proof not valid, 2 usage, 3 environment, 4 internal\n");
}

static int fail(const struct cuzk_error *err) {
    char text[1200];
    error_format(err, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return status_exit_code(err->code);
}

/* The exit code of a success, once its output has arrived. */
static int succeed(void) {
    struct cuzk_error err = {0};
    if (fflush(stdout) == 0 && ferror(stdout) == 0) return 0;
    error_set(&err, CUZK_FILE_WRITE, "standard output", "check the disk or the pipe",
              "the result could not be written");
    return fail(&err);
}

int main(int argc, char **argv) {
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return succeed();
    }
    if (argc >= 2 && strcmp(argv[1], "--version") == 0) {
        printf("cuzk %s\n", cuzk_version());
        return succeed();
    }
    struct cuzk_error err = {0};
    if (argc < 2) {
        print_usage(stderr);
        return status_exit_code(CUZK_USAGE);
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) != 0) continue;
        const cuzk_status s = commands[i].run(argc - 1, argv + 1, &err);
        return s == CUZK_OK ? succeed() : fail(&err);
    }
    error_set(&err, CUZK_USAGE, argv[1], "see cuzk --help", "there is no such command");
    return fail(&err);
}
