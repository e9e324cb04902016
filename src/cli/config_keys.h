/*
 * The keys of the configuration: one table with each key's form, place in struct config, and range.
 *
 * Inside of config.c and of the tests that hold the table against doc/configuration.md.
 */
#ifndef CLI_CONFIG_KEYS_H
#define CLI_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_form {
    CONFIG_TEXT,     /* char *; an empty string is NULL */
    CONFIG_LISTEN,   /* a string, or an array of them, into rpc.listen */
    CONFIG_SIZE,     /* uint64_t, bytes */
    CONFIG_BUDGET,   /* the same, or "auto" for 0 */
    CONFIG_TIME,     /* uint64_t, nanoseconds; the range is in seconds */
    CONFIG_COUNT,    /* unsigned */
    CONFIG_FLAG,     /* bool */
    CONFIG_MODE,     /* unsigned, as chmod has it: "0660" */
    CONFIG_LEVEL,    /* enum log_level */
    CONFIG_FORMAT,   /* "text" or "json", into log_json */
    CONFIG_PRELOAD,  /* circuit ids */
    CONFIG_DEVICES,  /* numbers or names of GPUs */
    CONFIG_BACKEND,  /* "cpu" */
    CONFIG_UNUSED,   /* a key in use today without a meaning here: warns unless it is `usual` */
    CONFIG_OBSOLETE, /* warns */
};

struct config_key {
    const char *name; /* "memory.total_budget" */
    enum config_form form;
    size_t offset;     /* in struct config */
    uint64_t min, max; /* of sizes, times, counts */
    int64_t usual;     /* UNUSED: the value that passes without a word */
    const char *note;  /* UNUSED, OBSOLETE: what to use instead, a sentence's end */
};

extern const struct config_key config_keys[];
extern const size_t n_config_keys;

const struct config_key *config_key_find(const char *name); /* NULL: no such key */
/* The known key that is nearest to `name`: the same name in another section, else the one with the
 * fewest edits. Never NULL. */
const struct config_key *config_key_nearest(const char *name);
/* Is `name` a section's name, as "memory"? */
bool config_section_known(const char *name);
/* Fewest insertions, deletions and replacements of bytes that make b of a. */
unsigned edit_distance(const char *a, const char *b);

#endif
