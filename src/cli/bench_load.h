/*
 * Load on a daemon: the same proof many times, several at once.
 *
 * Threads: starts its own; bench_load_run returns when every proof has ended.
 */
#ifndef CLI_BENCH_LOAD_H
#define CLI_BENCH_LOAD_H

#include "bench_request.h"

enum { LOAD_MAX_CONCURRENCY = 512, LOAD_MAX_COUNT = 1000000 };

struct load_options {
    struct rpc_client *client;
    const struct bench_request *request;
    const char *out_dir; /* proofs go there as proof-N.bin; NULL: they are not kept */
    uint64_t timeout_ns; /* for one proof; 0: none */
    unsigned count, concurrency;
    bool quiet; /* no line for each proof */
};

struct load_figures {
    double sum, min, max;
    unsigned n;
};

struct load_result {
    unsigned completed, failed;
    double seconds;                /* all of it */
    struct load_figures wall;      /* of a call, seconds */
    struct load_figures prove;     /* of it, what was not waiting */
    struct cuzk_error first_error; /* of the first that failed */
};

/* A proof that fails is counted, not an error. Errors: NO_MEMORY. */
CUZK_NODISCARD cuzk_status bench_load_run(struct load_result *out,
                                          const struct load_options *options,
                                          struct cuzk_error *err);

#endif
