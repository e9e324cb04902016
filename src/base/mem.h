/*
 * Buffers counted by class; large ones mapped, never through malloc.
 *
 * A block of MEM_MAP_BYTES or more is an anonymous mapping, advised for huge pages when it is large
 * enough, and returned to the system when it is given back (unless mem_keep says otherwise), so
 * that resident memory is the sum of what is live and mem_in_use() can be held against a plan. A
 * smaller one comes from the heap, where a sanitizer sees its ends. All are zeroed and aligned to
 * 64 bytes at least.
 *
 * Threads: all functions may be called from any thread; a block is owned by one at a time.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

#include "error.h"

enum mem_class {
    MEM_SRS,      /* parameters' points */
    MEM_MATRICES, /* constraint systems */
    MEM_WITNESS,  /* bit planes and elements */
    MEM_ABC,      /* evaluations a, b, c and h */
    MEM_PENDING,  /* what a pending proof holds */
    MEM_INPUT,    /* decoded requests */
    MEM_PINNED,
    MEM_DEVICE,
    MEM_OTHER, /* scratch of MSM, NTT, digests */
    MEM_CLASSES
};

enum { MEM_MAP_BYTES = 128 << 10 };

struct mem_block {
    void *ptr; /* NULL: no block */
    size_t bytes;
    enum mem_class kind;
};

/* Takes a block. Errors: NO_MEMORY, with the class and the size; *out is then empty. */
CUZK_NODISCARD cuzk_status mem_take(struct mem_block *out, size_t bytes, enum mem_class kind,
                                    struct cuzk_error *err);

/* Gives a block back and empties it; an empty block is left alone. */
void mem_give(struct mem_block *block);

/*
 * Grows a block to at least `bytes`, keeping its content; the address may change. An empty
 * block is taken with `kind`. Errors: NO_MEMORY; the block is then unchanged.
 */
CUZK_NODISCARD cuzk_status mem_grow(struct mem_block *block, size_t bytes, enum mem_class kind,
                                    struct cuzk_error *err);

/*
 * Keeps up to `bytes` of mapped blocks of MEM_KEEP_BYTES or more that were given back, for the next
 * block of the same rounded size: where pages are dear, as in a virtual machine, zeroing a block
 * takes a tenth of the time of new pages or less. 0, as a program starts with: none is kept. The
 * oldest are returned to the system first, and all of them when memory is refused. Kept blocks are
 * not in use (mem_in_use), and are wiped only when they are taken again: who gives a secret back
 * wipes it.
 */
enum { MEM_KEEP_BYTES = 1 << 20 };
void mem_keep(size_t bytes);
size_t mem_kept(void); /* bytes kept now; their resident set is this at most */

/* Moves the accounting of a block to another class. */
void mem_reclass(struct mem_block *block, enum mem_class kind);

/* Counts memory that another allocator took or gave back (slab.h) to a class. */
void mem_count_add(enum mem_class kind, size_t bytes);
void mem_count_sub(enum mem_class kind, size_t bytes);

const char *mem_class_name(enum mem_class kind);
size_t mem_in_use(enum mem_class kind);
size_t mem_in_use_total(void);
size_t mem_high_water(enum mem_class kind);

/* Peak resident set of this process so far, in bytes (VmHWM). */
size_t mem_peak_rss(void);

/* Resident set of this process now, in bytes. */
size_t mem_rss(void);

#endif
