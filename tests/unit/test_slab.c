#include "unit/test_main.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "slab.h"

static const size_t mib = (size_t)1 << 20;
static const uint64_t never_ns = UINT64_MAX;

static struct slab_pool *make_pool(size_t keep_bytes, uint64_t idle_ns) {
    const struct slab_options options = {.keep_bytes = keep_bytes, .idle_ns = idle_ns};
    struct slab_pool *pool;
    assert_int_equal(slab_pool_create(&pool, &options, NULL), CUZK_OK);
    return pool;
}

static struct slab take(struct slab_pool *pool, size_t bytes, enum mem_class kind) {
    struct slab s;
    assert_int_equal(slab_take(pool, &s, bytes, kind, NULL), CUZK_OK);
    return s;
}

static bool is_zero(const void *ptr, size_t bytes) {
    const unsigned char *p = ptr;
    return p[0] == 0 && memcmp(p, p + 1, bytes - 1) == 0;
}

static size_t resident_bytes(int fd) {
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return (size_t)st.st_blocks * 512;
}

/* Until the pool's thread has closed so many, or 10 s. */
static void wait_closed(struct slab_pool *pool, uint64_t closed) {
    const uint64_t start_ns = clock_ns();
    while (slab_read(pool).closed < closed && clock_seconds_since(start_ns) < 10)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(slab_read(pool).closed, closed);
}

static void a_slab_is_zeroed_aligned_and_counted(void **state) {
    (void)state;
    struct slab_pool *pool = make_pool(16 * mib, never_ns);
    const size_t before = mem_in_use(MEM_ABC);
    uint64_t last_id = 0;
    static const size_t sizes[] = {0, 1, 4096, 4097, 70000, 1 << 20, (1 << 20) + 1, 5000001};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct slab s = take(pool, sizes[i], MEM_ABC);
        assert_true(s.id != 0 && s.fd >= 0 && s.kind == MEM_ABC);
        assert_true(s.bytes >= sizes[i] && s.bytes < sizes[i] + 4097 && s.bytes % 4096 == 0);
        assert_true(s.class_bytes >= s.bytes && s.class_bytes <= s.bytes + s.bytes / 8 + 4096);
        assert_int_equal((uintptr_t)s.ptr % 64, 0);
        if (s.id != last_id) /* a new one: nothing is touched before its user does */
            assert_int_equal(resident_bytes(s.fd), 0);
        last_id = s.id;
        assert_true(is_zero(s.ptr, s.class_bytes));
        assert_int_equal(mem_in_use(MEM_ABC), before + s.bytes);
        assert_int_equal(slab_read(pool).in_use_bytes, s.class_bytes);
        assert_int_equal(slab_read(pool).in_use, 1);
        memset(s.ptr, 0xA5, s.class_bytes);
        slab_give(pool, &s);
        assert_int_equal(s.id, 0);
        assert_null(s.ptr);
        slab_give(pool, &s);
        assert_int_equal(mem_in_use(MEM_ABC), before);
        assert_int_equal(slab_read(pool).in_use, 0);
    }
    slab_pool_destroy(pool);
    assert_int_equal(mem_in_use(MEM_ABC), before);
}

