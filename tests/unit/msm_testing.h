/*
 * Points with known discrete logarithms, so that any sum has an answer that one multiplication of
 * the generator gives; the same tests then run on G1 and G2.
 */
#ifndef UNIT_MSM_TESTING_H
#define UNIT_MSM_TESTING_H

#include "msm.h"

/* The functions under test and the group's own, by untyped pointers. */
struct test_group {
    const char *name;
    size_t point_bytes;
    /* A Jacobian sum, large enough for both groups, is a `union test_sum`. */
    struct msm_plan (*plan)(size_t n, unsigned threads);
    void (*msm)(void *sum, const void *points, const fr_words *scalars, size_t n,
                const struct msm_plan *plan, void *scratch, struct pool *pool);
    void (*bitsum)(void *sum, const void *points, const uint64_t *bits, size_t n, void *scratch,
                   unsigned threads, struct pool *pool);
    size_t (*table_bytes)(void);
    void (*table_init)(void *table, const void *base, struct pool *pool);
    void (*fixed_mul)(void *out, const void *table, const fr_words *scalars, size_t n,
                      void *scratch, unsigned threads, struct pool *pool);
    /* points[i] = logs[i] * generator, by the curve room alone */
    void (*points_of)(void *points, const fr *logs, size_t n);
    /* points[i] = (first + i * step) * generator; logs[i] is set to the factor */
    void (*progression)(void *points, fr *logs, size_t n, const fr *first, const fr *step);
    bool (*sum_is)(const void *sum, const fr *log);
    /* sum of scalars[i] * points[i], one by one */
    void (*naive)(void *sum, const void *points, const fr_words *scalars, size_t n);
    bool (*equal)(const void *a, const void *b);
};

union test_sum {
    g1 in_g1;
    g2 in_g2;
};

extern const struct test_group test_g1;
extern const struct test_group test_g2;

/* Reproducible elements: number `index` of the test's stream. */
void test_random_fr(fr *out, uint64_t index);

/*
 * A block of n bytes aligned to 64 that ends, as exactly as that allows, at a canary; the check
 * aborts the test when a byte of it has changed, and with ASan the first touch does.
 */
struct guarded {
    void *ptr;
    size_t bytes;
    struct mem_block block;
};
void guarded_take(struct guarded *g, size_t bytes);
void guarded_give(struct guarded *g);

#endif
