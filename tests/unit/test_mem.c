#include "unit/test_main.h"

#include <stdbool.h>

#include "mem.h"
#include "pool.h"

static void a_block_is_zeroed_aligned_and_counted(void **state) {
    (void)state;
    const size_t before = mem_in_use(MEM_WITNESS);
    struct mem_block b;
    assert_int_equal(mem_take(&b, 3000000, MEM_WITNESS, NULL), CUZK_OK);
    assert_true(b.bytes >= 3000000);
    assert_int_equal((uintptr_t)b.ptr % 4096, 0);
    assert_int_equal(mem_in_use(MEM_WITNESS), before + b.bytes);
    const unsigned char *p = b.ptr;
    for (size_t i = 0; i < b.bytes; i += 501)
        assert_int_equal(p[i], 0);
    mem_give(&b);
    assert_null(b.ptr);
    assert_int_equal(mem_in_use(MEM_WITNESS), before);
    assert_true(mem_high_water(MEM_WITNESS) >= before + 3000000);
    mem_give(&b);
    assert_int_equal(mem_in_use(MEM_WITNESS), before);
}

static void growing_keeps_the_content(void **state) {
    (void)state;
    struct mem_block b = {0};
    assert_int_equal(mem_grow(&b, 10, MEM_INPUT, NULL), CUZK_OK);
    assert_int_equal(b.kind, MEM_INPUT);
    memcpy(b.ptr, "0123456789", 10);
    assert_int_equal(mem_grow(&b, 50000000, MEM_INPUT, NULL), CUZK_OK);
    assert_memory_equal(b.ptr, "0123456789", 10);
    assert_int_equal(mem_in_use(MEM_INPUT), b.bytes);
    assert_int_equal(mem_grow(&b, 20, MEM_INPUT, NULL), CUZK_OK);
    assert_true(b.bytes >= 50000000);
    mem_give(&b);
    assert_int_equal(mem_in_use(MEM_INPUT), 0);
}

static void small_and_large_blocks_grow_into_each_other(void **state) {
    (void)state;
    struct mem_block b = {0};
    size_t filled = 0;
    for (size_t n = 1; n < 4 * MEM_MAP_BYTES; n = 2 * n + 63) {
        assert_int_equal(mem_grow(&b, n, MEM_INPUT, NULL), CUZK_OK);
        assert_int_equal((uintptr_t)b.ptr % 64, 0);
        assert_int_equal(mem_in_use(MEM_INPUT), b.bytes);
        unsigned char *p = b.ptr;
        for (size_t i = 0; i < filled; i++)
            assert_int_equal(p[i], (unsigned char)(i * 7 + 1));
        for (size_t i = filled; i < b.bytes; i++)
            assert_int_equal(p[i], 0);
        for (; filled < b.bytes; filled++)
            p[filled] = (unsigned char)(filled * 7 + 1);
    }
    mem_give(&b);
    assert_int_equal(mem_in_use(MEM_INPUT), 0);
    for (size_t n = MEM_MAP_BYTES - 65; n < MEM_MAP_BYTES + 65; n++) {
        assert_int_equal(mem_take(&b, n, MEM_INPUT, NULL), CUZK_OK);
        assert_true(b.bytes >= n);
        memset(b.ptr, 1, b.bytes);
        mem_give(&b);
    }
    assert_int_equal(mem_in_use(MEM_INPUT), 0);
}

static void impossible_sizes_are_refused_with_a_text(void **state) {
    (void)state;
    struct mem_block b;
    struct cuzk_error err = {0};
    assert_int_equal(mem_take(&b, SIZE_MAX, MEM_ABC, &err), CUZK_NO_MEMORY);
    assert_null(b.ptr);
    assert_string_equal(err.where, "abc");
    assert_int_equal(mem_take(&b, SIZE_MAX / 4, MEM_ABC, &err), CUZK_NO_MEMORY);
    assert_int_equal(mem_in_use(MEM_ABC), 0);
}

static void reclassing_moves_the_count(void **state) {
    (void)state;
    struct mem_block b;
    assert_int_equal(mem_take(&b, 100, MEM_ABC, NULL), CUZK_OK);
    mem_reclass(&b, MEM_PENDING);
    assert_int_equal(mem_in_use(MEM_ABC), 0);
    assert_int_equal(mem_in_use(MEM_PENDING), b.bytes);
    mem_give(&b);
    assert_int_equal(mem_in_use(MEM_PENDING), 0);
}

static void take_and_give(void *ctx, size_t task, unsigned worker) {
    (void)ctx;
    (void)worker;
    struct mem_block b;
    if (mem_take(&b, 4096 * (task % 7 + 1), MEM_OTHER, NULL) != CUZK_OK) abort();
    mem_give(&b);
}

static void counts_hold_under_threads(void **state) {
    (void)state;
    struct pool *pool = NULL;
    assert_int_equal(pool_create(&pool, 4, NULL), CUZK_OK);
    pool_run(pool, 2000, take_and_give, NULL);
    pool_destroy(pool);
    assert_int_equal(mem_in_use(MEM_OTHER), 0);
    assert_int_equal(mem_in_use_total(), 0);
}

static void resident_memory_is_readable(void **state) {
    (void)state;
    const size_t before = mem_rss();
    struct mem_block b;
    assert_int_equal(mem_take(&b, 32 << 20, MEM_OTHER, NULL), CUZK_OK);
    memset(b.ptr, 1, b.bytes);
    assert_true(mem_rss() >= before + (30 << 20));
    /* The kernel keeps both counters in pieces a processor; they may disagree by some pages. */
    assert_true(mem_peak_rss() + (1 << 20) >= mem_rss());
    assert_true(mem_peak_rss() >= (size_t)32 << 20);
    mem_give(&b);
    assert_true(mem_rss() < before + (16 << 20));
}

