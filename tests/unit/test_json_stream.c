/*
 * The JSON stream: each text is fed whole, and in every way of cutting it in two, and must give the
 * same events; every class of fault has its place.
 */
#include "test_main.h"

#include "json_stream.h"

struct record {
    char text[1024];
    size_t n;
    bool in_string;
};

static void note(struct record *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(struct record *r, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    r->n += (size_t)vsnprintf(r->text + r->n, sizeof r->text - r->n, fmt, args);
    va_end(args);
    assert_true(r->n < sizeof r->text);
}

/* One letter per event; parts of a string are joined. */
static cuzk_status on_event(void *ctx, enum json_event event, const struct json_token *t) {
    static const char *const marks[] = {[JSON_OBJECT_BEGIN] = "{",
                                        [JSON_OBJECT_END] = "}",
                                        [JSON_ARRAY_BEGIN] = "[",
                                        [JSON_ARRAY_END] = "]"};
    struct record *r = ctx;
    if (event <= JSON_ARRAY_END) {
        note(r, "%s", marks[event]);
    } else if (event == JSON_KEY) {
        note(r, "<%.*s%s>", (int)t->n, t->text, t->cut ? "~" : "");
    } else if (event == JSON_STRING_PART) {
        assert_true(t->n > 0);
        note(r, "%s%.*s", r->in_string ? "" : "'", (int)t->n, t->text);
        r->in_string = true;
    } else if (event == JSON_STRING_END) {
        note(r, "%s'", r->in_string ? "" : "'");
        r->in_string = false;
    } else if (event == JSON_NUMBER) {
        if (t->is_u64)
            note(r, "%llu,", (unsigned long long)t->value);
        else
            note(r, "#,");
    } else {
        note(r, t->is_null ? "null," : "bool,");
    }
    return CUZK_OK;
}

static cuzk_status read_cut(const char *text, size_t n, size_t cut, struct record *r,
                            struct json_stream *s) {
    *r = (struct record){.n = 0};
    json_init(s, 8, on_event, r);
    cuzk_status status = json_feed(s, text, cut);
    if (status == CUZK_OK) status = json_feed(s, text + cut, n - cut);
    return status == CUZK_OK ? json_finish(s) : status;
}

static void test_events(void **state) {
    (void)state;
    static const struct {
        const char *text, *events;
    } good[] = {
        {"{}", "{}"},
        {" [ ] ", "[]"},
        {"[1,22,333]", "[1,22,333,]"},
        {"[0,10,255,18446744073709551615,18446744073709551616]",
         "[0,10,255,18446744073709551615,#,]"},
        {"[123456789012345678,1234567890123456789,12345678901234567890]",
         "[123456789012345678,1234567890123456789,12345678901234567890,]"},
        {"[-1,-0,1.5,1e5,1E+5,1e-5,0.0,0e0,-0.1e9]", "[#,#,#,#,#,#,#,#,#,]"},
        {"[true,false,null]", "[bool,bool,null,]"},
        {"{\"a\":{\"b\":[1,{\"c\":\"d\"}]},\"\":\"\"}", "{<a>{<b>[1,{<c>'d'}]}<>''}"},
        {"\"a\\\"\\\\\\/\\n\\u0041\\u00e9\\u20ac\\ud83d\\ude00z\"",
         "'a\"\\/\nA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z'"},
        {"\"\xc3\xa9\xe2\x82\xac\xed\x9f\xbf\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\"",
         "'\xc3\xa9\xe2\x82\xac\xed\x9f\xbf\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf'"},
        {"{\"k\\u0065y\":1}", "{<key>1,}"},
        {"17", "17,"},
        {"0", "0,"},
        {"-2.5e10", "#,"},
        {"null", "null,"},
        {" \t\r\n[ 1 , 2 ]\n", "[1,2,]"},
        {"[[[[[[[[]]]]]]]]", "[[[[[[[[]]]]]]]]"},
        {"{\"123456789012345678901234567890123456789012345678901234567890123\":1}",
         "{<123456789012345678901234567890123456789012345678901234567890123>1,}"},
        {"{\"1234567890123456789012345678901234567890123456789012345678901234\":1}",
         "{<123456789012345678901234567890123456789012345678901234567890123~>1,}"},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const size_t n = strlen(good[i].text);
        for (size_t cut = 0; cut <= n; cut++) {
            struct record r;
            struct json_stream s;
            const cuzk_status status = read_cut(good[i].text, n, cut, &r, &s);
            if (status != CUZK_OK) fail_msg("%s: %s", good[i].text, s.fault);
            assert_string_equal(r.text, good[i].events);
        }
    }
}

/* Texts that are none, and where that is seen. */
static const struct {
    const char *text;
    cuzk_status code;
    unsigned at;
} bad[] = {
    {"", CUZK_JSON_TRUNCATED, 0},
    {"  ", CUZK_JSON_TRUNCATED, 2},
    {"{", CUZK_JSON_TRUNCATED, 1},
    {"[1", CUZK_JSON_TRUNCATED, 2},
    {"[1,", CUZK_JSON_TRUNCATED, 3},
    {"{\"a", CUZK_JSON_TRUNCATED, 3},
    {"{\"a\"", CUZK_JSON_TRUNCATED, 4},
    {"\"\\u00", CUZK_JSON_TRUNCATED, 5},
    {"-", CUZK_JSON_TRUNCATED, 1},
    {"1.", CUZK_JSON_TRUNCATED, 2},
    {"1e", CUZK_JSON_TRUNCATED, 2},
    {"tru", CUZK_JSON_TRUNCATED, 3},
    {"[1,]", CUZK_JSON_SYNTAX, 3},
    {"[,1]", CUZK_JSON_SYNTAX, 1},
    {"[1 2]", CUZK_JSON_SYNTAX, 3},
    {"{\"a\":1,}", CUZK_JSON_SYNTAX, 7},
    {"{,}", CUZK_JSON_SYNTAX, 1},
    {"{\"a\" 1}", CUZK_JSON_SYNTAX, 5},
    {"{\"a\":}", CUZK_JSON_SYNTAX, 5},
    {"{1:2}", CUZK_JSON_SYNTAX, 1},
    {"{a:2}", CUZK_JSON_SYNTAX, 1},
    {"[1}", CUZK_JSON_SYNTAX, 2},
    {"{\"a\":1]", CUZK_JSON_SYNTAX, 6},
    {"]", CUZK_JSON_SYNTAX, 0},
    {"[] []", CUZK_JSON_SYNTAX, 3},
    {"1 2", CUZK_JSON_SYNTAX, 2},
    {"[01]", CUZK_JSON_SYNTAX, 2},
    {"[-01]", CUZK_JSON_SYNTAX, 3},
    {"[+1]", CUZK_JSON_SYNTAX, 1},
    {"[.5]", CUZK_JSON_SYNTAX, 1},
    {"[1.]", CUZK_JSON_SYNTAX, 3},
    {"[1.e5]", CUZK_JSON_SYNTAX, 3},
    {"[1e]", CUZK_JSON_SYNTAX, 3},
    {"[1e+]", CUZK_JSON_SYNTAX, 4},
    {"[--1]", CUZK_JSON_SYNTAX, 2},
    {"[1x]", CUZK_JSON_SYNTAX, 2},
    {"[0x1]", CUZK_JSON_SYNTAX, 2},
    {"[NaN]", CUZK_JSON_SYNTAX, 1},
    {"[truth]", CUZK_JSON_SYNTAX, 1},
    {"[nul]", CUZK_JSON_SYNTAX, 1},
    {"['a']", CUZK_JSON_SYNTAX, 1},
    {"[/**/1]", CUZK_JSON_SYNTAX, 1},
    {"\"\\x\"", CUZK_JSON_SYNTAX, 2},
    {"\"\\u00g0\"", CUZK_JSON_SYNTAX, 5},
    {"\"\\ud800\"", CUZK_JSON_SYNTAX, 7},
    {"\"\\ud800x\"", CUZK_JSON_SYNTAX, 7},
    {"\"\\ud800\\n\"", CUZK_JSON_SYNTAX, 8},
    {"\"\\ud800\\u0041\"", CUZK_JSON_SYNTAX, 12},
    {"\"\\udc00\"", CUZK_JSON_SYNTAX, 6},
    {"\"a\nb\"", CUZK_JSON_SYNTAX, 2},
    {"\"a\x80\"", CUZK_JSON_SYNTAX, 2},
    {"\"\xc3\"", CUZK_JSON_SYNTAX, 2},
    {"\"\xc0\x80\"", CUZK_JSON_SYNTAX, 1},
    {"\"\xe0\x80\x80\"", CUZK_JSON_SYNTAX, 2},
    {"\"\xed\xa0\x80\"", CUZK_JSON_SYNTAX, 2},
    {"\"\xf4\x90\x80\x80\"", CUZK_JSON_SYNTAX, 2},
    {"\"\xf5\x80\x80\x80\"", CUZK_JSON_SYNTAX, 1},
    {"[[[[[[[[[]]]]]]]]]", CUZK_JSON_DEPTH, 8},
};

static void test_faults(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const size_t n = strlen(bad[i].text);
        for (size_t cut = 0; cut <= n; cut++) {
            struct record r;
            struct json_stream s;
            const cuzk_status status = read_cut(bad[i].text, n, cut, &r, &s);
            if (status != bad[i].code || s.fault_offset != bad[i].at)
                fail_msg("%s cut at %zu: %s at %llu, not %s at %u", bad[i].text, cut,
                         status_name(status), (unsigned long long)s.fault_offset,
                         status_name(bad[i].code), bad[i].at);
            assert_non_null(s.fault);
        }
    }
}

