#include "unit/test_main.h"

#include <math.h>

#include "json_out.h"

static void a_document_has_the_expected_form(void **state) {
    (void)state;
    char text[512] = {0};
    FILE *f = fmemopen(text, sizeof text, "w");
    struct json_out j;
    json_begin(&j, f);
    json_object_begin(&j, NULL);
    json_u64(&j, "n", UINT64_MAX);
    json_string(&j, "s", "a\"b\\c\n\xc3\xa9");
    json_array_begin(&j, "list");
    json_u64(&j, NULL, 1);
    json_bool(&j, NULL, true);
    json_double(&j, NULL, 0.5);
    json_double(&j, NULL, NAN);
    json_array_end(&j);
    json_object_begin(&j, "empty");
    json_object_end(&j);
    json_object_end(&j);
    json_end(&j);
    fclose(f);
    assert_string_equal(text,
                        "{\n"
                        "  \"n\": 18446744073709551615,\n"
                        "  \"s\": \"a\\\"b\\\\c\\u000a\xc3\xa9\",\n"
                        "  \"list\": [\n"
                        "    1,\n"
                        "    true,\n"
                        "    0.5,\n"
                        "    null\n"
                        "  ],\n"
                        "  \"empty\": {}\n"
                        "}\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_document_has_the_expected_form)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
