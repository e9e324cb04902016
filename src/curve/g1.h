/*
 * G1 and G2 of BLS12-381, their encodings and the pairing: the only door to blst for points.
 *
 * Coordinates are in Montgomery form (R = 2^384), reduced; layouts equal blst's, so that g1_affine
 * is blst_p1_affine, and so on. An affine point (0, 0) is the point at infinity. Jacobian points
 * have Z = 0 at infinity.
 *
 * Encodings are the ZCash ones: big-endian, three flag bits in the first byte (0x80 compressed,
 * 0x40 infinity, 0x20 greater y). Uncompressed: 96 and 192 bytes, as in parameter files;
 * compressed: 48 and 96, as in proofs.
 *
 * Outputs may alias inputs of the same type. Threads: pure.
 */
#ifndef CURVE_G1_H
#define CURVE_G1_H

#include "fr.h"

typedef struct {
    uint64_t l[6];
} fp;
typedef struct {
    fp c0, c1; /* c0 + c1 u, u^2 = -1 */
} fp2;
typedef struct {
    fp x, y;
} g1_affine;
typedef struct {
    fp x, y, z;
} g1;
typedef struct {
    fp2 x, y;
} g2_affine;
typedef struct {
    fp2 x, y, z;
} g2;

enum { G1_BYTES = 96, G2_BYTES = 192, G1_COMPRESSED_BYTES = 48, G2_COMPRESSED_BYTES = 96 };

/* What is wrong with an encoded point. */
enum point_fault {
    POINT_GOOD = 0,
    POINT_BAD_FLAGS, /* compressed bit in an uncompressed encoding, stray bits with infinity … */
    POINT_OUT_OF_RANGE, /* a coordinate is not below p */
    POINT_NOT_ON_CURVE,
    POINT_NOT_IN_GROUP,
};

extern const g1_affine g1_generator;
extern const g2_affine g2_generator;

void g1_set_infinity(g1 *out);
bool g1_is_infinity(const g1 *a);
bool g1_affine_is_infinity(const g1_affine *a);
void g1_from_affine(g1 *out, const g1_affine *a);
void g1_to_affine(g1_affine *out, const g1 *a); /* one inversion */
void g1_add(g1 *out, const g1 *a, const g1 *b); /* complete: doubling and infinity handled */
void g1_add_affine(g1 *out, const g1 *a, const g1_affine *b); /* complete */
void g1_double(g1 *out, const g1 *a);
void g1_neg(g1 *out, const g1 *a);
/* a must be in the group (the endomorphism splits k); time does not depend on k. */
void g1_mul(g1 *out, const g1 *a, const fr *k);
bool g1_equal(const g1 *a, const g1 *b);
/* n affine points from n Jacobian ones with one inversion; infinity becomes (0, 0).
 * out and in must not overlap. */
void g1_batch_to_affine(g1_affine *out, const g1 *in, size_t n);

void g2_set_infinity(g2 *out);
bool g2_is_infinity(const g2 *a);
bool g2_affine_is_infinity(const g2_affine *a);
void g2_from_affine(g2 *out, const g2_affine *a);
void g2_to_affine(g2_affine *out, const g2 *a);
void g2_add(g2 *out, const g2 *a, const g2 *b);
void g2_add_affine(g2 *out, const g2 *a, const g2_affine *b);
void g2_double(g2 *out, const g2 *a);
void g2_neg(g2 *out, const g2 *a);
void g2_mul(g2 *out, const g2 *a, const fr *k); /* a in the group, as for g1_mul */
bool g2_equal(const g2 *a, const g2 *b);
void g2_batch_to_affine(g2_affine *out, const g2 *in, size_t n);

/*
 * Decoding checks flags, range and curve; never the subgroup (g1_in_group does). Infinity is
 * POINT_GOOD and gives (0, 0).
 */
enum point_fault g1_decode(g1_affine *out, const uint8_t in[G1_BYTES]);
enum point_fault g2_decode(g2_affine *out, const uint8_t in[G2_BYTES]);
/* The same without the curve's equation, three times as fast: for points that were checked before.
 */
enum point_fault g1_decode_known(g1_affine *out, const uint8_t in[G1_BYTES]);
enum point_fault g2_decode_known(g2_affine *out, const uint8_t in[G2_BYTES]);
void g1_encode(uint8_t out[G1_BYTES], const g1_affine *a);
void g2_encode(uint8_t out[G2_BYTES], const g2_affine *a);
/* Compressed forms; decompression checks the subgroup as well. */
enum point_fault g1_decompress(g1_affine *out, const uint8_t in[G1_COMPRESSED_BYTES]);
enum point_fault g2_decompress(g2_affine *out, const uint8_t in[G2_COMPRESSED_BYTES]);
void g1_compress(uint8_t out[G1_COMPRESSED_BYTES], const g1_affine *a);
void g2_compress(uint8_t out[G2_COMPRESSED_BYTES], const g2_affine *a);
bool g1_in_group(const g1_affine *a);
bool g2_in_group(const g2_affine *a);
const char *point_fault_text(enum point_fault fault);

/* Does the product of e(p[i], q[i]) over n pairs equal one? Pairs with infinity count as one. */
bool pairing_product_is_one(const g1_affine *p, const g2_affine *q, size_t n);

#endif
