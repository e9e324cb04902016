#include "block_hash.h"

/*
 * The bytes that are hashed: 32 a value. The digest over all of them is one chain, which one task
 * walks; the blocks are further tasks, one each, that walk their part again.
 */
enum { BLOCK_VALUES = 65536, CHUNK_VALUES = 2048 };

struct values_reader {
    const struct witness *w;
    const uint64_t *kind;
    uint32_t element; /* of the next variable that is no bit */
};

/* Writes values [first, first + n) of the aux variables. */
static void put_values(struct values_reader *rd, uint8_t *out, uint32_t first, uint32_t n) {
    memset(out, 0, (size_t)n * 32);
    for (uint32_t i = first; i < first + n; i++, out += 32) {
        if ((rd->kind[i / 64] >> i % 64 & 1) != 0)
            out[0] = rd->w->values[i / 64] >> i % 64 & 1;
        else
            fr_to_bytes(out, &rd->w->elements[rd->element++]);
    }
}

static void hash_values(struct values_reader *rd, struct sha256_ctx *sha, uint8_t *buffer,
                        uint32_t first, uint32_t n) {
    for (uint32_t done = 0; done < n;) {
        const uint32_t count = n - done < CHUNK_VALUES ? n - done : CHUNK_VALUES;
        put_values(rd, buffer, first + done, count);
        sha256_update(sha, buffer, (size_t)count * 32);
        done += count;
    }
}

struct digest_job {
    const struct witness *w;
    const uint64_t *kind;
    uint8_t *aux;
    struct block_digests *blocks;
    uint32_t *block_element; /* elements before each block */
    uint8_t (*buffers)[CHUNK_VALUES * 32];
};

static void digest_task(void *ctx, size_t task, unsigned worker) {
    const struct digest_job *job = ctx;
    struct values_reader rd = {.w = job->w, .kind = job->kind};
    struct sha256_ctx sha = {0};
    uint32_t first = 0, n = job->w->n_aux;
    uint8_t *out = job->aux;
    if (task > 0) {
        first = (uint32_t)(task - 1) * BLOCK_VALUES;
        n = n - first < BLOCK_VALUES ? n - first : BLOCK_VALUES;
        rd.element = job->block_element[task - 1];
        out = job->blocks->digest[task - 1];
    }
    sha256_init(&sha);
    hash_values(&rd, &sha, job->buffers[worker], first, n);
    sha256_final(&sha, out);
    sha256_deinit(&sha);
}

static void digest_inputs(const struct witness *w, uint8_t out[SHA256_BYTES]) {
    struct sha256_ctx sha = {0};
    sha256_init(&sha);
    for (uint32_t i = 0; i < w->n_inputs; i++) {
        uint8_t bytes[32];
        fr_to_bytes(bytes, &w->inputs[i]);
        sha256_update(&sha, bytes, sizeof bytes);
    }
    sha256_final(&sha, out);
    sha256_deinit(&sha);
}

static void count_elements(const uint64_t *kind, uint32_t *before, size_t n_blocks) {
    uint32_t sum = 0;
    for (size_t block = 0; block < n_blocks; block++) {
        before[block] = sum;
        if (block + 1 == n_blocks) break; /* it may be short, and what follows is not asked for */
        for (size_t w = block * (BLOCK_VALUES / 64); w < (block + 1) * (BLOCK_VALUES / 64); w++)
            sum += 64 - (uint32_t)__builtin_popcountll(kind[w]);
    }
}

cuzk_status witness_digest(const struct witness *w, const uint64_t *kind_plane,
                           uint8_t inputs[SHA256_BYTES], uint8_t aux[SHA256_BYTES],
                           struct block_digests *blocks, struct pool *pool,
                           struct cuzk_error *err) {
    const size_t n_blocks = ((size_t)w->n_aux + BLOCK_VALUES - 1) / BLOCK_VALUES;
    struct digest_job job = {.w = w, .kind = kind_plane, .aux = aux, .blocks = blocks};
    struct mem_block scratch;
    const size_t buffers = pool_threads(pool) * sizeof *job.buffers;
    CUZK_TRY(mem_take(&scratch, buffers + n_blocks * sizeof(uint32_t), MEM_OTHER, err));
    job.buffers = scratch.ptr;
    job.block_element = (uint32_t *)(void *)((uint8_t *)scratch.ptr + buffers);
    cuzk_status status = CUZK_OK;
    if (blocks != NULL) {
        *blocks = (struct block_digests){0};
        status = block_digests_reserve(blocks, n_blocks, err);
        if (status == CUZK_OK) blocks->n = n_blocks;
        count_elements(kind_plane, job.block_element, n_blocks);
    }
    if (status == CUZK_OK) {
        digest_inputs(w, inputs);
        pool_run(pool, blocks != NULL ? 1 + n_blocks : 1, digest_task, &job);
    }
    mem_give(&scratch);
    return status;
}
