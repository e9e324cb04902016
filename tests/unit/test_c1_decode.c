/*
 * The C1 decoder on the 2 KiB fixture: every form that it must take, and every class of damage,
 * each with its code and the place that the error names.
 */
#include "test_main.h"

#include "c1_text.h"
#include "mem.h"

#define FIXTURE   CUZK_FIXTURES "/porep/2KiB/c1.json"
#define VARIANT   "vanilla_proofs.StackedDrg2KiBV1"
#define CHALLENGE VARIANT "[0][0]"

enum { SECTOR = 101, SIZE = 2048 };

static struct c1_text inner; /* the fixture's Phase1Out */
static struct c1 *reference; /* the fixture, decoded */

static int setup(void **state) {
    (void)state;
    inner = c1_text_load_inner(FIXTURE);
    return c1_decode_file(&reference, FIXTURE, NULL, NULL) == CUZK_OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    c1_destroy(reference);
    c1_text_free(&inner);
    return 0;
}

/* ---- helpers ---- */

static void expect_good(const struct c1_text *text) {
    struct c1 *c1;
    struct cuzk_error err;
    if (c1_decode_memory(&c1, text->bytes, text->n, NULL, &err) != CUZK_OK)
        fail_msg("%s: %s: %s", status_name(err.code), err.where, err.what);
    c1_assert_same(c1, reference);
    c1_destroy(c1);
}

static void expect_bad_memory(const char *text, size_t n, cuzk_status code, const char *where) {
    const size_t before = mem_in_use(MEM_INPUT);
    struct c1 *c1 = reference;
    struct cuzk_error err = {.code = CUZK_OK};
    const cuzk_status status = c1_decode_memory(&c1, text, n, NULL, &err);
    if (status != code || err.code != code || strcmp(err.where, where) != 0)
        fail_msg("got %s at '%s' (%s), not %s at '%s'", status_name(err.code), err.where, err.what,
                 status_name(code), where);
    assert_null(c1);
    assert_non_null(strstr(err.what, "(byte "));
    assert_int_equal(mem_in_use(MEM_INPUT), before);
}

static void expect_bad(const struct c1_text *text, cuzk_status code, const char *where) {
    expect_bad_memory(text->bytes, text->n, code, where);
}

/* Both the bare text and the wrapped one must fail alike. */
static void expect_bad_inner(const struct c1_text *text, cuzk_status code, const char *where) {
    char wrapped_where[512];
    snprintf(wrapped_where, sizeof wrapped_where, "Phase1Out.%s", where);
    struct c1_text wrapped = c1_text_wrap(text, SECTOR, SIZE);
    expect_bad(text, code, where);
    expect_bad(&wrapped, code, wrapped_where);
    c1_text_free(&wrapped);
}

static void expect_bad_edit(const struct c1_edit *edit, cuzk_status code, const char *where) {
    struct c1_text text = c1_text_edit(&inner, edit);
    expect_bad_inner(&text, code, where);
    c1_text_free(&text);
}

static void expect_bad_value(const char *key, const char *value, cuzk_status code,
                             const char *where) {
    const struct c1_edit edit = {.action = EDIT_REPLACE, .key = key, .with = value};
    expect_bad_edit(&edit, code, where);
}

static void expect_bad_string(const char *text, cuzk_status code, const char *where) {
    expect_bad_memory(text, strlen(text), code, where);
}

/* ---- what must be taken ---- */

static void test_values(void **state) {
    (void)state;

    uint64_t v = 0;
    assert_string_equal(c1_registered(reference)->name, "StackedDrg2KiBV1_1");
    assert_true(c1_is_wrapped(reference));
    assert_true(c1_sector_number(reference, &v));
    assert_int_equal(v, SECTOR);
    assert_true(c1_sector_size(reference, &v));
    assert_int_equal(v, SIZE);
    assert_int_equal(c1_partitions(reference), 1);
    const struct porep_partition *p = c1_partition(reference, 0);
    assert_int_equal(p->n_challenges, 2);
    assert_int_equal(p->challenges[0].node, 18); /* as inputs.txt has them */
    assert_int_equal(p->challenges[1].node, 13);
    assert_int_equal(p->challenges[0].comm_d.n_elements, 6);
    assert_int_equal(p->challenges[0].exp[7].path.n_elements, 2);
    /* node 18 = 0b010010, and 2 + 8 * 2 */
    static const uint32_t binary[6] = {0, 1, 0, 0, 1, 0};
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(p->challenges[0].comm_d.elements[i].index, binary[i]);
    assert_int_equal(p->challenges[0].c_x.path.elements[0].index, 2);
    assert_int_equal(p->challenges[0].c_x.path.elements[1].index, 2);
    char text[80];
    fr_format(text, sizeof text, &p->comm_r);
    assert_string_equal(text, "0x29aed6b8f62e78e3a5dabba49620f19f3561594e299ae9a72557c1ef686e850f");
    fr_format(text, sizeof text, &p->replica_id);
    assert_string_equal(text, "0x32fb540a20de4e39f5e32408476901c5169e9c2c7e455641f1edbdb2c2069e70");
    assert_in_range(c1_bytes(reference), 20000, 65536);
}

