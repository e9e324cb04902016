#include "subgroup.h"

#include <assert.h>
#include <sodium.h>
#include <stdatomic.h>
#include <string.h>

#include "groth16_common.h"

/*
 * One algorithm for both groups: the few operations that differ are in a table. A call through it
 * is small beside an addition.
 */
struct group {
    size_t affine_bytes, sum_bytes;
    void (*add)(void *sum, const void *point); /* sum += affine point */
    void (*merge)(void *sum, const void *other);
    void (*to_affine)(void *points, const void *sums, size_t n);
    bool (*contains)(const void *point);
};

static void add_g1(void *sum, const void *point) {
    g1_add_affine(sum, sum, point);
}
static void merge_g1(void *sum, const void *other) {
    g1_add(sum, sum, other);
}
static void to_affine_g1(void *points, const void *sums, size_t n) {
    g1_batch_to_affine(points, sums, n);
}
static bool contains_g1(const void *point) {
    return g1_in_group(point);
}
static void add_g2(void *sum, const void *point) {
    g2_add_affine(sum, sum, point);
}
static void merge_g2(void *sum, const void *other) {
    g2_add(sum, sum, other);
}
static void to_affine_g2(void *points, const void *sums, size_t n) {
    g2_batch_to_affine(points, sums, n);
}
static bool contains_g2(const void *point) {
    return g2_in_group(point);
}

static const struct group group_g1 = {
    .affine_bytes = sizeof(g1_affine),
    .sum_bytes = sizeof(g1),
    .add = add_g1,
    .merge = merge_g1,
    .to_affine = to_affine_g1,
    .contains = contains_g1,
};
static const struct group group_g2 = {
    .affine_bytes = sizeof(g2_affine),
    .sum_bytes = sizeof(g2),
    .add = add_g2,
    .merge = merge_g2,
    .to_affine = to_affine_g2,
    .contains = contains_g2,
};

enum {
    DIRECT_MAX = 4096, /* up to so many points are tested one by one */
    ERROR_BITS = 68,   /* a level lets bad points pass with probability 2^-68 at most */
    MIN_LOG_BUCKETS = 8,
    MAX_LOG_BUCKETS = 17,
    POINTS_PER_BUCKET = 32, /* at least, so that a level has far fewer sums than points */
    CHUNK = 4096,           /* points of one task, and of one piece of the random stream */
    MERGE_CHUNK = 1024,     /* buckets of one task of the merge */
};

/* How a level of n points is cut. Depends on n only. */
struct level {
    unsigned log_buckets, passes;
};

static struct level level_of(size_t n) {
    unsigned k = MIN_LOG_BUCKETS;
    while (k < MAX_LOG_BUCKETS && ((size_t)POINTS_PER_BUCKET << (k + 1)) <= n)
        k++;
    return (struct level){.log_buckets = k, .passes = (ERROR_BITS + k - 1) / k};
}

static size_t level_sums(struct level level) {
    return (size_t)level.passes << level.log_buckets;
}

/* ---- a few points: one by one ---- */

struct direct {
    const struct group *group;
    const uint8_t *points;
    size_t n;
    _Atomic size_t bad; /* the smallest index found */
};

static void note_bad(_Atomic size_t *bad, size_t index) {
    size_t seen = atomic_load(bad);
    while (index < seen && !atomic_compare_exchange_weak(bad, &seen, index)) {
    }
}

enum { DIRECT_CHUNK = 32 };

static void direct_task(void *ctx, size_t task, unsigned worker) {
    struct direct *d = ctx;
    (void)worker;
    const size_t first = task * DIRECT_CHUNK;
    for (size_t i = first; i < first + DIRECT_CHUNK && i < d->n; i++)
        if (!d->group->contains(d->points + i * d->group->affine_bytes)) note_bad(&d->bad, i);
}

static size_t check_direct(const struct group *group, const uint8_t *points, size_t n,
                           struct pool *pool) {
    struct direct d = {.group = group, .points = points, .n = n, .bad = SUBGROUP_ALL_GOOD};
    pool_run(pool, (n + DIRECT_CHUNK - 1) / DIRECT_CHUNK, direct_task, &d);
    return atomic_load(&d.bad);
}

/* ---- many points: random buckets ---- */

struct passes {
    const struct group *group;
    const uint8_t *points;
    size_t n;
    struct level level;
    unsigned pass;
    unsigned threads;
    uint8_t key[crypto_stream_chacha20_KEYBYTES];
    uint8_t *buckets; /* threads arrays of 2^log_buckets sums */
    uint8_t *sums;    /* affine, pass after pass */
    _Atomic size_t bad;
    size_t bucket; /* while a bad point is looked for */
};