static void test_nul_is_no_space(void **state) {
    (void)state;
    static const char text[] =
        "[1,\0"
        "2]";
    struct record r;
    struct json_stream s;
    assert_int_equal(read_cut(text, sizeof text - 1, 0, &r, &s), CUZK_JSON_SYNTAX);
    assert_int_equal(s.fault_offset, 3);
    static const char escaped[] = "\"\\\0\"";
    assert_int_equal(read_cut(escaped, sizeof escaped - 1, 0, &r, &s), CUZK_JSON_SYNTAX);
}

static cuzk_status refuse(void *ctx, enum json_event event, const struct json_token *t) {
    (void)t;
    return event == *(const enum json_event *)ctx ? CUZK_FIELD_TYPE : CUZK_OK;
}

/* What the receiver returns ends the reading, at any event. */
static void test_refusal(void **state) {
    (void)state;
    static const char text[] = "{\"a\":[1,\"s\",null]}";
    for (enum json_event e = JSON_OBJECT_BEGIN; e <= JSON_OTHER; e++) {
        struct json_stream s;
        json_init(&s, 8, refuse, &e);
        assert_int_equal(json_feed(&s, text, sizeof text - 1), CUZK_FIELD_TYPE);
        assert_null(s.fault);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_nul_is_no_space),
        cmocka_unit_test(test_refusal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
