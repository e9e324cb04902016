#include "json_stream.h"

#include <string.h>

enum state {
    ST_VALUE,        /* a value must come */
    ST_VALUE_OR_END, /* after '[' */
    ST_KEY_OR_END,   /* after '{' */
    ST_KEY,          /* after ',' in an object */
    ST_COLON,
    ST_AFTER,         /* after a value inside a container: ',' or its end */
    ST_STRING,        /* inside quotes, of a key or a value */
    ST_ESCAPE,        /* after a backslash */
    ST_HEX,           /* in the digits of \uXXXX */
    ST_LOW_BACKSLASH, /* a high surrogate must be followed by the low one */
    ST_LOW_U,
    ST_MINUS, /* the states of a number: after '-', '0', digits, '.', decimals, 'e', sign, digits */
    ST_ZERO,
    ST_INTEGER,
    ST_POINT,
    ST_FRACTION,
    ST_E,
    ST_E_SIGN,
    ST_EXPONENT,
    ST_LITERAL,
    ST_DONE,
};

static const char *const literals[] = {"true", "false", "null"};

void json_init(struct json_stream *s, unsigned max_depth, json_fn fn, void *ctx) {
    memset(s, 0, sizeof *s);
    s->fn = fn;
    s->ctx = ctx;
    s->max_depth = max_depth < JSON_MAX_DEPTH ? max_depth : JSON_MAX_DEPTH;
    s->state = ST_VALUE;
}

static cuzk_status fault(struct json_stream *s, cuzk_status code, uint64_t offset,
                         const char *text) {
    s->fault = text;
    s->fault_offset = offset;
    return code;
}

static cuzk_status syntax(struct json_stream *s, uint64_t offset, const char *text) {
    return fault(s, CUZK_JSON_SYNTAX, offset, text);
}

