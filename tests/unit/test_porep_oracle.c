/*
 * The PoRep witness of real and simulated sectors against the public implementation's: every
 * fixture, sectors that the oracle seals now, and full-size partitions. Needs the folder beside the
 * project with the oracle and the larger fixtures; without it the test is skipped.
 */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "c1.h"
#include "golden.h"
#include "porep.h"
#include "test_main.h"

#define ORACLE   CUZK_SHARED "/oracle/fil-oracle"
#define FIXTURES CUZK_SHARED "/fixtures/porep"

static struct pool *pool;
static char scratch[] = "/tmp/cuzk-porep-XXXXXX";

/* A circuit's structured matrices, kept while tests ask for the same one. */
static struct {
    const struct porep_shape *shape;
    struct r1cs *r1cs;
} current;

static struct r1cs *system_of(const struct porep_shape *shape) {
    if (current.shape != shape) {
        struct r1cs_stats stats;
        r1cs_destroy(current.r1cs);
        current.shape = shape;
        assert_int_equal(porep_record(shape, &current.r1cs, NULL), CUZK_OK);
        assert_int_equal(r1cs_get_stats(current.r1cs, &stats, pool, NULL), CUZK_OK);
    }
    return current.r1cs;
}

static struct c1 *load(const char *path) {
    struct c1 *c1;
    struct cuzk_error err = {0};
    if (c1_decode_file(&c1, path, NULL, &err) != CUZK_OK)
        fail_msg("%s: %s: %s", path, err.where, err.what);
    return c1;
}

/* Partition k's witness has the digests of `golden`, a witness-K.txt; and it satisfies the rows. */
static void check_partition(const struct c1 *c1, unsigned k, const char *golden) {
    const struct porep_shape *const shape = registered_seal_shape(c1_registered(c1));
    struct r1cs *const r = system_of(shape);
    struct cuzk_error err = {0};
    struct witness w;
    uint8_t inputs[SHA256_BYTES], aux[SHA256_BYTES];
    char hex[65], expected[65];
    assert_int_equal(porep_witness(shape, r, c1_partition(c1, k), &w, pool, NULL), CUZK_OK);
    if (r1cs_check(r, &w, pool, NULL, &err) != CUZK_OK) fail_msg("%s: %s", err.where, err.what);
    assert_int_equal(witness_digest(&w, r1cs_kind_plane(r), inputs, aux, NULL, pool, NULL),
                     CUZK_OK);
    witness_destroy(&w);
    hex_encode(hex, inputs, SHA256_BYTES);
    golden_witness_digest(expected, golden, "inputs sha256");
    assert_string_equal(hex, expected);
    hex_encode(hex, aux, SHA256_BYTES);
    golden_witness_digest(expected, golden, "aux sha256");
    assert_string_equal(hex, expected);
}

/* Runs the oracle with these arguments, what it says going to a file in the scratch folder. */
static void oracle(const char *out_name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void oracle(const char *out_name, const char *format, ...) {
    char arguments[512], command[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    snprintf(command, sizeof command, "%s %s > %s/%s 2>/dev/null", ORACLE, arguments, scratch,
             out_name);
    if (system(command) != 0) fail_msg("%s", command);
}

/* The oracle makes the witness of the same partition, and the digests must be the same. */
static void check_against_oracle(const struct c1 *c1, const char *path, unsigned k) {
    char golden[128];
    oracle("witness.txt", "witness --c1 %s --partition %u", path, k);
    snprintf(golden, sizeof golden, "%s/witness.txt", scratch);
    check_partition(c1, k, golden);
}

static void test_fixtures(void **state) {
    (void)state;
    DIR *const dir = opendir(FIXTURES);
    unsigned n = 0;
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[600], golden[600];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s/c1.json", FIXTURES, entry->d_name);
        snprintf(golden, sizeof golden, "%s/%s/witness-0.txt", FIXTURES, entry->d_name);
        if (stat(path, &st) != 0) continue;
        struct c1 *const c1 = load(path);
        check_partition(c1, 0, golden);
        /* Of many partitions, the last as well. */
        if (c1_partitions(c1) > 1) check_against_oracle(c1, path, c1_partitions(c1) - 1);
        print_message("%s: equal\n", entry->d_name);
        c1_destroy(c1);
        n++;
    }
    closedir(dir);
    assert_true(n >= 7);
}

static void test_fresh_sectors(void **state) {
    (void)state;
    static const struct {
        const char *size;
        unsigned seed, miner, sector;
    } sectors[] = {{"2KiB", 20240601, 31337, 9}, {"4KiB", 77, 1, 4294967295}};
    for (size_t i = 0; i < sizeof sectors / sizeof sectors[0]; i++) {
        char path[128];
        oracle("seal.txt", "seal --size %s --seed %u --miner %u --sector %u --out %s/sealed",
               sectors[i].size, sectors[i].seed, sectors[i].miner, sectors[i].sector, scratch);
        snprintf(path, sizeof path, "%s/sealed/c1.json", scratch);
        struct c1 *const c1 = load(path);
        check_against_oracle(c1, path, 0);
        c1_destroy(c1);
    }
}

static void test_full_size(void **state) {
    (void)state;
    static const struct {
        const char *registered, *size;
        int partitions[2];
    } sectors[] = {{"StackedDrg32GiBV1_1", "32GiB", {0, 9}},
                   {"StackedDrg64GiBV1_1", "64GiB", {0, -1}}};
    for (size_t i = 0; i < sizeof sectors / sizeof sectors[0]; i++) {
        char path[128];
        oracle("simulate.txt", "simulate --registered %s --seed 1 --out %s/simulated",
               sectors[i].registered, scratch);
        snprintf(path, sizeof path, "%s/simulated/c1.json", scratch);
        struct c1 *const c1 = load(path);
        unlink(path);
        for (int k = 0; k < 2 && sectors[i].partitions[k] >= 0; k++) {
            char golden[256];
            snprintf(golden, sizeof golden, "%s/golden/witness/%s-%d.txt", CUZK_SHARED,
                     sectors[i].size, sectors[i].partitions[k]);
            check_partition(c1, (unsigned)sectors[i].partitions[k], golden);
        }
        c1_destroy(c1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_fresh_sectors),
        cmocka_unit_test(test_full_size),
    };
    if (access(ORACLE, X_OK) != 0) {
        printf("skipped: %s is not there\n", ORACLE);
        return 77;
    }
    if (mkdtemp(scratch) == NULL || pool_create(&pool, 0, NULL) != CUZK_OK) return 2;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    r1cs_destroy(current.r1cs);
    pool_destroy(pool);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    return system(command) != 0 ? 2 : failed;
}
