/*
 * How much memory this process may use: every limit of the host that can be found, and the least.
 *
 * The terms are the configured limit, the limits of the process's control groups and all their
 * ancestors (cgroup v2: memory.max and memory.high; v1: memory.limit_in_bytes and the
 * hierarchical limit in memory.stat), MemAvailable and MemTotal. The ancestor with the least room
 * counts, whichever level it is on. Huge pages set aside for hugetlbfs need no subtraction:
 * the kernel counts them neither in MemAvailable nor against a control group's memory limit.
 *
 * A file that is missing, unreadable or damaged makes its term absent (or leaves out one level of
 * it) and is named in the term's note. Nothing here fails; what cannot be read limits nothing.
 *
 * Units: bytes; in texts GiB (2^30). Threads: pure but for the files that are read.
 */
#ifndef ENGINE_BUDGET_SOURCE_H
#define ENGINE_BUDGET_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum budget_kind {
    BUDGET_CONFIGURED,
    BUDGET_CGROUP2_MAX,
    BUDGET_CGROUP2_HIGH, /* above it the kernel throttles us nearly to a halt: a limit for us */
    BUDGET_CGROUP1,
    BUDGET_AVAILABLE,
    BUDGET_HOST,
    BUDGET_TERMS
};

#define BUDGET_USUAL_MARGIN ((uint64_t)5 << 30)

/* Where the kernel's folders are: tests put their own here. */
struct budget_roots {
    const char *proc;   /* normally "/proc"; self/cgroup, self/mountinfo and meminfo are read */
    const char *cgroup; /* normally "/sys/fs/cgroup" */
};

struct budget_options {
    uint64_t configured_bytes; /* 0: none */
    uint64_t margin_bytes;     /* wanted; normally BUDGET_USUAL_MARGIN */

    /*
     * What of the memory in use is ours and stands in our own ledger: it is added to MemAvailable,
     * and taken off what the control group uses. 0 at start; when the budget is read again while
     * running, the bytes resident, or else our own use would lower our own limit.
     */
    uint64_t own_bytes;

    /*
     * Take what a control group uses already off its limit. Its inactive file pages, which the
     * kernel drops first, are not counted as used.
     */
    bool subtract_current;
};

struct budget_term {
    bool present;
    uint64_t bytes;       /* what the term leaves to us */
    uint64_t limit_bytes; /* what its file says */
    uint64_t used_bytes;  /* what others use of it; 0 unless subtract_current */
    char source[1024];    /* the file that it came from; empty: the configuration */
    char label[384];      /* the same in short: "/x/y memory.max", "MemAvailable" */
    char note[256];       /* why it is absent, or what was left out; empty: nothing to say */
};

struct budget {
    struct budget_term term[BUDGET_TERMS];
    enum budget_kind winner; /* the least term; BUDGET_TERMS: no term was present */

    /*
     * What is kept back for all that the ledger does not count (program, stacks, heap, page tables,
     * libraries' buffers): the margin wanted, but never more than a tenth of the limit.
     */
    uint64_t margin_bytes;

    uint64_t budget_bytes; /* the winner less the margin; 0 without a winner */
};

/* Reads all terms now. `roots` NULL: the system's. */
void budget_read(struct budget *out, const struct budget_options *options,
                 const struct budget_roots *roots);

/*
 * Prints one line without a newline, as
 *   host 503.0 GiB, available 411.0, cgroup 256.0 (wins: /x/y memory.max), margin 5.000, budget
 * 251.0 with "less N used" after a term that others use, and at its end the notes of damaged files.
 * Returns the line's length, as snprintf does.
 */
int budget_print(const struct budget *b, char *out, size_t out_bytes);

/* Names the winner for "limited by ...", as `cgroup /x/y memory.max`; returns the length. */
int budget_limited_by(const struct budget *b, char *out, size_t out_bytes);

/* Bytes as a number of GiB: one decimal from 10 GiB on, three below. */
struct gib_text {
    char s[24];
};
struct gib_text gib_text(uint64_t bytes);

#endif
