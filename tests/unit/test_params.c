/* Parameter files: layout, every kind of damage, stamps, names and digests. */
#include <sys/stat.h>
#include <unistd.h>

#include "test_main.h"

#include "param_fixture.h"
#include "param_names.h"
#include "progress_testing.h"
#include "setup.h"
#include "srs.h"

static void expect(const struct param_fixture *f, cuzk_status status, const char *text) {
    struct cuzk_error err = {0};
    const cuzk_status s = param_fixture_load(f, &err);
    if (s != status)
        fail_msg("status %s, expected %s: %s", status_name(s), status_name(status), err.what);
    if (s == CUZK_OK) return;
    assert_string_equal(err.where, f->params);
    if (strstr(err.what, text) == NULL) fail_msg("`%s` is not in `%s`", text, err.what);
}

/* Writes the good file with n bytes replaced at `at`. */
static void write_changed(const struct param_fixture *f, uint64_t at, const void *data, size_t n) {
    uint8_t *copy = malloc(f->layout.file_bytes);
    assert_non_null(copy);
    assert_true(at + n <= f->layout.file_bytes);
    memcpy(copy, f->good, f->layout.file_bytes);
    memcpy(copy + at, data, n);
    write_whole(f->params, copy, f->layout.file_bytes);
    free(copy);
}

static void good_files_load(void **state) {
    const struct param_fixture *f = *state;
    write_whole(f->params, f->good, f->layout.file_bytes);
    expect(f, CUZK_OK, "");
    struct vkey vk;
    assert_int_equal(vkey_load(&vk, f->vk, f->stats.n_inputs, NULL, NULL), CUZK_OK);
    assert_int_equal(vk.n_ic, f->stats.n_inputs);
    uint8_t head[VKEY_FIXED_BYTES + 4];
    vkey_encode_head(head, &vk);
    assert_memory_equal(head, f->good, sizeof head);
    vkey_destroy(&vk);
}

static void known_layouts_have_known_sizes(void **state) {
    (void)state;
    /* Figures of the public implementation: WindowPoSt and PoRep of 2 KiB sectors. */
    struct param_layout l;
    const struct r1cs_stats window = {.n_inputs = 23,
                                      .n_aux = 22128,
                                      .n_rows = 21889,
                                      .a_aux_density = 16770,
                                      .b_aux_density = 16028,
                                      .b_input_density = 1};
    param_layout_of_circuit(&l, &window);
    assert_int_equal(l.file_bytes, 11501496);
    assert_int_equal(l.vkey_bytes, 3076);
    const struct r1cs_stats porep = {.n_inputs = 40,
                                     .n_aux = 2685673,
                                     .n_rows = 2687961,
                                     .a_aux_density = 2674908,
                                     .b_aux_density = 685521,
                                     .b_input_density = 1};
    param_layout_of_circuit(&l, &porep);
    assert_int_equal(l.file_bytes, 1114707768);
}

static void missing_files_are_named(void **state) {
    const struct param_fixture *f = *state;
    unlink(f->params);
    expect(f, CUZK_PARAM_MISSING, "no such file");
    struct vkey vk;
    assert_int_equal(vkey_load(&vk, "/nonexistent/x.vk", 0, NULL, NULL), CUZK_PARAM_MISSING);
    struct srs *srs;
    const struct srs_options options = {0};
    assert_int_equal(srs_load(&srs, f->folder, &options, NULL), CUZK_FILE_READ); /* a folder */
}

static void cut_files_are_measured(void **state) {
    const struct param_fixture *f = *state;
    const struct param_layout *l = &f->layout;
    const uint64_t cuts[] = {1,
                             95,
                             VKEY_FIXED_BYTES - 1,
                             VKEY_FIXED_BYTES + 3,
                             l->vkey_bytes,
                             l->vkey_bytes + 3,
                             l->offset[SECTION_H],
                             l->offset[SECTION_L] - 5,
                             l->offset[SECTION_A] + 96,
                             l->offset[SECTION_B_G1] - 1,
                             l->offset[SECTION_B_G2] - 4,
                             l->offset[SECTION_B_G2] - 1,
                             l->offset[SECTION_B_G2],
                             l->file_bytes - 192,
                             l->file_bytes - 1};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        char text[80];
        write_whole(f->params, f->good, cuts[i]);
        snprintf(text, sizeof text, "%llu of %llu bytes (%.1f %%)", (unsigned long long)cuts[i],
                 (unsigned long long)l->file_bytes,
                 100.0 * (double)cuts[i] / (double)l->file_bytes);
        expect(f, CUZK_PARAM_TRUNC, text);
    }
    write_whole(f->params, "", 0);
    expect(f, CUZK_PARAM_TRUNC, "empty");
    uint8_t *longer = calloc(1, l->file_bytes + 1);
    memcpy(longer, f->good, l->file_bytes);
    write_whole(f->params, longer, l->file_bytes + 1);
    free(longer);
    expect(f, CUZK_PARAM_TRUNC, "1 more than its header gives");
}

