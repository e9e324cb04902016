/*
 * Development parameters: a set-up for one circuit whose secrets are drawn here, not in a ceremony.
 *
 * Whoever knows the secrets (everybody, when a seed is given) can prove anything under these
 * parameters. They are for tests and development: files are named `….dev.params` and `….dev.vk`,
 * never as the network's.
 */
#ifndef GROTH16_SETUP_H
#define GROTH16_SETUP_H

#include <stdbool.h>

#include "pool.h"
#include "progress.h"
#include "r1cs.h"

struct setup_options {
    bool seeded; /* the same seed and circuit give the same files */
    uint64_t seed;
    struct pool *pool;
    const struct progress *progress;
};

/*
 * Makes both files and, beside the parameters, their stamp. Each file appears under its name only
 * when it is complete. Memory: setup_bytes(), taken at the beginning of the phases that need it.
 * Errors: FILE_WRITE, USAGE (a name of the network's), NO_MEMORY, CANCELLED, RANDOMNESS,
 * INTERNAL (a variable that no row constrains).
 */
CUZK_NODISCARD cuzk_status setup_write(const char *params_path, const char *vk_path,
                                       struct r1cs *r1cs, const struct setup_options *options,
                                       struct cuzk_error *err);

/* Peak of what setup_write takes, all classes together. */
size_t setup_bytes(const struct r1cs_stats *stats, unsigned threads);

#endif
