#include "tiny_circuit.h"

#include "test_main.h"

#include "cs.h"

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* b (1 - b) = 0 */
static void enforce_bit(struct cs *cs, var b, struct lc lc[3]) {
    lc_add_var(&lc[0], b);
    lc_add_var(&lc[1], VAR_ONE);
    lc_sub_var(&lc[1], b);
    cs_enforce(cs, &lc[0], &lc[1], &lc[2]);
    for (int i = 0; i < 3; i++)
        lc_clear(&lc[i]);
}

/* (x + b) (x + 3) = next */
static void enforce_step(struct cs *cs, var x, var b, var next, struct lc lc[3]) {
    fr three;
    fr_from_u64(&three, 3);
    lc_add_var(&lc[0], x);
    lc_add_var(&lc[0], b);
    lc_add_var(&lc[1], x);
    lc_add(&lc[1], VAR_ONE, &three);
    lc_add_var(&lc[2], next);
    cs_enforce(cs, &lc[0], &lc[1], &lc[2]);
    for (int i = 0; i < 3; i++)
        lc_clear(&lc[i]);
}

/* `seed` means nothing in structure mode. */
static void synthesize(struct cs *cs, unsigned n_bits, uint64_t seed) {
    struct lc lc[3] = {0}, number = {0};
    fr x = fr_one, sum = fr_zero, power = fr_one, three;
    fr_from_u64(&three, 3);
    var chain = cs_alloc_num(cs, &x);
    for (unsigned i = 0; i < n_bits; i++) {
        const uint64_t bit = cs_has_rows(cs) ? 0 : next_random(&seed) & 1;
        const var b = cs_alloc_bits(cs, bit, 1);
        fr left = x, right, next;
        if (bit) {
            fr_add(&left, &left, &fr_one);
            fr_add(&sum, &sum, &power);
        }
        fr_add(&right, &x, &three);
        fr_mul(&next, &left, &right);
        const var after = cs_alloc_num(cs, &next);
        if (cs_has_rows(cs)) {
            enforce_bit(cs, b, lc);
            enforce_step(cs, chain, b, after, lc);
            lc_add(&number, b, &power);
        }
        fr_double(&power, &power);
        chain = after;
        x = next;
    }
    const var end = cs_alloc_input(cs, &x);
    const var value = cs_alloc_input(cs, &sum);
    if (cs_has_rows(cs)) { /* chain * ONE = end;  value * ONE = number */
        lc_add_var(&lc[0], chain);
        lc_add_var(&lc[1], VAR_ONE);
        lc_add_var(&lc[2], end);
        cs_enforce(cs, &lc[0], &lc[1], &lc[2]);
        lc_clear(&lc[0]);
        lc_add_var(&lc[0], value);
        cs_enforce(cs, &lc[0], &lc[1], &number);
    }
    for (int i = 0; i < 3; i++)
        lc_free(&lc[i]);
    lc_free(&number);
}

struct r1cs *tiny_circuit(unsigned n_bits) {
    struct cs *cs;
    struct r1cs *r1cs = NULL;
    assert_int_equal(cs_create_recorder(&cs, false, NULL), CUZK_OK);
    synthesize(cs, n_bits, 0);
    assert_int_equal(cs_finish(cs, &r1cs, NULL), CUZK_OK);
    cs_destroy(cs);
    return r1cs;
}

void tiny_witness(struct witness *out, struct r1cs *r1cs, unsigned n_bits, uint64_t seed) {
    struct cs *cs;
    struct r1cs_stats stats;
    assert_int_equal(r1cs_get_stats(r1cs, &stats, NULL, NULL), CUZK_OK);
    assert_int_equal(witness_create(out, stats.n_inputs, stats.n_aux, stats.n_elements, NULL),
                     CUZK_OK);
    assert_int_equal(cs_create_witness(&cs, out, NULL), CUZK_OK);
    synthesize(cs, n_bits, seed);
    assert_int_equal(cs_finish(cs, NULL, NULL), CUZK_OK);
    cs_destroy(cs);
}
