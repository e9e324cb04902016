/* What the files of the plan share; not for others. */
#ifndef ENGINE_PLAN_INTERNAL_H
#define ENGINE_PLAN_INTERNAL_H

#include "plan.h"

/*
 * What a process of ours takes beside what it is planned for: resident pages of program and
 * libraries, stacks, heap. Measured as VmHWM less all blocks of base/mem.h (doc/memory.md, "The
 * plan"); they are the only figures of the plan that are not computed.
 */

/* gRPC with its threads and its pool of buffers, SQLite, libmicrohttpd, jobs and tables. */
#define PLAN_DAEMON_FIXED_BYTES ((uint64_t)20 << 20)
/* Program, libsodium, blst; the reading of a proving key's last slices. */
#define PLAN_DEVICE_FIXED_BYTES ((uint64_t)12 << 20)
/* A thread's touched stack (a transform has 160 KiB there) and its arena; r1cs_evaluate() takes a
 * few hundred KB of heap for each. */
#define PLAN_THREAD_BYTES ((uint64_t)768 << 10)
/* Threads that a process has for itself: serving, watching, sampling. */
enum { PLAN_DAEMON_OWN_THREADS = 12, PLAN_DEVICE_OWN_THREADS = 3 };

/* Bytes that a block of base/mem.h of this size takes: large ones are whole huge pages. */
static inline uint64_t plan_block_bytes(uint64_t bytes) {
    const uint64_t huge_page = (uint64_t)2 << 20;
    const uint64_t unit = bytes >= huge_page ? huge_page : 4096;
    return (bytes + unit - 1) / unit * unit;
}

/* Text of the sum: "srs 44.1 + witness 12 x 0.067 + ...", the small terms together as "other". */
int plan_print_sum(const struct plan *p, char *out, size_t out_bytes);

#endif
