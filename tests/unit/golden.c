#include "golden.h"

#include "test_main.h"

static void read_text(char *out, size_t capacity, const char *path) {
    FILE *const f = fopen(path, "r");
    if (f == NULL) print_message("%s is missing\n", path);
    assert_non_null(f);
    const size_t n = fread(out, 1, capacity - 1, f);
    assert_true(n < capacity - 1);
    out[n] = 0;
    fclose(f);
}

static const char *find_key(const char *text, const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *const at = strstr(text, quoted);
    assert_non_null(at);
    return at + strlen(quoted);
}

static uint64_t number(const char *text, const char *key) {
    return strtoull(find_key(text, key), NULL, 10);
}

void golden_read(struct golden *out, const char *path) {
    char text[4096];
    read_text(text, sizeof text, path);
    out->n_inputs = number(text, "num_inputs");
    out->n_aux = number(text, "num_aux");
    out->n_rows = number(text, "num_constraints");
    out->nnz[0] = number(text, "nnz_a");
    out->nnz[1] = number(text, "nnz_b");
    out->nnz[2] = number(text, "nnz_c");
    out->a_aux_density = number(text, "a_aux_density");
    out->b_aux_density = number(text, "b_aux_density");
    out->b_input_density = number(text, "b_input_density");
    assert_int_equal(sscanf(find_key(text, "sha256"), "\"%64[0-9a-f]", out->sha256), 1);
    assert_int_equal(sscanf(find_key(text, "circuit"), "\"%199[^\"]", out->circuit), 1);
}

void golden_check_blocks(const struct block_digests *blocks, const char *path) {
    static char text[1 << 18];
    read_text(text, sizeof text, path);
    const char *at = text;
    for (size_t i = 0; i < blocks->n; i++) {
        char got[65], expected[65];
        int length = 0;
        assert_int_equal(sscanf(at, "%64[0-9a-f]%n", expected, &length), 1);
        at += length + strspn(at + length, "\r\n");
        hex_encode(got, blocks->digest[i], SHA256_BYTES);
        if (strcmp(got, expected) != 0) print_message("block %zu differs\n", i);
        assert_string_equal(got, expected);
    }
    assert_int_equal(*at, 0);
}

void golden_witness_digest(char out[65], const char *path, const char *label) {
    char text[8192];
    read_text(text, sizeof text, path);
    const char *const at = strstr(text, label);
    assert_non_null(at);
    assert_int_equal(sscanf(at + strlen(label), " %64[0-9a-f]", out), 1);
}

void golden_check_stats(const struct golden *g, const struct r1cs_stats *stats) {
    assert_int_equal(stats->n_inputs, g->n_inputs);
    assert_int_equal(stats->n_aux, g->n_aux);
    assert_int_equal(stats->n_rows, g->n_rows);
    for (int i = 0; i < 3; i++)
        assert_int_equal(stats->nnz[i], g->nnz[i]);
    assert_int_equal(stats->a_aux_density, g->a_aux_density);
    assert_int_equal(stats->b_aux_density, g->b_aux_density);
    assert_int_equal(stats->b_input_density, g->b_input_density);
}
