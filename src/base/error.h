/*
 * Filling and printing of `struct cuzk_error` (cuzk/status.h).
 *
 * Threads: all functions are pure but for the record that they are given.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stddef.h>

#include <cuzk/status.h>

#define CUZK_NODISCARD __attribute__((warn_unused_result))

/* Returns the status of `expr` from the calling function unless it is CUZK_OK. */
#define CUZK_TRY(expr)                                                                             \
    do {                                                                                           \
        const cuzk_status try_status_ = (expr);                                                    \
        if (try_status_ != CUZK_OK) return try_status_;                                            \
    } while (0)

/*
 * Fills `err` (may be NULL) and returns `code`, so that a function can `return error_set(...)`.
 * `where` and `hint` may be NULL; `fmt` makes the sentence in the middle.
 */
cuzk_status error_set(struct cuzk_error *err, cuzk_status code, const char *where, const char *hint,
                      const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The part after `CUZK-E-`, e.g. "PARAM-TRUNC"; "OK" for CUZK_OK. */
const char *status_name(cuzk_status code);

/* The summary in the status map. */
const char *status_text(cuzk_status code);

/* The exit code that the command line uses for it (0 to 4). */
int status_exit_code(cuzk_status code);

/* Writes `CUZK-E-NAME: where: what: hint` into `out`; returns its length, as snprintf does. */
int error_format(const struct cuzk_error *err, char *out, size_t out_bytes);

#endif
