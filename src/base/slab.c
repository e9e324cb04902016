#include "slab.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "lock.h"

enum slab_state {
    SLAB_USED,
    SLAB_DIRTY,   /* given back, not wiped */
    SLAB_WIPING,  /* by the pool's thread */
    SLAB_CLEAN,   /* zeroed, for the next one */
    SLAB_CLOSING, /* by the pool's thread */
};

/* There are tens of slabs, each of many megabytes: a list that is searched is enough. */
struct node {
    struct slab slab; /* bytes and kind of its present or last use */
    enum slab_state state;
    uint64_t given_ns;
    struct node *next;
};

struct slab_pool {
    struct slab_options options;
    struct lock lock;
    struct lock_cond work;  /* for the thread: a slab came back, or it shall stop */
    struct lock_cond wiped; /* for takers that wait for the thread to finish a slab */
    struct node *nodes;
    struct slab_counters counters;
    uint64_t last_id;
    bool stop;
    pthread_t thread;
};

static const size_t page = 4096;
static const size_t huge_page = (size_t)2 << 20;

/* ---- sizes ---- */

static size_t to_pages(size_t bytes) {
    return bytes == 0 ? page : (bytes + page - 1) / page * page;
}

static size_t class_of(size_t bytes) {
    const size_t power = (size_t)1 << (63 - __builtin_clzl(bytes));
    const size_t step = power / 8 > page ? power / 8 : page;
    return (bytes + step - 1) / step * step;
}

/* ---- one slab's memory ---- */

