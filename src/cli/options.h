/*
 * Command-line options from one table a command: parsing, --help and error texts.
 *
 * Parsing is getopt_long's. Numbers are decimal and must fit; an unknown option, a missing value or
 * a stray argument is a USAGE error that names it.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

enum option_kind {
    OPTION_STRING, /* const char ** */
    OPTION_U64,    /* struct option_u64 * */
    OPTION_FLAG,   /* bool * */
    OPTION_END
};

struct option_u64 {
    uint64_t value;
    bool given;
};

struct option_spec {
    const char *name; /* without the dashes; "c|count": with the short form -c */
    enum option_kind kind;
    void *target;
    const char *value_name; /* "FILE"; NULL for flags */
    const char *help;
    bool required;
};

struct command_spec {
    const char *usage;                 /* "cuzk prove --c1 FILE [options]" */
    const char *summary;               /* a paragraph */
    const struct option_spec *options; /* ends with OPTION_END */
};

/*
 * Parses argv[1..]. *help_shown is set when --help was given and printed to stdout; the caller then
 * ends with success. Errors: USAGE.
 */
CUZK_NODISCARD cuzk_status options_parse(const struct command_spec *spec, int argc, char **argv,
                                         bool *help_shown, struct cuzk_error *err);

#endif
