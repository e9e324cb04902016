#include "cs_structure.h"

#include <assert.h>
#include <stdlib.h>

#include "recorder.h"

void structure_fail(struct cs_structure *s, cuzk_status code, const char *what) {
    if (s->status != CUZK_OK) return;
    s->status = code;
    error_set(&s->error, code, "circuit", NULL, "%s", what);
}

static cuzk_status create_structure(struct cs **out, struct cuzk_error *err) {
    *out = NULL;
    struct cs *cs = calloc(1, sizeof *cs);
    struct cs_structure *s = calloc(1, sizeof *s);
    if (cs == NULL || s == NULL) {
        free(cs);
        free(s);
        return error_set(err, CUZK_NO_MEMORY, "circuit", NULL, "no memory for a recorder");
    }
    cs->mode = CS_STRUCTURE;
    cs->structure = s;
    *out = cs;
    return CUZK_OK;
}

cuzk_status cs_create_flat(struct cs **out, const struct row_sink *sink, struct cuzk_error *err) {
    CUZK_TRY(create_structure(out, err));
    (*out)->structure->sink = *sink;
    return CUZK_OK;
}

cuzk_status cs_create_recorder(struct cs **out, bool check_stamps, struct cuzk_error *err) {
    CUZK_TRY(create_structure(out, err));
    const cuzk_status status = recorder_create(&(*out)->structure->recorder, check_stamps, err);
    if (status != CUZK_OK) {
        cs_destroy(*out);
        *out = NULL;
    }
    return status;
}

void structure_destroy(struct cs_structure *s) {
    if (s == NULL) return;
    for (int i = 0; i < 3; i++)
        lc_free(&s->normal[i]);
    sort_scratch_free(&s->sort);
    recorder_destroy(s->recorder);
    free(s);
}

/* Checks that n more than `count` still fit a var; the circuit is given up where they do not. */
static bool room_for(struct cs_structure *s, uint32_t count, uint32_t n) {
    if (n <= VAR_INDEX_MASK - count) return true;
    structure_fail(s, CUZK_INTERNAL, "the circuit has more than 2^30 variables");
    return false;
}

var cs_structure_alloc_bits(struct cs *cs, unsigned n) {
    struct cs_structure *s = cs->structure;
    assert(n <= 64);
    if (!room_for(s, s->counts.n_aux, n)) return VAR_ONE;
    const var first = var_make(VAR_AUX, s->counts.n_aux);
    if (s->recorder != NULL) recorder_bits(s, s->counts.n_aux, n);
    s->counts.n_aux += n;
    return first;
}

var cs_structure_alloc_num(struct cs *cs) {
    struct cs_structure *s = cs->structure;
    if (!room_for(s, s->counts.n_aux, 1)) return VAR_ONE;
    s->counts.n_elements++;
    return var_make(VAR_AUX, s->counts.n_aux++);
}

var cs_structure_alloc_input(struct cs *cs) {
    struct cs_structure *s = cs->structure;
    if (!room_for(s, s->counts.n_inputs, 1)) return VAR_ONE;
    return var_make(VAR_INPUT, ++s->counts.n_inputs);
}

void cs_structure_enforce(struct cs *cs, const struct lc *a, const struct lc *b,
                          const struct lc *c) {
    struct cs_structure *s = cs->structure;
    if (s->status != CUZK_OK) return;
    const struct lc *const in[3] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        if (lc_normalize(&s->normal[i], in[i], &s->sort)) continue;
        structure_fail(s, CUZK_NO_MEMORY, "no memory for a linear combination");
        return;
    }
    const struct row_lc row[3] = {{s->normal[0].terms, s->normal[0].n},
                                  {s->normal[1].terms, s->normal[1].n},
                                  {s->normal[2].terms, s->normal[2].n}};
    if (s->recorder != NULL)
        recorder_row(s, row);
    else
        s->sink.row(s->sink.ctx, row);
}

void cs_structure_scope_begin(struct cs *cs, const char *name, int index) {
    if (cs->structure->recorder != NULL) recorder_scope(cs->structure, name, index);
}

void cs_structure_scope_end(struct cs *cs) {
    if (cs->structure->recorder != NULL) recorder_scope(cs->structure, NULL, 0);
}

bool cs_structure_call_enter(struct cs *cs, const struct cs_call *call) {
    return cs->structure->recorder == NULL || recorder_enter(cs->structure, call);
}

void cs_structure_call_leave(struct cs *cs, const struct cs_call *call) {
    if (cs->structure->recorder != NULL) recorder_leave(cs->structure, call);
}

struct cs_position structure_position(const struct cs_structure *s) {
    struct cs_position p = s->counts;
    if (s->recorder != NULL) {
        const struct cs_position outer = recorder_outer(s);
        p.n_inputs += outer.n_inputs;
        p.n_aux += outer.n_aux;
        p.n_elements += outer.n_elements;
    }
    p.n_inputs++; /* ONE */
    return p;
}

/* input_i * 0 = 0 for each input, as prover and generator of the public system append them. */
static void enforce_inputs(struct cs *cs) {
    struct lc input = {0};
    const struct lc none = {0};
    const uint32_t n = cs->structure->counts.n_inputs + 1;
    cs_scope_begin(cs, "inputs", -1);
    for (uint32_t i = 0; i < n; i++) {
        lc_clear(&input);
        lc_add_var(&input, var_make(VAR_INPUT, i));
        cs_structure_enforce(cs, &input, &none, &none);
    }
    cs_scope_end(cs);
    lc_free(&input);
}

cuzk_status structure_finish(struct cs *cs, struct r1cs **r1cs, struct cuzk_error *err) {
    struct cs_structure *s = cs->structure;
    if (s->status == CUZK_OK) enforce_inputs(cs);
    if (s->status != CUZK_OK) {
        if (err != NULL) *err = s->error;
        return s->status;
    }
    if (s->recorder == NULL || r1cs == NULL) return CUZK_OK;
    return recorder_finish(s, r1cs, err);
}