static void test_forms(void **state) {
    (void)state;
    static const char unknown[] =
        "\"zz\":{\"a\":[1,-2.5e+3,{\"b\":\"\\u00e9\\ud83d\\ude00\"},[]],\"c\":null},\"\":true";
    const struct c1_edit edits[] = {
        {.action = EDIT_NONE},
        {.reverse = true},
        {.spaced = true},
        {.unknown = unknown},
        {.reverse = true, .spaced = true, .unknown = unknown},
    };
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct c1_text text = c1_text_edit(&inner, &edits[i]);
        struct c1_text wrapped = c1_text_wrap(&text, SECTOR, SIZE);
        struct c1_text turned = c1_text_edit(&wrapped, &edits[i]);
        expect_good(&text);
        expect_good(&wrapped);
        expect_good(&turned);
        c1_text_free(&text);
        c1_text_free(&wrapped);
        c1_text_free(&turned);
    }
}

static void test_bare_says_less(void **state) {
    (void)state;
    struct c1 *c1;
    uint64_t v;
    assert_int_equal(c1_decode_memory(&c1, inner.bytes, inner.n, NULL, NULL), CUZK_OK);
    assert_false(c1_is_wrapped(c1));
    assert_false(c1_sector_number(c1, &v));
    assert_false(c1_sector_size(c1, &v));
    c1_destroy(c1);
}

/* JSON may escape any character, of a key or of the base64. */
static void test_escapes(void **state) {
    (void)state;
    struct c1_text wrapped = c1_text_wrap(&inner, SECTOR, SIZE), t;
    FILE *out = open_memstream(&t.bytes, &t.n);
    assert_non_null(out);
    unsigned n_escaped = 0;
    for (size_t i = 0; i < wrapped.n; i++) {
        const char c = wrapped.bytes[i];
        const bool plain = c != '/' && c != 'Q' && c != 'P';
        if (plain) fputc(c, out);
        if (c == '/') fputs("\\/", out);
        if (c == 'Q' || c == 'P') fprintf(out, "\\u%04x", (unsigned)c);
        n_escaped += !plain;
    }
    fclose(out);
    assert_true(n_escaped > 100);
    expect_good(&t);
    c1_text_free(&t);
    c1_text_free(&wrapped);
}

struct slow_source {
    const char *bytes;
    size_t n, step;
};

static long slow_read(void *ctx, void *out, size_t capacity, struct cuzk_error *err) {
    struct slow_source *s = ctx;
    (void)err;
    size_t n = s->n < s->step ? s->n : s->step;
    if (n > capacity) n = capacity;
    memcpy(out, s->bytes, n);
    s->bytes += n;
    s->n -= n;
    return (long)n;
}

static void test_pieces(void **state) {
    (void)state;
    static const size_t steps[] = {1, 2, 3, 5, 63, 1000, 1 << 20};
    const struct c1_edit edit = {
        .reverse = true, .spaced = true, .unknown = "\"zz\":{\"a\":[1,\"b\",{}],\"c\":\"d\"}"};
    struct c1_text text = c1_text_edit(&inner, &edit);
    struct c1_text wrapped = c1_text_wrap(&text, SECTOR, SIZE);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct slow_source from = {.bytes = wrapped.bytes, .n = wrapped.n, .step = steps[i]};
        const struct c1_source source = {.read = slow_read, .ctx = &from};
        struct c1 *c1;
        assert_int_equal(c1_decode(&c1, &source, NULL, NULL), CUZK_OK);
        c1_assert_same(c1, reference);
        c1_destroy(c1);
    }
    c1_text_free(&wrapped);
    c1_text_free(&text);
}

