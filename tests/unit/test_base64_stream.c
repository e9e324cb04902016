/* Base64: RFC 4648's vectors, every way of cutting, and strictness. */
#include "test_main.h"

#include "base64_stream.h"
#include "c1_text.h"

/* Decodes in two pieces; returns whether all was good. */
static bool decode(const char *text, size_t cut, uint8_t *out, size_t *n_out) {
    struct base64_stream b;
    const size_t n = strlen(text);
    size_t first, second = 0;
    base64_init(&b);
    if (base64_feed(&b, text, cut, out, &first) < cut) return false;
    assert_true(first <= base64_bound(cut));
    if (base64_feed(&b, text + cut, n - cut, out + first, &second) < n - cut) return false;
    assert_true(second <= base64_bound(n - cut));
    *n_out = first + second;
    return base64_finish(&b);
}

static void test_vectors(void **state) {
    (void)state;
    static const char *const vectors[][2] = {
        {"", ""},
        {"Zg==", "f"},
        {"Zm8=", "fo"},
        {"Zm9v", "foo"},
        {"Zm9vYg==", "foob"},
        {"Zm9vYmE=", "fooba"},
        {"Zm9vYmFy", "foobar"},
        {"+/+/", "\xfb\xff\xbf"},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        for (size_t cut = 0; cut <= strlen(vectors[i][0]); cut++) {
            uint8_t out[16];
            size_t n;
            assert_true(decode(vectors[i][0], cut, out, &n));
            assert_int_equal(n, strlen(vectors[i][1]));
            assert_memory_equal(out, vectors[i][1], n);
        }
}

static void test_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "Z",     "Zg",   "Zg=",   "Zm8",   "=",         "Z===",     "====", "Zg==Zg==",
        "Zg=a",  "Zh==", "Zm9=",  "Zm9v=", "Zm9v Zm9v", "Zm9v\n",   "Zm9-", "Zm9_",
        "Zm9v*", "*m9v", "Zg===", "Zm8==", "Zm9vZ",     "Zm9v\x80",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        for (size_t cut = 0; cut <= strlen(bad[i]); cut++) {
            uint8_t out[16];
            size_t n;
            if (decode(bad[i], cut, out, &n)) fail_msg("%s was taken", bad[i]);
        }
    struct base64_stream b;
    uint8_t out[8];
    size_t n;
    base64_init(&b);
    assert_int_equal(base64_feed(&b, "Zm9v\0", 5, out, &n), 4); /* a NUL is a character too */
    assert_non_null(b.fault);
}

/* Everything that can be encoded comes back. */
static void test_round_trip(void **state) {
    (void)state;
    uint8_t in[300], out[300];
    for (unsigned i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(i * 167 + 13);
    for (size_t n = 0; n <= sizeof in; n++) {
        char *text = c1_text_base64(in, n);
        size_t n_out;
        assert_true(decode(text, n / 2, out, &n_out));
        assert_int_equal(n_out, n);
        assert_memory_equal(out, in, n);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
