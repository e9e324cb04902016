#include "rpc_wire.h"

#include <inttypes.h>
#include <string.h>

#include "utf8.h"

enum { TYPE_VARINT = 0, TYPE_64 = 1, TYPE_BYTES = 2, TYPE_32 = 5 };

struct reader {
    const uint8_t *start, *at, *end;
};

/* One field as it lies in the message. */
struct field {
    uint32_t number;
    unsigned type;
    const uint8_t *whole;   /* from its tag on */
    const uint8_t *content; /* TYPE_BYTES */
    uint64_t value;         /* TYPE_VARINT; TYPE_BYTES: the length */
};

static cuzk_status damaged(const struct reader *r, struct cuzk_error *err, const char *what) {
    return error_set(err, CUZK_MESSAGE_FORM, NULL, "send a message of cuzk.proto",
                     "the message %s (offset %zu)", what, (size_t)(r->at - r->start));
}

static bool read_varint(struct reader *r, uint64_t *out) {
    *out = 0;
    for (unsigned shift = 0; shift < 70 && r->at < r->end; shift += 7) {
        const uint8_t b = *r->at++;
        if (shift == 63 && b > 1) return false;
        *out |= (uint64_t)(b & 127) << shift;
        if (b < 128) return true;
    }
    return false;
}

static cuzk_status read_field(struct reader *r, struct field *out, struct cuzk_error *err) {
    uint64_t tag;
    *out = (struct field){.whole = r->at};
    if (!read_varint(r, &tag) || tag > UINT32_MAX || tag >> 3 == 0)
        return damaged(r, err, "has a damaged tag");
    out->number = (uint32_t)(tag >> 3);
    out->type = (unsigned)(tag & 7);
    size_t skip = 0;
    switch (out->type) {
    case TYPE_VARINT:
        if (!read_varint(r, &out->value)) return damaged(r, err, "has a damaged number");
        break;
    case TYPE_BYTES:
        if (!read_varint(r, &out->value)) return damaged(r, err, "has a damaged length");
        if (out->value > (uint64_t)(r->end - r->at)) return damaged(r, err, "ends inside a field");
        out->content = r->at;
        skip = (size_t)out->value;
        break;
    case TYPE_64:
    case TYPE_32:
        skip = out->type == TYPE_64 ? 8 : 4;
        if (skip > (size_t)(r->end - r->at)) return damaged(r, err, "ends inside a field");
        break;
    default:
        return damaged(r, err, "has a field of an unknown type");
    }
    r->at += skip;
    return CUZK_OK;
}

/* `n` is at most WIRE_MOST_TEXT. */
static bool is_text(const uint8_t *bytes, size_t n) {
    char copy[WIRE_MOST_TEXT + 1];
    memcpy(copy, bytes, n);
    copy[n] = 0;
    for (size_t i = 0; i < n;) {
        const size_t character = copy[i] == 0 ? 0 : utf8_character_bytes(copy + i);
        if (character == 0) return false;
        i += character;
    }
    return true;
}

static cuzk_status check_field(const struct field *f, const struct wire_rule *rule,
                               struct cuzk_error *err) {
    const unsigned type = rule->kind == WIRE_NUMBER ? TYPE_VARINT : TYPE_BYTES;
    if (f->type != type)
        return error_set(err, CUZK_FIELD_TYPE, rule->name, "send a message of cuzk.proto",
                         "has wire type %u instead of %u", f->type, type);
    switch (rule->kind) {
    case WIRE_NUMBER:
        if (f->value > rule->most)
            return error_set(err, CUZK_FIELD_RANGE, rule->name, NULL,
                             "%" PRIu64 " is more than %" PRIu64, f->value, rule->most);
        break;
    case WIRE_TEXT:
        if (f->value > rule->most)
            return error_set(err, CUZK_FIELD_RANGE, rule->name, NULL,
                             "%" PRIu64 " bytes are more than %" PRIu64, f->value, rule->most);
        if (!is_text(f->content, (size_t)f->value))
            return error_set(err, CUZK_FIELD_TYPE, rule->name, NULL, "is not UTF-8 text");
        break;
    case WIRE_HASH:
        if (f->value != 0 && f->value != 32)
            return error_set(err, CUZK_HASH_LENGTH, rule->name, NULL,
                             "has %" PRIu64 " bytes instead of 32", f->value);
        break;
    default:
        break;
    }
    return CUZK_OK;
}

cuzk_status wire_read(const uint8_t *bytes, size_t n, const struct wire_rule *rules, size_t n_rules,
                      struct wire_cut *cuts, uint8_t *small, size_t *small_bytes,
                      struct cuzk_error *err) {
    struct reader r = {.start = bytes, .at = bytes, .end = bytes + n};
    bool seen[WIRE_MAX_RULES] = {false};
    *small_bytes = 0;
    if (n_rules > 0) memset(cuts, 0, n_rules * sizeof *cuts);
    while (r.at < r.end) {
        struct field f;
        CUZK_TRY(read_field(&r, &f, err));
        size_t i = 0;
        while (i < n_rules && rules[i].number != f.number)
            i++;
        if (i == n_rules) continue;
        CUZK_TRY(check_field(&f, &rules[i], err));
        if (seen[i] && rules[i].kind != WIRE_CUTS)
            return error_set(err, CUZK_FIELD_DUPLICATE, rules[i].name, NULL, "occurs twice");
        if (rules[i].kind == WIRE_CUT || rules[i].kind == WIRE_CUTS) {
            if (!seen[i]) cuts[i] = (struct wire_cut){.bytes = f.content, .n = (size_t)f.value};
            cuts[i].count++;
        } else {
            const size_t whole = (size_t)(r.at - f.whole);
            if (whole > WIRE_SMALL_BYTES - *small_bytes)
                return damaged(&r, err, "is too large beside its proofs");
            memcpy(small + *small_bytes, f.whole, whole);
            *small_bytes += whole;
        }
        seen[i] = true;
    }
    return CUZK_OK;
}
