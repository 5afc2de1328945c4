/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of the dead letters.
 */
#ifndef FP_LETTERS_METRICS_H
#define FP_LETTERS_METRICS_H

#include "collector/base/metrics.h"

#define FP_DEAD_LETTERS_METRICS(X)                                                                 \
    X(FP_METRIC_DEAD_LETTERS_STORED, COUNTER, "fleetprof_dead_letters_total", "result=\"stored\"", \
      "Refused bodies by what became of them", "Written to the directory")                         \
    X(FP_METRIC_DEAD_LETTERS_DROPPED, COUNTER, "fleetprof_dead_letters_total",                     \
      "result=\"dropped\"", "",                                                                    \
      "Not written: more came than is written, or the directory cannot be written. Their replies " \
      "were the same")                                                                             \
    X(FP_METRIC_DEAD_LETTERS_EVICTED, COUNTER, "fleetprof_dead_letters_total",                     \
      "result=\"evicted\"", "", "Deleted later, to make room for others")                          \
    X(FP_METRIC_DEAD_LETTERS_BYTES, GAUGE, "fleetprof_dead_letters_bytes", "",                     \
      "Bytes of dead letters on disk",                                                             \
      "Whole blocks of 4 KiB, when the directory was last looked at or written")

enum fp_dead_letters_metric { FP_DEAD_LETTERS_METRICS(FP_METRIC_ID) FP_DEAD_LETTERS_METRIC_COUNT };

extern const struct fp_metric_table fp_dead_letters_metrics;

#endif