/*
 * The buckets of chunk `chunk` of the current pass: a stream cipher under a fresh key, with pass
 * and chunk as its nonce, so that whoever made the points could not foresee them, and so that they
 * can be made again.
 */
static void draw_buckets(const struct passes *p, size_t chunk, uint32_t out[CHUNK]) {
    uint8_t nonce[crypto_stream_chacha20_NONCEBYTES];
    const uint64_t number = (uint64_t)p->pass << 40 | chunk;
    static_assert(sizeof nonce == sizeof number, "a nonce of 8 bytes");
    memcpy(nonce, &number, sizeof nonce);
    crypto_stream_chacha20((uint8_t *)out, CHUNK * sizeof *out, nonce, p->key);
    const uint32_t mask = ((uint32_t)1 << p->level.log_buckets) - 1;
    for (size_t i = 0; i < CHUNK; i++)
        out[i] &= mask;
}

static size_t chunk_points(const struct passes *p, size_t chunk) {
    const size_t left = p->n - chunk * CHUNK;
    return left < CHUNK ? left : CHUNK;
}

static void throw_task(void *ctx, size_t chunk, unsigned worker) {
    const struct passes *p = ctx;
    const struct group *g = p->group;
    uint32_t bucket[CHUNK];
    draw_buckets(p, chunk, bucket);
    uint8_t *mine = p->buckets + (worker * g->sum_bytes << p->level.log_buckets);
    const uint8_t *points = p->points + chunk * CHUNK * g->affine_bytes;
    const size_t n = chunk_points(p, chunk);
    enum { AHEAD = 8 }; /* the buckets do not fit into the nearest cache */
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            const uint8_t *next = mine + bucket[i + AHEAD] * g->sum_bytes;
            for (size_t line = 0; line < g->sum_bytes; line += 64)
                __builtin_prefetch(next + line, 1);
        }
        g->add(mine + bucket[i] * g->sum_bytes, points + i * g->affine_bytes);
    }
}

/* Adds the workers' buckets up, in the first one's, and empties the others for the next pass. */
static void merge_task(void *ctx, size_t task, unsigned worker) {
    const struct passes *p = ctx;
    const struct group *g = p->group;
    (void)worker;
    const size_t n_buckets = (size_t)1 << p->level.log_buckets;
    const size_t first = task * MERGE_CHUNK;
    const size_t n = n_buckets - first < MERGE_CHUNK ? n_buckets - first : MERGE_CHUNK;
    uint8_t *sum = p->buckets + first * g->sum_bytes;
    for (unsigned t = 1; t < p->threads; t++) {
        uint8_t *other = sum + (t * g->sum_bytes << p->level.log_buckets);
        for (size_t i = 0; i < n; i++)
            g->merge(sum + i * g->sum_bytes, other + i * g->sum_bytes);
        memset(other, 0, n * g->sum_bytes);
    }
    g->to_affine(p->sums + (p->pass * n_buckets + first) * g->affine_bytes, sum, n);
    memset(sum, 0, n * g->sum_bytes);
}

/* Tests the points that fell into the bad bucket. */
static void find_task(void *ctx, size_t chunk, unsigned worker) {
    struct passes *p = ctx;
    const struct group *g = p->group;
    (void)worker;
    uint32_t bucket[CHUNK];
    draw_buckets(p, chunk, bucket);
    const size_t n = chunk_points(p, chunk);
    for (size_t i = 0; i < n; i++) {
        const size_t index = chunk * CHUNK + i;
        if (bucket[i] == p->bucket && !g->contains(p->points + index * g->affine_bytes))
            note_bad(&p->bad, index);
    }
}

static size_t buckets_bytes(const struct group *group, struct level level, unsigned threads) {
    return threads * group->sum_bytes << level.log_buckets;
}

static cuzk_status check(const struct group *group, size_t *bad, const uint8_t *points, size_t n,
                         struct pool *pool, const struct progress *progress,
                         struct cuzk_error *err);

