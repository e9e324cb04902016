/*
 * CS_STRUCTURE's state: the flat mode and what it shares with the recorder. Private to the room.
 */
#ifndef R1CS_CS_STRUCTURE_H
#define R1CS_CS_STRUCTURE_H

#include "lc_sort.h"

struct recorder;

struct cs_structure {
    /* Of the current frame; n_inputs without ONE, so that the newest input has this number. */
    struct cs_position counts;
    struct row_sink sink;      /* flat mode */
    struct recorder *recorder; /* recorder mode, else NULL */
    struct lc normal[3];       /* the row that is being enforced, in order */
    struct sort_scratch sort;
    /* The first failure. Everything after it is ignored, and cs_finish returns it. */
    cuzk_status status;
    struct cuzk_error error;
};

/* Sets the first failure. */
void structure_fail(struct cs_structure *s, cuzk_status code, const char *what);

struct cs_position structure_position(const struct cs_structure *s);
CUZK_NODISCARD cuzk_status structure_finish(struct cs *cs, struct r1cs **r1cs,
                                            struct cuzk_error *err);
void structure_destroy(struct cs_structure *s); /* accepts NULL */

#endif
