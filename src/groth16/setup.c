#include "setup.h"

#include <assert.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "file.h"
#include "groth16_common.h"
#include "msm.h"
#include "ntt.h"
#include "param_layout.h"
#include "param_names.h"
#include "param_stamp.h"
#include "setup_scalars.h"
#include "vkey.h"

/* Points made, encoded and written at a time; the file never is in memory as a whole. */
enum { SLICE = 1 << 17, ENCODE_CHUNK = 1 << 12 };

/*
 * One run. Scalars of a section come from `next`, which fills slice after slice; the points are
 * multiples of the standard generators by fixed-base tables.
 */
struct setup {
    const struct setup_options *options;
    struct r1cs_stats stats;
    struct param_layout layout;
    struct setup_secrets secrets;
    struct setup_columns columns;
    fr gamma_inv, delta_inv;
    uint64_t done, total; /* points */
    unsigned threads;
    void *table_g1, *table_g2, *fixed_scratch;
    fr_words *scalars;
    void *points;     /* affine, G1 or G2 */
    uint8_t *encoded; /* SLICE points of G2 */
    struct mem_block table_block, work_block;
};

/* Where a section's scalars are taken from. */
struct section_walk {
    enum param_section section;
    size_t variable; /* next variable to look at (all sections but h) */
    fr h_power;      /* next tau^i Z(tau) / delta */
};

/* Everything of a proof's l or ic query: (beta u + alpha v + w) / delta or gamma. */
static void combined(fr *out, const struct setup *s, size_t i, const fr *divisor_inv) {
    fr t, sum;
    fr_mul(&sum, &s->secrets.beta, &s->columns.u[i]);
    fr_mul(&t, &s->secrets.alpha, &s->columns.v[i]);
    fr_add(&sum, &sum, &t);
    fr_add(&sum, &sum, &s->columns.w[i]);
    fr_mul(out, &sum, divisor_inv);
}

/*
 * The scalar of the next point of the section, or false at its end. Variables that are zero in A
 * (or B) have no point in a (b_g1, b_g2); ic and l have one for every variable.
 */
static bool next_scalar(fr *out, struct section_walk *walk, const struct setup *s) {
    const size_t n = walk->section == SECTION_IC ? s->columns.n_inputs : s->columns.n_variables;
    if (walk->section == SECTION_H) {
        *out = walk->h_power;
        fr_mul(&walk->h_power, &walk->h_power, &s->secrets.tau);
        return true;
    }
    if (walk->section == SECTION_IC || walk->section == SECTION_L) {
        if (walk->variable >= n) return false;
        const fr *inv = walk->section == SECTION_IC ? &s->gamma_inv : &s->delta_inv;
        combined(out, s, walk->variable++, inv);
        return true;
    }
    const fr *column = walk->section == SECTION_A ? s->columns.u : s->columns.v;
    while (walk->variable < n && fr_is_zero(&column[walk->variable]))
        walk->variable++;
    if (walk->variable >= n) return false;
    *out = column[walk->variable++];
    return true;
}

static struct section_walk section_begin(const struct setup *s, enum param_section section) {
    struct section_walk walk = {.section = section};
    if (section == SECTION_L) walk.variable = s->columns.n_inputs;
    if (section == SECTION_H) {
        setup_vanishing(&walk.h_power, &s->secrets.tau, ntt_log2_ceil(s->stats.n_rows));
        fr_mul(&walk.h_power, &walk.h_power, &s->delta_inv);
    }
    return walk;
}

/* ---- writing ---- */

struct encoding {
    const struct setup *setup;
    enum param_section section;
    size_t n;
};

static void encode_task(void *ctx, size_t task, unsigned worker) {
    const struct encoding *e = ctx;
    (void)worker;
    const size_t end = (task + 1) * ENCODE_CHUNK < e->n ? (task + 1) * ENCODE_CHUNK : e->n;
    for (size_t i = task * ENCODE_CHUNK; i < end; i++) {
        if (e->section == SECTION_B_G2)
            g2_encode(e->setup->encoded + i * G2_BYTES, (const g2_affine *)e->setup->points + i);
        else
            g1_encode(e->setup->encoded + i * G1_BYTES, (const g1_affine *)e->setup->points + i);
    }
}

static void write_count(FILE *f, uint32_t n) {
    const uint8_t raw[4] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
    fwrite(raw, 1, sizeof raw, f);
}

