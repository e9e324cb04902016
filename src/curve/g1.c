#include "g1.h"

#include <assert.h>
#include <blst.h>
#include <sodium.h>

static_assert(sizeof(g1_affine) == sizeof(blst_p1_affine) && sizeof(g1) == sizeof(blst_p1),
              "points of G1 are blst's");

const g1_affine g1_generator = {{{0x5cb38790fd530c16, 0x7817fc679976fff5, 0x154f95c7143ba1c1,
                                  0xf0ae6acdf3d0e747, 0xedce6ecc21dbf440, 0x120177419e0bfb75}},
                                {{0xbaac93d50ce72271, 0x8c22631a7918fd8e, 0xdd595f13570725ce,
                                  0x51ac582950405194, 0x0e1c8c3fad0059c0, 0x0bbc3efc5008a26a}}};

static const blst_p1 *as_blst(const g1 *a) {
    return (const blst_p1 *)a;
}

static const blst_p1_affine *as_blst_affine(const g1_affine *a) {
    return (const blst_p1_affine *)a;
}

void g1_set_infinity(g1 *out) {
    memset(out, 0, sizeof *out);
}

bool g1_is_infinity(const g1 *a) {
    return blst_p1_is_inf(as_blst(a));
}

bool g1_affine_is_infinity(const g1_affine *a) {
    return blst_p1_affine_is_inf(as_blst_affine(a));
}

void g1_from_affine(g1 *out, const g1_affine *a) {
    blst_p1_from_affine((blst_p1 *)out, as_blst_affine(a));
}

void g1_to_affine(g1_affine *out, const g1 *a) {
    if (g1_is_infinity(a)) {
        memset(out, 0, sizeof *out);
    } else {
        blst_p1_to_affine((blst_p1_affine *)out, as_blst(a));
    }
}

void g1_add(g1 *out, const g1 *a, const g1 *b) {
    blst_p1_add_or_double((blst_p1 *)out, as_blst(a), as_blst(b));
}

void g1_add_affine(g1 *out, const g1 *a, const g1_affine *b) {
    blst_p1_add_or_double_affine((blst_p1 *)out, as_blst(a), as_blst_affine(b));
}

void g1_double(g1 *out, const g1 *a) {
    blst_p1_double((blst_p1 *)out, as_blst(a));
}

void g1_neg(g1 *out, const g1 *a) {
    *out = *a;
    blst_p1_cneg((blst_p1 *)out, true);
}

void g1_mul(g1 *out, const g1 *a, const fr *k) {
    uint8_t bytes[32];
    fr_to_bytes(bytes, k);
    blst_p1_mult((blst_p1 *)out, as_blst(a), bytes, 255);
    sodium_memzero(bytes, sizeof bytes); /* k may be a blinding factor */
}

bool g1_equal(const g1 *a, const g1 *b) {
    return blst_p1_is_equal(as_blst(a), as_blst(b));
}

bool g1_in_group(const g1_affine *a) {
    return g1_affine_is_infinity(a) || blst_p1_affine_in_g1(as_blst_affine(a));
}

/*
 * Montgomery's trick over the Z coordinates that are not zero. Until its turn comes, out[i].x holds
 * the product of those before i, so no other memory is needed; `rest` is the inverse of the product
 * up to and including i.
 */
void g1_batch_to_affine(g1_affine *out, const g1 *in, size_t n) {
    blst_fp rest;
    memcpy(&rest, &blst_p1_generator()->z, sizeof rest); /* one */
    for (size_t i = 0; i < n; i++) {
        memcpy(&out[i].x, &rest, sizeof rest);
        if (!g1_is_infinity(&in[i])) blst_fp_mul(&rest, &rest, &as_blst(&in[i])->z);
    }
    blst_fp_eucl_inverse(&rest, &rest);
    for (size_t i = n; i-- > 0;) {
        if (g1_is_infinity(&in[i])) {
            memset(&out[i], 0, sizeof out[i]);
            continue;
        }
        const blst_p1 *p = as_blst(&in[i]);
        blst_p1_affine *q = (blst_p1_affine *)&out[i];
        blst_fp inv_z, inv_zz;
        blst_fp_mul(&inv_z, &rest, &q->x);
        blst_fp_mul(&rest, &rest, &p->z);
        blst_fp_sqr(&inv_zz, &inv_z);
        blst_fp_mul(&q->x, &p->x, &inv_zz);
        blst_fp_mul(&inv_zz, &inv_zz, &inv_z);
        blst_fp_mul(&q->y, &p->y, &inv_zz);
    }
}
