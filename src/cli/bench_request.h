/* The proof that cuzk-bench asks for, from its flags and files. Threads: none. */
#ifndef CLI_BENCH_REQUEST_H
#define CLI_BENCH_REQUEST_H

#include "mem.h"
#include "options.h"
#include "rpc_client.h"

enum { BENCH_REQUEST_OPTIONS = 11 };

struct bench_request {
    const char *type, *c1, *vanilla, *randomness, *comm_r_old, *comm_r_new, *comm_d_new;
    struct option_u64 registered_proof, sector_number, miner_id, partition;

    struct rpc_submit submit; /* filled by bench_request_load; its bytes belong to this struct */
    struct mem_block file;
    uint8_t values[4][32];
};

/* Appends the flags that single and batch share to `options`, at `n`; returns the new n. */
size_t bench_request_options(struct bench_request *r, struct option_spec *options, size_t n);

/* Reads the files and checks the flags. Errors: USAGE, FILE_…, INPUT_SIZE, and those of decoding
 * the C1 file, whose sector size and registered proof are filled in. */
CUZK_NODISCARD cuzk_status bench_request_load(struct bench_request *r, struct cuzk_error *err);
void bench_request_free(struct bench_request *r);

#endif
