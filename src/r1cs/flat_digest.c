#include <stdlib.h>

#include "block_hash.h"
#include "row_bytes.h"

/*
 * Coefficients come in Montgomery form and are hashed in canonical form. The same few occur again
 * and again, so conversions are kept in a direct-mapped cache; a zero key is an empty place, since
 * rows have no zero coefficients.
 */
enum { CACHE_ENTRIES = 1024, BUFFER_BYTES = 256 << 10 };

struct cached {
    fr key;
    uint8_t bytes[32];
};

struct flat_digest {
    struct sha256_ctx sha;
    uint64_t n_rows;
    uint64_t nnz[3];
    uint32_t n_inputs, n_aux;
    struct block_digests blocks;
    cuzk_status status;
    struct cuzk_error error;
    size_t n_buffered;
    struct cached cache[CACHE_ENTRIES];
    uint8_t buffer[BUFFER_BYTES];
};

cuzk_status flat_digest_create(struct flat_digest **out, struct cuzk_error *err) {
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return error_set(err, CUZK_NO_MEMORY, "digest", NULL, "no memory for the buffer");
    sha256_init(&(*out)->sha);
    return CUZK_OK;
}

void flat_digest_destroy(struct flat_digest *d) {
    if (d == NULL) return;
    sha256_deinit(&d->sha);
    block_digests_free(&d->blocks);
    free(d);
}

static const uint8_t *canonical(struct flat_digest *d, const fr *c) {
    const uint64_t hash = (c->l[0] ^ c->l[3]) * UINT64_C(0x9e3779b97f4a7c15);
    struct cached *entry = &d->cache[hash >> 54];
    if (!fr_equal(&entry->key, c)) {
        entry->key = *c;
        fr_to_bytes(entry->bytes, c);
    }
    return entry->bytes;
}

static void flush(struct flat_digest *d) {
    sha256_update(&d->sha, d->buffer, d->n_buffered);
    d->n_buffered = 0;
}

static void end_block(struct flat_digest *d) {
    flush(d);
    struct block_digests *b = &d->blocks;
    if (d->status == CUZK_OK) d->status = block_digests_reserve(b, b->n + 1, &d->error);
    if (d->status != CUZK_OK) return;
    sha256_final(&d->sha, b->digest[b->n++]);
    sha256_init(&d->sha);
}

static void put_lc(struct flat_digest *d, const struct row_lc *lc) {
    if (BUFFER_BYTES - d->n_buffered < ROW_COUNT_BYTES) flush(d);
    row_put_count(d->buffer + d->n_buffered, lc->n);
    d->n_buffered += ROW_COUNT_BYTES;
    for (uint32_t i = 0; i < lc->n; i++) {
        const struct lc_term *t = &lc->terms[i];
        if (BUFFER_BYTES - d->n_buffered < ROW_TERM_BYTES) flush(d);
        row_put_term(d->buffer + d->n_buffered, t->v, canonical(d, &t->c));
        d->n_buffered += ROW_TERM_BYTES;
        uint32_t *count = var_kind_of(t->v) == VAR_INPUT ? &d->n_inputs : &d->n_aux;
        if (var_index(t->v) >= *count) *count = var_index(t->v) + 1;
    }
}

static void digest_row(void *ctx, const struct row_lc abc[3]) {
    struct flat_digest *d = ctx;
    if (d->status != CUZK_OK) return;
    for (int i = 0; i < 3; i++) {
        put_lc(d, &abc[i]);
        d->nnz[i] += abc[i].n;
    }
    if (++d->n_rows % DIGEST_BLOCK_ROWS == 0) end_block(d);
}

struct row_sink flat_digest_sink(struct flat_digest *d) {
    return (struct row_sink){.row = digest_row, .ctx = d};
}

cuzk_status flat_digest_finish(struct flat_digest *d, uint8_t out[SHA256_BYTES],
                               struct r1cs_stats *stats, struct cuzk_error *err) {
    if (d->n_rows % DIGEST_BLOCK_ROWS != 0) end_block(d);
    if (d->status != CUZK_OK) {
        if (err != NULL) *err = d->error;
        return d->status;
    }
    block_digests_total(&d->blocks, out);
    if (stats != NULL) {
        *stats = (struct r1cs_stats){.n_inputs = d->n_inputs, .n_aux = d->n_aux};
        stats->n_rows = d->n_rows;
        memcpy(stats->nnz, d->nnz, sizeof d->nnz);
    }
    return CUZK_OK;
}

const struct block_digests *flat_digest_blocks(const struct flat_digest *d) {
    return &d->blocks;
}
