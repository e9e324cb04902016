/* The transforms against their definition, and the vector kernel against the portable one. */
#include "unit/test_main.h"

#include "ntt.h"
#include "ntt_plan.h"

enum { DIRECT_LOG = 8, EVERY_LOG = 16, LARGE_LOG = 18 };

enum { FORWARD, INVERSE, COSET_FORWARD, COSET_INVERSE, TRANSFORMS };

typedef void transform_fn(const struct ntt_plan *plan, fr *a, struct pool *pool);
static transform_fn *const transforms[TRANSFORMS] = {ntt_forward, ntt_inverse, ntt_coset_forward,
                                                     ntt_coset_inverse};

static const uint8_t seed[32] = "test_ntt";
static const struct ntt_kernel *kernels[2];
static size_t n_kernels;

static fr *take(struct mem_block *block, size_t n) {
    assert_int_equal(mem_take(block, n * sizeof(fr), MEM_OTHER, NULL), CUZK_OK);
    return block->ptr;
}

static struct ntt_plan *make_plan(struct mem_block *block, unsigned log_n,
                                  const struct ntt_kernel *kernel) {
    assert_int_equal(mem_take(block, ntt_plan_bytes(log_n), MEM_OTHER, NULL), CUZK_OK);
    return ntt_plan_init_with(block->ptr, log_n, kernel);
}

/* One transform on a fresh plan. */
static void apply(int which, fr *a, unsigned log_n, const struct ntt_kernel *kernel) {
    struct mem_block block;
    struct ntt_plan *plan = make_plan(&block, log_n, kernel);
    transforms[which](plan, a, NULL);
    mem_give(&block);
}

static void fill_random(fr *a, size_t n, uint64_t first) {
    for (size_t i = 0; i < n; i++)
        fr_from_seed(&a[i], seed, first + i);
}

/* 0, 1, r-1, and limbs that provoke carries, in an order that follows no power of two. */
static void fill_edges(fr *a, size_t n) {
    fr edges[7];
    edges[0] = fr_zero;
    edges[1] = fr_one;
    fr_neg(&edges[2], &fr_one);
    edges[3] = (fr){{fr_modulus[0] - 1, fr_modulus[1], fr_modulus[2], fr_modulus[3]}};
    edges[4] = (fr){{UINT64_MAX, UINT64_MAX, UINT64_MAX, fr_modulus[3] - 1}};
    edges[5] = (fr){{UINT64_MAX >> 12, 0, UINT64_MAX, 1}};
    edges[6] = (fr){{1, 0, 0, 0}};
    for (size_t i = 0; i < n; i++)
        a[i] = edges[i * i % 7];
}

static void assert_all_equal(const fr *a, const fr *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!fr_equal(&a[i], &b[i])) fail_msg("element %zu of %zu differs", i, n);
    }
}

/* a^e for an exponent of 256 bits. */
static void pow_words(fr *out, const fr *a, const uint64_t e[4]) {
    *out = fr_one;
    for (int i = 255; i >= 0; i--) {
        fr_sqr(out, out);
        if (e[i / 64] >> (i % 64) & 1) fr_mul(out, out, a);
    }
}

static void roots_are_bellpersons(void **state) {
    (void)state;
    fr seven, expected, root, squared;
    fr_from_u64(&seven, 7);
    /* (r - 1) / 2^32 */
    uint64_t e[4];
    for (int i = 0; i < 4; i++) {
        e[i] = fr_modulus[i] >> 32;
        if (i < 3) e[i] |= fr_modulus[i + 1] << 32;
    }
    pow_words(&expected, &seven, e);
    ntt_root(&root, NTT_MAX_LOG);
    assert_true(fr_equal(&root, &expected));
    for (unsigned log_n = NTT_MAX_LOG; log_n > 0; log_n--) {
        ntt_root(&root, log_n - 1);
        ntt_root(&squared, log_n);
        fr_sqr(&squared, &squared);
        assert_true(fr_equal(&root, &squared));
    }
    assert_true(fr_equal(&root, &fr_one));
    fr minus_one;
    fr_neg(&minus_one, &fr_one);
    ntt_root(&root, 1);
    assert_true(fr_equal(&root, &minus_one));
}