static void pages_and_zeros_are_recognised(void **state) {
    const struct param_fixture *f = *state;
    static const char page[] = "<!DOCTYPE html><html><body>404 Not Found</body></html>";
    static const char json[] = "{\"error\":\"no such key\"}";
    write_whole(f->params, page, sizeof page - 1);
    expect(f, CUZK_PARAM_HTML, "`<`");
    write_whole(f->params, json, sizeof json - 1);
    expect(f, CUZK_PARAM_HTML, "`{`");
    uint8_t *zeros = calloc(1, f->layout.file_bytes);
    assert_non_null(zeros);
    write_whole(f->params, zeros, f->layout.file_bytes);
    expect(f, CUZK_PARAM_ZERO, "first 4096 bytes");
    write_whole(f->params, zeros, 10);
    expect(f, CUZK_PARAM_ZERO, "first 10 bytes");
    /* Preallocated, filled up to somewhere: before a count, and within a section. */
    memcpy(zeros, f->good, f->layout.offset[SECTION_H] + 96);
    write_whole(f->params, zeros, f->layout.file_bytes);
    expect(f, CUZK_PARAM_ZERO, "the count of l");
    memcpy(zeros, f->good, f->layout.offset[SECTION_B_G2] + 3 * 192);
    write_whole(f->params, zeros, f->layout.file_bytes);
    expect(f, CUZK_PARAM_ZERO, "b_g2[3] is all zeros");
    free(zeros);
}

