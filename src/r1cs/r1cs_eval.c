#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "row_eval.h"

/* Slices of a task: long enough to hide the way down to the first row. */
enum { TASK_ROWS = 32768, CHECK_TASK_ROWS = 65536, CHECK_SLICE_ROWS = 4096 };

/* ---- evaluation ---- */

struct eval_job {
    const struct r1cs *r;
    const struct witness *w;
    fr *out[3];
    uint32_t *ports; /* of all workers */
};

static size_t ports_of(const struct r1cs *r) {
    return (size_t)r1cs_root(r)->port_depth + 1;
}

static void eval_task(void *ctx, size_t task, unsigned worker) {
    const struct eval_job *job = ctx;
    const uint64_t n_rows = r1cs_root(job->r)->n_rows, first = (uint64_t)task * TASK_ROWS;
    struct row_eval e = {.r = job->r,
                         .w = job->w,
                         .ports = job->ports + worker * ports_of(job->r),
                         .out = {job->out[0], job->out[1], job->out[2]}};
    row_eval(&e, first, n_rows - first < TASK_ROWS ? n_rows - first : TASK_ROWS);
}

void r1cs_evaluate(const struct r1cs *r, const struct witness *w, fr *a, fr *b, fr *c,
                   struct pool *pool) {
    const uint64_t n_rows = r1cs_root(r)->n_rows;
    struct byte_buf ports;
    if (byte_buf_take(&ports, pool_threads(pool) * ports_of(r) * sizeof(uint32_t), NULL) !=
        CUZK_OK) {
        fputs("cuzk: no memory to evaluate a constraint system\n", stderr);
        abort();
    }
    struct eval_job job = {
        .r = r, .w = w, .out = {a, b, c}, .ports = (uint32_t *)(void *)ports.data};
    pool_run(pool, (size_t)((n_rows + TASK_ROWS - 1) / TASK_ROWS), eval_task, &job);
    byte_buf_free(&ports);
}

/* ---- check ---- */

struct check_worker {
    struct byte_buf memory;
    struct row_eval eval;
};

struct check_job {
    const struct r1cs *r;
    struct check_worker *workers;
    unsigned n_workers;
    size_t first_task;
    const struct progress *progress;
    _Atomic uint64_t bad_row; /* the first one so far; UINT64_MAX: none */
};

/* Most values are zero or one, which need no product. */
static bool satisfied(const fr *a, const fr *b, const fr *c) {
    if (fr_is_zero(a) || fr_is_zero(b)) return fr_is_zero(c);
    if (fr_equal(a, &fr_one)) return fr_equal(b, c);
    if (fr_equal(b, &fr_one)) return fr_equal(a, c);
    fr product;
    fr_mul(&product, a, b);
    return fr_equal(&product, c);
}

static void note_bad_row(struct check_job *job, uint64_t row) {
    uint64_t seen = atomic_load(&job->bad_row);
    while (row < seen && !atomic_compare_exchange_weak(&job->bad_row, &seen, row)) {
    }
}

static void check_task(void *ctx, size_t task, unsigned worker) {
    struct check_job *job = ctx;
    struct row_eval *e = &job->workers[worker].eval;
    const uint64_t first = (uint64_t)(job->first_task + task) * CHECK_TASK_ROWS;
    const uint64_t left = r1cs_root(job->r)->n_rows - first;
    const uint64_t end = first + (left < CHECK_TASK_ROWS ? left : CHECK_TASK_ROWS);
    for (uint64_t row = first; row < end; row += CHECK_SLICE_ROWS) {
        const uint64_t n = end - row < CHECK_SLICE_ROWS ? end - row : CHECK_SLICE_ROWS;
        if (row > atomic_load(&job->bad_row) || progress_cancelled(job->progress)) return;
        e->base_row = row;
        row_eval(e, row, n);
        for (uint64_t i = 0; i < n; i++) {
            if (satisfied(&e->out[0][i], &e->out[1][i], &e->out[2][i])) continue;
            note_bad_row(job, row + i);
            return;
        }
    }
}