static void a_slab_comes_back_wiped(void **state) {
    (void)state;
    struct slab_pool *pool = make_pool(64 * mib, never_ns);
    uint64_t id = 0;
    for (int round = 0; round < 6; round++) {
        struct slab s = take(pool, 9 * mib - (size_t)round, round % 2 ? MEM_WITNESS : MEM_ABC);
        if (id != 0) assert_int_equal(s.id, id);
        id = s.id;
        assert_true(is_zero(s.ptr, s.class_bytes));
        memset(s.ptr, 0xFF, s.class_bytes);
        slab_give(pool, &s);
        /* Odd rounds: the pool's thread may have wiped it by then; even ones: the taker has to. */
        if (round % 2) nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    const struct slab_counters c = slab_read(pool);
    assert_int_equal(c.taken, 6);
    assert_int_equal(c.recycled, 5);
    assert_int_equal(c.closed, 0);
    assert_int_equal(c.kept, 1);
    assert_true(c.kept_bytes >= 9 * mib);
    slab_pool_destroy(pool);
}

/* Wiping costs what was touched, not what was mapped. */
static void holes_stay_holes(void **state) {
    (void)state;
    struct slab_pool *pool = make_pool(2048 * mib, never_ns);
    struct slab s = take(pool, 1024 * mib, MEM_WITNESS);
    const uint64_t id = s.id;
    ((char *)s.ptr)[5000] = 1;
    ((char *)s.ptr)[700 * mib] = 2;
    ((char *)s.ptr)[1024 * mib - 1] = 3;
    slab_give(pool, &s);
    s = take(pool, 1024 * mib, MEM_WITNESS);
    assert_int_equal(s.id, id);
    assert_true(resident_bytes(s.fd) <= 16 * mib);
    assert_int_equal(((char *)s.ptr)[5000], 0);
    assert_int_equal(((char *)s.ptr)[700 * mib], 0);
    assert_int_equal(((char *)s.ptr)[1024 * mib - 1], 0);
    slab_give(pool, &s);
    slab_pool_destroy(pool);
}

static void classes_are_kept_apart(void **state) {
    (void)state;
    struct slab_pool *pool = make_pool(64 * mib, never_ns);
    struct slab a = take(pool, 2 * mib, MEM_ABC), b = take(pool, 3 * mib, MEM_ABC);
    const uint64_t id_a = a.id, id_b = b.id;
    assert_true(id_a != id_b);
    slab_give(pool, &a);
    slab_give(pool, &b);
    struct slab c = take(pool, 3 * mib, MEM_ABC), d = take(pool, 3 * mib, MEM_ABC);
    assert_int_equal(c.id, id_b);
    assert_true(d.id != id_a && d.id != id_b);
    slab_give(pool, &c);
    slab_give(pool, &d);
    slab_pool_destroy(pool);
}

/* ---- what is closed, and when ---- */

struct closings {
    _Atomic uint64_t last_id;
    _Atomic unsigned n;
};

static void note_closing(void *ctx, uint64_t slab_id) {
    struct closings *const c = ctx;
    atomic_store(&c->last_id, slab_id);
    atomic_fetch_add(&c->n, 1);
}

static void what_is_beyond_the_bound_is_closed(void **state) {
    (void)state;
    struct closings closings = {0};
    const struct slab_options options = {
        .keep_bytes = 4 * mib, .idle_ns = never_ns, .closing = note_closing, .ctx = &closings};
    struct slab_pool *pool;
    assert_int_equal(slab_pool_create(&pool, &options, NULL), CUZK_OK);
    struct slab s[3];
    uint64_t ids[3];
    for (int i = 0; i < 3; i++) {
        s[i] = take(pool, 2 * mib, MEM_ABC);
        ids[i] = s[i].id;
        memset(s[i].ptr, 1, s[i].bytes);
    }
    slab_give(pool, &s[1]);
    slab_give(pool, &s[0]);
    slab_give(pool, &s[2]);
    wait_closed(pool, 1); /* the one that came back first */
    assert_int_equal(atomic_load(&closings.last_id), ids[1]);
    assert_int_equal(slab_read(pool).kept, 2);
    assert_int_equal(slab_read(pool).kept_bytes, 4 * mib);
    slab_pool_destroy(pool); /* closes the others, and says so */
    assert_int_equal(atomic_load(&closings.n), 3);
}

static void idle_ones_are_closed(void **state) {
    (void)state;
    struct slab_pool *pool = make_pool(64 * mib, 50000000);
    struct slab s = take(pool, mib, MEM_ABC);
    slab_give(pool, &s);
    const uint64_t given_ns = clock_ns();
    wait_closed(pool, 1);
    assert_true(clock_ns() - given_ns >= 40000000);
    assert_int_equal(slab_read(pool).kept, 0);
    assert_int_equal(slab_read(pool).kept_bytes, 0);
    slab_pool_destroy(pool);

    pool = make_pool(64 * mib, 0);
    s = take(pool, mib, MEM_ABC);
    slab_give(pool, &s);
    wait_closed(pool, 1);
    slab_pool_destroy(pool);
}

/* ---- what another process sees ---- */

/* Its own mapping of the descriptor shares the content, and is wiped with it. */
static void the_descriptor_shares_the_memory(void **state) {
    (void)state;
    struct slab_pool *pool = make_pool(0, never_ns);
    struct slab s = take(pool, mib, MEM_WITNESS);
    unsigned char *const seen =
        mmap(NULL, s.class_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s.fd, 0);
    assert_ptr_not_equal(seen, MAP_FAILED);
    const size_t bytes = s.class_bytes;
    memset(s.ptr, 7, s.bytes);
    assert_int_equal(seen[12345], 7);
    seen[54321] = 8;
    assert_int_equal(((unsigned char *)s.ptr)[54321], 8);
    assert_int_equal(fcntl(s.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    slab_give(pool, &s);
    wait_closed(pool, 1);
    assert_true(is_zero(seen, bytes));
    munmap(seen, bytes);
    slab_pool_destroy(pool);
}

static void the_memory_cannot_be_cut_short(void **state) {
    (void)state;
    struct slab_pool *pool = make_pool(0, never_ns);
    struct slab s = take(pool, mib, MEM_WITNESS);
    assert_int_equal(ftruncate(s.fd, 0), -1);
    assert_int_equal(ftruncate(s.fd, (off_t)(4 * mib)), -1);
    ((char *)s.ptr)[s.bytes - 1] = 1;
    slab_give(pool, &s);
    slab_pool_destroy(pool);
}

static void an_impossible_size_is_refused(void **state) {
    (void)state;
    struct slab_pool *pool = make_pool(0, never_ns);
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX / 4, (size_t)1 << 60};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct cuzk_error err = {0};
        struct slab s;
        assert_int_equal(slab_take(pool, &s, sizes[i], MEM_PENDING, &err), CUZK_NO_MEMORY);
        assert_string_equal(err.where, "pending");
        assert_int_equal(s.id, 0);
        slab_give(pool, &s);
    }
    assert_int_equal(slab_read(pool).taken, 0);
    slab_pool_destroy(pool);
    slab_pool_destroy(NULL);
}

/* ---- threads ---- */

enum { N_THREADS = 4, N_ROUNDS = 60 };

struct user {
    struct slab_pool *pool;
    unsigned number;
    bool failed;
};

static void *use_slabs(void *ctx) {
    struct user *const u = ctx;
    unsigned seed = u->number;
    for (int i = 0; i < N_ROUNDS && !u->failed; i++) {
        struct slab s;
        const size_t bytes = 100000 + (size_t)(rand_r(&seed) % 3) * 50000;
        if (slab_take(u->pool, &s, bytes, MEM_OTHER, NULL) != CUZK_OK || !is_zero(s.ptr, s.bytes)) {
            u->failed = true;
            break;
        }
        memset(s.ptr, (int)u->number + 1, s.bytes);
        if (rand_r(&seed) % 4 == 0) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        const unsigned char *const p = s.ptr;
        u->failed = p[0] != u->number + 1 || memcmp(p, p + 1, s.bytes - 1) != 0;
        slab_give(u->pool, &s);
    }
    return NULL;
}

static void threads_share_a_pool(void **state) {
    (void)state;
    struct slab_pool *pool = make_pool(300000, 2000000);
    const size_t before = mem_in_use(MEM_OTHER);
    pthread_t threads[N_THREADS];
    struct user users[N_THREADS];
    for (unsigned i = 0; i < N_THREADS; i++) {
        users[i] = (struct user){.pool = pool, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, use_slabs, &users[i]), 0);
    }
    for (unsigned i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < N_THREADS; i++)
        assert_false(users[i].failed);
    const struct slab_counters c = slab_read(pool);
    assert_int_equal(c.taken, N_THREADS * N_ROUNDS);
    assert_int_equal(c.in_use, 0);
    assert_int_equal(c.in_use_bytes, 0);
    assert_int_equal(c.taken, c.recycled + c.closed + c.kept);
    assert_int_equal(mem_in_use(MEM_OTHER), before);
    slab_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slab_is_zeroed_aligned_and_counted),
        cmocka_unit_test(a_slab_comes_back_wiped),
        cmocka_unit_test(holes_stay_holes),
        cmocka_unit_test(classes_are_kept_apart),
        cmocka_unit_test(what_is_beyond_the_bound_is_closed),
        cmocka_unit_test(idle_ones_are_closed),
        cmocka_unit_test(the_descriptor_shares_the_memory),
        cmocka_unit_test(the_memory_cannot_be_cut_short),
        cmocka_unit_test(an_impossible_size_is_refused),
        cmocka_unit_test(threads_share_a_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
