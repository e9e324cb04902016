/*
 * Uncompressed points as hex. Those outside the group were computed with Python's integers: a point
 * with a small x, times the curve's order without the powers of the wanted prime.
 */
#ifndef POINT_VECTORS_H
#define POINT_VECTORS_H

#include "g1.h"

#define ZERO_48                                                                                    \
    "000000000000000000000000000000000000000000000000"                                             \
    "000000000000000000000000000000000000000000000000"

/* The field's modulus p. */
#define P_48                                                                                       \
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf"                                             \
    "6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab"

#define G1_X                                                                                       \
    "17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905"                                             \
    "a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb"
#define G1_Y                                                                                       \
    "08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af6"                                             \
    "00db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1"

/* x: the part with u comes first */
#define G2_X                                                                                       \
    "13e02b6052719f607dacd3a088274f65596bd0d09920b61a"                                             \
    "b5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e"                                             \
    "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02"                                             \
    "b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8"
#define G2_Y                                                                                       \
    "0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af"                                             \
    "267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be"                                             \
    "0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a7"                                             \
    "6d429a695160d12c923ac9cc3baca289e193548608b82801"

#define G1_ORDER_3                                                                                 \
    ZERO_48                                                                                        \
    "000000000000000000000000000000000000000000000000"                                             \
    "000000000000000000000000000000000000000000000002"

#define G1_ORDER_11                                                                                \
    "19b3e2c8c6bbf59d3c326b531fc1e639d29200c28624ac60"                                             \
    "4f251a12908c9b7f735318617f625954cc71cdf03229b1ef"                                             \
    "042fcc94d6c6440d3c0a01177616b72eb6972d90e36e88b5"                                             \
    "981a05a52ab48ce3e22fa88d10f6de85a7d386aad66c0ca8"

/* x = 4 */
#define G1_OUTSIDE                                                                                 \
    "000000000000000000000000000000000000000000000000"                                             \
    "000000000000000000000000000000000000000000000004"                                             \
    "0f68763c6572848797dea7f24fd56e3b9d1651fc29f2a798"                                             \
    "8c92fa42642c72dfbb654711b07221a25b55c1cab5413a3f"

#define G2_ORDER_13                                                                                \
    "032762e5199990da7d4ebc6409c2fdae09b25206fa89dded"                                             \
    "0a23c05406588284278c22ea15e6d03cee69a68b7d4704a4"                                             \
    "043ff79d06a80add8340a1a548d700c5ffeef5b14a3e2468"                                             \
    "34d320e323d9fcc76bae16f9f2763ab556905843518bc0c2"                                             \
    "11d5e237ada20ba34847ca12ae89cf77657a59351cd49236"                                             \
    "559eba3edcd8229a145a9178d5148b683b4a82fe9b605e8d"                                             \
    "124826af2beaf60db9ac4620693ac38a55719350dad13f08"                                             \
    "b0e0a5ddd205f1aab715e3713587964674fd1ac05439a9b8"

/* x = u */
#define G2_OUTSIDE                                                                                 \
    "000000000000000000000000000000000000000000000000"                                             \
    "000000000000000000000000000000000000000000000001" ZERO_48                                     \
    "05f3e7dd918226781285fd6dffd72cdc8bcb3281ab0b48a3"                                             \
    "ff4a885bf4fa30d253753470588fee2161cd710c36544690"                                             \
    "06af0e0437ff400b6831e36d6bd17ffe48395dabc2d3435e"                                             \
    "77f76e17009241c5ee67992f72ec05f4c81084fbede3cc09"

static inline void bytes_from_hex(uint8_t *out, const char *hex, size_t n) {
    assert_int_equal(strlen(hex), 2 * n);
    for (size_t i = 0; i < n; i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        out[i] = (uint8_t)byte;
    }
}

static inline void point_from_hex(g1_affine *out, const char *hex) {
    uint8_t bytes[G1_BYTES];
    bytes_from_hex(bytes, hex, sizeof bytes);
    assert_int_equal(g1_decode(out, bytes), POINT_GOOD);
}

static inline void point2_from_hex(g2_affine *out, const char *hex) {
    uint8_t bytes[G2_BYTES];
    bytes_from_hex(bytes, hex, sizeof bytes);
    assert_int_equal(g2_decode(out, bytes), POINT_GOOD);
}

#endif
