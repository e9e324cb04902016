#include "unit/msm_testing.h"

#include "unit/test_main.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

#define NAME      "G1"
#define G(name)   g1_##name
#define MSM(name) name##_g1
#define AFFINE    g1_affine
#define JACOBIAN  g1
#define TABLE     test_g1
#include "unit/msm_testing_impl.h"
#undef NAME
#undef G
#undef MSM
#undef AFFINE
#undef JACOBIAN
#undef TABLE

#define NAME      "G2"
#define G(name)   g2_##name
#define MSM(name) name##_g2
#define AFFINE    g2_affine
#define JACOBIAN  g2
#define TABLE     test_g2
#include "unit/msm_testing_impl.h"

void test_random_fr(fr *out, uint64_t index) {
    static const uint8_t seed[32] = "cuzk msm tests";
    fr_from_seed(out, seed, index);
}

enum { CANARY_BYTES = 256, CANARY = 0xa5 };

void guarded_take(struct guarded *g, size_t bytes) {
    g->bytes = bytes;
    assert_int_equal(mem_take(&g->block, bytes + CANARY_BYTES, MEM_OTHER, NULL), CUZK_OK);
    g->ptr = g->block.ptr;
    memset((uint8_t *)g->ptr + bytes, CANARY, CANARY_BYTES);
    ASAN_POISON_MEMORY_REGION((uint8_t *)g->ptr + bytes, CANARY_BYTES);
}

void guarded_give(struct guarded *g) {
    const uint8_t *canary = (const uint8_t *)g->ptr + g->bytes;
    ASAN_UNPOISON_MEMORY_REGION(canary, CANARY_BYTES);
    for (size_t i = 0; i < CANARY_BYTES; i++)
        assert_int_equal(canary[i], CANARY);
    mem_give(&g->block);
}
