/*
 * The byte format of rows, as the digest hashes them and files hold them (r1cs_digest.h): writing.
 */
#ifndef R1CS_ROW_BYTES_H
#define R1CS_ROW_BYTES_H

#include <stdint.h>
#include <string.h>

#include "cs.h"

enum { ROW_COUNT_BYTES = 4, ROW_TERM_BYTES = 37 };

/* Both write little-endian integers by memcpy: the project is x86-64 only. */
static inline uint8_t *row_put_count(uint8_t *at, uint32_t n) {
    memcpy(at, &n, sizeof n);
    return at + ROW_COUNT_BYTES;
}

/* `coefficient`: 32 bytes canonical. */
static inline uint8_t *row_put_term(uint8_t *at, var v, const uint8_t *coefficient) {
    const uint32_t index = var_index(v);
    at[0] = var_kind_of(v) == VAR_INPUT ? 0 : 1;
    memcpy(at + 1, &index, sizeof index);
    memcpy(at + 5, coefficient, 32);
    return at + ROW_TERM_BYTES;
}

#endif
