#include "log.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lock.h"
#include "utf8.h"

/* A pipe takes a write of up to PIPE_BUF bytes whole. */
enum { LINE_BYTES = PIPE_BUF, MESSAGE_BYTES = 3072, SLOW_LOG_MS = 100 };

static const struct {
    const char *name, *padded;
} levels[] = {
    [LOG_LEVEL_ERROR] = {"error", "ERROR"}, [LOG_LEVEL_WARN] = {"warn", "WARN "},
    [LOG_LEVEL_INFO] = {"info", "INFO "},   [LOG_LEVEL_DEBUG] = {"debug", "DEBUG"},
    [LOG_LEVEL_TRACE] = {"trace", "TRACE"},
};
enum { N_LEVELS = sizeof levels / sizeof levels[0] };

static _Atomic int threshold = LOG_LEVEL_INFO;
static atomic_bool as_json;

static struct lock sink_lock = {.mutex = PTHREAD_MUTEX_INITIALIZER, .rank = LOCK_LOG};
static atomic_bool has_sink; /* read without the lock, so that lines to stderr need none */
static void (*sink_function)(void *ctx, const char *line, size_t n);
static void *sink_ctx;

bool log_level_parse(enum log_level *out, const char *name) {
    for (int i = 0; i < N_LEVELS; i++) {
        if (strcmp(name, levels[i].name) == 0) {
            *out = (enum log_level)i;
            return true;
        }
    }
    return false;
}

void log_set(enum log_level level, bool json) {
    atomic_store(&threshold, (int)level);
    atomic_store(&as_json, json);
}

bool log_enabled(enum log_level level) {
    return (int)level <= atomic_load_explicit(&threshold, memory_order_relaxed);
}

void log_set_sink(void (*sink)(void *ctx, const char *line, size_t n), void *ctx) {
    lock_take(&sink_lock);
    sink_function = sink;
    sink_ctx = ctx;
    atomic_store(&has_sink, sink != NULL);
    lock_give(&sink_lock);
}

/* ---- one line in fixed space ---- */

struct line {
    size_t n;
    char text[LINE_BYTES];
};

/* What must still fit behind a text that is cut: the mark, the rest of the JSON, the newline. */
enum { LINE_RESERVE = 96 };

static void put_raw(struct line *line, const char *text, size_t n) {
    if (n > sizeof line->text - line->n) n = sizeof line->text - line->n;
    memcpy(line->text + line->n, text, n);
    line->n += n;
}

static void put(struct line *line, const char *text) {
    put_raw(line, text, strlen(text));
}

/*
 * Appends a text so that it can neither end the line nor leave its JSON string: control characters
 * and bytes that are no UTF-8 are written as escapes. Texts come from requests, too.
 */
static void put_escaped(struct line *line, const char *text, bool json) {
    while (*text != '\0') {
        char escape[8];
        const unsigned char c = (unsigned char)*text;
        const size_t n = utf8_character_bytes(text);
        const bool is_control = n == 1 && (c < 0x20 || c == 0x7F);
        const char *piece = text;
        size_t piece_bytes = n;
        if (n == 0 || is_control) {
            piece_bytes = (size_t)snprintf(escape, sizeof escape, json ? "\\u%04x" : "\\x%02x", c);
            piece = escape;
        } else if (json && (c == '"' || c == '\\')) {
            piece_bytes = (size_t)snprintf(escape, sizeof escape, "\\%c", c);
            piece = escape;
        }
        if (line->n + piece_bytes > sizeof line->text - LINE_RESERVE) {
            put(line, "...");
            return;
        }
        put_raw(line, piece, piece_bytes);
        text += n > 0 ? n : 1;
    }
}

/* UTC with milliseconds, as RFC 3339 writes it. */
static void put_time(struct line *line) {
    struct timespec now;
    struct tm utc;
    char seconds[32], text[48];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text, sizeof text, "%s.%03uZ", seconds, (unsigned)(now.tv_nsec / 1000000));
    put(line, text);
}

static void make_text(struct line *line, enum log_level level, const char *component,
                      const char *message) {
    put_time(line);
    put(line, " ");
    put(line, levels[level].padded);
    put(line, " ");
    put_escaped(line, component, false);
    put(line, ": ");
    put_escaped(line, message, false);
    put(line, "\n");
}

static void make_json(struct line *line, enum log_level level, const char *component,
                      const char *message, const char *code) {
    put(line, "{\"time\":\"");
    put_time(line);
    put(line, "\",\"level\":\"");
    put(line, levels[level].name);
    put(line, "\",\"component\":\"");
    put_escaped(line, component, true);
    put(line, "\",\"message\":\"");
    put_escaped(line, message, true);
    if (code != NULL) {
        put(line, "\",\"code\":\"CUZK-E-");
        put(line, code);
    }
    put(line, "\"}\n");
}

static void send_line(const struct line *line) {
    if (atomic_load(&has_sink)) {
        lock_take(&sink_lock);
        if (sink_function != NULL) sink_function(sink_ctx, line->text, line->n);
        lock_give(&sink_lock);
        return;
    }
    /* A log that cannot be written has nowhere to say so, and one that nobody reads must not stop
     * who writes it. */
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&ready, 1, SLOW_LOG_MS) == 0) return;
    while (write(STDERR_FILENO, line->text, line->n) < 0 && errno == EINTR) {
    }
}

static void send_message(enum log_level level, const char *component, const char *message,
                         const char *code) {
    struct line line = {.n = 0};
    if (atomic_load_explicit(&as_json, memory_order_relaxed))
        make_json(&line, level, component, message, code);
    else
        make_text(&line, level, component, message);
    send_line(&line);
}

void log_line(enum log_level level, const char *component, const char *fmt, ...) {
    if (!log_enabled(level)) return;
    const int saved = errno;
    char message[MESSAGE_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    send_message(level, component, message, NULL);
    errno = saved;
}

void log_error_record(enum log_level level, const char *component, const struct cuzk_error *err,
                      const char *fmt, ...) {
    if (!log_enabled(level)) return;
    const int saved = errno;
    char message[MESSAGE_BYTES];
    const size_t sentence_max = sizeof message - sizeof(struct cuzk_error) - 64; /* it is cut, not
                                                                                  the record */
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sentence_max, fmt, args);
    va_end(args);
    const size_t n = strlen(message);
    memcpy(message + n, ": ", 3);
    error_format(err, message + n + 2, sizeof message - n - 2);
    send_message(level, component, message, status_name(err->code));
    errno = saved;
}