static bool is_space(unsigned char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool is_digit(unsigned char c) {
    return c >= '0' && c <= '9';
}

/* ---- structure ---- */

static bool in_object(const struct json_stream *s) {
    const unsigned top = s->depth - 1;
    return (s->is_object[top / 64] >> (top % 64) & 1) != 0;
}

static void value_done(struct json_stream *s) {
    s->state = s->depth == 0 ? ST_DONE : ST_AFTER;
}

static cuzk_status emit(struct json_stream *s, enum json_event event) {
    const struct json_token token = {.offset = s->token_offset};
    return s->fn(s->ctx, event, &token);
}

static cuzk_status open_container(struct json_stream *s, bool object) {
    if (s->depth >= s->max_depth)
        return fault(s, CUZK_JSON_DEPTH, s->token_offset, "the nesting is too deep");
    const uint64_t bit = (uint64_t)1 << s->depth % 64;
    if (object)
        s->is_object[s->depth / 64] |= bit;
    else
        s->is_object[s->depth / 64] &= ~bit;
    s->depth++;
    s->state = object ? ST_KEY_OR_END : ST_VALUE_OR_END;
    return emit(s, object ? JSON_OBJECT_BEGIN : JSON_ARRAY_BEGIN);
}

static cuzk_status close_container(struct json_stream *s, bool object) {
    s->depth--;
    value_done(s);
    return emit(s, object ? JSON_OBJECT_END : JSON_ARRAY_END);
}

static void begin_string(struct json_stream *s, bool key) {
    s->in_key = key;
    s->key_bytes = 0;
    s->key_cut = false;
    s->state = ST_STRING;
}

static void begin_number(struct json_stream *s, unsigned char c) {
    s->number = c == '-' ? 0 : (uint64_t)(c - '0');
    s->number_plain = c != '-';
    s->state = c == '-' ? ST_MINUS : c == '0' ? ST_ZERO : ST_INTEGER;
}

static cuzk_status begin_value(struct json_stream *s, unsigned char c) {
    switch (c) {
    case '{':
        return open_container(s, true);
    case '[':
        return open_container(s, false);
    case '"':
        begin_string(s, false);
        return CUZK_OK;
    case 't':
    case 'f':
    case 'n':
        s->literal = c == 't' ? 0 : c == 'f' ? 1 : 2;
        s->literal_at = 1;
        s->state = ST_LITERAL;
        return CUZK_OK;
    default:
        if (c != '-' && !is_digit(c))
            return syntax(s, s->token_offset, "a value was expected here");
        begin_number(s, c);
        return CUZK_OK;
    }
}

/* One byte of structure, white space excluded. */
static cuzk_status structure(struct json_stream *s, unsigned char c) {
    switch (s->state) {
    case ST_VALUE_OR_END:
        if (c == ']') return close_container(s, false);
        return begin_value(s, c);
    case ST_VALUE:
        return begin_value(s, c);
    case ST_KEY_OR_END:
        if (c == '}') return close_container(s, true);
        if (c != '"') return syntax(s, s->token_offset, "a key or } was expected here");
        begin_string(s, true);
        return CUZK_OK;
    case ST_KEY:
        if (c != '"') return syntax(s, s->token_offset, "a key was expected here");
        begin_string(s, true);
        return CUZK_OK;
    case ST_COLON:
        if (c != ':') return syntax(s, s->token_offset, "a colon was expected here");
        s->state = ST_VALUE;
        return CUZK_OK;
    case ST_AFTER:
        if (c == ',') {
            s->state = in_object(s) ? ST_KEY : ST_VALUE;
            return CUZK_OK;
        }
        if (c != (in_object(s) ? '}' : ']'))
            return syntax(s, s->token_offset,
                          in_object(s) ? "a comma or } was expected here"
                                       : "a comma or ] was expected here");
        return close_container(s, c == '}');
    default:
        return syntax(s, s->token_offset, "something follows the value");
    }
}

/* ---- strings ---- */

static cuzk_status put_text(struct json_stream *s, const char *text, size_t n, uint64_t offset) {
    if (!s->in_key) {
        const struct json_token token = {.text = text, .n = n, .offset = offset};
        return s->fn(s->ctx, JSON_STRING_PART, &token);
    }
    const size_t room = JSON_KEY_MAX - s->key_bytes;
    if (n > room) s->key_cut = true;
    const size_t kept = n < room ? n : room;
    memcpy(s->key + s->key_bytes, text, kept);
    s->key_bytes = (uint8_t)(s->key_bytes + kept);
    return CUZK_OK;
}

static cuzk_status end_string(struct json_stream *s) {
    const bool key = s->in_key;
    struct json_token token = {.offset = s->token_offset};
    if (key) {
        token.text = s->key;
        token.n = s->key_bytes;
        token.cut = s->key_cut;
        s->state = ST_COLON;
    } else {
        value_done(s);
    }
    return s->fn(s->ctx, key ? JSON_KEY : JSON_STRING_END, &token);
}

/* Follows UTF-8 byte by byte (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF). */
static bool utf8_step(struct json_stream *s, unsigned char c) {
    if (s->utf8_left > 0) {
        if (c < s->utf8_low || c > s->utf8_high) return false;
        s->utf8_left--;
        s->utf8_low = 0x80;
        s->utf8_high = 0xbf;
        return true;
    }
    if (c < 0x80) return true;
    if (c < 0xc2 || c > 0xf4) return false;
    s->utf8_left = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    s->utf8_low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    s->utf8_high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    return true;
}

/* The longest run of text[0 .. n) that needs no thought; *bad tells that the byte after it is not
 * allowed in a string. */
static size_t plain_run(struct json_stream *s, const unsigned char *text, size_t n, bool *bad) {
    size_t i = 0;
    *bad = false;
    for (; i < n; i++) {
        const unsigned char c = text[i];
        if (s->utf8_left == 0 && (c == '"' || c == '\\')) break;
        if (c < 0x20 || ((c >= 0x80 || s->utf8_left > 0) && !utf8_step(s, c))) {
            *bad = true;
            break;
        }
    }
    return i;
}

static cuzk_status string_bytes(struct json_stream *s, const unsigned char *text, size_t n,
                                size_t *used) {
    bool bad;
    const size_t run = plain_run(s, text, n, &bad);
    *used = run;
    if (run > 0) CUZK_TRY(put_text(s, (const char *)text, run, s->consumed));
    if (bad)
        return syntax(s, s->consumed + run,
                      text[run] < 0x20 ? "a control character stands in a string"
                                       : "the text is not UTF-8");
    if (run == n) return CUZK_OK;
    *used = run + 1;
    if (text[run] == '"') return end_string(s);
    s->state = ST_ESCAPE;
    return CUZK_OK;
}

static cuzk_status escape(struct json_stream *s, unsigned char c) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (c == 'u') {
        s->hex_left = 4;
        s->code_unit = 0;
        s->state = ST_HEX;
        return CUZK_OK;
    }
    const char *at = c == 0 ? NULL : strchr(from, c);
    if (at == NULL) return syntax(s, s->consumed, "this is no escape");
    s->state = ST_STRING;
    return put_text(s, to + (at - from), 1, s->consumed);
}

