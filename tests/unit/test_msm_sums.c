/* Sums of selected points, and multiples of one base. */
#include "unit/test_main.h"

#include "unit/msm_testing.h"

enum { MAX_POINTS = 70000, MAX_WORDS = MAX_POINTS / 64 + 1, MAX_MULTIPLES = 3000 };

static struct mem_block points_block, logs_block;
static void *points;
static fr *logs;
static uint64_t bits[MAX_WORDS];
static fr_words scalars[MAX_MULTIPLES];

static int set_up(void **state) {
    (void)state;
    if (mem_take(&points_block, MAX_POINTS * sizeof(g2_affine), MEM_OTHER, NULL) != CUZK_OK ||
        mem_take(&logs_block, MAX_POINTS * sizeof(fr), MEM_OTHER, NULL) != CUZK_OK)
        return -1;
    points = points_block.ptr;
    logs = logs_block.ptr;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    mem_give(&points_block);
    mem_give(&logs_block);
    return 0;
}

static void check_on(const struct test_group *group, size_t n, unsigned threads, struct pool *pool,
                     const char *what) {
    struct guarded scratch;
    union test_sum sum;
    fr log = fr_zero;
    const size_t skew = 8 * (n % 8); /* any alignment will do */
    guarded_take(&scratch, msm_bitsum_scratch_bytes(threads) + skew);
    group->bitsum(&sum, points, bits, n, (uint8_t *)scratch.ptr + skew, threads, pool);
    guarded_give(&scratch);
    for (size_t i = 0; i < n; i++) {
        if (bits[i / 64] >> i % 64 & 1) fr_add(&log, &log, &logs[i]);
    }
    if (!group->sum_is(&sum, &log)) fail_msg("%s: bits of %zu points, %s", group->name, n, what);
}

static void distinct_points(const struct test_group *group, size_t n) {
    fr first, step;
    test_random_fr(&first, 1);
    test_random_fr(&step, 2);
    group->progression(points, logs, n, &first, &step);
}

static void random_bits(size_t n_words) {
    for (size_t i = 0; i < n_words; i++) {
        fr v;
        test_random_fr(&v, (UINT64_C(20) << 32) + i);
        bits[i] = v.l[0];
    }
}

/* Bits behind n are set in these masks: they must not count. */
static void masks_of_all_sizes(const struct test_group *group, size_t largest) {
    static const size_t sizes[] = {0,    1,    2,    31,   32,    33,    63,    64,        65,
                                   127,  128,  129,  255,  256,   257,   1000,  4095,      4096,
                                   4097, 8191, 8192, 8193, 65535, 65536, 65537, MAX_POINTS};
    distinct_points(group, largest);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && sizes[s] <= largest; s++) {
        memset(bits, 0, sizeof bits);
        check_on(group, sizes[s], 1, NULL, "none");
        memset(bits, 0xff, sizeof bits);
        check_on(group, sizes[s], 1, NULL, "all");
        random_bits(MAX_WORDS);
        check_on(group, sizes[s], 1, NULL, "half");
    }
}

static void single_bits_at_edges(const struct test_group *group) {
    static const size_t places[] = {0, 1, 62, 63, 64, 65, 127, 128, 4095, 4096, 5119, 5120};
    distinct_points(group, 5121);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        memset(bits, 0, sizeof bits);
        bits[places[i] / 64] |= UINT64_C(1) << places[i] % 64;
        check_on(group, 5121, 1, NULL, "one bit");
        check_on(group, places[i] + 1, 1, NULL, "the last bit");
        check_on(group, places[i], 1, NULL, "the bit behind");
    }
}

static void equal_and_opposite_points(const struct test_group *group) {
    enum { N = 3000 };
    fr set[3];
    uint8_t originals[3 * sizeof(g2_affine)];
    test_random_fr(&set[0], 30);
    fr_neg(&set[1], &set[0]);
    set[2] = fr_zero;
    group->points_of(originals, set, 3);
    for (size_t kinds = 1; kinds <= 3; kinds++) {
        for (size_t i = 0; i < N; i++) {
            /* Runs of equal ones, and alternations. */
            const size_t which = (i / 100 % 2 ? i : i / 7) % kinds;
            memcpy((uint8_t *)points + i * group->point_bytes,
                   originals + which * group->point_bytes, group->point_bytes);
            logs[i] = set[which];
        }
        memset(bits, 0xff, sizeof bits);
        check_on(group, N, 1, NULL, "few points, all");
        random_bits(MAX_WORDS);
        check_on(group, N, 1, NULL, "few points, half");
    }
}

static void threads_and_pools(const struct test_group *group, size_t n) {
    distinct_points(group, n);
    random_bits(MAX_WORDS);
    for (unsigned pool_size = 0; pool_size <= 3; pool_size++) {
        struct pool *pool = NULL;
        if (pool_size > 0) assert_int_equal(pool_create(&pool, pool_size, NULL), CUZK_OK);
        for (unsigned threads = 0; threads <= 4; threads++)
            check_on(group, n, threads, pool, "threads");
        pool_destroy(pool);
    }
}

