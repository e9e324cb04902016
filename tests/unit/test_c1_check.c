/*
 * c1_check() on the 2 KiB fixture: it is valid, and no value of it may be another. Without
 * arguments a sample of the values is changed, with `all` every one of them (minutes).
 */
#include <stdatomic.h>

#include "test_main.h"

#include "c1_text.h"
#include "mem.h"

#define FIXTURE   CUZK_FIXTURES "/porep/2KiB/c1.json"
#define CHALLENGE "Phase1Out.vanilla_proofs.StackedDrg2KiBV1[0][0]."

enum { SECTOR = 101, SIZE = 2048, MINER = 1000 };

static struct c1_text inner;
static struct c1 *reference;
static bool change_all;
static const struct c1_claims miner = {.has_miner = true, .miner = MINER};

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

static void count_report(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    assert_string_equal(phase, "vanilla proofs");
    assert_int_equal(total, 2);
    *(unsigned *)ctx += (unsigned)(done == total);
}

static void test_valid(void **state) {
    (void)state;
    struct pool *pool;
    unsigned finished = 0;
    const struct progress progress = {.report = count_report, .ctx = &finished};
    assert_int_equal(pool_create(&pool, 3, NULL), CUZK_OK);
    assert_int_equal(c1_check(reference, NULL, NULL, NULL, NULL), CUZK_OK);
    assert_int_equal(c1_check(reference, &miner, pool, &progress, NULL), CUZK_OK);
    assert_int_equal(finished, 1);
    const struct c1_claims both = {
        .has_miner = true, .miner = MINER, .has_sector = true, .sector = SECTOR};
    assert_int_equal(c1_check(reference, &both, pool, NULL, NULL), CUZK_OK);
    pool_destroy(pool);
}

static void test_cancelled(void **state) {
    (void)state;
    const atomic_bool cancel = true;
    const struct progress progress = {.cancel = &cancel};
    assert_int_equal(c1_check(reference, NULL, NULL, &progress, NULL), CUZK_CANCELLED);
}

static void test_claims(void **state) {
    (void)state;
    struct cuzk_error err;
    const struct c1_claims other_miner = {.has_miner = true, .miner = MINER + 1};
    assert_int_equal(c1_check(reference, &other_miner, NULL, NULL, &err), CUZK_REPLICA_ID);
    assert_string_equal(err.where, "Phase1Out.replica_id");
    const struct c1_claims other_sector = {.has_sector = true, .sector = SECTOR + 1};
    assert_int_equal(c1_check(reference, &other_sector, NULL, NULL, &err), CUZK_REPLICA_ID);
    assert_string_equal(err.where, "SectorNum");
    assert_true(c1_replica_id_checkable(reference, &miner));
    assert_false(c1_replica_id_checkable(reference, &other_sector));
    assert_false(c1_replica_id_checkable(reference, NULL));

    /* the bare text does not say which sector it is of: the caller may */
    struct c1 *bare;
    assert_int_equal(c1_decode_memory(&bare, inner.bytes, inner.n, NULL, NULL), CUZK_OK);
    assert_false(c1_replica_id_checkable(bare, &miner));
    struct c1_claims both = miner;
    both.has_sector = true;
    both.sector = SECTOR;
    assert_true(c1_replica_id_checkable(bare, &both));
    assert_int_equal(c1_check(bare, &both, NULL, NULL, NULL), CUZK_OK);
    both.sector++;
    assert_int_equal(c1_check(bare, &both, NULL, NULL, &err), CUZK_REPLICA_ID);
    assert_string_equal(err.where, "replica_id");
    c1_destroy(bare);
}

/* ---- one value changed ---- */

static cuzk_status decode_and_check(const struct c1_text *text, const struct c1_claims *claims,
                                    struct cuzk_error *err) {
    struct c1 *c1;
    cuzk_status status = c1_decode_memory(&c1, text->bytes, text->n, NULL, err);
    if (status == CUZK_OK) status = c1_check(c1, claims, NULL, NULL, err);
    c1_destroy(c1);
    return status;
}

struct sweep {
    unsigned seen, changed;
    unsigned by_code[CUZK_STATUS_COUNT];
};

/* The text with the number at one place replaced. */
static struct c1_text with_number(const struct c1_number *number, unsigned long value) {
    struct c1_text t;
    FILE *out = open_memstream(&t.bytes, &t.n);
    assert_non_null(out);
    fwrite(inner.bytes, 1, number->offset, out);
    fprintf(out, "%lu", value);
    const size_t after = number->offset + number->n;
    fwrite(inner.bytes + after, 1, inner.n - after, out);
    fclose(out);
    return t;
}

