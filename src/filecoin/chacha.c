#include "chacha.h"

#include <string.h>

static uint32_t rotl(uint32_t v, unsigned n) {
    return v << n | v >> (32 - n);
}

static void quarter(uint32_t x[16], unsigned a, unsigned b, unsigned c, unsigned d) {
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 7);
}

static uint32_t load32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

void chacha_block(uint32_t out[16], const uint8_t key[32], const uint32_t position[4],
                  unsigned n_rounds) {
    /* "expand 32-byte k" */
    uint32_t start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (unsigned i = 0; i < 8; i++)
        start[4 + i] = load32(key + 4 * i);
    memcpy(start + 12, position, 4 * sizeof start[0]);
    memcpy(out, start, sizeof start);
    for (unsigned i = 0; i < n_rounds; i += 2) {
        for (unsigned c = 0; c < 4; c++) /* columns */
            quarter(out, c, 4 + c, 8 + c, 12 + c);
        for (unsigned c = 0; c < 4; c++) /* diagonals */
            quarter(out, c, 4 + (c + 1) % 4, 8 + (c + 2) % 4, 12 + (c + 3) % 4);
    }
    for (unsigned i = 0; i < 16; i++)
        out[i] += start[i];
}
