/* Which bytes are points, which are not, and why. */
#include "unit/test_main.h"

#include "unit/point_vectors.h"

/* One encoding: `hex`, then the first byte xor `flip`. n is its length in bytes. */
struct code_case {
    const char *hex;
    uint8_t flip;
    enum point_fault fault;
};

static size_t load(uint8_t *bytes, const struct code_case *c, size_t n) {
    memset(bytes, 0, n);
    bytes_from_hex(bytes, c->hex, n);
    bytes[0] ^= c->flip;
    return n;
}

#define MINUS_G1_Y_SIGN 0x20 /* flips the sign flag of a compressed point */
#define ONE_LESS_P                                                                                 \
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf"                                             \
    "6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaaa"
#define ONES_48                                                                                    \
    "1fffffffffffffffffffffffffffffffffffffffffffffff"                                             \
    "ffffffffffffffffffffffffffffffffffffffffffffffff"
#define ONE_48                                                                                     \
    "000000000000000000000000000000000000000000000000"                                             \
    "000000000000000000000000000000000000000000000001"
/* x = 6 + u has no y */
#define NO_Y_G2                                                                                    \
    ONE_48                                                                                         \
    "000000000000000000000000000000000000000000000000"                                             \
    "000000000000000000000000000000000000000000000006"

static const struct code_case g1_cases[] = {
    {G1_X G1_Y, 0, POINT_GOOD},
    {ZERO_48 ZERO_48, 0x40, POINT_GOOD},
    {G1_ORDER_3, 0, POINT_GOOD},
    {G1_ORDER_11, 0, POINT_GOOD},
    {G1_OUTSIDE, 0, POINT_GOOD},
    {G1_X G1_Y, 0x80, POINT_BAD_FLAGS},
    {G1_X G1_Y, 0x40, POINT_BAD_FLAGS},
    {G1_X G1_Y, 0x20, POINT_BAD_FLAGS},
    {G1_X G1_Y, 0xa0, POINT_BAD_FLAGS},
    {G1_X G1_Y, 0xc0, POINT_BAD_FLAGS},
    {G1_X G1_Y, 0xe0, POINT_BAD_FLAGS},
    {ZERO_48 ZERO_48, 0xc0, POINT_BAD_FLAGS},
    {ZERO_48 ZERO_48, 0x60, POINT_BAD_FLAGS},
    {ZERO_48 ZERO_48, 0x80, POINT_BAD_FLAGS},
    {ZERO_48 ONE_48, 0x40, POINT_BAD_FLAGS},
    {ONE_48 ZERO_48, 0x40, POINT_BAD_FLAGS},
    {ZERO_48 ZERO_48, 0x41, POINT_BAD_FLAGS},
    {ZERO_48 ZERO_48, 0, POINT_NOT_ON_CURVE},
    {G1_X ONE_48, 0, POINT_NOT_ON_CURVE},
    {ONE_48 G1_Y, 0, POINT_NOT_ON_CURVE},
    {G1_Y G1_X, 0, POINT_NOT_ON_CURVE},
    {ONE_LESS_P ONE_LESS_P, 0, POINT_NOT_ON_CURVE},
    {P_48 G1_Y, 0, POINT_OUT_OF_RANGE},
    {G1_X P_48, 0, POINT_OUT_OF_RANGE},
    {ONES_48 G1_Y, 0, POINT_OUT_OF_RANGE},
    {G1_X ONES_48, 0, POINT_OUT_OF_RANGE},
    /* flag bits in y are not flags: y is out of range */
    {G1_X "28b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af6"
          "00db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1",
     0, POINT_OUT_OF_RANGE},
    /* (p, 2) would be (0, 2) */
    {P_48 "000000000000000000000000000000000000000000000000"
          "000000000000000000000000000000000000000000000002",
     0, POINT_OUT_OF_RANGE},
};

