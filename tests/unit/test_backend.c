/* Every slot of the processor's table, against the definition of what it computes. */
#include "test_main.h"

#include "backend.h"
#include "mem.h"
#include "ntt.h"

static const struct backend *const be = &backend_cpu;

static void random_elements(fr *out, size_t n, uint64_t stream) {
    const uint8_t seed[32] = {42};
    for (size_t i = 0; i < n; i++)
        fr_from_seed(&out[i], seed, stream << 32 | i);
}

/* sum of a[i] x^i */
static void evaluate(fr *out, const fr *a, size_t n, const fr *x) {
    *out = fr_zero;
    for (size_t i = n; i-- > 0;) {
        fr_mul(out, out, x);
        fr_add(out, out, &a[i]);
    }
}

static void backends_have_names(void **state) {
    (void)state;
    assert_ptr_equal(backend_by_name("cpu"), be);
    assert_null(backend_by_name("gpu"));
    assert_null(backend_by_name(""));
}

/* The places of `value` among n elements. */
static size_t occurrences(const fr *a, size_t n, const fr *value) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += fr_equal(&a[i], value);
    return count;
}

static void transforms_do_what_they_say(void **state) {
    enum { LOG_MAX = 6 };
    for (unsigned log_n = 0; log_n <= LOG_MAX; log_n++) {
        const size_t n = (size_t)1 << log_n;
        struct mem_block tables;
        fr coefficients[1 << LOG_MAX], a[1 << LOG_MAX], root, x, y, seven;
        assert_int_equal(mem_take(&tables, be->domain_bytes(log_n), MEM_OTHER, NULL), CUZK_OK);
        const struct backend_domain *d = be->domain_init(tables.ptr, log_n, *state);
        random_elements(coefficients, n, log_n);
        ntt_root(&root, log_n);
        fr_from_u64(&seven, 7);
        memcpy(a, coefficients, sizeof a);
        be->transform(d, TRANSFORM_COSET_FORWARD, a, *state);
        x = seven;
        for (size_t j = 0; j < n; j++) {
            evaluate(&y, coefficients, n, &x);
            assert_int_equal(occurrences(a, n, &y), 1); /* the order is the backend's own */
            fr_mul(&x, &x, &root);
        }
        be->transform(d, TRANSFORM_COSET_INVERSE, a, *state);
        assert_memory_equal(a, coefficients, n * sizeof a[0]);
        x = fr_one;
        for (size_t j = 0; j < n; j++) {
            evaluate(&a[j], coefficients, n, &x);
            fr_mul(&x, &x, &root);
        }
        be->transform(d, TRANSFORM_INVERSE, a, *state);
        assert_memory_equal(a, coefficients, n * sizeof a[0]);
        mem_give(&tables);
    }
}

/* The coset's order is the same in both directions, and for every vector. */
static void polynomials_are_multiplied_on_the_coset(void **state) {
    enum { LOG_MAX = 12 };
    static fr a[1 << LOG_MAX], b[1 << LOG_MAX];
    for (unsigned log_n = 1; log_n <= LOG_MAX; log_n += log_n < 8 ? 1 : 4) {
        const size_t n = (size_t)1 << log_n;
        struct mem_block tables;
        fr x, at_a, at_b, product;
        assert_int_equal(mem_take(&tables, be->domain_bytes(log_n), MEM_OTHER, NULL), CUZK_OK);
        const struct backend_domain *d = be->domain_init(tables.ptr, log_n, *state);
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        random_elements(a, n / 2, 20);
        random_elements(b, n / 2, 21);
        random_elements(&x, 1, 22);
        evaluate(&at_a, a, n, &x);
        evaluate(&at_b, b, n, &x);
        fr_mul(&at_a, &at_a, &at_b);
        be->transform(d, TRANSFORM_COSET_FORWARD, a, *state);
        be->transform(d, TRANSFORM_COSET_FORWARD, b, *state);
        be->multiply(a, b, n, *state);
        be->transform(d, TRANSFORM_COSET_INVERSE, a, *state);
        evaluate(&product, a, n, &x);
        assert_true(fr_equal(&product, &at_a));
        mem_give(&tables);
    }
}

