/*
 * The commands of `cuzk` and what they share.
 *
 * A command parses its own arguments, prints its result to stdout, and returns a status; main
 * prints the error and turns the status into the exit code.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "error.h"
#include "pool.h"
#include "progress.h"
#include "progress_bar.h"

cuzk_status command_daemon(int argc, char **argv, struct cuzk_error *err);
cuzk_status command_digest(int argc, char **argv, struct cuzk_error *err);
cuzk_status command_doctor(int argc, char **argv, struct cuzk_error *err);
cuzk_status command_export(int argc, char **argv, struct cuzk_error *err);
cuzk_status command_inspect(int argc, char **argv, struct cuzk_error *err);
cuzk_status command_params(int argc, char **argv, struct cuzk_error *err);
cuzk_status command_plan(int argc, char **argv, struct cuzk_error *err);
cuzk_status command_prove(int argc, char **argv, struct cuzk_error *err);
cuzk_status command_verify(int argc, char **argv, struct cuzk_error *err);

/* "1.11 GB"; out has at least 32 bytes and is returned. */
const char *format_bytes(char out[32], uint64_t bytes);

/* A note on stderr where the replica id was not checked, and why. */
void note_replica_id(bool miner_given, bool checked);

/* Is the value of --threads sensible? 0 means all processors. Errors: USAGE. */
CUZK_NODISCARD cuzk_status check_threads(uint64_t threads, struct cuzk_error *err);

/* A pool of `threads` (0: all processors) and a progress record that draws `bar`; SIGINT and
 * SIGTERM cancel the work that is given it. */
struct workers {
    struct pool *pool;
    struct progress_bar bar;
    struct progress progress;
};
CUZK_NODISCARD cuzk_status workers_init(struct workers *w, uint64_t threads, bool show_progress,
                                        struct cuzk_error *err);
void workers_deinit(struct workers *w); /* accepts a zeroed one */

#endif
