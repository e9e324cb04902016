#include "unit/test_main.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "clock.h"
#include "ledger.h"

static const uint64_t gib = (uint64_t)1 << 30;

static struct ledger *make(uint64_t limit) {
    struct ledger *l = NULL;
    assert_int_equal(ledger_create(&l, limit, "cgroup /x memory.max", NULL), CUZK_OK);
    return l;
}

static struct ledger_request of(uint64_t bytes) {
    return (struct ledger_request){.item[MEM_ABC] = {.bytes_each = bytes}};
}

static uint64_t in_ms(unsigned ms) {
    return clock_ns() + (uint64_t)ms * 1000000u;
}

/* A thread that reserves, notes its place in the order of grants, and keeps what it has. */
struct holder {
    struct ledger *ledger;
    struct ledger_request req;
    struct ledger_reservation held;
    _Atomic unsigned *order; /* the next place */
    unsigned place;
    cuzk_status status;
    struct cuzk_error err;
    pthread_t thread;
};

static void *hold(void *arg) {
    struct holder *h = arg;
    h->status = ledger_reserve(h->ledger, &h->req, &h->held, &h->err);
    h->place = atomic_fetch_add(h->order, 1);
    return NULL;
}

/* Starts a holder and returns when it stands in the queue as the n-th. */
static void start_waiting(struct holder *h, unsigned n) {
    assert_int_equal(pthread_create(&h->thread, NULL, hold, h), 0);
    const uint64_t give_up_at = in_ms(20000);
    while (ledger_read(h->ledger).waiters < n) {
        assert_true(clock_ns() < give_up_at);
        usleep(200);
    }
}

static void a_reservation_is_counted_shrunk_and_released(void **state) {
    (void)state;
    struct ledger *l = make(100);
    const struct ledger_request req = {
        .item = {[MEM_SRS] = {.bytes_each = 40}, [MEM_WITNESS] = {.bytes_each = 10, .count = 3}}};
    struct ledger_reservation r;
    assert_int_equal(ledger_reserve(l, &req, &r, NULL), CUZK_OK);
    assert_true(r.bytes[MEM_SRS] == 40 && r.bytes[MEM_WITNESS] == 30);
    struct ledger_counters c = ledger_read(l);
    assert_true(c.reserved_total == 70 && c.reserved[MEM_WITNESS] == 30 && c.limit == 100);
    ledger_shrink(l, &r, MEM_WITNESS, 5);
    ledger_shrink(l, &r, MEM_WITNESS, 5);
    c = ledger_read(l);
    assert_true(c.reserved_total == 45 && c.reserved[MEM_WITNESS] == 5);
    assert_true(c.high_water_total == 70 && c.high_water[MEM_WITNESS] == 30);
    struct ledger_reservation exact;
    const struct ledger_request rest = of(55);
    assert_int_equal(ledger_try_reserve(l, &rest, &exact, NULL), CUZK_OK);
    assert_true(ledger_read(l).reserved_total == 100 && ledger_read(l).high_water_total == 100);
    ledger_release(l, &r);
    ledger_release(l, &r); /* an empty one */
    ledger_release(l, &exact);
    c = ledger_read(l);
    assert_true(c.reserved_total == 0 && c.reserved[MEM_SRS] == 0 && c.granted == 2);
    ledger_destroy(l);
    ledger_destroy(NULL);
}

static void what_can_never_fit_is_refused_with_the_sum(void **state) {
    (void)state;
    struct ledger *l = make(64 * gib);
    const struct ledger_request req = {
        .item = {[MEM_SRS] = {.bytes_each = 441 * gib / 10},
                 [MEM_ABC] = {.bytes_each = 136 * gib / 10, .count = 2, .label = "partitions"}}};
    struct ledger_reservation r;
    struct cuzk_error err;
    assert_int_equal(ledger_reserve(l, &req, &r, &err), CUZK_BUDGET);
    assert_string_equal(err.what,
                        "needs 71.3 GiB (srs 44.1 + 2 partitions x 13.6); budget is "
                        "64.0 GiB, limited by cgroup /x memory.max");
    assert_true(strlen(err.hint) > 10);
    assert_int_equal(ledger_try_reserve(l, &req, &r, &err), CUZK_BUDGET);
    assert_true(r.bytes[MEM_SRS] == 0 && r.bytes[MEM_ABC] == 0);
    assert_true(ledger_read(l).refused == 2 && ledger_read(l).reserved_total == 0);
    const struct ledger_request one_more = of(64 * gib + 1);
    assert_int_equal(ledger_reserve(l, &one_more, &r, NULL), CUZK_BUDGET);
    ledger_destroy(l);
}

