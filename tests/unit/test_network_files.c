/*
 * Whole files under the network's names: right, damaged, exchanged. This program is built with a
 * network of its own (fake_network/network_files.inc), whose files are development parameters of
 * small circuits from fixed seeds: `one` and `twin` of one circuit, `other` of another.
 */
#include <unistd.h>

#include "test_main.h"

#include "param_names.h"
#include "setup.h"
#include "srs.h"
#include "tiny_circuit.h"

static char folder[] = "/tmp/cuzk-test-network-XXXXXX";
static struct r1cs *circuit, *other_circuit;

struct file {
    char path[128];
    uint8_t *bytes; /* what belongs there */
    size_t n;
};
enum { ONE, ONE_VK, TWIN, TWIN_VK, OTHER, N_FILES };
static struct file files[N_FILES];

static void put(const char *path, const void *data, size_t n) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Takes a file that the set-up made into memory, and removes it. */
static void collect(struct file *f, const char *made) {
    struct param_source src;
    assert_int_equal(param_source_open(&src, made, NULL), CUZK_OK);
    f->n = src.n_bytes;
    f->bytes = malloc(f->n);
    assert_non_null(f->bytes);
    assert_int_equal(param_source_read(&src, f->bytes, f->n, 0, NULL), CUZK_OK);
    param_source_close(&src);
    unlink(made);
}

static void make_pair(struct file *params, struct file *vk, struct r1cs *r, uint64_t seed) {
    char made[128], made_vk[128], stamp[140];
    struct file unused = {0};
    snprintf(made, sizeof made, "%s/made.dev.params", folder);
    snprintf(made_vk, sizeof made_vk, "%s/made.dev.vk", folder);
    snprintf(stamp, sizeof stamp, "%s.stamp", made);
    const struct setup_options options = {.seeded = true, .seed = seed};
    assert_int_equal(setup_write(made, made_vk, r, &options, NULL), CUZK_OK);
    collect(params, made);
    collect(vk != NULL ? vk : &unused, made_vk);
    free(unused.bytes);
    unlink(stamp);
}

/* Puts the content of one file under the name of another. */
static void place(int name, int content) {
    put(files[name].path, files[content].bytes, files[content].n);
}

static cuzk_status load(int name, struct r1cs *r, struct cuzk_error *err) {
    struct r1cs_stats stats;
    struct srs *srs;
    if (r != NULL) assert_int_equal(r1cs_get_stats(r, &stats, NULL, NULL), CUZK_OK);
    const struct srs_options options = {.circuit = r != NULL ? &stats : NULL, .ignore_stamp = true};
    const cuzk_status s = srs_load(&srs, files[name].path, &options, err);
    if (s == CUZK_OK) assert_true(srs->network);
    srs_destroy(srs);
    return s;
}

static cuzk_status load_vk(int name, uint32_t n_inputs, struct cuzk_error *err) {
    struct vkey vk;
    const cuzk_status s = vkey_load(&vk, files[name].path, n_inputs, NULL, err);
    vkey_destroy(&vk);
    return s;
}

/* The table's digests are those of the files; where they are not, this says what they are. */
static void the_network_is_what_the_table_says(void **state) {
    (void)state;
    size_t n;
    const struct network_file *table = network_files(&n);
    assert_int_equal(n, N_FILES);
    for (size_t i = 0; i < n; i++) {
        struct param_source src;
        char digest[PARAM_DIGEST_HEX + 1];
        param_source_memory(&src, table[i].name, files[i].bytes, files[i].n);
        assert_int_equal(param_digest(digest, &src, NULL, NULL), CUZK_OK);
        assert_string_equal(table[i].digest, digest);
    }
}

static void files_in_their_places_load(void **state) {
    (void)state;
    struct cuzk_error err;
    place(ONE, ONE);
    place(ONE_VK, ONE_VK);
    place(OTHER, OTHER);
    assert_int_equal(load(ONE, circuit, &err), CUZK_OK);
    assert_int_equal(load(ONE, NULL, &err), CUZK_OK);
    assert_int_equal(load(OTHER, other_circuit, &err), CUZK_OK);
    assert_int_equal(load_vk(ONE_VK, 3, &err), CUZK_OK);
    assert_int_equal(load_vk(ONE_VK, 0, &err), CUZK_OK);
}

static void expect_swapped(cuzk_status s, const struct cuzk_error *err, int name,
                           const char *holds) {
    assert_int_equal(s, CUZK_PARAM_SWAPPED);
    assert_int_equal(err->code, CUZK_PARAM_SWAPPED);
    assert_string_equal(err->where, files[name].path);
    assert_non_null(strstr(err->what, holds));
}

