#include "options.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 24, HELP_VALUE = 1000 };

/* The short form of an option; 0: none. */
static char letter_of(const struct option_spec *o) {
    return o->name[1] == '|' ? o->name[0] : '\0';
}

static const char *name_of(const struct option_spec *o) {
    return letter_of(o) != '\0' ? o->name + 2 : o->name;
}

static void print_help(const struct command_spec *spec) {
    printf("usage: %s\n\n%s\n\noptions:\n", spec->usage, spec->summary);
    for (const struct option_spec *o = spec->options; o->kind != OPTION_END; o++) {
        char left[64];
        char letter[8] = "";
        if (letter_of(o) != '\0') snprintf(letter, sizeof letter, "-%c, ", letter_of(o));
        snprintf(left, sizeof left, "%s--%s%s%s", letter, name_of(o),
                 o->value_name != NULL ? " " : "", o->value_name != NULL ? o->value_name : "");
        printf("  %-24s %s%s\n", left, o->help, o->required ? " (required)" : "");
    }
    printf("  %-24s %s\n", "--help", "this text");
}

static cuzk_status set_value(const struct option_spec *o, const char *text,
                             struct cuzk_error *err) {
    char where[80];
    snprintf(where, sizeof where, "--%s", name_of(o));
    switch (o->kind) {
    case OPTION_FLAG:
        *(bool *)o->target = true;
        return CUZK_OK;
    case OPTION_STRING:
        *(const char **)o->target = text;
        return CUZK_OK;
    case OPTION_U64: {
        struct option_u64 *target = o->target;
        char *end = NULL;
        errno = 0;
        const unsigned long long v = strtoull(text, &end, 10);
        if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
            return error_set(err, CUZK_USAGE, where, "give a decimal number",
                             "'%s' is not a number that fits", text);
        *target = (struct option_u64){v, true};
        return CUZK_OK;
    }
    case OPTION_END:
        break;
    }
    assert(!"option kind");
    return CUZK_INTERNAL;
}

static const struct option_spec *missing_option(const struct command_spec *spec,
                                                const bool *given) {
    for (size_t i = 0; spec->options[i].kind != OPTION_END; i++) {
        if (spec->options[i].required && !given[i]) return &spec->options[i];
    }
    return NULL;
}

/* Letters lie above the numbers of options. */
static int option_of_letter(const struct command_spec *spec, int letter) {
    int i = 0;
    while (letter_of(&spec->options[i]) != letter)
        i++;
    return i;
}

cuzk_status options_parse(const struct command_spec *spec, int argc, char **argv, bool *help_shown,
                          struct cuzk_error *err) {
    struct option longs[MAX_OPTIONS + 2] = {{0}};
    char shorts[4 + 2 * MAX_OPTIONS] = "+:h";
    bool given[MAX_OPTIONS] = {false};
    int n = 0;
    for (; spec->options[n].kind != OPTION_END; n++) {
        assert(n < MAX_OPTIONS);
        longs[n] = (struct option){
            .name = name_of(&spec->options[n]),
            .has_arg = spec->options[n].kind == OPTION_FLAG ? no_argument : required_argument,
            .val = n};
        if (letter_of(&spec->options[n]) != '\0')
            snprintf(shorts + strlen(shorts), 3, "%c%s", letter_of(&spec->options[n]),
                     longs[n].has_arg == no_argument ? "" : ":");
    }
    longs[n] = (struct option){.name = "help", .has_arg = no_argument, .val = HELP_VALUE};

    static const char hint[] = "see --help";
    *help_shown = false;
    optind = 0; /* a fresh scan, also when another command line was parsed before */
    opterr = 0;
    for (;;) {
        const int at = optind > 0 ? optind : 1;
        int value = getopt_long(argc, argv, shorts, longs, NULL);
        if (value == -1) break;
        if (value == HELP_VALUE || value == 'h') {
            print_help(spec);
            *help_shown = true;
            return CUZK_OK;
        }
        const char *text = at < argc ? argv[at] : "";
        if (value == ':') return error_set(err, CUZK_USAGE, text, hint, "the option needs a value");
        if (value == '?') return error_set(err, CUZK_USAGE, text, hint, "there is no such option");
        if (value >= MAX_OPTIONS) value = option_of_letter(spec, value);
        given[value] = true;
        CUZK_TRY(set_value(&spec->options[value], optarg, err));
    }
    if (optind < argc)
        return error_set(err, CUZK_USAGE, argv[optind], hint, "the argument is not expected here");
    const struct option_spec *missing = missing_option(spec, given);
    if (missing != NULL)
        return error_set(err, CUZK_USAGE, NULL, hint, "--%s is missing", name_of(missing));
    return CUZK_OK;
}