static void sums_beyond_64_bits_are_refused(void **state) {
    (void)state;
    struct ledger *l = make(UINT64_MAX);
    struct ledger_reservation r;
    const struct ledger_request product = {
        .item[MEM_ABC] = {.bytes_each = UINT64_MAX / 2, .count = 3}};
    assert_int_equal(ledger_reserve(l, &product, &r, NULL), CUZK_BUDGET);
    const struct ledger_request sum = {
        .item = {[MEM_ABC] = {.bytes_each = UINT64_MAX}, [MEM_SRS] = {.bytes_each = 1}}};
    assert_int_equal(ledger_reserve(l, &sum, &r, NULL), CUZK_BUDGET);
    const struct ledger_request all = of(UINT64_MAX);
    assert_int_equal(ledger_reserve(l, &all, &r, NULL), CUZK_OK);
    const struct ledger_request one = of(1);
    struct ledger_reservation none;
    assert_int_equal(ledger_try_reserve(l, &one, &none, NULL), CUZK_BUDGET_BUSY);
    ledger_release(l, &r);
    ledger_destroy(l);
}

static void long_labels_are_cut(void **state) {
    (void)state;
    char name[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct ledger *l = NULL;
    assert_int_equal(ledger_create(&l, 1, name, NULL), CUZK_OK);
    struct ledger_request req = {0};
    for (int k = 0; k < MEM_CLASSES; k++)
        req.item[k] = (struct ledger_item){.bytes_each = gib, .count = 7, .label = name};
    struct ledger_reservation r;
    struct cuzk_error err;
    assert_int_equal(ledger_reserve(l, &req, &r, &err), CUZK_BUDGET);
    assert_non_null(strstr(err.what, "needs 63.0 GiB (7 nnn"));
    assert_true(strlen(err.what) < sizeof err.what);
    ledger_destroy(l);
}

static void the_deadline_ends_waiting(void **state) {
    (void)state;
    struct ledger *l = make(100);
    struct ledger_reservation all;
    struct ledger_reservation r;
    struct cuzk_error err;
    struct ledger_request req = of(100);
    assert_int_equal(ledger_reserve(l, &req, &all, NULL), CUZK_OK);
    req.deadline_ns = in_ms(30);
    assert_int_equal(ledger_reserve(l, &req, &r, &err), CUZK_DEADLINE);
    assert_true(clock_ns() >= req.deadline_ns);
    assert_int_equal(ledger_read(l).waiters, 0);
    req.deadline_ns = 1; /* long ago */
    assert_int_equal(ledger_reserve(l, &req, &r, &err), CUZK_DEADLINE);
    assert_int_equal(ledger_try_reserve(l, &req, &r, &err), CUZK_BUDGET_BUSY);
    ledger_release(l, &all);
    assert_int_equal(ledger_reserve(l, &req, &r, &err), CUZK_OK);
    ledger_release(l, &r);
    ledger_destroy(l);
}

/* Higher priority first, then arrival; each waiter needs the whole room, so one is served a time.
 */
static void waiters_are_served_by_priority_then_arrival(void **state) {
    (void)state;
    enum { N = 6 };
    static const int priority[N] = {1, 0, 1, 2, 0, 2};
    static const int expected[N] = {3, 5, 0, 2, 1, 4};
    struct ledger *l = make(100);
    static struct holder h[N];
    _Atomic unsigned order = 0;
    struct ledger_reservation all;
    const struct ledger_request req = of(100);
    assert_int_equal(ledger_reserve(l, &req, &all, NULL), CUZK_OK);
    for (unsigned i = 0; i < N; i++) {
        h[i] = (struct holder){.ledger = l, .req = of(100), .order = &order};
        h[i].req.priority = priority[i];
        start_waiting(&h[i], i + 1);
    }
    ledger_release(l, &all);
    for (unsigned i = 0; i < N; i++) {
        struct holder *next = &h[expected[i]];
        assert_int_equal(pthread_join(next->thread, NULL), 0);
        assert_int_equal(next->status, CUZK_OK);
        assert_int_equal(next->place, i);
        assert_int_equal(ledger_read(l).waiters, N - 1 - i);
        ledger_release(l, &next->held);
    }
    ledger_destroy(l);
}

static void nobody_is_overtaken_but_by_priority(void **state) {
    (void)state;
    struct ledger *l = make(100);
    _Atomic unsigned order = 0;
    struct ledger_reservation some;
    struct ledger_reservation r;
    const struct ledger_request req = of(50);
    assert_int_equal(ledger_reserve(l, &req, &some, NULL), CUZK_OK);
    struct holder large = {.ledger = l, .req = of(80), .order = &order};
    start_waiting(&large, 1);
    struct ledger_request small = of(10); /* would fit, but would starve the large one */
    assert_int_equal(ledger_try_reserve(l, &small, &r, NULL), CUZK_BUDGET_BUSY);
    small.deadline_ns = in_ms(20);
    assert_int_equal(ledger_reserve(l, &small, &r, NULL), CUZK_DEADLINE);
    small.priority = 1;
    assert_int_equal(ledger_try_reserve(l, &small, &r, NULL), CUZK_OK);
    ledger_release(l, &r);
    ledger_shrink(l, &some, MEM_ABC, 20); /* shrinking wakes as releasing does */
    pthread_join(large.thread, NULL);
    assert_int_equal(large.status, CUZK_OK);
    assert_true(ledger_read(l).reserved_total == 100);
    ledger_release(l, &some);
    ledger_release(l, &large.held);
    ledger_destroy(l);
}

static void cancelling_gives_up_and_lets_the_next_in(void **state) {
    (void)state;
    struct ledger *l = make(100);
    _Atomic unsigned order = 0;
    struct ledger_cancel cancel = {false};
    struct ledger_reservation some;
    struct ledger_reservation r;
    const struct ledger_request req = of(50);
    assert_int_equal(ledger_reserve(l, &req, &some, NULL), CUZK_OK);
    struct holder large = {.ledger = l, .req = of(80), .order = &order};
    large.req.cancel = &cancel;
    struct holder small = {.ledger = l, .req = of(20), .order = &order};
    struct holder other = {.ledger = l, .req = of(90), .order = &order};
    start_waiting(&large, 1);
    start_waiting(&small, 2);
    start_waiting(&other, 3);
    ledger_cancel(l, &cancel);
    pthread_join(large.thread, NULL);
    pthread_join(small.thread, NULL);
    assert_int_equal(large.status, CUZK_CANCELLED);
    assert_true(large.held.bytes[MEM_ABC] == 0);
    assert_int_equal(small.status, CUZK_OK);
    assert_int_equal(ledger_read(l).waiters, 1);
    assert_int_equal(ledger_reserve(l, &large.req, &r, NULL), CUZK_CANCELLED); /* stays raised */
    ledger_release(l, &some);
    ledger_release(l, &small.held);
    pthread_join(other.thread, NULL);
    assert_int_equal(other.status, CUZK_OK);
    ledger_release(l, &other.held);
    ledger_destroy(l);
}

/* The one in front gives up at its deadline; the one behind, which fits, must not sleep on. */
static void a_deadline_in_front_lets_the_next_in(void **state) {
    (void)state;
    struct ledger *l = make(100);
    _Atomic unsigned order = 0;
    struct ledger_reservation some;
    const struct ledger_request req = of(50);
    assert_int_equal(ledger_reserve(l, &req, &some, NULL), CUZK_OK);
    struct holder large = {.ledger = l, .req = of(80), .order = &order};
    struct holder small = {.ledger = l, .req = of(20), .order = &order};
    large.req.deadline_ns = in_ms(300);
    start_waiting(&large, 1);
    assert_int_equal(pthread_create(&small.thread, NULL, hold, &small), 0);
    pthread_join(small.thread, NULL);
    pthread_join(large.thread, NULL);
    assert_int_equal(large.status, CUZK_DEADLINE);
    assert_int_equal(small.status, CUZK_OK);
    ledger_release(l, &some);
    ledger_release(l, &small.held);
    ledger_destroy(l);
}

static void the_limit_may_change_while_running(void **state) {
    (void)state;
    struct ledger *l = make(100);
    _Atomic unsigned order = 0;
    struct ledger_reservation some;
    struct ledger_reservation r;
    const struct ledger_request req = of(60);
    assert_int_equal(ledger_reserve(l, &req, &some, NULL), CUZK_OK);
    struct holder large = {.ledger = l, .req = of(90), .order = &order};
    struct holder small = {.ledger = l, .req = of(30), .order = &order};
    start_waiting(&large, 1);
    start_waiting(&small, 2);
    ledger_set_limit(l, 40, "MemAvailable"); /* below what is reserved: nothing is taken back */
    pthread_join(large.thread, NULL);
    assert_int_equal(large.status, CUZK_BUDGET);
    assert_non_null(strstr(large.err.what, "limited by MemAvailable"));
    assert_true(ledger_read(l).reserved_total == 60 && ledger_read(l).waiters == 1);
    const struct ledger_request zero = of(0);
    assert_int_equal(ledger_try_reserve(l, &zero, &r, NULL), CUZK_BUDGET_BUSY);
    ledger_shrink(l, &some, MEM_ABC, 20);
    assert_int_equal(ledger_read(l).waiters, 1); /* 20 + 30 > 40 */
    ledger_set_limit(l, 50, "the configuration");
    pthread_join(small.thread, NULL);
    assert_int_equal(small.status, CUZK_OK);
    assert_true(ledger_read(l).reserved_total == 50);
    ledger_release(l, &some);
    ledger_release(l, &small.held);
    ledger_destroy(l);
}

enum { CROWD = 16, ROUNDS = 300, CROWD_LIMIT = 1000 };

struct crowd {
    struct ledger *ledger;
    _Atomic uint64_t held; /* what is held for sure: counted after the grant, until the release */
    _Atomic unsigned granted;
    _Atomic unsigned gave_up;
    _Atomic unsigned wrong;
};

struct member {
    struct crowd *crowd;
    uint64_t seed;
    pthread_t thread;
};

static unsigned draw(uint64_t *seed, unsigned n) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33) % n;
}

