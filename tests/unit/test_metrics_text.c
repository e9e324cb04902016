#include "unit/test_main.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>

#include "metrics_text.h"
#include "snapshot_fixture.h"
#include "utf8.h"

/* ---- a strict reader of the text format 0.0.4 ---- */

enum { MOST_SAMPLES = 600, MOST_FAMILIES = 120 };

struct sample {
    char name[96], labels[200];
    double value;
    int family;
};
struct family {
    char name[96], type[16];
};
struct text {
    struct family family[MOST_FAMILIES];
    struct sample sample[MOST_SAMPLES];
    int n_families, n_samples;
};

static bool name_char(char c, bool first) {
    return isalpha((unsigned char)c) || c == '_' || (!first && isdigit((unsigned char)c));
}

/* Reads a name and returns what follows it. */
static const char *read_name(const char *s, char *out, size_t out_bytes) {
    size_t n = 0;
    while (name_char(s[n], n == 0))
        n++;
    assert_true(n > 0 && n < out_bytes);
    memcpy(out, s, n);
    out[n] = '\0';
    return s + n;
}

static const char *read_label(const char *s) {
    char name[64];
    s = read_name(s, name, sizeof name);
    assert_true(s[0] == '=' && s[1] == '"');
    for (s += 2; *s != '"';) {
        assert_true(*s != '\0');
        if (*s == '\\') {
            assert_true(s[1] == '\\' || s[1] == '"' || s[1] == 'n');
            s += 2;
            continue;
        }
        const size_t n = utf8_character_bytes(s);
        assert_true(n > 0);
        s += n;
    }
    return s + 1;
}

static const char *read_labels(const char *s, char *out, size_t out_bytes) {
    const char *begin = s;
    out[0] = '\0';
    if (*s != '{') return s;
    do
        s = read_label(s + 1);
    while (*s == ',');
    assert_int_equal(*s, '}');
    s++;
    assert_true((size_t)(s - begin) < out_bytes);
    memcpy(out, begin, (size_t)(s - begin));
    out[s - begin] = '\0';
    return s;
}

/* The family to which a sample belongs: its own name, or a histogram's name and its ending. */
static bool belongs(const struct family *f, const char *sample) {
    const size_t n = strlen(f->name);
    if (strcmp(f->type, "histogram") != 0) return strcmp(f->name, sample) == 0;
    if (strncmp(f->name, sample, n) != 0) return false;
    return strcmp(sample + n, "_bucket") == 0 || strcmp(sample + n, "_sum") == 0 ||
           strcmp(sample + n, "_count") == 0;
}

static void read_head(struct text *t, const char *help, const char *type) {
    struct family *f = &t->family[t->n_families];
    assert_true(t->n_families < MOST_FAMILIES);
    assert_int_equal(strncmp(help, "# HELP ", 7), 0);
    const char *rest = read_name(help + 7, f->name, sizeof f->name);
    assert_true(rest[0] == ' ' && strlen(rest) > 5);
    assert_int_equal(strncmp(type, "# TYPE ", 7), 0);
    char again[96];
    rest = read_name(type + 7, again, sizeof again);
    assert_string_equal(again, f->name);
    for (int i = 0; i < t->n_families; i++)
        assert_string_not_equal(t->family[i].name, f->name);
    assert_true(strcmp(rest, " counter") == 0 || strcmp(rest, " gauge") == 0 ||
                strcmp(rest, " histogram") == 0);
    snprintf(f->type, sizeof f->type, "%s", rest + 1);
    const size_t n = strlen(f->name);
    const bool total = n > 6 && strcmp(f->name + n - 6, "_total") == 0;
    assert_int_equal(total, strcmp(f->type, "counter") == 0);
    t->n_families++;
}

static void read_sample(struct text *t, const char *line) {
    struct sample *s = &t->sample[t->n_samples];
    assert_true(t->n_samples < MOST_SAMPLES && t->n_families > 0);
    s->family = t->n_families - 1;
    const char *rest = read_name(line, s->name, sizeof s->name);
    rest = read_labels(rest, s->labels, sizeof s->labels);
    assert_int_equal(*rest, ' ');
    char *end;
    s->value = strtod(rest + 1, &end);
    assert_true(end != rest + 1 && *end == '\0');
    assert_true(belongs(&t->family[s->family], s->name));
    for (int i = 0; i < t->n_samples; i++)
        assert_false(strcmp(t->sample[i].name, s->name) == 0 &&
                     strcmp(t->sample[i].labels, s->labels) == 0);
    t->n_samples++;
}

