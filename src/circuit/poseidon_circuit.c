#include "poseidon_circuit.h"

#include <assert.h>

#include "poseidon_mix.h"

/* At most: the outputs of the last full round before the partial ones, and of those. */
enum { MAX_BASIS = POSEIDON_MAX_WIDTH + POSEIDON_MAX_PARTIAL };

/*
 * The state between S-boxes in CS_STRUCTURE: element j is the sum of coefficient[j][k] basis[k].
 * The basis are the outputs of S-boxes, each once, so that nothing has to be merged.
 */
struct combinations {
    unsigned n;
    var basis[MAX_BASIS];
    fr coefficient[POSEIDON_MAX_WIDTH][MAX_BASIS];
};

struct sponge {
    struct cs *cs;
    const struct poseidon_params *p;
    struct poseidon_state values;     /* in CS_WITNESS */
    struct combinations combinations; /* in CS_STRUCTURE */
};

/* ---- linear layers on combinations; poseidon_mix.h has them on values ---- */

/* The dense layer of full round r over its S-boxes' outputs. */
static void combine_full(struct sponge *s, unsigned r, const var *outputs) {
    const struct poseidon_params *p = s->p;
    struct combinations *c = &s->combinations;
    c->n = p->width;
    memcpy(c->basis, outputs, p->width * sizeof(var));
    for (unsigned j = 0; j < p->width; j++) {
        const fr *row = r == POSEIDON_HALF_ROUNDS - 1 ? p->pre_sparse[j] : p->mds[j];
        memcpy(c->coefficient[j], row, p->width * sizeof(fr));
        /* The tag's S-box has no variable: its output is a multiple of ONE. */
        if (r == 0) fr_mul(&c->coefficient[j][0], &row[0], &p->first_of_tag);
    }
}

/* The sparse layer of partial round i; x is its S-box's output. */
static void combine_partial(struct sponge *s, unsigned i, var x) {
    const struct poseidon_params *p = s->p;
    struct combinations *c = &s->combinations;
    for (unsigned k = 0; k < c->n; k++) {
        fr sum = fr_zero;
        for (unsigned j = 1; j < p->width; j++) {
            fr t;
            fr_mul(&t, &p->w[i][j], &c->coefficient[j][k]);
            fr_add(&sum, &sum, &t);
        }
        c->coefficient[0][k] = sum;
    }
    c->basis[c->n] = x;
    c->coefficient[0][c->n] = p->w[i][0];
    for (unsigned j = 1; j < p->width; j++) {
        c->coefficient[j][c->n] = p->v[i / POSEIDON_BLOCK][j][i % POSEIDON_BLOCK];
    }
    c->n++;
}

/* ---- rows ---- */

/* left * right = out + constant, where left and right are variables plus a constant each, which
 * may be NULL. */
static void row_product(struct cs *cs, var left, const fr *left_add, var right, const fr *right_add,
                        var out, const fr *out_add) {
    const var v[3] = {left, right, out};
    const fr *const add[3] = {left_add, right_add, out_add};
    struct lc_term terms[3][2];
    struct lc abc[3];
    for (int i = 0; i < 3; i++) {
        terms[i][0] = (struct lc_term){.v = v[i], .c = fr_one};
        if (add[i] != NULL) terms[i][1] = (struct lc_term){.v = VAR_ONE, .c = *add[i]};
        abc[i] = (struct lc){.terms = terms[i], .n = add[i] != NULL ? 2 : 1, .capacity = 2};
    }
    cs_enforce(cs, &abc[0], &abc[1], &abc[2]);
}

/* element j * 1 = v */
static void row_element(struct sponge *s, unsigned j, var v) {
    const struct combinations *c = &s->combinations;
    struct lc_term terms[MAX_BASIS], one = {.v = VAR_ONE, .c = fr_one}, out = {.v = v, .c = fr_one};
    for (unsigned k = 0; k < c->n; k++) {
        terms[k] = (struct lc_term){.v = c->basis[k], .c = c->coefficient[j][k]};
    }
    cs_enforce(s->cs, &(struct lc){.terms = terms, .n = c->n, .capacity = MAX_BASIS},
               &(struct lc){.terms = &one, .n = 1, .capacity = 1},
               &(struct lc){.terms = &out, .n = 1, .capacity = 1});
}

/* ---- gadget ---- */

/* Element j of the state as a variable. */
static void allocate_element(struct sponge *s, unsigned j, struct num *out) {
    out->value = s->values.s[j];
    out->v = cs_alloc_num(s->cs, &out->value);
    if (cs_has_rows(s->cs)) row_element(s, j, out->v);
}

