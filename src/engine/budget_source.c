#include "budget_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* cgroup v1 has no word for "no limit": it gives the largest number of whole pages. */
static const uint64_t v1_unlimited = (uint64_t)1 << 62;

enum { PATH_BYTES = 4352, LINE_BYTES = 4096 };

/* One hierarchy of control groups, and where in it this process is. */
struct hierarchy {
    char root[PATH_BYTES]; /* the folder where it is mounted */
    char leaf[PATH_BYTES]; /* root plus the process's path; begins with root */
};

/* The names of one kind of limit. */
struct limit_files {
    const char *limit;
    const char *current;
    const char *inactive_key; /* in memory.stat */
};

static const struct limit_files v2_max = {"memory.max", "memory.current", "inactive_file"};
static const struct limit_files v2_high = {"memory.high", "memory.current", "inactive_file"};
static const struct limit_files v1_limit = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                            "total_inactive_file"};

static uint64_t minus(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static bool join(char out[PATH_BYTES], const char *a, const char *b) {
    const int n = snprintf(out, PATH_BYTES, "%s%s", a, b);
    return n >= 0 && n < PATH_BYTES;
}

/*
 * Reads a line without its newline; of one longer than the buffer, the rest is dropped. False:
 * the end, or an error.
 */
static bool next_line(FILE *f, char *line, int line_bytes) {
    if (fgets(line, line_bytes, f) == NULL) return false;
    const size_t n = strlen(line);
    if (n > 0 && line[n - 1] == '\n') {
        line[n - 1] = '\0';
        return true;
    }
    int c = 0;
    do {
        c = fgetc(f);
    } while (c != EOF && c != '\n');
    return true;
}

/* Not blocking, so that a pipe in the place of a file cannot hold us. */
static FILE *open_text(const char *path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return NULL;
    FILE *f = fdopen(fd, "r");
    if (f == NULL) close(fd);
    return f;
}

/* A number in decimal and nothing after it but `tail`. */
static bool parse_number(const char *text, const char *tail, uint64_t *out) {
    if (*text < '0' || *text > '9') return false;
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || strcmp(end, tail) != 0) return false;
    *out = value;
    return true;
}

enum reading { READ_NUMBER, READ_UNLIMITED, READ_MISSING, READ_DAMAGED };

static enum reading damaged(struct budget_term *t, const char *path, const char *why) {
    snprintf(t->note, sizeof t->note, "%.180s: %s", path, why);
    return READ_DAMAGED;
}

/* Reads a file that holds one limit; what is wrong with it goes into the term's note. */
static enum reading read_limit(struct budget_term *t, const char *path, uint64_t *out) {
    FILE *f = open_text(path);
    if (f == NULL) return errno == ENOENT ? READ_MISSING : damaged(t, path, strerror(errno));
    char line[64];
    errno = 0;
    const bool got = next_line(f, line, sizeof line);
    const int code = errno;
    fclose(f);
    if (!got) return damaged(t, path, code != 0 ? strerror(code) : "empty");
    if (strcmp(line, "max") == 0 || strcmp(line, "-1") == 0) return READ_UNLIMITED;
    if (!parse_number(line, "", out)) return damaged(t, path, "not a number");
    return *out >= v1_unlimited ? READ_UNLIMITED : READ_NUMBER;
}

/* Finds `key` at the start of a line and the number after it, which `tail` follows. */
static enum reading read_key(struct budget_term *t, const char *path, const char *key,
                             const char *tail, uint64_t *out) {
    FILE *f = open_text(path);
    if (f == NULL) return errno == ENOENT ? READ_MISSING : damaged(t, path, strerror(errno));
    char line[LINE_BYTES];
    const size_t n = strlen(key);
    enum reading found = READ_MISSING;
    while (found == READ_MISSING && next_line(f, line, sizeof line)) {
        if (strncmp(line, key, n) != 0 || line[n] != ' ') continue;
        const char *number = line + n + strspn(line + n, " ");
        found = parse_number(number, tail, out) ? READ_NUMBER : READ_DAMAGED;
    }
    fclose(f);
    if (found == READ_DAMAGED) return damaged(t, path, "not a number");
    if (found == READ_NUMBER && *out >= v1_unlimited) return READ_UNLIMITED;
    return found;
}

