/*
 * The bit-reversal permutation in place. An index is (high, middle, low) with TILE_LOG bits at
 * either end. The elements with one middle form a tile of 2^TILE_LOG runs of 2^TILE_LOG elements;
 * the tile of `middle` changes places with that of its reverse, each turned round on the way. Runs
 * are read and written whole, through a buffer, because they lie a power of two apart and would
 * evict each other from the cache.
 */
#include "ntt_plan.h"

enum { TILE_LOG = 5, TILE = 1 << TILE_LOG, MIDDLES_PER_TASK = 16 };

struct permutation {
    fr *a;
    unsigned log_n;
};

/* buffer[rev l][rev h] = run h, element l of the tile. */
static void take_tile(fr buffer[TILE][TILE], const fr *tile, size_t stride) {
    for (size_t h = 0; h < TILE; h++) {
        const size_t column = ntt_reverse_bits(h, TILE_LOG);
        for (size_t l = 0; l < TILE; l++)
            buffer[ntt_reverse_bits(l, TILE_LOG)][column] = tile[h * stride + l];
    }
}

static void put_tile(fr *tile, fr buffer[TILE][TILE], size_t stride) {
    for (size_t h = 0; h < TILE; h++)
        memcpy(tile + h * stride, buffer[h], TILE * sizeof(fr));
}

static void swap_tiles(void *ctx, size_t task, unsigned worker) {
    const struct permutation *p = ctx;
    const unsigned middle_log = p->log_n - 2 * TILE_LOG;
    const size_t stride = (size_t)1 << (p->log_n - TILE_LOG);
    const size_t n = (size_t)1 << middle_log;
    fr one[TILE][TILE], other[TILE][TILE];
    (void)worker;
    for (size_t k = 0; k < MIDDLES_PER_TASK; k++) {
        const size_t middle = task * MIDDLES_PER_TASK + k;
        if (middle >= n) break;
        const size_t partner = ntt_reverse_bits(middle, middle_log);
        if (partner < middle) continue;
        fr *tile = p->a + (middle << TILE_LOG);
        fr *partner_tile = p->a + (partner << TILE_LOG);
        take_tile(one, tile, stride);
        if (partner != middle) {
            take_tile(other, partner_tile, stride);
            put_tile(tile, other, stride);
        }
        put_tile(partner_tile, one, stride);
    }
}

void ntt_bit_reverse(fr *a, unsigned log_n, struct pool *pool) {
    if (log_n < 2 * TILE_LOG) {
        for (size_t i = 0; i < (size_t)1 << log_n; i++) {
            const size_t j = ntt_reverse_bits(i, log_n);
            if (j <= i) continue;
            const fr t = a[i];
            a[i] = a[j];
            a[j] = t;
        }
        return;
    }
    struct permutation p = {a, log_n};
    const size_t middles = (size_t)1 << (log_n - 2 * TILE_LOG);
    pool_run(pool, (middles + MIDDLES_PER_TASK - 1) / MIDDLES_PER_TASK, swap_tiles, &p);
}