static long failing_read(void *ctx, void *out, size_t capacity, struct cuzk_error *err) {
    (void)ctx;
    (void)out;
    (void)capacity;
    error_set(err, CUZK_FILE_READ, "pipe", NULL, "broken");
    return -1;
}

static void test_source_fails(void **state) {
    (void)state;
    struct c1 *c1;
    struct cuzk_error err;
    const struct c1_source source = {.read = failing_read};
    assert_int_equal(c1_decode(&c1, &source, NULL, &err), CUZK_FILE_READ);
    assert_string_equal(err.where, "pipe");
    assert_int_equal(c1_decode_file(&c1, CUZK_FIXTURES "/no such file", NULL, &err),
                     CUZK_FILE_OPEN);
    assert_int_equal(c1_decode_file(&c1, CUZK_FIXTURES, NULL, &err), CUZK_FILE_READ);
    assert_null(c1);
}

/* ---- fields ---- */

/* Every field of the inner text, and where its first occurrence stands. */
static const struct {
    const char *key, *at;
} fields[] = {
    {"registered_proof", ""},
    {"vanilla_proofs", ""},
    {"comm_r", ""},
    {"comm_d", ""},
    {"replica_id", ""},
    {"seed", ""},
    {"ticket", ""},
    {"comm_d_proofs", CHALLENGE},
    {"comm_r_last_proof", CHALLENGE},
    {"replica_column_proofs", CHALLENGE},
    {"labeling_proofs", CHALLENGE},
    {"encoding_proof", CHALLENGE},
    {"data", CHALLENGE ".comm_d_proofs"},
    {"root", CHALLENGE ".comm_d_proofs.data.Single"},
    {"leaf", CHALLENGE ".comm_d_proofs.data.Single"},
    {"path", CHALLENGE ".comm_d_proofs.data.Single"},
    {"hashes", CHALLENGE ".comm_d_proofs.data.Single.path.path[0]"},
    {"index", CHALLENGE ".comm_d_proofs.data.Single.path.path[0]"},
    {"c_x", CHALLENGE ".replica_column_proofs"},
    {"drg_parents", CHALLENGE ".replica_column_proofs"},
    {"exp_parents", CHALLENGE ".replica_column_proofs"},
    {"column", CHALLENGE ".replica_column_proofs.c_x"},
    {"inclusion_proof", CHALLENGE ".replica_column_proofs.c_x"},
    {"rows", CHALLENGE ".replica_column_proofs.c_x.column"},
    {"parents", CHALLENGE ".labeling_proofs[0]"},
    {"layer_index", CHALLENGE ".labeling_proofs[0]"},
    {"node", CHALLENGE ".labeling_proofs[0]"},
};
enum { N_FIELDS = sizeof fields / sizeof fields[0] };

static void place(char out[320], size_t i) {
    snprintf(out, 320, "%s%s%s", fields[i].at, fields[i].at[0] != '\0' ? "." : "", fields[i].key);
}

static void test_missing_and_doubled(void **state) {
    (void)state;
    for (size_t i = 0; i < N_FIELDS; i++) {
        char where[320];
        place(where, i);
        const struct c1_edit drop = {.action = EDIT_DROP, .key = fields[i].key};
        const struct c1_edit twice = {.action = EDIT_TWICE, .key = fields[i].key};
        expect_bad_edit(&drop, CUZK_FIELD_MISSING, where);
        expect_bad_edit(&twice, CUZK_FIELD_DUPLICATE, where);
    }
    const struct c1_edit no_form = {.action = EDIT_DROP, .key = "Single"};
    expect_bad_edit(&no_form, CUZK_FIELD_MISSING, CHALLENGE ".comm_d_proofs.data");
    const struct c1_edit two_forms = {.action = EDIT_TWICE, .key = "Single"};
    expect_bad_edit(&two_forms, CUZK_FIELD_DUPLICATE, CHALLENGE ".comm_d_proofs.data.Single");
    const struct c1_edit no_variant = {.action = EDIT_DROP, .key = "StackedDrg2KiBV1"};
    expect_bad_edit(&no_variant, CUZK_FIELD_MISSING, "vanilla_proofs");
    const struct c1_edit two_variants = {.action = EDIT_TWICE, .key = "StackedDrg2KiBV1"};
    expect_bad_edit(&two_variants, CUZK_FIELD_DUPLICATE, VARIANT);
    /* the one field that may be missing: it holds nothing */
    const struct c1_edit no_h = {.action = EDIT_DROP, .key = "_h"};
    struct c1_text text = c1_text_edit(&inner, &no_h);
    expect_good(&text);
    c1_text_free(&text);
}

