#include "num.h"

#include <assert.h>

/* A combination of at most two variables with coefficients 1 and -1, on the stack. */
struct pair {
    struct lc_term terms[2];
    struct lc lc;
};

static const struct lc *pair_set(struct pair *p, var first) {
    p->terms[0] = (struct lc_term){.v = first, .c = fr_one};
    p->lc = (struct lc){.terms = p->terms, .n = 1, .capacity = 2};
    return &p->lc;
}

static const struct lc *pair_sum(struct pair *p, var first, var second) {
    pair_set(p, first);
    lc_add_var(&p->lc, second);
    return &p->lc;
}

static const struct lc *pair_difference(struct pair *p, var first, var second) {
    pair_set(p, first);
    lc_sub_var(&p->lc, second);
    return &p->lc;
}

struct num num_alloc(struct cs *cs, const fr *value) {
    struct num out = {.v = cs_alloc_num(cs, value)};
    if (!cs_has_rows(cs)) out.value = *value;
    return out;
}

void num_inputize(struct cs *cs, const struct num *a) {
    struct pair left, one, right;
    const var input = cs_alloc_input(cs, &a->value);
    if (!cs_has_rows(cs)) return;
    cs_enforce(cs, pair_set(&left, input), pair_set(&one, VAR_ONE), pair_set(&right, a->v));
}

void num_enforce_equal(struct cs *cs, const struct num *a, const struct num *b) {
    struct pair left, one, right;
    if (!cs_has_rows(cs)) return;
    cs_enforce(cs, pair_set(&left, a->v), pair_set(&one, VAR_ONE), pair_set(&right, b->v));
}

struct num num_add(struct cs *cs, const struct num *a, const struct num *b) {
    struct pair left, one, right;
    fr value;
    fr_add(&value, &a->value, &b->value);
    const struct num sum = num_alloc(cs, &value);
    if (cs_has_rows(cs)) {
        cs_enforce(cs, pair_sum(&left, a->v, b->v), pair_set(&one, VAR_ONE),
                   pair_set(&right, sum.v));
    }
    return sum;
}

struct num num_pick(struct cs *cs, const struct bit *condition, const struct num *a,
                    const struct num *b) {
    struct pair left, middle, right;
    assert(!condition->is_const && !condition->negated);
    const struct num result = num_alloc(cs, condition->value ? &a->value : &b->value);
    if (cs_has_rows(cs)) {
        cs_enforce(cs, pair_difference(&left, b->v, a->v), pair_set(&middle, condition->v),
                   pair_difference(&right, b->v, result.v));
    }
    return result;
}