/* What others use of a control group. */
static uint64_t used_by_others(struct budget_term *t, const char *dir,
                               const struct limit_files *names,
                               const struct budget_options *options) {
    char path[PATH_BYTES];
    char name[64];
    uint64_t used = 0;
    uint64_t inactive = 0;
    snprintf(name, sizeof name, "/%s", names->current);
    if (!join(path, dir, name) || read_limit(t, path, &used) != READ_NUMBER) return 0;
    if (!join(path, dir, "/memory.stat") ||
        read_key(t, path, names->inactive_key, "", &inactive) != READ_NUMBER)
        inactive = 0;
    return minus(minus(used, inactive), options->own_bytes);
}

/* Lets the limit that `path` gives for the group `dir` stand for the term if it leaves less. */
static void offer(struct budget_term *t, const struct hierarchy *h, const char *dir,
                  const char *path, uint64_t limit, const struct limit_files *names,
                  const struct budget_options *options) {
    const uint64_t used = options->subtract_current ? used_by_others(t, dir, names, options) : 0;
    const uint64_t bytes = minus(limit, used);
    if (t->present && t->bytes <= bytes) return;
    t->present = true;
    t->bytes = bytes;
    t->limit_bytes = limit;
    t->used_bytes = used;
    snprintf(t->source, sizeof t->source, "%.1023s", path);
    const char *group = dir + strlen(h->root);
    snprintf(t->label, sizeof t->label, "%.300s %.60s", group[0] != '\0' ? group : "/",
             strrchr(path, '/') + 1);
}

/* Looks at the process's group and at every ancestor of it, up to the root. */
static void walk_up(struct budget_term *t, const struct hierarchy *h,
                    const struct limit_files *names, const struct budget_options *options) {
    char dir[PATH_BYTES];
    char name[64];
    snprintf(dir, sizeof dir, "%s", h->leaf);
    snprintf(name, sizeof name, "/%s", names->limit);
    const size_t root_length = strlen(h->root);
    bool unlimited = false;
    for (;;) {
        char path[PATH_BYTES];
        uint64_t limit = 0;
        if (join(path, dir, name)) {
            const enum reading r = read_limit(t, path, &limit);
            if (r == READ_NUMBER) offer(t, h, dir, path, limit, names, options);
            unlimited = unlimited || r == READ_UNLIMITED;
        }
        if (strlen(dir) <= root_length) break;
        *strrchr(dir, '/') = '\0';
    }
    if (t->present || t->note[0] != '\0') return;
    snprintf(t->note, sizeof t->note, unlimited ? "no limit" : "no %s in any group", names->limit);
}

/* Whether a list with commas holds the word; the list is taken apart. */
static bool has_word(char *list, const char *word) {
    char *rest = NULL;
    for (char *w = strtok_r(list, ",", &rest); w != NULL; w = strtok_r(NULL, ",", &rest)) {
        if (strcmp(w, word) == 0) return true;
    }
    return false;
}

/*
 * The process's path in a hierarchy, from self/cgroup: v2 has the line `0::PATH`, v1 the line
 * `N:memory:PATH` (the controllers are a list).
 */
static bool find_group(const char *proc, bool v2, char out[PATH_BYTES]) {
    char path[PATH_BYTES];
    FILE *f = join(path, proc, "/self/cgroup") ? open_text(path) : NULL;
    if (f == NULL) return false;
    char line[LINE_BYTES];
    bool found = false;
    while (!found && next_line(f, line, sizeof line)) {
        char *names = strchr(line, ':');
        char *group = names != NULL ? strchr(++names, ':') : NULL;
        if (group == NULL || group[1] != '/') continue;
        *group++ = '\0';
        const bool ours = v2 ? strcmp(line, "0:") == 0 : has_word(names, "memory");
        found = ours && join(out, group, "");
    }
    fclose(f);
    return found;
}

/*
 * In a container the folder that is mounted may be a group far below the hierarchy's root, while
 * self/cgroup still gives the path from the real root: self/mountinfo tells which part of it lies
 * above the mount. Returns the path below the mount.
 */
static const char *below_mount(const char *proc, const char *mount_point, const char *group) {
    char path[PATH_BYTES];
    FILE *f = join(path, proc, "/self/mountinfo") ? open_text(path) : NULL;
    if (f == NULL) return group;
    char line[LINE_BYTES];
    size_t above = 0;
    while (next_line(f, line, sizeof line)) {
        char root[PATH_BYTES];
        char point[PATH_BYTES];
        if (sscanf(line, "%*s %*s %*s %1023s %1023s", root, point) != 2) continue;
        if (strcmp(point, mount_point) != 0 || strcmp(root, "/") == 0) continue;
        const size_t n = strlen(root);
        if (strncmp(group, root, n) == 0 && (group[n] == '/' || group[n] == '\0')) above = n;
    }
    fclose(f);
    return group + above;
}

