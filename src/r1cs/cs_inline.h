/*
 * The part of the constraint system that is called millions of times while a witness is made, and
 * the layout that it needs. Included by cs.h alone; only the functions of cs.h are for use.
 *
 * The bit cursor: `pending` holds the low `fill` bits (fill < 64) that belong at the start of
 * *word and are not written yet. A full word is stored plainly, since it belongs to this writer
 * alone, but for the first one, whose low bits may be another fork's: `word_limit` then equals
 * `word`, which sends that store down the slow path, where it is an atomic OR.
 */
#ifndef R1CS_CS_INLINE_H
#define R1CS_CS_INLINE_H

#include "cs.h"

struct cs_structure;

struct cs {
    enum cs_mode mode;
    unsigned fill;
    uint64_t pending;
    uint64_t *word, *word_limit;
    fr *element, *element_end;
    fr *input, *input_end;
    bool overflow; /* more was allocated than the witness holds */
    bool is_fork;
    struct witness *witness;
    struct cs_structure *structure; /* CS_STRUCTURE's state, else NULL */
};

void cs_store_word_slow(struct cs *cs, uint64_t word);
void cs_overflow(struct cs *cs);
var cs_structure_alloc_bits(struct cs *cs, unsigned n);
var cs_structure_alloc_num(struct cs *cs);
var cs_structure_alloc_input(struct cs *cs);
void cs_structure_enforce(struct cs *cs, const struct lc *a, const struct lc *b,
                          const struct lc *c);
void cs_structure_scope_begin(struct cs *cs, const char *name, int index);
void cs_structure_scope_end(struct cs *cs);
bool cs_structure_call_enter(struct cs *cs, const struct cs_call *call);
void cs_structure_call_leave(struct cs *cs, const struct cs_call *call);

static inline enum cs_mode cs_mode_of(const struct cs *cs) {
    return cs->mode;
}

static inline bool cs_has_rows(const struct cs *cs) {
    return cs->mode == CS_STRUCTURE;
}

static inline void cs_push_bits(struct cs *cs, uint64_t values, unsigned n) {
    const unsigned fill = cs->fill;
    const uint64_t pending = cs->pending | values << fill;
    if (fill + n < 64) {
        cs->pending = pending;
        cs->fill = fill + n;
        return;
    }
    if (cs->word < cs->word_limit)
        *cs->word++ = pending;
    else
        cs_store_word_slow(cs, pending);
    cs->pending = fill > 0 ? values >> (64 - fill) : 0;
    cs->fill = fill + n - 64;
}

static inline var cs_alloc_bits(struct cs *cs, uint64_t values, unsigned n) {
    if (cs->mode == CS_STRUCTURE) return cs_structure_alloc_bits(cs, n);
    cs_push_bits(cs, values, n);
    return VAR_ONE;
}

static inline var cs_alloc_num(struct cs *cs, const fr *value) {
    if (cs->mode == CS_STRUCTURE) return cs_structure_alloc_num(cs);
    if (cs->element == cs->element_end) {
        cs_overflow(cs);
        return VAR_ONE;
    }
    *cs->element++ = *value;
    cs_push_bits(cs, 0, 1);
    return VAR_ONE;
}

static inline void cs_enforce(struct cs *cs, const struct lc *a, const struct lc *b,
                              const struct lc *c) {
    if (cs->mode == CS_STRUCTURE) cs_structure_enforce(cs, a, b, c);
}

static inline void cs_scope_begin(struct cs *cs, const char *name, int index) {
    if (cs->mode == CS_STRUCTURE) cs_structure_scope_begin(cs, name, index);
}

static inline void cs_scope_end(struct cs *cs) {
    if (cs->mode == CS_STRUCTURE) cs_structure_scope_end(cs);
}

static inline bool cs_call_enter(struct cs *cs, const struct cs_call *call) {
    return cs->mode == CS_WITNESS || cs_structure_call_enter(cs, call);
}

static inline void cs_call_leave(struct cs *cs, const struct cs_call *call) {
    if (cs->mode == CS_STRUCTURE) cs_structure_call_leave(cs, call);
}

#endif
