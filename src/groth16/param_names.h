/*
 * The network's public files: names, digests and sector sizes (data/parameters.json, compiled in),
 * the digest that identifies them, and where a circuit's file is looked for.
 *
 * Development parameters never carry a name of the network's: they are `<circuit id>.dev.params`
 * and `<circuit id>.dev.vk`.
 */
#ifndef GROTH16_PARAM_NAMES_H
#define GROTH16_PARAM_NAMES_H

#include <stdbool.h>

#include "param_source.h"
#include "progress.h"

enum { PARAM_DIGEST_HEX = 32 };

struct network_file {
    const char *name;
    const char *digest; /* hex of the first 16 bytes of BLAKE2b-512 over the file */
    uint64_t sector_bytes;
};

/* The compiled-in table; *n entries. */
const struct network_file *network_files(size_t *n);
/* The entry of the path's last component; NULL: not a network file. */
const struct network_file *network_file_by_path(const char *path);
const struct network_file *network_file_by_digest(const char *digest);

/*
 * Digest of a source, as in the table. The bytes are read once, in slices.
 * Errors: FILE_READ, NO_MEMORY, CANCELLED, RANDOMNESS.
 */
CUZK_NODISCARD cuzk_status param_digest(char out[PARAM_DIGEST_HEX + 1],
                                        const struct param_source *src,
                                        const struct progress *progress, struct cuzk_error *err);

/*
 * Holds a digest against the entry's. Errors: PARAM_SWAPPED, when it is another entry's, which is
 * then named; PARAM_DIGEST.
 */
CUZK_NODISCARD cuzk_status param_digest_check(const char *path, const struct network_file *entry,
                                              const char *digest, struct cuzk_error *err);

/*
 * What to say of a file whose counts are another circuit's, `err` saying so already: PARAM_CIRCUIT,
 * or, if it is another of the network's files under a name of the network's, PARAM_SWAPPED, and
 * `err` says that.
 */
CUZK_NODISCARD cuzk_status param_explain_counts(const struct param_source *src,
                                                const struct progress *progress,
                                                struct cuzk_error *err);

/* Where a circuit's file was found. */
struct param_place {
    char path[1024];
    bool development;
};

/*
 * Looks into `dir` for the network's file (`network_name`, NULL: the network has none), then for
 * the development file of the circuit id. `suffix` is "params" or "vk"; network_name may have
 * either suffix. Errors: PARAM_MISSING, naming both; USAGE for a path that is too long.
 */
CUZK_NODISCARD cuzk_status param_find(struct param_place *out, const char *dir,
                                      const char *network_name, const char *circuit_id,
                                      const char *suffix, struct cuzk_error *err);

/* `dir/circuit_id.dev.suffix`. Errors: USAGE for a path that is too long. */
CUZK_NODISCARD cuzk_status param_development_path(char *out, size_t out_bytes, const char *dir,
                                                  const char *circuit_id, const char *suffix,
                                                  struct cuzk_error *err);

#endif
