#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *text;
    int exit_code;
} status_table[CUZK_STATUS_COUNT] = {[CUZK_OK] = {"OK", "done", 0},
#define CUZK_X(symbol, name_, code, text_) [CUZK_##symbol] = {name_, text_, code},
                                     CUZK_STATUS_MAP(CUZK_X)
#undef CUZK_X
};

cuzk_status error_set(struct cuzk_error *err, cuzk_status code, const char *where, const char *hint,
                      const char *fmt, ...) {
    if (err == NULL) return code;
    err->code = code;
    snprintf(err->where, sizeof err->where, "%s", where != NULL ? where : "");
    snprintf(err->hint, sizeof err->hint, "%s", hint != NULL ? hint : "");
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->what, sizeof err->what, fmt, args);
    va_end(args);
    return code;
}

const char *status_name(cuzk_status code) {
    return (unsigned)code < CUZK_STATUS_COUNT ? status_table[code].name : "UNKNOWN";
}

const char *status_text(cuzk_status code) {
    return (unsigned)code < CUZK_STATUS_COUNT ? status_table[code].text : "unknown status";
}

int status_exit_code(cuzk_status code) {
    return (unsigned)code < CUZK_STATUS_COUNT ? status_table[code].exit_code : 4;
}

int error_format(const struct cuzk_error *err, char *out, size_t out_bytes) {
    return snprintf(out, out_bytes, "CUZK-E-%s: %s%s%s%s%s", status_name(err->code), err->where,
                    err->where[0] != '\0' ? ": " : "",
                    err->what[0] != '\0' ? err->what : status_text(err->code),
                    err->hint[0] != '\0' ? ": " : "", err->hint);
}
