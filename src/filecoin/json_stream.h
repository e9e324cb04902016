/*
 * A JSON reader that is fed piece by piece and keeps none of the text.
 *
 * RFC 8259, strict: one value, no comments, no trailing commas, UTF-8 checked, escapes undone. Each
 * piece of structure is an event; strings come in parts, as long as the piece of text allows, so
 * that a value of any length passes in constant memory. Keys come whole, cut at JSON_KEY_MAX bytes.
 *
 * Threads: a stream belongs to one thread.
 */
#ifndef FILECOIN_JSON_STREAM_H
#define FILECOIN_JSON_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

enum { JSON_KEY_MAX = 63, JSON_MAX_DEPTH = 128 };

enum json_event {
    JSON_OBJECT_BEGIN,
    JSON_OBJECT_END,
    JSON_ARRAY_BEGIN,
    JSON_ARRAY_END,
    JSON_KEY,         /* text: the whole key, or its first JSON_KEY_MAX bytes with `cut` */
    JSON_STRING_PART, /* text: a non-empty part of a string value */
    JSON_STRING_END,
    JSON_NUMBER, /* value, is_u64 */
    JSON_OTHER,  /* true, false: is_null unset; null: is_null set */
};

struct json_token {
    const char *text; /* not terminated; valid during the event */
    size_t n;
    bool cut;
    bool is_u64; /* written as a plain integer in [0, 2^64) */
    bool is_null;
    uint64_t value;
    uint64_t offset; /* in the stream, of the token's (or the part's) first byte */
};

/* A status other than CUZK_OK ends the reading; json_feed() returns it. */
typedef cuzk_status (*json_fn)(void *ctx, enum json_event event, const struct json_token *token);

struct json_stream {
    json_fn fn;
    void *ctx;
    unsigned depth, max_depth;
    uint64_t is_object[JSON_MAX_DEPTH / 64]; /* one bit a level */
    uint64_t consumed;                       /* bytes of earlier pieces */
    uint64_t token_offset;
    const char *fault; /* after JSON_SYNTAX, JSON_TRUNCATED, JSON_DEPTH: a sentence */
    uint64_t fault_offset;
    uint8_t state;
    uint8_t literal, literal_at; /* which of true, false, null, and how much of it is read */
    bool in_key;
    uint8_t utf8_left, utf8_low, utf8_high; /* continuation bytes to come, bounds of the next */
    uint8_t hex_left;
    uint32_t code_unit, high_surrogate;
    uint64_t number;
    bool number_plain;
    bool key_cut;
    uint8_t key_bytes;
    char key[JSON_KEY_MAX + 1];
};

/* max_depth is capped at JSON_MAX_DEPTH. */
void json_init(struct json_stream *s, unsigned max_depth, json_fn fn, void *ctx);

/* Errors: what fn returns; JSON_SYNTAX, JSON_DEPTH with s->fault. The stream is then dead. */
CUZK_NODISCARD cuzk_status json_feed(struct json_stream *s, const void *text, size_t n);

/* The text ends here. Errors: JSON_TRUNCATED unless exactly one value has been read. */
CUZK_NODISCARD cuzk_status json_finish(struct json_stream *s);

#endif
