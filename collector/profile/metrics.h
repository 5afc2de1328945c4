/*
 * Metrics of the ceilings on names.
 */
#ifndef FP_PROFILE_METRICS_H
#define FP_PROFILE_METRICS_H

#include "collector/base/metrics.h"

/* docs/metrics.md has an entry for each. */
#define FP_PROFILE_METRICS(X)                                                                      \
    X(FP_METRIC_NAMES_OVERFLOWED_FRAME, COUNTER, "fleetprof_names_overflowed_total",               \
      "kind=\"frame\"", "Names that became (overflow), counted again with each upload")            \
    X(FP_METRIC_NAMES_OVERFLOWED_STACK, COUNTER, "fleetprof_names_overflowed_total",               \
      "kind=\"stack\"", "")                                                                        \
    X(FP_METRIC_NAMES_OVERFLOWED_TIMING, COUNTER, "fleetprof_names_overflowed_total",              \
      "kind=\"timing\"", "")                                                                       \
    X(FP_METRIC_NAMES_OVERFLOWED_ROUTE, COUNTER, "fleetprof_names_overflowed_total",               \
      "kind=\"route\"", "")                                                                        \
    X(FP_METRIC_NAMES_OVERFLOWED_RELEASE, COUNTER, "fleetprof_names_overflowed_total",             \
      "kind=\"release\"", "")                                                                      \
    X(FP_METRIC_NAMES_OVERFLOWED_SEGMENT, COUNTER, "fleetprof_names_overflowed_total",             \
      "kind=\"segment\"", "")

enum fp_profile_metric { FP_PROFILE_METRICS(FP_METRIC_ID) FP_PROFILE_METRIC_COUNT };

extern const struct fp_metric_table fp_profile_metrics;

#endif
