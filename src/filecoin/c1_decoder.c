#include "c1_decoder.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

struct text {
    char *at;
    size_t left;
};

static void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void text_add(struct text *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(t->at, t->left, fmt, args);
    va_end(args);
    const size_t used = n < 0 ? 0 : (size_t)n < t->left ? (size_t)n : t->left - 1;
    t->at += used;
    t->left -= used;
}

static void add_key(struct text *t, bool first, const char *key) {
    text_add(t, first ? "%s" : ".%s", key);
}

/* The JSON path of the current place: `Phase1Out.vanilla_proofs.StackedDrg2KiBV1[0][1]`. */
static void current_path(const struct c1_decoder *d, char *out, size_t out_bytes) {
    struct text t = {.at = out, .left = out_bytes};
    out[0] = '\0';
    for (unsigned i = 0; i < d->n_frames; i++) {
        const struct c1_frame *f = &d->frames[i];
        const struct c1_type_info *type = &c1_types[f->type];
        const bool last = i + 1 == d->n_frames;
        if (type->kind == KIND_ARRAY || type->kind == KIND_HASH) {
            if (f->count > 0) text_add(&t, "[%" PRIu32 "]", f->count - 1);
        } else if (last && d->unknown) {
            add_key(&t, i == 0, d->skip_name);
        } else if (type->kind == KIND_VARIANTS) {
            if (d->variant != NULL) add_key(&t, i == 0, d->variant->variant);
        } else if (f->seen != 0) {
            add_key(&t, i == 0, type->fields[f->field].name);
        }
    }
}

struct c1_offset c1_here(const struct c1_decoder *d) {
    if (d->stream == &d->outer) return (struct c1_offset){.file = d->at};
    return (struct c1_offset){.file = d->file_anchor + d->at / 3 * 4, .text = d->at};
}

cuzk_status c1_fail(struct c1_decoder *d, cuzk_status code, const char *suffix, const char *fmt,
                    ...) {
    char what[300], where[320];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    current_path(d, where, sizeof where);
    if (suffix != NULL) {
        const size_t n = strlen(where);
        snprintf(where + n, sizeof where - n, n > 0 ? ".%s" : "%s", suffix);
    }
    const struct c1_offset here = c1_here(d);
    c1_offset_append(what, sizeof what, &here, d->stream == &d->inner);
    return error_set(d->err, code, where[0] != '\0' ? where : "C1", c1_hint(code), "%s", what);
}

/* A fault that a JSON stream found itself. */
static cuzk_status stream_fault(struct c1_decoder *d, const struct json_stream *s,
                                cuzk_status code) {
    d->at = s->fault_offset;
    return c1_fail(d, code, NULL, "%s", s->fault);
}

/* ---- frames ---- */

/* The type of the value that comes now; an array's next element is counted. */
static cuzk_status next_type(struct c1_decoder *d, uint8_t *type) {
    *type = T_FILE;
    if (d->n_frames == 0) return CUZK_OK;
    if (d->stream == &d->inner && d->n_frames == 1) {
        *type = T_OUTPUT;
        return CUZK_OK;
    }
    struct c1_frame *f = c1_top(d);
    const struct c1_type_info *info = &c1_types[f->type];
    switch (info->kind) {
    case KIND_ARRAY: {
        uint32_t least, most;
        c1_array_bounds(d, &least, &most);
        if (f->count == most)
            return c1_fail(d, CUZK_FIELD_COUNT, NULL, "more elements are given than %" PRIu32,
                           most);
        f->count++;
        *type = info->element;
        return CUZK_OK;
    }
    case KIND_HASH:
        if (f->count == 32)
            return c1_fail(d, CUZK_HASH_LENGTH, NULL, "more than 32 bytes are given");
        f->count++;
        *type = info->element;
        return CUZK_OK;
    case KIND_VARIANTS:
        *type = T_PARTITIONS;
        return CUZK_OK;
    default:
        *type = info->fields[f->field].type;
        return CUZK_OK;
    }
}

static const char *kind_text(enum c1_kind kind) {
    switch (kind) {
    case KIND_OBJECT:
    case KIND_VARIANTS:
        return "an object";
    case KIND_ARRAY:
        return "an array";
    case KIND_HASH:
        return "an array of 32 bytes";
    case KIND_U64:
        return "an integer";
    case KIND_NULL:
        return "null";
    default:
        return "a string";
    }
}

static cuzk_status wrong_type(struct c1_decoder *d, uint8_t type) {
    return c1_fail(d, CUZK_FIELD_TYPE, NULL, "%s was expected", kind_text(c1_types[type].kind));
}

