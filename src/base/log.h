/*
 * The log: one line for each event, as text or as JSON, to stderr.
 *
 *     2026-12-01T02:31:28.123Z INFO  engine: job 17: partition 3 of 10 proved (cpu:0, 2.31 s)
 *     {"time":"…","level":"info","component":"engine","message":"…","code":"…"}
 *
 * A line is written with one write(2), so that lines of threads and processes do not mix. ERROR is
 * for what an operator must act on and always has a code (log_error_record); a client's mistake is
 * INFO.
 *
 * Threads: any. Set level and format once, before other threads log.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

#include "error.h"

enum log_level {
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARN,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG,
    LOG_LEVEL_TRACE
};

/* "error", "warn", "info", "debug", "trace"; false: no level of that name. */
bool log_level_parse(enum log_level *out, const char *name);

void log_set(enum log_level level, bool json);
bool log_enabled(enum log_level level);

void log_line(enum log_level level, const char *component, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with the record's code and text after the sentence. */
void log_error_record(enum log_level level, const char *component, const struct cuzk_error *err,
                      const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* For tests: lines go to this function instead of stderr (NULL: back to stderr). */
void log_set_sink(void (*sink)(void *ctx, const char *line, size_t n), void *ctx);

#endif
