#include "unit/test_main.h"

#include "msm_sort.h"
#include "unit/msm_testing.h"

enum {
    MAX_POINTS = 65536,
    RANGE = 1 << 20, /* points that an MSM sorts at once */
};

/* What every case works on; taken once, since making points is slow. */
static struct mem_block points_block, logs_block, scalars_block;
static fr *logs;
static fr_words *scalars;
static void *points;

static int set_up(void **state) {
    (void)state;
    if (mem_take(&points_block, MAX_POINTS * sizeof(g2_affine), MEM_OTHER, NULL) != CUZK_OK ||
        mem_take(&logs_block, MAX_POINTS * sizeof(fr), MEM_OTHER, NULL) != CUZK_OK ||
        mem_take(&scalars_block, MAX_POINTS * sizeof(fr_words), MEM_OTHER, NULL) != CUZK_OK)
        return -1;
    points = points_block.ptr;
    logs = logs_block.ptr;
    scalars = scalars_block.ptr;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    mem_give(&points_block);
    mem_give(&logs_block);
    mem_give(&scalars_block);
    return 0;
}

static void distinct_points(const struct test_group *group, size_t n) {
    fr first, step;
    test_random_fr(&first, 1);
    test_random_fr(&step, 2);
    group->progression(points, logs, n, &first, &step);
}

static void random_scalars(size_t n, uint64_t stream) {
    for (size_t i = 0; i < n; i++) {
        fr k;
        test_random_fr(&k, (stream << 32) + i);
        fr_to_words(&scalars[i], &k);
    }
}

/* The logarithm of sum of scalars[i] * points[i]. */
static void expected_log(fr *out, size_t n) {
    *out = fr_zero;
    for (size_t i = 0; i < n; i++) {
        fr k;
        fr_from_words(&k, &scalars[i]);
        fr_mul(&k, &k, &logs[i]);
        fr_add(out, out, &k);
    }
}

static void run(const struct test_group *group, union test_sum *sum, size_t n,
                const struct msm_plan *plan, struct pool *pool) {
    struct guarded scratch;
    guarded_take(&scratch, plan->scratch_bytes);
    group->msm(sum, points, scalars, n, plan, scratch.ptr, pool);
    guarded_give(&scratch);
}

/* With a plan for exactly n points, on the calling thread. */
static void check(const struct test_group *group, size_t n, const char *what) {
    const struct msm_plan plan = group->plan(n, 1);
    union test_sum sum;
    fr log;
    run(group, &sum, n, &plan, NULL);
    expected_log(&log, n);
    if (!group->sum_is(&sum, &log))
        fail_msg("%s: wrong sum of %zu points, %s", group->name, n, what);
}

static void small_sizes_equal_the_naive_sum(const struct test_group *group) {
    static const size_t sizes[] = {0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129};
    distinct_points(group, 129);
    random_scalars(129, 3);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const struct msm_plan plan = group->plan(sizes[s], 1);
        union test_sum got, wanted;
        run(group, &got, sizes[s], &plan, NULL);
        group->naive(&wanted, points, scalars, sizes[s]);
        if (!group->equal(&got, &wanted)) fail_msg("%s: %zu points", group->name, sizes[s]);
    }
}

static void sizes_around_powers_of_two(const struct test_group *group, size_t largest) {
    distinct_points(group, largest + 1);
    random_scalars(largest + 1, 4);
    for (size_t n = 256; n <= largest; n *= 2) {
        check(group, n - 1, "random");
        check(group, n, "random");
        check(group, n + 1, "random");
    }
}

static void set_scalar(fr_words *out, const fr *value) {
    fr_to_words(out, value);
}

static void set_power_of_two(fr_words *out, unsigned k) {
    memset(out, 0, sizeof *out);
    out->l[k / 64] = UINT64_C(1) << k % 64;
}

