#include "bits.h"

#include "ports.h"
#include "word.h"

/* Bit k of a number, in the words of its little-endian bytes: which word, which bit of it. */
static unsigned word_of(unsigned k) {
    return k / 32;
}
static unsigned bit_of(unsigned k) {
    return 24 - k % 32 / 8 * 8 + k % 8;
}

/* Bit 255 of a number is the constant zero. */
static void set_top_bit(struct word out[NUM_WORDS]) {
    out[word_of(NUM_BITS)].is_const = UINT32_C(1) << bit_of(NUM_BITS);
    out[word_of(NUM_BITS)].bit[bit_of(NUM_BITS)] = VAR_ONE;
}

static void unpack_values(struct cs *cs, struct word out[NUM_WORDS], const struct num *a) {
    fr_words canonical;
    fr_to_words(&canonical, &a->value);
    for (unsigned j = 0; j < NUM_WORDS; j++) {
        out[j].value = __builtin_bswap32((uint32_t)(canonical.l[j / 2] >> 32 * (j % 2)));
        out[j].is_const = 0;
        out[j].negated = 0;
    }
    for (unsigned i = 0; i < 4; i++)
        cs_alloc_bits(cs, canonical.l[i], i < 3 ? 64 : 63);
    set_top_bit(out);
}

/* 255 bits with their boolean rows, then 0 * 0 = sum of 2^k bit_k - a. */
static void unpack_rows(struct cs *cs, struct word out[NUM_WORDS], const struct num *a) {
    struct lc zero = {0}, sum = {0};
    fr weight = fr_one;
    for (unsigned k = 0; k < NUM_BITS; k++) {
        const struct bit b = bit_alloc(cs, false);
        word_set_bit(&out[word_of(k)], bit_of(k), &b);
        lc_add(&sum, b.v, &weight);
        fr_double(&weight, &weight);
    }
    set_top_bit(out);
    lc_sub_var(&sum, a->v);
    cs_enforce(cs, &zero, &zero, &sum);
    lc_free(&sum);
}

void num_to_words(struct cs *cs, struct word out[NUM_WORDS], const struct num *a) {
    if (!cs_has_rows(cs)) {
        unpack_values(cs, out, a);
        return;
    }
    struct num in = *a;
    struct ports p;
    ports_init(&p, "num_to_bits", out, NUM_WORDS * sizeof out[0]);
    ports_in_num(&p, &in);
    for (unsigned j = 0; j < NUM_WORDS; j++)
        ports_out_word(&p, &out[j]);
    if (ports_enter(&p, cs)) {
        unpack_rows(cs, out, &in);
        ports_leave(&p, cs);
    }
}

/* (sum of 2^k bit_k) * 1 = v */
static void pack_row(struct cs *cs, const struct bit *bits, size_t n, var v) {
    struct lc_term terms[2] = {{VAR_ONE, fr_one}, {v, fr_one}};
    const struct lc one = {.terms = &terms[0], .n = 1, .capacity = 1};
    const struct lc packed = {.terms = &terms[1], .n = 1, .capacity = 1};
    struct lc sum = {0};
    fr weight = fr_one;
    for (size_t k = 0; k < n; k++) {
        lc_add_bit(&sum, &bits[k], &weight);
        fr_double(&weight, &weight);
    }
    cs_enforce(cs, &sum, &one, &packed);
    lc_free(&sum);
}

void words_to_num(struct cs *cs, struct num *out, const struct word words[NUM_WORDS]) {
    fr_words packed = {{0}};
    for (unsigned j = 0; j < NUM_WORDS; j++) {
        packed.l[j / 2] |= (uint64_t)__builtin_bswap32(words[j].value) << 32 * (j % 2);
    }
    packed.l[3] &= UINT64_MAX >> (256 - PACKED_BITS);
    fr_from_words(&out->value, &packed);
    out->v = cs_alloc_num(cs, &out->value);
    if (!cs_has_rows(cs)) return;
    struct bit bits[PACKED_BITS];
    for (unsigned k = 0; k < PACKED_BITS; k++)
        bits[k] = word_bit(&words[word_of(k)], bit_of(k));
    pack_row(cs, bits, PACKED_BITS, out->v);
}

void pack_into_inputs(struct cs *cs, const struct bit *bits, size_t n) {
    for (size_t first = 0; first < n; first += PACKED_BITS) {
        const size_t count = n - first < PACKED_BITS ? n - first : PACKED_BITS;
        fr_words packed = {{0}};
        for (size_t k = 0; k < count; k++) {
            packed.l[k / 64] |= (uint64_t)bits[first + k].value << k % 64;
        }
        fr value;
        fr_from_words(&value, &packed);
        const var v = cs_alloc_input(cs, &value);
        if (cs_has_rows(cs)) pack_row(cs, bits + first, count, v);
    }
}

void uint64_alloc(struct cs *cs, struct word out[2], uint64_t value) {
    word_alloc(cs, &out[1], (uint32_t)value);
    word_alloc(cs, &out[0], (uint32_t)(value >> 32));
}

void uint64_pack_into_input(struct cs *cs, const struct word a[2]) {
    struct bit bits[64];
    for (unsigned k = 0; k < 64; k++)
        bits[k] = word_bit(&a[1 - k / 32], k % 32);
    pack_into_inputs(cs, bits, 64);
}
