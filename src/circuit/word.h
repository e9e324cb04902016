/*
 * Gadgets over 32-bit words (struct word, wires.h): all 32 bits of an operation at once, as masks.
 *
 * What an operation allocates follows from the constants of its operands, bit by bit, as in
 * bellperson's UInt32: only positions where the result is neither known nor one of the operands get
 * a variable, in ascending order of the bits. In CS_WITNESS only the masks of a word are kept; its
 * vars are not even copied.
 *
 * Outputs may alias inputs. Threads: as for the cs.
 */
#ifndef CIRCUIT_WORD_H
#define CIRCUIT_WORD_H

#include "boolean.h"

struct multieq;

void word_constant(struct word *out, uint32_t value);
/* 32 new variables, each with its boolean row. */
void word_alloc(struct cs *cs, struct word *out, uint32_t value);
/* Copies what the mode needs: always the masks, the vars only when there are rows. */
void word_copy(const struct cs *cs, struct word *out, const struct word *in);

/* One bit of a word, and back. word_set_bit expects that the position is zero in all masks. */
struct bit word_bit(const struct word *w, unsigned i);
void word_set_bit(struct word *w, unsigned i, const struct bit *b);

void word_rotr(const struct cs *cs, struct word *out, const struct word *a, unsigned by);
void word_shr(const struct cs *cs, struct word *out, const struct word *a, unsigned by);

void word_xor(struct cs *cs, struct word *out, const struct word *a, const struct word *b);
/* (a rotr by[0]) xor (a rotr by[1]) xor (a rotr by[2]), the last one a shift where `shift` says so;
 * the left exclusive or first. */
void word_sigma(struct cs *cs, struct word *out, const struct word *a, const unsigned by[3],
                bool shift);
/* (a and b) xor (not a and c) */
void word_ch(struct cs *cs, struct word *out, const struct word *a, const struct word *b,
             const struct word *c);
/* (a and b) xor (a and c) xor (b and c) */
void word_maj(struct cs *cs, struct word *out, const struct word *a, const struct word *b,
              const struct word *c);

/*
 * out = the sum of n words (2 <= n <= 10) modulo 2^32. Allocates the bits of the largest possible
 * sum, carries included, unless all operands are constants; the equality of the sums goes to `eq`.
 */
void word_add(struct cs *cs, struct multieq *eq, struct word *out,
              const struct word *const *operands, unsigned n);

/*
 * n_bits at the positions of `mask` (at most 64), brought together at the low end; the order is
 * kept.
 */
uint64_t bits_gather(uint64_t value, uint64_t mask);

#endif
