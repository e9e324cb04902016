/*
 * Number-theoretic transforms over Fr on the domain of the 2^log_n-th roots of unity.
 *
 * The root is g^((r-1)/2^32) squared down, with g = 7, the field's generator as bellperson takes
 * it; the coset is the domain times 7. Elements are in Montgomery form. Coefficients and values on
 * the domain are in natural order; values on the coset are in bit-reversed order, which spares the
 * permutations on the way there and back: whoever multiplies them does not mind.
 *
 * plan → ntt_plan_bytes → ntt_plan_init on memory of the caller → run. A plan is immutable after
 * init and may be used by any number of threads at once; the data of a call belongs to the call.
 * A call works in place; beside the data it uses up to 200 KiB of stack in each thread.
 */
#ifndef POLY_NTT_H
#define POLY_NTT_H

#include "fr.h"
#include "mem.h"
#include "pool.h"

enum { NTT_MAX_LOG = 32 };

struct ntt_plan; /* twiddle tables for one size */

/* Bytes of tables for a domain of 2^log_n: 60 KiB for 2^22, 136 KiB for 2^27, 548 KiB for 2^32. */
size_t ntt_plan_bytes(unsigned log_n);
/* Lays the plan into `memory` (aligned to 64 bytes, ntt_plan_bytes long) and returns it; log_n up
 * to NTT_MAX_LOG. */
struct ntt_plan *ntt_plan_init(void *memory, unsigned log_n);

/* values at the domain's points from coefficients: out_j = sum_i a_i w^(ij) */
void ntt_forward(const struct ntt_plan *plan, fr *a, struct pool *pool);
/* coefficients from values, the factor 1/n included */
void ntt_inverse(const struct ntt_plan *plan, fr *a, struct pool *pool);
/* values at the coset's points: out_brv(j) = sum_i a_i (7 w^j)^i */
void ntt_coset_forward(const struct ntt_plan *plan, fr *a, struct pool *pool);
/* coefficients from values in that order */
void ntt_coset_inverse(const struct ntt_plan *plan, fr *a, struct pool *pool);

/* w: the domain's generator. */
void ntt_root(fr *out, unsigned log_n);
/* 1 / (7^n - 1): the inverse of the vanishing polynomial, which is constant on the coset. */
void ntt_coset_vanishing_inv(fr *out, unsigned log_n);

/* The smallest k with 2^k >= n. */
unsigned ntt_log2_ceil(uint64_t n);

/* Name of the kernel set that this processor runs ("avx512-ifma", "portable"). CUZK_CPU=portable in
 * the environment of a test or a bench forces the latter. */
const char *ntt_kernel_name(void);

#endif
