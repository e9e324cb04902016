#include "prover_key.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "bit_plane.h"
#include "ntt.h"

static cuzk_status check_counts(const struct srs *srs, const struct r1cs_stats *stats,
                                struct cuzk_error *err) {
    struct param_layout expected;
    param_layout_of_circuit(&expected, stats);
    for (int s = 0; s < PARAM_SECTIONS; s++) {
        if (srs->layout.count[s] != expected.count[s])
            return error_set(err, CUZK_PARAM_CIRCUIT, param_section_name((enum param_section)s),
                             "load the parameters of this circuit",
                             "%" PRIu32 " points, the circuit has %" PRIu32, srs->layout.count[s],
                             expected.count[s]);
    }
    return CUZK_OK;
}

/* ---- planes ---- */

static size_t element_words(const struct r1cs_stats *stats) {
    return plane_words(stats->n_elements) + 1;
}

static size_t planes_bytes(const struct r1cs_stats *stats) {
    return (2 * element_words(stats) + plane_words(stats->n_aux) + 1 +
            plane_words(stats->n_inputs)) *
           sizeof(uint64_t);
}

static struct query query_of(const struct r1cs_stats *stats, const uint64_t *aux_plane,
                             const uint64_t *input_plane, const uint64_t *not_bits,
                             uint64_t *element_plane) {
    const size_t n = plane_compact(element_plane, aux_plane, not_bits, stats->n_aux);
    assert(n == stats->n_elements);
    return (struct query){
        .aux_plane = aux_plane,
        .input_plane = input_plane,
        .element_plane = element_plane,
        .n_inputs = (uint32_t)plane_count(input_plane, stats->n_inputs),
        .n_aux = (uint32_t)plane_count(aux_plane, stats->n_aux),
        .n_elements = (uint32_t)plane_count(element_plane, n),
    };
}

static cuzk_status make_planes(struct prover_key *key, struct cuzk_error *err) {
    const struct r1cs_stats *stats = &key->stats;
    CUZK_TRY(mem_take(&key->planes_block, planes_bytes(stats), MEM_MATRICES, err));
    uint64_t *a_elements = key->planes_block.ptr;
    uint64_t *b_elements = a_elements + element_words(stats);
    uint64_t *not_bits = b_elements + element_words(stats);
    uint64_t *all_inputs = not_bits + plane_words(stats->n_aux) + 1;
    const uint64_t *kind = r1cs_kind_plane(key->r1cs);
    for (size_t i = 0; i < plane_words(stats->n_aux); i++)
        not_bits[i] = ~kind[i];
    for (size_t i = 0; i < plane_words(stats->n_inputs); i++)
        all_inputs[i] = UINT64_MAX;
    /* Every input is in A, by its row at the end of the system. */
    key->a = query_of(stats, r1cs_a_aux_plane(key->r1cs), all_inputs, not_bits, a_elements);
    key->b = query_of(stats, r1cs_b_aux_plane(key->r1cs), r1cs_b_input_plane(key->r1cs), not_bits,
                      b_elements);
    return CUZK_OK;
}

/* ---- gathered points ---- */

/* A query's points: inputs first, then the aux variables with density. */
struct gather {
    const g1_affine *g1;
    const g2_affine *g2; /* NULL: none */
    g1_affine *out_g1;
    g2_affine *out_g2;
    size_t next_in, next_out;
};

static void take_point(struct gather *g) {
    g->out_g1[g->next_out] = g->g1[g->next_in];
    if (g->g2 != NULL) g->out_g2[g->next_out] = g->g2[g->next_in];
    g->next_out++;
    g->next_in++;
}

static void gather_query(struct gather g, const struct query *q, const uint64_t *kind,
                         uint32_t n_aux) {
    for (uint32_t i = 0; i < q->n_inputs; i++)
        take_point(&g);
    for (size_t w = 0; w < plane_words(n_aux); w++) {
        const uint64_t present = q->aux_plane[w] & plane_valid_bits(w, n_aux);
        uint64_t elements = present & ~kind[w];
        const size_t first = g.next_in; /* of this word's points */
        for (; elements != 0; elements &= elements - 1) {
            const uint64_t below = (elements & -elements) - 1;
            g.next_in = first + (size_t)__builtin_popcountll(present & below);
            take_point(&g);
        }
        g.next_in = first + (size_t)__builtin_popcountll(present);
    }
}

