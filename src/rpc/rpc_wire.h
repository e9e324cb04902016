/*
 * A look at a message's fields before protobuf-c unpacks it.
 *
 * protobuf-c copies every field, takes the last of two, cuts numbers to the width of their field
 * and stops texts at a zero byte. Here each known field is checked, the large ones stay where they
 * are, and what is left, a few KiB, is laid out for protobuf-c.
 *
 * Threads: pure.
 */
#ifndef RPC_RPC_WIRE_H
#define RPC_RPC_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

/* The most that a message's small fields may take together. */
enum { WIRE_SMALL_BYTES = 64 << 10, WIRE_MAX_RULES = 20, WIRE_MOST_TEXT = 1024 };

enum wire_kind {
    WIRE_NUMBER, /* at most `most` */
    WIRE_TEXT,   /* UTF-8 without zero bytes, at most `most` (<= WIRE_MOST_TEXT) bytes */
    WIRE_HASH,   /* absent, or of 32 bytes */
    WIRE_CUT,    /* left where it is; once */
    WIRE_CUTS,   /* left where they are; the first is kept, all are counted */
};

struct wire_rule {
    uint32_t number;
    enum wire_kind kind;
    uint64_t most;
    const char *name;
};

/* A field that stayed where it was. */
struct wire_cut {
    const uint8_t *bytes; /* NULL: it is not there */
    size_t n, count;
};

/*
 * Reads a message of `n` bytes by its rules (at most WIRE_MAX_RULES); fields that no rule names are
 * skipped. cuts[i] is filled for rule i where its kind is WIRE_CUT or WIRE_CUTS. The other known
 * fields are copied to `small`, which has room for WIRE_SMALL_BYTES; *small_bytes is their length.
 * Errors: MESSAGE_FORM, FIELD_DUPLICATE, FIELD_TYPE, FIELD_RANGE, HASH_LENGTH.
 */
CUZK_NODISCARD cuzk_status wire_read(const uint8_t *bytes, size_t n, const struct wire_rule *rules,
                                     size_t n_rules, struct wire_cut *cuts, uint8_t *small,
                                     size_t *small_bytes, struct cuzk_error *err);

#endif
