/*
 * A small synchronous client of cuzk.v1.ProvingEngine, for cuzk-bench and the tests.
 *
 * Errors of every call: CONNECT, no answer came (nobody listens, the connection broke, what came
 * was no answer of this service; `what` has gRPC's own words); DEADLINE, CANCELLED, as the names
 * say. Where the daemon refused, the record has the daemon's code and words, as far as
 * its text has the form `CUZK-E-NAME: …`, and `where` begins with the method and gRPC's status.
 * A proof that failed is no error: it is a result with outcome ENGINE_FAILED.
 *
 * Threads: one client may be used by any number of threads at once; each call blocks its own.
 */
#ifndef RPC_RPC_CLIENT_H
#define RPC_RPC_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"

struct rpc_client;

struct rpc_client_options {
    const char *address; /* "http://HOST:PORT", "https://HOST:PORT", "HOST:PORT", "unix:///PATH" */
    /* For https: PEM files; NULL: the system's roots, no certificate of ours. */
    const char *tls_ca, *tls_cert, *tls_key;
};

/* Connects at the first call. Errors: USAGE (the address makes no sense), FILE_…, NO_MEMORY. */
CUZK_NODISCARD cuzk_status rpc_client_create(struct rpc_client **out,
                                             const struct rpc_client_options *options,
                                             struct cuzk_error *err);
/* No call may be under way; accepts NULL. */
void rpc_client_destroy(struct rpc_client *c);
/* Drops all calls under way (CANCELLED), and every one that begins later. */
void rpc_client_abort(struct rpc_client *c);

/* How a call is made, and what became of it. NULL: without a limit of time. */
struct rpc_call_info {
    uint64_t timeout_ns; /* in: for the whole call; 0: none */
    int grpc_status;     /* out: grpc_status_code; 0: OK */
};

struct rpc_bytes {
    const void *bytes;
    size_t n;
};

/* SubmitProofRequest. What is zero or NULL is left out. */
struct rpc_submit {
    const char *request_id;
    enum engine_kind kind;
    uint64_t sector_size, registered_proof, sector_number, miner_id;
    int priority;                           /* as flow_priority; 0: unspecified */
    struct rpc_bytes vanilla_proof;         /* PoRep: the C1 file */
    const struct rpc_bytes *vanilla_proofs; /* other kinds */
    size_t n_vanilla_proofs;
    uint32_t partition_index;
    struct rpc_bytes randomness, comm_r_old, comm_r_new, comm_d_new;
};

struct rpc_ticket {
    char job_id[ENGINE_JOB_ID_BYTES];
    unsigned queue_position;
    char device[64];
};

struct rpc_result {
    char job_id[ENGINE_JOB_ID_BYTES];
    enum engine_outcome outcome;
    uint8_t *proof; /* owned by the caller: rpc_result_clear */
    size_t proof_bytes;
    char error[1024]; /* FAILED, CANCELLED: the daemon's words */
    uint64_t queue_wait_ms, srs_load_ms, synthesis_ms, gpu_compute_ms, total_ms;
};
/* Frees the proof and empties it; an empty one is left alone. */
void rpc_result_clear(struct rpc_result *r);

CUZK_NODISCARD cuzk_status rpc_client_submit(struct rpc_client *c, const struct rpc_submit *submit,
                                             struct rpc_ticket *out, struct rpc_call_info *call,
                                             struct cuzk_error *err);

/* `timeout_ms`: the daemon answers ENGINE_TIMEOUT after it; 0: never. An unknown job:
 * JOB_UNKNOWN. */
CUZK_NODISCARD cuzk_status rpc_client_await(struct rpc_client *c, const char *job_id,
                                            uint64_t timeout_ms, struct rpc_result *out,
                                            struct rpc_call_info *call, struct cuzk_error *err);

/* Submit and await in one. The job is cancelled when the call is dropped or its time is up. */
CUZK_NODISCARD cuzk_status rpc_client_prove(struct rpc_client *c, const struct rpc_submit *submit,
                                            struct rpc_result *out, struct rpc_call_info *call,
                                            struct cuzk_error *err);

CUZK_NODISCARD cuzk_status rpc_client_cancel(struct rpc_client *c, const char *job_id,
                                             bool *was_running, struct rpc_call_info *call,
                                             struct cuzk_error *err);

enum rpc_tier { RPC_TIER_HOT, RPC_TIER_WARM, RPC_TIER_COLD };

/* GetStatusResponse; strings are the caller's until rpc_status_free. */
struct rpc_status {
    struct rpc_gpu {
        uint32_t ordinal;
        const char *name, *current_job_id, *current_proof_kind;
        uint64_t vram_total_bytes, vram_free_bytes;
    } * gpus;
    size_t n_gpus;
    struct rpc_srs {
        const char *circuit_id;
        enum rpc_tier tier;
        uint64_t size_bytes;
        uint32_t ref_count;
    } * srs;
    size_t n_srs;
    struct rpc_queue {
        const char *proof_kind;
        uint32_t pending, in_progress;
    } * queues;
    size_t n_queues;
    uint64_t total_proofs_completed, total_proofs_failed, uptime_seconds;
    uint64_t pinned_memory_bytes, pinned_memory_limit_bytes;
    void *message; /* where the strings are */
};
CUZK_NODISCARD cuzk_status rpc_client_status(struct rpc_client *c, struct rpc_status **out,
                                             struct rpc_call_info *call, struct cuzk_error *err);
void rpc_status_free(struct rpc_status *s); /* accepts NULL */

/* *text: Prometheus' text, owned by the caller (free). */
CUZK_NODISCARD cuzk_status rpc_client_metrics(struct rpc_client *c, char **text,
                                              struct rpc_call_info *call, struct cuzk_error *err);

CUZK_NODISCARD cuzk_status rpc_client_preload(struct rpc_client *c, const char *circuit_id,
                                              bool *already_loaded, uint64_t *load_ms,
                                              struct rpc_call_info *call, struct cuzk_error *err);

CUZK_NODISCARD cuzk_status rpc_client_evict(struct rpc_client *c, const char *circuit_id,
                                            bool *was_loaded, uint64_t *freed_bytes,
                                            struct rpc_call_info *call, struct cuzk_error *err);

#endif
