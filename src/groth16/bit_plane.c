#include "bit_plane.h"

size_t plane_count(const uint64_t *plane, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < plane_words(n); i++)
        count += (size_t)__builtin_popcountll(plane[i] & plane_valid_bits(i, n));
    return count;
}

typedef uint64_t (*extract_fn)(uint64_t value, uint64_t mask);

__attribute__((target("bmi2"))) static uint64_t extract_bmi2(uint64_t value, uint64_t mask) {
    return __builtin_ia32_pext_di(value, mask);
}

uint64_t plane_extract(uint64_t value, uint64_t mask) {
    uint64_t out = 0;
    for (unsigned k = 0; mask != 0; mask &= mask - 1, k++)
        out |= (value >> __builtin_ctzll(mask) & 1) << k;
    return out;
}

size_t plane_compact(uint64_t *out, const uint64_t *plane, const uint64_t *mask, size_t n) {
    const extract_fn extract = __builtin_cpu_supports("bmi2") ? extract_bmi2 : plane_extract;
    size_t packed = 0;
    out[0] = 0;
    for (size_t i = 0; i < plane_words(n); i++) {
        const uint64_t m = mask[i] & plane_valid_bits(i, n);
        const unsigned width = (unsigned)__builtin_popcountll(m);
        const uint64_t bits = m == UINT64_MAX ? plane[i] : extract(plane[i], m);
        const unsigned at = packed % 64;
        out[packed / 64] |= bits << at;
        /* A new word is begun when this one is full, with what did not fit. */
        if (at + width >= 64) out[packed / 64 + 1] = at == 0 ? 0 : bits >> (64 - at);
        packed += width;
    }
    return packed;
}
