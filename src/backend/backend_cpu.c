#include <assert.h>
#include <string.h>

#include "backend.h"
#include "ntt.h"

static_assert(sizeof(fr) == sizeof(fr_words), "a vector changes its form in place");

/* Elements in one task of an element-wise loop: 512 KiB, some 100 microseconds of work. */
enum { SLICE = 1 << 14 };

static size_t n_slices(size_t n) {
    return (n + SLICE - 1) / SLICE;
}

static size_t slice_end(size_t task, size_t n) {
    const size_t end = (task + 1) * SLICE;
    return end < n ? end : n;
}

static struct backend_domain *domain_init(void *memory, unsigned log_n, struct pool *pool) {
    (void)pool; /* the tables are too small to share out */
    return (struct backend_domain *)ntt_plan_init(memory, log_n);
}

static void transform(const struct backend_domain *domain, enum backend_transform kind, fr *a,
                      struct pool *pool) {
    const struct ntt_plan *plan = (const struct ntt_plan *)domain;
    switch (kind) {
    case TRANSFORM_INVERSE:
        ntt_inverse(plan, a, pool);
        return;
    case TRANSFORM_COSET_FORWARD:
        ntt_coset_forward(plan, a, pool);
        return;
    case TRANSFORM_COSET_INVERSE:
        ntt_coset_inverse(plan, a, pool);
        return;
    }
    assert(!"a transform that does not exist");
}

struct vectors {
    fr *a;
    const fr *b;
    const fr *factor;
    size_t n;
};

static void multiply_slice(void *ctx, size_t task, unsigned worker) {
    const struct vectors *v = ctx;
    (void)worker;
    const size_t end = slice_end(task, v->n);
    for (size_t i = task * SLICE; i < end; i++)
        fr_mul(&v->a[i], &v->a[i], &v->b[i]);
}

static void multiply(fr *a, const fr *b, size_t n, struct pool *pool) {
    struct vectors v = {.a = a, .b = b, .n = n};
    pool_run(pool, n_slices(n), multiply_slice, &v);
}

static void difference_slice(void *ctx, size_t task, unsigned worker) {
    const struct vectors *v = ctx;
    (void)worker;
    const size_t end = slice_end(task, v->n);
    for (size_t i = task * SLICE; i < end; i++) {
        fr t;
        fr_words canonical;
        fr_sub(&t, &v->a[i], &v->b[i]);
        fr_mul(&t, &t, v->factor);
        fr_to_words(&canonical, &t);
        memcpy(&v->a[i], &canonical, sizeof canonical);
    }
}

static void scaled_difference(fr *a, const fr *b, const fr *factor, size_t n, struct pool *pool) {
    struct vectors v = {.a = a, .b = b, .factor = factor, .n = n};
    pool_run(pool, n_slices(n), difference_slice, &v);
}

const struct backend backend_cpu = {
    .name = "cpu",
    .domain_bytes = ntt_plan_bytes,
    .domain_init = domain_init,
    .transform = transform,
    .multiply = multiply,
    .scaled_difference = scaled_difference,
    .plan_g1 = msm_plan_g1,
    .plan_g2 = msm_plan_g2,
    .msm_g1 = msm_g1,
    .msm_g2 = msm_g2,
    .bitsum_bytes = msm_bitsum_scratch_bytes,
    .bitsum_g1 = msm_bitsum_g1,
    .bitsum_g2 = msm_bitsum_g2,
};

const struct backend *backend_by_name(const char *name) {
    return strcmp(name, backend_cpu.name) == 0 ? &backend_cpu : NULL;
}
