/*
 * The state folder: jobs that were acknowledged survive the process.
 *
 * One SQLite database (WAL, synchronous=FULL) and, for each job, a file with its payload. What is
 * recorded: the job when it is accepted (before SubmitProof is answered), each partition's proof
 * when it has been verified, the outcome, and the removal when it is no longer kept. A kill at any
 * point leaves the last recorded state; a payload file without its row, or a half-written one, is
 * removed at the next opening.
 *
 *     DIR/journal.sqlite3   DIR/payload/JOBID   DIR/lock (flock: one daemon a folder)
 *
 * Every function returns after its record is on the disk. Errors: STATE, with SQLite's or the
 * system's reason (full disk, permissions, damage, another daemon in it); nothing is then recorded,
 * and the journal stays usable. JOB_UNKNOWN: no job of this id, or of a partition, none that is
 * open.
 *
 * A job id has letters, digits, `-` and `_` only, as it names a file; anything else is INTERNAL.
 *
 * Threads: any; calls are serialized inside. journal_replay calls its function without the lock.
 */
#ifndef ENGINE_JOURNAL_H
#define ENGINE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum { JOURNAL_ID_BYTES = 40, JOURNAL_DIGEST_BYTES = 32, JOURNAL_PROOF_BYTES = 192 };

enum journal_state { JOURNAL_OPEN, JOURNAL_COMPLETED, JOURNAL_FAILED, JOURNAL_CANCELLED };

struct journal_job {
    char job_id[JOURNAL_ID_BYTES];
    const char *request_id;
    uint8_t payload_digest[JOURNAL_DIGEST_BYTES];
    uint32_t proof_kind, priority;
    uint64_t miner_id, sector_number;
    bool has_miner; /* 0 in the request may be "not given" */
    uint32_t n_partitions;
    int64_t submitted_unix_ms; /* for people; nothing is computed from it */
};

struct journal;

/* Makes the folder (mode 0700) if it is not there. */
CUZK_NODISCARD cuzk_status journal_open(struct journal **out, const char *dir,
                                        struct cuzk_error *err);
void journal_close(struct journal *j); /* accepts NULL */

CUZK_NODISCARD cuzk_status journal_accept(struct journal *j, const struct journal_job *job,
                                          const void *payload, size_t payload_bytes,
                                          struct cuzk_error *err);
CUZK_NODISCARD cuzk_status journal_partition(struct journal *j, const char *job_id,
                                             unsigned partition,
                                             const uint8_t proof[JOURNAL_PROOF_BYTES],
                                             struct cuzk_error *err);
/* The payload is removed; `message` (may be NULL) is kept for FAILED. */
CUZK_NODISCARD cuzk_status journal_outcome(struct journal *j, const char *job_id,
                                           enum journal_state state, const char *message,
                                           struct cuzk_error *err);
CUZK_NODISCARD cuzk_status journal_forget(struct journal *j, const char *job_id,
                                          struct cuzk_error *err);

/* One job as it was found. Everything is valid during the call only. */
struct journal_entry {
    struct journal_job job;
    enum journal_state state;
    const char *message;
    const bool *done;         /* [n_partitions] */
    const uint8_t *proofs;    /* [n_partitions][JOURNAL_PROOF_BYTES]; zero where not done */
    const char *payload_path; /* NULL once it has an outcome */
};
/* Calls `fn` for every job, in the order of acceptance; ends early when fn fails. */
CUZK_NODISCARD cuzk_status journal_replay(struct journal *j,
                                          cuzk_status (*fn)(void *ctx,
                                                            const struct journal_entry *e,
                                                            struct cuzk_error *err),
                                          void *ctx, struct cuzk_error *err);

#endif
