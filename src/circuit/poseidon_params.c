#include "poseidon_params.h"

#include <assert.h>
#include <pthread.h>

typedef fr square[POSEIDON_MAX_WIDTH][POSEIDON_MAX_WIDTH];

/*
 * Rounds that resist the known attacks at 128 bits with the paper's margin (two full rounds and
 * 7.5 % partial rounds more), at the least number of S-boxes.
 */
unsigned poseidon_partial_rounds(unsigned arity) {
    switch (arity) {
    case 2:
        return 55;
    case 4:
        return 56;
    case 8:
    case 11:
        return 57;
    default:
        return 0;
    }
}

/* ---- round constants ---- */

/*
 * The Grain LFSR of appendix F: bit i of `state` is b_i, and
 * b_{i+80} = b_{i+62} + b_{i+51} + b_{i+38} + b_{i+23} + b_{i+13} + b_i.
 */
struct grain {
    unsigned __int128 state;
};

static unsigned grain_step(struct grain *g) {
    const unsigned __int128 s = g->state;
    const unsigned bit = (unsigned)(s >> 62 ^ s >> 51 ^ s >> 38 ^ s >> 23 ^ s >> 13 ^ s) & 1;
    g->state = s >> 1 | (unsigned __int128)bit << 79;
    return bit;
}

/* Of each pair of bits the first one decides whether the second one counts. */
static unsigned grain_next(struct grain *g) {
    while (grain_step(g) == 0)
        grain_step(g);
    return grain_step(g);
}

/* Appends the n low bits of `value`, most significant first, as bits *at and up. */
static void grain_seed(struct grain *g, unsigned *at, unsigned value, unsigned n) {
    for (unsigned i = n; i-- > 0;) {
        g->state |= (unsigned __int128)(value >> i & 1) << (*at)++;
    }
}

static void grain_init(struct grain *g, unsigned width, unsigned n_partial) {
    unsigned at = 0;
    g->state = 0;
    grain_seed(g, &at, 1, 2);    /* a prime field */
    grain_seed(g, &at, 1, 4);    /* the S-box x^5, in neptune's numbering */
    grain_seed(g, &at, 255, 12); /* bits of the modulus */
    grain_seed(g, &at, width, 12);
    grain_seed(g, &at, POSEIDON_FULL_ROUNDS, 10);
    grain_seed(g, &at, n_partial, 10);
    grain_seed(g, &at, 0x3fffffff, 30);
    for (unsigned i = 0; i < 160; i++)
        grain_step(g);
}

/* 255 bits, most significant first; values that are not below the modulus are skipped. */
static void grain_element(struct grain *g, fr *out) {
    uint8_t bytes[32];
    do {
        memset(bytes, 0, sizeof bytes);
        for (unsigned i = 255; i-- > 0;)
            bytes[i / 8] |= (uint8_t)(grain_next(g) << i % 8);
    } while (!fr_from_bytes(out, bytes));
}

void poseidon_round_keys(fr keys[POSEIDON_MAX_ROUNDS][POSEIDON_MAX_WIDTH], unsigned width,
                         unsigned n_partial) {
    struct grain g;
    grain_init(&g, width, n_partial);
    for (unsigned r = 0; r < POSEIDON_FULL_ROUNDS + n_partial; r++) {
        for (unsigned j = 0; j < width; j++)
            grain_element(&g, &keys[r][j]);
    }
}

/* ---- matrices ---- */

void poseidon_mds(square m, unsigned width) {
    for (unsigned i = 0; i < width; i++) {
        for (unsigned j = 0; j < width; j++) {
            fr sum;
            fr_from_u64(&sum, i + j + width);
            fr_inv_var(&m[i][j], &sum);
        }
    }
}

static void mul_add(fr *acc, const fr *a, const fr *b) {
    fr t;
    fr_mul(&t, a, b);
    fr_add(acc, acc, &t);
}

/* out = m in; out and in differ. */
static void apply(fr *out, const square m, const fr *in, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        out[i] = fr_zero;
        for (unsigned j = 0; j < n; j++)
            mul_add(&out[i], &m[i][j], &in[j]);
    }
}

/* Swaps rows of a and b so that a[c][c] is not zero. The matrices here are invertible. */
static void find_pivot(square a, square b, unsigned c) {
    unsigned p = c;
    while (fr_is_zero(&a[p][c])) {
        p++;
        assert(p < POSEIDON_MAX_WIDTH);
    }
    if (p == c) return;
    fr row[POSEIDON_MAX_WIDTH];
    memcpy(row, a[c], sizeof row);
    memcpy(a[c], a[p], sizeof row);
    memcpy(a[p], row, sizeof row);
    memcpy(row, b[c], sizeof row);
    memcpy(b[c], b[p], sizeof row);
    memcpy(b[p], row, sizeof row);
}

/* b becomes a^-1 b for the first m columns of b (Gauss-Jordan); a is destroyed. */
static void solve(square a, square b, unsigned n, unsigned m) {
    for (unsigned c = 0; c < n; c++) {
        fr scale;
        find_pivot(a, b, c);
        fr_inv_var(&scale, &a[c][c]);
        for (unsigned j = c; j < n; j++)
            fr_mul(&a[c][j], &a[c][j], &scale);
        for (unsigned j = 0; j < m; j++)
            fr_mul(&b[c][j], &b[c][j], &scale);
        for (unsigned i = 0; i < n; i++) {
            fr factor;
            if (i == c) continue;
            fr_neg(&factor, &a[i][c]);
            for (unsigned j = c; j < n; j++)
                mul_add(&a[i][j], &factor, &a[c][j]);
            for (unsigned j = 0; j < m; j++)
                mul_add(&b[i][j], &factor, &b[c][j]);
        }
    }
}