static void impossible_counts_are_refused(void **state) {
    const struct param_fixture *f = *state;
    static const struct {
        enum param_section section;
        uint8_t raw[4];
    } cases[] = {
        {SECTION_IC, {0, 0, 0, 0}},
        {SECTION_H, {0, 0, 0, 5}},
        {SECTION_H, {0xff, 0xff, 0xff, 0xff}},
        {SECTION_A, {0, 0, 0, 1}},
        {SECTION_A, {0x7f, 0, 0, 0}},
        {SECTION_B_G1, {0x7f, 0, 0, 0}},
        {SECTION_B_G2, {0, 0, 0, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_changed(f, f->layout.offset[cases[i].section] - 4, cases[i].raw, 4);
        expect(f, CUZK_PARAM_HEADER, param_section_name(cases[i].section));
    }
}

static void other_circuits_are_told(void **state) {
    const struct param_fixture *f = *state;
    write_whole(f->params, f->good, f->layout.file_bytes);
    const struct r1cs_stats good = f->stats;
    for (int i = 0; i < 5; i++) {
        struct param_fixture other = *f;
        other.stats = good;
        if (i == 0) other.stats.n_inputs++;
        if (i == 1) other.stats.n_aux++;
        if (i == 2) other.stats.n_rows *= 2;
        if (i == 3) other.stats.a_aux_density--;
        if (i == 4) other.stats.b_aux_density--;
        expect(&other, CUZK_PARAM_CIRCUIT, "the circuit has");
    }
    /* Without a circuit to compare with, they are fine. */
    struct srs *srs;
    const struct srs_options options = {.ignore_stamp = true};
    assert_int_equal(srs_load(&srs, f->params, &options, NULL), CUZK_OK);
    srs_destroy(srs);
    struct vkey vk;
    assert_int_equal(vkey_load(&vk, f->vk, good.n_inputs + 1, NULL, NULL), CUZK_PARAM_CIRCUIT);
}

/* Each damage at the first, a middle and the last point of each section. */
static void damaged_points_are_located(void **state) {
    const struct param_fixture *f = *state;
    for (int s = 0; s < PARAM_SECTIONS; s++) {
        const enum param_section section = (enum param_section)s;
        const uint32_t n = f->layout.count[section], places[] = {0, n / 2, n - 1};
        for (int k = 0; k < 3; k++) {
            const uint64_t at = param_fixture_point(f, section, places[k]);
            char where[32];
            snprintf(where, sizeof where, "%s[%u]", param_section_name(section), places[k]);
            const uint8_t compressed = f->good[at] | 0x80; /* flag of the other encoding */
            write_changed(f, at, &compressed, 1);
            expect(f, CUZK_PARAM_POINT, where);
            const uint8_t large = 0x1f; /* x above p */
            write_changed(f, at, &large, 1);
            expect(f, CUZK_PARAM_POINT, where);
            const uint8_t off = f->good[at + 40] ^ 1; /* not on the curve */
            write_changed(f, at + 40, &off, 1);
            expect(f, CUZK_PARAM_POINT, where);
            uint8_t infinity[192] = {0x40};
            write_changed(f, at, infinity, param_point_bytes(section));
            expect(f, CUZK_PARAM_POINT, "infinity");
            uint8_t bad[192];
            if (section == SECTION_B_G2)
                bad_point_g2(bad);
            else
                bad_point_g1(bad);
            write_changed(f, at, bad, param_point_bytes(section));
            expect(f, CUZK_PARAM_SUBGROUP, where);
        }
    }
}

static void damaged_fixed_points_are_named(void **state) {
    const struct param_fixture *f = *state;
    static const struct {
        const char *name;
        uint64_t at;
        unsigned bytes;
    } points[] = {{"alpha_g1", 0, 96},    {"beta_g1", 96, 96},   {"beta_g2", 192, 192},
                  {"gamma_g2", 384, 192}, {"delta_g1", 576, 96}, {"delta_g2", 672, 192}};
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        const uint8_t off = f->good[points[i].at + 47] ^ 1;
        write_changed(f, points[i].at + 47, &off, 1);
        expect(f, CUZK_PARAM_POINT, points[i].name);
        uint8_t infinity[192] = {0x40};
        write_changed(f, points[i].at, infinity, points[i].bytes);
        expect(f, CUZK_PARAM_POINT, points[i].name);
        uint8_t bad[192];
        if (points[i].bytes == 192)
            bad_point_g2(bad);
        else
            bad_point_g1(bad);
        write_changed(f, points[i].at, bad, points[i].bytes);
        expect(f, CUZK_PARAM_SUBGROUP, points[i].name);
    }
}

static void verifying_keys_are_checked(void **state) {
    const struct param_fixture *f = *state;
    char path[160];
    snprintf(path, sizeof path, "%s.other", f->vk);
    const uint64_t n = f->layout.vkey_bytes;
    struct vkey vk;
    for (uint64_t cut = 1; cut < n; cut += 37) {
        write_whole(path, f->good, cut);
        assert_int_equal(vkey_load(&vk, path, 0, NULL, NULL), CUZK_PARAM_TRUNC);
        assert_null(vk.block.ptr);
    }
    write_whole(path, f->good, n + 96); /* longer than it says */
    assert_int_equal(vkey_load(&vk, path, 0, NULL, NULL), CUZK_PARAM_TRUNC);
    uint8_t *copy = malloc(n);
    memcpy(copy, f->good, n);
    bad_point_g1(copy + f->layout.offset[SECTION_IC]);
    write_whole(path, copy, n);
    free(copy);
    assert_int_equal(vkey_load(&vk, path, 0, NULL, NULL), CUZK_PARAM_SUBGROUP);
    write_whole(path, "<html>", 6);
    assert_int_equal(vkey_load(&vk, path, 0, NULL, NULL), CUZK_PARAM_HTML);
    unlink(path);
}

/* ---- stamps ---- */

static cuzk_status load_stamped(const struct param_fixture *f, bool *stamped, bool *written) {
    const struct srs_options options = {.circuit = &f->stats, .pool = f->pool};
    struct srs *srs;
    *stamped = *written = false;
    const cuzk_status s = srs_load(&srs, f->params, &options, NULL);
    if (s == CUZK_OK) {
        *stamped = srs->stamped;
        *written = srs->stamp_written;
        assert_int_equal(strlen(srs->digest), PARAM_DIGEST_HEX);
    }
    srs_destroy(srs);
    return s;
}

static void stamps_spare_the_second_check(void **state) {
    const struct param_fixture *f = *state;
    bool stamped, written;
    unlink(f->stamp);
    write_whole(f->params, f->good, f->layout.file_bytes);
    assert_int_equal(load_stamped(f, &stamped, &written), CUZK_OK);
    assert_true(!stamped && written);
    assert_int_equal(load_stamped(f, &stamped, &written), CUZK_OK);
    assert_true(stamped && !written);
    /* A file that was written again is checked again, though it has the same length: a point
     * outside the group, which only the group check finds. */
    uint8_t bad[96];
    bad_point_g1(bad);
    write_changed(f, param_fixture_point(f, SECTION_L, 1), bad, sizeof bad);
    assert_int_equal(load_stamped(f, &stamped, &written), CUZK_PARAM_SUBGROUP);
    write_whole(f->params, f->good, f->layout.file_bytes);
    assert_int_equal(load_stamped(f, &stamped, &written), CUZK_OK);
    assert_true(!stamped && written);
}

static void set_up_leaves_a_stamp(void **state) {
    const struct param_fixture *f = *state;
    const struct setup_options options = {.seeded = true, .seed = 3, .pool = f->pool};
    assert_int_equal(setup_write(f->params, f->vk, f->r1cs, &options, NULL), CUZK_OK);
    bool stamped, written;
    assert_int_equal(load_stamped(f, &stamped, &written), CUZK_OK);
    assert_true(stamped);
}

static void doubtful_stamps_are_ignored(void **state) {
    const struct param_fixture *f = *state;
    bool stamped, written;
    char text[600];
    write_whole(f->params, f->good, f->layout.file_bytes);
    unlink(f->stamp);
    assert_int_equal(load_stamped(f, &stamped, &written), CUZK_OK);
    FILE *file = fopen(f->stamp, "rb");
    assert_non_null(file);
    const size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_true(n > 0);
    /* Writable for others; then every single byte changed, and lengths that do not fit. */
    assert_int_equal(chmod(f->stamp, 0666), 0);
    assert_int_equal(load_stamped(f, &stamped, &written), CUZK_OK);
    assert_false(stamped);
    for (size_t i = 0; i + PARAM_DIGEST_HEX + 1 < n; i += 11) {
        char changed[600];
        memcpy(changed, text, n);
        changed[i] ^= 1;
        unlink(f->stamp);
        write_whole(f->stamp, changed, n);
        chmod(f->stamp, 0600);
        assert_int_equal(load_stamped(f, &stamped, &written), CUZK_OK);
        assert_false(stamped);
    }
    for (size_t cut = 0; cut < n; cut += 37) {
        write_whole(f->stamp, text, cut);
        assert_int_equal(load_stamped(f, &stamped, &written), CUZK_OK);
        assert_false(stamped);
    }
    /* A link is not followed; a folder in its place is no error. */
    unlink(f->stamp);
    assert_int_equal(symlink("/dev/null", f->stamp), 0);
    assert_int_equal(load_stamped(f, &stamped, &written), CUZK_OK);
    assert_false(stamped);
    unlink(f->stamp);
    assert_int_equal(mkdir(f->stamp, 0700), 0);
    assert_int_equal(load_stamped(f, &stamped, &written), CUZK_OK);
    assert_true(!stamped && !written);
    assert_int_equal(rmdir(f->stamp), 0);
}

/* ---- names and digests ---- */

static void the_digest_is_blake2b(void **state) {
    (void)state;
    struct param_source src;
    char digest[PARAM_DIGEST_HEX + 1];
    param_source_memory(&src, "abc", (const uint8_t *)"abc", 3);
    assert_int_equal(param_digest(digest, &src, NULL, NULL), CUZK_OK);
    assert_string_equal(digest, "ba80a53f981c4d0d6a2797b69f12f6e9"); /* RFC 7693, appendix A */
}

static void digests_tell_damaged_from_swapped(void **state) {
    (void)state;
    size_t n;
    const struct network_file *all = network_files(&n);
    assert_true(n >= 40);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(strlen(all[i].digest), PARAM_DIGEST_HEX);
        assert_ptr_equal(network_file_by_path(all[i].name), &all[i]);
        const struct network_file *other = &all[(i + 1) % n];
        struct cuzk_error err;
        assert_int_equal(param_digest_check("x", &all[i], all[i].digest, NULL), CUZK_OK);
        assert_int_equal(param_digest_check("x", &all[i], other->digest, &err), CUZK_PARAM_SWAPPED);
        assert_non_null(strstr(err.what, other->name));
        assert_int_equal(param_digest_check("x", &all[i], "00112233445566778899aabbccddeeff", NULL),
                         CUZK_PARAM_DIGEST);
    }
    assert_null(network_file_by_path("/some/tiny.dev.params"));
}