/* Multiplies, encodes and writes the slice's n scalars. */
static void write_slice(const struct setup *s, enum param_section section, size_t n, FILE *f,
                        FILE *copy) {
    struct pool *pool = s->options->pool;
    if (section == SECTION_B_G2)
        fixed_base_mul_g2(s->points, s->table_g2, s->scalars, n, s->fixed_scratch, s->threads,
                          pool);
    else
        fixed_base_mul_g1(s->points, s->table_g1, s->scalars, n, s->fixed_scratch, s->threads,
                          pool);
    struct encoding e = {.setup = s, .section = section, .n = n};
    pool_run(pool, (n + ENCODE_CHUNK - 1) / ENCODE_CHUNK, encode_task, &e);
    fwrite(s->encoded, param_point_bytes(section), n, f);
    if (copy != NULL) fwrite(s->encoded, param_point_bytes(section), n, copy);
}

/* Fills scalars[0 .. n) with the section's next ones. */
static cuzk_status fill_slice(struct setup *s, struct section_walk *walk, size_t n,
                              struct cuzk_error *err) {
    for (size_t i = 0; i < n; i++) {
        fr scalar;
        const bool more = next_scalar(&scalar, walk, s);
        if (!more || fr_is_zero(&scalar))
            return error_set(err, CUZK_INTERNAL, param_section_name(walk->section), "report this",
                             "variable %zu of %zu has no point: its columns are zero at tau",
                             walk->variable, s->columns.n_variables);
        fr_to_words(&s->scalars[i], &scalar);
    }
    return CUZK_OK;
}

static cuzk_status write_section(struct setup *s, enum param_section section, FILE *f, FILE *copy,
                                 struct cuzk_error *err) {
    const size_t n = s->layout.count[section];
    struct section_walk walk = section_begin(s, section);
    for (size_t at = 0; at < n; at += SLICE) {
        if (progress_cancelled(s->options->progress))
            return error_set(err, CUZK_CANCELLED, NULL, NULL, "the set-up was cancelled");
        const size_t slice = n - at < SLICE ? n - at : SLICE;
        CUZK_TRY(fill_slice(s, &walk, slice, err));
        write_slice(s, section, slice, f, copy);
        if (ferror(f) || (copy != NULL && ferror(copy)))
            return error_set(err, CUZK_FILE_WRITE, param_section_name(section),
                             "check the free space", "the section could not be written");
        s->done += slice;
        progress_report(s->options->progress, "parameters", s->done, s->total);
    }
    return CUZK_OK;
}

static void multiple_g1(g1_affine *out, const fr *k) {
    g1 p;
    g1_from_affine(&p, &g1_generator);
    g1_mul(&p, &p, k);
    g1_to_affine(out, &p);
}

static void multiple_g2(g2_affine *out, const fr *k) {
    g2 p;
    g2_from_affine(&p, &g2_generator);
    g2_mul(&p, &p, k);
    g2_to_affine(out, &p);
}

/* The first line of both files, then the rest of the parameters. */
static cuzk_status write_sections(struct setup *s, FILE *params, FILE *vk, struct cuzk_error *err) {
    struct vkey key = {.n_ic = s->stats.n_inputs};
    multiple_g1(&key.alpha_g1, &s->secrets.alpha);
    multiple_g1(&key.beta_g1, &s->secrets.beta);
    multiple_g2(&key.beta_g2, &s->secrets.beta);
    multiple_g2(&key.gamma_g2, &s->secrets.gamma);
    multiple_g1(&key.delta_g1, &s->secrets.delta);
    multiple_g2(&key.delta_g2, &s->secrets.delta);
    uint8_t head[VKEY_FIXED_BYTES + 4];
    vkey_encode_head(head, &key);
    fwrite(head, 1, sizeof head, params);
    fwrite(head, 1, sizeof head, vk);
    CUZK_TRY(write_section(s, SECTION_IC, params, vk, err));
    for (int section = SECTION_H; section < PARAM_SECTIONS; section++) {
        write_count(params, s->layout.count[section]);
        CUZK_TRY(write_section(s, (enum param_section)section, params, NULL, err));
    }
    return CUZK_OK;
}

/* ---- memory ---- */

struct work_sizes {
    size_t fixed_scratch, scalars, points, encoded;
};

static struct work_sizes work_sizes(unsigned threads) {
    return (struct work_sizes){
        .fixed_scratch = align64(fixed_base_scratch_bytes(threads)),
        .scalars = SLICE * sizeof(fr_words),
        .points = SLICE * sizeof(g2_affine),
        .encoded = SLICE * (size_t)G2_BYTES,
    };
}

static size_t work_bytes(unsigned threads) {
    const struct work_sizes z = work_sizes(threads);
    return z.fixed_scratch + z.scalars + z.points + z.encoded;
}

static size_t table_bytes(void) {
    return align64(fixed_base_table_bytes_g1()) + align64(fixed_base_table_bytes_g2());
}

