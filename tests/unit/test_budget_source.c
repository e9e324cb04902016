#include "unit/test_main.h"

#include <ftw.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "budget_source.h"

/* A host of files in a folder of its own. */
struct host {
    char dir[64];
    char proc[80];
    char cgroup[80];
    struct budget_roots roots;
};

static const uint64_t gib = (uint64_t)1 << 30;

static const char *const roomy_meminfo =
    "MemTotal:       527433728 kB\n"
    "MemFree:         10000000 kB\n"
    "MemAvailable:   430964736 kB\n"
    "HugePages_Total:       0\n";

static int setup(void **state) {
    static struct host h;
    snprintf(h.dir, sizeof h.dir, "/tmp/cuzk-budget-XXXXXX");
    if (mkdtemp(h.dir) == NULL) return -1;
    snprintf(h.proc, sizeof h.proc, "%s/proc", h.dir);
    snprintf(h.cgroup, sizeof h.cgroup, "%s/cgroup", h.dir);
    h.roots = (struct budget_roots){h.proc, h.cgroup};
    *state = &h;
    return mkdir(h.proc, 0755) + mkdir(h.cgroup, 0755);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static int teardown(void **state) {
    struct host *h = *state;
    return nftw(h->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Makes the folders that lead to `name` in the host and returns its path. */
static const char *path_to(const struct host *h, const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", h->dir, name);
    for (char *p = path + strlen(h->dir) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        mkdir(path, 0755);
        *p = '/';
    }
    return path;
}

static void put(const struct host *h, const char *name, const char *text) {
    FILE *f = fopen(path_to(h, name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static struct budget *read_with(const struct host *h, struct budget_options options) {
    static struct budget b;
    budget_read(&b, &options, &h->roots);
    return &b;
}

static struct budget *read_plain(const struct host *h) {
    return read_with(h, (struct budget_options){0});
}

static void assert_line(const struct budget *b, const char *expected) {
    char line[2048];
    const int n = budget_print(b, line, sizeof line);
    assert_string_equal(line, expected);
    assert_int_equal(n, strlen(line));
}

static void assert_source(const struct host *h, const struct budget_term *t, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", h->dir, name);
    assert_string_equal(t->source, path);
}

/* A process in /x/y/z; 256 GiB at /x/y, more below it. */
static void put_v2(const struct host *h) {
    put(h, "proc/meminfo", roomy_meminfo);
    put(h, "proc/self/cgroup", "0::/x/y/z\n");
    put(h, "cgroup/cgroup.controllers", "cpu memory\n");
    put(h, "cgroup/x/memory.max", "max\n");
    put(h, "cgroup/x/memory.high", "max\n");
    put(h, "cgroup/x/y/memory.max", "274877906944\n");
    put(h, "cgroup/x/y/memory.high", "max\n");
    put(h, "cgroup/x/y/z/memory.max", "429496729600\n");
    put(h, "cgroup/x/y/z/memory.high", "max\n");
}

static void the_least_ancestor_of_cgroup_v2_wins(void **state) {
    const struct host *h = *state;
    put_v2(h);
    const struct budget *b =
        read_with(h, (struct budget_options){.margin_bytes = BUDGET_USUAL_MARGIN});
    const struct budget_term *t = &b->term[BUDGET_CGROUP2_MAX];
    assert_int_equal(b->winner, BUDGET_CGROUP2_MAX);
    assert_true(t->present);
    assert_true(t->bytes == 256 * gib && t->limit_bytes == 256 * gib && t->used_bytes == 0);
    assert_source(h, t, "cgroup/x/y/memory.max");
    assert_string_equal(t->note, "");
    assert_false(b->term[BUDGET_CGROUP2_HIGH].present);
    assert_string_equal(b->term[BUDGET_CGROUP2_HIGH].note, "no limit");
    assert_string_equal(b->term[BUDGET_CGROUP1].note, "no cgroup v1");
    assert_true(b->margin_bytes == 5 * gib && b->budget_bytes == 251 * gib);
    assert_line(b,
                "host 503.0 GiB, available 411.0, cgroup 256.0 (wins: /x/y memory.max), "
                "margin 5.000, budget 251.0");
    char by[128];
    budget_limited_by(b, by, sizeof by);
    assert_string_equal(by, "cgroup /x/y memory.max");
}

static void the_own_group_and_the_root_count_too(void **state) {
    const struct host *h = *state;
    put_v2(h);
    put(h, "cgroup/x/y/z/memory.max", "1073741824\n");
    assert_source(h, &read_plain(h)->term[BUDGET_CGROUP2_MAX], "cgroup/x/y/z/memory.max");
    put(h, "cgroup/memory.max", "1073741823\n");
    const struct budget *b = read_plain(h);
    assert_source(h, &b->term[BUDGET_CGROUP2_MAX], "cgroup/memory.max");
    assert_string_equal(b->term[BUDGET_CGROUP2_MAX].label, "/ memory.max");
    assert_true(b->budget_bytes == gib - 1);
}

static void memory_high_is_a_limit(void **state) {
    const struct host *h = *state;
    put_v2(h);
    put(h, "cgroup/x/memory.high", "107374182400");
    const struct budget *b = read_plain(h);
    assert_int_equal(b->winner, BUDGET_CGROUP2_HIGH);
    assert_true(b->budget_bytes == 100 * gib);
    assert_source(h, &b->term[BUDGET_CGROUP2_HIGH], "cgroup/x/memory.high");
    assert_true(b->term[BUDGET_CGROUP2_MAX].bytes == 256 * gib);
}

static void what_others_use_is_taken_off_where_asked(void **state) {
    const struct host *h = *state;
    put_v2(h);
    put(h, "cgroup/x/y/memory.current", "32212254720\n");                    /* 30 GiB */
    put(h, "cgroup/x/y/memory.stat", "anon 1\ninactive_file 10737418240\n"); /* 10 GiB */
    put(h, "cgroup/x/y/z/memory.current", "214748364800\n");                 /* 200 of 400 GiB */
    assert_true(read_plain(h)->budget_bytes == 256 * gib);

    struct budget_options options = {.subtract_current = true};
    const struct budget *b = read_with(h, options);
    const struct budget_term *t = &b->term[BUDGET_CGROUP2_MAX];
    assert_source(h, t, "cgroup/x/y/z/memory.max"); /* the larger limit leaves less */
    assert_true(t->limit_bytes == 400 * gib && t->used_bytes == 200 * gib);
    assert_true(t->bytes == 200 * gib && b->budget_bytes == 200 * gib);
    assert_line(b,
                "host 503.0 GiB, available 411.0, cgroup 400.0 less 200.0 used "
                "(wins: /x/y/z memory.max), margin 0.000, budget 200.0");

    options.own_bytes = 190 * gib; /* most of it is ours: then the ancestor has less room */
    b = read_with(h, options);
    assert_source(h, t, "cgroup/x/y/memory.max");
    assert_true(b->budget_bytes == 256 * gib);
    options.own_bytes = 15 * gib;
    put(h, "cgroup/x/y/z/memory.current", "0\n");
    assert_true(read_with(h, options)->budget_bytes == 251 * gib); /* 256 - (30 - 10 - 15) */

    put(h, "cgroup/x/y/z/memory.current", "999999999999999\n"); /* more than the limit */
    assert_true(read_with(h, options)->budget_bytes == 0);
}

static void cgroup_v1_is_read(void **state) {
    const struct host *h = *state;
    put(h, "proc/meminfo", roomy_meminfo);
    put(h, "proc/self/cgroup", "9:name=systemd:/\n5:cpu,cpuacct:/q\n4:hugetlb,memory:/a/b\n0::/\n");
    put(h, "cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put(h, "cgroup/memory/a/memory.limit_in_bytes", "137438953472\n");
    put(h, "cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
    const struct budget *b = read_plain(h);
    const struct budget_term *t = &b->term[BUDGET_CGROUP1];
    assert_int_equal(b->winner, BUDGET_CGROUP1);
    assert_source(h, t, "cgroup/memory/a/memory.limit_in_bytes");
    assert_true(b->budget_bytes == 128 * gib);
    assert_string_equal(b->term[BUDGET_CGROUP2_MAX].note, "no cgroup v2");
    assert_line(b,
                "host 503.0 GiB, available 411.0, cgroup v1 128.0 (wins: /a "
                "memory.limit_in_bytes), margin 0.000, budget 128.0");

    /* An ancestor that a container does not show. */
    put(h, "cgroup/memory/a/b/memory.stat",
        "cache 5\nhierarchical_memory_limit 68719476736\ntotal_inactive_file 1073741824\n");
    put(h, "cgroup/memory/a/b/memory.usage_in_bytes", "4294967296\n");
    assert_true(read_plain(h)->budget_bytes == 64 * gib);
    assert_source(h, t, "cgroup/memory/a/b/memory.stat");
    b = read_with(h, (struct budget_options){.subtract_current = true});
    assert_true(b->budget_bytes == 61 * gib && t->used_bytes == 3 * gib);
}

static void the_largest_number_of_cgroup_v1_is_no_limit(void **state) {
    const struct host *h = *state;
    put(h, "proc/self/cgroup", "4:memory:/a\n");
    put(h, "cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put(h, "cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
    put(h, "cgroup/memory/a/memory.stat", "hierarchical_memory_limit 9223372036854771712\n");
    const struct budget *b = read_plain(h);
    assert_false(b->term[BUDGET_CGROUP1].present);
    assert_string_equal(b->term[BUDGET_CGROUP1].note, "no limit");
}

static void both_versions_side_by_side(void **state) {
    const struct host *h = *state;
    put(h, "proc/meminfo", roomy_meminfo);
    put(h, "proc/self/cgroup", "4:memory:/a\n0::/u\n");
    put(h, "cgroup/memory/a/memory.limit_in_bytes", "8589934592\n");
    put(h, "cgroup/unified/u/memory.max", "17179869184\n");
    const struct budget *b = read_plain(h);
    assert_true(b->term[BUDGET_CGROUP1].bytes == 8 * gib);
    assert_true(b->term[BUDGET_CGROUP2_MAX].bytes == 16 * gib);
    assert_int_equal(b->winner, BUDGET_CGROUP1);
}

static void without_groups_the_host_decides(void **state) {
    const struct host *h = *state;
    put(h, "proc/meminfo", roomy_meminfo);
    const struct budget *b = read_with(h, (struct budget_options){.own_bytes = 10 * gib});
    assert_int_equal(b->winner, BUDGET_AVAILABLE);
    assert_true(b->budget_bytes == 421 * gib);
    assert_line(b,
                "host 503.0 GiB, available 411.0 and 10.0 ours (wins: MemAvailable), "
                "margin 0.000, budget 421.0");
    b = read_with(h, (struct budget_options){.own_bytes = UINT64_MAX});
    assert_true(b->budget_bytes == 503 * gib); /* never more than there is */
    put(h, "proc/meminfo", "MemTotal:       527433728 kB\n");
    b = read_plain(h);
    assert_int_equal(b->winner, BUDGET_HOST);
    assert_non_null(strstr(b->term[BUDGET_AVAILABLE].note, "no MemAvailable"));
}

static void the_configured_limit_only_lowers(void **state) {
    const struct host *h = *state;
    put_v2(h);
    const struct budget *b = read_with(
        h, (struct budget_options){.configured_bytes = 20 * gib, .margin_bytes = 5 * gib});
    assert_int_equal(b->winner, BUDGET_CONFIGURED);
    assert_true(b->margin_bytes == 2 * gib && b->budget_bytes == 18 * gib); /* a tenth at most */
    b = read_with(h, (struct budget_options){.configured_bytes = 300 * gib});
    assert_int_equal(b->winner, BUDGET_CGROUP2_MAX);
}

static void a_mounted_subtree_is_found_by_mountinfo(void **state) {
    const struct host *h = *state;
    char mountinfo[512];
    put(h, "proc/meminfo", roomy_meminfo);
    put(h, "proc/self/cgroup", "0::/docker/abc/sub\n");
    put(h, "cgroup/cgroup.controllers", "memory\n");
    put(h, "cgroup/sub/memory.max", "4294967296\n");
    put(h, "cgroup/memory.max", "8589934592\n");
    assert_true(read_plain(h)->budget_bytes == 8 * gib); /* without it: the mounted root alone */
    snprintf(mountinfo, sizeof mountinfo,
             "22 1 0:1 / / rw - ext4 a rw\n30 22 0:27 /docker/abc %s ro - cgroup2 cgroup rw\n",
             h->cgroup);
    put(h, "proc/self/mountinfo", mountinfo);
    const struct budget *b = read_plain(h);
    assert_true(b->budget_bytes == 4 * gib);
    assert_source(h, &b->term[BUDGET_CGROUP2_MAX], "cgroup/sub/memory.max");
    put(h, "memory.max", "4096\n");               /* above the mount: no group of ours */
    put(h, "proc/self/cgroup", "0::/../other\n"); /* outside of our namespace */
    assert_true(read_plain(h)->budget_bytes == 8 * gib);
    put(h, "proc/self/cgroup", "0::/docker/abcd\n"); /* not below /docker/abc */
    assert_true(read_plain(h)->budget_bytes == 8 * gib);
}

static void damaged_files_are_left_out_and_named(void **state) {
    const struct host *h = *state;
    static const char *const garbage[] = {"",      "\n",     "12x\n",  "-5\n",
                                          "1 2\n", "0x10\n", " 100\n", "99999999999999999999\n"};
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        put_v2(h);
        put(h, "cgroup/x/y/z/memory.max", garbage[i]);
        const struct budget *b = read_plain(h);
        const struct budget_term *t = &b->term[BUDGET_CGROUP2_MAX];
        assert_true(t->present && t->bytes == 256 * gib); /* the other level stays */
        assert_non_null(strstr(t->note, "/x/y/z/memory.max: "));
        char line[1024];
        budget_print(b, line, sizeof line);
        assert_non_null(strstr(line, "; left out /"));
        put(h, "cgroup/x/y/memory.max", garbage[i]);
        b = read_plain(h);
        assert_false(t->present);
        assert_int_equal(b->winner, BUDGET_AVAILABLE);
    }
    /* A folder and a pipe in the place of files. */
    assert_int_equal(unlink(path_to(h, "cgroup/x/y/z/memory.high")), 0);
    put(h, "cgroup/x/y/z/memory.high/file", "1");
    assert_int_equal(unlink(path_to(h, "cgroup/x/memory.max")), 0);
    assert_int_equal(mkfifo(path_to(h, "cgroup/x/memory.max"), 0600), 0);
    const struct budget *b = read_plain(h);
    assert_false(b->term[BUDGET_CGROUP2_HIGH].present);
    assert_non_null(strstr(b->term[BUDGET_CGROUP2_HIGH].note, "memory.high: "));
    assert_non_null(strstr(b->term[BUDGET_CGROUP2_MAX].note, "/x/memory.max: "));
}

static void a_damaged_proc_is_survived(void **state) {
    const struct host *h = *state;
    static const char *const garbage[] = {"",       ":\n",    "0\n",      "0:\n",    "0::\n",
                                          "0::x\n", "::::\n", "\xff\xfe", "4:memory"};
    put_v2(h);
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        put(h, "proc/self/cgroup", garbage[i]);
        put(h, "proc/self/mountinfo", garbage[i]);
        const struct budget *b = read_plain(h);
        assert_int_equal(b->winner, BUDGET_AVAILABLE);
    }
    char *long_line = malloc(20001);
    memset(long_line, '/', 20000);
    memcpy(long_line, "0::", 3);
    long_line[20000] = '\0';
    put(h, "proc/self/cgroup", long_line);
    put(h, "proc/meminfo", long_line);
    free(long_line);
    assert_int_equal(read_plain(h)->winner, BUDGET_TERMS);
    put(h, "proc/meminfo", "MemTotal: 12 MB\nMemAvailable: 18014398509481984 kB\n");
    const struct budget *b = read_plain(h);
    assert_int_equal(b->winner, BUDGET_TERMS);
    assert_non_null(strstr(b->term[BUDGET_HOST].note, "not a number"));
}

static void nothing_known_is_no_budget(void **state) {
    const struct host *h = *state;
    const struct budget *b = read_plain(h);
    assert_int_equal(b->winner, BUDGET_TERMS);
    assert_true(b->budget_bytes == 0);
    char text[256];
    budget_print(b, text, sizeof text);
    assert_non_null(strstr(text, "no memory limit could be read"));
    budget_limited_by(b, text, sizeof text);
    assert_string_equal(text, "nothing known: configure a limit");
    b = read_with(h, (struct budget_options){.configured_bytes = gib});
    assert_true(b->budget_bytes == gib);
}

static void a_short_buffer_cuts_the_line(void **state) {
    const struct host *h = *state;
    put_v2(h);
    const struct budget *b = read_plain(h);
    char whole[1024];
    const int n = budget_print(b, whole, sizeof whole);
    for (int bytes = 0; bytes <= n + 1; bytes++) {
        char cut[1024];
        memset(cut, '#', sizeof cut);
        assert_int_equal(budget_print(b, cut, (size_t)bytes), n);
        assert_int_equal(cut[bytes], '#');
        if (bytes > 0) assert_int_equal(strlen(cut), bytes - 1);
        if (bytes > 0) assert_memory_equal(cut, whole, (size_t)bytes - 1);
    }
}

static void this_host_has_a_budget(void **state) {
    (void)state;
    struct budget b;
    budget_read(&b, &(struct budget_options){.margin_bytes = BUDGET_USUAL_MARGIN}, NULL);
    assert_true(b.winner < BUDGET_TERMS);
    assert_true(b.term[BUDGET_HOST].present);
    assert_true(b.budget_bytes <= b.term[BUDGET_HOST].bytes);
    assert_true(b.margin_bytes <= b.term[b.winner].bytes / 10);
    char line[1024];
    budget_print(&b, line, sizeof line);
    printf("%s\n", line);
}

#define on_a_host(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        on_a_host(the_least_ancestor_of_cgroup_v2_wins),
        on_a_host(the_own_group_and_the_root_count_too),
        on_a_host(memory_high_is_a_limit),
        on_a_host(what_others_use_is_taken_off_where_asked),
        on_a_host(cgroup_v1_is_read),
        on_a_host(the_largest_number_of_cgroup_v1_is_no_limit),
        on_a_host(both_versions_side_by_side),
        on_a_host(without_groups_the_host_decides),
        on_a_host(the_configured_limit_only_lowers),
        on_a_host(a_mounted_subtree_is_found_by_mountinfo),
        on_a_host(damaged_files_are_left_out_and_named),
        on_a_host(a_damaged_proc_is_survived),
        on_a_host(nothing_known_is_no_budget),
        on_a_host(a_short_buffer_cuts_the_line),
        cmocka_unit_test(this_host_has_a_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
