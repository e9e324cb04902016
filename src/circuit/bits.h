/*
 * Between numbers and bits: unpacking to words, packing, 64-bit integers, packed inputs.
 */
#ifndef CIRCUIT_BITS_H
#define CIRCUIT_BITS_H

#include "wires.h"

enum {
    NUM_WORDS = 8,    /* words of an unpacked number */
    NUM_BITS = 255,   /* bits that are allocated for it */
    PACKED_BITS = 254 /* what fits into one number whatever the bits are */
};

/*
 * The bits of a number as SHA-256 reads its 32 little-endian bytes: out[j] is the big-endian word
 * of bytes 4j to 4j + 3. 255 variables are allocated, the lowest bit first; bit 255 is the constant
 * zero. The bits are not forced to be below the modulus, as in bellpepper's to_bits_le. A template.
 */
void num_to_words(struct cs *cs, struct word out[NUM_WORDS], const struct num *a);

/* The inverse for 254 bits, the two top ones dropped: a new number with its packing row. */
void words_to_num(struct cs *cs, struct num *out, const struct word words[NUM_WORDS]);

/* Public inputs of up to 254 bits each from n bits, the first the lowest, with their rows. */
void pack_into_inputs(struct cs *cs, const struct bit *bits, size_t n);

/* 64 new bits: out[0] the high, out[1] the low half, so that they are the integer big-endian. */
void uint64_alloc(struct cs *cs, struct word out[2], uint64_t value);
/* Exposes it as one public input. */
void uint64_pack_into_input(struct cs *cs, const struct word a[2]);

#endif
