/*
 * C1: what a sealed sector's first commit phase puts out, decoded and checked.
 *
 * The text is Curio's wrapper `{"SectorNum":n,"Phase1Out":"<base64>","SectorSize":n}` or the inner
 * JSON alone; doc/c1.md describes it field by field. Decoding streams: the text is never held
 * whole, base64 is decoded on the fly, and what stays is the partitions in the form that the
 * circuit takes (memory of class MEM_INPUT) and some kilobytes. Decoding refuses every text that
 * has not exactly the shape of its registered proof; c1_check() then decides whether the values are
 * right.
 *
 * Errors name a place by its JSON path
 * (`Phase1Out.vanilla_proofs.StackedDrg2KiBV1[0][1].comm_d_proofs`) and by the byte offset in the
 * file and, within Phase1Out, in the decoded text: while decoding that of the token at fault, while
 * checking that of the challenge, or of the value beside the proofs.
 *
 * Threads: a `struct c1` is immutable once c1_decode() has returned it.
 */
#ifndef FILECOIN_C1_H
#define FILECOIN_C1_H

#include "registered_proof.h"

struct c1; /* opaque; owned by who decoded it */

/*
 * Where the text comes from. `read` puts up to `capacity` bytes into `out` and returns how many;
 * 0 is the end, a negative value is an error that it has described in `err`.
 */
struct c1_source {
    long (*read)(void *ctx, void *out, size_t capacity, struct cuzk_error *err);
    void *ctx;
};

struct c1_limits {
    uint64_t max_bytes; /* of the text; a longer one is INPUT_SIZE */
    unsigned max_depth; /* of nesting, outer and inner text each */
};
/* 1 GiB (the largest real one, 126 partitions of a 64 GiB sector, has 650 MB) and 64 levels. */
extern const struct c1_limits c1_default_limits;

/* `limits` NULL: the default ones. On failure *out is NULL and nothing stays allocated. */
CUZK_NODISCARD cuzk_status c1_decode(struct c1 **out, const struct c1_source *source,
                                     const struct c1_limits *limits, struct cuzk_error *err);
CUZK_NODISCARD cuzk_status c1_decode_memory(struct c1 **out, const void *text, size_t n,
                                            const struct c1_limits *limits, struct cuzk_error *err);
/* Errors also: FILE_OPEN, FILE_READ. */
CUZK_NODISCARD cuzk_status c1_decode_file(struct c1 **out, const char *path,
                                          const struct c1_limits *limits, struct cuzk_error *err);
void c1_destroy(struct c1 *c1); /* accepts NULL */

/* ---- what it says ---- */

/* The five 32-byte values as the file holds them. */
struct c1_values {
    uint8_t comm_r[32], comm_d[32], replica_id[32], seed[32], ticket[32];
};
const struct registered_seal *c1_registered(const struct c1 *c1);
const struct c1_values *c1_values(const struct c1 *c1);
bool c1_is_wrapped(const struct c1 *c1);
/* Return false, and leave *out alone, when the file does not say. */
bool c1_sector_number(const struct c1 *c1, uint64_t *out);
bool c1_sector_size(const struct c1 *c1, uint64_t *out);
unsigned c1_partitions(const struct c1 *c1);
/* Borrowed; lives as long as c1. comm_c and comm_r_last are those that the first challenge's paths
 * claim. */
const struct porep_partition *c1_partition(const struct c1 *c1, unsigned k);
/* Bytes of class MEM_INPUT that it holds. */
size_t c1_bytes(const struct c1 *c1);
/* The same from the registered proof alone: what any text of it will hold once it is decoded. */
size_t c1_decoded_bytes(const struct registered_seal *seal);

/* ---- whether it is right ---- */

/* What the caller knows of the sector. */
struct c1_claims {
    bool has_miner, has_sector;
    uint64_t miner;  /* the miner's actor id */
    uint64_t sector; /* must equal the file's SectorNum, where that is there */
};

/*
 * Checks everything that the circuit would, and every copy of a value in the file, in parallel over
 * challenges: replica id (when miner and sector number are known, from `claims` or the file),
 * comm_r, challenges, parents, Merkle paths and roots, columns, labels, encoding. `claims`, `pool`
 * and `progress` may be NULL. Needs no memory worth mention. Of several faults one is reported: of
 * the first challenge that has any, whatever the number of threads.
 * Errors: REPLICA_ID, COMM_R, COMM_D, CHALLENGE, PARENT, MERKLE_PATH, MERKLE_ROOT, COLUMN, LABEL,
 * ENCODING, CANCELLED.
 */
CUZK_NODISCARD cuzk_status c1_check(const struct c1 *c1, const struct c1_claims *claims,
                                    struct pool *pool, const struct progress *progress,
                                    struct cuzk_error *err);

/* The part of c1_check() that looks at the sector number and the replica id. Errors: REPLICA_ID. */
CUZK_NODISCARD cuzk_status c1_check_replica_id(const struct c1 *c1, const struct c1_claims *claims,
                                               struct cuzk_error *err);

/* Is enough known for c1_check() to check the replica id (and with it ticket and sector number)? */
bool c1_replica_id_checkable(const struct c1 *c1, const struct c1_claims *claims);

/* ---- what a verifier needs ---- */

/* Number of public inputs of one partition, ONE not counted. */
size_t c1_public_inputs_count(const struct c1 *c1);
/* The public inputs of partition k, ONE left out, into out[c1_public_inputs_count()]: computed from
 * registered proof, replica id, comm_d, comm_r and seed, never from the vanilla proofs. */
void c1_public_inputs(const struct c1 *c1, unsigned k, fr *out);

#endif