/* out_j = factor sum_i a_i x^i at x = shift w^j, in the plainest way. */
static void evaluate_all(fr *out, const fr *a, size_t n, const fr *w, const fr *shift) {
    fr x = *shift;
    for (size_t j = 0; j < n; j++) {
        fr sum = fr_zero;
        for (size_t i = n; i-- > 0;) {
            fr_mul(&sum, &sum, &x);
            fr_add(&sum, &sum, &a[i]);
        }
        out[j] = sum;
        fr_mul(&x, &x, w);
    }
}

static void small_sizes_follow_the_definition(void **state) {
    (void)state;
    fr a[1 << DIRECT_LOG], expected[1 << DIRECT_LOG], got[1 << DIRECT_LOG];
    fr seven;
    fr_from_u64(&seven, 7);
    for (unsigned log_n = 0; log_n <= DIRECT_LOG; log_n++) {
        const size_t n = (size_t)1 << log_n;
        fr w;
        ntt_root(&w, log_n);
        for (int coset = 0; coset <= 1; coset++) {
            fill_random(a, n, 1000 * log_n);
            evaluate_all(expected, a, n, &w, coset ? &seven : &fr_one);
            if (coset) ntt_bit_reverse(expected, log_n, NULL);
            for (size_t k = 0; k < n_kernels; k++) {
                memcpy(got, a, n * sizeof(fr));
                apply(coset ? COSET_FORWARD : FORWARD, got, log_n, kernels[k]);
                assert_all_equal(got, expected, n);
                apply(coset ? COSET_INVERSE : INVERSE, got, log_n, kernels[k]);
                assert_all_equal(got, a, n);
            }
        }
    }
}

/* Kernels agree, results are reduced, and the inverse undoes the transform. */
static void check_size(unsigned log_n, bool edges) {
    const size_t n = (size_t)1 << log_n;
    struct mem_block blocks[3];
    fr *in = take(&blocks[0], n), *portable = take(&blocks[1], n), *got = take(&blocks[2], n);
    if (edges) {
        fill_edges(in, n);
    } else {
        fill_random(in, n, 7919 * log_n);
    }
    for (int which = 0; which < TRANSFORMS; which++) {
        memcpy(portable, in, n * sizeof(fr));
        apply(which, portable, log_n, &ntt_portable);
        for (size_t k = 0; k < n_kernels; k++) {
            memcpy(got, in, n * sizeof(fr));
            apply(which, got, log_n, kernels[k]);
            assert_all_equal(got, portable, n);
            apply(which ^ 1, got, log_n, kernels[k]);
            assert_all_equal(got, in, n);
        }
    }
    for (int i = 0; i < 3; i++)
        mem_give(&blocks[i]);
}

static void every_size_round_trips_on_every_kernel(void **state) {
    (void)state;
    for (unsigned log_n = 0; log_n <= EVERY_LOG; log_n++)
        check_size(log_n, false);
}

static void edge_values_round_trip_on_every_kernel(void **state) {
    (void)state;
    for (unsigned log_n = 0; log_n <= 14; log_n++)
        check_size(log_n, true);
}