static cuzk_status make_workers(struct check_job *job, const struct witness *w,
                                struct cuzk_error *err) {
    job->workers = calloc(job->n_workers, sizeof *job->workers);
    if (job->workers == NULL)
        return error_set(err, CUZK_NO_MEMORY, "check", NULL, "no memory for the workers");
    const uint32_t n_rows = r1cs_root(job->r)->n_rows;
    const size_t slice = n_rows < CHECK_SLICE_ROWS ? n_rows : CHECK_SLICE_ROWS;
    for (unsigned i = 0; i < job->n_workers; i++) {
        struct check_worker *worker = &job->workers[i];
        CUZK_TRY(byte_buf_take(&worker->memory,
                               3 * slice * sizeof(fr) + ports_of(job->r) * sizeof(uint32_t), err));
        worker->eval = (struct row_eval){.r = job->r, .w = w};
        for (int m = 0; m < 3; m++)
            worker->eval.out[m] = (fr *)(void *)worker->memory.data + (size_t)m * slice;
        worker->eval.ports = (uint32_t *)(void *)(worker->eval.out[2] + slice);
    }
    return CUZK_OK;
}

static void free_workers(struct check_job *job) {
    for (unsigned i = 0; job->workers != NULL && i < job->n_workers; i++)
        byte_buf_free(&job->workers[i].memory);
    free(job->workers);
}

static cuzk_status report_bad_row(struct check_job *job, struct cuzk_error *err) {
    const uint64_t row = job->bad_row;
    struct row_eval *e = &job->workers[0].eval;
    char path[sizeof err->where], value[3][80];
    e->base_row = row;
    row_eval(e, row, 1);
    for (int m = 0; m < 3; m++)
        fr_format(value[m], sizeof value[m], e->out[m]);
    r1cs_row_path(job->r, row, path, sizeof path);
    return error_set(err, CUZK_UNSATISFIED, path, NULL, "row %llu: a = %s, b = %s, but c = %s",
                     (unsigned long long)row, value[0], value[1], value[2]);
}

/* ---- is the witness well formed ---- */

static bool below_modulus(const fr *a) {
    for (int i = 3; i >= 0; i--) {
        if (a->l[i] != fr_modulus[i]) return a->l[i] < fr_modulus[i];
    }
    return false;
}

static cuzk_status malformed(struct cuzk_error *err, const char *what, uint64_t index) {
    return error_set(err, CUZK_UNSATISFIED, "witness", NULL, "%s %llu", what,
                     (unsigned long long)index);
}

static cuzk_status check_form(const struct r1cs *r, const struct witness *w,
                              struct cuzk_error *err) {
    const struct template *root = r1cs_root(r);
    if (w->n_inputs != root->n_inputs + 1 || w->n_aux != root->n_aux ||
        w->n_elements != root->n_elements)
        return error_set(err, CUZK_UNSATISFIED, "witness", NULL,
                         "it has %u inputs, %u variables, %u elements; the circuit has %u, %u, %u",
                         w->n_inputs, w->n_aux, w->n_elements, root->n_inputs + 1, root->n_aux,
                         root->n_elements);
    if (!fr_equal(&w->inputs[0], &fr_one)) return malformed(err, "not one: input", 0);
    for (uint32_t i = 0; i < w->n_inputs; i++) {
        if (!below_modulus(&w->inputs[i])) return malformed(err, "not reduced: input", i);
    }
    for (uint32_t i = 0; i < w->n_elements; i++) {
        if (!below_modulus(&w->elements[i])) return malformed(err, "not reduced: element", i);
    }
    /* The kind plane is zero past the last variable, so this covers the padding. */
    for (size_t i = 0; i < (size_t)w->n_aux / 64 + 2; i++) {
        if ((w->values[i] & ~r->kind[i]) != 0)
            return malformed(err, "a value bit where there is no bit variable, in word", i);
    }
    return CUZK_OK;
}

cuzk_status r1cs_check(const struct r1cs *r, const struct witness *w, struct pool *pool,
                       const struct progress *progress, struct cuzk_error *err) {
    CUZK_TRY(check_form(r, w, err));
    struct check_job job = {.r = r, .n_workers = pool_threads(pool), .progress = progress};
    job.bad_row = UINT64_MAX;
    const size_t n_tasks =
        (size_t)(((uint64_t)r1cs_root(r)->n_rows + CHECK_TASK_ROWS - 1) / CHECK_TASK_ROWS);
    const size_t batch = (size_t)job.n_workers * 8;
    cuzk_status status = make_workers(&job, w, err);
    while (status == CUZK_OK && job.first_task < n_tasks) {
        const size_t left = n_tasks - job.first_task, n = left < batch ? left : batch;
        pool_run(pool, n, check_task, &job);
        job.first_task += n;
        progress_report(progress, "check", job.first_task, n_tasks);
        if (progress_cancelled(progress))
            status = error_set(err, CUZK_CANCELLED, "check", NULL, "the check was cancelled");
        else if (job.bad_row != UINT64_MAX)
            status = report_bad_row(&job, err);
    }
    free_workers(&job);
    return status;
}
