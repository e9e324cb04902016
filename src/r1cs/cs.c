#include "cs.h"

#include <assert.h>
#include <stdlib.h>

#include "cs_structure.h"

/* ---- witness mode ---- */

void cs_overflow(struct cs *cs) {
    cs->overflow = true;
}

/* The first full word of a writer, or one past the plane. */
void cs_store_word_slow(struct cs *cs, uint64_t word) {
    uint64_t *const end = cs->witness->values + cs->witness->n_aux / 64 + 1;
    if (cs->word >= end) {
        cs_overflow(cs);
        return;
    }
    __atomic_fetch_or(cs->word, word, __ATOMIC_RELAXED);
    cs->word++;
    cs->word_limit = end;
}

cuzk_status cs_fork_witness(struct cs **out, struct witness *w, struct cs_position at,
                            struct cuzk_error *err) {
    *out = NULL;
    assert(at.n_inputs >= 1 && at.n_inputs <= w->n_inputs && at.n_aux <= w->n_aux &&
           at.n_elements <= w->n_elements);
    struct cs *cs = calloc(1, sizeof *cs);
    if (cs == NULL)
        return error_set(err, CUZK_NO_MEMORY, "witness", NULL, "no memory for a witness writer");
    cs->mode = CS_WITNESS;
    cs->is_fork = true;
    cs->witness = w;
    cs->word = cs->word_limit = w->values + at.n_aux / 64;
    cs->fill = at.n_aux % 64;
    cs->element = w->elements + at.n_elements;
    cs->element_end = w->elements + w->n_elements;
    cs->input = w->inputs + at.n_inputs;
    cs->input_end = w->inputs + w->n_inputs;
    *out = cs;
    return CUZK_OK;
}

cuzk_status cs_create_witness(struct cs **out, struct witness *w, struct cuzk_error *err) {
    CUZK_TRY(cs_fork_witness(out, w, (struct cs_position){.n_inputs = 1}, err));
    (*out)->is_fork = false;
    return CUZK_OK;
}

static struct cs_position witness_position(const struct cs *cs) {
    const struct witness *w = cs->witness;
    return (struct cs_position){
        .n_inputs = (uint32_t)(cs->input - w->inputs),
        .n_aux = (uint32_t)((size_t)(cs->word - w->values) * 64 + cs->fill),
        .n_elements = (uint32_t)(cs->element - w->elements),
    };
}

static cuzk_status finish_witness(struct cs *cs, struct cuzk_error *err) {
    const struct witness *w = cs->witness;
    const struct cs_position p = witness_position(cs);
    /* The last word may be shared with the fork behind this one. */
    if (cs->pending != 0) __atomic_fetch_or(cs->word, cs->pending, __ATOMIC_RELAXED);
    cs->pending = 0;
    const bool same =
        p.n_inputs == w->n_inputs && p.n_aux == w->n_aux && p.n_elements == w->n_elements;
    if (!cs->overflow && p.n_aux <= w->n_aux && (same || cs->is_fork)) return CUZK_OK;
    return error_set(err, CUZK_INTERNAL, "witness", "report this",
                     "%s%u inputs, %u variables, %u elements were allocated; the circuit has %u, "
                     "%u, %u",
                     cs->overflow ? "more than " : "", p.n_inputs, p.n_aux, p.n_elements,
                     w->n_inputs, w->n_aux, w->n_elements);
}

/* ---- both ---- */

var cs_alloc_input(struct cs *cs, const fr *value) {
    if (cs->mode == CS_STRUCTURE) return cs_structure_alloc_input(cs);
    if (cs->input == cs->input_end)
        cs_overflow(cs);
    else
        *cs->input++ = *value;
    return VAR_ONE;
}

struct cs_position cs_position_of(const struct cs *cs) {
    return cs->mode == CS_WITNESS ? witness_position(cs) : structure_position(cs->structure);
}

cuzk_status cs_finish(struct cs *cs, struct r1cs **r1cs, struct cuzk_error *err) {
    if (r1cs != NULL) *r1cs = NULL;
    if (cs->mode == CS_WITNESS) return finish_witness(cs, err);
    return structure_finish(cs, r1cs, err);
}

void cs_destroy(struct cs *cs) {
    if (cs == NULL) return;
    structure_destroy(cs->structure);
    free(cs);
}