/* Whether a component of the path is "..": the process is outside of its own namespace's root. */
static bool leaves_root(const char *group) {
    for (const char *p = group; (p = strstr(p, "/..")) != NULL; p += 3) {
        if (p[3] == '/' || p[3] == '\0') return true;
    }
    return false;
}

static bool exists(const char *dir, const char *name) {
    char path[PATH_BYTES];
    return join(path, dir, name) && access(path, F_OK) == 0;
}

/* Finds where a hierarchy is mounted and the process's group in it. False: there is none. */
static bool find_hierarchy(struct hierarchy *h, const struct budget_roots *roots, bool v2) {
    const bool pure = exists(roots->cgroup, "/cgroup.controllers");
    if (pure && !v2) return false;
    const char *sub = !v2 ? "/memory" : pure ? "" : "/unified";
    if (!join(h->root, roots->cgroup, sub) || !exists(h->root, "")) return false;
    if (!join(h->leaf, h->root, "")) return false;
    char group[PATH_BYTES];
    if (!find_group(roots->proc, v2, group)) return true; /* the root's limit is ours too */
    const char *below = below_mount(roots->proc, h->root, group);
    if (leaves_root(below) || strcmp(below, "/") == 0) return true;
    return join(h->leaf, h->root, below);
}

static void read_cgroups(struct budget *b, const struct budget_options *options,
                         const struct budget_roots *roots) {
    struct budget_term *max = &b->term[BUDGET_CGROUP2_MAX];
    struct budget_term *high = &b->term[BUDGET_CGROUP2_HIGH];
    struct budget_term *v1 = &b->term[BUDGET_CGROUP1];
    struct hierarchy h;
    if (find_hierarchy(&h, roots, true)) {
        walk_up(max, &h, &v2_max, options);
        walk_up(high, &h, &v2_high, options);
    } else {
        snprintf(max->note, sizeof max->note, "no cgroup v2");
        snprintf(high->note, sizeof high->note, "no cgroup v2");
    }
    if (!find_hierarchy(&h, roots, false)) {
        snprintf(v1->note, sizeof v1->note, "no cgroup v1");
        return;
    }
    /* The hierarchical limit knows of ancestors that a container does not show. */
    char path[PATH_BYTES];
    uint64_t limit = 0;
    if (join(path, h.leaf, "/memory.stat") &&
        read_key(v1, path, "hierarchical_memory_limit", "", &limit) == READ_NUMBER)
        offer(v1, &h, h.leaf, path, limit, &v1_limit, options);
    walk_up(v1, &h, &v1_limit, options);
}

static void read_meminfo(struct budget_term *t, const char *proc, const char *key) {
    uint64_t kib = 0;
    snprintf(t->label, sizeof t->label, "%s", key);
    char path[PATH_BYTES];
    if (!join(path, proc, "/meminfo")) return;
    snprintf(t->source, sizeof t->source, "%.1023s", path);
    char with_colon[32];
    snprintf(with_colon, sizeof with_colon, "%s:", key);
    const enum reading r = read_key(t, path, with_colon, " kB", &kib);
    if (r == READ_NUMBER && kib < v1_unlimited >> 10) {
        t->present = true;
        t->bytes = t->limit_bytes = kib << 10;
    } else if (t->note[0] == '\0') {
        snprintf(t->note, sizeof t->note, "%.180s: no %s", path, key);
    }
}

static void choose(struct budget *b, uint64_t margin_wanted) {
    b->winner = BUDGET_TERMS;
    uint64_t limit = UINT64_MAX;
    for (int k = 0; k < BUDGET_TERMS; k++) {
        if (!b->term[k].present || b->term[k].bytes >= limit) continue;
        limit = b->term[k].bytes;
        b->winner = (enum budget_kind)k;
    }
    if (b->winner == BUDGET_TERMS) return;
    b->margin_bytes = least(margin_wanted, limit / 10);
    b->budget_bytes = limit - b->margin_bytes;
}

