/*
 * The snapshot as Prometheus' text format 0.0.4: histograms, `_total`, base units, HELP and TYPE
 * for each family, labels escaped. Used by HTTP's /metrics and by gRPC's GetMetrics.
 *
 * Threads: pure.
 */
#ifndef ENGINE_METRICS_TEXT_H
#define ENGINE_METRICS_TEXT_H

#include "engine.h"

/* Owned by the caller (free); NULL: no memory. */
char *engine_metrics_text(const struct engine_snapshot *s, size_t *n);

#endif
