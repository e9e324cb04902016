#include "fp52_pair.h"
#include "msm_kernel.h"

#define LANES            16
#define V(name)          fp52w_##name
#define SELF(name)       ifma_g1_##name
#define COORDINATE_BYTES FP52_BYTES
#include "msm_ifma_impl.h"

static void gather_g1(void *records, const void *points, const uint32_t *entries, size_t n) {
    const g1_affine *in = points;
    uint8_t *out = records;
    const __m512i flag = _mm512_maskz_set1_epi64(1 << ifma_g1_flag_limb, (long long)ifma_g1_flag);
    for (size_t i = 0; i < n; i++, out += ifma_g1_record_bytes) {
        const g1_affine *ahead = &in[entries[i + 32] >> 1], *p = &in[entries[i] >> 1];
        __builtin_prefetch(ahead);
        __builtin_prefetch((const uint8_t *)(ahead + 1) - 1);
        __m512i x = fp52_first_row(p);
        __m512i y = fp52_second_row(p);
        if (__builtin_expect(_mm512_test_epi64_mask(y, y) == 0, 0)) {
            x = flag;
        } else {
            const __m512i negative = fp52_row_negate(y);
            y = _mm512_mask_mov_epi64(y, (__mmask8) - (int)(entries[i] & 1), negative);
        }
        _mm512_storeu_si512(out, x);
        _mm512_storeu_si512(out + FP52_BYTES, y);
    }
}

static void scatter_g1(void *points, const void *records, size_t n) {
    g1_affine *out = points;
    const uint8_t *in = records;
    for (size_t i = 0; i < n; i++, in += ifma_g1_record_bytes) {
        uint64_t l[16];
        memcpy(l, in, sizeof l);
        l[ifma_g1_flag_limb] &= ~ifma_g1_flag;
        fp52_to_fp(&out[i].x, l);
        fp52_to_fp(&out[i].y, l + 8);
    }
}

const struct msm_kernel msm_ifma_g1 = {
    .group = &msm_group_g1,
    .record_bytes = ifma_g1_record_bytes,
    .product_bytes = sizeof(struct ifma_g1_block) / LANES,
    .slice_records = 4096,
    .add_ns = 55.0,
    .batch_ns = 2800.0,
    .set_infinity = ifma_g1_set_infinity,
    .gather = gather_g1,
    .add_pairs = ifma_g1_add_pairs,
    .scatter = scatter_g1,
};
