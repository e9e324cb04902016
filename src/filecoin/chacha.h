/*
 * One block of ChaCha keystream (RFC 8439; 8 rounds as rand_chacha's ChaCha8Rng, 20 as the cipher).
 *
 * libsodium offers 20 rounds only, and the graph wants 8. Threads: pure.
 */
#ifndef FILECOIN_CHACHA_H
#define FILECOIN_CHACHA_H

#include <stdint.h>

/* `position` are words 12 to 15 of the state: block counter and nonce in the caller's layout. The
 * 64 bytes of keystream are out[i] in little-endian order. */
void chacha_block(uint32_t out[16], const uint8_t key[32], const uint32_t position[4],
                  unsigned n_rounds);

#endif
