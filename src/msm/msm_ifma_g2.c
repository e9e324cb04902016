#include "fp52_pair.h"
#include "msm_kernel.h"

#define LANES            8
#define V(name)          fp52x2_##name
#define SELF(name)       ifma_g2_##name
#define COORDINATE_BYTES (2 * FP52_BYTES)
#include "msm_ifma_impl.h"

/* -a for a row: zero stays zero. */
static __m512i negated_if(__m512i row, unsigned negative) {
    const bool keep = negative == 0 || _mm512_test_epi64_mask(row, row) == 0;
    return keep ? row : fp52_row_negate(row);
}

static void gather_g2(void *records, const void *points, const uint32_t *entries, size_t n) {
    const g2_affine *in = points;
    uint8_t *out = records;
    const __m512i flag = _mm512_maskz_set1_epi64(1 << ifma_g2_flag_limb, (long long)ifma_g2_flag);
    for (size_t i = 0; i < n; i++, out += ifma_g2_record_bytes) {
        const g2_affine *ahead = &in[entries[i + 16] >> 1], *p = &in[entries[i] >> 1];
        for (size_t line = 0; line < sizeof *ahead; line += 64)
            __builtin_prefetch((const uint8_t *)ahead + line);
        __m512i x0 = fp52_first_row(&p->x);
        const __m512i x1 = fp52_second_row(&p->x);
        const __m512i y0 = fp52_first_row(&p->y);
        const __m512i y1 = fp52_second_row(&p->y);
        const __m512i y = _mm512_or_si512(y0, y1);
        if (_mm512_test_epi64_mask(y, y) == 0) x0 = flag;
        _mm512_storeu_si512(out, x0);
        _mm512_storeu_si512(out + FP52_BYTES, x1);
        _mm512_storeu_si512(out + 2 * FP52_BYTES, negated_if(y0, entries[i] & 1));
        _mm512_storeu_si512(out + 3 * FP52_BYTES, negated_if(y1, entries[i] & 1));
    }
}

static void scatter_g2(void *points, const void *records, size_t n) {
    g2_affine *out = points;
    const uint8_t *in = records;
    for (size_t i = 0; i < n; i++, in += ifma_g2_record_bytes) {
        uint64_t l[32];
        memcpy(l, in, sizeof l);
        l[ifma_g2_flag_limb] &= ~ifma_g2_flag;
        fp52_to_fp(&out[i].x.c0, l);
        fp52_to_fp(&out[i].x.c1, l + 8);
        fp52_to_fp(&out[i].y.c0, l + 16);
        fp52_to_fp(&out[i].y.c1, l + 24);
    }
}

const struct msm_kernel msm_ifma_g2 = {
    .group = &msm_group_g2,
    .record_bytes = ifma_g2_record_bytes,
    .product_bytes = sizeof(struct ifma_g2_block) / LANES,
    .slice_records = 4096,
    .add_ns = 160.0,
    .batch_ns = 3500.0,
    .set_infinity = ifma_g2_set_infinity,
    .gather = gather_g2,
    .add_pairs = ifma_g2_add_pairs,
    .scatter = scatter_g2,
};