/* Sizes around a slice of the element-wise loops. */
static void element_wise_operations(void **state) {
    static const size_t sizes[] = {0, 1, 16383, 16384, 16385, 40000};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        const size_t n = sizes[k];
        struct mem_block block;
        assert_int_equal(mem_take(&block, (3 * n + 1) * sizeof(fr), MEM_OTHER, NULL), CUZK_OK);
        fr *a = block.ptr, *b = a + n, *c = b + n, factor;
        random_elements(a, n, 1);
        random_elements(b, n, 2);
        random_elements(&factor, 1, 3);
        memcpy(c, a, n * sizeof *c);
        be->multiply(c, b, n, *state);
        for (size_t i = 0; i < n; i++) {
            fr t;
            fr_mul(&t, &a[i], &b[i]);
            assert_true(fr_equal(&t, &c[i]));
        }
        be->scaled_difference(c, a, &factor, n, *state);
        for (size_t i = 0; i < n; i++) {
            fr t;
            fr_words w;
            fr_mul(&t, &a[i], &b[i]);
            fr_sub(&t, &t, &a[i]);
            fr_mul(&t, &t, &factor);
            fr_to_words(&w, &t);
            assert_memory_equal(&w, &c[i], sizeof w);
        }
        mem_give(&block);
    }
}

static void sums_do_what_they_say(void **state) {
    enum { N = 150 };
    static g1_affine p[N];
    static g2_affine q[N];
    static fr_words scalars[N];
    static fr k[N];
    uint64_t bits[3] = {0x123456789abcdef1, 0xfedcba9876543210, 0x3fffff};
    g1 want_msm, want_bits, got;
    g2 want_msm2, want_bits2, got2;
    g1_set_infinity(&want_msm);
    g1_set_infinity(&want_bits);
    g2_set_infinity(&want_msm2);
    g2_set_infinity(&want_bits2);
    random_elements(k, N, 9);
    for (size_t i = 0; i < N; i++) {
        g1 t;
        g2 t2;
        fr_to_words(&scalars[i], &k[i]);
        g1_from_affine(&t, &g1_generator);
        g1_mul(&t, &t, &k[(i + 1) % N]);
        g1_to_affine(&p[i], &t);
        g2_from_affine(&t2, &g2_generator);
        g2_mul(&t2, &t2, &k[(i + 2) % N]);
        g2_to_affine(&q[i], &t2);
        if (bits[i / 64] >> (i % 64) & 1) {
            g1_add_affine(&want_bits, &want_bits, &p[i]);
            g2_add_affine(&want_bits2, &want_bits2, &q[i]);
        }
        g1_mul(&t, &t, &k[i]);
        g1_add(&want_msm, &want_msm, &t);
        g2_mul(&t2, &t2, &k[i]);
        g2_add(&want_msm2, &want_msm2, &t2);
    }
    const unsigned threads = pool_threads(*state);
    const struct msm_plan p1 = be->plan_g1(N, threads), p2 = be->plan_g2(N, threads);
    size_t bytes = be->bitsum_bytes(threads);
    if (p1.scratch_bytes > bytes) bytes = p1.scratch_bytes;
    if (p2.scratch_bytes > bytes) bytes = p2.scratch_bytes;
    struct mem_block scratch;
    assert_int_equal(mem_take(&scratch, bytes, MEM_OTHER, NULL), CUZK_OK);
    be->msm_g1(&got, p, scalars, N, &p1, scratch.ptr, *state);
    assert_true(g1_equal(&got, &want_msm));
    be->msm_g2(&got2, q, scalars, N, &p2, scratch.ptr, *state);
    assert_true(g2_equal(&got2, &want_msm2));
    be->bitsum_g1(&got, p, bits, N, scratch.ptr, threads, *state);
    assert_true(g1_equal(&got, &want_bits));
    be->bitsum_g2(&got2, q, bits, N, scratch.ptr, threads, *state);
    assert_true(g2_equal(&got2, &want_bits2));
    mem_give(&scratch);
}

static int group_setup(void **state) {
    struct pool *pool;
    assert_int_equal(pool_create(&pool, 2, NULL), CUZK_OK);
    *state = pool;
    return 0;
}

static int group_teardown(void **state) {
    pool_destroy(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backends_have_names),
        cmocka_unit_test(transforms_do_what_they_say),
        cmocka_unit_test(polynomials_are_multiplied_on_the_coset),
        cmocka_unit_test(element_wise_operations),
        cmocka_unit_test(sums_do_what_they_say),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