static void gather_l(g1_affine *out, const g1_affine *l, const uint64_t *kind, uint32_t n_aux) {
    for (uint32_t i = 0; i < n_aux; i++)
        if (!plane_bit(kind, i)) *out++ = l[i];
}

static cuzk_status gather_points(struct prover_key *key, struct cuzk_error *err) {
    const struct srs *srs = key->srs;
    const size_t n_a = (size_t)key->a.n_inputs + key->a.n_elements;
    const size_t n_b = (size_t)key->b.n_inputs + key->b.n_elements;
    const size_t n_l = key->stats.n_elements;
    const size_t bytes = (n_a + n_b + n_l) * sizeof(g1_affine) + n_b * sizeof(g2_affine);
    CUZK_TRY(mem_take(&key->points_block, bytes, MEM_SRS, err));
    g2_affine *b_g2 = key->points_block.ptr;
    g1_affine *a = (g1_affine *)(b_g2 + n_b);
    g1_affine *b_g1 = a + n_a;
    g1_affine *l = b_g1 + n_b;
    const uint64_t *kind = r1cs_kind_plane(key->r1cs);
    const uint32_t n_aux = key->stats.n_aux;
    gather_query((struct gather){.g1 = srs->a, .out_g1 = a}, &key->a, kind, n_aux);
    gather_query((struct gather){.g1 = srs->b_g1, .g2 = srs->b_g2, .out_g1 = b_g1, .out_g2 = b_g2},
                 &key->b, kind, n_aux);
    gather_l(l, srs->l, kind, n_aux);
    key->a_elements = a;
    key->b_g1_elements = b_g1;
    key->b_g2_elements = b_g2;
    key->l_elements = l;
    return CUZK_OK;
}

static cuzk_status build(struct prover_key *key, struct pool *pool, struct cuzk_error *err) {
    CUZK_TRY(r1cs_get_stats(key->r1cs, &key->stats, pool, err));
    CUZK_TRY(check_counts(key->srs, &key->stats, err));
    key->log_n = ntt_log2_ceil(key->stats.n_rows);
    CUZK_TRY(make_planes(key, err));
    CUZK_TRY(gather_points(key, err));
    CUZK_TRY(mem_take(&key->domain_block, key->backend->domain_bytes(key->log_n), MEM_OTHER, err));
    key->domain = key->backend->domain_init(key->domain_block.ptr, key->log_n, pool);
    return CUZK_OK;
}

cuzk_status prover_key_create(struct prover_key **out, const struct srs *srs, struct r1cs *r1cs,
                              const struct backend *backend, struct pool *pool,
                              struct cuzk_error *err) {
    *out = NULL;
    struct prover_key *key = calloc(1, sizeof *key);
    if (key == NULL)
        return error_set(err, CUZK_NO_MEMORY, "prover key", NULL, "%zu bytes", sizeof *key);
    key->srs = srs;
    key->r1cs = r1cs;
    key->backend = backend;
    const cuzk_status s = build(key, pool, err);
    if (s != CUZK_OK) {
        prover_key_destroy(key);
        return s;
    }
    *out = key;
    return CUZK_OK;
}

void prover_key_destroy(struct prover_key *key) {
    if (key == NULL) return;
    mem_give(&key->domain_block);
    mem_give(&key->points_block);
    mem_give(&key->planes_block);
    free(key);
}

size_t prover_key_bytes(const struct r1cs_stats *stats, const struct backend *backend) {
    const size_t n = (size_t)stats->n_inputs + stats->n_elements;
    return planes_bytes(stats) + n * (3 * sizeof(g1_affine) + sizeof(g2_affine)) +
           backend->domain_bytes(ntt_log2_ceil(stats->n_rows));
}
