/*
 * Slabs: large buffers that are mapped once, recycled by size class, and given back to the system
 * by one thread.
 *
 * A slab is shared memory (memfd), so that a witness crosses to a device's process without a
 * copy: the daemon makes it, hands `fd` over once, and both keep their mapping for as long as the
 * slab exists. `id` names it between them and is never used again.
 *
 * Sizes are rounded up to classes of an eighth of a power of two (at most 12.5 % more address
 * space; pages that are not touched cost nothing). A slab that is given back is kept for the next
 * request of its class; those kept are counted apart from those in use. Kept ones beyond
 * `keep_bytes`, or idle for `idle_ns`, are closed by the pool's one thread; memory of a slab that
 * is given back is wiped there or before it is handed out again (it held a witness).
 *
 * Counting: a slab in use counts in its mem class (mem.h) with its requested bytes rounded to
 * pages.
 *
 * Threads: all functions from any thread.
 */
#ifndef BASE_SLAB_H
#define BASE_SLAB_H

#include <stdbool.h>
#include <stdint.h>

#include "mem.h"

struct slab {
    void *ptr;          /* 64-byte aligned and zeroed when taken */
    size_t bytes;       /* usable */
    size_t class_bytes; /* mapped */
    uint64_t id;        /* 0: no slab */
    int fd;             /* the pool's; do not close */
    enum mem_class kind;
};

struct slab_pool;

struct slab_options {
    size_t keep_bytes; /* of slabs kept while nobody uses them */
    uint64_t idle_ns;  /* close kept ones after this time; 0: at once */
    bool huge_pages;   /* advise huge pages where the system has them for shared memory */

    /* Called on the pool's thread before a slab is closed, so that a device drops its mapping.
     * May be NULL. */
    void (*closing)(void *ctx, uint64_t slab_id);
    void *ctx;
};

CUZK_NODISCARD cuzk_status slab_pool_create(struct slab_pool **out,
                                            const struct slab_options *options,
                                            struct cuzk_error *err);
void slab_pool_destroy(struct slab_pool *pool); /* all slabs must be back; accepts NULL */

/*
 * Never waits for `closing`; may wait while the thread wipes a slab of the same class. Until the
 * thread has closed what is beyond keep_bytes, resident memory is above in use plus keep_bytes.
 * Errors: NO_MEMORY; *out is then empty.
 */
CUZK_NODISCARD cuzk_status slab_take(struct slab_pool *pool, struct slab *out, size_t bytes,
                                     enum mem_class kind, struct cuzk_error *err);
void slab_give(struct slab_pool *pool, struct slab *slab); /* empties it; an empty one: nothing */

struct slab_counters {
    size_t in_use_bytes, kept_bytes;  /* mapped bytes */
    uint64_t taken, recycled, closed; /* since the pool was made */
    unsigned in_use, kept;
};
struct slab_counters slab_read(struct slab_pool *pool);

#endif
