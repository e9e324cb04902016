/*
 * A growable array of bytes in a block of class MEM_MATRICES. Zero-initialise. Also used for arrays
 * of plain structs, by byte size, and for scratch.
 */
#ifndef R1CS_BYTE_BUF_H
#define R1CS_BYTE_BUF_H

#include <stdbool.h>
#include <stdint.h>

#include "mem.h"

struct byte_buf {
    uint8_t *data; /* block.ptr */
    size_t n;      /* bytes in use; there is room for block.bytes */
    struct mem_block block;
};

/* n_bytes zeroed bytes, all of them in use; what *b held is forgotten. Errors: NO_MEMORY, and *b is
 * empty. */
CUZK_NODISCARD cuzk_status byte_buf_take(struct byte_buf *b, size_t n_bytes,
                                         struct cuzk_error *err);
/* Room for `more` bytes after the first n; false: no memory, nothing changed. */
bool byte_buf_reserve(struct byte_buf *b, size_t more);
/* Appends; false: no memory. */
bool byte_buf_put(struct byte_buf *b, const void *data, size_t n_bytes);
/* Gives back what is not used, where that is cheap. */
void byte_buf_trim(struct byte_buf *b);
void byte_buf_free(struct byte_buf *b);

/* LEB128: seven bits a byte, least significant first. */
bool byte_buf_put_varint(struct byte_buf *b, uint64_t v);

static inline uint64_t varint_get(const uint8_t **p) {
    uint64_t v = *(*p)++;
    if (v < 0x80) return v;
    v &= 0x7f;
    for (unsigned shift = 7;; shift += 7) {
        const uint64_t byte = *(*p)++;
        v |= (byte & 0x7f) << shift;
        if (byte < 0x80) return v;
    }
}

#endif
