/*
 * The ZCash encodings. blst's decoders look at the flags to choose between the two forms, and also
 * call points with x = 0 "not in the group"; here the form is the caller's, and decoding leaves the
 * subgroup to g1_in_group and g2_in_group.
 */
#include <blst.h>

#include "g1.h"

enum { FLAG_COMPRESSED = 0x80, FLAG_INFINITY = 0x40, FLAG_GREATER_Y = 0x20 };

static bool rest_is_zero(const uint8_t *in, size_t n) {
    uint8_t any = in[0] & (uint8_t) ~(FLAG_COMPRESSED | FLAG_INFINITY);
    for (size_t i = 1; i < n; i++)
        any |= in[i];
    return any == 0;
}

/* POINT_GOOD when the flags are those of a point; *infinity says of which sort. */
static enum point_fault check_flags(bool *infinity, const uint8_t *in, size_t n, bool compressed) {
    *infinity = (in[0] & FLAG_INFINITY) != 0;
    if (((in[0] & FLAG_COMPRESSED) != 0) != compressed) return POINT_BAD_FLAGS;
    if (*infinity) return rest_is_zero(in, n) ? POINT_GOOD : POINT_BAD_FLAGS;
    if (!compressed && (in[0] & FLAG_GREATER_Y) != 0) return POINT_BAD_FLAGS;
    return POINT_GOOD;
}

/* blst's verdict on a point that is not infinity and whose flags are right. */
static enum point_fault fault_of(BLST_ERROR error) {
    switch (error) {
    case BLST_SUCCESS:
    case BLST_POINT_NOT_IN_GROUP: /* x = 0, on the curve; the point has been stored */
        return POINT_GOOD;
    case BLST_BAD_ENCODING:
        return POINT_OUT_OF_RANGE;
    default:
        return POINT_NOT_ON_CURVE;
    }
}

enum point_fault g1_decode(g1_affine *out, const uint8_t in[G1_BYTES]) {
    bool infinity;
    const enum point_fault fault = check_flags(&infinity, in, G1_BYTES, false);
    if (fault != POINT_GOOD) return fault;
    if (infinity) {
        memset(out, 0, sizeof *out);
        return POINT_GOOD;
    }
    return fault_of(blst_p1_deserialize((blst_p1_affine *)out, in));
}

enum point_fault g2_decode(g2_affine *out, const uint8_t in[G2_BYTES]) {
    bool infinity;
    const enum point_fault fault = check_flags(&infinity, in, G2_BYTES, false);
    if (fault != POINT_GOOD) return fault;
    if (infinity) {
        memset(out, 0, sizeof *out);
        return POINT_GOOD;
    }
    return fault_of(blst_p2_deserialize((blst_p2_affine *)out, in));
}

/* n coordinates, big-endian, into out; false when one is not below p. */
static bool decode_coordinates(fp *const out[], const uint8_t *in, size_t n) {
    static const uint8_t modulus[48] = {
        0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b, 0xa7, 0xb6,
        0x43, 0x4b, 0xac, 0xd7, 0x64, 0x77, 0x4b, 0x84, 0xf3, 0x85, 0x12, 0xbf,
        0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0, 0xf6, 0x24, 0x1e, 0xab, 0xff, 0xfe,
        0xb1, 0x53, 0xff, 0xff, 0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa, 0xab,
    };
    for (size_t i = 0; i < n; i++, in += sizeof modulus) {
        if (memcmp(in, modulus, sizeof modulus) >= 0) return false;
        blst_fp_from_bendian((blst_fp *)out[i], in);
    }
    return true;
}

enum point_fault g1_decode_known(g1_affine *out, const uint8_t in[G1_BYTES]) {
    bool infinity;
    const enum point_fault fault = check_flags(&infinity, in, G1_BYTES, false);
    if (fault != POINT_GOOD || infinity) return g1_decode(out, in);
    fp *const coordinates[] = {&out->x, &out->y};
    return decode_coordinates(coordinates, in, 2) ? POINT_GOOD : POINT_OUT_OF_RANGE;
}

enum point_fault g2_decode_known(g2_affine *out, const uint8_t in[G2_BYTES]) {
    bool infinity;
    const enum point_fault fault = check_flags(&infinity, in, G2_BYTES, false);
    if (fault != POINT_GOOD || infinity) return g2_decode(out, in);
    fp *const coordinates[] = {&out->x.c1, &out->x.c0, &out->y.c1, &out->y.c0};
    return decode_coordinates(coordinates, in, 4) ? POINT_GOOD : POINT_OUT_OF_RANGE;
}

void g1_encode(uint8_t out[G1_BYTES], const g1_affine *a) {
    blst_p1_affine_serialize(out, (const blst_p1_affine *)a);
}

void g2_encode(uint8_t out[G2_BYTES], const g2_affine *a) {
    blst_p2_affine_serialize(out, (const blst_p2_affine *)a);
}

enum point_fault g1_decompress(g1_affine *out, const uint8_t in[G1_COMPRESSED_BYTES]) {
    bool infinity;
    g1_affine point;
    enum point_fault fault = check_flags(&infinity, in, G1_COMPRESSED_BYTES, true);
    if (fault != POINT_GOOD) return fault;
    if (infinity) {
        memset(out, 0, sizeof *out);
        return POINT_GOOD;
    }
    fault = fault_of(blst_p1_uncompress((blst_p1_affine *)&point, in));
    if (fault != POINT_GOOD) return fault;
    if (!g1_in_group(&point)) return POINT_NOT_IN_GROUP;
    *out = point;
    return POINT_GOOD;
}

enum point_fault g2_decompress(g2_affine *out, const uint8_t in[G2_COMPRESSED_BYTES]) {
    bool infinity;
    g2_affine point;
    enum point_fault fault = check_flags(&infinity, in, G2_COMPRESSED_BYTES, true);
    if (fault != POINT_GOOD) return fault;
    if (infinity) {
        memset(out, 0, sizeof *out);
        return POINT_GOOD;
    }
    fault = fault_of(blst_p2_uncompress((blst_p2_affine *)&point, in));
    if (fault != POINT_GOOD) return fault;
    if (!g2_in_group(&point)) return POINT_NOT_IN_GROUP;
    *out = point;
    return POINT_GOOD;
}

void g1_compress(uint8_t out[G1_COMPRESSED_BYTES], const g1_affine *a) {
    blst_p1_affine_compress(out, (const blst_p1_affine *)a);
}

void g2_compress(uint8_t out[G2_COMPRESSED_BYTES], const g2_affine *a) {
    blst_p2_affine_compress(out, (const blst_p2_affine *)a);
}

const char *point_fault_text(enum point_fault fault) {
    switch (fault) {
    case POINT_GOOD:
        return "the point is good";
    case POINT_BAD_FLAGS:
        return "the flag bits make no sense";
    case POINT_OUT_OF_RANGE:
        return "a coordinate is not below the field's modulus";
    case POINT_NOT_ON_CURVE:
        return "the point is not on the curve";
    case POINT_NOT_IN_GROUP:
        return "the point is not in the group of prime order";
    }
    return "unknown fault";
}
