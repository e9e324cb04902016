#include "prover_sums.h"

#include <assert.h>

#include "bit_plane.h"
#include "groth16_common.h"

static size_t query_scalars(const struct query *q) {
    return (size_t)q->n_inputs + q->n_elements;
}

/* The packing writes one word past the last. */
static size_t query_words(const struct query *q) {
    return plane_words(q->n_aux) + 1;
}

size_t selection_bytes(const struct query *q) {
    return query_scalars(q) * sizeof(fr_words) + query_words(q) * sizeof(uint64_t);
}

/* Values that the plane selects, in order, as canonical words. */
static fr_words *select_scalars(fr_words *out, const fr *values, const uint64_t *plane, size_t n) {
    for (size_t w = 0; w < plane_words(n); w++) {
        uint64_t bits = plane[w] & plane_valid_bits(w, n);
        for (; bits != 0; bits &= bits - 1)
            fr_to_words(out++, &values[64 * w + (size_t)__builtin_ctzll(bits)]);
    }
    return out;
}

void selection_make(struct selection *out, void *memory, const struct query *q,
                    const struct witness *w) {
    *out = (struct selection){.scalars = memory, .n_scalars = query_scalars(q), .n_bits = q->n_aux};
    out->bits = (uint64_t *)(out->scalars + out->n_scalars);
    fr_words *end = select_scalars(out->scalars, w->inputs, q->input_plane, w->n_inputs);
    end = select_scalars(end, w->elements, q->element_plane, w->n_elements);
    assert(end == out->scalars + out->n_scalars);
    (void)end;
    const size_t n = plane_compact(out->bits, w->values, q->aux_plane, w->n_aux);
    assert(n == q->n_aux);
    (void)n;
}

void element_scalars(fr_words *out, const struct witness *w) {
    for (size_t i = 0; i < w->n_elements; i++)
        fr_to_words(&out[i], &w->elements[i]);
}

size_t sum_scratch_bytes_g1(const struct backend *backend, size_t n_scalars, unsigned threads) {
    return larger(backend->plan_g1(n_scalars, threads).scratch_bytes,
                  backend->bitsum_bytes(threads));
}

size_t sum_scratch_bytes_g2(const struct backend *backend, size_t n_scalars, unsigned threads) {
    return larger(backend->plan_g2(n_scalars, threads).scratch_bytes,
                  backend->bitsum_bytes(threads));
}

void sum_g1(g1 *out, const struct backend *backend, const struct selection *s,
            const g1_affine *elements, const g1_affine *points, void *scratch, struct pool *pool) {
    const unsigned threads = pool_threads(pool);
    const struct msm_plan plan = backend->plan_g1(s->n_scalars, threads);
    g1 bits;
    backend->msm_g1(out, elements, s->scalars, s->n_scalars, &plan, scratch, pool);
    backend->bitsum_g1(&bits, points, s->bits, s->n_bits, scratch, threads, pool);
    g1_add(out, out, &bits);
}

void sum_g2(g2 *out, const struct backend *backend, const struct selection *s,
            const g2_affine *elements, const g2_affine *points, void *scratch, struct pool *pool) {
    const unsigned threads = pool_threads(pool);
    const struct msm_plan plan = backend->plan_g2(s->n_scalars, threads);
    g2 bits;
    backend->msm_g2(out, elements, s->scalars, s->n_scalars, &plan, scratch, pool);
    backend->bitsum_g2(&bits, points, s->bits, s->n_bits, scratch, threads, pool);
    g2_add(out, out, &bits);
}