size_t setup_bytes(const struct r1cs_stats *stats, unsigned threads) {
    const unsigned log_n = ntt_log2_ceil(stats->n_rows);
    const size_t lagrange = sizeof(fr) << log_n;
    const size_t columns = 3 * sizeof(fr) * ((size_t)stats->n_inputs + stats->n_aux);
    const size_t walk = columns > ntt_plan_bytes(log_n) ? columns : ntt_plan_bytes(log_n);
    const size_t making = columns + table_bytes() + work_bytes(threads > 0 ? threads : 1);
    return lagrange + walk > making ? lagrange + walk : making;
}

static cuzk_status take_work(struct setup *s, struct cuzk_error *err) {
    CUZK_TRY(mem_take(&s->table_block, table_bytes(), MEM_OTHER, err));
    CUZK_TRY(mem_take(&s->work_block, work_bytes(s->threads), MEM_OTHER, err));
    const struct work_sizes z = work_sizes(s->threads);
    uint8_t *at = s->work_block.ptr;
    s->fixed_scratch = at;
    s->scalars = (fr_words *)(at += z.fixed_scratch);
    s->points = at += z.scalars;
    s->encoded = at + z.points;
    s->table_g1 = s->table_block.ptr;
    s->table_g2 = (uint8_t *)s->table_block.ptr + align64(fixed_base_table_bytes_g1());
    fixed_base_table_init_g1(s->table_g1, &g1_generator, s->options->pool);
    fixed_base_table_init_g2(s->table_g2, &g2_generator, s->options->pool);
    return CUZK_OK;
}

/* Both files are opened before anything is computed: a folder that cannot be written to is found
 * out at once. */
static cuzk_status write_files(struct setup *s, const char *params_path, const char *vk_path,
                               struct r1cs *r1cs, struct cuzk_error *err) {
    struct out_file params, vk = {0};
    CUZK_TRY(file_begin(&params, params_path, err));
    cuzk_status status = file_begin(&vk, vk_path, err);
    if (status == CUZK_OK)
        status = setup_columns_make(&s->columns, r1cs, &s->stats, &s->secrets.tau, s->options->pool,
                                    err);
    if (status == CUZK_OK) status = take_work(s, err);
    if (status == CUZK_OK) status = write_sections(s, params.stream, vk.stream, err);
    if (status == CUZK_OK) status = file_commit(&params, err);
    if (status == CUZK_OK) {
        status = file_commit(&vk, err);
        if (status != CUZK_OK) remove(params_path); /* never one without the other */
    }
    file_abandon(&params);
    file_abandon(&vk);
    return status;
}

/* The points are multiples of generators, which is what the group check would find out. */
static void write_stamp(const char *params_path, const struct setup_options *options) {
    struct param_source src;
    if (param_source_open(&src, params_path, NULL) != CUZK_OK) return;
    struct param_stamp stamp = {.identity = src.identity};
    if (param_digest(stamp.digest, &src, options->progress, NULL) == CUZK_OK)
        param_stamp_write(params_path, &stamp);
    param_source_close(&src);
}

cuzk_status setup_write(const char *params_path, const char *vk_path, struct r1cs *r1cs,
                        const struct setup_options *options, struct cuzk_error *err) {
    const char *const path[] = {params_path, vk_path};
    for (int i = 0; i < 2; i++)
        if (network_file_by_path(path[i]) != NULL)
            return error_set(err, CUZK_USAGE, path[i], "choose another name",
                             "development parameters must not carry a network name");
    struct setup s = {.options = options, .threads = pool_threads(options->pool)};
    CUZK_TRY(sodium_ready(err));
    CUZK_TRY(r1cs_get_stats(r1cs, &s.stats, options->pool, err));
    param_layout_of_circuit(&s.layout, &s.stats);
    for (int section = 0; section < PARAM_SECTIONS; section++)
        s.total += s.layout.count[section];
    setup_secrets_draw(&s.secrets, options, ntt_log2_ceil(s.stats.n_rows));
    fr_inv_var(&s.gamma_inv, &s.secrets.gamma);
    fr_inv_var(&s.delta_inv, &s.secrets.delta);
    progress_report(options->progress, "parameters", 0, s.total);
    const cuzk_status status = write_files(&s, params_path, vk_path, r1cs, err);
    if (s.work_block.ptr != NULL) sodium_memzero(s.work_block.ptr, s.work_block.bytes);
    mem_give(&s.work_block);
    mem_give(&s.table_block);
    setup_columns_destroy(&s.columns);
    sodium_memzero(&s, sizeof s);
    if (status == CUZK_OK) write_stamp(params_path, options);
    return status;
}
