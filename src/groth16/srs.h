/*
 * The parameters of one circuit, loaded: all points of a parameter file as affine points in
 * Montgomery form (class MEM_SRS).
 *
 * Checks (doc/params.md): the length against the counts before a point is read; the counts against
 * the circuit's; for a file with a name of the network's, its digest; flags and range of every
 * point, at every load; the curve's equation, membership in the group, and the digest, unless a
 * stamp says that this very file passed them.
 *
 * An srs is immutable after it was loaded. Threads: any number may use one.
 */
#ifndef GROTH16_SRS_H
#define GROTH16_SRS_H

#include "param_names.h"
#include "progress.h"
#include "vkey.h"

struct srs {
    struct vkey vk;
    struct param_layout layout;
    const g1_affine *h, *l, *a, *b_g1; /* layout.count[…] points each, one after the other */
    const g2_affine *b_g2;
    bool network;       /* the file has the network's name and digest */
    bool stamped;       /* a stamp was found: digest and group check were not repeated */
    bool stamp_written; /* … or one was written now */
    char digest[PARAM_DIGEST_HEX + 1]; /* empty for a source in memory */
    struct mem_block g1_block, g2_block;
};

struct srs_options {
    const struct r1cs_stats *circuit; /* NULL: the counts are not compared */
    struct pool *pool;
    const struct progress *progress;
    bool ignore_stamp; /* check everything, and write no stamp */
};

/*
 * Errors: PARAM_MISSING, PARAM_TRUNC, PARAM_ZERO, PARAM_HTML, PARAM_HEADER, PARAM_CIRCUIT,
 * PARAM_DIGEST, PARAM_SWAPPED, PARAM_POINT, PARAM_SUBGROUP (both with section and index),
 * FILE_OPEN, FILE_READ, NO_MEMORY, CANCELLED, RANDOMNESS.
 */
CUZK_NODISCARD cuzk_status srs_load(struct srs **out, const char *path,
                                    const struct srs_options *options, struct cuzk_error *err);
/* The same from an open source, which stays the caller's; stamps are for files only. */
CUZK_NODISCARD cuzk_status srs_load_source(struct srs **out, const struct param_source *src,
                                           const struct srs_options *options,
                                           struct cuzk_error *err);
void srs_destroy(struct srs *srs); /* accepts NULL */

/* Bytes of class MEM_SRS that the parameters of this layout take. */
size_t srs_bytes(const struct param_layout *layout);

#endif
