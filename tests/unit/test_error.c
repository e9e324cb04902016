#include "unit/test_main.h"

#include "error.h"

static void a_full_record_prints_all_four_parts(void **state) {
    (void)state;
    struct cuzk_error err;
    assert_int_equal(error_set(&err, CUZK_PARAM_TRUNC, "a.params", "fetch it again", "%d bytes", 7),
                     CUZK_PARAM_TRUNC);
    char text[256];
    error_format(&err, text, sizeof text);
    assert_string_equal(text, "CUZK-E-PARAM-TRUNC: a.params: 7 bytes: fetch it again");
}

static void empty_parts_leave_no_colon(void **state) {
    (void)state;
    struct cuzk_error err;
    assert_int_equal(error_set(&err, CUZK_USAGE, NULL, NULL, "no such command"), CUZK_USAGE);
    char text[256];
    error_format(&err, text, sizeof text);
    assert_string_equal(text, "CUZK-E-USAGE: no such command");
}

static void long_texts_are_cut_not_overrun(void **state) {
    (void)state;
    char long_text[2000];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    struct cuzk_error err;
    error_set(&err, CUZK_INTERNAL, long_text, long_text, "%s", long_text);
    assert_int_equal(strlen(err.where), sizeof err.where - 1);
    assert_int_equal(strlen(err.what), sizeof err.what - 1);
    assert_int_equal(strlen(err.hint), sizeof err.hint - 1);
}

static void a_missing_record_is_allowed(void **state) {
    (void)state;
    assert_int_equal(error_set(NULL, CUZK_USAGE, NULL, NULL, "x"), CUZK_USAGE);
}

static void every_code_has_a_name_a_text_and_an_exit_code(void **state) {
    (void)state;
    for (int code = 1; code < CUZK_STATUS_COUNT; code++) {
        const cuzk_status s = (cuzk_status)code;
        assert_true(strlen(status_name(s)) > 1);
        assert_true(strlen(status_text(s)) > 5);
        assert_in_range(status_exit_code(s), 1, 4);
        for (int other = 1; other < code; other++)
            assert_string_not_equal(status_name(s), status_name((cuzk_status)other));
    }
    assert_int_equal(status_exit_code(CUZK_OK), 0);
    assert_string_equal(status_name((cuzk_status)9999), "UNKNOWN");
}

static void every_code_is_explained_in_the_document(void **state) {
    (void)state;
    FILE *f = fopen(CUZK_DOC "/errors.md", "rb");
    assert_non_null(f);
    static char text[65536];
    const size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    assert_true(n > 1000 && n < sizeof text - 1);
    text[n] = '\0';
    for (int code = 1; code < CUZK_STATUS_COUNT; code++) {
        const cuzk_status s = (cuzk_status)code;
        char row[64];
        snprintf(row, sizeof row, "| %s | %d |", status_name(s), status_exit_code(s));
        if (strstr(text, row) == NULL) fail_msg("doc/errors.md has no row '%s'", row);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_record_prints_all_four_parts),
        cmocka_unit_test(empty_parts_leave_no_colon),
        cmocka_unit_test(long_texts_are_cut_not_overrun),
        cmocka_unit_test(a_missing_record_is_allowed),
        cmocka_unit_test(every_code_has_a_name_a_text_and_an_exit_code),
        cmocka_unit_test(every_code_is_explained_in_the_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
