#include "srs.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "groth16_common.h"
#include "param_stamp.h"
#include "subgroup.h"

static const char fetch_again[] = "fetch or make the file again";

/* Points read and decoded in one task: up to 384 KiB of file, one buffer for each thread. */
enum { SLICE = 2048, SLICE_BYTES = SLICE * G2_BYTES };

/* Points in the sections before `end`, from h on. */
static size_t points_before(const struct param_layout *layout, enum param_section end) {
    size_t n = 0;
    for (int s = SECTION_H; s < (int)end; s++)
        n += layout->count[s];
    return n;
}

static size_t g1_bytes(const struct param_layout *layout) {
    return points_before(layout, SECTION_B_G2) * sizeof(g1_affine);
}

static size_t g2_bytes(const struct param_layout *layout) {
    return (size_t)layout->count[SECTION_B_G2] * sizeof(g2_affine);
}

size_t srs_bytes(const struct param_layout *layout) {
    return g1_bytes(layout) + g2_bytes(layout) + layout->count[SECTION_IC] * sizeof(g1_affine);
}

/* ---- reading and decoding ---- */

/* Faults beside those of enum point_fault. */
enum { FAULT_INFINITY = 64, FAULT_ZERO, FAULT_READ };

/* The first fault by section, then index; packed, so that threads agree by compare and exchange. */
static uint64_t fault_pack(enum param_section section, uint64_t index, unsigned fault) {
    return (uint64_t)section << 48 | index << 8 | fault;
}

static const uint64_t no_fault = UINT64_MAX;

struct decoding {
    const struct param_source *src;
    const struct param_layout *layout;
    g1_affine *g1;
    g2_affine *g2;
    uint8_t *buffers;                  /* SLICE_BYTES for each thread */
    bool known;                        /* a stamp says that the points are on the curve */
    size_t first_task[PARAM_SECTIONS]; /* of the section; tasks run through the sections */
    _Atomic uint64_t fault;
};

static void note_fault(struct decoding *d, uint64_t fault) {
    uint64_t seen = atomic_load(&d->fault);
    while (fault < seen && !atomic_compare_exchange_weak(&d->fault, &seen, fault)) {
    }
}

static unsigned decode_point(struct decoding *d, enum param_section section, size_t index,
                             const uint8_t *raw) {
    enum point_fault fault;
    bool infinity;
    if (section == SECTION_B_G2) {
        fault = (d->known ? g2_decode_known : g2_decode)(&d->g2[index], raw);
        infinity = fault == POINT_GOOD && g2_affine_is_infinity(&d->g2[index]);
    } else {
        g1_affine *out = &d->g1[points_before(d->layout, section) + index];
        fault = (d->known ? g1_decode_known : g1_decode)(out, raw);
        infinity = fault == POINT_GOOD && g1_affine_is_infinity(out);
    }
    if (infinity) return FAULT_INFINITY;
    if (fault != POINT_GOOD && all_zero(raw, param_point_bytes(section))) return FAULT_ZERO;
    return fault;
}

static void decode_task(void *ctx, size_t task, unsigned worker) {
    struct decoding *d = ctx;
    int s = SECTION_B_G2;
    while (task < d->first_task[s])
        s--;
    const enum param_section section = (enum param_section)s;
    const size_t first = (task - d->first_task[section]) * SLICE;
    if (atomic_load(&d->fault) < fault_pack(section, first, 0)) return;
    const size_t left = d->layout->count[section] - first;
    const size_t n = left < SLICE ? left : SLICE;
    const unsigned bytes = param_point_bytes(section);
    uint8_t *raw = d->buffers + (size_t)worker * SLICE_BYTES;
    if (param_source_read(d->src, raw, n * bytes,
                          d->layout->offset[section] + (uint64_t)first * bytes, NULL) != CUZK_OK) {
        note_fault(d, fault_pack(section, first, FAULT_READ));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const unsigned fault = decode_point(d, section, first + i, raw + i * bytes);
        if (fault != POINT_GOOD) {
            note_fault(d, fault_pack(section, first + i, fault));
            return;
        }
    }
}

