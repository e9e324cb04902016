/*
 * The inside of the flow, for its own files and for the model check, which copies states and
 * compares them.
 */
#ifndef ENGINE_FLOW_INTERNAL_H
#define ENGINE_FLOW_INTERNAL_H

#include "flow.h"

enum flow_stop { FLOW_STOP_NO, FLOW_STOP_CANCELLED, FLOW_STOP_FAILED };

/* What a partition holds follows from its stage alone: a permit in SYNTHESIS and READY, a witness
 * in SYNTHESIS, READY and START, a place on a device in START and FINISH. */
struct flow_partition {
    uint8_t stage;      /* enum flow_stage */
    uint8_t level;      /* priority, with what ageing added, at which it entered SYNTHESIS */
    uint8_t device;     /* the one that has it, or had it last */
    uint8_t avoid;      /* 1 + the device that shall not have it if there is another; 0: none */
    uint8_t losses;     /* devices lost under it, or that refused it */
    uint8_t invalids;   /* proofs of it that did not verify */
    unsigned overtaken; /* starts of other jobs' partitions since it was READY */
};

struct flow_job {
    uint64_t id;
    enum flow_priority priority;
    enum flow_stop stop;
    unsigned circuit;
    unsigned overtaken; /* partitions of other jobs taken since one of its was, or since it is the
                           first in line of its priority */
    unsigned n_partitions;
    unsigned in[FLOW_STAGES]; /* its partitions in each stage */
    struct flow_partition partition[];
};

struct flow {
    struct flow_config config;
    unsigned permits;   /* as flow_set_permits last said */
    unsigned allowance; /* most permits that may be taken now: above permits + critical_permits only
                           while those taken before they were lowered come back */
    uint64_t circuits_ready;
    bool up[FLOW_MAX_DEVICES];
    unsigned starting[FLOW_MAX_DEVICES]; /* partitions in START */
    struct flow_counts count;
    struct flow_job **jobs; /* the oldest first */
    size_t jobs_allocated;
};

/* Puts the partition into the stage and keeps all counts. */
void flow_move(struct flow *f, struct flow_job *job, struct flow_partition *p,
               enum flow_stage stage);

/* The sentence that says which invariant does not hold; NULL: all do. */
const char *flow_broken(const struct flow *f);

/* After each event, in debug builds; says nothing about a flow that is faulty on purpose. */
void flow_check_event(const struct flow *f);

/* An independent flow in the same state; NULL: no memory. */
struct flow *flow_copy(const struct flow *f);

/* Writes all that the future depends on (neither names of jobs nor records of the past); two flows
 * of one configuration with equal bytes behave alike. Returns the length; `out_bytes` must be at
 * least flow_state_bytes_max(f). */
size_t flow_state_bytes(const struct flow *f, uint8_t *out, size_t out_bytes);
size_t flow_state_bytes_max(const struct flow *f);

#endif
