/*
 * Base64 (RFC 4648, the standard alphabet, padded, no white space) decoded piece by piece.
 *
 * Strict: padding must be there and only at the end, and the bits that it leaves over must be zero,
 * so that every byte string has exactly one text.
 */
#ifndef FILECOIN_BASE64_STREAM_H
#define FILECOIN_BASE64_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct base64_stream {
    uint32_t bits;
    unsigned n_chars;   /* of the current group of four */
    unsigned n_padding; /* '=' seen */
    const char *fault;  /* a sentence, after a failure */
};

void base64_init(struct base64_stream *b);

/* Decodes text[0 .. n) into out, which has room for base64_bound(n) bytes. Returns how many
 * characters were good: n, or the index of the first bad one, with b->fault set. */
size_t base64_feed(struct base64_stream *b, const char *text, size_t n, uint8_t *out,
                   size_t *n_out);
static inline size_t base64_bound(size_t n) {
    return (n + 3) / 4 * 3;
}

/* Did the text end where it may? Sets b->fault otherwise. */
bool base64_finish(struct base64_stream *b);

#endif
