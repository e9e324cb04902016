#include "utf8.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* RFC 3629, section 4: what the second byte may be depends on the first, so that overlong forms,
 * surrogates and what is above U+10FFFF fall out. A NUL is never a continuation, so nothing behind
 * it is read. */
size_t utf8_character_bytes(const char *s) {
    const uint8_t *b = (const uint8_t *)s;
    uint8_t low = 0x80, high = 0xbf;
    size_t n;
    if (b[0] < 0x80) return 1;
    if (b[0] < 0xc2 || b[0] > 0xf4) return 0;
    if (b[0] < 0xe0) {
        n = 2;
    } else if (b[0] < 0xf0) {
        n = 3;
        if (b[0] == 0xe0) low = 0xa0;
        if (b[0] == 0xed) high = 0x9f;
    } else {
        n = 4;
        if (b[0] == 0xf0) low = 0x90;
        if (b[0] == 0xf4) high = 0x8f;
    }
    if (b[1] < low || b[1] > high) return 0;
    for (size_t i = 2; i < n; i++)
        if ((b[i] & 0xc0) != 0x80) return 0;
    return n;
}

size_t utf8_clean(char *out, size_t out_bytes, const char *in) {
    assert(out_bytes > 0);
    size_t used = 0;
    while (*in != '\0') {
        const size_t n = utf8_character_bytes(in);
        const size_t step = n == 0 ? 1 : n;
        if (used + step >= out_bytes) break;
        if (n == 0) {
            out[used] = '?';
        } else {
            memcpy(out + used, in, n);
        }
        used += step;
        in += step;
    }
    out[used] = '\0';
    return used;
}