/* Values at the edges of the range and of windows of every width that a plan may have. */
static size_t special_scalars(void) {
    size_t n = 0;
    fr one, two, half, v;
    fr_from_u64(&one, 1);
    fr_from_u64(&two, 2);
    fr_inv_var(&half, &two); /* (r + 1) / 2 */
    set_scalar(&scalars[n++], &fr_zero);
    set_scalar(&scalars[n++], &one);
    set_scalar(&scalars[n++], &two);
    fr_neg(&v, &one);
    set_scalar(&scalars[n++], &v);
    fr_neg(&v, &two);
    set_scalar(&scalars[n++], &v);
    set_scalar(&scalars[n++], &half);
    fr_sub(&v, &half, &one);
    set_scalar(&scalars[n++], &v);
    for (unsigned k = 0; k < 255; k++)
        set_power_of_two(&scalars[n++], k);
    /* 2^k - 1: ones in all windows below, whose carry runs through. 2^254 - 1 is below r. */
    for (unsigned k = 1; k < 255; k++) {
        set_power_of_two(&scalars[n], k);
        for (unsigned i = 0; i < 4; i++) {
            const bool borrow = scalars[n].l[i] == 0;
            scalars[n].l[i]--;
            if (!borrow) break;
        }
        n++;
    }
    /* The digit 2^(c - 1), which may be taken with either sign, in every window but the top one. */
    for (unsigned c = 2; c <= 20; c++) {
        memset(&scalars[n], 0, sizeof scalars[n]);
        for (unsigned k = c - 1; k < 250; k += c)
            scalars[n].l[k / 64] |= UINT64_C(1) << k % 64;
        n++;
    }
    return n;
}

static void special_scalars_one_by_one_and_together(const struct test_group *group) {
    const size_t n = special_scalars();
    distinct_points(group, n);
    check(group, n, "special scalars");
    const struct msm_plan plan = group->plan(1, 1);
    for (size_t i = 0; i < n; i += group == &test_g1 ? 1 : 11) {
        union test_sum sum;
        fr log;
        struct guarded scratch;
        guarded_take(&scratch, plan.scratch_bytes);
        group->msm(&sum, points, &scalars[i], 1, &plan, scratch.ptr, NULL);
        guarded_give(&scratch);
        fr_from_words(&log, &scalars[i]);
        fr_mul(&log, &log, &logs[0]);
        if (!group->sum_is(&sum, &log)) fail_msg("%s: special scalar %zu", group->name, i);
    }
}

/* The digits of a scalar, put together again, are the scalar, for every window width. */
static void digits_sum_to_the_scalar(void **state) {
    (void)state;
    const size_t n_special = special_scalars();
    random_scalars(MAX_POINTS / 64 - n_special, 5);
    for (unsigned c = 2; c <= 20; c++) {
        for (size_t i = 0; i < MAX_POINTS / 64; i++) {
            fr sum = fr_zero, k, term;
            for (unsigned w = msm_window_count(c); w-- > 0;) {
                const struct msm_window window = msm_window_at(c, w);
                const uint32_t digit = msm_digit(&scalars[i], &window);
                assert_true(digit >> 1 <= window.n_digits);
                assert_true(window.n_digits <= msm_window_max_digits(c));
                for (unsigned b = 0; b < c; b++)
                    fr_double(&sum, &sum);
                fr_from_u64(&term, digit >> 1);
                if (digit & 1) fr_neg(&term, &term);
                fr_add(&sum, &sum, &term);
            }
            fr_from_words(&k, &scalars[i]);
            assert_memory_equal(&sum, &k, sizeof k);
        }
    }
}

/* Point i is one of a small set: the same, its negative, infinity, or one of few others. */
static void repeat_points(const struct test_group *group, size_t n, const fr *set,
                          size_t set_size) {
    uint8_t originals[16 * sizeof(g2_affine)];
    group->points_of(originals, set, set_size);
    for (size_t i = 0; i < n; i++) {
        fr pick;
        test_random_fr(&pick, (UINT64_C(6) << 32) + i);
        const size_t which = pick.l[0] % set_size;
        memcpy((uint8_t *)points + i * group->point_bytes, originals + which * group->point_bytes,
               group->point_bytes);
        logs[i] = set[which];
    }
}