static const struct code_case g2_cases[] = {
    {G2_X G2_Y, 0, POINT_GOOD},
    {ZERO_48 ZERO_48 ZERO_48 ZERO_48, 0x40, POINT_GOOD},
    {G2_ORDER_13, 0, POINT_GOOD},
    {G2_OUTSIDE, 0, POINT_GOOD},
    {G2_X G2_Y, 0x80, POINT_BAD_FLAGS},
    {G2_X G2_Y, 0x40, POINT_BAD_FLAGS},
    {G2_X G2_Y, 0x20, POINT_BAD_FLAGS},
    {ZERO_48 ZERO_48 ZERO_48 ZERO_48, 0xc0, POINT_BAD_FLAGS},
    {ZERO_48 ZERO_48 ZERO_48 ZERO_48, 0x60, POINT_BAD_FLAGS},
    {ZERO_48 ZERO_48 ZERO_48 ONE_48, 0x40, POINT_BAD_FLAGS},
    {ZERO_48 ZERO_48 ZERO_48 ZERO_48, 0, POINT_NOT_ON_CURVE},
    {G2_Y G2_X, 0, POINT_NOT_ON_CURVE},
    {G2_X ONE_48 ZERO_48, 0, POINT_NOT_ON_CURVE},
    {P_48 ZERO_48 G2_Y, 0, POINT_OUT_OF_RANGE},
    {ZERO_48 P_48 G2_Y, 0, POINT_OUT_OF_RANGE},
    {G2_X P_48 ZERO_48, 0, POINT_OUT_OF_RANGE},
    {G2_X ZERO_48 P_48, 0, POINT_OUT_OF_RANGE},
};

static const struct code_case g1_short_cases[] = {
    {G1_X, 0x80, POINT_GOOD},
    {G1_X, 0xa0, POINT_GOOD},
    {ZERO_48, 0xc0, POINT_GOOD},
    {G1_X, 0, POINT_BAD_FLAGS},
    {G1_X, 0x20, POINT_BAD_FLAGS},
    {G1_X, 0xc0, POINT_BAD_FLAGS},
    {ZERO_48, 0x40, POINT_BAD_FLAGS},
    {ZERO_48, 0xe0, POINT_BAD_FLAGS},
    {ONE_48, 0xc0, POINT_BAD_FLAGS},
    {P_48, 0x80, POINT_OUT_OF_RANGE},
    {ONES_48, 0x80, POINT_OUT_OF_RANGE},
    {ONE_48, 0x80, POINT_NOT_ON_CURVE},
    {ZERO_48, 0x80, POINT_NOT_IN_GROUP},
    {ZERO_48, 0xa0, POINT_NOT_IN_GROUP},
    /* x = 4 */
    {"000000000000000000000000000000000000000000000000"
     "000000000000000000000000000000000000000000000004",
     0x80, POINT_NOT_IN_GROUP},
};

static const struct code_case g2_short_cases[] = {
    {G2_X, 0x80, POINT_GOOD},
    {G2_X, 0xa0, POINT_GOOD},
    {ZERO_48 ZERO_48, 0xc0, POINT_GOOD},
    {G2_X, 0, POINT_BAD_FLAGS},
    {G2_X, 0xc0, POINT_BAD_FLAGS},
    {ZERO_48 ZERO_48, 0xe0, POINT_BAD_FLAGS},
    {ZERO_48 ONE_48, 0xc0, POINT_BAD_FLAGS},
    {P_48 ZERO_48, 0x80, POINT_OUT_OF_RANGE},
    {ZERO_48 P_48, 0x80, POINT_OUT_OF_RANGE},
    {NO_Y_G2, 0x80, POINT_NOT_ON_CURVE},
    {ONE_48 ZERO_48, 0x80, POINT_NOT_IN_GROUP},
};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* Every case gives its fault; a refused one leaves the output alone, a good one encodes to the
 * same bytes again. */
