/* Included by msm_testing.c for each group, with G(name) and MSM(name) its names. */

static void G(t_msm)(void *sum, const void *points, const fr_words *scalars, size_t n,
                     const struct msm_plan *plan, void *scratch, struct pool *pool) {
    MSM(msm)(sum, points, scalars, n, plan, scratch, pool);
}

static void G(t_bitsum)(void *sum, const void *points, const uint64_t *bits, size_t n,
                        void *scratch, unsigned threads, struct pool *pool) {
    MSM(msm_bitsum)(sum, points, bits, n, scratch, threads, pool);
}

static void G(t_table_init)(void *table, const void *base, struct pool *pool) {
    MSM(fixed_base_table_init)(table, base, pool);
}

static void G(t_fixed_mul)(void *out, const void *table, const fr_words *scalars, size_t n,
                           void *scratch, unsigned threads, struct pool *pool) {
    MSM(fixed_base_mul)(out, table, scalars, n, scratch, threads, pool);
}

static void G(t_generator_times)(JACOBIAN *out, const fr *log) {
    JACOBIAN generator;
    G(from_affine)(&generator, &G(generator));
    G(mul)(out, &generator, log);
}

static void G(t_points_of)(void *points, const fr *logs, size_t n) {
    for (size_t i = 0; i < n; i++) {
        JACOBIAN p;
        G(t_generator_times)(&p, &logs[i]);
        G(to_affine)((AFFINE *)points + i, &p);
    }
}

static void G(t_progression)(void *points, fr *logs, size_t n, const fr *first, const fr *step) {
    enum { BATCH = 256 };
    JACOBIAN p, delta, batch[BATCH];
    fr log = *first;
    G(t_generator_times)(&p, first);
    G(t_generator_times)(&delta, step);
    for (size_t i = 0; i < n;) {
        size_t k = 0;
        for (; k < BATCH && i + k < n; k++) {
            batch[k] = p;
            logs[i + k] = log;
            G(add)(&p, &p, &delta);
            fr_add(&log, &log, step);
        }
        G(batch_to_affine)((AFFINE *)points + i, batch, k);
        i += k;
    }
}

static bool G(t_sum_is)(const void *sum, const fr *log) {
    JACOBIAN p;
    G(t_generator_times)(&p, log);
    return G(equal)(sum, &p);
}

static void G(t_naive)(void *sum, const void *points, const fr_words *scalars, size_t n) {
    G(set_infinity)(sum);
    for (size_t i = 0; i < n; i++) {
        JACOBIAN p;
        fr k;
        fr_from_words(&k, &scalars[i]);
        G(from_affine)(&p, (const AFFINE *)points + i);
        G(mul)(&p, &p, &k);
        G(add)(sum, sum, &p);
    }
}

static bool G(t_equal)(const void *a, const void *b) {
    return G(equal)(a, b);
}

const struct test_group TABLE = {
    .name = NAME,
    .point_bytes = sizeof(AFFINE),
    .plan = MSM(msm_plan),
    .msm = G(t_msm),
    .bitsum = G(t_bitsum),
    .table_bytes = MSM(fixed_base_table_bytes),
    .table_init = G(t_table_init),
    .fixed_mul = G(t_fixed_mul),
    .points_of = G(t_points_of),
    .progression = G(t_progression),
    .sum_is = G(t_sum_is),
    .naive = G(t_naive),
    .equal = G(t_equal),
};
