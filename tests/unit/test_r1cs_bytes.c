/*
 * Untrusted bytes: rows and witness values that are damaged in each possible way, and the digest of
 * a witness.
 */
#include "test_main.h"

#include "pool.h"
#include "r1cs_digest.h"
#include "row_bytes.h"

/* ---- rows ---- */

struct bytes {
    uint8_t data[512];
    size_t n;
};

static void put_u32(struct bytes *b, uint32_t v) {
    memcpy(b->data + b->n, &v, 4);
    b->n += 4;
}
static void put_term(struct bytes *b, uint8_t kind, uint32_t index, const fr *c) {
    b->data[b->n++] = kind;
    put_u32(b, index);
    fr_to_bytes(b->data + b->n, c);
    b->n += 32;
}

/* (1 - w0) * w0 = 0, then (2 x1 + w1) * w0 = 0: offsets of the fields below. */
static struct bytes good_rows(void) {
    struct bytes b = {.n = 0};
    fr two, minus;
    fr_from_u64(&two, 2);
    fr_neg(&minus, &fr_one);
    put_u32(&b, 2);
    put_term(&b, 0, 0, &fr_one);
    put_term(&b, 1, 0, &minus);
    put_u32(&b, 1);
    put_term(&b, 1, 0, &fr_one);
    put_u32(&b, 0);
    put_u32(&b, 2);
    put_term(&b, 0, 1, &two);
    put_term(&b, 1, 1, &fr_one);
    put_u32(&b, 1);
    put_term(&b, 1, 0, &fr_one);
    put_u32(&b, 0);
    return b;
}
enum { FIRST_TERM = 4, SECOND_TERM = 4 + 37, ROW_1 = 4 + 2 * 37 + 4 + 37 + 4 };

static cuzk_status read_rows(const struct bytes *b, struct cuzk_error *err) {
    struct r1cs *r;
    /* A copy of exactly n bytes, so that a sanitizer sees a read past the end. */
    uint8_t *copy = malloc(b->n > 0 ? b->n : 1);
    memcpy(copy, b->data, b->n);
    const cuzk_status status = r1cs_from_rows(&r, copy, b->n, err);
    if (status != CUZK_OK) assert_null(r);
    r1cs_destroy(r);
    free(copy);
    return status;
}

static void good_rows_are_read(void **state) {
    (void)state;
    const struct bytes b = good_rows();
    struct r1cs *r;
    struct r1cs_stats stats;
    assert_int_equal(r1cs_from_rows(&r, b.data, b.n, NULL), CUZK_OK);
    assert_int_equal(r1cs_get_stats(r, &stats, NULL, NULL), CUZK_OK);
    assert_int_equal(stats.n_rows, 2);
    assert_int_equal(stats.n_inputs, 2);
    assert_int_equal(stats.n_aux, 2);
    assert_int_equal(stats.n_elements, 2);
    assert_int_equal(stats.nnz[0], 4);
    assert_int_equal(stats.nnz[1], 2);
    assert_int_equal(stats.nnz[2], 0);
    assert_int_equal(stats.a_aux_density, 2);
    assert_int_equal(stats.b_aux_density, 1);
    assert_int_equal(stats.b_input_density, 0);
    r1cs_destroy(r);
}

static void cut_rows_are_refused(void **state) {
    (void)state;
    const struct bytes whole = good_rows();
    for (size_t n = 0; n < whole.n; n++) {
        struct bytes b = whole;
        b.n = n;
        assert_int_equal(read_rows(&b, NULL), n == ROW_1 ? CUZK_OK : CUZK_INPUT_SIZE);
    }
}

