#include <blst.h>

#include "g1.h"

bool pairing_product_is_one(const g1_affine *p, const g2_affine *q, size_t n) {
    blst_fp12 product = *blst_fp12_one();
    for (size_t i = 0; i < n; i++) {
        if (g1_affine_is_infinity(&p[i]) || g2_affine_is_infinity(&q[i])) continue;
        blst_fp12 f;
        blst_miller_loop(&f, (const blst_p2_affine *)&q[i], (const blst_p1_affine *)&p[i]);
        blst_fp12_mul(&product, &product, &f);
    }
    blst_final_exp(&product, &product);
    return blst_fp12_is_one(&product);
}
