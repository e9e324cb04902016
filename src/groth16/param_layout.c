#include "param_layout.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "g1.h"
#include "groth16_common.h"
#include "ntt.h"

static const char fetch_again[] = "fetch or make the file again";

/* Bytes looked at to recognise what is no parameter file at all. */
enum { HEAD_BYTES = 4096 };

const char *param_section_name(enum param_section section) {
    static const char *const names[PARAM_SECTIONS] = {"ic", "h", "l", "a", "b_g1", "b_g2"};
    return names[section];
}

unsigned param_point_bytes(enum param_section section) {
    return section == SECTION_B_G2 ? G2_BYTES : G1_BYTES;
}

static uint64_t section_bytes(const struct param_layout *layout, enum param_section section) {
    return (uint64_t)layout->count[section] * param_point_bytes(section);
}

void param_layout_place(struct param_layout *layout) {
    uint64_t at = VKEY_FIXED_BYTES;
    for (int s = 0; s < PARAM_SECTIONS; s++) {
        layout->offset[s] = at + 4;
        at = layout->offset[s] + section_bytes(layout, (enum param_section)s);
        if (s == SECTION_IC) layout->vkey_bytes = at;
    }
    layout->file_bytes = at;
}

void param_layout_of_circuit(struct param_layout *out, const struct r1cs_stats *circuit) {
    const uint32_t n_b = circuit->b_input_density + circuit->b_aux_density;
    *out = (struct param_layout){
        .count = {[SECTION_IC] = circuit->n_inputs,
                  [SECTION_H] = (uint32_t)(((uint64_t)1 << ntt_log2_ceil(circuit->n_rows)) - 1),
                  [SECTION_L] = circuit->n_aux,
                  [SECTION_A] = circuit->n_inputs + circuit->a_aux_density,
                  [SECTION_B_G1] = n_b,
                  [SECTION_B_G2] = n_b},
    };
    param_layout_place(out);
}

/*
 * A parameter file begins with an x coordinate below p, so its first byte is at most 0x1a: neither
 * `<` nor `{`; and no point is all zeros.
 */
static cuzk_status check_head(const struct param_source *src, struct cuzk_error *err) {
    uint8_t head[HEAD_BYTES];
    const size_t n = src->n_bytes < HEAD_BYTES ? (size_t)src->n_bytes : HEAD_BYTES;
    if (n == 0)
        return error_set(err, CUZK_PARAM_TRUNC, src->name, fetch_again, "the file is empty");
    CUZK_TRY(param_source_read(src, head, n, 0, err));
    if (head[0] == '<' || head[0] == '{')
        return error_set(err, CUZK_PARAM_HTML, src->name, fetch_again,
                         "it begins with `%c`: a page or an error message was saved under its name",
                         head[0]);
    if (all_zero(head, n))
        return error_set(err, CUZK_PARAM_ZERO, src->name, fetch_again,
                         "the first %zu bytes are zeros", n);
    return CUZK_OK;
}

static cuzk_status wrong_size(const struct param_source *src, uint64_t expected, bool exact,
                              struct cuzk_error *err) {
    if (src->n_bytes > expected)
        return error_set(err, CUZK_PARAM_TRUNC, src->name, "is it the right file? fetch it again",
                         "%" PRIu64 " bytes, %" PRIu64 " more than its header gives", src->n_bytes,
                         src->n_bytes - expected);
    return error_set(err, CUZK_PARAM_TRUNC, src->name, fetch_again,
                     "%" PRIu64 " of %s%" PRIu64 " bytes (%.1f %%)", src->n_bytes,
                     exact ? "" : "at least ", expected,
                     100.0 * (double)src->n_bytes / (double)expected);
}

/* Is there a count of zero after a point of zeros? Then the file was never filled in that far. */
static bool never_filled_in(const struct param_source *src, uint32_t count, uint64_t at) {
    uint8_t before[G1_BYTES];
    return count == 0 &&
           param_source_read(src, before, sizeof before, at - sizeof before, NULL) == CUZK_OK &&
           all_zero(before, sizeof before);
}