static void use(struct crowd *c, struct ledger_reservation *r, uint64_t *seed) {
    const uint64_t mine = r->bytes[MEM_WITNESS] + r->bytes[MEM_ABC];
    if (atomic_fetch_add(&c->held, mine) + mine > CROWD_LIMIT) atomic_fetch_add(&c->wrong, 1);
    if (draw(seed, 8) == 0) usleep(50);
    const uint64_t abc = r->bytes[MEM_ABC];
    atomic_fetch_sub(&c->held, abc); /* before the ledger may give it to another */
    ledger_shrink(c->ledger, r, MEM_ABC, 0);
    atomic_fetch_sub(&c->held, mine - abc);
    ledger_release(c->ledger, r);
}

static void *take_part(void *arg) {
    struct member *m = arg;
    struct crowd *c = m->crowd;
    for (int i = 0; i < ROUNDS; i++) {
        struct ledger_request req = {
            .item = {[MEM_WITNESS] = {.bytes_each = draw(&m->seed, 100), .count = 2},
                     [MEM_ABC] = {.bytes_each = draw(&m->seed, 800)}},
            .priority = (int)draw(&m->seed, 3)};
        if (draw(&m->seed, 4) == 0) req.deadline_ns = clock_ns() + draw(&m->seed, 200000);
        struct ledger_reservation r;
        const cuzk_status s = ledger_reserve(c->ledger, &req, &r, NULL);
        if (s == CUZK_OK) {
            atomic_fetch_add(&c->granted, 1);
            use(c, &r, &m->seed);
        } else {
            atomic_fetch_add(s == CUZK_DEADLINE && req.deadline_ns != 0 ? &c->gave_up : &c->wrong,
                             1);
        }
    }
    return NULL;
}