static void test_wrong_types(void **state) {
    (void)state;
    static const char *const values[] = {"true", "null", "\"x\"", "1", "{}", "[]"};
    for (size_t i = 0; i < N_FIELDS; i++) {
        char where[320];
        place(where, i);
        unsigned refused = 0;
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            const struct c1_edit edit = {
                .action = EDIT_REPLACE, .key = fields[i].key, .with = values[v]};
            struct c1_text text = c1_text_edit(&inner, &edit);
            struct c1 *c1;
            struct cuzk_error err = {.code = CUZK_OK};
            const cuzk_status status = c1_decode_memory(&c1, text.bytes, text.n, NULL, &err);
            /* the one value of the right type is refused for another reason, or is the number 1 */
            if (status == CUZK_FIELD_TYPE) {
                refused++;
                assert_string_equal(err.where, where);
            }
            c1_destroy(c1);
            c1_text_free(&text);
        }
        assert_int_equal(refused, 5);
    }
    expect_bad_value("_h", "1", CUZK_FIELD_TYPE, CHALLENGE ".replica_column_proofs.c_x.column._h");
    expect_bad_value("Single", "3", CUZK_FIELD_TYPE, CHALLENGE ".comm_d_proofs.data.Single");
    expect_bad_string("[1]", CUZK_FIELD_TYPE, "C1");
    expect_bad_string("17", CUZK_FIELD_TYPE, "C1");
    expect_bad_string("{\"Phase1Out\":\"MTI=\"}", CUZK_FIELD_TYPE, "Phase1Out"); /* 12 */
}

/* A tree of 2 KiB has no sub-trees. */
static void test_wrong_form(void **state) {
    (void)state;
    struct c1_text text = c1_text_edit(&inner, &(struct c1_edit){.action = EDIT_NONE});
    char *at = strstr(strstr(text.bytes, "comm_r_last_proof"), "Single");
    memcpy(at, "Sub\" :", 6); /* same length: the quote and colon move forward */
    at[6] = ' ';
    at[7] = ' ';
    expect_bad_inner(&text, CUZK_FIELD_TYPE, CHALLENGE ".comm_r_last_proof.data.Sub");
    c1_text_free(&text);
}

/* ---- counts and ranges ---- */

static void test_counts(void **state) {
    (void)state;
    static const struct {
        const char *key;
        const char *at; /* the array */
        unsigned n;
        cuzk_status code;
    } arrays[] = {
        {"StackedDrg2KiBV1", VARIANT, 1, CUZK_FIELD_COUNT},
        {"hashes", CHALLENGE ".comm_d_proofs.data.Single.path.path[0].hashes", 1, CUZK_FIELD_COUNT},
        {"drg_parents", CHALLENGE ".replica_column_proofs.drg_parents", 6, CUZK_FIELD_COUNT},
        {"exp_parents", CHALLENGE ".replica_column_proofs.exp_parents", 8, CUZK_FIELD_COUNT},
        {"rows", CHALLENGE ".replica_column_proofs.c_x.column.rows", 2, CUZK_FIELD_COUNT},
        {"labeling_proofs", CHALLENGE ".labeling_proofs", 2, CUZK_FIELD_COUNT},
        {"parents", CHALLENGE ".labeling_proofs[0].parents", 37, CUZK_FIELD_COUNT},
        {"comm_r", "comm_r", 32, CUZK_HASH_LENGTH},
        {"seed", "seed", 32, CUZK_HASH_LENGTH},
        {"root", CHALLENGE ".comm_d_proofs.data.Single.root", 32, CUZK_HASH_LENGTH},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        char where[400];
        const struct c1_edit pop = {.action = EDIT_POP, .key = arrays[i].key};
        const struct c1_edit push = {.action = EDIT_PUSH, .key = arrays[i].key};
        expect_bad_edit(&pop, arrays[i].code, arrays[i].at);
        snprintf(where, sizeof where, "%s[%u]", arrays[i].at, arrays[i].n - 1);
        expect_bad_edit(&push, arrays[i].code, where);
    }
    const struct c1_edit pop = {.action = EDIT_POP_INNER, .key = "StackedDrg2KiBV1"};
    const struct c1_edit push = {.action = EDIT_PUSH_INNER, .key = "StackedDrg2KiBV1"};
    expect_bad_edit(&pop, CUZK_FIELD_COUNT, VARIANT "[0]");
    expect_bad_edit(&push, CUZK_FIELD_COUNT, VARIANT "[0][1]");
    const struct c1_edit no_hash = {.action = EDIT_PUSH_INNER, .key = "rows"};
    expect_bad_edit(&no_hash, CUZK_HASH_LENGTH,
                    CHALLENGE ".replica_column_proofs.c_x.column.rows[0][31]");
    /* the inner `path` of a proof is the second member of that name */
    const struct c1_edit short_path = {.action = EDIT_POP, .key = "path", .skip = 1};
    expect_bad_edit(&short_path, CUZK_FIELD_COUNT,
                    CHALLENGE ".comm_d_proofs.data.Single.path.path");
    const struct c1_edit long_path = {.action = EDIT_PUSH, .key = "path", .skip = 1};
    expect_bad_edit(&long_path, CUZK_FIELD_COUNT,
                    CHALLENGE ".comm_d_proofs.data.Single.path.path[5]");
}

