#include "unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "log.h"

/* ---- the lines that were logged since the last take_lines() ---- */

static char lines[1 << 16];
static size_t n_lines_bytes;

static void keep(void *ctx, const char *line, size_t n) {
    size_t *const calls = ctx;
    assert_true(n_lines_bytes + n < sizeof lines);
    memcpy(lines + n_lines_bytes, line, n);
    n_lines_bytes += n;
    if (calls != NULL) ++*calls;
}

static const char *take_lines(void) {
    lines[n_lines_bytes] = '\0';
    n_lines_bytes = 0;
    return lines;
}

/* 2026-12-01T02:31:28.123Z; returns what comes after it. */
static const char *after_time(const char *at) {
    static const char form[] = "dddd-dd-ddTdd:dd:dd.dddZ";
    for (size_t i = 0; i < sizeof form - 1; i++) {
        if (form[i] == 'd')
            assert_in_range(at[i], '0', '9');
        else
            assert_int_equal(at[i], form[i]);
    }
    assert_int_equal(strncmp(at, "20", 2), 0);
    return at + sizeof form - 1;
}

/* The line after `{"time":"…` */
static const char *after_json_time(const char *at) {
    assert_int_equal(strncmp(at, "{\"time\":\"", 9), 0);
    return after_time(at + 9);
}

static int to_sink(void **state) {
    (void)state;
    log_set(LOG_LEVEL_INFO, false);
    log_set_sink(keep, NULL);
    n_lines_bytes = 0;
    return 0;
}

static int to_stderr(void **state) {
    (void)state;
    log_set_sink(NULL, NULL);
    log_set(LOG_LEVEL_INFO, false);
    return 0;
}

static const struct cuzk_error record = {.code = CUZK_PARAM_TRUNC,
                                         .where = "v28.params",
                                         .what = "it has 12 bytes",
                                         .hint = "fetch it again"};

static void text_lines_have_their_form(void **state) {
    (void)state;
    log_line(LOG_LEVEL_INFO, "engine", "job %d: partition %d of 10 proved", 17, 3);
    assert_string_equal(after_time(take_lines()),
                        " INFO  engine: job 17: partition 3 of 10 proved\n");
    log_line(LOG_LEVEL_WARN, "device", "slow");
    assert_string_equal(after_time(take_lines()), " WARN  device: slow\n");
    log_error_record(LOG_LEVEL_ERROR, "engine", &record, "job %d failed", 4);
    assert_string_equal(after_time(take_lines()),
                        " ERROR engine: job 4 failed: CUZK-E-PARAM-TRUNC: v28.params: it has 12 "
                        "bytes: fetch it again\n");
}

static void json_lines_have_their_form(void **state) {
    (void)state;
    log_set(LOG_LEVEL_INFO, true);
    log_line(LOG_LEVEL_INFO, "http", "listens on %s", "::1");
    assert_string_equal(after_json_time(take_lines()),
                        "\",\"level\":\"info\",\"component\":\"http\","
                        "\"message\":\"listens on ::1\"}\n");
    log_error_record(LOG_LEVEL_ERROR, "engine", &record, "job 4 failed");
    assert_string_equal(after_json_time(take_lines()),
                        "\",\"level\":\"error\",\"component\":\"engine\",\"message\":\"job 4 "
                        "failed: CUZK-E-PARAM-TRUNC: v28.params: it has 12 bytes: fetch it again\","
                        "\"code\":\"CUZK-E-PARAM-TRUNC\"}\n");
}

static void levels_decide(void **state) {
    (void)state;
    static const char *const names[] = {"error", "warn", "info", "debug", "trace"};
    enum log_level level;
    assert_false(log_level_parse(&level, "INFO"));
    assert_false(log_level_parse(&level, ""));
    assert_false(log_level_parse(&level, "warning"));
    for (int set = 0; set < 5; set++) {
        assert_true(log_level_parse(&level, names[set]));
        assert_int_equal(level, set);
        log_set(level, false);
        size_t calls = 0;
        log_set_sink(keep, &calls);
        for (int at = 0; at < 5; at++) {
            log_line((enum log_level)at, "test", "x");
            log_error_record((enum log_level)at, "test", &record, "x");
            assert_int_equal(log_enabled((enum log_level)at), at <= set);
        }
        assert_int_equal(calls, 2 * (set + 1));
        n_lines_bytes = 0;
    }
}

/* A request's text must not make a second line, nor leave its string. */
static void texts_cannot_break_out(void **state) {
    (void)state;
    static const char bad[] = "a\nb\r\x1b[31m\x7f\"\\ \xc3\xa4 \xff \xed\xa0\x80 \xf0\x9f\x98\x80";
    log_line(LOG_LEVEL_INFO, "rpc", "%s", bad);
    assert_string_equal(after_time(take_lines()),
                        " INFO  rpc: a\\x0ab\\x0d\\x1b[31m\\x7f\"\\ \xc3\xa4 \\xff "
                        "\\xed\\xa0\\x80 \xf0\x9f\x98\x80\n");
    log_set(LOG_LEVEL_INFO, true);
    log_line(LOG_LEVEL_INFO, "rpc", "%s", bad);
    assert_string_equal(after_json_time(take_lines()),
                        "\",\"level\":\"info\",\"component\":\"rpc\",\"message\":\""
                        "a\\u000ab\\u000d\\u001b[31m\\u007f\\\"\\\\ \xc3\xa4 \\u00ff "
                        "\\u00ed\\u00a0\\u0080 \xf0\x9f\x98\x80\"}\n");
}

