/*
 * A folder with the development parameters of a small circuit, and the means to damage them.
 * Functions fail the test that calls them when the system lets them down.
 */
#ifndef PARAM_FIXTURE_H
#define PARAM_FIXTURE_H

#include <stdint.h>

#include "param_layout.h"
#include "pool.h"
#include "tiny_circuit.h"

struct param_fixture {
    char folder[64], params[128], vk[128], stamp[160];
    struct r1cs *r1cs;
    struct r1cs_stats stats;
    struct param_layout layout;
    uint8_t *good; /* the undamaged parameter file, layout.file_bytes */
    struct pool *pool;
};

void param_fixture_init(struct param_fixture *f, unsigned n_bits);
/* Removes the files and the folder, which must hold nothing else. */
void param_fixture_deinit(struct param_fixture *f);

void write_whole(const char *path, const void *data, size_t n);
/* Loads the parameter file without stamps; *err says what was wrong. Frees what was loaded. */
cuzk_status param_fixture_load(const struct param_fixture *f, struct cuzk_error *err);
/* Where a point stands in the file. */
uint64_t param_fixture_point(const struct param_fixture *f, enum param_section section,
                             uint32_t index);

/* Points on the curves that are not in the groups, encoded. */
void bad_point_g1(uint8_t out[96]);  /* (0, 2): its order is 3 */
void bad_point_g2(uint8_t out[192]); /* x = 2 */

#endif
