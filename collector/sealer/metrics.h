/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of the sealer.
 */
#ifndef FP_SEALER_METRICS_H
#define FP_SEALER_METRICS_H

#include "collector/base/metrics.h"

#define FP_SEALER_METRICS(X)                                                                       \
    X(FP_METRIC_SEALS, COUNTER, "fleetprof_seals_total", "", "Transactions that sealed flushes",   \
      "")                                                                                          \
    X(FP_METRIC_SEALED_BLOCKS, COUNTER, "fleetprof_sealed_blocks_total", "",                       \
      "Blocks of four hours, a day or eight days that were built", "")                             \
    X(FP_METRIC_SEAL_ENTRIES_READ, COUNTER, "fleetprof_seal_entries_read_total", "",               \
      "Entries of packed rows that sealing read", "")                                              \
    X(FP_METRIC_SEAL_ENTRIES_WRITTEN, COUNTER, "fleetprof_seal_entries_written_total", "",         \
      "Entries of packed rows that sealing wrote", "")                                             \
    X(FP_METRIC_SEAL_SECONDS, HISTOGRAM, "fleetprof_seal_seconds", "",                             \
      "Duration of a seal or of the building of a block", "")                                      \
    X(FP_METRIC_SEAL_ERRORS, COUNTER, "fleetprof_seal_errors_total", "",                           \
      "Seals, blocks and housekeeping that failed and are tried again",                            \
      "The log has the reason. Uploads are counted all the same")                                  \
    X(FP_METRIC_UNSEALED_ENTRIES, GAUGE, "fleetprof_unsealed_entries", "",                         \
      "Entries in the database that wait to be sealed, as last seen",                              \
      "Of all sites: when this collector last looked, and what it flushed since")                  \
    X(FP_METRIC_UNSEALED_AGE_SECONDS, AGE, "fleetprof_unsealed_age_seconds", "",                   \
      "Time since the start of the oldest hour with unsealed entries, as last seen",               \
      "0: none. More than two hours: sealing fails or does not keep up")                           \
    X(FP_METRIC_PARTITIONS_MADE, COUNTER, "fleetprof_partitions_made_total", "",                   \
      "Partitions made by housekeeping", "")                                                       \
    X(FP_METRIC_PARTITIONS_DROPPED, COUNTER, "fleetprof_partitions_dropped_total", "",             \
      "Partitions dropped because their retention is over", "")                                    \
    X(FP_METRIC_RETENTION_CLOCKS_DIFFER, GAUGE, "fleetprof_retention_refused",                     \
      "reason=\"clocks_differ\"", "1 while housekeeping destroys nothing because of the clocks",   \
      "As [the clocks](operations.md#clocks-jump) were at this collector's last housekeeping")     \
    X(FP_METRIC_RETENTION_CLOCK_AHEAD, GAUGE, "fleetprof_retention_refused",                       \
      "reason=\"clock_ahead\"", "", "")                                                            \
    X(FP_METRIC_RETENTION_CLOCK_BEHIND, GAUGE, "fleetprof_retention_refused",                      \
      "reason=\"clock_behind\"", "", "")                                                           \
    X(FP_METRIC_ROWS_PRUNED, COUNTER, "fleetprof_rows_pruned_total", "",                           \
      "Rows of books and dictionaries that housekeeping deleted", "")                              \
    X(FP_METRIC_LAST_HOUSEKEEPING, TIME_GAUGE, "fleetprof_last_housekeeping_timestamp_seconds",    \
      "", "When this collector's last housekeeping ended; 0 before the first since the start", "")

enum fp_sealer_metric { FP_SEALER_METRICS(FP_METRIC_ID) FP_SEALER_METRIC_COUNT };

#endif
