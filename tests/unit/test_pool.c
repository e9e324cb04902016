#include "unit/test_main.h"

#include <stdatomic.h>

#include "pool.h"

enum { N_TASKS = 10000 };

struct tally {
    _Atomic unsigned hits[N_TASKS];
    _Atomic unsigned bad_worker;
    unsigned threads;
};

static void hit(void *ctx, size_t task, unsigned worker) {
    struct tally *t = ctx;
    atomic_fetch_add(&t->hits[task], 1);
    if (worker >= t->threads) atomic_fetch_add(&t->bad_worker, 1);
}

static void check_pool(unsigned threads, int rounds) {
    struct pool *pool = NULL;
    assert_int_equal(pool_create(&pool, threads, NULL), CUZK_OK);
    assert_int_equal(pool_threads(pool), threads);
    static struct tally t;
    memset(&t, 0, sizeof t);
    t.threads = threads;
    for (int i = 0; i < rounds; i++)
        pool_run(pool, N_TASKS, hit, &t);
    for (int i = 0; i < N_TASKS; i++)
        assert_int_equal(t.hits[i], rounds);
    assert_int_equal(t.bad_worker, 0);
    pool_destroy(pool);
}

static void every_task_runs_once(void **state) {
    (void)state;
    for (unsigned threads = 1; threads <= 5; threads++)
        check_pool(threads, 3);
}

static void many_small_loops(void **state) {
    (void)state;
    struct pool *pool = NULL;
    assert_int_equal(pool_create(&pool, 3, NULL), CUZK_OK);
    static struct tally t;
    memset(&t, 0, sizeof t);
    t.threads = 3;
    for (int i = 0; i < 5000; i++)
        pool_run(pool, 1 + i % 5, hit, &t);
    for (int task = 0; task < 5; task++)
        assert_int_equal(t.hits[task], 1000 * (5 - task));
    pool_destroy(pool);
}

static void order(void *ctx, size_t task, unsigned worker) {
    size_t *next = ctx;
    assert_int_equal(task, *next);
    assert_int_equal(worker, 0);
    ++*next;
}

static void no_pool_runs_in_order_on_the_caller(void **state) {
    (void)state;
    size_t next = 0;
    pool_run(NULL, 17, order, &next);
    assert_int_equal(next, 17);
    pool_run(NULL, 0, order, &next);
    assert_int_equal(next, 17);
    assert_int_equal(pool_threads(NULL), 1);
}

static void the_default_is_the_number_of_processors(void **state) {
    (void)state;
    struct pool *pool = NULL;
    assert_int_equal(pool_create(&pool, 0, NULL), CUZK_OK);
    assert_int_equal(pool_threads(pool), pool_cpus());
    pool_destroy(pool);
    pool_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once),
        cmocka_unit_test(many_small_loops),
        cmocka_unit_test(no_pool_runs_in_order_on_the_caller),
        cmocka_unit_test(the_default_is_the_number_of_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
