#include "mem.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lock.h"

static const size_t heap_align = 64;
static const size_t page = 4096;
static const size_t huge_page = (size_t)2 << 20;

static _Atomic size_t in_use[MEM_CLASSES];
static _Atomic size_t high_water[MEM_CLASSES];

void mem_count_add(enum mem_class kind, size_t bytes) {
    const size_t now = atomic_fetch_add(&in_use[kind], bytes) + bytes;
    size_t seen = atomic_load(&high_water[kind]);
    while (now > seen && !atomic_compare_exchange_weak(&high_water[kind], &seen, now)) {
    }
}

void mem_count_sub(enum mem_class kind, size_t bytes) {
    const size_t before = atomic_fetch_sub(&in_use[kind], bytes);
    assert(before >= bytes);
    (void)before;
}

static size_t round_up(size_t bytes) {
    const size_t unit = bytes >= huge_page ? huge_page : bytes >= MEM_MAP_BYTES ? page : heap_align;
    return (bytes + unit - 1) / unit * unit;
}

static void advise(void *ptr, size_t bytes) {
    if (bytes >= huge_page) madvise(ptr, bytes, MADV_HUGEPAGE); /* advice: a refusal is harmless */
}

static cuzk_status no_memory(size_t bytes, enum mem_class kind, struct cuzk_error *err) {
    return error_set(err, CUZK_NO_MEMORY, mem_class_name(kind),
                     "free memory or raise the limit of this process",
                     "%zu bytes could not be mapped (%zu in use)", bytes, mem_in_use_total());
}

static bool is_mapped(size_t bytes) {
    return bytes >= MEM_MAP_BYTES;
}

/* ---- kept blocks: a list through the blocks themselves, the youngest first ---- */

struct kept_block {
    struct kept_block *next;
    size_t bytes;
};

static struct {
    struct lock lock;
    struct kept_block *first;
    size_t bytes, limit;
} kept = {.lock = {.mutex = PTHREAD_MUTEX_INITIALIZER, .rank = LOCK_MEM}};

/* Takes *at out of the list. */
static struct kept_block *unlink_kept(struct kept_block **at) {
    struct kept_block *const b = *at;
    *at = b->next;
    kept.bytes -= b->bytes;
    return b;
}

/* Takes the oldest out until at most `bytes` are kept; returns them as a list. */
static struct kept_block *unlink_oldest(size_t bytes) {
    struct kept_block *gone = NULL;
    while (kept.bytes > bytes) {
        struct kept_block **at = &kept.first;
        while ((*at)->next != NULL)
            at = &(*at)->next;
        struct kept_block *const b = unlink_kept(at);
        b->next = gone;
        gone = b;
    }
    return gone;
}

/* Without the lock: to unmap gigabytes takes time. */
static void unmap_list(struct kept_block *b) {
    while (b != NULL) {
        struct kept_block *const next = b->next;
        munmap(b, b->bytes);
        b = next;
    }
}

/* A kept block of just this size, zeroed; NULL: none. */
static void *reuse(size_t bytes) {
    struct kept_block *found = NULL;
    if (bytes < MEM_KEEP_BYTES) return NULL;
    lock_take(&kept.lock);
    for (struct kept_block **at = &kept.first; *at != NULL; at = &(*at)->next) {
        if ((*at)->bytes == bytes) {
            found = unlink_kept(at);
            break;
        }
    }
    lock_give(&kept.lock);
    return found != NULL ? memset(found, 0, bytes) : NULL;
}

/* Keeps a mapping, or returns it to the system. */
static void keep_or_unmap(void *ptr, size_t bytes) {
    struct kept_block *gone = NULL;
    lock_take(&kept.lock);
    const bool is_kept = bytes >= MEM_KEEP_BYTES && bytes <= kept.limit;
    if (is_kept) {
        struct kept_block *const b = ptr;
        gone = unlink_oldest(kept.limit - bytes);
        *b = (struct kept_block){.next = kept.first, .bytes = bytes};
        kept.first = b;
        kept.bytes += bytes;
    }
    lock_give(&kept.lock);
    if (!is_kept) munmap(ptr, bytes);
    unmap_list(gone);
}

/* Returns all but `bytes` to the system. */
static void trim_kept(size_t bytes) {
    lock_take(&kept.lock);
    struct kept_block *const gone = unlink_oldest(bytes);
    lock_give(&kept.lock);
    unmap_list(gone);
}

void mem_keep(size_t bytes) {
    lock_take(&kept.lock);
    kept.limit = bytes;
    lock_give(&kept.lock);
    trim_kept(bytes);
}

size_t mem_kept(void) {
    lock_take(&kept.lock);
    const size_t bytes = kept.bytes;
    lock_give(&kept.lock);
    return bytes;
}

