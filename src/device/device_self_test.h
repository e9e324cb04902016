/*
 * The self-test of a device: one small proof with a known answer.
 *
 * A circuit of a dozen steps with bits and elements is recorded, parameters are made for it from
 * fixed secrets, a proof is made with fixed blinding, compared with the one that is known, and
 * verified. It takes some tens of milliseconds, no file and some MiB.
 */
#ifndef DEVICE_DEVICE_SELF_TEST_H
#define DEVICE_DEVICE_SELF_TEST_H

#include "backend.h"

/* Errors: INTERNAL, saying at which step another result came out; NO_MEMORY, RANDOMNESS. */
CUZK_NODISCARD cuzk_status device_self_test(const struct backend *backend, struct pool *pool,
                                            struct cuzk_error *err);

#endif