static void damaged_rows_are_refused(void **state) {
    (void)state;
    struct cuzk_error err;
    struct bytes b = good_rows();
    b.data[SECOND_TERM] = 2;
    assert_int_equal(read_rows(&b, &err), CUZK_FIELD_RANGE);
    assert_string_equal(err.where, "rows, byte 41");
    b = good_rows();
    b.data[FIRST_TERM] = 1; /* w0 twice */
    assert_int_equal(read_rows(&b, &err), CUZK_FIELD_RANGE);
    b = good_rows();
    b.data[SECOND_TERM] = 0; /* ONE twice */
    assert_int_equal(read_rows(&b, &err), CUZK_FIELD_RANGE);
    b = good_rows();
    b.data[ROW_1 + 4] = 1, b.data[ROW_1 + 4 + 37] = 0; /* aux before input */
    assert_int_equal(read_rows(&b, &err), CUZK_FIELD_RANGE);
    assert_non_null(strstr(err.what, "row 1"));
    b = good_rows();
    memset(b.data + FIRST_TERM + 5, 0, 32);
    assert_int_equal(read_rows(&b, &err), CUZK_FIELD_RANGE);
    b = good_rows();
    memcpy(b.data + FIRST_TERM + 5, fr_modulus, 32);
    assert_int_equal(read_rows(&b, &err), CUZK_NOT_CANONICAL);
    b = good_rows();
    memset(b.data + FIRST_TERM + 5, 0xff, 32);
    assert_int_equal(read_rows(&b, &err), CUZK_NOT_CANONICAL);
    b = good_rows();
    memset(b.data + SECOND_TERM + 1, 0xff, 4);
    assert_int_equal(read_rows(&b, &err), CUZK_FIELD_RANGE);
    b = good_rows();
    memset(b.data, 0xff, 4);
    assert_int_equal(read_rows(&b, &err), CUZK_INPUT_SIZE);
    b = good_rows();
    b.data[0] = 1; /* one term fewer: the rest is read as something else */
    assert_int_not_equal(read_rows(&b, &err), CUZK_OK);
}

/* ---- witness values ---- */

enum { N_INPUTS = 2, N_AUX = 70, N_ELEMENTS = 35 };

/* Variables with even index are bits. */
static const uint64_t kind[3] = {UINT64_C(0x5555555555555555), 0x15};

static void good_values(uint8_t *out) {
    const uint64_t counts[2] = {N_INPUTS, N_AUX};
    memcpy(out, counts, sizeof counts);
    fr value;
    for (uint32_t i = 0; i < N_INPUTS + N_AUX; i++) {
        fr_from_u64(&value, i == 0 ? 1 : i < N_INPUTS ? 77 : i % 2 == 1 ? 1000 + i : i / 2 % 2);
        fr_to_bytes(out + 16 + 32 * i, &value);
    }
}
enum { VALUES_BYTES = 16 + 32 * (N_INPUTS + N_AUX) };

static cuzk_status read_values(const uint8_t *data, size_t n_bytes, struct witness *w) {
    uint8_t *copy = malloc(n_bytes > 0 ? n_bytes : 1);
    memcpy(copy, data, n_bytes);
    const cuzk_status status =
        witness_from_values(w, kind, N_INPUTS, N_AUX, N_ELEMENTS, copy, n_bytes, NULL);
    free(copy);
    return status;
}

static void values_are_read(void **state) {
    (void)state;
    uint8_t data[VALUES_BYTES];
    struct witness w;
    good_values(data);
    /* Aux variable i is value i + 2, so the bits are those with even i. */
    assert_int_equal(read_values(data, sizeof data, &w), CUZK_OK);
    uint32_t element = 0;
    for (uint32_t i = 0; i < N_AUX; i++) {
        uint8_t bytes[32] = {0};
        if (i % 2 == 0)
            bytes[0] = w.values[i / 64] >> i % 64 & 1;
        else
            fr_to_bytes(bytes, &w.elements[element++]);
        assert_memory_equal(bytes, data + 16 + 32 * (N_INPUTS + i), 32);
    }
    assert_true(fr_equal(&w.inputs[0], &fr_one));
    witness_destroy(&w);
}

