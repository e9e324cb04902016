#include "insertion.h"

#include <assert.h>

#include "boolean.h"
#include "num.h"

/*
 * In all of these `a` is the element and b, c, … are the siblings. Output i is a chain of choices:
 * low_ is what it would be if the highest bit were 0, high_ if it were 1; a choice is left out
 * where both sides are the same.
 */

static void insert_2(struct cs *cs, struct num out[2], const struct num *a, const struct bit *bits,
                     const struct num *siblings) {
    const struct num *b = &siblings[0];
    out[0] = num_pick(cs, &bits[0], b, a);
    out[1] = num_pick(cs, &bits[0], a, b);
}

static void insert_4(struct cs *cs, struct num out[4], const struct num *a, const struct bit *bits,
                     const struct num *siblings) {
    const struct num *b = &siblings[0], *c = &siblings[1], *d = &siblings[2];
    const struct bit *b0 = &bits[0], *b1 = &bits[1];

    const struct num low_0 = num_pick(cs, b0, b, a);
    out[0] = num_pick(cs, b1, b, &low_0);
    const struct num low_1 = num_pick(cs, b0, a, b);
    out[1] = num_pick(cs, b1, c, &low_1);
    const struct num high_2 = num_pick(cs, b0, d, a);
    out[2] = num_pick(cs, b1, &high_2, c);
    const struct num high_3 = num_pick(cs, b0, a, d);
    out[3] = num_pick(cs, b1, &high_3, d);
}

static void insert_8(struct cs *cs, struct num out[8], const struct num *a, const struct bit *bits,
                     const struct num *siblings) {
    const struct num *b = &siblings[0], *c = &siblings[1], *d = &siblings[2], *e = &siblings[3],
                     *f = &siblings[4], *g = &siblings[5], *h = &siblings[6];
    const struct bit *b0 = &bits[0], *b1 = &bits[1], *b2 = &bits[2];
    const struct bit not_b0 = bit_not(*b0), not_b1 = bit_not(*b1);
    const struct bit none = bit_and(cs, &not_b0, &not_b1);
    const struct bit both = bit_and(cs, b0, b1);
    struct num t;

    const struct num low_0 = num_pick(cs, &none, a, b);
    out[0] = num_pick(cs, b2, b, &low_0);

    t = num_pick(cs, b0, a, b);
    const struct num low_1 = num_pick(cs, b1, c, &t);
    out[1] = num_pick(cs, b2, c, &low_1);

    t = num_pick(cs, b0, d, a);
    const struct num low_2 = num_pick(cs, b1, &t, c);
    out[2] = num_pick(cs, b2, d, &low_2);

    const struct num low_3 = num_pick(cs, &both, a, d);
    out[3] = num_pick(cs, b2, e, &low_3);

    const struct num high_4 = num_pick(cs, &none, a, f);
    out[4] = num_pick(cs, b2, &high_4, e);

    t = num_pick(cs, b0, a, f);
    const struct num high_5 = num_pick(cs, b1, g, &t);
    out[5] = num_pick(cs, b2, &high_5, f);

    t = num_pick(cs, b0, h, a);
    const struct num high_6 = num_pick(cs, b1, &t, g);
    out[6] = num_pick(cs, b2, &high_6, g);

    const struct num high_7 = num_pick(cs, &both, a, h);
    out[7] = num_pick(cs, b2, &high_7, h);
}

void insert_among(struct cs *cs, struct num *out, const struct num *element, const struct bit *bits,
                  const struct num *siblings, unsigned arity) {
    switch (arity) {
    case 2:
        insert_2(cs, out, element, bits, siblings);
        break;
    case 4:
        insert_4(cs, out, element, bits, siblings);
        break;
    default:
        assert(arity == 8);
        insert_8(cs, out, element, bits, siblings);
    }
}
