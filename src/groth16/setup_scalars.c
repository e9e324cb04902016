#include "setup_scalars.h"

#include <sodium.h>

#include "hash.h"
#include "ntt.h"

void setup_vanishing(fr *out, const fr *tau, unsigned log_n) {
    fr t = *tau;
    for (unsigned i = 0; i < log_n; i++)
        fr_sqr(&t, &t);
    fr_sub(out, &t, &fr_one);
}

/* Element number `index` of the stream; the caller draws again where a value will not do. */
static void draw(fr *out, const struct setup_options *options, uint64_t index) {
    if (!options->seeded) {
        fr_random(out);
        return;
    }
    uint8_t text[64] = "cuzk development parameters, seed ";
    for (int i = 0; i < 8; i++)
        text[56 + i] = (uint8_t)(options->seed >> (8 * i));
    uint8_t seed[SHA256_BYTES];
    sha256(seed, text, sizeof text);
    fr_from_seed(out, seed, index);
}

void setup_secrets_draw(struct setup_secrets *out, const struct setup_options *options,
                        unsigned log_n) {
    fr *const secret[] = {&out->alpha, &out->beta, &out->gamma, &out->delta, &out->tau};
    uint64_t index = 0;
    for (size_t i = 0; i < sizeof secret / sizeof secret[0]; i++) {
        fr vanishing;
        do {
            draw(secret[i], options, index++);
            setup_vanishing(&vanishing, secret[i], log_n);
        } while (fr_is_zero(secret[i]) || fr_is_zero(&vanishing));
    }
}

/* ---- the values of the Lagrange polynomials at tau ---- */

/*
 * L_j(tau) = (1/n) sum_i (tau w^-j)^i: the inverse transform of the powers of tau. The powers are
 * filled in slices, each from its own first power.
 */
enum { POWERS_SLICE = 1 << 14 };

struct powers {
    fr *out;
    size_t n;
    const fr *base;
};

static void powers_task(void *ctx, size_t task, unsigned worker) {
    const struct powers *p = ctx;
    (void)worker;
    const size_t first = task * POWERS_SLICE;
    fr power;
    fr_pow_u64(&power, p->base, first);
    for (size_t i = first; i < first + POWERS_SLICE && i < p->n; i++) {
        p->out[i] = power;
        fr_mul(&power, &power, p->base);
    }
}

static cuzk_status lagrange_make(struct mem_block *out, const fr *tau, unsigned log_n,
                                 struct pool *pool, struct cuzk_error *err) {
    const size_t n = (size_t)1 << log_n;
    struct mem_block tables;
    CUZK_TRY(mem_take(out, n * sizeof(fr), MEM_OTHER, err));
    const cuzk_status s = mem_take(&tables, ntt_plan_bytes(log_n), MEM_OTHER, err);
    if (s != CUZK_OK) {
        mem_give(out);
        return s;
    }
    struct powers powers = {.out = out->ptr, .n = n, .base = tau};
    pool_run(pool, (n + POWERS_SLICE - 1) / POWERS_SLICE, powers_task, &powers);
    ntt_inverse(ntt_plan_init(tables.ptr, log_n), out->ptr, pool);
    mem_give(&tables);
    return CUZK_OK;
}

/* ---- columns ---- */

struct walk {
    const struct r1cs *r1cs;
    uint64_t n_rows;
    const fr *lagrange;
    fr *column[3];
    size_t n_inputs;
};

struct walk_matrix {
    const struct walk *walk;
    int matrix;
};

static void visit_row(void *ctx, uint64_t row, const struct row_lc abc[3]) {
    const struct walk_matrix *m = ctx;
    const struct walk *walk = m->walk;
    const struct row_lc *lc = &abc[m->matrix];
    for (uint32_t i = 0; i < lc->n; i++) {
        const struct lc_term *t = &lc->terms[i];
        const size_t index =
            var_index(t->v) + (var_kind_of(t->v) == VAR_INPUT ? 0 : walk->n_inputs);
        fr *sum = &walk->column[m->matrix][index];
        fr product;
        if (fr_equal(&t->c, &fr_one)) {
            fr_add(sum, sum, &walk->lagrange[row]);
        } else {
            fr_mul(&product, &t->c, &walk->lagrange[row]);
            fr_add(sum, sum, &product);
        }
    }
}

/* One matrix a task: the tasks write to different columns. */
static void walk_task(void *ctx, size_t task, unsigned worker) {
    const struct walk *walk = ctx;
    (void)worker;
    struct walk_matrix m = {.walk = walk, .matrix = (int)task};
    r1cs_walk(walk->r1cs, 0, walk->n_rows, visit_row, &m);
}

cuzk_status setup_columns_make(struct setup_columns *out, const struct r1cs *r1cs,
                               const struct r1cs_stats *stats, const fr *tau, struct pool *pool,
                               struct cuzk_error *err) {
    const size_t n = (size_t)stats->n_inputs + stats->n_aux;
    *out = (struct setup_columns){.n_variables = n, .n_inputs = stats->n_inputs};
    struct mem_block lagrange;
    CUZK_TRY(lagrange_make(&lagrange, tau, ntt_log2_ceil(stats->n_rows), pool, err));
    const cuzk_status s = mem_take(&out->block, 3 * n * sizeof(fr), MEM_OTHER, err);
    if (s == CUZK_OK) {
        out->u = out->block.ptr;
        out->v = out->u + n;
        out->w = out->v + n;
        struct walk walk = {.r1cs = r1cs,
                            .n_rows = stats->n_rows,
                            .lagrange = lagrange.ptr,
                            .column = {out->u, out->v, out->w},
                            .n_inputs = stats->n_inputs};
        pool_run(pool, 3, walk_task, &walk);
    }
    sodium_memzero(lagrange.ptr, lagrange.bytes);
    mem_give(&lagrange);
    return s;
}

void setup_columns_destroy(struct setup_columns *c) {
    if (c->block.ptr != NULL) sodium_memzero(c->block.ptr, c->block.bytes);
    mem_give(&c->block);
    *c = (struct setup_columns){0};
}