static void exchanged_files_are_named(void **state) {
    (void)state;
    struct cuzk_error err;
    place(ONE, OTHER); /* other counts … */
    place(OTHER, ONE);
    expect_swapped(load(ONE, circuit, &err), &err, ONE, "v1-other.params");
    expect_swapped(load(ONE, NULL, &err), &err, ONE, "v1-other.params");
    expect_swapped(load(OTHER, other_circuit, &err), &err, OTHER, "v1-one.params");
    place(ONE, TWIN); /* … the same counts, other points */
    expect_swapped(load(ONE, circuit, &err), &err, ONE, "v1-twin.params");
    place(ONE_VK, TWIN_VK);
    expect_swapped(load_vk(ONE_VK, 3, &err), &err, ONE_VK, "v1-twin.vk");
    expect_swapped(load_vk(ONE_VK, 4, &err), &err, ONE_VK, "v1-twin.vk");
}

/* The file is the right one, but not of the circuit that was asked for: nothing was exchanged. */
static void right_files_of_another_circuit_are_told(void **state) {
    (void)state;
    struct cuzk_error err;
    place(ONE, ONE);
    place(ONE_VK, ONE_VK);
    assert_int_equal(load(ONE, other_circuit, &err), CUZK_PARAM_CIRCUIT);
    assert_int_equal(err.code, CUZK_PARAM_CIRCUIT);
    assert_int_equal(load_vk(ONE_VK, 4, &err), CUZK_PARAM_CIRCUIT);
    assert_int_equal(err.code, CUZK_PARAM_CIRCUIT);
}

static void damaged_files_are_told(void **state) {
    (void)state;
    struct cuzk_error err;
    for (size_t at = 1000; at < files[ONE].n; at += 1717) {
        files[ONE].bytes[at] ^= 4;
        place(ONE, ONE);
        files[ONE].bytes[at] ^= 4;
        assert_int_equal(load(ONE, circuit, &err), CUZK_PARAM_DIGEST);
    }
    put(files[ONE].path, files[ONE].bytes, files[ONE].n - 1);
    assert_int_equal(load(ONE, circuit, &err), CUZK_PARAM_TRUNC);
    files[ONE_VK].bytes[100] ^= 1;
    place(ONE_VK, ONE_VK);
    files[ONE_VK].bytes[100] ^= 1;
    assert_int_equal(load_vk(ONE_VK, 3, &err), CUZK_PARAM_DIGEST);
}

/* A file of development parameters beside the network's is not taken. */
static void the_network_file_is_found_first(void **state) {
    (void)state;
    struct param_place found;
    char development[128];
    snprintf(development, sizeof development, "%s/tiny.dev.params", folder);
    put(development, "x", 1);
    place(ONE, ONE);
    assert_int_equal(param_find(&found, folder, "v1-one.params", "tiny", "params", NULL), CUZK_OK);
    assert_string_equal(found.path, files[ONE].path);
    assert_false(found.development);
    unlink(files[ONE].path);
    assert_int_equal(param_find(&found, folder, "v1-one.params", "tiny", "params", NULL), CUZK_OK);
    assert_string_equal(found.path, development);
    assert_true(found.development);
    unlink(development);
}

static int group_setup(void **state) {
    (void)state;
    size_t n;
    const struct network_file *table = network_files(&n);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(n, N_FILES);
    for (size_t i = 0; i < n; i++)
        snprintf(files[i].path, sizeof files[i].path, "%s/%s", folder, table[i].name);
    circuit = tiny_circuit(24);
    other_circuit = tiny_circuit(70);
    make_pair(&files[ONE], &files[ONE_VK], circuit, 1);
    make_pair(&files[TWIN], &files[TWIN_VK], circuit, 2);
    make_pair(&files[OTHER], NULL, other_circuit, 3);
    return 0;
}

static int group_teardown(void **state) {
    (void)state;
    for (size_t i = 0; i < N_FILES; i++) {
        unlink(files[i].path);
        free(files[i].bytes);
    }
    r1cs_destroy(circuit);
    r1cs_destroy(other_circuit);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left in it */
    assert_int_equal(mem_in_use_total(), 0);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_network_is_what_the_table_says),
        cmocka_unit_test(files_in_their_places_load),
        cmocka_unit_test(exchanged_files_are_named),
        cmocka_unit_test(right_files_of_another_circuit_are_told),
        cmocka_unit_test(damaged_files_are_told),
        cmocka_unit_test(the_network_file_is_found_first),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
