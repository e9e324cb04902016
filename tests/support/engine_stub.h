/*
 * A test double of the engine: it defines the functions of engine.h that a server calls, so that a
 * test which links it before the engine's library has it instead of the real one. It proves
 * nothing: a job ends after a set time with an outcome that the test chose, and what was asked is
 * recorded.
 *
 * Threads: any. The settings may be changed while it runs, through the functions.
 */
#ifndef SUPPORT_ENGINE_STUB_H
#define SUPPORT_ENGINE_STUB_H

#include "engine.h"

enum { STUB_PROOF_BYTES = 1920 };

struct engine_stub_settings {
    unsigned submit_ms;          /* how long engine_submit blocks */
    cuzk_status submit_error;    /* what it returns; CUZK_OK: a job */
    unsigned job_ms;             /* from submit to the job's end */
    enum engine_outcome outcome; /* normally ENGINE_COMPLETED */
    cuzk_status job_error;       /* of FAILED and CANCELLED */
    unsigned preload_ms;
    uint64_t room_bytes; /* for messages; 0: without limit */
};

/* What it was asked to do so far. */
struct engine_stub_record {
    unsigned submits, cancels, preloads, evicts, watches, unwatches, timeouts;
    unsigned watching;                      /* now */
    uint64_t input_bytes, most_input_bytes; /* reserved now, and at most */
    unsigned inputs;                        /* reservations so far */
    unsigned waiting_for_room;              /* now */
    uint64_t last_shrink_bytes;
    struct engine_request last; /* without its pointers */
    char last_request_id[64];
    uint64_t last_payload_sum; /* of its bytes */
    char last_cancelled[ENGINE_JOB_ID_BYTES];
};

struct engine *engine_stub_create(void);
void engine_stub_destroy(struct engine *e);
void engine_stub_set(struct engine *e, const struct engine_stub_settings *settings);
struct engine_stub_record engine_stub_read(struct engine *e);
/* Byte i of job n's proof (jobs count from 1). */
uint8_t engine_stub_proof_byte(unsigned job, size_t i);

#endif
