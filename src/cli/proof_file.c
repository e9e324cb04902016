#include "proof_file.h"

#include <inttypes.h>

#include "file.h"
#include "prover.h"

/* Longer than any sector's proof: 126 partitions of 192 bytes. */
static const size_t limit_bytes = 1 << 20;

static cuzk_status select_partitions(struct proof_file *f, size_t n_bytes, const char *path,
                                     const struct option_u64 *partition, struct cuzk_error *err) {
    const unsigned all = c1_partitions(f->c1);
    if (partition->given && partition->value >= all)
        return error_set(err, CUZK_USAGE, "--partition", "partitions are counted from 0",
                         "there is no partition %" PRIu64 "; the sector has %u", partition->value,
                         all);
    const bool whole = n_bytes == (size_t)all * PROOF_BYTES;
    if (!whole && !(partition->given && n_bytes == PROOF_BYTES))
        return error_set(err, CUZK_PROOF_ENCODING, path, "is it the proof of this sector?",
                         "%zu bytes; %u partition%s of %d bytes were expected", n_bytes,
                         partition->given ? 1 : all, partition->given || all == 1 ? "" : "s",
                         PROOF_BYTES);
    f->proof = f->block.ptr;
    f->first = partition->given ? (unsigned)partition->value : 0;
    f->n = partition->given ? 1 : all;
    if (partition->given && whole) f->proof += (size_t)f->first * PROOF_BYTES;
    return CUZK_OK;
}

cuzk_status proof_file_open(struct proof_file *out, const char *c1_path, const char *proof_path,
                            const struct option_u64 *partition, struct cuzk_error *err) {
    *out = (struct proof_file){0};
    size_t n_bytes = 0;
    cuzk_status s = c1_decode_file(&out->c1, c1_path, NULL, err);
    if (s == CUZK_OK) s = file_read(&out->block, &n_bytes, proof_path, limit_bytes, err);
    if (s == CUZK_OK) s = select_partitions(out, n_bytes, proof_path, partition, err);
    if (s != CUZK_OK) proof_file_close(out);
    return s;
}

void proof_file_close(struct proof_file *f) {
    c1_destroy(f->c1);
    mem_give(&f->block);
    *f = (struct proof_file){0};
}
