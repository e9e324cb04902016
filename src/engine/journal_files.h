/*
 * The files of the state folder beside the database: the folder itself and the payloads.
 *
 * A payload appears under its name only when it is whole and on the disk. Errors: STATE, with the
 * system's reason. Threads: the journal's lock.
 */
#ifndef ENGINE_JOURNAL_FILES_H
#define ENGINE_JOURNAL_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

/* A STATE error: "DOING: reason" at `path`. */
cuzk_status journal_file_failure(const char *path, const char *doing, int system_code,
                                 struct cuzk_error *err);

/* Makes DIR and DIR/payload, mode 0700, where they are not there. */
CUZK_NODISCARD cuzk_status journal_folder_make(const char *dir, struct cuzk_error *err);

CUZK_NODISCARD cuzk_status journal_payload_write(const char *dir, const char *job_id,
                                                 const void *payload, size_t n,
                                                 struct cuzk_error *err);
void journal_payload_remove(const char *dir, const char *job_id);
/* Allocated; NULL: no memory. */
char *journal_payload_path(const char *dir, const char *job_id);

/* Removes all files in DIR/payload but those that are wanted. */
CUZK_NODISCARD cuzk_status journal_payloads_sweep(const char *dir,
                                                  bool (*wanted)(void *ctx, const char *name),
                                                  void *ctx, struct cuzk_error *err);

#endif