/* Could some constraint system have this count, the ones before being given? */
static bool count_makes_sense(const struct param_layout *l, enum param_section section) {
    const uint64_t n = l->count[section];
    const uint64_t n_variables = (uint64_t)l->count[SECTION_IC] + l->count[SECTION_L];
    switch (section) {
    case SECTION_IC:
        return n >= 1;
    case SECTION_H: /* a power of two less one; every input has a row */
        return ((n + 1) & n) == 0 && n + 1 >= l->count[SECTION_IC] && n < UINT32_MAX;
    case SECTION_L:
        return true;
    case SECTION_A: /* every input is in A, by its row at the end */
        return n >= l->count[SECTION_IC] && n <= n_variables;
    case SECTION_B_G1:
        return n <= n_variables;
    default:
        return n == l->count[SECTION_B_G1];
    }
}

static cuzk_status read_count(struct param_layout *layout, enum param_section section, uint64_t at,
                              const struct param_source *src, const struct param_layout *expected,
                              struct cuzk_error *err) {
    if (src->n_bytes < at + 4)
        return expected != NULL ? wrong_size(src, expected->file_bytes, true, err)
                                : wrong_size(src, at + 4, false, err);
    uint8_t raw[4];
    CUZK_TRY(param_source_read(src, raw, sizeof raw, at, err));
    const uint32_t count =
        (uint32_t)raw[0] << 24 | (uint32_t)raw[1] << 16 | (uint32_t)raw[2] << 8 | raw[3];
    layout->count[section] = count;
    const bool sensible = count_makes_sense(layout, section);
    if (sensible && (expected == NULL || count == expected->count[section])) return CUZK_OK;
    const char *name = param_section_name(section);
    if (never_filled_in(src, count, at))
        return error_set(err, CUZK_PARAM_ZERO, src->name, fetch_again,
                         "only zeros before byte %" PRIu64 ", where the count of %s is", at, name);
    if (!sensible)
        return error_set(err, CUZK_PARAM_HEADER, src->name, fetch_again,
                         "%" PRIu32 " points in section %s, at byte %" PRIu64, count, name, at);
    return error_set(err, CUZK_PARAM_CIRCUIT, src->name, "name the file of this circuit",
                     "%" PRIu32 " points in section %s, the circuit has %" PRIu32, count, name,
                     expected->count[section]);
}

static cuzk_status layout_read(struct param_layout *out, const struct param_source *src,
                               const struct param_layout *expected, int n_sections,
                               struct cuzk_error *err) {
    *out = (struct param_layout){0};
    CUZK_TRY(check_head(src, err));
    for (int s = 0; s < n_sections; s++) {
        /* The end of the sections so far: those not read yet count as empty, each with its count.
         */
        param_layout_place(out);
        const uint64_t at = out->offset[s] - 4;
        CUZK_TRY(read_count(out, (enum param_section)s, at, src, expected, err));
    }
    param_layout_place(out);
    const uint64_t bytes = n_sections == PARAM_SECTIONS ? out->file_bytes : out->vkey_bytes;
    return src->n_bytes == bytes ? CUZK_OK : wrong_size(src, bytes, true, err);
}

cuzk_status param_layout_read(struct param_layout *out, const struct param_source *src,
                              const struct r1cs_stats *circuit, struct cuzk_error *err) {
    struct param_layout expected;
    if (circuit != NULL) param_layout_of_circuit(&expected, circuit);
    return layout_read(out, src, circuit != NULL ? &expected : NULL, PARAM_SECTIONS, err);
}

cuzk_status vkey_layout_read(struct param_layout *out, const struct param_source *src,
                             uint32_t n_inputs, struct cuzk_error *err) {
    struct param_layout expected = {.count = {[SECTION_IC] = n_inputs}};
    param_layout_place(&expected);
    expected.file_bytes = expected.vkey_bytes;
    return layout_read(out, src, n_inputs != 0 ? &expected : NULL, 1, err);
}