static void test_ranges(void **state) {
    (void)state;
    static const char *const numbers[] = {"-1", "1.0", "1e0", "18446744073709551616"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char hash[64];
        snprintf(hash, sizeof hash, "[%s]", numbers[i]);
        expect_bad_value("comm_r", hash, CUZK_FIELD_RANGE, "comm_r[0]");
        expect_bad_value("index", numbers[i], CUZK_FIELD_RANGE,
                         CHALLENGE ".comm_d_proofs.data.Single.path.path[0].index");
        expect_bad_value("node", numbers[i], CUZK_FIELD_RANGE,
                         CHALLENGE ".labeling_proofs[0].node");
    }
    expect_bad_value("comm_r", "[256]", CUZK_FIELD_RANGE, "comm_r[0]");
    expect_bad_value("index", "2", CUZK_FIELD_RANGE,
                     CHALLENGE ".comm_d_proofs.data.Single.path.path[0].index");
    expect_bad_value("layer_index", "2", CUZK_FIELD_RANGE,
                     CHALLENGE ".labeling_proofs[0].layer_index");
    expect_bad_value("layer_index", "0", CUZK_FIELD_RANGE,
                     CHALLENGE ".labeling_proofs[0].layer_index");
    const struct c1_edit column = {
        .action = EDIT_REPLACE, .key = "column", .with = "{\"index\":64}"};
    expect_bad_edit(&column, CUZK_FIELD_RANGE, CHALLENGE ".replica_column_proofs.c_x.column.index");
}

/* r in little-endian bytes; r - 1 is the largest value. */
static const char modulus[] =
    "[%d,0,0,0,255,255,255,255,254,91,254,255,2,164,189,83,5,216,161,9,8,"
    "216,57,51,72,125,157,41,83,167,237,115]";

static void test_modulus(void **state) {
    (void)state;
    static const char *const elements[] = {"comm_r", "comm_d", "replica_id"};
    char r[200], r_less_1[200];
    snprintf(r, sizeof r, modulus, 1);
    snprintf(r_less_1, sizeof r_less_1, modulus, 0);
    for (size_t i = 0; i < 3; i++) {
        expect_bad_value(elements[i], r, CUZK_NOT_CANONICAL, elements[i]);
        const struct c1_edit edit = {.action = EDIT_REPLACE, .key = elements[i], .with = r_less_1};
        struct c1_text text = c1_text_edit(&inner, &edit);
        struct c1 *c1;
        assert_int_equal(c1_decode_memory(&c1, text.bytes, text.n, NULL, NULL), CUZK_OK);
        c1_destroy(c1);
        c1_text_free(&text);
    }
    expect_bad_value("root", r, CUZK_NOT_CANONICAL, CHALLENGE ".comm_d_proofs.data.Single.root");
    char list[420];
    snprintf(list, sizeof list, "[%s]", r);
    expect_bad_value("hashes", list, CUZK_NOT_CANONICAL,
                     CHALLENGE ".comm_d_proofs.data.Single.path.path[0].hashes[0]");
    expect_bad_value("rows", list, CUZK_NOT_CANONICAL,
                     CHALLENGE ".replica_column_proofs.c_x.column.rows[0]");
    expect_bad_value("parents", list, CUZK_NOT_CANONICAL,
                     CHALLENGE ".labeling_proofs[0].parents[0]");
    /* seed and ticket are bytes, not field elements */
    static const char *const plain[] = {"seed", "ticket"};
    for (size_t i = 0; i < 2; i++) {
        const struct c1_edit edit = {.action = EDIT_REPLACE, .key = plain[i], .with = r};
        struct c1_text text = c1_text_edit(&inner, &edit);
        struct c1 *c1;
        assert_int_equal(c1_decode_memory(&c1, text.bytes, text.n, NULL, NULL), CUZK_OK);
        c1_destroy(c1);
        c1_text_free(&text);
    }
}