static cuzk_status begin_container(struct c1_decoder *d, bool object) {
    if (d->unknown) {
        d->skip++;
        return CUZK_OK;
    }
    uint8_t type;
    CUZK_TRY(next_type(d, &type));
    const enum c1_kind kind = c1_types[type].kind;
    const bool fits = object ? kind == KIND_OBJECT || kind == KIND_VARIANTS
                             : kind == KIND_ARRAY || kind == KIND_HASH;
    if (!fits) return wrong_type(d, type);
    assert(d->n_frames < C1_MAX_FRAMES);
    d->frames[d->n_frames++] = (struct c1_frame){.type = type};
    return c1_entered(d);
}

static cuzk_status missing_fields(struct c1_decoder *d) {
    struct c1_frame *f = c1_top(d);
    const struct c1_type_info *info = &c1_types[f->type];
    const uint32_t of_output = ((uint32_t)1 << F_OUTPUT_FIELDS) - 1;
    unsigned first = 0, end = info->n_fields;
    if (f->type == T_FILE) { /* either the output's fields or the wrapper's */
        const bool bare = (f->seen & of_output) != 0;
        first = bare ? 0 : F_OUTPUT_FIELDS;
        end = bare ? F_OUTPUT_FIELDS : end;
    }
    for (unsigned i = first; i < end; i++)
        if (!info->fields[i].optional && (f->seen >> i & 1) == 0) {
            f->seen = 0; /* the path is to name the missing field alone */
            return c1_fail(d, CUZK_FIELD_MISSING, info->fields[i].name, "the field is missing");
        }
    return CUZK_OK;
}

static cuzk_status end_object(struct c1_decoder *d) {
    CUZK_TRY(missing_fields(d));
    CUZK_TRY(c1_leaving(d));
    d->n_frames--;
    return CUZK_OK;
}

static cuzk_status end_array(struct c1_decoder *d) {
    struct c1_frame *f = c1_top(d);
    const uint32_t count = f->count;
    if (f->type == T_HASH) {
        d->n_frames--;
        if (count != 32)
            return c1_fail(d, CUZK_HASH_LENGTH, NULL, "%" PRIu32 " bytes are given, not 32", count);
        return c1_store_hash(d);
    }
    uint32_t least, most;
    c1_array_bounds(d, &least, &most);
    if (count < least) {
        f->count = 0; /* the path is to name the array, not its last element */
        return c1_fail(d, CUZK_FIELD_COUNT, NULL, "%" PRIu32 " of %" PRIu32 " elements are given",
                       count, least);
    }
    CUZK_TRY(c1_leaving(d));
    d->n_frames--;
    return CUZK_OK;
}

static cuzk_status end_container(struct c1_decoder *d, bool object) {
    if (d->skip > 0) {
        if (--d->skip == 0) d->unknown = false;
        return CUZK_OK;
    }
    return object ? end_object(d) : end_array(d);
}

/* ---- keys ---- */

static void start_unknown(struct c1_decoder *d, const struct json_token *key) {
    size_t n = 0;
    for (; n < key->n && n < C1_SKIP_NAME_MAX; n++) {
        const unsigned char c = (unsigned char)key->text[n];
        d->skip_name[n] = c > 0x20 && c < 0x7f ? (char)c : '?';
    }
    d->skip_name[n] = '\0';
    d->unknown = true;
}

static cuzk_status variant_key(struct c1_decoder *d, const struct json_token *key) {
    static const char stem[] = "StackedDrg";
    const struct registered_seal *found = NULL;
    for (size_t i = 0; registered_seal_at(i) != NULL && found == NULL; i++) {
        const char *name = registered_seal_at(i)->variant;
        if (strlen(name) == key->n && memcmp(name, key->text, key->n) == 0)
            found = registered_seal_at(i);
    }
    if (found == NULL) {
        start_unknown(d, key);
        if (key->n >= strlen(stem) && memcmp(key->text, stem, strlen(stem)) == 0)
            return c1_fail(d, CUZK_REGISTERED_PROOF, NULL, "no sector has proofs of this name");
        return CUZK_OK;
    }
    if (d->variant != NULL)
        return c1_fail(d, CUZK_FIELD_DUPLICATE, NULL, "%s follows it; only one may be there",
                       found->variant);
    d->variant = found;
    c1_top(d)->seen = 1;
    CUZK_TRY(c1_reserve(d->c1, found, d->err));
    return c1_check_agreement(d);
}

