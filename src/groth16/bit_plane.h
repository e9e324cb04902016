/*
 * Operations on bit planes: bit i of a plane is bit i % 64 of word i / 64.
 *
 * Threads: pure.
 */
#ifndef GROTH16_BIT_PLANE_H
#define GROTH16_BIT_PLANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t plane_words(size_t n_bits) {
    return (n_bits + 63) / 64;
}

static inline bool plane_bit(const uint64_t *plane, size_t i) {
    return plane[i / 64] >> (i % 64) & 1;
}

/* Which bits of word i are among the first n; i is below plane_words(n). */
static inline uint64_t plane_valid_bits(size_t i, size_t n) {
    const size_t left = n - 64 * i;
    return left >= 64 ? UINT64_MAX : ((uint64_t)1 << left) - 1;
}

/* Ones among the first n bits. */
size_t plane_count(const uint64_t *plane, size_t n);

/*
 * Packs the bits of `plane` that stand where `mask` has a one, in order: out bit k is the plane's
 * bit at the place of the mask's one number k. Looks at the first n bits; returns how many were
 * packed. out holds plane_words(that) words and one more; what is past the last bit is zero.
 */
size_t plane_compact(uint64_t *out, const uint64_t *plane, const uint64_t *mask, size_t n);

/* One word of that, without the processor's own instruction for it: the bits of `value` that stand
 * where `mask` has a one, in order, from bit 0 on. */
uint64_t plane_extract(uint64_t value, uint64_t mask);

#endif
