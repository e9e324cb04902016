/*
 * Structured matrices of other sizes against the public system's digests and figures.
 *
 *     test_porep_sizes SIZE...
 */
#include "golden.h"
#include "mem.h"
#include "porep.h"
#include "test_main.h"

static struct pool *pool;

static void check_size(const struct porep_shape *shape) {
    char path[256], hex[65];
    struct golden g;
    struct r1cs *r;
    struct r1cs_stats stats;
    uint8_t digest[SHA256_BYTES];
    snprintf(path, sizeof path, "%s/golden/porep-%s.json", CUZK_FIXTURES, shape->size_name);
    golden_read(&g, path);
    assert_int_equal(porep_record(shape, &r, NULL), CUZK_OK);
    assert_int_equal(r1cs_digest(r, digest, NULL, pool, NULL, NULL), CUZK_OK);
    hex_encode(hex, digest, SHA256_BYTES);
    assert_string_equal(hex, g.sha256);
    assert_int_equal(r1cs_get_stats(r, &stats, pool, NULL), CUZK_OK);
    golden_check_stats(&g, &stats);
    print_message("%s: %llu rows, %u templates, %llu stamps, %zu bytes\n", shape->size_name,
                  (unsigned long long)stats.n_rows, stats.n_templates,
                  (unsigned long long)stats.n_stamps, stats.bytes);
    assert_true(stats.bytes < 10000000);
    assert_true(mem_peak_rss() < (size_t)1 << 30);
    r1cs_destroy(r);
}

static void test_size(void **state) {
    check_size(*state);
}

int main(int argc, char **argv) {
    struct CMUnitTest tests[8] = {0};
    if (argc < 2 || argc > 9) return 2;
    for (int i = 1; i < argc; i++) {
        const struct porep_shape *const shape = porep_shape_by_name(argv[i]);
        if (shape == NULL) {
            fprintf(stderr, "%s: no such size\n", argv[i]);
            return 2;
        }
        tests[i - 1] = (struct CMUnitTest){
            .name = argv[i], .test_func = test_size, .initial_state = (void *)(uintptr_t)shape};
    }
    if (pool_create(&pool, 0, NULL) != CUZK_OK) return 2;
    const int failed = _cmocka_run_group_tests("sizes", tests, (size_t)argc - 1, NULL, NULL);
    pool_destroy(pool);
    return failed;
}