static struct text *read_text(char *text, size_t n) {
    assert_int_equal(strlen(text), n);
    assert_int_equal(text[n - 1], '\n');
    struct text *t = calloc(1, sizeof *t);
    assert_non_null(t);
    for (char *line = text, *next; *line != '\0'; line = next) {
        char *end = strchr(line, '\n');
        *end = '\0';
        next = end + 1;
        if (line[0] != '#') {
            read_sample(t, line);
            continue;
        }
        char *second_end = strchr(next, '\n');
        assert_non_null(second_end);
        *second_end = '\0';
        read_head(t, line, next);
        next = second_end + 1;
    }
    return t;
}

static struct text *text_of(struct engine_snapshot *s) {
    size_t n = 0;
    char *text = engine_metrics_text(s, &n);
    assert_non_null(text);
    struct text *t = read_text(text, n);
    free(text);
    return t;
}

static double value_of(const struct text *t, const char *name, const char *labels) {
    for (int i = 0; i < t->n_samples; i++)
        if (strcmp(t->sample[i].name, name) == 0 && strcmp(t->sample[i].labels, labels) == 0)
            return t->sample[i].value;
    fail_msg("no sample %s%s", name, labels);
    return NAN;
}

/* ---- tests ---- */

static void every_scene_is_well_formed(void **state) {
    (void)state;
    for (int scene = FIXTURE_EMPTY; scene <= FIXTURE_ALARM; scene++) {
        struct engine_snapshot *s = snapshot_fixture((enum fixture_scene)scene, 93.5);
        struct text *t = text_of(s);
        assert_true(t->n_families > 40);
        assert_true(value_of(t, "cuzk_uptime_seconds", "") == 93.5);
        free(t);
        engine_snapshot_free(s);
    }
}

static void values_are_those_of_the_snapshot(void **state) {
    (void)state;
    struct engine_snapshot *s = snapshot_fixture(FIXTURE_ALARM, 93.5);
    s->completed[ENGINE_KIND_SNAP] = 9007199254740993u - 2;
    struct text *t = text_of(s);
    assert_true(s->completed[ENGINE_KIND_POREP] > 0 && s->queued[ENGINE_KIND_POREP] > 0);
    assert_true(value_of(t, "cuzk_proofs_completed_total", "{proof_kind=\"porep\"}") ==
                (double)s->completed[ENGINE_KIND_POREP]);
    assert_true(value_of(t, "cuzk_proofs_completed_total", "{proof_kind=\"snap\"}") ==
                9007199254740991.0);
    assert_true(value_of(t, "cuzk_proofs_failed_total", "{proof_kind=\"porep\"}") ==
                (double)s->failed[ENGINE_KIND_POREP]);
    assert_true(value_of(t, "cuzk_queue_depth", "{proof_kind=\"porep\"}") ==
                s->queued[ENGINE_KIND_POREP]);
    assert_true(value_of(t, "cuzk_running_jobs", "{proof_kind=\"porep\"}") ==
                s->running[ENGINE_KIND_POREP]);
    assert_true(value_of(t, "cuzk_gpu_workers", "") == s->n_workers);
    assert_true(value_of(t, "cuzk_partitions", "{stage=\"synthesis\"}") ==
                s->flow.stage[FLOW_SYNTHESIS]);
    assert_true(value_of(t, "cuzk_queue_depth_by_priority", "{priority=\"normal\"}") ==
                s->queued_by_priority[FLOW_NORMAL]);
    assert_true(value_of(t, "cuzk_memory_bytes", "{class=\"srs\"}") ==
                (double)s->class_bytes[MEM_SRS]);
    assert_true(value_of(t, "cuzk_memory_reserved_bytes", "{class=\"abc\"}") ==
                (double)s->ledger.reserved[MEM_ABC]);
    assert_true(value_of(t, "cuzk_budget_term_wins", "{term=\"cgroup2_max\"}") == 1);
    assert_true(value_of(t, "cuzk_budget_term_wins", "{term=\"host\"}") == 0);
    assert_true(value_of(t, "cuzk_plan_peak_bytes", "") == (double)s->plan.peak_bytes);
    assert_true(value_of(t, "cuzk_device_up", "{device=\"0\"}") == 1);
    assert_true(value_of(t, "cuzk_device_up", "{device=\"1\"}") == 0);
    assert_true(value_of(t, "cuzk_device_invalid_proofs_total", "{device=\"1\"}") == 2);
    assert_true(value_of(t, "cuzk_jobs_rejected_total", "") == 11);
    free(t);
    engine_snapshot_free(s);
}

