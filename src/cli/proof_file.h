/*
 * A proof file beside the sector that it belongs to: what `verify` and `export` share.
 */
#ifndef CLI_PROOF_FILE_H
#define CLI_PROOF_FILE_H

#include "c1.h"
#include "mem.h"
#include "options.h"

struct proof_file {
    struct c1 *c1;
    struct mem_block block;
    unsigned first, n;    /* the partitions in the file */
    const uint8_t *proof; /* n * 192 bytes */
};

/*
 * Decodes the C1 file and reads the proof. With `partition` given the file holds that partition's
 * proof alone, or all of them, of which this one is taken; else it must hold all.
 * Errors: those of c1_decode_file; PROOF_ENCODING when the length fits neither; USAGE.
 */
CUZK_NODISCARD cuzk_status proof_file_open(struct proof_file *out, const char *c1_path,
                                           const char *proof_path,
                                           const struct option_u64 *partition,
                                           struct cuzk_error *err);
void proof_file_close(struct proof_file *f);

#endif
