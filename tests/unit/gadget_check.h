/*
 * Runs a gadget in both modes and holds the rows of one against the values of the other.
 *
 * The body gets its input as `ctx` and must do the same in both modes. Everything it allocates
 * before gadget_inputs_end() counts as input: what the inputs are is the test's own choice, while
 * every variable after them must be determined by the rows.
 */
#ifndef TESTS_GADGET_CHECK_H
#define TESTS_GADGET_CHECK_H

#include "cs.h"

typedef void (*gadget_body)(struct cs *cs, void *ctx);

/* Marks the end of the inputs; to be called once by the body. */
void gadget_inputs_end(struct cs *cs);

struct gadget_counts {
    uint32_t n_inputs, n_aux, n_elements;
    uint64_t n_rows; /* the input rows at the end not counted */
};

/*
 * Asserts that all modes allocate alike, that every row holds, and that no variable behind the
 * inputs can be changed without breaking a row (a sample of them, when there are many).
 */
struct gadget_counts gadget_check(gadget_body body, void *ctx);

/* For large gadgets: allocations alike, templates equal to what they stand for, every row holds. */
struct gadget_counts gadget_check_recorded(gadget_body body, void *ctx);

/* Rows and variables alone, from the structure mode. */
struct gadget_counts gadget_count(gadget_body body, void *ctx);

/* A reproducible stream of random numbers; each test prints its seed. */
uint64_t test_random(uint64_t *state);

#endif