static void equal_scalars(size_t n, uint64_t value) {
    for (size_t i = 0; i < n; i++)
        scalars[i] = (fr_words){{value, 0, 0, 0}};
}

static void repeated_opposite_and_infinite_points(const struct test_group *group, size_t n) {
    fr set[16];
    for (size_t i = 0; i < 16; i++)
        test_random_fr(&set[i], 100 + i);
    fr_neg(&set[1], &set[0]);
    set[2] = fr_zero;
    static const struct {
        size_t begin, count;
        const char *what;
    } sets[] = {{0, 1, "one point"},
                {0, 2, "a point and its negative"},
                {2, 1, "infinity only"},
                {0, 3, "a point, its negative and infinity"},
                {0, 16, "sixteen points"}};
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        repeat_points(group, n, set + sets[s].begin, sets[s].count);
        random_scalars(n, 7);
        check(group, n, sets[s].what);
        equal_scalars(n, 1);
        check(group, n, sets[s].what);
        equal_scalars(n, 0x8000800080008000);
        check(group, n, sets[s].what);
    }
}

/* All, or all but a few, scalars are the same: one bucket of a window gets everything. */
static void hot_scalars(const struct test_group *group, size_t n) {
    distinct_points(group, n);
    equal_scalars(n, 0);
    check(group, n, "all zero");
    equal_scalars(n, 1);
    check(group, n, "all one");
    for (size_t i = 0; i < n; i++)
        scalars[i].l[0] = i % 3 == 0;
    check(group, n, "zeros and ones");
    random_scalars(1, 8);
    for (size_t i = 1; i < n; i++)
        scalars[i] = scalars[0];
    check(group, n, "one random value");
    random_scalars(n, 9);
    for (size_t i = 0; i < n; i++) {
        if (i % 10 != 0) scalars[i] = scalars[0];
    }
    check(group, n, "nine in ten the same");
}

static void threads_and_pools(const struct test_group *group, size_t n) {
    distinct_points(group, n);
    random_scalars(n, 10);
    fr log;
    expected_log(&log, n);
    for (unsigned pool_size = 0; pool_size <= 3; pool_size++) {
        struct pool *pool = NULL;
        if (pool_size > 0) assert_int_equal(pool_create(&pool, pool_size, NULL), CUZK_OK);
        for (unsigned threads = 0; threads <= 5; threads++) {
            const struct msm_plan plan = group->plan(n, threads);
            union test_sum sum;
            run(group, &sum, n, &plan, pool);
            if (!group->sum_is(&sum, &log))
                fail_msg("%s: %u threads, pool of %u", group->name, threads, pool_size);
        }
        pool_destroy(pool);
    }
}

/* A run may have fewer points than its plan. */
static void smaller_runs_than_planned(const struct test_group *group) {
    static const size_t sizes[] = {0, 1, 2, 3, 7, 100, 999, 1000};
    distinct_points(group, 1000);
    random_scalars(1000, 11);
    const struct msm_plan plan = group->plan(1000, 3);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        union test_sum sum;
        fr log;
        run(group, &sum, sizes[s], &plan, NULL);
        expected_log(&log, sizes[s]);
        if (!group->sum_is(&sum, &log)) fail_msg("%s: %zu of 1000", group->name, sizes[s]);
    }
}

static void g1_small_sizes(void **state) {
    (void)state;
    small_sizes_equal_the_naive_sum(&test_g1);
}

static void g2_small_sizes(void **state) {
    (void)state;
    small_sizes_equal_the_naive_sum(&test_g2);
}

static void g1_powers_of_two(void **state) {
    (void)state;
    sizes_around_powers_of_two(&test_g1, 8192);
}

static void g2_powers_of_two(void **state) {
    (void)state;
    sizes_around_powers_of_two(&test_g2, 1024);
}

static void g1_large(void **state) {
    (void)state;
    distinct_points(&test_g1, MAX_POINTS);
    random_scalars(MAX_POINTS, 12);
    check(&test_g1, MAX_POINTS, "random");
}