/* ---- compressed keys ---- */

/*
 * A key that is added before the S-boxes of a round may be added after the S-boxes of the round
 * before as M^-1 key. In a partial round only the first S-box is there: the other elements of
 * M^-1 key pass by it and join that round's own key, and so on back to the first partial round.
 */
static void compress_keys(struct poseidon_params *p) {
    fr keys[POSEIDON_MAX_ROUNDS][POSEIDON_MAX_WIDTH] = {{{{0}}}};
    square m, inverse = {{{{0}}}};
    fr carried[POSEIDON_MAX_WIDTH], pushed[POSEIDON_MAX_WIDTH];
    const unsigned t = p->width, h = POSEIDON_HALF_ROUNDS;

    poseidon_round_keys(keys, t, p->n_partial);
    memcpy(m, p->mds, sizeof m);
    for (unsigned i = 0; i < t; i++)
        inverse[i][i] = fr_one;
    solve(m, inverse, t, t);

    memcpy(p->pre, keys[0], sizeof p->pre);
    for (unsigned r = 0; r < h - 1; r++) {
        apply(p->full[r], inverse, keys[r + 1], t);
        apply(p->full[r + h], inverse, keys[r + h + p->n_partial + 1], t);
    }
    memcpy(carried, keys[h + p->n_partial], sizeof carried);
    for (unsigned i = p->n_partial; i-- > 0;) {
        apply(pushed, inverse, carried, t);
        p->partial[i] = pushed[0];
        carried[0] = keys[h + i][0];
        for (unsigned j = 1; j < t; j++)
            fr_add(&carried[j], &keys[h + i][j], &pushed[j]);
    }
    apply(p->full[h - 1], inverse, carried, t);
}

/* ---- sparse matrices ---- */

/*
 * A matrix A = [[a, v], [w, B]] is A' A'' with A' = [[1, 0], [0, B]] and the sparse
 * A'' = [[a, v], [B^-1 w, 1]]. States are row vectors here, so that A' acts before A''. It leaves
 * the first element alone and therefore commutes with the partial round's S-box: it moves into the
 * matrix of the round before, M A', which is factored in its turn.
 */
static void factor_matrices(struct poseidon_params *p) {
    const unsigned t = p->width;
    square current;
    memcpy(current, p->mds, sizeof current);

    for (unsigned i = p->n_partial; i-- > 0;) {
        square b, w, next;
        for (unsigned r = 1; r < t; r++) {
            memcpy(b[r - 1], &current[r][1], (t - 1) * sizeof(fr));
            w[r - 1][0] = current[r][0];
            p->v[i / POSEIDON_BLOCK][r][i % POSEIDON_BLOCK] = current[0][r];
        }
        solve(b, w, t - 1, 1);
        p->w[i][0] = current[0][0];
        for (unsigned r = 1; r < t; r++)
            p->w[i][r] = w[r - 1][0];

        for (unsigned r = 0; r < t; r++) {
            next[r][0] = p->mds[r][0];
            for (unsigned c = 1; c < t; c++) {
                next[r][c] = fr_zero;
                for (unsigned k = 1; k < t; k++) {
                    mul_add(&next[r][c], &p->mds[r][k], &current[k][c]);
                }
            }
        }
        memcpy(current, next, sizeof current);
    }
    for (unsigned r = 0; r < t; r++) {
        for (unsigned c = 0; c < t; c++)
            p->pre_sparse[c][r] = current[r][c];
    }
}

/* The weights with which earlier outputs of a block enter the first element. */
static void derive_block_weights(struct poseidon_params *p) {
    for (unsigned i = 0; i < p->n_partial; i++) {
        for (unsigned l = 0; l < i % POSEIDON_BLOCK; l++) {
            fr *weight = &p->w[i][p->width + l];
            *weight = fr_zero;
            for (unsigned j = 1; j < p->width; j++) {
                mul_add(weight, &p->w[i][j], &p->v[i / POSEIDON_BLOCK][j][l]);
            }
        }
    }
}

static void derive(struct poseidon_params *p, unsigned arity) {
    fr tag;
    p->width = arity + 1;
    p->n_partial = poseidon_partial_rounds(arity);
    poseidon_mds(p->mds, p->width);
    compress_keys(p);
    factor_matrices(p);
    derive_block_weights(p);
    fr_from_u64(&tag, (UINT64_C(1) << arity) - 1);
    fr_add(&p->first_of_tag, &tag, &p->pre[0]);
    fr_pow5(&p->first_of_tag, &p->first_of_tag);
    fr_add(&p->first_of_tag, &p->first_of_tag, &p->full[0][0]);
}

static struct poseidon_params params_2, params_4, params_8, params_11;
static pthread_once_t once_2 = PTHREAD_ONCE_INIT, once_4 = PTHREAD_ONCE_INIT,
                      once_8 = PTHREAD_ONCE_INIT, once_11 = PTHREAD_ONCE_INIT;

static void derive_2(void) {
    derive(&params_2, 2);
}
static void derive_4(void) {
    derive(&params_4, 4);
}
static void derive_8(void) {
    derive(&params_8, 8);
}
static void derive_11(void) {
    derive(&params_11, 11);
}

const struct poseidon_params *poseidon_params(unsigned arity) {
    switch (arity) {
    case 2:
        pthread_once(&once_2, derive_2);
        return &params_2;
    case 4:
        pthread_once(&once_4, derive_4);
        return &params_4;
    case 8:
        pthread_once(&once_8, derive_8);
        return &params_8;
    default:
        assert(arity == 11);
        pthread_once(&once_11, derive_11);
        return &params_11;
    }
}