/* out = (l + pre)^5 + post; pre and post may be NULL. `out` may be `l`. */
static void s_box(struct sponge *s, struct num *out, const struct num *l, const fr *pre,
                  const fr *post) {
    struct cs *const cs = s->cs;
    const var v = l->v;
    fr sum = l->value, l2, l4;
    if (pre != NULL) fr_add(&sum, &sum, pre);
    fr_sqr(&l2, &sum);
    const var v2 = cs_alloc_num(cs, &l2);
    fr_sqr(&l4, &l2);
    const var v4 = cs_alloc_num(cs, &l4);
    fr_mul(&out->value, &l4, &sum);
    if (post != NULL) fr_add(&out->value, &out->value, post);
    out->v = cs_alloc_num(cs, &out->value);

    if (cs_has_rows(cs)) {
        fr minus_post;
        if (post != NULL) fr_neg(&minus_post, post);
        row_product(cs, v, pre, v, pre, v2, NULL);
        row_product(cs, v2, NULL, v2, NULL, v4, NULL);
        row_product(cs, v, pre, v4, NULL, out->v, post != NULL ? &minus_post : NULL);
    }
}

/* Full round r up to its linear layer; `in` are the hash's inputs in round 0, else NULL. */
static void full_s_boxes(struct sponge *s, unsigned r, const struct num *in, var *outputs) {
    const struct poseidon_params *p = s->p;
    unsigned j = 0;
    if (r == 0) {
        s->values.s[0] = p->first_of_tag;
        outputs[0] = VAR_ONE;
        j = 1;
    }
    for (; j < p->width; j++) {
        const fr *post = r < POSEIDON_FULL_ROUNDS - 1 ? &p->full[r][j] : NULL;
        struct num element;
        if (r == 0) {
            s_box(s, &element, &in[j - 1], &p->pre[j], post);
        } else {
            allocate_element(s, j, &element);
            s_box(s, &element, &element, NULL, post);
        }
        s->values.s[j] = element.value;
        outputs[j] = element.v;
    }
}

static void full_round(struct sponge *s, unsigned r, const struct num *in) {
    var outputs[POSEIDON_MAX_WIDTH];
    full_s_boxes(s, r, in, outputs);
    if (cs_has_rows(s->cs)) {
        combine_full(s, r, outputs);
    } else {
        poseidon_mix_full(s->p, r, &s->values);
    }
}

static void partial_round(struct sponge *s, unsigned i) {
    struct num x;
    allocate_element(s, 0, &x);
    s_box(s, &x, &x, NULL, &s->p->partial[i]);
    s->values.s[0] = x.value;
    if (cs_has_rows(s->cs)) {
        combine_partial(s, i, x.v);
    } else {
        poseidon_mix_partial(s->p, i, &s->values);
    }
}

/* Of the last linear layer only the element is made that is the hash. */
static void last_round(struct sponge *s, struct num *out) {
    const unsigned r = POSEIDON_FULL_ROUNDS - 1;
    var outputs[POSEIDON_MAX_WIDTH];
    full_s_boxes(s, r, NULL, outputs);
    if (cs_has_rows(s->cs)) {
        combine_full(s, r, outputs);
    } else {
        poseidon_mix_last(s->p, &s->values, &s->values.s[1]);
    }
    allocate_element(s, 1, out);
}

static void permute(struct cs *cs, struct num *out, const struct num *in, unsigned arity) {
    struct sponge s;
    s.cs = cs;
    s.p = poseidon_params(arity);
    if (cs_has_rows(cs)) memset(&s.values, 0, sizeof s.values);

    full_round(&s, 0, in);
    for (unsigned r = 1; r < POSEIDON_HALF_ROUNDS; r++)
        full_round(&s, r, NULL);
    for (unsigned i = 0; i < s.p->n_partial; i++)
        partial_round(&s, i);
    for (unsigned r = POSEIDON_HALF_ROUNDS; r < POSEIDON_FULL_ROUNDS - 1; r++) {
        full_round(&s, r, NULL);
    }
    last_round(&s, out);
    /* Without values in, what was computed means nothing. */
    if (cs_has_rows(cs)) out->value = fr_zero;
}

void poseidon_circuit(struct cs *cs, struct num *out, const struct num *in, unsigned arity) {
    struct num local[POSEIDON_MAX_ARITY];
    var *ports[POSEIDON_MAX_ARITY];
    var *const out_vars[1] = {&out->v};
    assert(arity <= POSEIDON_MAX_ARITY);
    for (unsigned i = 0; i < arity; i++) {
        local[i] = in[i];
        ports[i] = &local[i].v;
    }
    const struct cs_call call = {.name = "poseidon",
                                 .key = &arity,
                                 .key_bytes = sizeof arity,
                                 .in = ports,
                                 .n_in = arity,
                                 .out = out,
                                 .out_bytes = sizeof *out,
                                 .out_vars = out_vars,
                                 .n_out_vars = 1};
    memset(out, 0, sizeof *out);
    if (cs_call_enter(cs, &call)) {
        permute(cs, out, local, arity);
        cs_call_leave(cs, &call);
    }
}
