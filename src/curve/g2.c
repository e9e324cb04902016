#include "g1.h"

#include <assert.h>
#include <blst.h>
#include <sodium.h>

static_assert(sizeof(g2_affine) == sizeof(blst_p2_affine) && sizeof(g2) == sizeof(blst_p2),
              "points of G2 are blst's");

const g2_affine g2_generator = {{{{0xf5f28fa202940a10, 0xb3f5fb2687b4961a, 0xa1a893b53e2ae580,
                                   0x9894999d1a3caee9, 0x6f67b7631863366b, 0x058191924350bcd7}},
                                 {{0xa5a9c0759e23f606, 0xaaa0c59dbccd60c3, 0x3bb17e18e2867806,
                                   0x1b1ab6cc8541b367, 0xc2b6ed0ef2158547, 0x11922a097360edf3}}},
                                {{{0x4c730af860494c4a, 0x597cfa1f5e369c5a, 0xe7e6856caa0a635a,
                                   0xbbefb5e96e0d495f, 0x07d3a975f0ef25a2, 0x0083fd8e7e80dae5}},
                                 {{0xadc0fc92df64b05d, 0x18aa270a2b1461dc, 0x86adac6a3be4eba0,
                                   0x79495c4ec93da33a, 0xe7175850a43ccaed, 0x0b2bc2a163de1bf2}}}};

static const blst_p2 *as_blst(const g2 *a) {
    return (const blst_p2 *)a;
}

static const blst_p2_affine *as_blst_affine(const g2_affine *a) {
    return (const blst_p2_affine *)a;
}

void g2_set_infinity(g2 *out) {
    memset(out, 0, sizeof *out);
}

bool g2_is_infinity(const g2 *a) {
    return blst_p2_is_inf(as_blst(a));
}

bool g2_affine_is_infinity(const g2_affine *a) {
    return blst_p2_affine_is_inf(as_blst_affine(a));
}

void g2_from_affine(g2 *out, const g2_affine *a) {
    blst_p2_from_affine((blst_p2 *)out, as_blst_affine(a));
}

void g2_to_affine(g2_affine *out, const g2 *a) {
    if (g2_is_infinity(a)) {
        memset(out, 0, sizeof *out);
    } else {
        blst_p2_to_affine((blst_p2_affine *)out, as_blst(a));
    }
}

void g2_add(g2 *out, const g2 *a, const g2 *b) {
    blst_p2_add_or_double((blst_p2 *)out, as_blst(a), as_blst(b));
}

void g2_add_affine(g2 *out, const g2 *a, const g2_affine *b) {
    blst_p2_add_or_double_affine((blst_p2 *)out, as_blst(a), as_blst_affine(b));
}

void g2_double(g2 *out, const g2 *a) {
    blst_p2_double((blst_p2 *)out, as_blst(a));
}

void g2_neg(g2 *out, const g2 *a) {
    *out = *a;
    blst_p2_cneg((blst_p2 *)out, true);
}

void g2_mul(g2 *out, const g2 *a, const fr *k) {
    uint8_t bytes[32];
    fr_to_bytes(bytes, k);
    blst_p2_mult((blst_p2 *)out, as_blst(a), bytes, 255);
    sodium_memzero(bytes, sizeof bytes); /* k may be a blinding factor */
}

bool g2_equal(const g2 *a, const g2 *b) {
    return blst_p2_is_equal(as_blst(a), as_blst(b));
}

bool g2_in_group(const g2_affine *a) {
    return g2_affine_is_infinity(a) || blst_p2_affine_in_g2(as_blst_affine(a));
}

/*
 * Montgomery's trick over the Z coordinates that are not zero. Until its turn comes, out[i].x holds
 * the product of those before i, so no other memory is needed; `rest` is the inverse of the product
 * up to and including i.
 */
void g2_batch_to_affine(g2_affine *out, const g2 *in, size_t n) {
    blst_fp2 rest;
    memcpy(&rest, &blst_p2_generator()->z, sizeof rest); /* one */
    for (size_t i = 0; i < n; i++) {
        memcpy(&out[i].x, &rest, sizeof rest);
        if (!g2_is_infinity(&in[i])) blst_fp2_mul(&rest, &rest, &as_blst(&in[i])->z);
    }
    blst_fp2_eucl_inverse(&rest, &rest);
    for (size_t i = n; i-- > 0;) {
        if (g2_is_infinity(&in[i])) {
            memset(&out[i], 0, sizeof out[i]);
            continue;
        }
        const blst_p2 *p = as_blst(&in[i]);
        blst_p2_affine *q = (blst_p2_affine *)&out[i];
        blst_fp2 inv_z, inv_zz;
        blst_fp2_mul(&inv_z, &rest, &q->x);
        blst_fp2_mul(&rest, &rest, &p->z);
        blst_fp2_sqr(&inv_zz, &inv_z);
        blst_fp2_mul(&q->x, &p->x, &inv_zz);
        blst_fp2_mul(&inv_zz, &inv_zz, &inv_z);
        blst_fp2_mul(&q->y, &p->y, &inv_zz);
    }
}
