#include "ntt.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ntt_plan.h"

enum { TABLE_ALIGN = 64, COLUMNS_PER_TASK = 32, ROWS_PER_TASK = 32 };

/* 7^((r-1)/2^32), 7 and 1/7, in Montgomery form. */
static const fr root_of_2_32 = {
    {0xb9b58d8c5f0e466a, 0x5b1b4c801819d7ec, 0x0af53ae352a31e64, 0x5bf3adda19e9b27b}};
static const fr coset_shift = {
    {0x0000000efffffff1, 0x17e363d300189c0f, 0xff9c57876f8457b0, 0x351332208fc5a8c4}};
static const fr coset_shift_inv = {
    {0xdb6db6dadb6db6dc, 0xe6b5824adb6cc6da, 0xf8b356e005810db9, 0x66d0f1e660ec4796}};

static void square_times(fr *out, const fr *a, unsigned times) {
    *out = *a;
    while (times-- > 0)
        fr_sqr(out, out);
}

void ntt_root(fr *out, unsigned log_n) {
    assert(log_n <= NTT_MAX_LOG);
    square_times(out, &root_of_2_32, NTT_MAX_LOG - log_n);
}

void ntt_coset_vanishing_inv(fr *out, unsigned log_n) {
    square_times(out, &coset_shift, log_n);
    fr_sub(out, out, &fr_one);
    fr_inv_var(out, out);
}

unsigned ntt_log2_ceil(uint64_t n) {
    return n <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(n - 1);
}

static pthread_once_t choice_made = PTHREAD_ONCE_INIT;
static const struct ntt_kernel *choice;

static void choose_kernel(void) {
    const char *wish = getenv("CUZK_CPU");
    const bool portable = wish != NULL && strcmp(wish, "portable") == 0;
    choice = portable || ntt_ifma() == NULL ? &ntt_portable : ntt_ifma();
}

const struct ntt_kernel *ntt_kernel_chosen(void) {
    pthread_once(&choice_made, choose_kernel);
    return choice;
}

const char *ntt_kernel_name(void) {
    return ntt_kernel_chosen()->name;
}

/* Levels are dealt out evenly, the larger passes first. From 2^6 on there are two passes at least,
 * so that a vector kernel finds eight columns or eight rows. */
static void split_levels(struct ntt_plan *plan) {
    unsigned n = (plan->log_n + NTT_MAX_ROWS_LOG - 1) / NTT_MAX_ROWS_LOG;
    if (n < 2 && plan->log_n >= 6) n = 2;
    unsigned above = 0;
    for (unsigned i = 0; i < n; i++) {
        const unsigned rows = (plan->log_n - above + (n - i) - 1) / (n - i);
        plan->passes[i] =
            (struct ntt_pass){.above = above, .rows = rows, .below = plan->log_n - above - rows};
        above += rows;
    }
    plan->n_passes = n;
    const unsigned last_rows = n > 0 ? plan->passes[n - 1].rows : 0;
    plan->exponent_bits = plan->log_n - last_rows;
    plan->low_bits = plan->exponent_bits / 2;
}

static size_t heap_length(const struct ntt_plan *plan) {
    const size_t n = plan->n_passes > 0 ? (size_t)1 << plan->passes[0].rows : 1;
    return n < NTT_LANES ? NTT_LANES : n;
}

static size_t round_up(size_t n) {
    return (n + TABLE_ALIGN - 1) / TABLE_ALIGN * TABLE_ALIGN;
}

static size_t exponent_table_bytes(const struct ntt_plan *plan) {
    const size_t low = (size_t)1 << plan->low_bits;
    const size_t high = (size_t)1 << (plan->exponent_bits - plan->low_bits);
    return round_up((low + high) * sizeof(fr));
}

