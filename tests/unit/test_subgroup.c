/*
 * The group check on many points: it finds bad ones wherever they are, also those whose parts
 * outside the group cancel in any plain sum.
 */
#include "test_main.h"

#include "mem.h"
#include "param_fixture.h"
#include "progress_testing.h"
#include "subgroup.h"

/* Multiples 1, 2, 3 … of the generator. */
static g1_affine *points_g1(size_t n, struct mem_block *block) {
    struct mem_block jacobian;
    assert_int_equal(mem_take(block, n * sizeof(g1_affine), MEM_OTHER, NULL), CUZK_OK);
    assert_int_equal(mem_take(&jacobian, n * sizeof(g1), MEM_OTHER, NULL), CUZK_OK);
    g1 *p = jacobian.ptr;
    g1_from_affine(&p[0], &g1_generator);
    for (size_t i = 1; i < n; i++)
        g1_add_affine(&p[i], &p[i - 1], &g1_generator);
    g1_batch_to_affine(block->ptr, p, n);
    mem_give(&jacobian);
    return block->ptr;
}

static g2_affine *points_g2(size_t n, struct mem_block *block) {
    struct mem_block jacobian;
    assert_int_equal(mem_take(block, n * sizeof(g2_affine), MEM_OTHER, NULL), CUZK_OK);
    assert_int_equal(mem_take(&jacobian, n * sizeof(g2), MEM_OTHER, NULL), CUZK_OK);
    g2 *p = jacobian.ptr;
    g2_from_affine(&p[0], &g2_generator);
    for (size_t i = 1; i < n; i++)
        g2_add_affine(&p[i], &p[i - 1], &g2_generator);
    g2_batch_to_affine(block->ptr, p, n);
    mem_give(&jacobian);
    return block->ptr;
}

/* point += bad: keeps its part in the group, and gets one outside. */
static void spoil_g1(g1_affine *point, const g1_affine *bad) {
    g1 sum;
    g1_from_affine(&sum, point);
    g1_add_affine(&sum, &sum, bad);
    g1_to_affine(point, &sum);
}

static g1_affine order_three(bool negative) {
    uint8_t raw[96];
    g1_affine p;
    bad_point_g1(raw);
    assert_int_equal(g1_decode(&p, raw), POINT_GOOD);
    assert_false(g1_in_group(&p));
    if (negative) {
        g1 t;
        g1_from_affine(&t, &p);
        g1_neg(&t, &t);
        g1_to_affine(&p, &t);
    }
    return p;
}

static size_t check_g1(const g1_affine *p, size_t n, struct pool *pool) {
    size_t bad;
    assert_int_equal(subgroup_check_g1(&bad, p, n, pool, NULL, NULL), CUZK_OK);
    return bad;
}

/* One by one, one level of buckets, two levels. */
static const size_t sizes[] = {1, 4096, 4097, 20000, 150001};
enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

static void good_points_pass(void **state) {
    struct mem_block block;
    for (size_t i = 0; i < N_SIZES; i++) {
        g1_affine *p = points_g1(sizes[i], &block);
        memset(&p[sizes[i] / 2], 0, sizeof p[0]); /* infinity is in the group */
        assert_int_equal(check_g1(p, sizes[i], *state), SUBGROUP_ALL_GOOD);
        mem_give(&block);
    }
    assert_int_equal(check_g1(NULL, 0, *state), SUBGROUP_ALL_GOOD);
}

static void one_bad_point_is_found(void **state) {
    struct mem_block block;
    const g1_affine bad = order_three(false);
    for (size_t i = 0; i < N_SIZES; i++) {
        const size_t n = sizes[i], places[] = {0, n / 3, n - 1};
        g1_affine *p = points_g1(n, &block);
        for (int k = 0; k < (n > 100000 ? 1 : 3); k++) {
            const g1_affine good = p[places[k]];
            spoil_g1(&p[places[k]], &bad);
            assert_int_equal(check_g1(p, n, *state), places[k]);
            p[places[k]] = good;
        }
        mem_give(&block);
    }
}