static cuzk_status fault_error(const struct param_source *src, uint64_t packed,
                               struct cuzk_error *err) {
    const char *section = param_section_name((enum param_section)(packed >> 48));
    const uint64_t index = packed >> 8 & 0xffffffffff;
    const unsigned fault = packed & 0xff;
    switch (fault) {
    case FAULT_READ:
        return error_set(err, CUZK_FILE_READ, src->name, "check the disk",
                         "section %s could not be read from point %" PRIu64 " on", section, index);
    case FAULT_ZERO:
        return error_set(err, CUZK_PARAM_ZERO, src->name, fetch_again,
                         "%s[%" PRIu64 "] is all zeros", section, index);
    case FAULT_INFINITY:
        return error_set(err, CUZK_PARAM_POINT, src->name, fetch_again,
                         "%s[%" PRIu64 "]: the point at infinity", section, index);
    case POINT_NOT_IN_GROUP:
        return error_set(err, CUZK_PARAM_SUBGROUP, src->name, fetch_again, "%s[%" PRIu64 "]: %s",
                         section, index, point_fault_text(POINT_NOT_IN_GROUP));
    default:
        return error_set(err, CUZK_PARAM_POINT, src->name, fetch_again, "%s[%" PRIu64 "]: %s",
                         section, index, point_fault_text((enum point_fault)fault));
    }
}

/* Tasks in one step, between two looks at the cancel flag. */
enum { STEP = 512 };

struct step {
    struct decoding *decoding;
    size_t first;
};

static void step_task(void *ctx, size_t task, unsigned worker) {
    const struct step *step = ctx;
    decode_task(step->decoding, step->first + task, worker);
}

static cuzk_status decode_all(struct decoding *d, const struct srs_options *options,
                              struct cuzk_error *err) {
    size_t n_tasks = 0;
    for (int s = SECTION_H; s < PARAM_SECTIONS; s++) {
        d->first_task[s] = n_tasks;
        n_tasks += (d->layout->count[s] + (size_t)SLICE - 1) / SLICE;
    }
    for (size_t at = 0; at < n_tasks; at += STEP) {
        if (progress_cancelled(options->progress))
            return error_set(err, CUZK_CANCELLED, d->src->name, NULL, "the loading was cancelled");
        struct step step = {.decoding = d, .first = at};
        pool_run(options->pool, n_tasks - at < STEP ? n_tasks - at : STEP, step_task, &step);
        if (atomic_load(&d->fault) != no_fault) return fault_error(d->src, d->fault, err);
        progress_report(options->progress, "parameters", at + STEP < n_tasks ? at + STEP : n_tasks,
                        n_tasks);
    }
    return CUZK_OK;
}

static cuzk_status read_points(struct srs *srs, const struct param_source *src,
                               const struct srs_options *options, struct cuzk_error *err) {
    const struct param_layout *layout = &srs->layout;
    CUZK_TRY(mem_take(&srs->g1_block, g1_bytes(layout), MEM_SRS, err));
    CUZK_TRY(mem_take(&srs->g2_block, g2_bytes(layout), MEM_SRS, err));
    struct mem_block buffers;
    CUZK_TRY(mem_take(&buffers, (size_t)pool_threads(options->pool) * SLICE_BYTES, MEM_OTHER, err));
    struct decoding d = {.src = src,
                         .layout = layout,
                         .g1 = srs->g1_block.ptr,
                         .g2 = srs->g2_block.ptr,
                         .buffers = buffers.ptr,
                         .known = srs->stamped,
                         .fault = no_fault};
    const cuzk_status s = decode_all(&d, options, err);
    mem_give(&buffers);
    srs->h = d.g1;
    srs->l = d.g1 + points_before(layout, SECTION_L);
    srs->a = d.g1 + points_before(layout, SECTION_A);
    srs->b_g1 = d.g1 + points_before(layout, SECTION_B_G1);
    srs->b_g2 = d.g2;
    return s;
}

/* ---- checks ---- */

