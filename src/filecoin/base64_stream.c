#include "base64_stream.h"

#include <string.h>

enum { BAD = 64 };

/* The value of a character, BAD for those that are none. */
static unsigned sextet(unsigned char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26u;
    if (c >= '0' && c <= '9') return c - '0' + 52u;
    if (c == '+') return 62;
    if (c == '/') return 63;
    return BAD;
}

void base64_init(struct base64_stream *b) {
    memset(b, 0, sizeof *b);
}

static bool padding(struct base64_stream *b, uint8_t *out, size_t *n_out) {
    const unsigned place = b->n_chars + b->n_padding;
    if (b->n_chars < 2 || place >= 4) {
        b->fault = "= stands where no padding may be";
        return false;
    }
    b->n_padding++;
    if (place < 3) return true;
    const unsigned spare = b->n_chars == 2 ? 4 : 2; /* bits that belong to no byte */
    if ((b->bits & ((1u << spare) - 1)) != 0) {
        b->fault = "the bits before the padding are not zero";
        return false;
    }
    const uint32_t bytes = b->bits >> spare;
    if (b->n_chars == 3) out[(*n_out)++] = (uint8_t)(bytes >> 8);
    out[(*n_out)++] = (uint8_t)bytes;
    return true;
}

/* Whole groups without padding, the bulk of a text; returns how many characters it took. */
static size_t whole_groups(const unsigned char *text, size_t n, uint8_t *out, size_t *n_out) {
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const unsigned s0 = sextet(text[i]), s1 = sextet(text[i + 1]);
        const unsigned s2 = sextet(text[i + 2]), s3 = sextet(text[i + 3]);
        if (((s0 | s1 | s2 | s3) & BAD) != 0) break;
        const uint32_t v = s0 << 18 | s1 << 12 | s2 << 6 | s3;
        out[*n_out] = (uint8_t)(v >> 16);
        out[*n_out + 1] = (uint8_t)(v >> 8);
        out[*n_out + 2] = (uint8_t)v;
        *n_out += 3;
    }
    return i;
}

size_t base64_feed(struct base64_stream *b, const char *text, size_t n, uint8_t *out,
                   size_t *n_out) {
    const unsigned char *in = (const unsigned char *)text;
    *n_out = 0;
    for (size_t i = 0; i < n; i++) {
        if (b->n_chars == 0 && b->n_padding == 0) {
            i += whole_groups(in + i, n - i, out, n_out);
            if (i == n) break;
        }
        if (in[i] == '=') {
            if (!padding(b, out, n_out)) return i;
            continue;
        }
        const unsigned s = sextet(in[i]);
        if (s == BAD || b->n_padding > 0) {
            b->fault = s == BAD ? "this is no base64 character" : "text follows the padding";
            return i;
        }
        b->bits = b->bits << 6 | s;
        if (++b->n_chars < 4) continue;
        out[(*n_out)++] = (uint8_t)(b->bits >> 16);
        out[(*n_out)++] = (uint8_t)(b->bits >> 8);
        out[(*n_out)++] = (uint8_t)b->bits;
        b->bits = 0;
        b->n_chars = 0;
    }
    return n;
}

bool base64_finish(struct base64_stream *b) {
    const unsigned place = b->n_chars + b->n_padding;
    if (place == 0 || (b->n_padding > 0 && place == 4)) return true;
    b->fault = "the text is not a multiple of four characters";
    return false;
}
