#include "param_names.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "groth16_common.h"
#include "hash.h"
#include "mem.h"

/* Made by CMake from data/parameters.json: {name, digest, sector size}, … */
static const struct network_file table[] = {
#include "network_files.inc"
};

enum { N_FILES = sizeof table / sizeof table[0] };

/* Bytes read and hashed at a time. */
enum { DIGEST_SLICE = 4 << 20 };

const struct network_file *network_files(size_t *n) {
    *n = N_FILES;
    return table;
}

const struct network_file *network_file_by_path(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < N_FILES; i++)
        if (strcmp(name, table[i].name) == 0) return &table[i];
    return NULL;
}

const struct network_file *network_file_by_digest(const char *digest) {
    for (size_t i = 0; i < N_FILES; i++)
        if (strcmp(digest, table[i].digest) == 0) return &table[i];
    return NULL;
}

static cuzk_status digest_slices(crypto_generichash_state *state, uint8_t *buffer,
                                 const struct param_source *src, const struct progress *progress,
                                 struct cuzk_error *err) {
    for (uint64_t at = 0; at < src->n_bytes;) {
        const uint64_t left = src->n_bytes - at;
        const size_t n = left < DIGEST_SLICE ? (size_t)left : DIGEST_SLICE;
        if (progress_cancelled(progress))
            return error_set(err, CUZK_CANCELLED, src->name, NULL, "the digest was not finished");
        CUZK_TRY(param_source_read(src, buffer, n, at, err));
        crypto_generichash_update(state, buffer, n);
        at += n;
        progress_report(progress, "parameter digest", at, src->n_bytes);
    }
    return CUZK_OK;
}

cuzk_status param_digest(char out[PARAM_DIGEST_HEX + 1], const struct param_source *src,
                         const struct progress *progress, struct cuzk_error *err) {
    struct mem_block buffer;
    CUZK_TRY(sodium_ready(err));
    CUZK_TRY(mem_take(&buffer, DIGEST_SLICE, MEM_OTHER, err));
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, crypto_generichash_BYTES_MAX);
    const cuzk_status s = digest_slices(&state, buffer.ptr, src, progress, err);
    mem_give(&buffer);
    if (s != CUZK_OK) return s;
    uint8_t digest[crypto_generichash_BYTES_MAX];
    static_assert(crypto_generichash_BYTES_MAX == 64, "BLAKE2b-512");
    crypto_generichash_final(&state, digest, sizeof digest);
    hex_encode(out, digest, PARAM_DIGEST_HEX / 2);
    return CUZK_OK;
}

cuzk_status param_digest_check(const char *path, const struct network_file *entry,
                               const char *digest, struct cuzk_error *err) {
    if (strcmp(entry->digest, digest) == 0) return CUZK_OK;
    const struct network_file *other = network_file_by_digest(digest);
    if (other != NULL)
        return error_set(err, CUZK_PARAM_SWAPPED, path, "give the files their own names again",
                         "it is the file %s under another's name", other->name);
    return error_set(err, CUZK_PARAM_DIGEST, path,
                     "fetch the file again; parameters made here must not carry a network name",
                     "digest %s, the network's file has %s", digest, entry->digest);
}

cuzk_status param_explain_counts(const struct param_source *src, const struct progress *progress,
                                 struct cuzk_error *err) {
    const struct network_file *entry = network_file_by_path(src->name);
    char digest[PARAM_DIGEST_HEX + 1];
    if (entry == NULL || param_digest(digest, src, progress, NULL) != CUZK_OK)
        return CUZK_PARAM_CIRCUIT;
    const struct network_file *other = network_file_by_digest(digest);
    if (other == NULL || other == entry) return CUZK_PARAM_CIRCUIT;
    return param_digest_check(src->name, entry, digest, err);
}

static cuzk_status too_long(const char *dir, struct cuzk_error *err) {
    return error_set(err, CUZK_USAGE, dir, "use a shorter path", "the path is too long");
}

cuzk_status param_development_path(char *out, size_t out_bytes, const char *dir,
                                   const char *circuit_id, const char *suffix,
                                   struct cuzk_error *err) {
    const int n = snprintf(out, out_bytes, "%s/%s.dev.%s", dir, circuit_id, suffix);
    return n >= 0 && (size_t)n < out_bytes ? CUZK_OK : too_long(dir, err);
}

/* `dir/stem.suffix`, where stem is the network's name without its own suffix. */
static cuzk_status network_path(char *out, size_t out_bytes, const char *dir, const char *name,
                                const char *suffix, struct cuzk_error *err) {
    const char *dot = strrchr(name, '.');
    const size_t stem = dot != NULL && (strcmp(dot, ".params") == 0 || strcmp(dot, ".vk") == 0)
                            ? (size_t)(dot - name)
                            : strlen(name);
    const int n = snprintf(out, out_bytes, "%s/%.*s.%s", dir, (int)stem, name, suffix);
    return n >= 0 && (size_t)n < out_bytes ? CUZK_OK : too_long(dir, err);
}

cuzk_status param_find(struct param_place *out, const char *dir, const char *network_name,
                       const char *circuit_id, const char *suffix, struct cuzk_error *err) {
    char network[sizeof out->path] = "";
    if (network_name != NULL) {
        CUZK_TRY(network_path(network, sizeof network, dir, network_name, suffix, err));
        if (access(network, F_OK) == 0) {
            memcpy(out->path, network, sizeof network);
            out->development = false;
            return CUZK_OK;
        }
    }
    CUZK_TRY(param_development_path(out->path, sizeof out->path, dir, circuit_id, suffix, err));
    out->development = true;
    if (access(out->path, F_OK) == 0) return CUZK_OK;
    const char *slash = strrchr(network, '/');
    return error_set(err, CUZK_PARAM_MISSING, dir,
                     "fetch the network's parameters, or make development ones with `cuzk params "
                     "setup`",
                     "neither %s nor %s.dev.%s is there",
                     slash != NULL ? slash + 1 : "a network file", circuit_id, suffix);
}