static void network_names_demand_the_network_digest(void **state) {
    const struct param_fixture *f = *state;
    size_t n;
    const struct network_file *entry = network_files(&n);
    while (strstr(entry->name, ".params") == NULL)
        entry++;
    char params[400], vk[400];
    snprintf(params, sizeof params, "%s/%s", f->folder, entry->name);
    write_whole(params, f->good, f->layout.file_bytes);
    struct srs *srs;
    const struct srs_options options = {.circuit = &f->stats, .pool = f->pool};
    assert_int_equal(srs_load(&srs, params, &options, NULL), CUZK_PARAM_DIGEST);
    unlink(params);
    /* And a set-up writes no such name. */
    const struct setup_options setup_options = {.seeded = true, .pool = f->pool};
    assert_int_equal(setup_write(params, f->vk, f->r1cs, &setup_options, NULL), CUZK_USAGE);
    assert_int_not_equal(access(params, F_OK), 0);
    snprintf(vk, sizeof vk, "%s/%.*s.vk", f->folder, (int)strlen(entry->name) - 7, entry->name);
    write_whole(vk, f->good, f->layout.vkey_bytes);
    struct vkey key;
    assert_int_equal(vkey_load(&key, vk, 0, NULL, NULL), CUZK_PARAM_DIGEST);
    unlink(vk);
}

