#include "msm_sort.h"

enum { SCALAR_BITS = 255 };

unsigned msm_window_count(unsigned c) {
    return (SCALAR_BITS + c - 1) / c;
}

/* Bits [shift, shift + count) of a scalar, count <= 32. */
static uint32_t bits_at(const uint64_t l[4], unsigned shift, unsigned count) {
    const unsigned limb = shift / 64, offset = shift % 64;
    if (limb > 3) return 0;
    uint64_t v = l[limb] >> offset;
    if (offset + count > 64 && limb < 3) v |= l[limb + 1] << (64 - offset);
    return (uint32_t)(v & ((UINT64_C(1) << count) - 1));
}

struct msm_window msm_window_at(unsigned c, unsigned index) {
    struct msm_window w = {.shift = c * index, .bits = c, .n_digits = UINT32_C(1) << (c - 1)};
    if (index + 1 == msm_window_count(c)) {
        /* The greatest scalar is r - 1; the bit below may add one. */
        w.bits = SCALAR_BITS + 1 - w.shift;
        w.n_digits = bits_at(fr_modulus, w.shift, w.bits) + (w.shift > 0);
    }
    return w;
}

uint32_t msm_window_max_digits(unsigned c) {
    const uint32_t inner = msm_window_at(c, 0).n_digits;
    const uint32_t top = msm_window_at(c, msm_window_count(c) - 1).n_digits;
    return inner > top ? inner : top;
}

uint32_t msm_digit(const fr_words *scalar, const struct msm_window *window) {
    const unsigned c = window->bits;
    /* The window's bits with the bit below as the lowest one. */
    const uint32_t v = window->shift == 0 ? bits_at(scalar->l, 0, c) << 1
                                          : bits_at(scalar->l, window->shift - 1, c + 1);
    const uint32_t negative = v >> c;
    const uint32_t rounded = (v + 1) >> 1;
    const uint32_t size = negative ? (UINT32_C(1) << c) - rounded : rounded;
    return size << 1 | negative;
}

void msm_sort(uint32_t *entries, uint32_t *ends, uint32_t *digits, const fr_words *scalars,
              size_t n, const struct msm_window *window) {
    memset(ends, 0, (window->n_digits + 1) * sizeof *ends);
    for (size_t i = 0; i < n; i++) {
        digits[i] = msm_digit(&scalars[i], window);
        ends[digits[i] >> 1]++;
    }
    /* Counts become beginnings, which the second pass moves on until they are ends. */
    uint32_t begin = 0;
    for (uint32_t d = 0; d <= window->n_digits; d++) {
        const uint32_t count = ends[d];
        ends[d] = begin;
        begin += count;
    }
    for (size_t i = 0; i < n; i++)
        entries[ends[digits[i] >> 1]++] = (uint32_t)i << 1 | (digits[i] & 1);
}
