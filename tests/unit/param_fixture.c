#include "param_fixture.h"

#include <unistd.h>

#include "test_main.h"

#include "setup.h"
#include "srs.h"

void write_whole(const char *path, const void *data, size_t n) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void read_good(struct param_fixture *f) {
    const size_t n = f->layout.file_bytes;
    FILE *file = fopen(f->params, "rb");
    assert_non_null(file);
    f->good = malloc(n);
    assert_non_null(f->good);
    assert_int_equal(fread(f->good, 1, n, file), n);
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
}

void param_fixture_init(struct param_fixture *f, unsigned n_bits) {
    *f = (struct param_fixture){.folder = "/tmp/cuzk-test-params-XXXXXX"};
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->params, sizeof f->params, "%s/tiny.dev.params", f->folder);
    snprintf(f->vk, sizeof f->vk, "%s/tiny.dev.vk", f->folder);
    snprintf(f->stamp, sizeof f->stamp, "%s.stamp", f->params);
    assert_int_equal(pool_create(&f->pool, 2, NULL), CUZK_OK);
    f->r1cs = tiny_circuit(n_bits);
    assert_int_equal(r1cs_get_stats(f->r1cs, &f->stats, NULL, NULL), CUZK_OK);
    param_layout_of_circuit(&f->layout, &f->stats);
    const struct setup_options options = {.seeded = true, .seed = 3, .pool = f->pool};
    struct cuzk_error err;
    const cuzk_status s = setup_write(f->params, f->vk, f->r1cs, &options, &err);
    if (s != CUZK_OK) fail_msg("set-up: %s: %s", err.where, err.what);
    read_good(f);
}

void param_fixture_deinit(struct param_fixture *f) {
    unlink(f->params);
    unlink(f->vk);
    unlink(f->stamp);
    assert_int_equal(rmdir(f->folder), 0);
    free(f->good);
    r1cs_destroy(f->r1cs);
    pool_destroy(f->pool);
}

cuzk_status param_fixture_load(const struct param_fixture *f, struct cuzk_error *err) {
    const struct srs_options options = {
        .circuit = &f->stats, .pool = f->pool, .ignore_stamp = true};
    struct srs *srs;
    const cuzk_status s = srs_load(&srs, f->params, &options, err);
    assert_true((s == CUZK_OK) == (srs != NULL));
    srs_destroy(srs);
    return s;
}

uint64_t param_fixture_point(const struct param_fixture *f, enum param_section section,
                             uint32_t index) {
    assert_true(index < f->layout.count[section]);
    return f->layout.offset[section] + (uint64_t)index * param_point_bytes(section);
}

void bad_point_g1(uint8_t out[96]) {
    memset(out, 0, 96);
    out[95] = 2;
}

/* x and y as c1 u + c0, c1 first. */
void bad_point_g2(uint8_t out[192]) {
    static const char y[] =
        "172e93db764a8400a7d5071b6b6f5de0da2f0f4a063119ab"
        "ca014006b7c40a2cfe291a1924e65db0d6d0fcfbf3bf3d5c"
        "18c6b864ae17dc9da64203ffefb966306425a7bc6aeb7c75"
        "247438372716284a4173830420cd476ba1a365b95bfcec38";
    memset(out, 0, 192);
    out[95] = 2;
    for (size_t i = 0; i < 96; i++) {
        const char byte[3] = {y[2 * i], y[2 * i + 1], '\0'};
        out[96 + i] = (uint8_t)strtoul(byte, NULL, 16);
    }
}