/* ---- contradictions ---- */

static void test_registered_proof(void **state) {
    (void)state;
    expect_bad_value("registered_proof", "\"StackedDrg2KiBV2\"", CUZK_REGISTERED_PROOF,
                     "registered_proof");
    expect_bad_value("registered_proof", "\"\"", CUZK_REGISTERED_PROOF, "registered_proof");
    expect_bad_value("registered_proof",
                     "\"StackedDrg2KiBV1_1StackedDrg2KiBV1_1StackedDrg2KiBV1_1StackedDrg2KiBV1_1\"",
                     CUZK_REGISTERED_PROOF, "registered_proof");
    /* the proofs' name, where it comes second, is what contradicts */
    expect_bad_value("registered_proof", "\"StackedDrg8MiBV1_1\"", CUZK_SECTOR_SIZE, VARIANT);
    expect_bad_value("registered_proof", "\"StackedDrg2KiBV1_2_Feat_NonInteractivePoRep\"",
                     CUZK_FIELD_COUNT, VARIANT);
    const struct c1_edit late = {.action = EDIT_REPLACE,
                                 .key = "registered_proof",
                                 .with = "\"StackedDrg8MiBV1_1\"",
                                 .reverse = true};
    expect_bad_edit(&late, CUZK_SECTOR_SIZE, "registered_proof");
    const struct c1_edit late_count = {.action = EDIT_REPLACE,
                                       .key = "registered_proof",
                                       .with = "\"StackedDrg2KiBV1_2_Feat_NonInteractivePoRep\"",
                                       .reverse = true};
    expect_bad_edit(&late_count, CUZK_FIELD_COUNT, "registered_proof");
    expect_bad_value("vanilla_proofs", "{\"StackedDrg3KiBV1\":[]}", CUZK_REGISTERED_PROOF,
                     "vanilla_proofs.StackedDrg3KiBV1");
    expect_bad_value("vanilla_proofs", "{\"StackedDrg8MiBV1\":[]}", CUZK_SECTOR_SIZE,
                     "vanilla_proofs.StackedDrg8MiBV1");
}

static void test_wrapper(void **state) {
    (void)state;
    struct c1_text wrapped = c1_text_wrap(&inner, SECTOR, 4096);
    expect_bad(&wrapped, CUZK_SECTOR_SIZE, "SectorSize");
    const struct c1_edit reverse = {.reverse = true};
    struct c1_text size_first = c1_text_edit(&wrapped, &reverse);
    expect_bad(&size_first, CUZK_SECTOR_SIZE, "Phase1Out.registered_proof");
    c1_text_free(&size_first);
    c1_text_free(&wrapped);

    static const char *const own[] = {"SectorNum", "Phase1Out", "SectorSize"};
    wrapped = c1_text_wrap(&inner, SECTOR, SIZE);
    for (size_t i = 0; i < 3; i++) {
        const struct c1_edit drop = {.action = EDIT_DROP, .key = own[i]};
        const struct c1_edit twice = {.action = EDIT_TWICE, .key = own[i]};
        struct c1_text text = c1_text_edit(&wrapped, &drop);
        expect_bad(&text, CUZK_FIELD_MISSING, own[i]);
        c1_text_free(&text);
        text = c1_text_edit(&wrapped, &twice);
        expect_bad(&text, CUZK_FIELD_DUPLICATE, own[i]);
        c1_text_free(&text);
    }
    struct c1_edit both = {.unknown = "\"comm_r\":[]"};
    struct c1_text text = c1_text_edit(&wrapped, &both);
    expect_bad(&text, CUZK_HASH_LENGTH, "comm_r");
    c1_text_free(&text);
    both.unknown = "\"registered_proof\":\"StackedDrg2KiBV1_1\"";
    text = c1_text_edit(&wrapped, &both);
    expect_bad(&text, CUZK_FIELD_DUPLICATE, "Phase1Out");
    c1_text_free(&text);
    c1_text_free(&wrapped);
    expect_bad_string("{}", CUZK_FIELD_MISSING, "Phase1Out");
}

