/*
 * The recorder: a stack of frames, each a template in the making. Private to the room.
 *
 * Every function but create and destroy does nothing once the structure has failed.
 */
#ifndef R1CS_RECORDER_H
#define R1CS_RECORDER_H

#include "cs_structure.h"
#include "matrices.h"

CUZK_NODISCARD cuzk_status recorder_create(struct recorder **out, bool check_stamps,
                                           struct cuzk_error *err);
void recorder_destroy(struct recorder *rec); /* accepts NULL */

void recorder_row(struct cs_structure *s, const struct row_lc row[3]);
/* n bits were allocated, the first of them with index `first`. */
void recorder_bits(struct cs_structure *s, uint32_t first, uint32_t n);
void recorder_scope(struct cs_structure *s, const char *name, int index); /* name NULL: end */
bool recorder_enter(struct cs_structure *s, const struct cs_call *call);
void recorder_leave(struct cs_structure *s, const struct cs_call *call);

/* What the frames below the current one have allocated. */
struct cs_position recorder_outer(const struct cs_structure *s);

/* Ends the root frame and hands the system over. */
CUZK_NODISCARD cuzk_status recorder_finish(struct cs_structure *s, struct r1cs **out,
                                           struct cuzk_error *err);

#endif
