/*
 * The digest of a constraint system, and of a witness.
 *
 * For every row, A, then B, then C: u32 LE count of terms; each term (inputs before aux, ascending)
 * u8 kind (0 input, 1 aux), u32 LE index, 32 bytes LE canonical coefficient. One SHA-256 for each
 * block of 65,536 rows; the digest is the SHA-256 of the block digests in order. A witness: SHA-256
 * over all values, 32 bytes LE each; block digests for each 65,536 aux values.
 */
#ifndef R1CS_DIGEST_H
#define R1CS_DIGEST_H

#include "hash.h"
#include "r1cs.h"

enum { DIGEST_BLOCK_ROWS = 65536 };

struct block_digests {
    uint8_t (*digest)[SHA256_BYTES];
    size_t n;
    struct mem_block block;
};
void block_digests_free(struct block_digests *d);

/* Of structured matrices; blocks are hashed in parallel. */
CUZK_NODISCARD cuzk_status r1cs_digest(struct r1cs *r, uint8_t out[SHA256_BYTES],
                                       struct block_digests *blocks, struct pool *pool,
                                       const struct progress *progress, struct cuzk_error *err);

/* Streaming, from flat rows, with nothing stored but the block digests: a row sink. Of the stats,
 * the counts are filled: rows, non-zeros, and the highest input and aux index that occur, plus one.
 */
struct flat_digest;
CUZK_NODISCARD cuzk_status flat_digest_create(struct flat_digest **out, struct cuzk_error *err);
struct row_sink flat_digest_sink(struct flat_digest *d);
CUZK_NODISCARD cuzk_status flat_digest_finish(struct flat_digest *d, uint8_t out[SHA256_BYTES],
                                              struct r1cs_stats *stats /* may be NULL */,
                                              struct cuzk_error *err);
/* The block digests; valid until flat_digest_destroy. */
const struct block_digests *flat_digest_blocks(const struct flat_digest *d);
void flat_digest_destroy(struct flat_digest *d);

/* Of a witness, with the circuit's kind plane. blocks may be NULL. */
CUZK_NODISCARD cuzk_status witness_digest(const struct witness *w, const uint64_t *kind_plane,
                                          uint8_t inputs[SHA256_BYTES], uint8_t aux[SHA256_BYTES],
                                          struct block_digests *blocks, struct pool *pool,
                                          struct cuzk_error *err);

#endif