static cuzk_status put_code_point(struct json_stream *s, uint32_t c) {
    char b[4];
    size_t n;
    if (c < 0x80) {
        b[0] = (char)c;
        n = 1;
    } else if (c < 0x800) {
        b[0] = (char)(0xc0 | c >> 6);
        b[1] = (char)(0x80 | (c & 0x3f));
        n = 2;
    } else if (c < 0x10000) {
        b[0] = (char)(0xe0 | c >> 12);
        b[1] = (char)(0x80 | (c >> 6 & 0x3f));
        b[2] = (char)(0x80 | (c & 0x3f));
        n = 3;
    } else {
        b[0] = (char)(0xf0 | c >> 18);
        b[1] = (char)(0x80 | (c >> 12 & 0x3f));
        b[2] = (char)(0x80 | (c >> 6 & 0x3f));
        b[3] = (char)(0x80 | (c & 0x3f));
        n = 4;
    }
    return put_text(s, b, n, s->consumed);
}

static cuzk_status hex_digit(struct json_stream *s, unsigned char c) {
    static const char surrogates[] = "a surrogate stands alone";
    unsigned d;
    if (is_digit(c))
        d = c - '0';
    else if (c >= 'a' && c <= 'f')
        d = c - 'a' + 10u;
    else if (c >= 'A' && c <= 'F')
        d = c - 'A' + 10u;
    else
        return syntax(s, s->consumed, "four hexadecimal digits were expected here");
    s->code_unit = s->code_unit << 4 | d;
    if (--s->hex_left > 0) return CUZK_OK;
    const uint32_t u = s->code_unit;
    const bool is_high = u >= 0xd800 && u < 0xdc00, is_low = u >= 0xdc00 && u < 0xe000;
    if (s->high_surrogate != 0) {
        if (!is_low) return syntax(s, s->consumed, surrogates);
        const uint32_t c32 = 0x10000 + ((s->high_surrogate - 0xd800) << 10) + (u - 0xdc00);
        s->high_surrogate = 0;
        s->state = ST_STRING;
        return put_code_point(s, c32);
    }
    if (is_low) return syntax(s, s->consumed, surrogates);
    if (is_high) {
        s->high_surrogate = u;
        s->state = ST_LOW_BACKSLASH;
        return CUZK_OK;
    }
    s->state = ST_STRING;
    return put_code_point(s, u);
}

static cuzk_status low_surrogate_start(struct json_stream *s, unsigned char c) {
    if (s->state == ST_LOW_BACKSLASH) {
        if (c != '\\') return syntax(s, s->consumed, "a surrogate stands alone");
        s->state = ST_LOW_U;
        return CUZK_OK;
    }
    if (c != 'u') return syntax(s, s->consumed, "a surrogate stands alone");
    s->hex_left = 4;
    s->code_unit = 0;
    s->state = ST_HEX;
    return CUZK_OK;
}

/* ---- numbers and literals ---- */

static cuzk_status end_number(struct json_stream *s) {
    const struct json_token token = {
        .is_u64 = s->number_plain, .value = s->number, .offset = s->token_offset};
    value_done(s);
    return s->fn(s->ctx, JSON_NUMBER, &token);
}

static void integer_digit(struct json_stream *s, unsigned char c) {
    const unsigned d = c - '0';
    if (s->number > (UINT64_MAX - d) / 10)
        s->number_plain = false;
    else
        s->number = s->number * 10 + d;
}

