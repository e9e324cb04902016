/*
 * The Groth16 prover, split in two.
 *
 * prover_start does the heavy part: it evaluates A w, B w, C w, makes h, and multiplies the queries
 * h, l, a and b_g1. Its large vectors go back to the system before the pending proof exists. The
 * pending proof holds what prover_finish still reads and nothing else: two points, one scalar, and
 * the scalars and bits of the query b, for the sum in G2. prover_finish may run on another thread
 * while the next partition is started.
 *
 * Memory is planned: prover_plan says the bytes of each class that a start and a finish take, and
 * they take no more, beside the few hundred KB of r1cs_evaluate().
 */
#ifndef GROTH16_PROVER_H
#define GROTH16_PROVER_H

#include "prover_key.h"

enum { PROOF_BYTES = 192 }; /* A, B, C compressed: 48 + 96 + 48 */

/* Bytes taken, by class. Sizes are before the rounding to pages. */
struct prover_plan {
    size_t abc_bytes;            /* MEM_ABC, during start: two domains of field elements */
    size_t start_scratch_bytes;  /* MEM_OTHER, during start */
    size_t pending_bytes;        /* MEM_PENDING, from start to finish */
    size_t finish_scratch_bytes; /* MEM_OTHER, during finish */
};
struct prover_plan prover_plan(const struct prover_key *key, unsigned threads);

/* The same from the counts alone, before there is a key: abc is exact, the others are upper bounds
 * (which elements occur in A and in B is not in the counts). */
struct prover_plan prover_plan_bound(const struct r1cs_stats *stats, const struct backend *backend,
                                     unsigned threads);

/* Wall times of the stages in seconds. start fills all but the last two, finish those. */
struct prover_timings {
    double evaluate;  /* A w, B w, C w */
    double transform; /* all NTTs and what is between them */
    double msm_h, msm_l, msm_a, msm_b_g1;
    double start; /* all of start */
    double msm_b_g2;
    double finish; /* all of finish */
};

struct prover_options {
    struct pool *pool;
    const struct progress *progress;
    /* For tests: fixed blinding factors. Both NULL: fresh ones from the system. */
    const fr *fixed_r, *fixed_s;
};

struct pending_proof;

/*
 * The witness is read during the call only. It must have the circuit's counts; whether it satisfies
 * the system is not looked at (the proof is then invalid, and verification says so).
 * Errors: NO_MEMORY, CANCELLED, RANDOMNESS, INTERNAL (counts).
 */
CUZK_NODISCARD cuzk_status prover_start(struct pending_proof **out, const struct prover_key *key,
                                        const struct witness *witness,
                                        const struct prover_options *options,
                                        struct prover_timings *timings /* may be NULL */,
                                        struct cuzk_error *err);

/*
 * Completes the proof; the pending proof stays the caller's. Options: pool and progress. The proof
 * is not verified here: groth16_verify (verifier.h) does it, and no proof may leave without.
 * Errors: NO_MEMORY, CANCELLED.
 */
CUZK_NODISCARD cuzk_status prover_finish(uint8_t proof[PROOF_BYTES],
                                         const struct pending_proof *pending,
                                         const struct prover_options *options,
                                         struct prover_timings *timings /* may be NULL */,
                                         struct cuzk_error *err);

/* Everything that a pending proof holds, in bytes. */
size_t pending_proof_bytes(const struct pending_proof *pending);
void pending_proof_destroy(struct pending_proof *pending); /* wipes; accepts NULL */

#endif
