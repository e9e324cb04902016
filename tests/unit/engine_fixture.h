/*
 * An engine for tests: fake devices, a folder of its own, and many different jobs out of one C1
 * file, because with decoding only (no_input_check) the ticket may be anything.
 */
#ifndef TESTS_ENGINE_FIXTURE_H
#define TESTS_ENGINE_FIXTURE_H

#include "c1.h"
#include "engine.h"

/* A folder with an (empty) parameter file of each small circuit; the fake device reads none. */
struct engine_folder {
    char dir[64], params[128], state[128];
    char proc[128]; /* says that the machine has 64 GiB, whatever it has */
};
void engine_folder_make(struct engine_folder *f);
void engine_folder_remove(struct engine_folder *f);

/* One fake device with one worker; everything may be changed before engine_create. */
struct engine_config engine_test_config(const struct engine_folder *f, const char *options);

/* The text of C1 number k; owned (free). `folder`: "2KiB" of the fixtures. */
struct engine_text {
    char *bytes;
    size_t n;
};
struct engine_text engine_text_make(unsigned k);

/* What a fake device must have made of C1 number k: a proof of some task number up to `tasks`. */
bool engine_proof_is_of(const uint8_t *proof, size_t n_bytes, unsigned k, uint64_t tasks);

/* Waits for a job's end. */
struct engine_end {
    enum engine_outcome outcome;
    cuzk_status code;
    char what[320], hint[320];
    uint8_t proof[PROOF_BYTES];
    size_t proof_bytes;
    uint64_t total_ms;
};
struct engine_end engine_await(struct engine *e, const char *job_id, uint64_t timeout_ns);

#define SECONDS ((uint64_t)1000000000u)

#endif