static cuzk_status run_passes(struct passes *p, struct pool *pool, const struct progress *progress,
                              struct cuzk_error *err) {
    const size_t n_chunks = (p->n + CHUNK - 1) / CHUNK;
    const size_t n_merges = (((size_t)1 << p->level.log_buckets) + MERGE_CHUNK - 1) / MERGE_CHUNK;
    for (p->pass = 0; p->pass < p->level.passes; p->pass++) {
        if (progress_cancelled(progress))
            return error_set(err, CUZK_CANCELLED, NULL, NULL, "the group check was not finished");
        pool_run(pool, n_chunks, throw_task, p);
        pool_run(pool, n_merges, merge_task, p);
        progress_report(progress, "group check", p->pass + 1, p->level.passes);
    }
    return CUZK_OK;
}

/* A bad sum names a pass and a bucket; the bucket has a bad point, since good ones add up to good.
 */
static cuzk_status locate(struct passes *p, size_t bad_sum, size_t *bad, struct pool *pool,
                          struct cuzk_error *err) {
    p->pass = (unsigned)(bad_sum >> p->level.log_buckets);
    p->bucket = bad_sum & (((size_t)1 << p->level.log_buckets) - 1);
    pool_run(pool, (p->n + CHUNK - 1) / CHUNK, find_task, p);
    *bad = atomic_load(&p->bad);
    if (*bad == SUBGROUP_ALL_GOOD)
        return error_set(err, CUZK_INTERNAL, "group check", "report this",
                         "a sum of good points is not in the group");
    return CUZK_OK;
}

static cuzk_status check_buckets(const struct group *group, size_t *bad, const uint8_t *points,
                                 size_t n, struct pool *pool, const struct progress *progress,
                                 struct cuzk_error *err) {
    struct passes p = {.group = group,
                       .points = points,
                       .n = n,
                       .level = level_of(n),
                       .threads = pool_threads(pool),
                       .bad = SUBGROUP_ALL_GOOD};
    const size_t n_sums = level_sums(p.level);
    assert(n_sums < n);
    struct mem_block buckets = {0}, sums = {0};
    CUZK_TRY(sodium_ready(err));
    cuzk_status s = mem_take(&buckets, buckets_bytes(group, p.level, p.threads), MEM_OTHER, err);
    if (s == CUZK_OK) s = mem_take(&sums, n_sums * group->affine_bytes, MEM_OTHER, err);
    if (s != CUZK_OK) goto out;
    p.buckets = buckets.ptr; /* zeroed: every sum is at infinity */
    p.sums = sums.ptr;
    randombytes_buf(p.key, sizeof p.key);
    s = run_passes(&p, pool, progress, err);
    mem_give(&buckets);
    size_t bad_sum = SUBGROUP_ALL_GOOD;
    if (s == CUZK_OK) s = check(group, &bad_sum, p.sums, n_sums, pool, NULL, err);
    if (s == CUZK_OK && bad_sum != SUBGROUP_ALL_GOOD) s = locate(&p, bad_sum, bad, pool, err);
out:
    mem_give(&sums);
    mem_give(&buckets);
    return s;
}

static cuzk_status check(const struct group *group, size_t *bad, const uint8_t *points, size_t n,
                         struct pool *pool, const struct progress *progress,
                         struct cuzk_error *err) {
    *bad = SUBGROUP_ALL_GOOD;
    if (n > DIRECT_MAX) return check_buckets(group, bad, points, n, pool, progress, err);
    *bad = check_direct(group, points, n, pool);
    return CUZK_OK;
}

cuzk_status subgroup_check_g1(size_t *bad, const g1_affine *points, size_t n, struct pool *pool,
                              const struct progress *progress, struct cuzk_error *err) {
    return check(&group_g1, bad, (const uint8_t *)points, n, pool, progress, err);
}

cuzk_status subgroup_check_g2(size_t *bad, const g2_affine *points, size_t n, struct pool *pool,
                              const struct progress *progress, struct cuzk_error *err) {
    return check(&group_g2, bad, (const uint8_t *)points, n, pool, progress, err);
}

static size_t scratch_bytes(const struct group *group, size_t n, unsigned threads) {
    size_t peak = 0, sums = 0; /* sums of the levels above stay while a level runs */
    while (n > DIRECT_MAX) {
        const struct level level = level_of(n);
        n = level_sums(level);
        sums += n * group->affine_bytes;
        const size_t here = sums + buckets_bytes(group, level, threads);
        if (here > peak) peak = here;
    }
    return peak;
}

size_t subgroup_scratch_bytes_g1(size_t n, unsigned threads) {
    return scratch_bytes(&group_g1, n, threads > 0 ? threads : 1);
}

size_t subgroup_scratch_bytes_g2(size_t n, unsigned threads) {
    return scratch_bytes(&group_g2, n, threads > 0 ? threads : 1);
}
