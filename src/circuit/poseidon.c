#include "poseidon.h"

#include <assert.h>

#include "fr_dot.h"
#include "poseidon_mix.h"

static_assert(POSEIDON_MAX_WIDTH + POSEIDON_BLOCK - 1 <= FR_DOT_MAX, "a row fits one product");

void poseidon_mix_full(const struct poseidon_params *p, unsigned r, struct poseidon_state *st) {
    const fr(*m)[POSEIDON_MAX_WIDTH] = r == POSEIDON_HALF_ROUNDS - 1 ? p->pre_sparse : p->mds;
    fr next[POSEIDON_MAX_WIDTH];
    for (unsigned j = 0; j < p->width; j++)
        fr_dot(&next[j], m[j], st->s, p->width, NULL);
    memcpy(st->s, next, p->width * sizeof(fr));
}

void poseidon_mix_last(const struct poseidon_params *p, const struct poseidon_state *st, fr *out) {
    fr_dot(out, p->mds[1], st->s, p->width, NULL);
}

/*
 * The block's outputs, this round's included, are gathered behind the state in the order of the
 * rounds: the new first element is then one product of consecutive elements.
 */
void poseidon_mix_partial(const struct poseidon_params *p, unsigned i, struct poseidon_state *st) {
    const unsigned k = i % POSEIDON_BLOCK, t = p->width;
    const fr x = st->s[0];

    fr_dot(&st->s[0], p->w[i], st->s, t + k, NULL);
    if (k < POSEIDON_BLOCK - 1 && i != p->n_partial - 1) {
        st->s[t + k] = x;
        return;
    }
    fr outputs[POSEIDON_BLOCK];
    memcpy(outputs, &st->s[t], k * sizeof(fr));
    outputs[k] = x;
    for (unsigned j = 1; j < t; j++) {
        fr_dot(&st->s[j], p->v[i / POSEIDON_BLOCK][j], outputs, k + 1, &st->s[j]);
    }
}

static void s_boxes(const struct poseidon_params *p, struct poseidon_state *st, const fr *keys) {
    for (unsigned j = 0; j < p->width; j++) {
        fr_pow5(&st->s[j], &st->s[j]);
        if (keys != NULL) fr_add(&st->s[j], &st->s[j], &keys[j]);
    }
}

void poseidon_hash(fr *out, const fr *in, unsigned arity) {
    const struct poseidon_params *p = poseidon_params(arity);
    struct poseidon_state st;

    st.s[0] = p->first_of_tag;
    for (unsigned j = 1; j < p->width; j++) {
        fr_add(&st.s[j], &in[j - 1], &p->pre[j]);
        fr_pow5(&st.s[j], &st.s[j]);
        fr_add(&st.s[j], &st.s[j], &p->full[0][j]);
    }
    poseidon_mix_full(p, 0, &st);
    for (unsigned r = 1; r < POSEIDON_HALF_ROUNDS; r++) {
        s_boxes(p, &st, p->full[r]);
        poseidon_mix_full(p, r, &st);
    }
    for (unsigned i = 0; i < p->n_partial; i++) {
        fr_pow5(&st.s[0], &st.s[0]);
        fr_add(&st.s[0], &st.s[0], &p->partial[i]);
        poseidon_mix_partial(p, i, &st);
    }
    for (unsigned r = POSEIDON_HALF_ROUNDS; r < POSEIDON_FULL_ROUNDS - 1; r++) {
        s_boxes(p, &st, p->full[r]);
        poseidon_mix_full(p, r, &st);
    }
    s_boxes(p, &st, NULL);
    poseidon_mix_last(p, &st, out);
}