/* Errors name the changed value or something around it, but for values that only the replica id or
 * the challenges depend on. */
static bool names(const struct cuzk_error *err, const char *path, bool top_level) {
    if (strncmp(err->where, path, strlen(err->where)) == 0 && err->where[0] != '\0') return true;
    if (!top_level) return false;
    return err->code == CUZK_REPLICA_ID ||
           (err->code == CUZK_CHALLENGE && strstr(err->where, "[0][0]") != NULL);
}

static void change_one(void *ctx, const struct c1_number *number) {
    struct sweep *sweep = ctx;
    const bool top_level = strncmp(number->path, "vanilla_proofs", 14) != 0;
    const bool whole = number->path[strlen(number->path) - 1] != ']'; /* not a hash's byte */
    const unsigned seen = sweep->seen++;
    if (!change_all && !whole && seen % (top_level ? 5 : 41) != 0) return;
    const unsigned long old = strtoul(inner.bytes + number->offset, NULL, 10);
    /* the lowest bit, or, of a byte, each in turn */
    struct c1_text text = with_number(number, old ^ (whole ? 1ul : 1ul << seen % 8));
    struct cuzk_error err = {.code = CUZK_OK};
    const cuzk_status status = decode_and_check(&text,
                                                top_level ? &(struct c1_claims){.has_miner = true,
                                                                                .miner = MINER,
                                                                                .has_sector = true,
                                                                                .sector = SECTOR}
                                                          : NULL,
                                                &err);
    if (status == CUZK_OK) fail_msg("%s may be changed", number->path);
    if (!names(&err, number->path, top_level))
        fail_msg("%s changed: %s at %s (%s)", number->path, status_name(status), err.where,
                 err.what);
    sweep->changed++;
    sweep->by_code[status]++;
    c1_text_free(&text);
}

static void test_every_value(void **state) {
    (void)state;
    struct sweep sweep = {0};
    c1_text_each_number(&inner, change_one, &sweep);
    printf("%u of %u values changed:", sweep.changed, sweep.seen);
    for (int c = 0; c < CUZK_STATUS_COUNT; c++)
        if (sweep.by_code[c] > 0) printf(" %s %u", status_name((cuzk_status)c), sweep.by_code[c]);
    printf("\n");
    assert_true(sweep.seen > 20000);
    assert_true(sweep.changed > 500);
    static const cuzk_status expected[] = {
        CUZK_FIELD_RANGE, CUZK_REPLICA_ID, CUZK_CHALLENGE, CUZK_PARENT,   CUZK_MERKLE_PATH,
        CUZK_MERKLE_ROOT, CUZK_COLUMN,     CUZK_LABEL,     CUZK_ENCODING, CUZK_COMM_R};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        if (sweep.by_code[expected[i]] == 0) fail_msg("no %s", status_name(expected[i]));
}

