/*
 * The kernel for any processor: one product at a time. Elements are reduced throughout.
 */
#include "ntt_plan.h"

/* Factors of the pass within one block, in heap order. */
static void block_factors(fr *heap, const struct ntt_run *run, size_t block) {
    const unsigned rows = run->pass->rows;
    fr shift, level[NTT_MAX_ROWS_LOG];
    ntt_block_shift(&shift, run, block);
    ntt_level_shifts(level, &shift, rows);
    for (unsigned l = 0; l < rows; l++) {
        const size_t first = (size_t)1 << l;
        for (size_t i = first; i < 2 * first; i++)
            fr_mul(&heap[i], &run->direction->heap[i], &level[l]);
    }
}

static void split(fr *u, fr *v, const fr *z) {
    fr t;
    fr_mul(&t, v, z);
    fr_sub(v, u, &t);
    fr_add(u, u, &t);
}

static void join(fr *u, fr *v, const fr *z_inv) {
    fr t;
    fr_sub(&t, u, v);
    fr_add(u, u, v);
    fr_mul(v, &t, z_inv);
}

/* All levels of the pass over 2^rows rows of `width` elements that lie one after the other. */
static void run_levels(fr *a, const fr *heap, unsigned rows, size_t width, bool inverse) {
    for (unsigned k = 0; k < rows; k++) {
        const unsigned l = inverse ? rows - 1 - k : k;
        const size_t half = width << (rows - 1 - l);
        for (size_t m = 0; m < (size_t)1 << l; m++) {
            fr *u = a + 2 * half * m;
            const fr *z = &heap[((size_t)1 << l) + m];
            for (size_t i = 0; i < half; i++) {
                if (inverse) {
                    join(&u[i], &u[half + i], z);
                } else {
                    split(&u[i], &u[half + i], z);
                }
            }
        }
    }
}

static void scale(fr *a, size_t n, const fr *factor) {
    for (size_t i = 0; i < n; i++)
        fr_mul(&a[i], &a[i], factor);
}

static void rows_of_pass(const struct ntt_run *run, size_t first, size_t n) {
    const unsigned rows = run->pass->rows;
    const size_t length = (size_t)1 << rows;
    fr heap[1 << NTT_MAX_ROWS_LOG];
    for (size_t b = first; b < first + n; b++) {
        fr *row = run->a + b * length;
        block_factors(heap, run, b);
        run_levels(row, heap, rows, 1, run->inverse);
        if (run->inverse && run->last) scale(row, length, &run->plan->n_inv);
    }
}

/* Columns are gone through in strips that fit the cache: the rows of a strip lie a power of two
 * apart, so they are copied together first. */
static void columns_of_pass(const struct ntt_run *run, size_t block, size_t first, size_t n) {
    const unsigned rows = run->pass->rows;
    const size_t length = (size_t)1 << rows;
    const size_t stride = (size_t)1 << run->pass->below;
    const size_t strip = n < NTT_LANES ? n : NTT_LANES;
    fr heap[1 << NTT_MAX_ROWS_LOG];
    fr buffer[NTT_LANES << NTT_MAX_ROWS_LOG];
    block_factors(heap, run, block);
    for (size_t c = first; c < first + n; c += strip) {
        fr *corner = run->a + ((block * length) << run->pass->below) + c;
        for (size_t i = 0; i < length; i++)
            memcpy(buffer + i * strip, corner + i * stride, strip * sizeof(fr));
        run_levels(buffer, heap, rows, strip, run->inverse);
        if (run->inverse && run->last) scale(buffer, length * strip, &run->plan->n_inv);
        for (size_t i = 0; i < length; i++)
            memcpy(corner + i * stride, buffer + i * strip, strip * sizeof(fr));
    }
}

const struct ntt_kernel ntt_portable = {
    .name = "portable", .min_log = 0, .columns = columns_of_pass, .rows = rows_of_pass};
