/* What flow.h says about order and stages, stated a second time and naively, for the model check.
 */
#ifndef FLOW_RULES_H
#define FLOW_RULES_H

#include "flow_internal.h"

void flow_rules_print(const struct flow *f);

/* Fails the test, and shows the state, unless the condition holds. The file must include
 * unit/test_main.h. */
#define REQUIRE(f, condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            flow_rules_print(f);                                                                   \
            fail_msg("%s", #condition);                                                            \
        }                                                                                          \
    } while (0)

/* device < 0: on any, or on none. */
unsigned flow_rules_count(const struct flow *f, enum flow_stage stage, int device);
bool flow_rules_circuit_ready(const struct flow *f, const struct flow_job *job);
bool flow_rules_all_are(const struct flow_job *job, enum flow_stage stage);

/* Whether `t` is what had to be taken from `before` (not taken: that nothing could be); device < 0:
 * for synthesis. With ageing only whether something is taken is compared. */
void flow_rules_order(const struct flow *before, int device, bool taken, const struct flow_task *t);

/* Whether each partition has gone to a stage to which it may go. */
void flow_rules_stages(const struct flow *before, const struct flow *after);

/* Job i, partition k had an event with this outcome. */
void flow_rules_outcome(const struct flow *before, const struct flow *after, unsigned i, unsigned k,
                        enum flow_outcome o);

#endif
