/*
 * A TOML file as a series of calls, one for each value: the one door to toml++, whose C++ stays
 * behind it.
 *
 * Tables are walked into, so that [memory] total_budget arrives as "memory.total_budget"; a table
 * itself arrives before what is in it (an empty one would otherwise pass unseen). An array arrives
 * as TOML_ARRAY with its length, then its elements one by one, with `index` from 0; arrays and
 * tables inside an array arrive as their types only and are not walked into. Calls come in the
 * order of the file.
 *
 * Threads: pure.
 */
#ifndef CLI_TOML_READER_H
#define CLI_TOML_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "error.h"

enum toml_type {
    TOML_STRING,
    TOML_INTEGER,
    TOML_FLOAT,
    TOML_BOOLEAN,
    TOML_TIME, /* a date, a time, or both */
    TOML_ARRAY,
    TOML_TABLE
};
/* "a string", "an integer", …: for sentences. */
const char *toml_type_name(enum toml_type type);

struct toml_value {
    const char *key; /* "memory.total_budget"; valid during the call */
    enum toml_type type;
    int index;          /* of an array's element; -1: no element */
    const char *string; /* TOML_STRING; valid during the call */
    int64_t integer;
    double real;
    bool boolean;
    size_t n_items;  /* TOML_ARRAY */
    char where[320]; /* "cuzk.toml:12:3", for errors */
};

/* A status other than CUZK_OK ends the walk and is the reader's result. */
typedef cuzk_status (*toml_value_fn)(void *ctx, const struct toml_value *value,
                                     struct cuzk_error *err);

/*
 * Parses n bytes and walks through them; `name` is what errors call the text.
 * Errors: CONFIG (no TOML: where and why; a string with a NUL), NO_MEMORY, and those of `fn`.
 */
CUZK_NODISCARD cuzk_status toml_read(const char *name, const char *text, size_t n, toml_value_fn fn,
                                     void *ctx, struct cuzk_error *err);

#ifdef __cplusplus
}
#endif

#endif