/* ---- blocks ---- */

static void *map(size_t bytes) {
    void *ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return ptr != MAP_FAILED ? ptr : NULL;
}

/* Zeroed memory of a rounded size; NULL: none. */
static void *obtain(size_t bytes) {
    if (!is_mapped(bytes)) {
        void *ptr = aligned_alloc(heap_align, bytes);
        return ptr != NULL ? memset(ptr, 0, bytes) : NULL;
    }
    void *ptr = reuse(bytes);
    if (ptr != NULL) return ptr;
    ptr = map(bytes);
    if (ptr == NULL) {
        trim_kept(0);
        ptr = map(bytes);
    }
    if (ptr != NULL) advise(ptr, bytes);
    return ptr;
}

cuzk_status mem_take(struct mem_block *out, size_t bytes, enum mem_class kind,
                     struct cuzk_error *err) {
    *out = (struct mem_block){.kind = kind};
    if (bytes > SIZE_MAX / 2) return no_memory(bytes, kind, err);
    const size_t rounded = round_up(bytes > 0 ? bytes : 1);
    void *ptr = obtain(rounded);
    if (ptr == NULL) return no_memory(bytes, kind, err);
    mem_count_add(kind, rounded);
    out->ptr = ptr;
    out->bytes = rounded;
    return CUZK_OK;
}

void mem_give(struct mem_block *block) {
    if (block->ptr == NULL) return;
    if (is_mapped(block->bytes)) {
        keep_or_unmap(block->ptr, block->bytes);
    } else {
        free(block->ptr);
    }
    mem_count_sub(block->kind, block->bytes);
    block->ptr = NULL;
    block->bytes = 0;
}

/* A heap block moves to a new block, whatever that one is. */
static cuzk_status grow_from_heap(struct mem_block *block, size_t bytes, struct cuzk_error *err) {
    struct mem_block larger;
    CUZK_TRY(mem_take(&larger, bytes, block->kind, err));
    memcpy(larger.ptr, block->ptr, block->bytes);
    mem_give(block);
    *block = larger;
    return CUZK_OK;
}

cuzk_status mem_grow(struct mem_block *block, size_t bytes, enum mem_class kind,
                     struct cuzk_error *err) {
    if (block->ptr == NULL) return mem_take(block, bytes, kind, err);
    if (bytes <= block->bytes) return CUZK_OK;
    if (!is_mapped(block->bytes)) return grow_from_heap(block, bytes, err);
    if (bytes > SIZE_MAX / 2) return no_memory(bytes, block->kind, err);
    const size_t mapped = round_up(bytes);
    void *ptr = mremap(block->ptr, block->bytes, mapped, MREMAP_MAYMOVE);
    if (ptr == MAP_FAILED) return no_memory(bytes, block->kind, err);
    advise(ptr, mapped);
    mem_count_add(block->kind, mapped - block->bytes);
    block->ptr = ptr;
    block->bytes = mapped;
    return CUZK_OK;
}

void mem_reclass(struct mem_block *block, enum mem_class kind) {
    if (block->ptr != NULL) {
        mem_count_add(kind, block->bytes);
        mem_count_sub(block->kind, block->bytes);
    }
    block->kind = kind;
}

const char *mem_class_name(enum mem_class kind) {
    static const char *const names[MEM_CLASSES] = {
        [MEM_SRS] = "srs",       [MEM_MATRICES] = "matrices", [MEM_WITNESS] = "witness",
        [MEM_ABC] = "abc",       [MEM_PENDING] = "pending",   [MEM_INPUT] = "input",
        [MEM_PINNED] = "pinned", [MEM_DEVICE] = "device",     [MEM_OTHER] = "other",
    };
    return (unsigned)kind < MEM_CLASSES ? names[kind] : "unknown";
}

size_t mem_in_use(enum mem_class kind) {
    return atomic_load(&in_use[kind]);
}

size_t mem_in_use_total(void) {
    size_t sum = 0;
    for (int c = 0; c < MEM_CLASSES; c++)
        sum += mem_in_use((enum mem_class)c);
    return sum;
}

size_t mem_high_water(enum mem_class kind) {
    return atomic_load(&high_water[kind]);
}

static size_t status_line_kib(const char *key) {
    FILE *f = fopen("/proc/self/status", "re");
    if (f == NULL) return 0;
    char line[256];
    size_t kib = 0;
    const size_t key_len = strlen(key);
    while (fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, key, key_len) == 0) {
            kib = strtoull(line + key_len, NULL, 10);
            break;
        }
    }
    fclose(f);
    return kib << 10;
}

size_t mem_peak_rss(void) {
    return status_line_kib("VmHWM:");
}

size_t mem_rss(void) {
    return status_line_kib("VmRSS:");
}