static void damaged_values_are_refused(void **state) {
    (void)state;
    uint8_t data[VALUES_BYTES + 1];
    struct witness w;
    good_values(data);
    for (size_t n = 0; n < VALUES_BYTES; n++) {
        assert_int_equal(read_values(data, n, &w), CUZK_INPUT_SIZE);
        assert_null(w.block.ptr);
    }
    assert_int_equal(read_values(data, sizeof data, &w), CUZK_INPUT_SIZE);
    data[0]++;
    assert_int_equal(read_values(data, VALUES_BYTES, &w), CUZK_FIELD_COUNT);
    good_values(data);
    data[8]++;
    assert_int_equal(read_values(data, VALUES_BYTES, &w), CUZK_FIELD_COUNT);
    good_values(data);
    data[16] = 2; /* ONE */
    assert_int_equal(read_values(data, VALUES_BYTES, &w), CUZK_FIELD_RANGE);
    good_values(data);
    data[16 + 32 * N_INPUTS] = 2; /* aux 0, a bit */
    assert_int_equal(read_values(data, VALUES_BYTES, &w), CUZK_FIELD_RANGE);
    for (uint32_t i = 0; i < N_INPUTS + N_AUX; i++) {
        good_values(data);
        memcpy(data + 16 + 32 * i, fr_modulus, 32);
        assert_int_equal(read_values(data, VALUES_BYTES, &w), CUZK_NOT_CANONICAL);
    }
}

/* ---- digest of a witness ---- */

static void witness_digest_is_that_of_the_values(void **state) {
    (void)state;
    /* Three blocks, the last one short; every fifth variable is no bit. */
    enum { N = 2 * 65536 + 1234, ELEMENTS = (N + 4) / 5 };
    uint64_t *plane = calloc(N / 64 + 2, sizeof *plane);
    uint8_t *bytes = calloc(N, 32);
    struct witness w;
    assert_int_equal(witness_create(&w, 3, N, ELEMENTS, NULL), CUZK_OK);
    fr_from_u64(&w.inputs[1], 5);
    fr_neg(&w.inputs[2], &w.inputs[1]);
    uint32_t element = 0;
    for (uint32_t i = 0; i < N; i++) {
        if (i % 5 == 0) {
            fr_from_u64(&w.elements[element], UINT64_C(0x123456789) * i);
            fr_to_bytes(bytes + (size_t)32 * i, &w.elements[element++]);
        } else {
            plane[i / 64] |= UINT64_C(1) << i % 64;
            w.values[i / 64] |= (uint64_t)(i / 3 % 2) << i % 64;
            bytes[(size_t)32 * i] = i / 3 % 2;
        }
    }
    assert_int_equal(element, ELEMENTS);
    uint8_t in_bytes[96], want[32], inputs[32], aux[32];
    for (int i = 0; i < 3; i++)
        fr_to_bytes(in_bytes + 32 * i, &w.inputs[i]);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct pool *pool;
        struct block_digests blocks;
        assert_int_equal(pool_create(&pool, threads, NULL), CUZK_OK);
        assert_int_equal(witness_digest(&w, plane, inputs, aux, &blocks, pool, NULL), CUZK_OK);
        sha256(want, in_bytes, sizeof in_bytes);
        assert_memory_equal(inputs, want, 32);
        sha256(want, bytes, (size_t)N * 32);
        assert_memory_equal(aux, want, 32);
        assert_int_equal(blocks.n, 3);
        for (size_t b = 0; b < 3; b++) {
            const size_t first = b * 65536, n = N - first < 65536 ? N - first : 65536;
            sha256(want, bytes + 32 * first, 32 * n);
            assert_memory_equal(blocks.digest[b], want, 32);
        }
        block_digests_free(&blocks);
        pool_destroy(pool);
    }
    assert_int_equal(witness_digest(&w, plane, inputs, aux, NULL, NULL, NULL), CUZK_OK);
    sha256(want, bytes, (size_t)N * 32);
    assert_memory_equal(aux, want, 32);
    witness_destroy(&w);
    free(plane);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_rows_are_read),
        cmocka_unit_test(cut_rows_are_refused),
        cmocka_unit_test(damaged_rows_are_refused),
        cmocka_unit_test(values_are_read),
        cmocka_unit_test(damaged_values_are_refused),
        cmocka_unit_test(witness_digest_is_that_of_the_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