/* ---- damaged texts ---- */

static void test_truncated(void **state) {
    (void)state;
    struct c1_text wrapped = c1_text_wrap(&inner, SECTOR, SIZE);
    struct cuzk_error err;
    struct c1 *c1;
    for (size_t n = 0; n < wrapped.n; n += n < 200 ? 1 : 997) {
        const cuzk_status s = c1_decode_memory(&c1, wrapped.bytes, n, NULL, &err);
        if (s != CUZK_JSON_TRUNCATED) fail_msg("%zu bytes: %s", n, status_name(s));
        char offset[64];
        snprintf(offset, sizeof offset, "(byte %zu of the file)", n);
        assert_non_null(strstr(err.what, offset));
    }
    for (size_t n = 1; n < inner.n; n += 997) {
        const struct c1_text cut = {.bytes = inner.bytes, .n = n};
        struct c1_text text = c1_text_wrap(&cut, SECTOR, SIZE);
        const cuzk_status s = c1_decode_memory(&c1, text.bytes, text.n, NULL, &err);
        if (s != CUZK_JSON_TRUNCATED) fail_msg("inner %zu bytes: %s", n, status_name(s));
        char offset[64];
        snprintf(offset, sizeof offset, "byte %zu of Phase1Out's text)", n);
        assert_non_null(strstr(err.what, offset));
        assert_memory_equal(err.where, "Phase1Out", 9);
        c1_text_free(&text);
    }
    c1_text_free(&wrapped);
}

static void test_no_json(void **state) {
    (void)state;
    expect_bad_string("", CUZK_JSON_TRUNCATED, "C1");
    expect_bad_string("   \n", CUZK_JSON_TRUNCATED, "C1");
    expect_bad_string("hello", CUZK_JSON_SYNTAX, "C1");
    expect_bad_string("<!DOCTYPE html><html></html>", CUZK_JSON_SYNTAX, "C1");
    expect_bad_string("{\"SectorNum\":1,}", CUZK_JSON_SYNTAX, "SectorNum");
    expect_bad_memory("\0\0\0\0", 4, CUZK_JSON_SYNTAX, "C1");
    expect_bad_memory("\xef\xbb\xbf{}", 5, CUZK_JSON_SYNTAX, "C1"); /* a byte order mark */
    struct c1_text wrapped = c1_text_wrap(&inner, SECTOR, SIZE), text;
    FILE *out = open_memstream(&text.bytes, &text.n);
    fprintf(out, "%s{}", wrapped.bytes);
    fclose(out);
    expect_bad(&text, CUZK_JSON_SYNTAX, "C1");
    c1_text_free(&text);
    c1_text_free(&wrapped);
    expect_bad_string("{\"Phase1Out\":\"aGVsbG8=\"}", CUZK_JSON_SYNTAX, "Phase1Out"); /* hello */
    expect_bad_string("{\"Phase1Out\":\"\"}", CUZK_JSON_TRUNCATED, "Phase1Out");
    expect_bad_string("{\"Phase1Out\":\"e30=\"}", CUZK_FIELD_MISSING, /* {} */
                      "Phase1Out.registered_proof");
}