/* A text that is cut within a sequence of UTF-8 does not read past its end. */
static void half_a_character_is_escaped(void **state) {
    (void)state;
    log_line(LOG_LEVEL_INFO, "rpc", "%s", "x\xf0\x9f");
    assert_string_equal(after_time(take_lines()), " INFO  rpc: x\\xf0\\x9f\n");
}

/* However long, a line is one write that a pipe takes whole, and is complete. */
static void long_texts_are_cut(void **state) {
    (void)state;
    char text[20000];
    struct cuzk_error long_record = {.code = CUZK_REGISTERED_PROOF};
    memset(long_record.where, '\x01', sizeof long_record.where - 1);
    memset(long_record.what, '"', sizeof long_record.what - 1);
    memset(text, '\x01', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (int json = 0; json < 2; json++) {
        log_set(LOG_LEVEL_INFO, json);
        for (int with_record = 0; with_record < 2; with_record++) {
            if (with_record)
                log_error_record(LOG_LEVEL_INFO, text, &long_record, "%s", text);
            else
                log_line(LOG_LEVEL_INFO, text, "%s", text);
            assert_true(n_lines_bytes <= PIPE_BUF);
            const char *const line = take_lines();
            assert_int_equal(strcspn(line, "\n") + 1, strlen(line));
            const char *const end = !json         ? "...\n"
                                    : with_record ? "...\",\"code\":\"CUZK-E-REGISTERED-PROOF\"}\n"
                                                  : "...\"}\n";
            assert_string_equal(line + strlen(line) - strlen(end), end);
        }
    }
}

/* The sentence is what is cut: the code and the record stay. */
static void a_long_sentence_leaves_the_record(void **state) {
    (void)state;
    char text[8000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    log_error_record(LOG_LEVEL_ERROR, "engine", &record, "%s", text);
    const char *const line = take_lines();
    const char *const end = "x: CUZK-E-PARAM-TRUNC: v28.params: it has 12 bytes: fetch it again\n";
    assert_string_equal(line + strlen(line) - strlen(end), end);
}

static void errno_is_kept(void **state) {
    (void)state;
    errno = ENOENT;
    log_line(LOG_LEVEL_INFO, "test", "%s", "x");
    log_error_record(LOG_LEVEL_INFO, "test", &record, "x");
    assert_int_equal(errno, ENOENT);
}

/* ---- stderr ---- */

enum { N_THREADS = 4, N_EACH = 100 };

static void *log_many(void *ctx) {
    const int me = *(const int *)ctx;
    char text[300];
    memset(text, 'a' + me, sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (int i = 0; i < N_EACH; i++)
        log_line(LOG_LEVEL_INFO, "thread", "%s", text);
    return NULL;
}

static void check_whole_lines(FILE *f) {
    char line[1024];
    int counts[N_THREADS] = {0};
    while (fgets(line, sizeof line, f) != NULL) {
        const char *text = after_time(line);
        assert_int_equal(strncmp(text, " INFO  thread: ", 15), 0);
        text += 15;
        assert_int_equal(strlen(text), 300);
        assert_in_range(text[0], 'a', 'a' + N_THREADS - 1);
        for (int i = 0; i < 299; i++)
            assert_int_equal(text[i], text[0]);
        counts[text[0] - 'a']++;
    }
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(counts[i], N_EACH);
}

static void lines_of_threads_do_not_mix(void **state) {
    (void)state;
    FILE *const f = tmpfile();
    assert_non_null(f);
    const int kept = dup(STDERR_FILENO);
    assert_int_equal(fcntl(fileno(f), F_SETFL, O_APPEND), 0);
    assert_int_equal(dup2(fileno(f), STDERR_FILENO), STDERR_FILENO);
    pthread_t threads[N_THREADS];
    int numbers[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, log_many, &numbers[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(f);
    check_whole_lines(f);
    fclose(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(text_lines_have_their_form, to_sink, to_stderr),
        cmocka_unit_test_setup_teardown(json_lines_have_their_form, to_sink, to_stderr),
        cmocka_unit_test_setup_teardown(levels_decide, to_sink, to_stderr),
        cmocka_unit_test_setup_teardown(texts_cannot_break_out, to_sink, to_stderr),
        cmocka_unit_test_setup_teardown(half_a_character_is_escaped, to_sink, to_stderr),
        cmocka_unit_test_setup_teardown(long_texts_are_cut, to_sink, to_stderr),
        cmocka_unit_test_setup_teardown(a_long_sentence_leaves_the_record, to_sink, to_stderr),
        cmocka_unit_test_setup_teardown(errno_is_kept, to_sink, to_stderr),
        cmocka_unit_test_setup_teardown(lines_of_threads_do_not_mix, to_stderr, to_stderr),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