/* ---- kept blocks ---- */

static bool is_zero(const struct mem_block *b) {
    const unsigned char *p = b->ptr;
    return p[0] == 0 && memcmp(p, p + 1, b->bytes - 1) == 0;
}

static struct mem_block take_filled(size_t bytes) {
    struct mem_block b;
    assert_int_equal(mem_take(&b, bytes, MEM_OTHER, NULL), CUZK_OK);
    assert_true(is_zero(&b));
    memset(b.ptr, 0x5A, b.bytes);
    return b;
}

static void none_is_kept_unless_told(void **state) {
    (void)state;
    struct mem_block b = take_filled(8 << 20);
    mem_give(&b);
    assert_int_equal(mem_kept(), 0);
}

static void a_kept_block_is_taken_again_zeroed(void **state) {
    (void)state;
    mem_keep(64 << 20);
    struct mem_block b = take_filled(9 << 20);
    const size_t bytes = b.bytes;
    void *const ptr = b.ptr;
    mem_give(&b);
    assert_int_equal(mem_kept(), bytes);
    assert_int_equal(mem_in_use(MEM_OTHER), 0);
    b = take_filled(2 << 20); /* of another size: not that one */
    assert_int_equal(mem_kept(), bytes);
    mem_give(&b);
    b = take_filled(bytes - 1000);
    assert_ptr_equal(b.ptr, ptr);
    assert_int_equal(b.bytes, bytes);
    assert_int_equal(mem_kept(), 2 << 20);
    assert_int_equal(mem_in_use(MEM_OTHER), bytes);
    mem_give(&b);
    b = take_filled(MEM_KEEP_BYTES - 4096); /* too small to be kept */
    mem_give(&b);
    assert_int_equal(mem_kept(), bytes + (2 << 20));
    mem_keep(0);
    assert_int_equal(mem_kept(), 0);
}

static void what_is_kept_is_bounded(void **state) {
    (void)state;
    const size_t before = mem_rss();
    struct mem_block b[6];
    mem_keep(32 << 20);
    for (int i = 0; i < 6; i++)
        b[i] = take_filled((size_t)(8 + 2 * i) << 20); /* 8, 10, 12, 14, 16, 18 MiB */
    void *const newest = b[5].ptr;
    const size_t full = mem_rss();
    for (int i = 0; i < 6; i++) {
        mem_give(&b[i]);
        assert_true(mem_kept() <= 32 << 20);
    }
    assert_int_equal(mem_kept(), 18 << 20); /* 16 and 18 are more than 32 */
    assert_true(mem_rss() + (50 << 20) < full);
    b[0] = take_filled(40 << 20);
    mem_give(&b[0]); /* larger than the bound: it is not kept, nor does it displace another */
    assert_int_equal(mem_kept(), 18 << 20);
    b[0] = take_filled(18 << 20);
    assert_ptr_equal(b[0].ptr, newest);
    mem_give(&b[0]);
    mem_keep(17 << 20);
    assert_int_equal(mem_kept(), 0);
    assert_true(mem_rss() < before + (16 << 20));
    mem_keep(0);
}

/* A block that has grown is kept with its new size. */
static void grown_blocks_are_kept(void **state) {
    (void)state;
    mem_keep(64 << 20);
    struct mem_block b = take_filled(4 << 20);
    assert_int_equal(mem_grow(&b, 10 << 20, MEM_OTHER, NULL), CUZK_OK);
    mem_give(&b);
    assert_int_equal(mem_kept(), 10 << 20);
    b = take_filled(10 << 20);
    assert_int_equal(mem_kept(), 0);
    mem_give(&b);
    mem_keep(0);
}

/* Nobody else has the block while it is this task's. */
static void take_fill_and_give(void *ctx, size_t task, unsigned worker) {
    (void)ctx;
    (void)worker;
    struct mem_block b;
    if (mem_take(&b, (1 << 20) + 4096 * (task % 3), MEM_OTHER, NULL) != CUZK_OK) abort();
    if (!is_zero(&b)) abort();
    memset(b.ptr, (int)(task % 255) + 1, b.bytes);
    const unsigned char *const p = b.ptr;
    if (p[0] != task % 255 + 1 || memcmp(p, p + 1, b.bytes - 1) != 0) abort();
    if (task % 50 == 0) mem_keep((task % 100 + 2) << 20);
    mem_give(&b);
}

static void threads_share_kept_blocks(void **state) {
    (void)state;
    struct pool *pool = NULL;
    assert_int_equal(pool_create(&pool, 4, NULL), CUZK_OK);
    mem_keep(3 << 20);
    pool_run(pool, 300, take_fill_and_give, NULL);
    pool_destroy(pool);
    mem_keep(0);
    assert_int_equal(mem_kept(), 0);
    assert_int_equal(mem_in_use(MEM_OTHER), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_zeroed_aligned_and_counted),
        cmocka_unit_test(growing_keeps_the_content),
        cmocka_unit_test(small_and_large_blocks_grow_into_each_other),
        cmocka_unit_test(impossible_sizes_are_refused_with_a_text),
        cmocka_unit_test(reclassing_moves_the_count),
        cmocka_unit_test(counts_hold_under_threads),
        cmocka_unit_test(resident_memory_is_readable),
        cmocka_unit_test(none_is_kept_unless_told),
        cmocka_unit_test(a_kept_block_is_taken_again_zeroed),
        cmocka_unit_test(what_is_kept_is_bounded),
        cmocka_unit_test(grown_blocks_are_kept),
        cmocka_unit_test(threads_share_kept_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
