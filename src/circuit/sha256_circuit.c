#include "sha256_circuit.h"

#include <assert.h>

#include "bits.h"
#include "multieq.h"
#include "ports.h"
#include "word.h"

static const uint32_t initial_state[SHA256_STATE_WORDS] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* Rotations of the four sigmas, FIPS 180-4; the small ones end with a shift. */
static const unsigned small_sigma0[3] = {7, 18, 3}, small_sigma1[3] = {17, 19, 10};
static const unsigned big_sigma0[3] = {2, 13, 22}, big_sigma1[3] = {6, 11, 25};

static void extend_message(struct cs *cs, struct multieq *eq, struct word w[64]) {
    for (unsigned i = 16; i < 64; i++) {
        struct word s0, s1;
        word_sigma(cs, &s0, &w[i - 15], small_sigma0, true);
        word_sigma(cs, &s1, &w[i - 2], small_sigma1, true);
        const struct word *const sum[] = {&w[i - 16], &s0, &w[i - 7], &s1};
        word_add(cs, eq, &w[i], sum, 4);
    }
}

/*
 * The state's history: in round i, a = a[i + 3], b, c, d the ones before it, and e, f, g, h
 * likewise in e. The sums that make a round's new a and e are deferred, as in the public code, to
 * the place where they are first needed: e before the next round's S1, a before its S0.
 */
struct rounds {
    struct word a[68], e[68];
    struct {
        struct word s1, ch, k, s0, maj;
    } term[2]; /* of round i in term[i % 2] */
};

/* The operands of the sum that follows round i: temp1 = h + S1 + ch + k + w. */
static void temp1(const struct word *sum[5], const struct rounds *r, const struct word w[64],
                  unsigned i) {
    sum[0] = &r->e[i];
    sum[1] = &r->term[i % 2].s1;
    sum[2] = &r->term[i % 2].ch;
    sum[3] = &r->term[i % 2].k;
    sum[4] = &w[i];
}

/* out = d + temp1 of round i, plus `extra` where not NULL. */
static void add_e(struct cs *cs, struct multieq *eq, struct rounds *r, const struct word w[64],
                  unsigned i, const struct word *extra, struct word *out) {
    const struct word *sum[7];
    temp1(sum, r, w, i);
    sum[5] = &r->a[i];
    sum[6] = extra;
    word_add(cs, eq, out, sum, extra != NULL ? 7 : 6);
}

/* out = temp1 + S0 + maj of round i, plus `extra` where not NULL. */
static void add_a(struct cs *cs, struct multieq *eq, struct rounds *r, const struct word w[64],
                  unsigned i, const struct word *extra, struct word *out) {
    const struct word *sum[8];
    temp1(sum, r, w, i);
    sum[5] = &r->term[i % 2].s0;
    sum[6] = &r->term[i % 2].maj;
    sum[7] = extra;
    word_add(cs, eq, out, sum, extra != NULL ? 8 : 7);
}

static void run_rounds(struct cs *cs, struct multieq *eq, struct rounds *r,
                       const struct word w[64]) {
    for (unsigned i = 0; i < 64; i++) {
        struct word *const a = &r->a[i + 3], *const e = &r->e[i + 3];
        struct word *const s1 = &r->term[i % 2].s1, *const ch = &r->term[i % 2].ch;
        struct word *const s0 = &r->term[i % 2].s0, *const maj = &r->term[i % 2].maj;
        if (i > 0) add_e(cs, eq, r, w, i - 1, NULL, e);
        word_sigma(cs, s1, e, big_sigma1, false);
        word_ch(cs, ch, e, e - 1, e - 2);
        word_constant(&r->term[i % 2].k, round_constants[i]);
        if (i > 0) add_a(cs, eq, r, w, i - 1, NULL, a);
        word_sigma(cs, s0, a, big_sigma0, false);
        word_maj(cs, maj, a, a - 1, a - 2);
    }
}

/* out = compression of `state` with w[0..16). The rest of w is scratch. */
static void compress(struct cs *cs, struct word out[SHA256_STATE_WORDS],
                     const struct word state[SHA256_STATE_WORDS], struct word w[64]) {
    struct rounds r;
    struct multieq eq;
    multieq_init(&eq, cs);
    extend_message(cs, &eq, w);
    for (unsigned i = 0; i < 4; i++) {
        word_copy(cs, &r.a[3 - i], &state[i]);
        word_copy(cs, &r.e[3 - i], &state[4 + i]);
    }
    run_rounds(cs, &eq, &r, w);
    add_a(cs, &eq, &r, w, 63, &state[0], &out[0]);
    for (unsigned i = 1; i < 4; i++) {
        word_add(cs, &eq, &out[i], (const struct word *[2]){&state[i], &r.a[67 - i]}, 2);
    }
    add_e(cs, &eq, &r, w, 63, &state[4], &out[4]);
    for (unsigned i = 1; i < 4; i++) {
        word_add(cs, &eq, &out[4 + i], (const struct word *[2]){&state[4 + i], &r.e[67 - i]}, 2);
    }
    multieq_finish(&eq);
}

