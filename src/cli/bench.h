/*
 * The commands of `cuzk-bench`.
 *
 * As command.h: a command parses its own arguments, prints to stdout, and returns a status. Those
 * that speak to a daemon take its address from `-a ADDR` before the command.
 */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "rpc_client.h"

struct bench {
    const char *address;
};

typedef cuzk_status (*bench_fn)(const struct bench *bench, int argc, char **argv,
                                struct cuzk_error *err);

cuzk_status bench_single(const struct bench *bench, int argc, char **argv, struct cuzk_error *err);
cuzk_status bench_submit(const struct bench *bench, int argc, char **argv, struct cuzk_error *err);
cuzk_status bench_await(const struct bench *bench, int argc, char **argv, struct cuzk_error *err);
cuzk_status bench_cancel(const struct bench *bench, int argc, char **argv, struct cuzk_error *err);
cuzk_status bench_batch(const struct bench *bench, int argc, char **argv, struct cuzk_error *err);
cuzk_status bench_status(const struct bench *bench, int argc, char **argv, struct cuzk_error *err);
cuzk_status bench_metrics(const struct bench *bench, int argc, char **argv, struct cuzk_error *err);
cuzk_status bench_preload(const struct bench *bench, int argc, char **argv, struct cuzk_error *err);
cuzk_status bench_evict(const struct bench *bench, int argc, char **argv, struct cuzk_error *err);
cuzk_status bench_sweep(const struct bench *bench, int argc, char **argv, struct cuzk_error *err);
cuzk_status bench_memlab(const struct bench *bench, int argc, char **argv, struct cuzk_error *err);

CUZK_NODISCARD cuzk_status bench_connect(struct rpc_client **out, const struct bench *bench,
                                         struct cuzk_error *err);

/* "COMPLETED", … */
const char *bench_outcome_name(enum engine_outcome outcome);

#endif
