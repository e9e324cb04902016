#include "unit/test_main.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "lock.h"

/* lock.c is compiled into this program with its assertions (unit/base.cmake). */

/* ---- ranks ---- */

static struct lock outer, middle, inner;
static struct lock_cond cond;

static void init_locks(void) {
    lock_init(&outer, LOCK_ENGINE);
    lock_init(&middle, LOCK_JOURNAL);
    lock_init(&inner, LOCK_LOG);
    lock_cond_init(&cond);
}

static void destroy_locks(void) {
    lock_cond_destroy(&cond);
    lock_destroy(&inner);
    lock_destroy(&middle);
    lock_destroy(&outer);
}

/* Does `body` end in an abort? In a child, as cmocka cannot go on after one. */
static bool aborts(void (*body)(void)) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(1);
        signal(SIGABRT, SIG_DFL); /* cmocka's handler would report a failure */
        alarm(20);                /* a wrong order that is let through may hang */
        body();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void nest_in_order(void) {
    lock_take(&outer);
    lock_take(&middle);
    lock_take(&inner);
    lock_give(&outer); /* any order of giving will do */
    lock_give(&inner);
    lock_take(&inner);
    lock_give(&inner);
    lock_give(&middle);
    lock_take(&outer);
    lock_give(&outer);
}

static void nest_inside_out(void) {
    lock_take(&inner);
    lock_take(&outer);
}

static void take_an_outer_one_between(void) {
    lock_take(&outer);
    lock_take(&inner);
    lock_take(&middle);
}

static void take_twice(void) {
    lock_take(&middle);
    lock_take(&middle);
}

static void take_two_of_one_rank(void) {
    struct lock other;
    lock_init(&other, LOCK_JOURNAL);
    lock_take(&middle);
    lock_take(&other);
}

static void give_without_taking(void) {
    lock_give(&middle);
}

static void wait_with_an_inner_lock(void) {
    lock_take(&outer);
    lock_take(&inner);
    (void)lock_cond_wait_until(&cond, &outer, clock_ns());
}

static void wait_on_the_innermost(void) {
    lock_take(&outer);
    lock_take(&inner);
    (void)lock_cond_wait_until(&cond, &inner, clock_ns());
    lock_give(&inner);
    lock_give(&outer);
}

static void the_order_of_ranks_is_checked(void **state) {
    (void)state;
    init_locks();
    assert_false(aborts(nest_in_order));
    assert_true(aborts(nest_inside_out));
    assert_true(aborts(take_an_outer_one_between));
    assert_true(aborts(take_twice));
    assert_true(aborts(take_two_of_one_rank));
    assert_true(aborts(give_without_taking));
    assert_true(aborts(wait_with_an_inner_lock));
    assert_false(aborts(wait_on_the_innermost));
    destroy_locks();
}

/* ---- what a lock is for ---- */

enum { N_THREADS = 4, N_ROUNDS = 20000 };

static struct {
    struct lock lock;
    struct lock_cond changed;
    unsigned long count; /* not atomic: the lock is what keeps it right */
    int turn;
} shared;

static void *add_up(void *ctx) {
    (void)ctx;
    for (int i = 0; i < N_ROUNDS; i++) {
        lock_take(&shared.lock);
        shared.count++;
        lock_give(&shared.lock);
    }
    return NULL;
}

/* Ranks are each thread's own: another thread may hold an inner lock. */
static void threads_exclude_each_other(void **state) {
    (void)state;
    pthread_t threads[N_THREADS];
    struct lock other;
    lock_init(&shared.lock, LOCK_ENGINE);
    lock_init(&other, LOCK_LOG);
    shared.count = 0;
    lock_take(&other);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_up, NULL), 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    lock_give(&other);
    assert_int_equal(shared.count, (unsigned long)N_THREADS * N_ROUNDS);
    lock_destroy(&other);
    lock_destroy(&shared.lock);
}

static void *take_turns(void *ctx) {
    const int me = *(const int *)ctx;
    lock_take(&shared.lock);
    for (int i = 0; i < 200; i++) {
        while (shared.turn != me)
            lock_cond_wait(&shared.changed, &shared.lock);
        shared.turn = (me + 1) % N_THREADS;
        shared.count++;
        lock_cond_wake_all(&shared.changed);
    }
    lock_give(&shared.lock);
    return NULL;
}

static void conditions_wake(void **state) {
    (void)state;
    pthread_t threads[N_THREADS];
    int numbers[N_THREADS];
    lock_init(&shared.lock, LOCK_ENGINE);
    lock_cond_init(&shared.changed);
    shared.count = 0;
    shared.turn = 0;
    for (int i = 0; i < N_THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, take_turns, &numbers[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(shared.count, N_THREADS * 200);
    lock_cond_destroy(&shared.changed);
    lock_destroy(&shared.lock);
}

static void *wake_one_later(void *ctx) {
    (void)ctx;
    lock_take(&shared.lock);
    shared.turn = 1;
    lock_cond_wake_one(&shared.changed);
    lock_give(&shared.lock);
    return NULL;
}

static void a_wait_ends_at_its_time(void **state) {
    (void)state;
    pthread_t thread;
    lock_init(&shared.lock, LOCK_ENGINE);
    lock_cond_init(&shared.changed);
    lock_take(&shared.lock);
    const uint64_t until_ns = clock_ns() + 30000000;
    while (lock_cond_wait_until(&shared.changed, &shared.lock, until_ns)) {
    } /* it may wake early, and then says so */
    assert_true(clock_ns() >= until_ns);
    assert_false(lock_cond_wait_until(&shared.changed, &shared.lock, 0)); /* long ago */

    shared.turn = 0;
    assert_int_equal(pthread_create(&thread, NULL, wake_one_later, NULL), 0);
    const uint64_t far_ns = clock_ns() + UINT64_C(60000000000);
    while (shared.turn == 0)
        assert_true(lock_cond_wait_until(&shared.changed, &shared.lock, far_ns));
    lock_give(&shared.lock);
    pthread_join(thread, NULL);
    lock_cond_destroy(&shared.changed);
    lock_destroy(&shared.lock);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_ranks_is_checked),
        cmocka_unit_test(threads_exclude_each_other),
        cmocka_unit_test(conditions_wake),
        cmocka_unit_test(a_wait_ends_at_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
