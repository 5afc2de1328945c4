/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of the ceilings on names.
 */
#ifndef FP_PROFILE_FOLD_METRICS_H
#define FP_PROFILE_FOLD_METRICS_H

#include "collector/base/metrics.h"

#define FP_PROFILE_METRICS(X)                                                                      \
    X(FP_METRIC_NAMES_OVERFLOWED_FRAME, COUNTER, "fleetprof_names_overflowed_total",               \
      "kind=\"frame\"", "Names that became (overflow), counted again with each upload",            \
      "The site had reached `ceilings.frames` in this hour. Once per site, kind and hour the log " \
      "names the site")                                                                            \
    X(FP_METRIC_NAMES_OVERFLOWED_STACK, COUNTER, "fleetprof_names_overflowed_total",               \
      "kind=\"stack\"", "", "The same of `ceilings.stacks`")                                       \
    X(FP_METRIC_NAMES_OVERFLOWED_TIMING, COUNTER, "fleetprof_names_overflowed_total",              \
      "kind=\"timing\"", "", "The same of `ceilings.timing_names`")                                \
    X(FP_METRIC_NAMES_OVERFLOWED_ROUTE, COUNTER, "fleetprof_names_overflowed_total",               \
      "kind=\"route\"", "", "The same of `ceilings.routes`")                                       \
    X(FP_METRIC_NAMES_OVERFLOWED_RELEASE, COUNTER, "fleetprof_names_overflowed_total",             \
      "kind=\"release\"", "", "The same of `ceilings.releases`")                                   \
    X(FP_METRIC_NAMES_OVERFLOWED_SEGMENT, COUNTER, "fleetprof_names_overflowed_total",             \
      "kind=\"segment\"", "", "The same of `ceilings.segments`")                                   \
    X(FP_METRIC_NAMES_OVERFLOWED_BROWSER_VERSION, COUNTER, "fleetprof_names_overflowed_total",     \
      "kind=\"browser_version\"", "", "The same of `ceilings.browser_versions`")                   \
    X(FP_METRIC_NAMES_OVERFLOWED_CUSTOM, COUNTER, "fleetprof_names_overflowed_total",              \
      "kind=\"custom\"", "", "The same of `ceilings.custom`")                                      \
    X(FP_METRIC_NAMES_OVERFLOWED_CUSTOM_VALUE, COUNTER, "fleetprof_names_overflowed_total",        \
      "kind=\"custom_value\"", "", "The same of `ceilings.custom_values`")                         \
    X(FP_METRIC_NAMES_OVERFLOWED_ELEMENT, COUNTER, "fleetprof_names_overflowed_total",             \
      "kind=\"element\"", "", "The same of `ceilings.elements`")                                   \
    X(FP_METRIC_NAMES_OVERFLOWED_VITAL, COUNTER, "fleetprof_names_overflowed_total",               \
      "kind=\"vital\"", "",                                                                        \
      "Web vitals above `ceilings.vitals`: they count, but a later value does not replace them")

enum fp_profile_metric { FP_PROFILE_METRICS(FP_METRIC_ID) FP_PROFILE_METRIC_COUNT };

extern const struct fp_metric_table fp_profile_metrics;

#endif
