/*
 * Watchers of long work: one that cancels it after some reports, and one that notes the memory in
 * use at each report.
 */
#ifndef PROGRESS_TESTING_H
#define PROGRESS_TESTING_H

#include "mem.h"
#include "progress.h"

struct cancel_after {
    unsigned left; /* reports that are let pass */
    atomic_bool cancel;
    struct progress progress;
};

static inline void cancel_after_report(void *ctx, const char *phase, uint64_t done,
                                       uint64_t total) {
    struct cancel_after *c = ctx;
    (void)phase, (void)done, (void)total;
    if (c->left == 0)
        atomic_store(&c->cancel, true);
    else
        c->left--;
}

/* c->progress is what the work is given. */
static inline void cancel_after_init(struct cancel_after *c, unsigned reports) {
    c->left = reports;
    atomic_init(&c->cancel, false);
    c->progress = (struct progress){.report = cancel_after_report, .ctx = c, .cancel = &c->cancel};
}

struct peak_watch {
    size_t other, total; /* most bytes seen in use: class MEM_OTHER, all classes */
    struct progress progress;
};

static inline void peak_watch_report(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    struct peak_watch *w = ctx;
    (void)phase, (void)done, (void)total;
    if (mem_in_use(MEM_OTHER) > w->other) w->other = mem_in_use(MEM_OTHER);
    if (mem_in_use_total() > w->total) w->total = mem_in_use_total();
}

static inline void peak_watch_init(struct peak_watch *w) {
    *w = (struct peak_watch){.progress = {.report = peak_watch_report, .ctx = w}};
}

/* What a block of so many bytes counts for: whole lines, or pages, or large pages. */
static inline size_t block_bytes(size_t bytes) {
    const size_t huge_page = (size_t)2 << 20;
    const size_t unit = bytes >= huge_page ? huge_page : bytes >= MEM_MAP_BYTES ? 4096 : 64;
    return (bytes + unit - 1) / unit * unit;
}

#endif