void budget_read(struct budget *out, const struct budget_options *options,
                 const struct budget_roots *roots) {
    static const struct budget_roots system_roots = {"/proc", "/sys/fs/cgroup"};
    if (roots == NULL) roots = &system_roots;
    *out = (struct budget){0};
    struct budget_term *configured = &out->term[BUDGET_CONFIGURED];
    snprintf(configured->label, sizeof configured->label, "the configuration");
    configured->present = options->configured_bytes != 0;
    configured->bytes = configured->limit_bytes = options->configured_bytes;
    if (!configured->present) snprintf(configured->note, sizeof configured->note, "none");
    read_cgroups(out, options, roots);

    struct budget_term *available = &out->term[BUDGET_AVAILABLE];
    struct budget_term *host = &out->term[BUDGET_HOST];
    read_meminfo(available, roots->proc, "MemAvailable");
    read_meminfo(host, roots->proc, "MemTotal");
    if (available->present) {
        const uint64_t most = host->present ? host->bytes : UINT64_MAX;
        available->bytes += least(options->own_bytes, UINT64_MAX - available->bytes);
        available->bytes = least(available->bytes, most);
    }
    choose(out, options->margin_bytes);
}

struct gib_text gib_text(uint64_t bytes) {
    const double gib = (double)bytes / (double)(1 << 30);
    struct gib_text t;
    snprintf(t.s, sizeof t.s, gib < 10 ? "%.3f" : "%.1f", gib);
    return t;
}

static const char *const term_names[BUDGET_TERMS] = {
    [BUDGET_CONFIGURED] = "configured", [BUDGET_CGROUP2_MAX] = "cgroup",
    [BUDGET_CGROUP2_HIGH] = "cgroup",   [BUDGET_CGROUP1] = "cgroup v1",
    [BUDGET_AVAILABLE] = "available",   [BUDGET_HOST] = "host",
};

/* A text that grows in a caller's buffer; counts what does not fit, as snprintf does. */
struct line {
    char *out;
    size_t bytes;
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void put(struct line *l, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const bool room = l->length < l->bytes;
    const int n =
        vsnprintf(room ? l->out + l->length : NULL, room ? l->bytes - l->length : 0, fmt, args);
    va_end(args);
    if (n > 0) l->length += (size_t)n;
}

static void put_term(struct line *l, const struct budget *b, enum budget_kind kind) {
    const struct budget_term *t = &b->term[kind];
    if (!t->present) return;
    const bool first = l->length == 0;
    put(l, "%s%s %s%s", first ? "" : ", ", term_names[kind], gib_text(t->limit_bytes).s,
        first ? " GiB" : "");
    if (t->used_bytes != 0) put(l, " less %s used", gib_text(t->used_bytes).s);
    if (t->bytes > t->limit_bytes) put(l, " and %s ours", gib_text(t->bytes - t->limit_bytes).s);
    if (b->winner == kind) put(l, " (wins: %s)", t->label);
}

int budget_print(const struct budget *b, char *out, size_t out_bytes) {
    static const enum budget_kind order[BUDGET_TERMS] = {BUDGET_HOST,         BUDGET_AVAILABLE,
                                                         BUDGET_CONFIGURED,   BUDGET_CGROUP2_MAX,
                                                         BUDGET_CGROUP2_HIGH, BUDGET_CGROUP1};
    struct line l = {out, out_bytes, 0};
    if (out_bytes > 0) out[0] = '\0';
    for (int i = 0; i < BUDGET_TERMS; i++)
        put_term(&l, b, order[i]);
    if (b->winner == BUDGET_TERMS) {
        put(&l, "no memory limit could be read");
    } else {
        put(&l, ", margin %s", gib_text(b->margin_bytes).s);
    }
    put(&l, ", budget %s", gib_text(b->budget_bytes).s);
    for (int i = 0; i < BUDGET_TERMS; i++) {
        const char *note = b->term[order[i]].note;
        if (note[0] == '/') put(&l, "; left out %s", note); /* a note that names a file */
    }
    return (int)l.length;
}

int budget_limited_by(const struct budget *b, char *out, size_t out_bytes) {
    if (b->winner == BUDGET_TERMS)
        return snprintf(out, out_bytes, "nothing known: configure a limit");
    const bool cgroup = b->winner == BUDGET_CGROUP2_MAX || b->winner == BUDGET_CGROUP2_HIGH ||
                        b->winner == BUDGET_CGROUP1;
    return snprintf(out, out_bytes, "%s%s%s", cgroup ? term_names[b->winner] : "",
                    cgroup ? " " : "", b->term[b->winner].label);
}