/* Two opposite ones, three equal ones of order three: every sum over all points is in the group. */
static void bad_points_that_cancel_are_found(void **state) {
    enum { N = 9000 };
    struct mem_block block;
    const g1_affine plus = order_three(false), minus = order_three(true);
    g1_affine *p = points_g1(N, &block);
    spoil_g1(&p[17], &plus);
    spoil_g1(&p[8000], &minus);
    size_t bad = check_g1(p, N, *state);
    assert_true(bad == 17 || bad == 8000);
    spoil_g1(&p[17], &plus);
    spoil_g1(&p[8000], &minus); /* now 2 and -2, that is -1 and 1 */
    bad = check_g1(p, N, *state);
    assert_true(bad == 17 || bad == 8000);
    spoil_g1(&p[17], &plus); /* none, and one left */
    spoil_g1(&p[8000], &minus);
    assert_int_equal(check_g1(p, N, *state), SUBGROUP_ALL_GOOD);
    for (int i = 0; i < 3; i++)
        spoil_g1(&p[1000 * i + 5], &plus);
    bad = check_g1(p, N, *state);
    assert_true(bad == 5 || bad == 1005 || bad == 2005);
    for (size_t i = 0; i < N; i++) /* all of them bad but for those three, now of 2 parts */
        spoil_g1(&p[i], &plus);
    assert_int_not_equal(check_g1(p, N, *state), SUBGROUP_ALL_GOOD);
    mem_give(&block);
}

static void g2_points_are_checked(void **state) {
    enum { N = 5000 };
    struct mem_block block;
    uint8_t raw[192];
    g2_affine bad;
    bad_point_g2(raw);
    assert_int_equal(g2_decode(&bad, raw), POINT_GOOD);
    assert_false(g2_in_group(&bad));
    g2_affine *p = points_g2(N, &block);
    size_t found;
    assert_int_equal(subgroup_check_g2(&found, p, N, *state, NULL, NULL), CUZK_OK);
    assert_int_equal(found, SUBGROUP_ALL_GOOD);
    g2 sum;
    g2_from_affine(&sum, &p[4321]);
    g2_add_affine(&sum, &sum, &bad);
    g2_to_affine(&p[4321], &sum);
    assert_int_equal(subgroup_check_g2(&found, p, N, *state, NULL, NULL), CUZK_OK);
    assert_int_equal(found, 4321);
    assert_int_equal(subgroup_check_g2(&found, p, 100, NULL, NULL, NULL), CUZK_OK);
    assert_int_equal(found, SUBGROUP_ALL_GOOD);
    mem_give(&block);
}

static void scratch_is_as_planned(void **state) {
    enum { N = 150001 };
    struct mem_block block;
    g1_affine *p = points_g1(N, &block);
    const size_t before = mem_in_use(MEM_OTHER);
    const size_t plan = subgroup_scratch_bytes_g1(N, pool_threads(*state));
    struct peak_watch watch;
    peak_watch_init(&watch);
    size_t bad;
    assert_int_equal(subgroup_check_g1(&bad, p, N, *state, &watch.progress, NULL), CUZK_OK);
    assert_int_equal(bad, SUBGROUP_ALL_GOOD);
    assert_int_equal(mem_in_use(MEM_OTHER), before);
    /* Two blocks, each rounded to whole pages of 2 MiB at most. */
    assert_in_range(watch.other - before, plan, plan + ((size_t)4 << 20));
    assert_true(plan < (size_t)8 << 20);
    /* 32 GiB PoRep: some 560 million points. */
    assert_true(subgroup_scratch_bytes_g1(560000000, 64) < (size_t)2 << 30);
    assert_int_equal(subgroup_scratch_bytes_g2(4096, 8), 0);
    mem_give(&block);
}

static void it_can_be_cancelled(void **state) {
    enum { N = 5000 };
    struct mem_block block;
    g1_affine *p = points_g1(N, &block);
    const atomic_bool cancel = true;
    const struct progress progress = {.cancel = &cancel};
    size_t bad;
    assert_int_equal(subgroup_check_g1(&bad, p, N, *state, &progress, NULL), CUZK_CANCELLED);
    mem_give(&block);
    assert_int_equal(mem_in_use(MEM_OTHER), 0);
}

static int group_setup(void **state) {
    struct pool *pool;
    assert_int_equal(pool_create(&pool, 3, NULL), CUZK_OK);
    *state = pool;
    return 0;
}

static int group_teardown(void **state) {
    pool_destroy(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_points_pass),
        cmocka_unit_test(one_bad_point_is_found),
        cmocka_unit_test(bad_points_that_cancel_are_found),
        cmocka_unit_test(g2_points_are_checked),
        cmocka_unit_test(scratch_is_as_planned),
        cmocka_unit_test(it_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
