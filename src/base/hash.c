#include "hash.h"

#include <openssl/evp.h>
#include <stdlib.h>

/* libcrypto fails here only when memory is exhausted; then nothing sensible can follow. */
static void must(int ok) {
    if (ok != 1) abort();
}

void sha256_init(struct sha256_ctx *ctx) {
    if (ctx->impl == NULL) ctx->impl = EVP_MD_CTX_new();
    must(ctx->impl != NULL);
    must(EVP_DigestInit_ex(ctx->impl, EVP_sha256(), NULL));
}

void sha256_update(struct sha256_ctx *ctx, const void *data, size_t n) {
    must(EVP_DigestUpdate(ctx->impl, data, n));
}

void sha256_final(struct sha256_ctx *ctx, uint8_t out[SHA256_BYTES]) {
    must(EVP_DigestFinal_ex(ctx->impl, out, NULL));
}

void sha256_deinit(struct sha256_ctx *ctx) {
    EVP_MD_CTX_free(ctx->impl);
    ctx->impl = NULL;
}

void sha256(uint8_t out[SHA256_BYTES], const void *data, size_t n) {
    must(EVP_Digest(data, n, out, NULL, EVP_sha256(), NULL));
}

void hex_encode(char *out, const uint8_t *data, size_t n) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[data[i] >> 4];
        out[2 * i + 1] = digits[data[i] & 15];
    }
    out[2 * n] = '\0';
}
