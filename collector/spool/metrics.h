/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of the spool.
 */
#ifndef FP_SPOOL_METRICS_H
#define FP_SPOOL_METRICS_H

#include "collector/base/metrics.h"

#define FP_SPOOL_METRICS(X)                                                                        \
    X(FP_METRIC_SPOOL_BYTES, GAUGE, "fleetprof_spool_bytes", "",                                   \
      "Bytes of the spool's files on disk", "")                                                    \
    X(FP_METRIC_SPOOL_MAX_BYTES, GAUGE, "fleetprof_spool_max_bytes", "",                           \
      "The setting spool.max_bytes, the ceiling of fleetprof_spool_bytes", "")                     \
    X(FP_METRIC_SPOOL_DISK_FREE, GAUGE, "fleetprof_spool_disk_free_bytes", "",                     \
      "Bytes that the spool's file system has left for the collector",                             \
      "Other programs also use it")                                                                \
    X(FP_METRIC_SPOOL_BACKLOG_RECORDS, GAUGE, "fleetprof_spool_backlog_records", "",               \
      "Requests whose uploads are not yet in the database", "A form is one")                       \
    X(FP_METRIC_SPOOL_COMMITS, COUNTER, "fleetprof_spool_commits_total", "",                       \
      "Group commits (fdatasync calls)", "Accepted ÷ commits is the size of a group")              \
    X(FP_METRIC_SPOOL_COMMIT_SECONDS, HISTOGRAM, "fleetprof_spool_commit_seconds", "",             \
      "Duration of a group commit", "")                                                            \
    X(FP_METRIC_SPOOL_DAMAGED_BYTES, COUNTER, "fleetprof_spool_damaged_bytes_total", "",           \
      "Bytes set aside when the spool was opened because their checksum failed", "")               \
    X(FP_METRIC_SPOOL_ERRORS, COUNTER, "fleetprof_spool_errors_total", "",                         \
      "Failed writes and syncs of the spool", "")

enum fp_spool_metric { FP_SPOOL_METRICS(FP_METRIC_ID) FP_SPOOL_METRIC_COUNT };

extern const struct fp_metric_table fp_spool_metrics;

#endif
