/*
 * Files: read whole with a limit, write whole or not at all.
 *
 * Errors name the file and the system's reason: FILE_OPEN, FILE_READ, FILE_WRITE, INPUT_SIZE.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "mem.h"

/*
 * Reads the whole file into a block of class MEM_INPUT; *n_bytes is its length. A file longer than
 * `limit` bytes is refused with INPUT_SIZE before it is read.
 */
CUZK_NODISCARD cuzk_status file_read(struct mem_block *out, size_t *n_bytes, const char *path,
                                     size_t limit, struct cuzk_error *err);

/*
 * A file that appears under its name only when it is complete: file_begin() opens a temporary
 * beside it, file_commit() syncs and renames it, file_abandon() removes it. What is there under the
 * name and is no regular file (a folder, a pipe, a device) is refused at once. After commit or
 * abandon the struct may be reused. file_abandon() after a failed commit, or twice, does nothing.
 */
struct out_file {
    FILE *stream; /* write here; errors may be left for file_commit() to find */
    char path[1024];
    char temporary[1060];
};
CUZK_NODISCARD cuzk_status file_begin(struct out_file *f, const char *path, struct cuzk_error *err);
CUZK_NODISCARD cuzk_status file_commit(struct out_file *f, struct cuzk_error *err);
void file_abandon(struct out_file *f);

/* Writes n bytes under `path`, whole or not at all. */
CUZK_NODISCARD cuzk_status file_write(const char *path, const void *data, size_t n,
                                      struct cuzk_error *err);

/* pread of exactly n bytes. Errors: FILE_READ, also when the file ends before. */
CUZK_NODISCARD cuzk_status file_pread(int fd, void *out, size_t n, uint64_t offset,
                                      const char *path, struct cuzk_error *err);

#endif