/* The exact place and code for one value of each kind. */
static const struct {
    const char *path; /* of the number, without Phase1Out */
    cuzk_status code;
    const char *where;
} kinds[] = {
    {"comm_d_proofs.data.Single.root[3]", CUZK_MERKLE_ROOT, "comm_d_proofs.data.Single.root"},
    {"comm_d_proofs.data.Single.leaf[3]", CUZK_ENCODING, "comm_d_proofs.data.Single.leaf"},
    {"comm_d_proofs.data.Single.path.path[2].hashes[0][7]", CUZK_MERKLE_PATH, "comm_d_proofs"},
    {"comm_d_proofs.data.Single.path.path[2].index", CUZK_CHALLENGE,
     "comm_d_proofs.data.Single.path.path[2].index"},
    {"comm_r_last_proof.data.Single.root[0]", CUZK_MERKLE_ROOT,
     "comm_r_last_proof.data.Single.root"},
    {"comm_r_last_proof.data.Single.leaf[0]", CUZK_ENCODING, "comm_r_last_proof.data.Single.leaf"},
    {"comm_r_last_proof.data.Single.path.path[1].hashes[6][0]", CUZK_MERKLE_PATH,
     "comm_r_last_proof"},
    {"replica_column_proofs.c_x.column.index", CUZK_CHALLENGE,
     "replica_column_proofs.c_x.column.index"},
    {"replica_column_proofs.c_x.column.rows[1][9]", CUZK_COLUMN,
     "replica_column_proofs.c_x.column.rows"},
    {"replica_column_proofs.c_x.inclusion_proof.data.Single.root[1]", CUZK_MERKLE_ROOT,
     "replica_column_proofs.c_x.inclusion_proof.data.Single.root"},
    {"replica_column_proofs.drg_parents[5].column.index", CUZK_PARENT,
     "replica_column_proofs.drg_parents[5].column.index"},
    {"replica_column_proofs.drg_parents[5].inclusion_proof.data.Single.leaf[31]", CUZK_COLUMN,
     "replica_column_proofs.drg_parents[5].inclusion_proof.data.Single.leaf"},
    {"replica_column_proofs.exp_parents[7].column.rows[0][0]", CUZK_COLUMN,
     "replica_column_proofs.exp_parents[7].column.rows"},
    {"replica_column_proofs.exp_parents[7].inclusion_proof.data.Single.path.path[1].index",
     CUZK_PARENT,
     "replica_column_proofs.exp_parents[7].inclusion_proof.data.Single.path.path[1].index"},
    {"replica_column_proofs.exp_parents[0].inclusion_proof.data.Single.path.path[0].hashes[0][0]",
     CUZK_MERKLE_PATH, "replica_column_proofs.exp_parents[0].inclusion_proof"},
    {"labeling_proofs[1].parents[36][31]", CUZK_LABEL, "labeling_proofs[1].parents[36]"},
    {"labeling_proofs[0].node", CUZK_CHALLENGE, "labeling_proofs[0].node"},
    {"encoding_proof.parents[0][0]", CUZK_ENCODING, "encoding_proof.parents[0]"},
    {"encoding_proof.node", CUZK_CHALLENGE, "encoding_proof.node"},
};

struct finder {
    char path[320];
    struct c1_number found;
};

static void find_number(void *ctx, const struct c1_number *number) {
    struct finder *f = ctx;
    if (strcmp(number->path, f->path) == 0) f->found = *number;
}

static struct c1_number number_at(const char *path) {
    struct finder f = {.found = {0}};
    snprintf(f.path, sizeof f.path, "%s", path);
    c1_text_each_number(&inner, find_number, &f);
    if (f.found.n == 0) fail_msg("no number at %s", path);
    return f.found;
}

/* Changes the number at `path`, wraps, and expects the error. */
static void expect_changed(const char *path, const struct c1_claims *claims, cuzk_status code,
                           const char *where) {
    const struct c1_number number = number_at(path);
    const unsigned long old = strtoul(inner.bytes + number.offset, NULL, 10);
    struct c1_text text = with_number(&number, old ^ 1);
    struct c1_text wrapped = c1_text_wrap(&text, SECTOR, SIZE);
    struct cuzk_error err = {.code = CUZK_OK};
    decode_and_check(&wrapped, claims, &err);
    if (err.code != code || strcmp(err.where, where) != 0)
        fail_msg("%s: %s at %s (%s), not %s at %s", path, status_name(err.code), err.where,
                 err.what, status_name(code), where);
    assert_non_null(strstr(err.what, "(byte "));
    assert_non_null(strstr(err.what, "of Phase1Out's text)"));
    assert_true(err.hint[0] != '\0');
    c1_text_free(&wrapped);
    c1_text_free(&text);
}

static void test_each_kind(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char path[320], where[320];
        snprintf(path, sizeof path, "vanilla_proofs.StackedDrg2KiBV1[0][0].%s", kinds[i].path);
        snprintf(where, sizeof where, "%s%s", CHALLENGE, kinds[i].where);
        expect_changed(path, NULL, kinds[i].code, where);
        expect_changed(path, &miner, kinds[i].code, where);
    }
    expect_changed("comm_r[0]", NULL, CUZK_COMM_R, "Phase1Out.comm_r");
    expect_changed("comm_d[0]", NULL, CUZK_COMM_D, "Phase1Out.comm_d");
    expect_changed("comm_d[0]", &miner, CUZK_REPLICA_ID, "Phase1Out.replica_id");
    expect_changed("ticket[0]", &miner, CUZK_REPLICA_ID, "Phase1Out.replica_id");
    expect_changed("replica_id[0]", &miner, CUZK_REPLICA_ID, "Phase1Out.replica_id");
    expect_changed("replica_id[0]", NULL, CUZK_CHALLENGE,
                   CHALLENGE "replica_column_proofs.c_x.column.index");
    expect_changed("seed[0]", &miner, CUZK_CHALLENGE,
                   CHALLENGE "replica_column_proofs.c_x.column.index");
}

