#include "json_out.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

static void write_string(FILE *f, const char *s) {
    fputc('"', f);
    for (; *s != '\0'; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') {
            fprintf(f, "\\%c", c);
        } else if (c < 0x20) {
            fprintf(f, "\\u%04x", c);
        } else {
            fputc(c, f);
        }
    }
    fputc('"', f);
}

static void item(struct json_out *j, const char *key) {
    if (j->depth > 0) {
        fputs(j->has_items[j->depth] ? ",\n" : "\n", j->stream);
        fprintf(j->stream, "%*s", 2 * j->depth, "");
    }
    j->has_items[j->depth] = true;
    if (key != NULL) {
        write_string(j->stream, key);
        fputs(": ", j->stream);
    }
}

static void open_level(struct json_out *j, const char *key, char bracket) {
    item(j, key);
    assert(j->depth < 16);
    fputc(bracket, j->stream);
    j->has_items[++j->depth] = false;
}

static void close_level(struct json_out *j, char bracket) {
    assert(j->depth > 0);
    const bool any = j->has_items[j->depth--];
    if (any) fprintf(j->stream, "\n%*s", 2 * j->depth, "");
    fputc(bracket, j->stream);
}

void json_begin(struct json_out *j, FILE *stream) {
    *j = (struct json_out){.stream = stream};
}
void json_end(struct json_out *j) {
    fputc('\n', j->stream);
}
void json_object_begin(struct json_out *j, const char *key) {
    open_level(j, key, '{');
}
void json_object_end(struct json_out *j) {
    close_level(j, '}');
}
void json_array_begin(struct json_out *j, const char *key) {
    open_level(j, key, '[');
}
void json_array_end(struct json_out *j) {
    close_level(j, ']');
}

void json_string(struct json_out *j, const char *key, const char *value) {
    item(j, key);
    write_string(j->stream, value);
}

void json_u64(struct json_out *j, const char *key, uint64_t value) {
    item(j, key);
    fprintf(j->stream, "%" PRIu64, value);
}

void json_double(struct json_out *j, const char *key, double value) {
    item(j, key);
    if (isfinite(value)) {
        fprintf(j->stream, "%.6g", value);
    } else {
        fputs("null", j->stream);
    }
}

void json_bool(struct json_out *j, const char *key, bool value) {
    item(j, key);
    fputs(value ? "true" : "false", j->stream);
}
