#include "r1cs_digest.h"

#include <stdlib.h>

#include "block_hash.h"
#include "row_bytes.h"
#include "row_walk.h"

/*
 * One task is one block of rows, one worker's buffer is streamed into its hash. The densities and
 * counts of non-zeros fall off on the way, so that whoever wants both walks the rows once.
 */
enum { BUFFER_BYTES = 128 << 10 };

struct worker {
    struct row_scratch scratch;
    struct sha256_ctx sha; /* impl NULL: nothing is hashed, only counted */
    uint64_t nnz[3];
    uint8_t *buffer, *at, *end;
    bool count;
    struct r1cs *r;
};

static void flush(struct worker *w) {
    sha256_update(&w->sha, w->buffer, (size_t)(w->at - w->buffer));
    w->at = w->buffer;
}

static void put_terms(struct worker *w, const struct row_terms *lc) {
    if (w->end - w->at < ROW_COUNT_BYTES) flush(w);
    w->at = row_put_count(w->at, lc->n);
    for (uint32_t t = 0; t < lc->n;) {
        const size_t room = (size_t)(w->end - w->at) / ROW_TERM_BYTES;
        const uint32_t n = lc->n - t < room ? lc->n - t : (uint32_t)room;
        uint8_t *at = w->at;
        for (const uint32_t stop = t + n; t < stop; t++)
            at = row_put_term(at, (var){lc->terms[t].id}, lc->terms[t].c->bytes);
        w->at = at;
        if (t < lc->n) flush(w);
    }
}

/* Planes are shared by the workers; most bits are set long before they are set again. */
static inline void mark(uint64_t *plane, uint32_t index) {
    const uint64_t bit = UINT64_C(1) << index % 64;
    if ((__atomic_load_n(&plane[index / 64], __ATOMIC_RELAXED) & bit) == 0)
        __atomic_fetch_or(&plane[index / 64], bit, __ATOMIC_RELAXED);
}

static void count_terms(struct worker *w, const struct row_terms abc[3]) {
    const struct r1cs *r = w->r;
    for (int m = 0; m < 3; m++)
        w->nnz[m] += abc[m].n;
    for (uint32_t t = 0; t < abc[0].n; t++) {
        const var v = {abc[0].terms[t].id};
        if (var_kind_of(v) == VAR_AUX) mark(r->a_aux, var_index(v));
    }
    for (uint32_t t = 0; t < abc[1].n; t++) {
        const var v = {abc[1].terms[t].id};
        mark(var_kind_of(v) == VAR_AUX ? r->b_aux : r->b_input, var_index(v));
    }
}

static void digest_row(void *ctx, uint64_t row, const struct row_terms abc[3]) {
    struct worker *w = ctx;
    (void)row;
    if (w->count) count_terms(w, abc);
    if (w->buffer == NULL) return;
    for (int m = 0; m < 3; m++)
        put_terms(w, &abc[m]);
}

struct digest_job {
    struct r1cs *r;
    struct worker *workers;
    unsigned n_workers;
    struct block_digests *blocks; /* NULL: only counts */
    size_t first_block;
    const struct progress *progress;
};

static void digest_block(void *ctx, size_t task, unsigned worker) {
    const struct digest_job *job = ctx;
    struct worker *w = &job->workers[worker];
    const size_t block = job->first_block + task;
    const uint64_t first = (uint64_t)block * DIGEST_BLOCK_ROWS;
    const uint64_t left = r1cs_root(job->r)->n_rows - first;
    if (progress_cancelled(job->progress)) return;
    if (job->blocks != NULL) sha256_init(&w->sha);
    rows_visit(job->r, first, left < DIGEST_BLOCK_ROWS ? left : DIGEST_BLOCK_ROWS, &w->scratch,
               digest_row, w);
    if (job->blocks == NULL) return;
    flush(w);
    sha256_final(&w->sha, job->blocks->digest[block]);
}

static void free_workers(struct digest_job *job) {
    for (unsigned i = 0; job->workers != NULL && i < job->n_workers; i++) {
        row_scratch_destroy(&job->workers[i].scratch);
        sha256_deinit(&job->workers[i].sha);
        free(job->workers[i].buffer);
    }
    free(job->workers);
    job->workers = NULL;
}

