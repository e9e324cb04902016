/*
 * libcuzk: Groth16 proofs for Filecoin sectors, as a library.
 *
 * From a sector's C1 file to a proof:
 *
 *     cuzk_context_create     threads
 *     cuzk_sector_read        decode and size-check the C1 file
 *     cuzk_sector_check       verify the vanilla proofs before any proving
 *     cuzk_circuit_create     the sector's constraint system, as structured matrices
 *     cuzk_params_load        the proving key, into memory
 *     cuzk_prove_start        one partition: everything heavy; a, b, c are gone when it returns
 *     cuzk_prove_finish       the rest, on any thread, then verification
 *
 * Rules for all calls.
 * - Pointers are not NULL unless a comment says so. Outputs come first, after the context.
 * - A call that fails returns a status other than CUZK_OK, fills the error record (`err`, may be
 *   NULL) and leaves its outputs NULL or untouched.
 * - Objects are created and destroyed by the caller; destroy functions accept NULL. An object
 *   borrows nothing from the arguments that made it unless a comment says so.
 * - Circuits, parameters, verifying keys and sectors are immutable once made and may be shared by
 *   threads. A context runs one call at a time; make one for each thread that proves.
 */
#ifndef CUZK_CUZK_H
#define CUZK_CUZK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuzk/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CUZK_API      __attribute__((visibility("default"), warn_unused_result))
#define CUZK_API_VOID __attribute__((visibility("default")))
#else
#define CUZK_API
#define CUZK_API_VOID
#endif

/* A, B, C compressed. A sector's proof is its partitions' proofs, one after the other. */
#define CUZK_PROOF_BYTES 192

typedef struct cuzk_context cuzk_context;
typedef struct cuzk_sector cuzk_sector;
typedef struct cuzk_circuit cuzk_circuit;
typedef struct cuzk_params cuzk_params;
typedef struct cuzk_vk cuzk_vk;
typedef struct cuzk_pending cuzk_pending;

/* "0.1.0" */
CUZK_API const char *cuzk_version(void);

/* Writes `CUZK-E-NAME: where: what: what to do`; returns its length as snprintf does. */
CUZK_API_VOID int cuzk_error_format(const struct cuzk_error *err, char *out, size_t out_bytes);

/* ---- context ---- */

/* Called on the thread of the running call. total 0: unknown. */
typedef void (*cuzk_progress_fn)(void *user, const char *phase, uint64_t done, uint64_t total);

struct cuzk_context_options {
    unsigned threads;          /* 0: as many as the process may run on */
    cuzk_progress_fn progress; /* may be NULL */
    void *progress_user;
};
/* options may be NULL. */
CUZK_API cuzk_status cuzk_context_create(cuzk_context **out,
                                         const struct cuzk_context_options *options,
                                         struct cuzk_error *err);
CUZK_API_VOID void cuzk_context_destroy(cuzk_context *ctx);

/* Makes the running call, and every later one, return CUZK_CANCELLED at its next phase. May be
 * called from any thread. */
CUZK_API_VOID void cuzk_context_cancel(cuzk_context *ctx);

/* ---- sector: the decoded C1 file ---- */

/* Reads a C1 file: Curio's wrapper or the inner JSON alone, any order of fields. */
CUZK_API cuzk_status cuzk_sector_read(cuzk_context *ctx, cuzk_sector **out, const char *path,
                                      struct cuzk_error *err);
/* The same from memory; the bytes are not kept. */
CUZK_API cuzk_status cuzk_sector_parse(cuzk_context *ctx, cuzk_sector **out, const void *json,
                                       size_t n_bytes, struct cuzk_error *err);
CUZK_API_VOID void cuzk_sector_destroy(cuzk_sector *sector);

struct cuzk_sector_info {
    int registered_proof;              /* number as Go's abi package has it; -1: a test size */
    const char *registered_proof_name; /* "StackedDrg2KiBV1_1"; static */
    char circuit_id[16];               /* "porep-2k" */
    uint64_t sector_bytes;
    uint64_t sector_number; /* valid if has_sector_number */
    bool has_sector_number; /* the inner JSON alone carries none */
    bool non_interactive;   /* the chain takes only the aggregate of such proofs */
    unsigned n_partitions;
    unsigned n_challenges; /* of one partition */
    uint8_t replica_id[32], comm_r[32], comm_d[32], seed[32], ticket[32];
};
CUZK_API_VOID void cuzk_sector_get_info(const cuzk_sector *sector, struct cuzk_sector_info *out);

/*
 * Checks every field: replica id (when `miner` is not NULL and the file has a sector number),
 * challenges, parents, Merkle paths, columns, labels, encoding, commitments. The first bad element
 * is named by its JSON path.
 */
