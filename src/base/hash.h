/*
 * SHA-256 (FIPS 180-4) through libcrypto, which uses the processor's own instructions.
 *
 * Threads: a context belongs to one thread.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32

/* One call: digest of `n` bytes. */
void sha256(uint8_t out[SHA256_BYTES], const void *data, size_t n);

/* Piece by piece. init may be called again after final. */
struct sha256_ctx {
    void *impl; /* owned; sha256_deinit frees it */
};
void sha256_init(struct sha256_ctx *ctx);
void sha256_update(struct sha256_ctx *ctx, const void *data, size_t n);
void sha256_final(struct sha256_ctx *ctx, uint8_t out[SHA256_BYTES]);
void sha256_deinit(struct sha256_ctx *ctx);

/* Lower-case hex of n bytes and a NUL: out has 2 n + 1 bytes. */
void hex_encode(char *out, const uint8_t *data, size_t n);

#endif