#define CHECK(list, n_bytes, affine, decode, encode)                                               \
    for (size_t i = 0; i < COUNT(list); i++) {                                                     \
        uint8_t in[n_bytes], again[n_bytes];                                                       \
        affine point, untouched;                                                                   \
        load(in, &(list)[i], n_bytes);                                                             \
        memset(&point, 0x5a, sizeof point);                                                        \
        untouched = point;                                                                         \
        const enum point_fault fault = decode(&point, in);                                         \
        if (fault != (list)[i].fault)                                                              \
            fail_msg("%s case %zu: %s", #list, i, point_fault_text(fault));                        \
        if (fault != POINT_GOOD) {                                                                 \
            assert_memory_equal(&point, &untouched, sizeof point);                                 \
        } else {                                                                                   \
            encode(again, &point);                                                                 \
            assert_memory_equal(again, in, n_bytes);                                               \
        }                                                                                          \
    }

static void uncompressed_encodings(void **state) {
    (void)state;
    CHECK(g1_cases, G1_BYTES, g1_affine, g1_decode, g1_encode)
    CHECK(g2_cases, G2_BYTES, g2_affine, g2_decode, g2_encode)
}

/* The known decoders differ in one thing: they do not look at the curve's equation. */
static void known_points_skip_the_equation_alone(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof g1_cases / sizeof g1_cases[0]; i++) {
        uint8_t bytes[G1_BYTES];
        g1_affine full = {0}, known = {0};
        load(bytes, &g1_cases[i], sizeof bytes);
        const enum point_fault fault = g1_decode(&full, bytes);
        const enum point_fault got = g1_decode_known(&known, bytes);
        assert_int_equal(got, fault == POINT_NOT_ON_CURVE ? POINT_GOOD : fault);
        if (fault == POINT_GOOD) assert_memory_equal(&full, &known, sizeof full);
    }
    for (size_t i = 0; i < sizeof g2_cases / sizeof g2_cases[0]; i++) {
        uint8_t bytes[G2_BYTES];
        g2_affine full = {0}, known = {0};
        load(bytes, &g2_cases[i], sizeof bytes);
        const enum point_fault fault = g2_decode(&full, bytes);
        const enum point_fault got = g2_decode_known(&known, bytes);
        assert_int_equal(got, fault == POINT_NOT_ON_CURVE ? POINT_GOOD : fault);
        if (fault == POINT_GOOD) assert_memory_equal(&full, &known, sizeof full);
    }
}

static void compressed_encodings(void **state) {
    (void)state;
    CHECK(g1_short_cases, G1_COMPRESSED_BYTES, g1_affine, g1_decompress, g1_compress)
    CHECK(g2_short_cases, G2_COMPRESSED_BYTES, g2_affine, g2_decompress, g2_compress)
}

static void the_generators_are_the_published_ones(void **state) {
    (void)state;
    g1_affine a;
    g2_affine b;
    point_from_hex(&a, G1_X G1_Y);
    assert_memory_equal(&a, &g1_generator, sizeof a);
    point2_from_hex(&b, G2_X G2_Y);
    assert_memory_equal(&b, &g2_generator, sizeof b);
    /* both have the smaller y of the two */
    uint8_t short_a[G1_COMPRESSED_BYTES], short_b[G2_COMPRESSED_BYTES];
    g1_compress(short_a, &a);
    g2_compress(short_b, &b);
    assert_int_equal(short_a[0], 0x97);
    assert_int_equal(short_b[0], 0x93);
}

static void infinity_decodes_to_zeros(void **state) {
    (void)state;
    uint8_t bytes[G2_BYTES] = {0x40};
    g1_affine a, zero_a;
    g2_affine b, zero_b;
    memset(&zero_a, 0, sizeof zero_a);
    memset(&zero_b, 0, sizeof zero_b);
    memset(&a, 1, sizeof a);
    memset(&b, 1, sizeof b);
    assert_int_equal(g1_decode(&a, bytes), POINT_GOOD);
    assert_int_equal(g2_decode(&b, bytes), POINT_GOOD);
    assert_memory_equal(&a, &zero_a, sizeof a);
    assert_memory_equal(&b, &zero_b, sizeof b);
    bytes[0] = 0xc0;
    memset(&a, 1, sizeof a);
    memset(&b, 1, sizeof b);
    assert_int_equal(g1_decompress(&a, bytes), POINT_GOOD);
    assert_int_equal(g2_decompress(&b, bytes), POINT_GOOD);
    assert_memory_equal(&a, &zero_a, sizeof a);
    assert_memory_equal(&b, &zero_b, sizeof b);
}

