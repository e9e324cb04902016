/* Packing of bit planes against the definition, bit by bit. */
#include "test_main.h"

#include "bit_plane.h"

static uint64_t next_random(uint64_t *state) {
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

enum { MAX_BITS = 700, MAX_WORDS = MAX_BITS / 64 + 2 };

static void check(const uint64_t *plane, const uint64_t *mask, size_t n) {
    uint64_t out[MAX_WORDS + 1];
    memset(out, 0xaa, sizeof out);
    const size_t packed = plane_compact(out, plane, mask, n);
    assert_int_equal(packed, plane_count(mask, n));
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (plane_bit(mask, i)) assert_int_equal(plane_bit(out, k++), plane_bit(plane, i));
    assert_int_equal(k, packed);
    for (; k < 64 * (plane_words(packed) + (packed % 64 == 0)); k++)
        assert_false(plane_bit(out, k)); /* zero to the end of its last word */
}

static void packing_follows_the_definition(void **state) {
    (void)state;
    uint64_t seed = 0x9e3779b97f4a7c15;
    printf("seed %#llx\n", (unsigned long long)seed);
    for (int round = 0; round < 400; round++) {
        uint64_t plane[MAX_WORDS], mask[MAX_WORDS];
        for (size_t i = 0; i < MAX_WORDS; i++) {
            plane[i] = next_random(&seed);
            mask[i] = next_random(&seed);
            if (round % 4 == 1) mask[i] |= next_random(&seed) | next_random(&seed);
            if (round % 4 == 2) mask[i] &= next_random(&seed) & next_random(&seed);
            if (round % 4 == 3) mask[i] = next_random(&seed) & 1 ? UINT64_MAX : 0;
        }
        check(plane, mask, next_random(&seed) % (MAX_BITS + 1));
    }
}

static void words_are_packed_without_the_instruction(void **state) {
    (void)state;
    uint64_t seed = 0xd1b54a32d192ed03;
    printf("seed %#llx\n", (unsigned long long)seed);
    for (int round = 0; round < 1000; round++) {
        const uint64_t value = next_random(&seed);
        const uint64_t mask = round == 0 ? 0 : round == 1 ? UINT64_MAX : next_random(&seed);
        uint64_t expected = 0;
        unsigned k = 0;
        for (unsigned i = 0; i < 64; i++)
            if (mask >> i & 1) expected |= (value >> i & 1) << k++;
        assert_int_equal(plane_extract(value, mask), expected);
    }
}

static void edges(void **state) {
    (void)state;
    uint64_t ones[MAX_WORDS], zeros[MAX_WORDS] = {0};
    memset(ones, 0xff, sizeof ones);
    static const size_t sizes[] = {0, 1, 63, 64, 65, 127, 128, 129, MAX_BITS};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        check(ones, ones, sizes[i]);
        check(ones, zeros, sizes[i]);
        check(zeros, ones, sizes[i]);
        assert_int_equal(plane_count(ones, sizes[i]), sizes[i]);
        assert_int_equal(plane_count(zeros, sizes[i]), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packing_follows_the_definition),
        cmocka_unit_test(words_are_packed_without_the_instruction),
        cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