/* All elements r-1, the largest value: the accumulations of a lazy kernel are at their worst. */
static void largest_values_do_not_overflow(void **state) {
    (void)state;
    struct mem_block block;
    fr minus_one;
    fr_neg(&minus_one, &fr_one);
    const fr largest_limbs = {{fr_modulus[0] - 1, fr_modulus[1], fr_modulus[2], fr_modulus[3]}};
    const fr values[2] = {minus_one, largest_limbs};
    for (unsigned log_n = 6; log_n <= EVERY_LOG; log_n++) {
        const size_t n = (size_t)1 << log_n;
        fr *a = take(&block, n);
        for (int v = 0; v < 2; v++) {
            for (size_t k = 0; k < n_kernels; k++) {
                fr sum, count;
                for (size_t i = 0; i < n; i++)
                    a[i] = values[v];
                apply(FORWARD, a, log_n, kernels[k]);
                fr_from_u64(&count, n);
                fr_mul(&sum, &values[v], &count);
                assert_true(fr_equal(&a[0], &sum));
                for (size_t i = 1; i < n; i++)
                    assert_true(fr_is_zero(&a[i]));
                /* and the other way: n values r-1 are the constant polynomial r-1 */
                for (size_t i = 0; i < n; i++)
                    a[i] = values[v];
                apply(INVERSE, a, log_n, kernels[k]);
                assert_true(fr_equal(&a[0], &values[v]));
                for (size_t i = 1; i < n; i++)
                    assert_true(fr_is_zero(&a[i]));
            }
        }
        mem_give(&block);
    }
}

static void a_delta_becomes_powers(void **state) {
    (void)state;
    struct mem_block block;
    const unsigned log_n = 11;
    const size_t n = (size_t)1 << log_n;
    fr *a = take(&block, n);
    fr w, step, x;
    ntt_root(&w, log_n);
    const size_t places[] = {0, 1, 2, 1023, 1024, 1025, 2047};
    for (size_t k = 0; k < n_kernels; k++) {
        for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
            memset(a, 0, n * sizeof(fr));
            a[places[p]] = fr_one;
            apply(FORWARD, a, log_n, kernels[k]);
            fr_pow_u64(&step, &w, places[p]);
            x = fr_one;
            for (size_t j = 0; j < n; j++) {
                assert_true(fr_equal(&a[j], &x));
                fr_mul(&x, &x, &step);
            }
        }
    }
    mem_give(&block);
}

static void transforms_are_linear(void **state) {
    (void)state;
    enum { LOG = 10, N = 1 << LOG };
    static fr a[N], b[N], mix[N];
    fr factor;
    fr_from_seed(&factor, seed, 77);
    for (size_t k = 0; k < n_kernels; k++) {
        for (int which = 0; which < TRANSFORMS; which++) {
            fill_random(a, N, 5000);
            fill_random(b, N, 9000);
            for (size_t i = 0; i < N; i++) {
                fr_mul(&mix[i], &factor, &a[i]);
                fr_add(&mix[i], &mix[i], &b[i]);
            }
            apply(which, a, LOG, kernels[k]);
            apply(which, b, LOG, kernels[k]);
            apply(which, mix, LOG, kernels[k]);
            for (size_t i = 0; i < N; i++) {
                fr t;
                fr_mul(&t, &factor, &a[i]);
                fr_add(&t, &t, &b[i]);
                assert_true(fr_equal(&t, &mix[i]));
            }
        }
    }
}

static void horner(fr *out, const fr *a, size_t n, const fr *x) {
    *out = fr_zero;
    for (size_t i = n; i-- > 0;) {
        fr_mul(out, out, x);
        fr_add(out, out, &a[i]);
    }
}

/* The polynomial's value at z from its values on the domain: (z^n - 1)/n sum_j v_j w^j/(z - w^j).
 */
static void interpolate_at(fr *out, const fr *values, unsigned log_n, const fr *z, fr *work) {
    const size_t n = (size_t)1 << log_n;
    fr w, x = fr_one, sum = fr_zero, factor, n_inv;
    ntt_root(&w, log_n);
    for (size_t j = 0; j < n; j++) {
        fr_sub(&work[j], z, &x);
        fr_mul(&x, &x, &w);
    }
    fr_batch_inv(work, n, work + n);
    for (size_t j = 0; j < n; j++) {
        fr t;
        fr_mul(&t, &values[j], &x);
        fr_mul(&t, &t, &work[j]);
        fr_add(&sum, &sum, &t);
        fr_mul(&x, &x, &w);
    }
    fr_pow_u64(&factor, z, n);
    fr_sub(&factor, &factor, &fr_one);
    fr_from_u64(&n_inv, n);
    fr_inv_var(&n_inv, &n_inv);
    fr_mul(&sum, &sum, &factor);
    fr_mul(out, &sum, &n_inv);
}

