/*
 * Text that came from outside, made fit for JSON and for Prometheus: both must be UTF-8.
 *
 * Threads: pure.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

/* Bytes of the well-formed UTF-8 character at `s` (1 to 4), or 0: there is none. `s` ends with NUL;
 * the NUL itself counts as 1. */
size_t utf8_character_bytes(const char *s);

/* Copies `in` with a '?' for each byte that is not part of a character; cut at a character's end.
 * Returns the length written. */
size_t utf8_clean(char *out, size_t out_bytes, const char *in);

#endif