void sha256_circuit_init(struct word state[SHA256_STATE_WORDS]) {
    for (unsigned i = 0; i < SHA256_STATE_WORDS; i++)
        word_constant(&state[i], initial_state[i]);
}

void sha256_circuit_block(struct cs *cs, struct word state[SHA256_STATE_WORDS],
                          const struct word *const message[SHA256_BLOCK_WORDS]) {
    struct word in[SHA256_STATE_WORDS], out[SHA256_STATE_WORDS], w[64];
    for (unsigned i = 0; i < SHA256_STATE_WORDS; i++)
        word_copy(cs, &in[i], &state[i]);
    for (unsigned i = 0; i < SHA256_BLOCK_WORDS; i++)
        word_copy(cs, &w[i], message[i]);
    if (cs_has_rows(cs)) {
        struct ports p;
        ports_init(&p, "sha256_block", out, sizeof out);
        for (unsigned i = 0; i < SHA256_STATE_WORDS; i++)
            ports_in_word(&p, &in[i]);
        for (unsigned i = 0; i < SHA256_BLOCK_WORDS; i++)
            ports_in_word(&p, &w[i]);
        for (unsigned i = 0; i < SHA256_STATE_WORDS; i++)
            ports_out_word(&p, &out[i]);
        if (ports_enter(&p, cs)) {
            compress(cs, out, in, w);
            ports_leave(&p, cs);
        }
    } else {
        compress(cs, out, in, w);
    }
    for (unsigned i = 0; i < SHA256_STATE_WORDS; i++)
        word_copy(cs, &state[i], &out[i]);
}

void sha256_circuit_finish(struct cs *cs, struct word state[SHA256_STATE_WORDS],
                           const struct word *const *message, size_t n_words, size_t n_before) {
    assert(n_before % SHA256_BLOCK_WORDS == 0);
    const uint64_t n_bits = 32 * (uint64_t)(n_before + n_words);
    struct word mark, zero, length[2];
    word_constant(&mark, 0x80000000);
    word_constant(&zero, 0);
    word_constant(&length[0], (uint32_t)(n_bits >> 32));
    word_constant(&length[1], (uint32_t)n_bits);
    /* The mark's word and the length's two are added; zeros fill the block. */
    const size_t n_padded =
        (n_words + 3 + SHA256_BLOCK_WORDS - 1) / SHA256_BLOCK_WORDS * SHA256_BLOCK_WORDS;
    for (size_t first = 0; first < n_padded; first += SHA256_BLOCK_WORDS) {
        const struct word *block[SHA256_BLOCK_WORDS];
        for (size_t i = 0; i < SHA256_BLOCK_WORDS; i++) {
            const size_t k = first + i;
            if (k < n_words) {
                block[i] = message[k];
            } else if (k == n_words) {
                block[i] = &mark;
            } else if (k + 2 >= n_padded) {
                block[i] = &length[k + 2 - n_padded];
            } else {
                block[i] = &zero;
            }
        }
        sha256_circuit_block(cs, state, block);
    }
}

void sha256_circuit(struct cs *cs, struct word out[SHA256_STATE_WORDS],
                    const struct word *const *message, size_t n_words) {
    sha256_circuit_init(out);
    sha256_circuit_finish(cs, out, message, n_words, 0);
}

static void hash2(struct cs *cs, struct num *out, const struct num in[2]) {
    struct word words[2 * NUM_WORDS], digest[SHA256_STATE_WORDS];
    const struct word *message[2 * NUM_WORDS];
    num_to_words(cs, words, &in[0]);
    num_to_words(cs, words + NUM_WORDS, &in[1]);
    for (unsigned i = 0; i < 2 * NUM_WORDS; i++)
        message[i] = &words[i];
    sha256_circuit(cs, digest, message, 2 * NUM_WORDS);
    words_to_num(cs, out, digest);
}

void sha256_hash2_circuit(struct cs *cs, struct num *out, const struct num *left,
                          const struct num *right) {
    struct num in[2] = {*left, *right}, result;
    if (cs_has_rows(cs)) {
        struct ports p;
        ports_init(&p, "sha256_hash2", &result, sizeof result);
        ports_in_num(&p, &in[0]);
        ports_in_num(&p, &in[1]);
        ports_out_num(&p, &result);
        if (ports_enter(&p, cs)) {
            hash2(cs, &result, in);
            ports_leave(&p, cs);
        }
    } else {
        hash2(cs, &result, in);
    }
    *out = result;
}