static void difference_of_resident_and_tracked_may_be_negative(void **state) {
    (void)state;
    struct engine_snapshot *s = snapshot_fixture(FIXTURE_BUSY, 60);
    double tracked = 0;
    for (int c = 0; c < MEM_CLASSES; c++)
        tracked += (double)s->class_bytes[c];
    s->total_rss_bytes = 1000;
    struct text *t = text_of(s);
    assert_true(value_of(t, "cuzk_rss_untracked_bytes", "") == 1000 - tracked);
    free(t);
    engine_snapshot_free(s);
}

static void histogram_is_cumulative_and_ends_at_its_count(void **state) {
    (void)state;
    struct engine_snapshot *s = snapshot_fixture(FIXTURE_EMPTY, 1);
    struct engine_histogram *h = &s->duration[ENGINE_KIND_POREP];
    for (unsigned i = 0; i <= ENGINE_BUCKETS; i++)
        h->count += h->bucket[i] = i + 1;
    h->sum = 1234.5;
    struct text *t = text_of(s);
    double before = 0, bound_before = -1;
    unsigned n = 0;
    for (int i = 0; i < t->n_samples; i++) {
        const struct sample *one = &t->sample[i];
        char bound[32];
        if (strcmp(one->name, "cuzk_proof_duration_seconds_bucket") != 0) continue;
        if (sscanf(one->labels, "{proof_kind=\"porep\",le=\"%31[^\"]\"}", bound) != 1) continue;
        const double le = strtod(bound, NULL);
        assert_true(le > bound_before);
        assert_true(one->value == before + n + 1);
        before = one->value;
        bound_before = le;
        n++;
    }
    assert_int_equal(n, ENGINE_BUCKETS + 1);
    assert_true(isinf(bound_before));
    const char *porep = "{proof_kind=\"porep\"}";
    assert_true(value_of(t, "cuzk_proof_duration_seconds_count", porep) == before);
    assert_true(before == (double)h->count);
    assert_true(value_of(t, "cuzk_proof_duration_seconds_sum", porep) == 1234.5);
    free(t);
    engine_snapshot_free(s);
}

static void labels_are_escaped(void **state) {
    (void)state;
    struct engine_snapshot *s = snapshot_fixture(FIXTURE_BUSY, 30);
    strcpy(s->devices[0].state.name, "a\"b\\c\nd \xc3\xa9 \xff");
    struct text *t = text_of(s);
    assert_true(value_of(t, "cuzk_device_info",
                         "{device=\"0\",backend=\"cpu\",name=\"a\\\"b\\\\c\\nd \xc3\xa9 ?\"}") ==
                1);
    free(t);
    engine_snapshot_free(s);
}

static void only_well_formed_utf8_passes(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"plain", "plain"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xc0\xaf", "??"},           /* overlong */
        {"\xe0\x80\xaf", "???"},      /* overlong */
        {"\xed\xa0\x80", "???"},      /* surrogate */
        {"\xf4\x90\x80\x80", "????"}, /* above U+10FFFF */
        {"x\xe2\x82", "x??"},         /* cut */
        {"\x80y", "?y"},
    };
    char out[32];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(utf8_clean(out, sizeof out, cases[i].in), strlen(cases[i].out));
        assert_string_equal(out, cases[i].out);
    }
    /* Cut at a character's end. */
    assert_int_equal(utf8_clean(out, 4, "ab\xc3\xa9"), 2);
    assert_string_equal(out, "ab");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scene_is_well_formed),
        cmocka_unit_test(values_are_those_of_the_snapshot),
        cmocka_unit_test(difference_of_resident_and_tracked_may_be_negative),
        cmocka_unit_test(histogram_is_cumulative_and_ends_at_its_count),
        cmocka_unit_test(labels_are_escaped),
        cmocka_unit_test(only_well_formed_utf8_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