/* Any one stray bit in the encoding of infinity is refused. */
static void infinity_has_one_encoding(void **state) {
    (void)state;
    for (size_t bit = 0; bit < 8 * G2_BYTES; bit++) {
        uint8_t bytes[G2_BYTES] = {0x40};
        g1_affine a;
        g2_affine b;
        if (bit == 6) continue; /* the infinity flag itself */
        bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
        if (bit < 8 * G1_BYTES) assert_int_equal(g1_decode(&a, bytes), POINT_BAD_FLAGS);
        assert_int_equal(g2_decode(&b, bytes), POINT_BAD_FLAGS);
        bytes[0] ^= 0x80;
        if (bit == 7) continue;
        if (bit < 8 * G1_COMPRESSED_BYTES)
            assert_int_equal(g1_decompress(&a, bytes), POINT_BAD_FLAGS);
        if (bit < 8 * G2_COMPRESSED_BYTES)
            assert_int_equal(g2_decompress(&b, bytes), POINT_BAD_FLAGS);
    }
}

static void multiples_survive_both_encodings(void **state) {
    (void)state;
    static const uint8_t seed[32] = "curve";
    for (uint64_t i = 0; i < 50; i++) {
        fr k;
        g1 p;
        g2 q;
        g1_affine a, a2;
        g2_affine b, b2;
        uint8_t bytes[G2_BYTES];
        fr_from_seed(&k, seed, i);
        g1_from_affine(&p, &g1_generator);
        g2_from_affine(&q, &g2_generator);
        g1_mul(&p, &p, &k);
        g2_mul(&q, &q, &k);
        g1_to_affine(&a, &p);
        g2_to_affine(&b, &q);
        g1_encode(bytes, &a);
        assert_int_equal(g1_decode(&a2, bytes), POINT_GOOD);
        assert_memory_equal(&a2, &a, sizeof a);
        g1_compress(bytes, &a);
        assert_int_equal(g1_decompress(&a2, bytes), POINT_GOOD);
        assert_memory_equal(&a2, &a, sizeof a);
        bytes[0] ^= MINUS_G1_Y_SIGN;
        assert_int_equal(g1_decompress(&a2, bytes), POINT_GOOD);
        g1_add_affine(&p, &p, &a2);
        assert_true(g1_is_infinity(&p));
        g2_encode(bytes, &b);
        assert_int_equal(g2_decode(&b2, bytes), POINT_GOOD);
        assert_memory_equal(&b2, &b, sizeof b);
        g2_compress(bytes, &b);
        assert_int_equal(g2_decompress(&b2, bytes), POINT_GOOD);
        assert_memory_equal(&b2, &b, sizeof b);
        bytes[0] ^= MINUS_G1_Y_SIGN;
        assert_int_equal(g2_decompress(&b2, bytes), POINT_GOOD);
        g2_add_affine(&q, &q, &b2);
        assert_true(g2_is_infinity(&q));
    }
}

static void faults_have_texts_of_their_own(void **state) {
    (void)state;
    for (int i = POINT_GOOD; i <= POINT_NOT_IN_GROUP; i++) {
        assert_true(strlen(point_fault_text((enum point_fault)i)) > 10);
        for (int k = POINT_GOOD; k < i; k++)
            assert_string_not_equal(point_fault_text((enum point_fault)i),
                                    point_fault_text((enum point_fault)k));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uncompressed_encodings),
        cmocka_unit_test(compressed_encodings),
        cmocka_unit_test(the_generators_are_the_published_ones),
        cmocka_unit_test(known_points_skip_the_equation_alone),
        cmocka_unit_test(infinity_decodes_to_zeros),
        cmocka_unit_test(infinity_has_one_encoding),
        cmocka_unit_test(multiples_survive_both_encodings),
        cmocka_unit_test(faults_have_texts_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