static void large_sizes_agree_at_a_random_point(void **state) {
    (void)state;
    struct pool *pool = NULL;
    struct mem_block blocks[4];
    assert_int_equal(pool_create(&pool, 3, NULL), CUZK_OK);
    /* one size of two passes, one of three that are not all alike */
    for (unsigned log_n = LARGE_LOG; log_n <= LARGE_LOG + 1; log_n++) {
        const size_t n = (size_t)1 << log_n;
        fr *a = take(&blocks[0], n), *v = take(&blocks[1], n), *work = take(&blocks[2], 2 * n);
        fr z, seven_z, seven, expected, got;
        fr_from_seed(&z, seed, (uint64_t)1 << 40);
        fr_from_u64(&seven, 7);
        fr_mul(&seven_z, &seven, &z);
        fill_random(a, n, 31337);
        for (size_t k = 0; k < n_kernels; k++) {
            struct ntt_plan *plan = make_plan(&blocks[3], log_n, kernels[k]);
            memcpy(v, a, n * sizeof(fr));
            ntt_forward(plan, v, pool);
            horner(&expected, a, n, &z);
            interpolate_at(&got, v, log_n, &z, work);
            assert_true(fr_equal(&got, &expected));
            ntt_inverse(plan, v, pool);
            assert_all_equal(v, a, n);
            ntt_coset_forward(plan, v, pool);
            horner(&expected, a, n, &seven_z);
            ntt_bit_reverse(v, log_n, pool);
            interpolate_at(&got, v, log_n, &z, work);
            assert_true(fr_equal(&got, &expected));
            ntt_bit_reverse(v, log_n, pool);
            ntt_coset_inverse(plan, v, pool);
            assert_all_equal(v, a, n);
            mem_give(&blocks[3]);
        }
        for (int i = 0; i < 3; i++)
            mem_give(&blocks[i]);
    }
    pool_destroy(pool);
}

static void bits_are_reversed_in_place(void **state) {
    (void)state;
    struct mem_block block;
    struct pool *pool = NULL;
    assert_int_equal(pool_create(&pool, 2, NULL), CUZK_OK);
    for (unsigned log_n = 0; log_n <= EVERY_LOG; log_n++) {
        const size_t n = (size_t)1 << log_n;
        fr *a = take(&block, n);
        for (size_t i = 0; i < n; i++)
            a[i].l[0] = i;
        ntt_bit_reverse(a, log_n, pool);
        for (size_t i = 0; i < n; i++) {
            size_t reversed = 0;
            for (unsigned bit = 0; bit < log_n; bit++)
                reversed |= (i >> bit & 1) << (log_n - 1 - bit);
            assert_int_equal(a[i].l[0], reversed);
        }
        mem_give(&block);
    }
    pool_destroy(pool);
}

static void the_vanishing_polynomial_is_inverted(void **state) {
    (void)state;
    fr seven, t, inverse;
    fr_from_u64(&seven, 7);
    for (unsigned log_n = 0; log_n <= NTT_MAX_LOG; log_n++) {
        fr_pow_u64(&t, &seven, (uint64_t)1 << log_n);
        fr_sub(&t, &t, &fr_one);
        ntt_coset_vanishing_inv(&inverse, log_n);
        fr_mul(&t, &t, &inverse);
        assert_true(fr_equal(&t, &fr_one));
    }
}