/* One byte after a number's first; *ends: the byte is not the number's. */
static cuzk_status number_byte(struct json_stream *s, unsigned char c, bool *ends) {
    const bool digit = is_digit(c), e = c == 'e' || c == 'E';
    *ends = false;
    switch (s->state) {
    case ST_MINUS:
        if (!digit) return syntax(s, s->consumed, "a digit was expected here");
        s->state = c == '0' ? ST_ZERO : ST_INTEGER;
        return CUZK_OK;
    case ST_ZERO:
    case ST_INTEGER:
        if (digit) {
            if (s->state == ST_ZERO)
                return syntax(s, s->consumed, "a number may not start with 0 and go on");
            integer_digit(s, c);
        } else if (c == '.' || e) {
            s->number_plain = false;
            s->state = e ? ST_E : ST_POINT;
        } else {
            *ends = true;
        }
        return CUZK_OK;
    case ST_POINT:
    case ST_E_SIGN:
        if (!digit) return syntax(s, s->consumed, "a digit was expected here");
        s->state = s->state == ST_POINT ? ST_FRACTION : ST_EXPONENT;
        return CUZK_OK;
    case ST_E:
        if (c != '+' && c != '-' && !digit)
            return syntax(s, s->consumed, "an exponent was expected here");
        s->state = digit ? ST_EXPONENT : ST_E_SIGN;
        return CUZK_OK;
    default: /* ST_FRACTION, ST_EXPONENT */
        if (s->state == ST_FRACTION && e)
            s->state = ST_E;
        else
            *ends = !digit;
        return CUZK_OK;
    }
}

static cuzk_status literal_byte(struct json_stream *s, unsigned char c) {
    const char *word = literals[s->literal];
    if (c != (unsigned char)word[s->literal_at])
        return syntax(s, s->token_offset, "only true, false and null stand without quotes");
    if (word[++s->literal_at] != '\0') return CUZK_OK;
    const struct json_token token = {.is_null = s->literal == 2, .offset = s->token_offset};
    value_done(s);
    return s->fn(s->ctx, JSON_OTHER, &token);
}

/* ---- feeding ---- */

/* Nearly all of a C1 text is `ddd,`: one call from the first digit to the byte after the last. */
static cuzk_status short_integer(struct json_stream *s, const unsigned char *text, size_t n,
                                 size_t *used) {
    size_t i = 1;
    uint64_t v = (uint64_t)(text[0] - '0');
    for (; i < n && i < 18 && is_digit(text[i]); i++)
        v = v * 10 + (uint64_t)(text[i] - '0');
    begin_number(s, text[0]);
    if (i == n || i == 18 || text[i] == '.' || (text[i] | 0x20) == 'e' ||
        (text[0] == '0' && i > 1)) {
        *used = 1; /* the byte-wise path decides */
        return CUZK_OK;
    }
    *used = i;
    s->number = v;
    return end_number(s);
}

/* Consumes at least one byte of text[0 .. n), or ends a number without consuming. */
static cuzk_status step(struct json_stream *s, const unsigned char *text, size_t n, size_t *used) {
    const unsigned char c = text[0];
    *used = 1;
    switch (s->state) {
    case ST_STRING:
        return string_bytes(s, text, n, used);
    case ST_ESCAPE:
        return escape(s, c);
    case ST_HEX:
        return hex_digit(s, c);
    case ST_LOW_BACKSLASH:
    case ST_LOW_U:
        return low_surrogate_start(s, c);
    case ST_LITERAL:
        return literal_byte(s, c);
    case ST_VALUE:
    case ST_VALUE_OR_END:
    case ST_KEY_OR_END:
    case ST_KEY:
    case ST_COLON:
    case ST_AFTER:
    case ST_DONE:
        if (is_space(c)) return CUZK_OK;
        s->token_offset = s->consumed;
        if (is_digit(c) && s->state <= ST_VALUE_OR_END) return short_integer(s, text, n, used);
        return structure(s, c);
    default: {
        bool ends;
        CUZK_TRY(number_byte(s, c, &ends));
        if (!ends) return CUZK_OK;
        *used = 0;
        return end_number(s);
    }
    }
}

cuzk_status json_feed(struct json_stream *s, const void *text, size_t n) {
    const unsigned char *at = text;
    while (n > 0) {
        size_t used;
        CUZK_TRY(step(s, at, n, &used));
        at += used;
        n -= used;
        s->consumed += used;
    }
    return CUZK_OK;
}

cuzk_status json_finish(struct json_stream *s) {
    const bool complete_number = s->state == ST_ZERO || s->state == ST_INTEGER ||
                                 s->state == ST_FRACTION || s->state == ST_EXPONENT;
    if (complete_number && s->depth == 0) CUZK_TRY(end_number(s));
    if (s->state == ST_DONE) return CUZK_OK;
    const bool nothing = s->state == ST_VALUE && s->depth == 0;
    return fault(s, CUZK_JSON_TRUNCATED, s->consumed,
                 nothing ? "the text is empty" : "the text ends in the middle");
}
