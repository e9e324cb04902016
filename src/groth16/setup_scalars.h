/*
 * The scalars of a set-up: the secrets, and the circuit's polynomials evaluated at tau.
 *
 * Internal to setup.c; a header of its own because it can be tested without any curve point.
 */
#ifndef GROTH16_SETUP_SCALARS_H
#define GROTH16_SETUP_SCALARS_H

#include "mem.h"
#include "setup.h"

struct setup_secrets {
    fr alpha, beta, gamma, delta, tau;
};

/* Fresh ones, or those of the seed; none is zero and tau is not in the domain. */
void setup_secrets_draw(struct setup_secrets *out, const struct setup_options *options,
                        unsigned log_n);

/*
 * For every variable (inputs first, then aux) the values at tau of its polynomials:
 * u, v, w: column i of A, B, C interpolated over the domain.
 */
struct setup_columns {
    fr *u, *v, *w;
    size_t n_variables, n_inputs;
    struct mem_block block; /* owns all three */
};

/* The system is walked once for each matrix, by three tasks of the pool. Errors: NO_MEMORY. */
CUZK_NODISCARD cuzk_status setup_columns_make(struct setup_columns *out, const struct r1cs *r1cs,
                                              const struct r1cs_stats *stats, const fr *tau,
                                              struct pool *pool, struct cuzk_error *err);
void setup_columns_destroy(struct setup_columns *c); /* wipes: u, v, w give tau away */

/* Z(tau) = tau^n - 1 for the domain of n = 2^log_n points. */
void setup_vanishing(fr *out, const fr *tau, unsigned log_n);

#endif
