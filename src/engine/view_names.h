/*
 * The names under which enumerations stand in metrics and in /status. They are stable: dashboards
 * and alarms refer to them.
 *
 * Threads: pure. A value outside its enumeration is "unknown".
 */
#ifndef ENGINE_VIEW_NAMES_H
#define ENGINE_VIEW_NAMES_H

#include "budget_source.h"
#include "flow.h"

const char *view_stage_name(enum flow_stage stage);  /* "pending", "synthesis", … "dropped" */
const char *view_priority_name(int priority);        /* of enum flow_priority: "low", … */
const char *view_budget_name(enum budget_kind kind); /* "configured", "cgroup2_max", … */

#endif
