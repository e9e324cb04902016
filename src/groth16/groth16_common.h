/* Small things that several files of this room need. */
#ifndef GROTH16_COMMON_H
#define GROTH16_COMMON_H

#include <sodium.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

static inline size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* n rounded up to where the next part of a block may begin. */
static inline size_t align64(size_t n) {
    return (n + 63) / 64 * 64;
}

static inline bool all_zero(const uint8_t *data, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (data[i] != 0) return false;
    return true;
}

/*
 * Before anything of libsodium's is used: without it the plain code is taken where there are vector
 * instructions, and its first random bytes must not be drawn by two threads at once. May be called
 * again and from any thread. Errors: RANDOMNESS.
 */
CUZK_NODISCARD static inline cuzk_status sodium_ready(struct cuzk_error *err) {
    if (sodium_init() >= 0) return CUZK_OK;
    return error_set(err, CUZK_RANDOMNESS, "libsodium",
                     "check the kernel and the container's limits", "it could not be initialised");
}

#endif