CUZK_API cuzk_status cuzk_sector_check(cuzk_context *ctx, const cuzk_sector *sector,
                                       const uint64_t *miner, struct cuzk_error *err);

/* ---- circuit ---- */

/* circuit_id: "porep-2k", … Errors: USAGE for an id that there is not. */
CUZK_API cuzk_status cuzk_circuit_create(cuzk_context *ctx, cuzk_circuit **out,
                                         const char *circuit_id, struct cuzk_error *err);
CUZK_API_VOID void cuzk_circuit_destroy(cuzk_circuit *circuit);

/* ---- parameters and verifying keys, in bellperson's layout ---- */

/*
 * Loads and checks a parameter file for the circuit. `path` names the file, or the folder in which
 * the circuit's file is looked up (NULL: FIL_PROOFS_PARAMETER_CACHE, else
 * /var/tmp/filecoin-proof-parameters).
 */
CUZK_API cuzk_status cuzk_params_load(cuzk_context *ctx, cuzk_params **out,
                                      const cuzk_circuit *circuit, const char *path,
                                      struct cuzk_error *err);
CUZK_API_VOID void cuzk_params_destroy(cuzk_params *params);

/* True for parameters that `cuzk params setup` made: whoever made them can forge proofs. */
CUZK_API_VOID bool cuzk_params_are_development(const cuzk_params *params);

/* A .vk file; `path` as for parameters. */
CUZK_API cuzk_status cuzk_vk_load(cuzk_vk **out, const char *circuit_id, const char *path,
                                  struct cuzk_error *err);
CUZK_API_VOID void cuzk_vk_destroy(cuzk_vk *vk);

/* ---- proving ---- */

struct cuzk_prove_options {
    /* For tests only: fixed blinding factors instead of random ones. A proof made with known
     * factors is not zero-knowledge. */
    bool fixed_blinding;
    uint64_t r, s;
};

/*
 * Does the heavy part of one partition. When it returns, a, b, c and the witness are released and
 * the pending proof holds only what finish reads. `params` must outlive the pending proof; options
 * may be NULL.
 */
CUZK_API cuzk_status cuzk_prove_start(cuzk_context *ctx, cuzk_pending **out,
                                      const cuzk_circuit *circuit, const cuzk_params *params,
                                      const cuzk_sector *sector, unsigned partition,
                                      const struct cuzk_prove_options *options,
                                      struct cuzk_error *err);

/*
 * Finishes and verifies a proof; may run on another thread, with another context, while the first
 * starts the next partition. The pending proof is not consumed: destroy it afterwards. Errors:
 * PROOF_INVALID when the proof does not verify; nothing is then written to `proof`.
 */
CUZK_API cuzk_status cuzk_prove_finish(cuzk_context *ctx, uint8_t proof[CUZK_PROOF_BYTES],
                                       cuzk_pending *pending, struct cuzk_error *err);
CUZK_API_VOID void cuzk_pending_destroy(cuzk_pending *pending);

/* Bytes that a pending proof holds. */
CUZK_API_VOID size_t cuzk_pending_bytes(const cuzk_pending *pending);

/*
 * Makes one partition's witness and checks every row of the constraint system on it. Proving does
 * not need it, since proofs are verified; it tells a bad input (or a fault in cuzk) from a bad
 * machine when a proof does not verify. Errors: UNSATISFIED, with the row's path in the circuit.
 */
CUZK_API cuzk_status cuzk_witness_check(cuzk_context *ctx, const cuzk_circuit *circuit,
                                        const cuzk_sector *sector, unsigned partition,
                                        struct cuzk_error *err);

/* Seconds that each stage took; what finish does is zero before cuzk_prove_finish. */
struct cuzk_timings {
    double witness;  /* values of all variables */
    double evaluate; /* a, b, c */
    double ntt;      /* transforms, h */
    double msm_h, msm_l, msm_a, msm_b_g1, msm_b_g2;
    double verify;
};
CUZK_API_VOID void cuzk_pending_get_timings(const cuzk_pending *pending, struct cuzk_timings *out);

/* ---- verifying ---- */

/* Verifies one partition's proof; the public inputs are computed from the sector, never from its
 * vanilla proofs. Errors: PROOF_ENCODING, PROOF_INVALID. */
CUZK_API cuzk_status cuzk_verify(const cuzk_vk *vk, const cuzk_sector *sector, unsigned partition,
                                 const uint8_t proof[CUZK_PROOF_BYTES], struct cuzk_error *err);

#ifdef __cplusplus
}
#endif
#endif