/* Fills fd and ptr. Returns 0 or the errno of what failed. */
static int map_slab(struct slab *s, bool huge_pages) {
    /* Seals: who has the descriptor cannot shrink the memory under our mapping. */
    s->fd = memfd_create("cuzk-slab", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (s->fd < 0) return errno;
    if (ftruncate(s->fd, (off_t)s->class_bytes) == 0 &&
        fcntl(s->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        s->ptr = mmap(NULL, s->class_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
        if (s->ptr != MAP_FAILED) {
            madvise(s->ptr, s->class_bytes, MADV_DONTDUMP); /* a witness is no part of a core */
            if (huge_pages && s->class_bytes >= huge_page)
                madvise(s->ptr, s->class_bytes, MADV_HUGEPAGE);
            return 0;
        }
    }
    const int code = errno;
    close(s->fd);
    return code;
}

static void unmap_slab(struct slab *s) {
    munmap(s->ptr, s->class_bytes);
    close(s->fd);
}

/* Zeroes what was ever touched, by whichever process; holes stay holes and cost nothing. */
static void wipe(const struct slab *s) {
    off_t at = 0;
    const off_t end = (off_t)s->class_bytes;
    while (at < end) {
        const off_t data = lseek(s->fd, at, SEEK_DATA);
        if (data < 0 && errno == ENXIO) return; /* a hole up to the end */
        const off_t from = data < 0 ? at : data;
        const off_t hole = data < 0 ? end : lseek(s->fd, from, SEEK_HOLE);
        at = hole > from ? hole : end;
        explicit_bzero((uint8_t *)s->ptr + from, (size_t)(at - from));
    }
}

/* ---- the list; all under the lock ---- */

static struct node *find(struct slab_pool *pool, enum slab_state state, size_t class_bytes) {
    for (struct node *n = pool->nodes; n != NULL; n = n->next) {
        if (n->state == state && (class_bytes == 0 || n->slab.class_bytes == class_bytes)) return n;
    }
    return NULL;
}

static struct node *find_used(struct slab_pool *pool, uint64_t id) {
    for (struct node *n = pool->nodes; n != NULL; n = n->next) {
        if (n->slab.id == id) return n->state == SLAB_USED ? n : NULL;
    }
    return NULL;
}

/* The one that has been back for longest, of those that nobody works on. */
static struct node *find_oldest(struct slab_pool *pool) {
    struct node *oldest = NULL;
    for (struct node *n = pool->nodes; n != NULL; n = n->next) {
        if (n->state != SLAB_CLEAN && n->state != SLAB_DIRTY) continue;
        if (oldest == NULL || n->given_ns < oldest->given_ns) oldest = n;
    }
    return oldest;
}

static void unlink_node(struct slab_pool *pool, struct node *gone) {
    struct node **at = &pool->nodes;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
}

static void count_kept(struct slab_pool *pool, const struct node *n, bool is_kept) {
    struct slab_counters *const c = &pool->counters;
    c->kept += is_kept ? 1u : -1u;
    c->kept_bytes += is_kept ? n->slab.class_bytes : -n->slab.class_bytes;
}

static void count_used(struct slab_pool *pool, const struct node *n, bool is_used) {
    struct slab_counters *const c = &pool->counters;
    c->in_use += is_used ? 1u : -1u;
    c->in_use_bytes += is_used ? n->slab.class_bytes : -n->slab.class_bytes;
    if (is_used)
        mem_count_add(n->slab.kind, n->slab.bytes);
    else
        mem_count_sub(n->slab.kind, n->slab.bytes);
}

/* ---- the pool's thread ---- */

/* Leaves and takes the lock: the device's link, which `closing` may use, ranks lower. */
static void close_node(struct slab_pool *pool, struct node *n) {
    const bool is_dirty = n->state == SLAB_DIRTY;
    n->state = SLAB_CLOSING;
    lock_give(&pool->lock);
    if (is_dirty) wipe(&n->slab); /* another process may still have it mapped */
    if (pool->options.closing != NULL) pool->options.closing(pool->options.ctx, n->slab.id);
    unmap_slab(&n->slab);
    lock_take(&pool->lock);
    unlink_node(pool, n);
    count_kept(pool, n, false);
    pool->counters.closed++;
    free(n);
}

static void wipe_node(struct slab_pool *pool, struct node *n) {
    n->state = SLAB_WIPING;
    lock_give(&pool->lock);
    wipe(&n->slab);
    lock_take(&pool->lock);
    n->state = SLAB_CLEAN;
    lock_cond_wake_all(&pool->wiped);
}

/* Does one thing that is due now; false: nothing is. */
static bool do_one(struct slab_pool *pool) {
    struct node *const oldest = find_oldest(pool);
    if (oldest == NULL) return false;
    const bool is_idle = clock_ns() - oldest->given_ns >= pool->options.idle_ns;
    if (pool->stop || is_idle || pool->counters.kept_bytes > pool->options.keep_bytes) {
        close_node(pool, oldest);
        return true;
    }
    struct node *const dirty = find(pool, SLAB_DIRTY, 0);
    if (dirty == NULL) return false;
    wipe_node(pool, dirty);
    return true;
}

static void *thread_main(void *ctx) {
    struct slab_pool *const pool = ctx;
    lock_take(&pool->lock);
    for (;;) {
        if (do_one(pool)) continue;
        if (pool->stop) break;
        const struct node *const oldest = find_oldest(pool);
        const bool has_end =
            oldest != NULL && pool->options.idle_ns < UINT64_MAX - oldest->given_ns;
        if (has_end)
            (void)lock_cond_wait_until(&pool->work, &pool->lock,
                                       oldest->given_ns + pool->options.idle_ns);
        else
            lock_cond_wait(&pool->work, &pool->lock);
    }
    lock_give(&pool->lock);
    return NULL;
}

/* Signals are for the program's own threads. */
static int start_thread(struct slab_pool *pool) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(&pool->thread, NULL, thread_main, pool);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

static void free_pool(struct slab_pool *pool) {
    lock_cond_destroy(&pool->wiped);
    lock_cond_destroy(&pool->work);
    lock_destroy(&pool->lock);
    free(pool);
}

cuzk_status slab_pool_create(struct slab_pool **out, const struct slab_options *options,
                             struct cuzk_error *err) {
    *out = NULL;
    struct slab_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) return error_set(err, CUZK_NO_MEMORY, "slabs", NULL, "no memory for a pool");
    pool->options = *options;
    lock_init(&pool->lock, LOCK_SLABS);
    lock_cond_init(&pool->work);
    lock_cond_init(&pool->wiped);
    const int code = start_thread(pool);
    if (code != 0) {
        free_pool(pool);
        return error_set(err, CUZK_NO_MEMORY, "slabs", "raise the limit of threads",
                         "no thread could be started: %s", strerror(code));
    }
    *out = pool;
    return CUZK_OK;
}

void slab_pool_destroy(struct slab_pool *pool) {
    if (pool == NULL) return;
    lock_take(&pool->lock);
    assert(pool->counters.in_use == 0);
    pool->stop = true;
    lock_cond_wake_one(&pool->work);
    lock_give(&pool->lock);
    pthread_join(pool->thread, NULL);
    free_pool(pool);
}

/* ---- taking and giving ---- */

/*
 * A kept slab of this class, marked used, or NULL. One that is being wiped is waited for: that
 * takes less time than new pages, and memory is not held twice.
 */
static struct node *reuse(struct slab_pool *pool, size_t class_bytes, bool *is_dirty) {
    for (;;) {
        struct node *n = find(pool, SLAB_CLEAN, class_bytes);
        if (n == NULL) n = find(pool, SLAB_DIRTY, class_bytes);
        if (n != NULL) {
            *is_dirty = n->state == SLAB_DIRTY;
            n->state = SLAB_USED;
            return n;
        }
        if (find(pool, SLAB_WIPING, class_bytes) == NULL) return NULL;
        lock_cond_wait(&pool->wiped, &pool->lock);
    }
}

/* A new slab, not yet in the list. */
static cuzk_status create_node(struct slab_pool *pool, struct node **out, size_t bytes,
                               enum mem_class kind, struct cuzk_error *err) {
    struct node *n = calloc(1, sizeof *n);
    if (n == NULL)
        return error_set(err, CUZK_NO_MEMORY, mem_class_name(kind), NULL, "no memory for a slab");
    n->slab = (struct slab){.bytes = bytes, .class_bytes = class_of(bytes), .kind = kind};
    const int code = map_slab(&n->slab, pool->options.huge_pages);
    if (code != 0) {
        free(n);
        return error_set(err, CUZK_NO_MEMORY, mem_class_name(kind),
                         "free memory or raise the limits of this process",
                         "a slab of %zu bytes could not be mapped: %s", bytes, strerror(code));
    }
    *out = n;
    return CUZK_OK;
}

cuzk_status slab_take(struct slab_pool *pool, struct slab *out, size_t bytes, enum mem_class kind,
                      struct cuzk_error *err) {
    *out = (struct slab){.fd = -1, .kind = kind};
    if (bytes > SIZE_MAX / 4)
        return error_set(err, CUZK_NO_MEMORY, mem_class_name(kind), NULL,
                         "a slab of %zu bytes cannot be mapped", bytes);
    bytes = to_pages(bytes);
    bool is_dirty = false;
    lock_take(&pool->lock);
    struct node *n = reuse(pool, class_of(bytes), &is_dirty);
    if (n != NULL) {
        count_kept(pool, n, false);
        pool->counters.recycled++;
    } else {
        lock_give(&pool->lock);
        CUZK_TRY(create_node(pool, &n, bytes, kind, err));
        lock_take(&pool->lock);
        n->slab.id = ++pool->last_id;
        n->next = pool->nodes;
        pool->nodes = n;
    }
    n->slab.bytes = bytes;
    n->slab.kind = kind;
    pool->counters.taken++;
    count_used(pool, n, true);
    *out = n->slab;
    lock_give(&pool->lock);
    if (is_dirty) wipe(out);
    return CUZK_OK;
}

void slab_give(struct slab_pool *pool, struct slab *slab) {
    if (slab->id == 0) return;
    lock_take(&pool->lock);
    struct node *const n = find_used(pool, slab->id);
    assert(n != NULL && "the slab is in use and this pool's");
    count_used(pool, n, false);
    count_kept(pool, n, true);
    n->state = SLAB_DIRTY;
    n->given_ns = clock_ns();
    lock_cond_wake_one(&pool->work);
    lock_give(&pool->lock);
    *slab = (struct slab){.fd = -1};
}

struct slab_counters slab_read(struct slab_pool *pool) {
    lock_take(&pool->lock);
    const struct slab_counters counters = pool->counters;
    lock_give(&pool->lock);
    return counters;
}