static void test_base64(void **state) {
    (void)state;
    expect_bad_string("{\"Phase1Out\":\"eyJ*\"}", CUZK_BASE64, "Phase1Out");
    expect_bad_string("{\"Phase1Out\":\"eyI\"}", CUZK_BASE64, "Phase1Out");
    expect_bad_string("{\"Phase1Out\":\"e30=e30=\"}", CUZK_BASE64, "Phase1Out");
    expect_bad_string("{\"Phase1Out\":\"=\"}", CUZK_BASE64, "Phase1Out");
    expect_bad_string("{\"Phase1Out\":\"e30\\n\"}", CUZK_BASE64, "Phase1Out");
    /* A text that is cut is at fault where it ends. */
    struct c1 *c1;
    struct cuzk_error err;
    static const char cut[] = "{\"Phase1Out\":\"eyI\"}";
    assert_int_equal(c1_decode_memory(&c1, cut, sizeof cut - 1, NULL, &err), CUZK_BASE64);
    assert_non_null(strstr(err.what, "(byte 17 of the file)"));
    /* A wrong character in the middle: named by its offset, inside the path that was reached. */
    struct c1_text wrapped = c1_text_wrap(&inner, SECTOR, SIZE);
    const size_t at = wrapped.n / 2;
    wrapped.bytes[at] = '-';
    assert_int_equal(c1_decode_memory(&c1, wrapped.bytes, wrapped.n, NULL, &err), CUZK_BASE64);
    char offset[64];
    snprintf(offset, sizeof offset, "(byte %zu of the file)", at);
    assert_non_null(strstr(err.what, offset));
    assert_memory_equal(err.where, "Phase1Out." CHALLENGE, strlen("Phase1Out." CHALLENGE));
    c1_text_free(&wrapped);
}

/* The offsets of an error inside Phase1Out: in the decoded text, and of its base64 in the file. */
static void test_offsets(void **state) {
    (void)state;
    const struct c1_edit edit = {.action = EDIT_REPLACE, .key = "encoding_proof", .with = "7"};
    struct c1_text text = c1_text_edit(&inner, &edit);
    const size_t at = (size_t)(strstr(text.bytes, "encoding_proof\":7") - text.bytes) + 16;
    struct c1_text wrapped = c1_text_wrap(&text, SECTOR, SIZE);
    const size_t start = (size_t)(strstr(wrapped.bytes, "Phase1Out\":\"") - wrapped.bytes) + 12;
    struct c1 *c1;
    struct cuzk_error err;
    char offset[100];
    assert_int_equal(c1_decode_memory(&c1, text.bytes, text.n, NULL, &err), CUZK_FIELD_TYPE);
    snprintf(offset, sizeof offset, "(byte %zu of the file)", at);
    assert_non_null(strstr(err.what, offset));
    assert_int_equal(c1_decode_memory(&c1, wrapped.bytes, wrapped.n, NULL, &err), CUZK_FIELD_TYPE);
    snprintf(offset, sizeof offset, "(byte %zu of the file, byte %zu of Phase1Out's text)",
             start + at / 3 * 4, at);
    assert_non_null(strstr(err.what, offset));
    c1_text_free(&wrapped);
    c1_text_free(&text);
}

static void test_limits(void **state) {
    (void)state;
    struct c1 *c1;
    struct cuzk_error err;
    struct c1_limits limits = {.max_bytes = inner.n, .max_depth = 64};
    assert_int_equal(c1_decode_memory(&c1, inner.bytes, inner.n, &limits, &err), CUZK_OK);
    c1_destroy(c1);
    limits.max_bytes--;
    assert_int_equal(c1_decode_memory(&c1, inner.bytes, inner.n, &limits, &err), CUZK_INPUT_SIZE);
    limits = (struct c1_limits){.max_bytes = inner.n, .max_depth = 10};
    assert_int_equal(c1_decode_memory(&c1, inner.bytes, inner.n, &limits, &err), CUZK_JSON_DEPTH);
    char deep[300] = "\"zz\":";
    const size_t first = strlen(deep);
    for (unsigned n = 62; n < 66; n++) {
        memset(deep + first, '[', n);
        memset(deep + first + n, ']', n);
        strcpy(deep + first + 2 * n, ",");
        struct c1_text text;
        FILE *out = open_memstream(&text.bytes, &text.n);
        fprintf(out, "{%s%s", deep, inner.bytes + 1);
        fclose(out);
        if (n < 64)
            expect_good(&text);
        else
            expect_bad_inner(&text, CUZK_JSON_DEPTH, "zz");
        c1_text_free(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_bare_says_less),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_source_fails),
        cmocka_unit_test(test_missing_and_doubled),
        cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_wrong_form),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_modulus),
        cmocka_unit_test(test_registered_proof),
        cmocka_unit_test(test_wrapper),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_no_json),
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