static void g2_large(void **state) {
    (void)state;
    distinct_points(&test_g2, MAX_POINTS / 4);
    random_scalars(MAX_POINTS / 4, 12);
    check(&test_g2, MAX_POINTS / 4, "random");
}

static void g1_special_scalars(void **state) {
    (void)state;
    special_scalars_one_by_one_and_together(&test_g1);
}

static void g2_special_scalars(void **state) {
    (void)state;
    special_scalars_one_by_one_and_together(&test_g2);
}

static void g1_repeated_points(void **state) {
    (void)state;
    repeated_opposite_and_infinite_points(&test_g1, 5000);
}

static void g2_repeated_points(void **state) {
    (void)state;
    repeated_opposite_and_infinite_points(&test_g2, 1000);
}

static void g1_hot_scalars(void **state) {
    (void)state;
    hot_scalars(&test_g1, 20000);
}

static void g2_hot_scalars(void **state) {
    (void)state;
    hot_scalars(&test_g2, 5000);
}

static void g1_threads(void **state) {
    (void)state;
    threads_and_pools(&test_g1, 3001);
}

static void g2_threads(void **state) {
    (void)state;
    threads_and_pools(&test_g2, 701);
}

static void g1_smaller_runs(void **state) {
    (void)state;
    smaller_runs_than_planned(&test_g1);
}

static void g2_smaller_runs(void **state) {
    (void)state;
    smaller_runs_than_planned(&test_g2);
}

/* The second range adds to buckets that are full already. */
static void g1_more_points_than_a_range(void **state) {
    (void)state;
    const size_t n = RANGE + 1000;
    struct mem_block p, l, k;
    fr first, step;
    assert_int_equal(mem_take(&p, n * sizeof(g1_affine), MEM_OTHER, NULL), CUZK_OK);
    assert_int_equal(mem_take(&l, n * sizeof(fr), MEM_OTHER, NULL), CUZK_OK);
    assert_int_equal(mem_take(&k, n * sizeof(fr_words), MEM_OTHER, NULL), CUZK_OK);
    points = p.ptr;
    logs = l.ptr;
    scalars = k.ptr;
    test_random_fr(&first, 13);
    test_random_fr(&step, 14);
    test_g1.progression(points, logs, n, &first, &step);
    uint64_t x = 1;
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < 4; j++) {
            x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            scalars[i].l[j] = j < 3 ? x : x >> 2;
        }
    }
    check(&test_g1, n, "random, in two ranges");
    points = points_block.ptr;
    logs = logs_block.ptr;
    scalars = scalars_block.ptr;
    mem_give(&p);
    mem_give(&l);
    mem_give(&k);
}

/* The header's promise for the scratch: 2^22 points on two threads in less than 150 MB. */
static void scratch_stays_small(void **state) {
    (void)state;
    const struct msm_plan plan = msm_plan_g1((size_t)1 << 22, 2);
    assert_true(plan.scratch_bytes < 150000000);
    assert_int_equal(plan.n_windows, msm_window_count(plan.window));
}

int main(void) {
    printf("kernel: %s\n", msm_kernel_name());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_sum_to_the_scalar),
        cmocka_unit_test(scratch_stays_small),
        cmocka_unit_test(g1_small_sizes),
        cmocka_unit_test(g2_small_sizes),
        cmocka_unit_test(g1_powers_of_two),
        cmocka_unit_test(g2_powers_of_two),
        cmocka_unit_test(g1_special_scalars),
        cmocka_unit_test(g2_special_scalars),
        cmocka_unit_test(g1_repeated_points),
        cmocka_unit_test(g2_repeated_points),
        cmocka_unit_test(g1_hot_scalars),
        cmocka_unit_test(g2_hot_scalars),
        cmocka_unit_test(g1_threads),
        cmocka_unit_test(g2_threads),
        cmocka_unit_test(g1_smaller_runs),
        cmocka_unit_test(g2_smaller_runs),
        cmocka_unit_test(g1_large),
        cmocka_unit_test(g2_large),
        cmocka_unit_test(g1_more_points_than_a_range),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