size_t ntt_plan_bytes(unsigned log_n) {
    struct ntt_plan plan = {.log_n = log_n};
    assert(log_n <= NTT_MAX_LOG);
    split_levels(&plan);
    const size_t heap = heap_length(&plan);
    const size_t one_way = heap * sizeof(fr) + heap * NTT_LIMBS * sizeof(uint64_t);
    return round_up(sizeof plan) + 2 * (round_up(one_way) + exponent_table_bytes(&plan));
}

static void fill_powers(fr *out, const fr *base, size_t n) {
    out[0] = fr_one;
    for (size_t i = 1; i < n; i++)
        fr_mul(&out[i], &out[i - 1], base);
}

/*
 * Z[m] = w_{2^(l+1)}^brv(m) for m < 2^l is the first half of the same table for l + 1, and the
 * second half is the first times w_{2^(l+2)}; the heap repeats the table on every level.
 */
static void fill_heap(fr *heap, unsigned rows, bool inverse) {
    heap[0] = fr_one;
    if (rows == 0) return;
    heap[1] = fr_one;
    for (unsigned l = 1; l < rows; l++) {
        const size_t half = (size_t)1 << (l - 1);
        fr *level = heap + 2 * half;
        fr root;
        ntt_root(&root, l + 1);
        if (inverse) fr_inv_var(&root, &root);
        for (size_t m = 0; m < half; m++) {
            level[m] = heap[half + m];
            fr_mul(&level[half + m], &level[m], &root);
        }
    }
}

/* Groups of eight factors; in a group first the lowest limb of each, then the next. */
static void fill_heap52(uint64_t *out, const fr *heap, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t limbs[NTT_LIMBS];
        uint64_t *at = out + i / NTT_LANES * NTT_LIMBS * NTT_LANES + i % NTT_LANES;
        ntt_to_factor(limbs, &heap[i]);
        for (int k = 0; k < NTT_LIMBS; k++)
            at[k * NTT_LANES] = limbs[k];
    }
}

static uint8_t *fill_direction(struct ntt_plan *plan, bool inverse, uint8_t *memory) {
    struct ntt_direction *d = &plan->direction[inverse];
    const size_t heap_n = heap_length(plan);
    fr *heap = (fr *)memory;
    uint64_t *heap52 = (uint64_t *)(memory + heap_n * sizeof(fr));
    memory += round_up(heap_n * (sizeof(fr) + NTT_LIMBS * sizeof(uint64_t)));
    for (size_t i = 0; i < heap_n; i++)
        heap[i] = fr_one;
    fill_heap(heap, plan->n_passes > 0 ? plan->passes[0].rows : 0, inverse);
    fill_heap52(heap52, heap, heap_n);
    d->heap = heap;
    d->heap52 = heap52;

    fr *low = (fr *)memory;
    fr *high = low + ((size_t)1 << plan->low_bits);
    fr w, step;
    ntt_root(&w, plan->log_n);
    if (inverse) fr_inv_var(&w, &w);
    square_times(&step, &w, plan->low_bits);
    fill_powers(low, &w, (size_t)1 << plan->low_bits);
    fill_powers(high, &step, (size_t)1 << (plan->exponent_bits - plan->low_bits));
    d->low = low;
    d->high = high;

    const fr *g = inverse ? &coset_shift_inv : &coset_shift;
    for (unsigned i = 0; i < plan->n_passes; i++)
        square_times(&d->coset_base[i], g, plan->passes[i].below);
    return memory + exponent_table_bytes(plan);
}

struct ntt_plan *ntt_plan_init_with(void *memory, unsigned log_n, const struct ntt_kernel *kernel) {
    assert(log_n <= NTT_MAX_LOG && (uintptr_t)memory % TABLE_ALIGN == 0);
    struct ntt_plan *plan = memory;
    memset(plan, 0, sizeof *plan);
    plan->log_n = log_n;
    plan->kernel = log_n < kernel->min_log ? &ntt_portable : kernel;
    split_levels(plan);
    fr_pow2(&plan->n_inv, log_n);
    fr_inv_var(&plan->n_inv, &plan->n_inv);
    uint8_t *tables = (uint8_t *)memory + round_up(sizeof *plan);
    tables = fill_direction(plan, false, tables);
    fill_direction(plan, true, tables);
    return plan;
}