static cuzk_status on_key(struct c1_decoder *d, const struct json_token *key) {
    if (d->skip > 0) return CUZK_OK;
    struct c1_frame *f = c1_top(d);
    const struct c1_type_info *info = &c1_types[f->type];
    if (info->kind == KIND_VARIANTS) return variant_key(d, key);
    const int field = key->cut ? -1 : c1_field_find(info, key->text, key->n);
    if (field < 0) {
        start_unknown(d, key);
        return CUZK_OK;
    }
    const bool again = (f->seen >> field & 1) != 0;
    f->field = (uint8_t)field;
    f->seen = (uint16_t)(f->seen | 1u << field);
    if (again) return c1_fail(d, CUZK_FIELD_DUPLICATE, NULL, "the field occurs twice");
    const bool both =
        (f->seen & ((1u << F_OUTPUT_FIELDS) - 1)) != 0 && (f->seen >> F_PHASE1_OUT & 1) != 0;
    if (f->type == T_FILE && both)
        return c1_fail(d, CUZK_FIELD_DUPLICATE, NULL,
                       "the file is both a wrapper with Phase1Out and its content");
    return CUZK_OK;
}

/* ---- strings ---- */

static cuzk_status check_inner(struct c1_decoder *d, cuzk_status status) {
    const bool own =
        status == CUZK_JSON_SYNTAX || status == CUZK_JSON_TRUNCATED || status == CUZK_JSON_DEPTH;
    if (own && d->inner.fault != NULL) return stream_fault(d, &d->inner, status);
    return status;
}

static void add_name(struct c1_decoder *d, const struct json_token *part) {
    const size_t room = (size_t)C1_NAME_MAX - d->name_bytes;
    const size_t kept = part->n < room ? part->n : room;
    if (part->n > room) d->name_long = true;
    memcpy(d->name + d->name_bytes, part->text, kept);
    d->name_bytes = (uint8_t)(d->name_bytes + kept);
}

static cuzk_status end_name(struct c1_decoder *d) {
    const struct registered_seal *seal =
        d->name_long ? NULL : registered_seal_by_name(d->name, d->name_bytes);
    if (seal == NULL) {
        for (unsigned i = 0; i < d->name_bytes; i++)
            if ((unsigned char)d->name[i] <= 0x20 || (unsigned char)d->name[i] >= 0x7f)
                d->name[i] = '?';
        return c1_fail(d, CUZK_REGISTERED_PROOF, NULL, "'%.*s' is not known", (int)d->name_bytes,
                       d->name);
    }
    d->c1->seal = seal;
    return c1_check_agreement(d);
}

static cuzk_status end_base64(struct c1_decoder *d) {
    if (!base64_finish(&d->base64)) {
        d->at = d->file_anchor + d->base64_chars; /* the string's end, not its beginning */
        return c1_fail(d, CUZK_BASE64, NULL, "%s", d->base64.fault);
    }
    d->stream = &d->inner;
    d->at = d->inner.consumed;
    CUZK_TRY(check_inner(d, json_finish(&d->inner)));
    d->stream = &d->outer;
    d->inner_open = false;
    return CUZK_OK;
}

static cuzk_status on_event(void *ctx, enum json_event event, const struct json_token *token);

static void open_inner(struct c1_decoder *d, uint64_t offset) {
    json_init(&d->inner, d->max_depth, on_event, d);
    base64_init(&d->base64);
    d->inner_open = true;
    d->c1->wrapped = true;
    d->file_anchor = offset;
    d->base64_chars = 0;
}

/* Decodes a part of Phase1Out, and hands it on, in pieces that fit the stack. */
static cuzk_status feed_inner(struct c1_decoder *d, const struct json_token *part) {
    enum { PIECE = 8 << 10 };
    uint8_t decoded[(PIECE + 3) / 4 * 3];
    for (size_t i = 0; i < part->n;) {
        const size_t n = part->n - i < PIECE ? part->n - i : PIECE;
        size_t n_decoded;
        /* escapes in the string make it longer than its characters: start afresh at each part */
        d->file_anchor = part->offset + i - d->base64_chars;
        const size_t good = base64_feed(&d->base64, part->text + i, n, decoded, &n_decoded);
        if (good < n) {
            d->at = part->offset + i + good;
            return c1_fail(d, CUZK_BASE64, NULL, "%s", d->base64.fault);
        }
        d->stream = &d->inner;
        CUZK_TRY(check_inner(d, json_feed(&d->inner, decoded, n_decoded)));
        d->stream = &d->outer;
        d->base64_chars += n;
        i += n;
    }
    return CUZK_OK;
}

/* A part of a string (token set), or its end (token NULL). */
static cuzk_status on_string(struct c1_decoder *d, const struct json_token *part) {
    uint8_t type;
    if (d->inner_open && d->stream == &d->outer) {
        /* whatever the inner text is at, an unknown field perhaps, this is more of it */
        type = T_BASE64;
    } else if (d->unknown) {
        if (part == NULL && d->skip == 0) d->unknown = false;
        return CUZK_OK;
    } else {
        CUZK_TRY(next_type(d, &type));
    }
    switch (c1_types[type].kind) {
    case KIND_BASE64:
        if (!d->inner_open) open_inner(d, part != NULL ? part->offset : d->at + 1);
        return part != NULL ? feed_inner(d, part) : end_base64(d);
    case KIND_NAME:
        if (part == NULL) return end_name(d);
        add_name(d, part);
        return CUZK_OK;
    default:
        return wrong_type(d, type);
    }
}

