#include "multieq.h"

#include "word.h"

enum { CAPACITY_BITS = 254 };

void multieq_init(struct multieq *eq, struct cs *cs) {
    *eq = (struct multieq){.cs = cs, .weight = fr_one, .has_rows = cs_has_rows(cs)};
}

static void emit(struct multieq *eq) {
    struct lc_term one_term = {VAR_ONE, fr_one};
    const struct lc one = {.terms = &one_term, .n = 1, .capacity = 1};
    cs_enforce(eq->cs, &eq->sum, &one, &eq->result);
    lc_clear(&eq->sum);
    lc_clear(&eq->result);
    eq->bits_used = 0;
    eq->weight = fr_one;
}

void multieq_add(struct multieq *eq, const struct word *const *operands, unsigned n,
                 var first_result, unsigned n_bits) {
    if (!eq->has_rows) return;
    if (eq->bits_used + n_bits >= CAPACITY_BITS) emit(eq);
    fr weight = eq->weight;
    for (unsigned i = 0; i < n_bits; i++) {
        for (unsigned j = 0; i < 32 && j < n; j++) {
            const struct bit b = word_bit(operands[j], i);
            lc_add_bit(&eq->sum, &b, &weight);
        }
        lc_add(&eq->result, (var){first_result.id + i}, &weight);
        fr_double(&weight, &weight);
    }
    eq->weight = weight;
    eq->bits_used += n_bits;
}

void multieq_finish(struct multieq *eq) {
    if (!eq->has_rows) return;
    if (eq->bits_used > 0) emit(eq);
    lc_free(&eq->sum);
    lc_free(&eq->result);
}