static cuzk_status check_group(const struct srs *srs, const struct param_source *src,
                               const struct srs_options *options, struct cuzk_error *err) {
    size_t bad;
    CUZK_TRY(subgroup_check_g1(&bad, srs->h, points_before(&srs->layout, SECTION_B_G2),
                               options->pool, options->progress, err));
    if (bad != SUBGROUP_ALL_GOOD) {
        int s = SECTION_B_G1;
        while (bad < points_before(&srs->layout, (enum param_section)s))
            s--;
        const size_t index = bad - points_before(&srs->layout, (enum param_section)s);
        return fault_error(src, fault_pack((enum param_section)s, index, POINT_NOT_IN_GROUP), err);
    }
    CUZK_TRY(subgroup_check_g2(&bad, srs->b_g2, srs->layout.count[SECTION_B_G2], options->pool,
                               options->progress, err));
    return bad == SUBGROUP_ALL_GOOD
               ? CUZK_OK
               : fault_error(src, fault_pack(SECTION_B_G2, bad, POINT_NOT_IN_GROUP), err);
}

/* The digest, from the stamp or the bytes, and what it says of a file with a network name. */
static cuzk_status check_digest(struct srs *srs, const struct param_source *src,
                                const struct srs_options *options, struct cuzk_error *err) {
    if (!srs->stamped) CUZK_TRY(param_digest(srs->digest, src, options->progress, err));
    const struct network_file *entry = network_file_by_path(src->name);
    if (entry == NULL) return CUZK_OK;
    srs->network = true;
    return param_digest_check(src->name, entry, srs->digest, err);
}

/* Writes a stamp if the file is still the one that was opened. */
static void stamp(struct srs *srs, const struct param_source *src) {
    struct param_stamp stamp = {.identity = src->identity};
    struct file_identity now;
    if (param_source_identity(src, &now, NULL) != CUZK_OK ||
        memcmp(&now, &src->identity, sizeof now) != 0)
        return;
    memcpy(stamp.digest, srs->digest, sizeof stamp.digest);
    srs->stamp_written = param_stamp_write(src->name, &stamp);
}

static cuzk_status load(struct srs *srs, const struct param_source *src,
                        const struct srs_options *options, struct cuzk_error *err) {
    const cuzk_status s = param_layout_read(&srs->layout, src, options->circuit, err);
    if (s == CUZK_PARAM_CIRCUIT) return param_explain_counts(src, options->progress, err);
    if (s != CUZK_OK) return s;
    const bool is_file = src->data == NULL;
    struct param_stamp found;
    if (is_file && !options->ignore_stamp && param_stamp_read(&found, src->name, &src->identity)) {
        srs->stamped = true;
        memcpy(srs->digest, found.digest, sizeof srs->digest);
    }
    if (is_file) CUZK_TRY(check_digest(srs, src, options, err));
    CUZK_TRY(vkey_read(&srs->vk, src, &srs->layout, err));
    CUZK_TRY(read_points(srs, src, options, err));
    if (srs->stamped) return CUZK_OK;
    CUZK_TRY(vkey_check_group(&srs->vk, src, options->pool, err));
    CUZK_TRY(check_group(srs, src, options, err));
    if (is_file && !options->ignore_stamp) stamp(srs, src);
    return CUZK_OK;
}

cuzk_status srs_load_source(struct srs **out, const struct param_source *src,
                            const struct srs_options *options, struct cuzk_error *err) {
    *out = NULL;
    struct srs *srs = calloc(1, sizeof *srs);
    if (srs == NULL)
        return error_set(err, CUZK_NO_MEMORY, src->name, NULL, "%zu bytes", sizeof *srs);
    const cuzk_status s = load(srs, src, options, err);
    if (s != CUZK_OK) {
        srs_destroy(srs);
        return s;
    }
    *out = srs;
    return CUZK_OK;
}

cuzk_status srs_load(struct srs **out, const char *path, const struct srs_options *options,
                     struct cuzk_error *err) {
    *out = NULL;
    struct param_source src;
    CUZK_TRY(param_source_open(&src, path, err));
    const cuzk_status s = srs_load_source(out, &src, options, err);
    param_source_close(&src);
    return s;
}

void srs_destroy(struct srs *srs) {
    if (srs == NULL) return;
    vkey_destroy(&srs->vk);
    mem_give(&srs->g1_block);
    mem_give(&srs->g2_block);
    free(srs);
}
