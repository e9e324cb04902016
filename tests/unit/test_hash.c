#include "unit/test_main.h"

#include "hash.h"

static void expect_hex(const uint8_t digest[SHA256_BYTES], const char *hex) {
    char text[2 * SHA256_BYTES + 1];
    hex_encode(text, digest, SHA256_BYTES);
    assert_string_equal(text, hex);
}

/* FIPS 180-4's examples. */
static void known_answers(void **state) {
    (void)state;
    uint8_t d[SHA256_BYTES];
    sha256(d, "abc", 3);
    expect_hex(d, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256(d, "", 0);
    expect_hex(d, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void pieces_equal_the_whole(void **state) {
    (void)state;
    uint8_t data[1000], whole[SHA256_BYTES], parts[SHA256_BYTES];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7);
    struct sha256_ctx ctx = {0};
    for (size_t cut = 0; cut <= sizeof data; cut += 37) {
        sha256(whole, data, sizeof data);
        sha256_init(&ctx);
        sha256_update(&ctx, data, cut);
        sha256_update(&ctx, data + cut, sizeof data - cut);
        sha256_final(&ctx, parts);
        assert_memory_equal(whole, parts, SHA256_BYTES);
    }
    sha256_deinit(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(pieces_equal_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