static void files_are_found_by_name(void **state) {
    const struct param_fixture *f = *state;
    struct param_place place;
    struct cuzk_error err;
    char network[160];
    write_whole(f->params, f->good, f->layout.file_bytes);
    assert_int_equal(param_find(&place, f->folder, "v28-x.params", "tiny", "params", &err),
                     CUZK_OK);
    assert_true(place.development);
    assert_string_equal(place.path, f->params);
    assert_int_equal(param_find(&place, f->folder, NULL, "tiny", "vk", &err), CUZK_OK);
    assert_string_equal(place.path, f->vk);
    snprintf(network, sizeof network, "%s/v28-x.vk", f->folder);
    write_whole(network, "x", 1);
    assert_int_equal(param_find(&place, f->folder, "v28-x.params", "tiny", "vk", &err), CUZK_OK);
    assert_false(place.development);
    assert_string_equal(place.path, network);
    unlink(network);
    assert_int_equal(param_find(&place, f->folder, "v28-x.params", "huge", "params", &err),
                     CUZK_PARAM_MISSING);
    assert_non_null(strstr(err.what, "v28-x.params"));
    assert_non_null(strstr(err.what, "huge.dev.params"));
}

/* ---- set-up ---- */

static void seeds_decide_the_files(void **state) {
    const struct param_fixture *f = *state;
    const struct setup_options same = {.seeded = true, .seed = 3};
    const struct setup_options other = {.seeded = true, .seed = 4, .pool = f->pool};
    const struct setup_options fresh = {.pool = f->pool};
    const struct setup_options *const options[] = {&same, &other, &fresh};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(setup_write(f->params, f->vk, f->r1cs, options[i], NULL), CUZK_OK);
        struct param_source src;
        assert_int_equal(param_source_open(&src, f->params, NULL), CUZK_OK);
        assert_int_equal(src.n_bytes, f->layout.file_bytes);
        uint8_t *bytes = malloc(src.n_bytes);
        assert_int_equal(param_source_read(&src, bytes, src.n_bytes, 0, NULL), CUZK_OK);
        param_source_close(&src);
        const bool equal = memcmp(bytes, f->good, f->layout.file_bytes) == 0;
        free(bytes);
        assert_int_equal(equal, i == 0);
        expect(f, CUZK_OK, "");
    }
    const struct setup_options again = {.seeded = true, .seed = 3, .pool = f->pool};
    assert_int_equal(setup_write(f->params, f->vk, f->r1cs, &again, NULL), CUZK_OK);
}

static void unwritable_outputs_leave_nothing(void **state) {
    const struct param_fixture *f = *state;
    const struct setup_options options = {.seeded = true, .pool = f->pool};
    char path[160];
    struct cuzk_error err;
    snprintf(path, sizeof path, "%s/a.dev.params", f->folder);
    assert_int_equal(setup_write("/nonexistent/a.dev.params", f->vk, f->r1cs, &options, &err),
                     CUZK_FILE_WRITE);
    assert_int_equal(setup_write(path, "/nonexistent/a.dev.vk", f->r1cs, &options, &err),
                     CUZK_FILE_WRITE);
    const atomic_bool cancel = true;
    const struct progress progress = {.cancel = &cancel};
    const struct setup_options cancelled = {.seeded = true, .progress = &progress};
    assert_int_equal(setup_write(path, f->vk, f->r1cs, &cancelled, &err), CUZK_CANCELLED);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(mem_in_use(MEM_OTHER), 0);
    /* The fixture's teardown finds the folder without a temporary. */
}

