#include "block_hash.h"

void block_digests_free(struct block_digests *d) {
    mem_give(&d->block);
    *d = (struct block_digests){0};
}

cuzk_status block_digests_reserve(struct block_digests *d, size_t n, struct cuzk_error *err) {
    size_t bytes = n * sizeof *d->digest;
    if (bytes < 4096) bytes = 4096;
    if (bytes > d->block.bytes && bytes < 2 * d->block.bytes) bytes = 2 * d->block.bytes;
    CUZK_TRY(mem_grow(&d->block, bytes, MEM_OTHER, err));
    d->digest = d->block.ptr;
    return CUZK_OK;
}

void block_digests_total(const struct block_digests *d, uint8_t out[SHA256_BYTES]) {
    sha256(out, d->digest, d->n * sizeof *d->digest);
}