/* The base is the generator times `log`. */
static void multiples_of(const struct test_group *group, const fr *base_log, size_t n,
                         unsigned threads, unsigned pool_size) {
    struct guarded table, scratch;
    struct pool *pool = NULL;
    uint8_t base[sizeof(g2_affine)], wanted[sizeof(g2_affine)];
    if (pool_size > 0) assert_int_equal(pool_create(&pool, pool_size, NULL), CUZK_OK);
    group->points_of(base, base_log, 1);
    guarded_take(&table, group->table_bytes() + 8);
    guarded_take(&scratch, fixed_base_scratch_bytes(threads) + 8);
    group->table_init((uint8_t *)table.ptr + 8, base, pool);
    memset(points, 0xee, (n + 1) * group->point_bytes);
    group->fixed_mul(points, (uint8_t *)table.ptr + 8, scalars, n, (uint8_t *)scratch.ptr + 8,
                     threads, pool);
    for (size_t i = 0; i < n; i++) {
        fr log;
        fr_from_words(&log, &scalars[i]);
        fr_mul(&log, &log, base_log);
        group->points_of(wanted, &log, 1);
        if (memcmp(wanted, (uint8_t *)points + i * group->point_bytes, group->point_bytes) != 0)
            fail_msg("%s: multiple %zu of %zu", group->name, i, n);
    }
    assert_int_equal(((uint8_t *)points)[n * group->point_bytes], 0xee);
    guarded_give(&table);
    guarded_give(&scratch);
    pool_destroy(pool);
}

static size_t fill_multiples(size_t n_random) {
    size_t n = 0;
    fr v;
    for (uint64_t i = 0; i < 5; i++)
        scalars[n++] = (fr_words){{i, 0, 0, 0}};
    for (uint64_t i = 1; i < 5; i++) {
        fr_from_u64(&v, i);
        fr_neg(&v, &v);
        fr_to_words(&scalars[n++], &v);
    }
    for (unsigned k = 0; k < 255; k += 5) {
        scalars[n] = (fr_words){{0}};
        scalars[n++].l[k / 64] = UINT64_C(1) << k % 64;
    }
    /* The window's greatest digit, everywhere, and its neighbours. */
    scalars[n++] = (fr_words){
        {0x8000800080008000, 0x8000800080008000, 0x8000800080008000, 0x0000800080008000}};
    scalars[n++] = (fr_words){
        {0x8001800180018001, 0x8001800180018001, 0x8001800180018001, 0x0001800180018001}};
    scalars[n++] = (fr_words){
        {0x7fff7fff7fff7fff, 0x7fff7fff7fff7fff, 0x7fff7fff7fff7fff, 0x00007fff7fff7fff}};
    scalars[n++] = (fr_words){{UINT64_MAX, UINT64_MAX, UINT64_MAX, 0x3fffffffffffffff}};
    for (size_t i = 0; i < n_random; i++) {
        test_random_fr(&v, (UINT64_C(40) << 32) + i);
        fr_to_words(&scalars[n++], &v);
    }
    return n;
}

static void g1_masks(void **state) {
    (void)state;
    masks_of_all_sizes(&test_g1, MAX_POINTS);
}

static void g2_masks(void **state) {
    (void)state;
    masks_of_all_sizes(&test_g2, 8193);
}

static void g1_single_bits(void **state) {
    (void)state;
    single_bits_at_edges(&test_g1);
}

static void g2_single_bits(void **state) {
    (void)state;
    single_bits_at_edges(&test_g2);
}

static void g1_equal_points(void **state) {
    (void)state;
    equal_and_opposite_points(&test_g1);
}

static void g2_equal_points(void **state) {
    (void)state;
    equal_and_opposite_points(&test_g2);
}

static void g1_threads(void **state) {
    (void)state;
    threads_and_pools(&test_g1, MAX_POINTS);
}

static void g2_threads(void **state) {
    (void)state;
    threads_and_pools(&test_g2, 10000);
}

static void g1_fixed_base(void **state) {
    (void)state;
    fr log;
    test_random_fr(&log, 50);
    multiples_of(&test_g1, &log, fill_multiples(2000), 2, 2);
    multiples_of(&test_g1, &log, 1, 1, 0);
    multiples_of(&test_g1, &log, 0, 1, 0);
    multiples_of(&test_g1, &fr_zero, 20, 1, 1);
}

static void g2_fixed_base(void **state) {
    (void)state;
    fr log;
    test_random_fr(&log, 51);
    multiples_of(&test_g2, &log, fill_multiples(400), 3, 2);
    multiples_of(&test_g2, &fr_zero, 20, 1, 1);
}

int main(void) {
    printf("kernel: %s\n", msm_kernel_name());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g1_masks),        cmocka_unit_test(g2_masks),
        cmocka_unit_test(g1_single_bits),  cmocka_unit_test(g2_single_bits),
        cmocka_unit_test(g1_equal_points), cmocka_unit_test(g2_equal_points),
        cmocka_unit_test(g1_threads),      cmocka_unit_test(g2_threads),
        cmocka_unit_test(g1_fixed_base),   cmocka_unit_test(g2_fixed_base),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