/* ---- memory and cancelling ---- */

static void memory_is_as_planned(void **state) {
    const struct param_fixture *f = *state;
    const size_t page = 4096, huge_page = (size_t)2 << 20;
    struct peak_watch watch;
    peak_watch_init(&watch);
    const size_t before = mem_in_use_total(), srs_before = mem_in_use(MEM_SRS);
    const struct setup_options setup = {
        .seeded = true, .seed = 3, .pool = f->pool, .progress = &watch.progress};
    assert_int_equal(setup_write(f->params, f->vk, f->r1cs, &setup, NULL), CUZK_OK);
    assert_int_equal(mem_in_use_total(), before);
    const size_t plan = setup_bytes(&f->stats, pool_threads(f->pool));
    assert_in_range(watch.total - before, plan, plan + 3 * huge_page); /* in three blocks */
    const struct srs_options options = {.circuit = &f->stats, .ignore_stamp = true};
    struct srs *srs;
    assert_int_equal(srs_load(&srs, f->params, &options, NULL), CUZK_OK);
    const size_t points = srs_bytes(&f->layout);
    assert_in_range(mem_in_use(MEM_SRS) - srs_before, points, points + 3 * page);
    srs_destroy(srs);
    assert_int_equal(mem_in_use_total(), before);
}

static void loading_can_be_cancelled_anywhere(void **state) {
    const struct param_fixture *f = *state;
    write_whole(f->params, f->good, f->layout.file_bytes);
    unlink(f->stamp);
    const size_t before = mem_in_use_total();
    struct cancel_after watch;
    const struct srs_options options = {.pool = f->pool, .progress = &watch.progress};
    atomic_bool at_once = true;
    const struct progress cancelled = {.cancel = &at_once};
    const struct srs_options none = {.progress = &cancelled};
    struct srs *srs;
    assert_int_equal(srs_load(&srs, f->params, &none, NULL), CUZK_CANCELLED);
    assert_null(srs);
    /* After the digest's only report; the points' is the last. */
    cancel_after_init(&watch, 0);
    assert_int_equal(srs_load(&srs, f->params, &options, NULL), CUZK_CANCELLED);
    assert_null(srs);
    assert_int_equal(mem_in_use_total(), before);
    assert_int_not_equal(access(f->stamp, F_OK), 0);
    cancel_after_init(&watch, 100);
    assert_int_equal(srs_load(&srs, f->params, &options, NULL), CUZK_OK);
    srs_destroy(srs);
}

static int group_setup(void **state) {
    static struct param_fixture f;
    param_fixture_init(&f, 24);
    *state = &f;
    return 0;
}

static int group_teardown(void **state) {
    param_fixture_deinit(*state);
    assert_int_equal(mem_in_use_total(), 0);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_files_load),
        cmocka_unit_test(known_layouts_have_known_sizes),
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(cut_files_are_measured),
        cmocka_unit_test(pages_and_zeros_are_recognised),
        cmocka_unit_test(impossible_counts_are_refused),
        cmocka_unit_test(other_circuits_are_told),
        cmocka_unit_test(damaged_points_are_located),
        cmocka_unit_test(damaged_fixed_points_are_named),
        cmocka_unit_test(verifying_keys_are_checked),
        cmocka_unit_test(stamps_spare_the_second_check),
        cmocka_unit_test(set_up_leaves_a_stamp),
        cmocka_unit_test(doubtful_stamps_are_ignored),
        cmocka_unit_test(the_digest_is_blake2b),
        cmocka_unit_test(digests_tell_damaged_from_swapped),
        cmocka_unit_test(network_names_demand_the_network_digest),
        cmocka_unit_test(files_are_found_by_name),
        cmocka_unit_test(seeds_decide_the_files),
        cmocka_unit_test(unwritable_outputs_leave_nothing),
        cmocka_unit_test(memory_is_as_planned),
        cmocka_unit_test(loading_can_be_cancelled_anywhere),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
