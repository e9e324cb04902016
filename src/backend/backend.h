/*
 * The table of operations that a prover needs from the machine it runs on.
 *
 * The prover speaks to this table only, so that the same prover code runs on the processor or,
 * where a CUDA plug-in is loaded, on a device. A slot exists because the prover calls it; every
 * slot is filled in every backend.
 *
 * Shapes: vectors of field elements are in Montgomery form and natural order unless a slot says
 * otherwise; scalars of multi-scalar multiplications are canonical. Memory is the caller's, sized
 * by the slot beside (…_bytes, plan_…) and aligned to 64 bytes; nothing is allocated in a call.
 * Threads: a call uses the pool that it is given; calls on different data may go on at once.
 */
#ifndef BACKEND_BACKEND_H
#define BACKEND_BACKEND_H

#include "fr.h"
#include "g1.h"
#include "msm.h"
#include "pool.h"

/* Tables of the evaluation domain of one size, laid out by the backend that made them. */
struct backend_domain;

enum backend_transform {
    TRANSFORM_INVERSE,       /* values on the domain to coefficients */
    TRANSFORM_COSET_FORWARD, /* coefficients to values on the coset, in an order of the backend's */
    TRANSFORM_COSET_INVERSE, /* values on the coset, in that order, to coefficients */
};

struct backend {
    const char *name;

    size_t (*domain_bytes)(unsigned log_n);
    struct backend_domain *(*domain_init)(void *memory, unsigned log_n, struct pool *pool);
    /* In place, 2^log_n elements. */
    void (*transform)(const struct backend_domain *domain, enum backend_transform kind, fr *a,
                      struct pool *pool);

    /* a[i] = a[i] * b[i] */
    void (*multiply)(fr *a, const fr *b, size_t n, struct pool *pool);
    /* a[i] = (a[i] - b[i]) * factor, left in canonical form: the array then holds fr_words. */
    void (*scaled_difference)(fr *a, const fr *b, const fr *factor, size_t n, struct pool *pool);

    struct msm_plan (*plan_g1)(size_t n_points, unsigned threads);
    struct msm_plan (*plan_g2)(size_t n_points, unsigned threads);
    void (*msm_g1)(g1 *out, const g1_affine *points, const fr_words *scalars, size_t n,
                   const struct msm_plan *plan, void *scratch, struct pool *pool);
    void (*msm_g2)(g2 *out, const g2_affine *points, const fr_words *scalars, size_t n,
                   const struct msm_plan *plan, void *scratch, struct pool *pool);

    /* Sums of the points whose bit in the plane is one. */
    size_t (*bitsum_bytes)(unsigned threads);
    void (*bitsum_g1)(g1 *out, const g1_affine *points, const uint64_t *bits, size_t n,
                      void *scratch, unsigned threads, struct pool *pool);
    void (*bitsum_g2)(g2 *out, const g2_affine *points, const uint64_t *bits, size_t n,
                      void *scratch, unsigned threads, struct pool *pool);
};

/* This processor: src/poly and src/msm. */
extern const struct backend backend_cpu;

/* The backend of that name ("cpu"), NULL: none. */
const struct backend *backend_by_name(const char *name);

#endif