static void logarithms_are_rounded_up(void **state) {
    (void)state;
    assert_int_equal(ntt_log2_ceil(0), 0);
    assert_int_equal(ntt_log2_ceil(1), 0);
    assert_int_equal(ntt_log2_ceil(2), 1);
    assert_int_equal(ntt_log2_ceil(3), 2);
    for (unsigned k = 2; k < 64; k++) {
        assert_int_equal(ntt_log2_ceil(((uint64_t)1 << k) - 1), k);
        assert_int_equal(ntt_log2_ceil((uint64_t)1 << k), k);
        if (k < 63) assert_int_equal(ntt_log2_ceil(((uint64_t)1 << k) + 1), k + 1);
    }
}

/* The tables stay small, fit what was asked for, and give the roots even at the largest size. */
static void plans_keep_to_their_memory(void **state) {
    (void)state;
    assert_true(ntt_plan_bytes(27) <= 256 << 10);
    assert_true(ntt_plan_bytes(NTT_MAX_LOG) <= 1 << 20);
    struct mem_block block;
    for (unsigned log_n = 0; log_n <= NTT_MAX_LOG; log_n++) {
        const size_t bytes = ntt_plan_bytes(log_n);
        assert_int_equal(mem_take(&block, bytes + 64, MEM_OTHER, NULL), CUZK_OK);
        uint8_t *guard = (uint8_t *)block.ptr + bytes;
        memset(block.ptr, 0xa5, bytes + 64);
        const struct ntt_plan *plan = ntt_plan_init(block.ptr, log_n);
        for (int i = 0; i < 64; i++)
            assert_int_equal(guard[i], 0xa5);
        unsigned levels = 0;
        for (unsigned i = 0; i < plan->n_passes; i++) {
            const struct ntt_pass *pass = &plan->passes[i];
            assert_int_equal(pass->above, levels);
            levels += pass->rows;
            assert_int_equal(pass->below, log_n - levels);
            assert_in_range(pass->rows, 1, NTT_MAX_ROWS_LOG);
            if (pass->above == 0) continue;
            const struct ntt_run run = {
                .plan = plan, .pass = pass, .direction = &plan->direction[0], .base = fr_one};
            fr shift, w;
            const size_t last = ((size_t)1 << pass->above) - 1;
            ntt_block_shift(&shift, &run, last);
            ntt_root(&w, pass->above + pass->rows);
            fr_pow_u64(&w, &w, last);
            assert_true(fr_equal(&shift, &w));
        }
        assert_int_equal(levels, log_n);
        mem_give(&block);
    }
}

static void the_kernel_can_be_named(void **state) {
    (void)state;
    const struct ntt_kernel *chosen = ntt_kernel_chosen();
    assert_string_equal(ntt_kernel_name(), chosen->name);
    const char *wish = getenv("CUZK_CPU");
    if (wish != NULL && strcmp(wish, "portable") == 0)
        assert_ptr_equal(chosen, &ntt_portable);
    else
        assert_ptr_equal(chosen, ntt_ifma() != NULL ? ntt_ifma() : &ntt_portable);
}

int main(void) {
    kernels[n_kernels++] = &ntt_portable;
    if (ntt_ifma() != NULL) kernels[n_kernels++] = ntt_ifma();
    printf("kernels: portable%s; the random vectors come from fr_from_seed(\"test_ntt\")\n",
           n_kernels == 2 ? ", avx512-ifma" : " (this processor has no AVX-512 IFMA)");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_are_bellpersons),
        cmocka_unit_test(bits_are_reversed_in_place),
        cmocka_unit_test(small_sizes_follow_the_definition),
        cmocka_unit_test(every_size_round_trips_on_every_kernel),
        cmocka_unit_test(edge_values_round_trip_on_every_kernel),
        cmocka_unit_test(largest_values_do_not_overflow),
        cmocka_unit_test(a_delta_becomes_powers),
        cmocka_unit_test(transforms_are_linear),
        cmocka_unit_test(large_sizes_agree_at_a_random_point),
        cmocka_unit_test(the_vanishing_polynomial_is_inverted),
        cmocka_unit_test(logarithms_are_rounded_up),
        cmocka_unit_test(plans_keep_to_their_memory),
        cmocka_unit_test(the_kernel_can_be_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
