#include "config_value.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t factor;
};

static const char *skip_blanks(const char *p) {
    while (*p == ' ')
        p++;
    return p;
}

/* A decimal number, its fraction as nine digits after the point. */
struct decimal {
    uint64_t whole, billionths;
};

static const char *read_decimal(struct decimal *out, const char *p) {
    *out = (struct decimal){0, 0};
    if (!isdigit((unsigned char)*p)) return NULL;
    for (; isdigit((unsigned char)*p); p++) {
        if (__builtin_mul_overflow(out->whole, 10, &out->whole) ||
            __builtin_add_overflow(out->whole, (uint64_t)(*p - '0'), &out->whole))
            return NULL;
    }
    if (*p != '.') return p;
    p++;
    if (!isdigit((unsigned char)*p)) return NULL;
    uint64_t weight = 100000000;
    for (; isdigit((unsigned char)*p); p++) {
        out->billionths += (uint64_t)(*p - '0') * weight;
        weight /= 10;
    }
    return p;
}

static bool times(uint64_t *out, const struct decimal *d, uint64_t factor) {
    uint64_t whole;
    if (__builtin_mul_overflow(d->whole, factor, &whole)) return false;
    const unsigned __int128 part = (unsigned __int128)d->billionths * factor / 1000000000;
    return !__builtin_add_overflow(whole, (uint64_t)part, out);
}

/* The unit whose name is the letters at p, and where they end. */
static const struct unit *read_unit(const struct unit *units, const char **p) {
    size_t n = 0;
    while (isalpha((unsigned char)(*p)[n]))
        n++;
    for (const struct unit *u = units; u->name != NULL; u++) {
        if (strlen(u->name) == n && strncmp(u->name, *p, n) == 0) {
            *p += n;
            return u;
        }
    }
    return NULL;
}

bool size_parse(uint64_t *bytes, const char *text) {
    static const struct unit units[] = {
        {"", 1},
        {"B", 1},
        {"KiB", (uint64_t)1 << 10},
        {"MiB", (uint64_t)1 << 20},
        {"GiB", (uint64_t)1 << 30},
        {"TiB", (uint64_t)1 << 40},
        {"K", (uint64_t)1 << 10},
        {"M", (uint64_t)1 << 20},
        {"G", (uint64_t)1 << 30},
        {"T", (uint64_t)1 << 40},
        {"KB", 1000},
        {"kB", 1000},
        {"MB", 1000000},
        {"GB", 1000000000},
        {"TB", 1000000000000},
        {NULL, 0},
    };
    struct decimal d;
    const char *p = read_decimal(&d, skip_blanks(text));
    if (p == NULL) return false;
    p = skip_blanks(p);
    const struct unit *u = read_unit(units, &p);
    return u != NULL && *skip_blanks(p) == '\0' && times(bytes, &d, u->factor);
}

bool duration_parse(uint64_t *ns, const char *text) {
    static const struct unit units[] = {
        {"ms", 1000000},
        {"s", 1000000000},
        {"m", 60 * (uint64_t)1000000000},
        {"min", 60 * (uint64_t)1000000000},
        {"h", 3600 * (uint64_t)1000000000},
        {"d", 86400 * (uint64_t)1000000000},
        {NULL, 0},
    };
    uint64_t sum = 0;
    const char *p = skip_blanks(text);
    if (*p == '\0') return false;
    for (bool first = true; *p != '\0'; first = false) {
        struct decimal d;
        uint64_t part;
        p = read_decimal(&d, p);
        if (p == NULL) return false;
        p = skip_blanks(p);
        /* A number alone is seconds; behind other parts it would be a guess. */
        static const struct unit seconds = {"", 1000000000};
        const struct unit *u = first && *p == '\0' ? &seconds : read_unit(units, &p);
        if (u == NULL || !times(&part, &d, u->factor) || __builtin_add_overflow(sum, part, &sum))
            return false;
        p = skip_blanks(p);
    }
    *ns = sum;
    return true;
}
