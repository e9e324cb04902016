#include "view_names.h"

const char *view_stage_name(enum flow_stage stage) {
    static const char *const names[FLOW_STAGES] = {
        [FLOW_PENDING] = "pending", [FLOW_SYNTHESIS] = "synthesis", [FLOW_READY] = "ready",
        [FLOW_START] = "start",     [FLOW_FINISH] = "finish",       [FLOW_VERIFY] = "verify",
        [FLOW_DONE] = "done",       [FLOW_DROPPED] = "dropped",
    };
    return (unsigned)stage < FLOW_STAGES ? names[stage] : "unknown";
}

const char *view_priority_name(int priority) {
    static const char *const names[] = {"low", "normal", "high", "critical"};
    return priority >= FLOW_LOW && priority <= FLOW_CRITICAL ? names[priority - FLOW_LOW]
                                                             : "unknown";
}

const char *view_budget_name(enum budget_kind kind) {
    static const char *const names[BUDGET_TERMS] = {
        [BUDGET_CONFIGURED] = "configured",     [BUDGET_CGROUP2_MAX] = "cgroup2_max",
        [BUDGET_CGROUP2_HIGH] = "cgroup2_high", [BUDGET_CGROUP1] = "cgroup1",
        [BUDGET_AVAILABLE] = "available",       [BUDGET_HOST] = "host",
    };
    return (unsigned)kind < BUDGET_TERMS ? names[kind] : "unknown";
}
