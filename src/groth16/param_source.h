/*
 * Where parameters are read from: a file, or bytes in memory (tests, fuzzers).
 *
 * Threads: reads may go on at once from any number of threads.
 */
#ifndef GROTH16_PARAM_SOURCE_H
#define GROTH16_PARAM_SOURCE_H

#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/*
 * What the system says of a file: enough to notice that it was replaced or written to. ctime is set
 * by the kernel only, so that it also shows a write whose mtime was set back.
 */
struct file_identity {
    uint64_t device, inode, n_bytes;
    uint64_t mtime_ns, ctime_ns;
};

struct param_source {
    const char *name; /* borrowed: for errors */
    uint64_t n_bytes;
    const uint8_t *data; /* NULL: a file */
    int fd;
    struct file_identity identity; /* of the file as it was opened */
};

/* Opens a file. Errors: PARAM_MISSING, FILE_OPEN. `path` is borrowed until it is closed. */
CUZK_NODISCARD cuzk_status param_source_open(struct param_source *out, const char *path,
                                             struct cuzk_error *err);
void param_source_memory(struct param_source *out, const char *name, const uint8_t *data, size_t n);
void param_source_close(struct param_source *src); /* may be called again */

/* Exactly n bytes. Errors: FILE_READ. */
CUZK_NODISCARD cuzk_status param_source_read(const struct param_source *src, void *out, size_t n,
                                             uint64_t offset, struct cuzk_error *err);

/* The identity of the open file now; zeros for memory. Errors: FILE_READ. */
CUZK_NODISCARD cuzk_status param_source_identity(const struct param_source *src,
                                                 struct file_identity *out, struct cuzk_error *err);

#endif
