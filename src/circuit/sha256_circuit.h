/*
 * SHA-256 as a circuit, on words.
 *
 * A digest or message is a row of words, each the big-endian reading of four bytes. Each
 * compression, and the whole two-to-one hash, is a template of its own (cs.h).
 */
#ifndef CIRCUIT_SHA256_CIRCUIT_H
#define CIRCUIT_SHA256_CIRCUIT_H

#include "wires.h"

enum { SHA256_STATE_WORDS = 8, SHA256_BLOCK_WORDS = 16 };

/* The initial state, constants. */
void sha256_circuit_init(struct word state[SHA256_STATE_WORDS]);

/* state = compression of `state` with the block that `message` points to. */
void sha256_circuit_block(struct cs *cs, struct word state[SHA256_STATE_WORDS],
                          const struct word *const message[SHA256_BLOCK_WORDS]);

/*
 * The last part of a message: absorbs n_words words from `message`, padding and length. n_before is
 * the number of words that `state` has absorbed already, a multiple of 16.
 */
void sha256_circuit_finish(struct cs *cs, struct word state[SHA256_STATE_WORDS],
                           const struct word *const *message, size_t n_words, size_t n_before);

/* out = SHA-256 of n_words words. */
void sha256_circuit(struct cs *cs, struct word out[SHA256_STATE_WORDS],
                    const struct word *const *message, size_t n_words);

/*
 * The node of a binary SHA-256 tree: out = SHA-256(left ‖ right), both 32 bytes little-endian,
 * without the two top bits.
 */
void sha256_hash2_circuit(struct cs *cs, struct num *out, const struct num *left,
                          const struct num *right);

#endif
