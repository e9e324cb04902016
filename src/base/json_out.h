/*
 * Writes JSON to a stream: indented by two spaces, keys in the order of the calls.
 *
 * The calls follow the document: json_object_begin(j, NULL), json_u64(j, "a", 1),
 * json_array_begin(j, "b"), json_string(j, NULL, "x"), json_array_end(j), json_object_end(j). `key`
 * is NULL inside an array and for the outermost value. Nesting deeper than 16 is a caller's bug.
 */
#ifndef BASE_JSON_OUT_H
#define BASE_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_out {
    FILE *stream;
    int depth;
    bool has_items[17];
};

void json_begin(struct json_out *j, FILE *stream);
void json_end(struct json_out *j); /* final newline */
void json_object_begin(struct json_out *j, const char *key);
void json_object_end(struct json_out *j);
void json_array_begin(struct json_out *j, const char *key);
void json_array_end(struct json_out *j);
void json_string(struct json_out *j, const char *key, const char *value);
void json_u64(struct json_out *j, const char *key, uint64_t value);
void json_double(struct json_out *j, const char *key, double value); /* 6 significant digits */
void json_bool(struct json_out *j, const char *key, bool value);

#endif