static cuzk_status make_workers(struct digest_job *job, bool count, struct cuzk_error *err) {
    job->workers = calloc(job->n_workers, sizeof *job->workers);
    bool ok = job->workers != NULL;
    for (unsigned i = 0; ok && i < job->n_workers; i++) {
        struct worker *w = &job->workers[i];
        *w = (struct worker){.r = job->r, .count = count};
        CUZK_TRY(row_scratch_create(&w->scratch, job->r, err));
        if (job->blocks == NULL) continue;
        w->buffer = w->at = malloc(BUFFER_BYTES);
        ok = w->buffer != NULL;
        if (ok) w->end = w->buffer + BUFFER_BYTES;
    }
    if (ok) return CUZK_OK;
    return error_set(err, CUZK_NO_MEMORY, "digest", NULL, "no memory for the workers' buffers");
}

/* Walks all rows. In batches of blocks, so that progress can be told between them. */
static cuzk_status run(struct digest_job *job, struct pool *pool, struct cuzk_error *err) {
    struct r1cs *r = job->r;
    const uint64_t n_rows = r1cs_root(r)->n_rows;
    const size_t n_blocks = (size_t)((n_rows + DIGEST_BLOCK_ROWS - 1) / DIGEST_BLOCK_ROWS);
    const bool count = r->a_aux == NULL;
    CUZK_TRY(r1cs_take_densities(r, err));
    cuzk_status status = make_workers(job, count, err);
    if (status == CUZK_OK && job->blocks != NULL) {
        status = block_digests_reserve(job->blocks, n_blocks, err);
        if (status == CUZK_OK) job->blocks->n = n_blocks;
    }
    const size_t batch = (size_t)job->n_workers * 8;
    while (status == CUZK_OK && job->first_block < n_blocks) {
        const size_t left = n_blocks - job->first_block;
        const size_t n = left < batch ? left : batch;
        pool_run(pool, n, digest_block, job);
        job->first_block += n;
        progress_report(job->progress, "digest", job->first_block, n_blocks);
        if (progress_cancelled(job->progress))
            status = error_set(err, CUZK_CANCELLED, "digest", NULL, "the digest was cancelled");
    }
    for (unsigned i = 0; count && status == CUZK_OK && i < job->n_workers; i++) {
        for (int m = 0; m < 3; m++)
            r->nnz[m] += job->workers[i].nnz[m];
    }
    /* Densities that were only begun must not be taken for whole ones. */
    if (count && status != CUZK_OK) {
        byte_buf_free(&r->density_planes);
        r->a_aux = r->b_aux = r->b_input = NULL;
    }
    free_workers(job);
    return status;
}

cuzk_status r1cs_digest(struct r1cs *r, uint8_t out[SHA256_BYTES], struct block_digests *blocks,
                        struct pool *pool, const struct progress *progress,
                        struct cuzk_error *err) {
    struct block_digests own = {0};
    struct digest_job job = {
        .r = r, .n_workers = pool_threads(pool), .blocks = &own, .progress = progress};
    const cuzk_status status = run(&job, pool, err);
    if (status == CUZK_OK) block_digests_total(&own, out);
    if (status == CUZK_OK && blocks != NULL)
        *blocks = own;
    else
        block_digests_free(&own);
    return status;
}

static uint32_t count_bits(const uint64_t *plane, uint32_t n_bits) {
    uint32_t n = 0;
    for (size_t w = 0; w <= n_bits / 64; w++)
        n += (uint32_t)__builtin_popcountll(plane[w]);
    return n;
}

cuzk_status r1cs_get_stats(struct r1cs *r, struct r1cs_stats *out, struct pool *pool,
                           struct cuzk_error *err) {
    if (r->a_aux == NULL) {
        struct digest_job job = {.r = r, .n_workers = pool_threads(pool)};
        CUZK_TRY(run(&job, pool, err));
    }
    const struct template *root = r1cs_root(r);
    *out = (struct r1cs_stats){.n_inputs = root->n_inputs + 1,
                               .n_aux = root->n_aux,
                               .n_elements = root->n_elements,
                               .n_rows = root->n_rows,
                               .nnz = {r->nnz[0], r->nnz[1], r->nnz[2]},
                               .a_aux_density = count_bits(r->a_aux, root->n_aux),
                               .b_aux_density = count_bits(r->b_aux, root->n_aux),
                               .b_input_density = count_bits(r->b_input, root->n_inputs + 1),
                               .n_templates = r->n_templates};
    out->bytes = sizeof *r + r->templates.block.bytes - r->templates.n +
                 r->dict.entries.block.bytes + r->shapes.shapes.block.bytes +
                 r->shapes.tables.block.bytes + r->shapes.values.block.bytes;
    for (uint32_t i = 0; i < r->n_templates; i++) {
        const struct template *t = template_at(r, i);
        out->bytes += template_bytes(t);
        for (uint32_t k = 0; k < t->n_items; k++)
            out->n_stamps += template_items(t)[k].child != ITEM_RAW;
    }
    return CUZK_OK;
}