/* ---- events ---- */

static cuzk_status on_number(struct c1_decoder *d, const struct json_token *token) {
    if (d->unknown) {
        if (d->skip == 0) d->unknown = false;
        return CUZK_OK;
    }
    uint8_t type;
    CUZK_TRY(next_type(d, &type));
    if (c1_types[type].kind != KIND_U64) return wrong_type(d, type);
    struct c1_frame *f = c1_top(d);
    if (f->type != T_HASH) {
        if (!token->is_u64)
            return c1_fail(d, CUZK_FIELD_RANGE, NULL, "this is no integer from 0 to 2^64 - 1");
        return c1_store_number(d, token->value);
    }
    if (!token->is_u64 || token->value > 255)
        return c1_fail(d, CUZK_FIELD_RANGE, NULL, "this is no integer from 0 to 255");
    d->hash[f->count - 1] = (uint8_t)token->value;
    return CUZK_OK;
}

static cuzk_status on_other(struct c1_decoder *d, const struct json_token *token) {
    if (d->unknown) {
        if (d->skip == 0) d->unknown = false;
        return CUZK_OK;
    }
    uint8_t type;
    CUZK_TRY(next_type(d, &type));
    if (c1_types[type].kind != KIND_NULL || !token->is_null) return wrong_type(d, type);
    return CUZK_OK;
}

static cuzk_status on_event(void *ctx, enum json_event event, const struct json_token *token) {
    struct c1_decoder *d = ctx;
    d->at = token->offset;
    switch (event) {
    case JSON_NUMBER:
        return on_number(d, token);
    case JSON_OBJECT_BEGIN:
        return begin_container(d, true);
    case JSON_ARRAY_BEGIN:
        return begin_container(d, false);
    case JSON_OBJECT_END:
        return end_container(d, true);
    case JSON_ARRAY_END:
        return end_container(d, false);
    case JSON_KEY:
        return on_key(d, token);
    case JSON_STRING_PART:
        return on_string(d, token);
    case JSON_STRING_END:
        return on_string(d, NULL);
    default:
        return on_other(d, token);
    }
}

/* ---- life ---- */

cuzk_status c1_decoder_create(struct c1_decoder **out, const struct c1_limits *limits,
                              struct cuzk_error *err) {
    if (limits == NULL) limits = &c1_default_limits;
    struct c1_decoder *d = malloc(sizeof *d);
    struct c1 *c1 = calloc(1, sizeof *c1);
    if (d == NULL || c1 == NULL) {
        free(d);
        free(c1);
        return error_set(err, CUZK_NO_MEMORY, "C1", NULL, "no memory for the decoder");
    }
    memset(d, 0, offsetof(struct c1_decoder, labels)); /* labels: written before they are read */
    d->c1 = c1;
    d->err = err;
    d->max_bytes = limits->max_bytes;
    d->max_depth = limits->max_depth;
    d->stream = &d->outer;
    json_init(&d->outer, limits->max_depth, on_event, d);
    *out = d;
    return CUZK_OK;
}

void c1_decoder_destroy(struct c1_decoder *d) {
    if (d == NULL) return;
    c1_destroy(d->c1);
    free(d);
}

static cuzk_status check_outer(struct c1_decoder *d, cuzk_status status) {
    const bool own =
        status == CUZK_JSON_SYNTAX || status == CUZK_JSON_TRUNCATED || status == CUZK_JSON_DEPTH;
    if (own && d->outer.fault != NULL) return stream_fault(d, &d->outer, status);
    return status;
}

cuzk_status c1_decoder_feed(struct c1_decoder *d, const void *text, size_t n) {
    if (n > d->max_bytes - d->bytes) {
        d->at = d->max_bytes;
        return c1_fail(d, CUZK_INPUT_SIZE, NULL, "the text is longer than %" PRIu64 " bytes",
                       d->max_bytes);
    }
    d->bytes += n;
    return check_outer(d, json_feed(&d->outer, text, n));
}

cuzk_status c1_decoder_finish(struct c1_decoder *d, struct c1 **out) {
    cuzk_status status = check_outer(d, json_finish(&d->outer));
    if (status == CUZK_OK && !d->complete) /* no text may get here without all its partitions */
        status = c1_fail(d, CUZK_INTERNAL, NULL, "the decoder lost its place");
    if (status == CUZK_OK) {
        *out = d->c1;
        d->c1 = NULL;
    }
    c1_decoder_destroy(d);
    return status;
}
