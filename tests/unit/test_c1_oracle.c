/*
 * C1 files of every kind against the public implementation: the shared fixtures, sectors that the
 * oracle seals now with seeds of this run, and simulated ones at full size. Needs ../shared; prints
 * why and is skipped without it.
 */
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test_main.h"

#include "c1_text.h"
#include "clock.h"
#include "mem.h"

#define ORACLE CUZK_SHARED "/oracle/fil-oracle"

static struct pool *pool;
static char folder[64];
static unsigned seed;

static int setup(void **state) {
    (void)state;
    strcpy(folder, "/tmp/cuzk-test-XXXXXX");
    if (mkdtemp(folder) == NULL) return -1;
    seed = (unsigned)time(NULL);
    printf("seed %u\n", seed);
    return pool_create(&pool, 0, NULL) == CUZK_OK ? 0 : -1;
}

static void run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void run(const char *fmt, ...) {
    char command[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(command, sizeof command, fmt, args);
    va_end(args);
    const int status = system(command);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg("%s: %d", command, status);
}

static int teardown(void **state) {
    (void)state;
    run("rm -rf %s", folder);
    pool_destroy(pool);
    return 0;
}

static struct c1 *decode(const char *path) {
    struct c1 *c1;
    struct cuzk_error err;
    if (c1_decode_file(&c1, path, NULL, &err) != CUZK_OK)
        fail_msg("%s: %s: %s", path, err.where, err.what);
    return c1;
}

static void check(const struct c1 *c1, uint64_t miner) {
    struct cuzk_error err;
    const struct c1_claims claims = {.has_miner = true, .miner = miner};
    if (c1_check(c1, &claims, pool, NULL, &err) != CUZK_OK)
        fail_msg("%s: %s: %s", status_name(err.code), err.where, err.what);
    const struct c1_claims other = {.has_miner = true, .miner = miner + 1};
    assert_int_equal(c1_check(c1, &other, pool, NULL, &err), CUZK_REPLICA_ID);
}

static void print_inputs(FILE *out, const struct c1 *c1, unsigned k) {
    const size_t n = c1_public_inputs_count(c1);
    fr *inputs = calloc(n, sizeof *inputs);
    assert_non_null(inputs);
    c1_public_inputs(c1, k, inputs);
    for (size_t i = 0; i < n; i++) {
        char value[80];
        fr_format(value, sizeof value, &inputs[i]);
        fprintf(out, "%s\n", value);
    }
    free(inputs);
}

/* ---- fixtures ---- */

static void test_fixtures(void **state) {
    (void)state;
    static const char *const names[] = {
        "2KiB", "2KiB-V1", "2KiB-synthetic", "2KiB-noninteractive", "16KiB", "32KiB", "8MiB"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/fixtures/porep/%s/c1.json", CUZK_SHARED, names[i]);
        struct c1 *c1 = decode(path);
        check(c1, 1000);
        struct c1_text got;
        FILE *out = open_memstream(&got.bytes, &got.n);
        for (unsigned k = 0; k < c1_partitions(c1); k++) {
            fprintf(out, "partition %u\n", k);
            print_inputs(out, c1, k);
        }
        fclose(out);
        snprintf(path, sizeof path, "%s/fixtures/porep/%s/inputs.txt", CUZK_SHARED, names[i]);
        struct c1_text expected = c1_text_read(path);
        assert_string_equal(got.bytes, expected.bytes);
        c1_text_free(&got);
        c1_text_free(&expected);
        c1_destroy(c1);
    }
}

/* ---- fresh sectors ---- */

static void same_inputs_as_oracle(const struct c1 *c1, const char *path, unsigned k) {
    char file[128];
    snprintf(file, sizeof file, "%s/inputs", folder);
    run("%s inputs --c1 %s --partition %u > %s", ORACLE, path, k, file);
    struct c1_text expected = c1_text_read(file), got;
    FILE *out = open_memstream(&got.bytes, &got.n);
    print_inputs(out, c1, k);
    fclose(out);
    assert_string_equal(got.bytes, expected.bytes);
    c1_text_free(&got);
    c1_text_free(&expected);
}

static void test_sealed(void **state) {
    (void)state;
    static const struct {
        const char *size, *registered;
    } kinds[] = {
        {"2KiB", "StackedDrg2KiBV1"},
        {"2KiB", "StackedDrg2KiBV1_1"},
        {"2KiB", "StackedDrg2KiBV1_1_Feat_SyntheticPoRep"},
        {"2KiB", "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep"},
        {"4KiB", "StackedDrg4KiBV1_1"},
        {"16KiB", "StackedDrg16KiBV1_1"},
        {"32KiB", "StackedDrg32KiBV1_1"},
    };
    static const uint64_t miners[] = {0, 127, 128, 1000000};
    static const uint64_t sectors[] = {0, 1, 4294967296, UINT64_MAX};
    for (unsigned i = 0; i < 28; i++) {
        char path[128];
        const unsigned kind = i % 7;
        snprintf(path, sizeof path, "%s/sealed-%u", folder, i);
        run("%s seal --size %s --registered %s --seed %u --miner %llu --sector %llu --out %s "
            "> /dev/null",
            ORACLE, kinds[kind].size, kinds[kind].registered, seed + i,
            (unsigned long long)miners[i % 4], (unsigned long long)sectors[i / 7], path);
        strcat(path, "/c1.json");
        struct c1 *c1 = decode(path);
        assert_string_equal(c1_registered(c1)->name, kinds[kind].registered);
        check(c1, miners[i % 4]);
        same_inputs_as_oracle(c1, path, c1_partitions(c1) - 1);
        c1_destroy(c1);
    }
}

/* ---- every value of the forms that the 2 KiB fixture has not ---- */

struct sweep {
    const struct c1_text *inner;
    unsigned seen, changed;
};

static void change_one(void *ctx, const struct c1_number *number) {
    struct sweep *sweep = ctx;
    const bool whole = number->path[strlen(number->path) - 1] != ']';
    if (sweep->seen++ % 61 != 0 && !whole) return;
    const struct c1_text *inner = sweep->inner;
    const unsigned long old = strtoul(inner->bytes + number->offset, NULL, 10);
    struct c1_text t;
    FILE *out = open_memstream(&t.bytes, &t.n);
    const size_t after = number->offset + number->n;
    fprintf(out, "%.*s%lu%s", (int)number->offset, inner->bytes, old ^ 1, inner->bytes + after);
    fclose(out);
    struct c1 *c1;
    struct cuzk_error err = {.code = CUZK_OK};
    cuzk_status status = c1_decode_memory(&c1, t.bytes, t.n, NULL, &err);
    if (status == CUZK_OK) status = c1_check(c1, NULL, pool, NULL, &err);
    const bool named = strncmp(err.where, number->path, strlen(err.where)) == 0;
    if (status == CUZK_OK || !named)
        fail_msg("%s changed: %s at %s", number->path, status_name(status), err.where);
    sweep->changed++;
    c1_destroy(c1);
    c1_text_free(&t);
}

static void test_values_of_top_form(void **state) {
    (void)state;
    static const char *const names[] = {"16KiB", "32KiB"};
    for (size_t i = 0; i < 2; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/fixtures/porep/%s/c1.json", CUZK_SHARED, names[i]);
        struct c1_text inner = c1_text_load_inner(path);
        /* only the vanilla proofs: what stands beside them depends on the miner */
        char *end = strstr(inner.bytes, ",\"comm_r\":[");
        assert_non_null(end);
        struct sweep sweep = {.inner = &inner};
        const struct c1_edit none = {.action = EDIT_NONE};
        struct c1_text proofs = c1_text_edit(&inner, &none);
        strcpy(proofs.bytes + (end - inner.bytes), "}");
        proofs.n = strlen(proofs.bytes);
        c1_text_each_number(&proofs, change_one, &sweep);
        printf("%s: %u of %u values changed\n", names[i], sweep.changed, sweep.seen);
        assert_true(sweep.changed > 500);
        c1_text_free(&proofs);
        c1_text_free(&inner);
    }
}

/* ---- full size ---- */

static void simulate(const char *registered, char *path, size_t path_bytes) {
    snprintf(path, path_bytes, "%s/%s", folder, registered);
    run("%s simulate --registered %s --seed %u --miner 1000 --out %s > /dev/null", ORACLE,
        registered, seed, path);
    strncat(path, "/c1.json", path_bytes - strlen(path) - 1);
}

static void test_full_size(void **state) {
    (void)state;
    static const char *const names[] = {"StackedDrg32GiBV1", "StackedDrg32GiBV1_1",
                                        "StackedDrg64GiBV1_1"};
    for (size_t i = 0; i < 3; i++) {
        char path[160];
        struct stat st;
        simulate(names[i], path, sizeof path);
        assert_int_equal(stat(path, &st), 0);
        const size_t rss_before = mem_rss(), input_before = mem_in_use(MEM_INPUT);
        uint64_t start = clock_ns();
        struct c1 *c1 = decode(path);
        const double decode_s = clock_seconds_since(start);
        const size_t peak = mem_peak_rss() - rss_before;
        start = clock_ns();
        check(c1, 1000);
        printf(
            "%s: %.1f MB decoded in %.2f s into %.1f MB, resident peak + %.1f MB; checked in "
            "%.2f s\n",
            names[i], (double)st.st_size / 1e6, decode_s, (double)c1_bytes(c1) / 1e6,
            (double)peak / 1e6, clock_seconds_since(start));
        assert_int_equal(mem_in_use(MEM_INPUT) - input_before, c1_bytes(c1));
        /* The bound is for what decoding adds; only the first file has the peak to itself. */
        if (i == 0) assert_true(peak < c1_bytes(c1) + (16u << 20));
        for (unsigned k = 0; k < 10; k += 9)
            same_inputs_as_oracle(c1, path, k);
        c1_destroy(c1);
        run("rm -r %s/%s", folder, names[i]);
    }
}

int main(void) {
    if (access(ORACLE, X_OK) != 0) {
        printf("skipped: %s is not there\n", ORACLE);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_size), /* first: it measures the peak */
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_sealed),
        cmocka_unit_test(test_values_of_top_form),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