/* Ends only if no wake-up is lost: most requests have no deadline. */
static void a_crowd_never_exceeds_the_limit_and_is_served(void **state) {
    (void)state;
    struct crowd c = {.ledger = make(CROWD_LIMIT)};
    static struct member m[CROWD];
    const uint64_t seed = clock_ns();
    printf("seed %llu\n", (unsigned long long)seed);
    for (unsigned i = 0; i < CROWD; i++) {
        m[i] = (struct member){.crowd = &c, .seed = seed + i};
        assert_int_equal(pthread_create(&m[i].thread, NULL, take_part, &m[i]), 0);
    }
    for (unsigned i = 0; i < CROWD; i++)
        assert_int_equal(pthread_join(m[i].thread, NULL), 0);
    assert_int_equal(c.wrong, 0);
    assert_int_equal(c.granted + c.gave_up, CROWD * ROUNDS);
    const struct ledger_counters n = ledger_read(c.ledger);
    assert_true(n.reserved_total == 0 && n.waiters == 0);
    assert_true(n.high_water_total > CROWD_LIMIT / 2 && n.high_water_total <= CROWD_LIMIT);
    assert_int_equal(n.granted, c.granted);
    for (int k = 0; k < MEM_CLASSES; k++)
        assert_true(n.reserved[k] == 0);
    ledger_destroy(c.ledger);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reservation_is_counted_shrunk_and_released),
        cmocka_unit_test(what_can_never_fit_is_refused_with_the_sum),
        cmocka_unit_test(sums_beyond_64_bits_are_refused),
        cmocka_unit_test(long_labels_are_cut),
        cmocka_unit_test(the_deadline_ends_waiting),
        cmocka_unit_test(waiters_are_served_by_priority_then_arrival),
        cmocka_unit_test(nobody_is_overtaken_but_by_priority),
        cmocka_unit_test(cancelling_gives_up_and_lets_the_next_in),
        cmocka_unit_test(a_deadline_in_front_lets_the_next_in),
        cmocka_unit_test(the_limit_may_change_while_running),
        cmocka_unit_test(a_crowd_never_exceeds_the_limit_and_is_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