/* The wrapper's sector number, and the registered proof: another generation has another PoRep id
 * and another graph. */
static void test_wrapper(void **state) {
    (void)state;
    struct cuzk_error err;
    struct c1_text text = c1_text_wrap(&inner, SECTOR + 1, SIZE);
    assert_int_equal(decode_and_check(&text, &miner, &err), CUZK_REPLICA_ID);
    c1_text_free(&text);
    static const char *const others[] = {"\"StackedDrg2KiBV1\"",
                                         "\"StackedDrg2KiBV1_1_Feat_SyntheticPoRep\""};
    for (size_t i = 0; i < 2; i++) {
        const struct c1_edit edit = {
            .action = EDIT_REPLACE, .key = "registered_proof", .with = others[i]};
        text = c1_text_edit(&inner, &edit);
        assert_int_equal(decode_and_check(&text, NULL, &err),
                         i == 0 ? CUZK_PARENT : CUZK_CHALLENGE);
        assert_int_equal(decode_and_check(&text,
                                          &(struct c1_claims){.has_miner = true,
                                                              .miner = MINER,
                                                              .has_sector = true,
                                                              .sector = SECTOR},
                                          &err),
                         CUZK_REPLICA_ID);
        c1_text_free(&text);
    }
}

/* Two faults: the first challenge's is reported, by any number of threads. */
static void test_first_fault(void **state) {
    (void)state;
    const struct c1_number second =
        number_at("vanilla_proofs.StackedDrg2KiBV1[0][1].comm_d_proofs.data.Single.root[0]");
    const struct c1_number first =
        number_at("vanilla_proofs.StackedDrg2KiBV1[0][0].encoding_proof.parents[3][0]");
    assert_true(first.offset < second.offset);
    struct c1_text text = c1_text_edit(&inner, &(struct c1_edit){.action = EDIT_NONE});
    text.bytes[second.offset + second.n - 1] ^= 1; /* the last digit, still a digit */
    text.bytes[first.offset + first.n - 1] ^= 1;
    for (unsigned threads = 1; threads < 4; threads++) {
        struct pool *pool;
        struct c1 *c1;
        struct cuzk_error err;
        assert_int_equal(pool_create(&pool, threads, NULL), CUZK_OK);
        assert_int_equal(c1_decode_memory(&c1, text.bytes, text.n, NULL, NULL), CUZK_OK);
        assert_int_equal(c1_check(c1, NULL, pool, NULL, &err), CUZK_ENCODING);
        /* the offset is the challenge's */
        char offset[60];
        const char *at = strstr(text.bytes, "{\"comm_d_proofs\"");
        snprintf(offset, sizeof offset, "(byte %zu of the file)", (size_t)(at - text.bytes));
        assert_non_null(strstr(err.what, offset));
        assert_string_equal(err.where,
                            "vanilla_proofs.StackedDrg2KiBV1[0][0].encoding_proof.parents[3]");
        c1_destroy(c1);
        pool_destroy(pool);
    }
    c1_text_free(&text);
}

/* The public inputs are the ones that the public implementation computes. */
static void test_public_inputs(void **state) {
    (void)state;
    struct c1_text expected = c1_text_read(CUZK_FIXTURES "/porep/2KiB/inputs.txt");
    const size_t n = c1_public_inputs_count(reference);
    assert_int_equal(n, 3 + 2 * 18);
    fr inputs[3 + 2 * 18];
    c1_public_inputs(reference, 0, inputs);
    struct c1_text text;
    FILE *out = open_memstream(&text.bytes, &text.n);
    fprintf(out, "partition 0\n");
    for (size_t i = 0; i < n; i++) {
        char value[80];
        fr_format(value, sizeof value, &inputs[i]);
        fprintf(out, "%s\n", value);
    }
    fclose(out);
    assert_string_equal(text.bytes, expected.bytes);
    c1_text_free(&text);
    c1_text_free(&expected);
}

int main(int argc, char **argv) {
    change_all = argc > 1 && strcmp(argv[1], "all") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),       cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_claims),      cmocka_unit_test(test_each_kind),
        cmocka_unit_test(test_wrapper),     cmocka_unit_test(test_first_fault),
        cmocka_unit_test(test_every_value), cmocka_unit_test(test_public_inputs),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