struct ntt_plan *ntt_plan_init(void *memory, unsigned log_n) {
    return ntt_plan_init_with(memory, log_n, ntt_kernel_chosen());
}

void ntt_block_shift(fr *out, const struct ntt_run *run, size_t block) {
    const struct ntt_plan *plan = run->plan;
    const size_t e = ntt_reverse_bits(block, run->pass->above) << run->pass->below;
    const size_t low = e & (((size_t)1 << plan->low_bits) - 1);
    fr_mul(out, &run->direction->high[e >> plan->low_bits], &run->direction->low[low]);
    fr_mul(out, out, &run->base);
}

void ntt_level_shifts(fr *out, const fr *shift, unsigned rows) {
    if (rows == 0) return;
    out[rows - 1] = *shift;
    for (unsigned l = rows - 1; l > 0; l--)
        fr_sqr(&out[l - 1], &out[l]);
}

static void column_task(void *ctx, size_t task, unsigned worker) {
    const struct ntt_run *run = ctx;
    const size_t columns = (size_t)1 << run->pass->below;
    const size_t width = columns < COLUMNS_PER_TASK ? columns : COLUMNS_PER_TASK;
    const size_t per_block = columns / width;
    (void)worker;
    run->plan->kernel->columns(run, task / per_block, task % per_block * width, width);
}

static void row_task(void *ctx, size_t task, unsigned worker) {
    const struct ntt_run *run = ctx;
    const size_t rows = (size_t)1 << run->pass->above;
    const size_t width = rows < ROWS_PER_TASK ? rows : ROWS_PER_TASK;
    (void)worker;
    run->plan->kernel->rows(run, task * width, width);
}

static void run_pass(struct ntt_run *run, struct pool *pool) {
    const struct ntt_pass *pass = run->pass;
    if (pass->below == 0) {
        const size_t rows = (size_t)1 << pass->above;
        pool_run(pool, rows < ROWS_PER_TASK ? 1 : rows / ROWS_PER_TASK, row_task, run);
    } else {
        const size_t columns = (size_t)1 << pass->below;
        const size_t width = columns < COLUMNS_PER_TASK ? columns : COLUMNS_PER_TASK;
        pool_run(pool, (columns / width) << pass->above, column_task, run);
    }
}

static void transform(const struct ntt_plan *plan, fr *a, struct pool *pool, bool inverse,
                      bool coset) {
    if (inverse && !coset) ntt_bit_reverse(a, plan->log_n, pool);
    for (unsigned k = 0; k < plan->n_passes; k++) {
        const unsigned i = inverse ? plan->n_passes - 1 - k : k;
        const struct ntt_direction *d = &plan->direction[inverse];
        struct ntt_run run = {.plan = plan,
                              .pass = &plan->passes[i],
                              .direction = d,
                              .a = a,
                              .base = coset ? d->coset_base[i] : fr_one,
                              .inverse = inverse,
                              .last = k + 1 == plan->n_passes};
        run_pass(&run, pool);
    }
    if (!inverse && !coset) ntt_bit_reverse(a, plan->log_n, pool);
}

void ntt_forward(const struct ntt_plan *plan, fr *a, struct pool *pool) {
    transform(plan, a, pool, false, false);
}

void ntt_inverse(const struct ntt_plan *plan, fr *a, struct pool *pool) {
    transform(plan, a, pool, true, false);
}

void ntt_coset_forward(const struct ntt_plan *plan, fr *a, struct pool *pool) {
    transform(plan, a, pool, false, true);
}

void ntt_coset_inverse(const struct ntt_plan *plan, fr *a, struct pool *pool) {
    transform(plan, a, pool, true, true);
}
