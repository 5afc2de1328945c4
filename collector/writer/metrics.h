/*
 * Metrics of the writer.
 */
#ifndef FP_WRITER_METRICS_H
#define FP_WRITER_METRICS_H

#include "collector/base/metrics.h"

/* docs/metrics.md has an entry for each. */
#define FP_WRITER_METRICS(X)                                                                       \
    X(FP_METRIC_UPLOADS_FLUSHED, COUNTER, "fleetprof_uploads_flushed_total", "",                   \
      "Uploads counted in the database")                                                           \
    X(FP_METRIC_UPLOADS_DUPLICATE, COUNTER, "fleetprof_uploads_duplicate_total", "",               \
      "Uploads met again by their id and not counted again")                                       \
    X(FP_METRIC_UPLOADS_QUARANTINED, COUNTER, "fleetprof_uploads_quarantined_total", "",           \
      "Uploads that the database refused as data, quarantined")                                    \
    X(FP_METRIC_UPLOADS_MISDATED, COUNTER, "fleetprof_uploads_misdated_total", "",                 \
      "Uploads counted in the database's hour, their own time being beyond belief")                \
    X(FP_METRIC_SPOOL_BACKLOG_AGE_SECONDS, AGE, "fleetprof_spool_backlog_age_seconds", "",         \
      "Age of the oldest upload not yet flushed")                                                  \
    X(FP_METRIC_FLUSHES, COUNTER, "fleetprof_flushes_total", "",                                   \
      "Transactions that counted uploads")                                                         \
    X(FP_METRIC_FLUSH_ERRORS, COUNTER, "fleetprof_flush_errors_total", "",                         \
      "Flushes that failed and are tried again")                                                   \
    X(FP_METRIC_FLUSH_SECONDS, HISTOGRAM, "fleetprof_flush_seconds", "", "Duration of a flush")    \
    X(FP_METRIC_FLUSH_ROWS, COUNTER, "fleetprof_flush_rows_total", "",                             \
      "Entries of packed facts written after merging")                                             \
    X(FP_METRIC_LAST_FLUSH, TIME_GAUGE, "fleetprof_last_flush_timestamp_seconds", "",              \
      "When the last flush committed, 0 before the first")                                         \
    X(FP_METRIC_DATABASE_UP, GAUGE, "fleetprof_database_up", "",                                   \
      "1 while uploads can be written to the database")                                            \
    X(FP_METRIC_DATABASE_STATE_CONNECTING, GAUGE, "fleetprof_database_state",                      \
      "state=\"connecting\"", "1 for the state the database is in, 0 for the others")              \
    X(FP_METRIC_DATABASE_STATE_REACHABLE, GAUGE, "fleetprof_database_state",                       \
      "state=\"reachable\"", "")                                                                   \
    X(FP_METRIC_DATABASE_STATE_UNREACHABLE, GAUGE, "fleetprof_database_state",                     \
      "state=\"unreachable\"", "")                                                                 \
    X(FP_METRIC_DATABASE_STATE_AUTHENTICATION, GAUGE, "fleetprof_database_state",                  \
      "state=\"authentication\"", "")                                                              \
    X(FP_METRIC_DATABASE_STATE_NOT_MIGRATED, GAUGE, "fleetprof_database_state",                    \
      "state=\"not_migrated\"", "")                                                                \
    X(FP_METRIC_DATABASE_STATE_WRONG_RIGHTS, GAUGE, "fleetprof_database_state",                    \
      "state=\"wrong_rights\"", "")                                                                \
    X(FP_METRIC_DATABASE_STATE_SCHEMA_OLDER, GAUGE, "fleetprof_database_state",                    \
      "state=\"schema_older\"", "")                                                                \
    X(FP_METRIC_DATABASE_STATE_SCHEMA_NEWER, GAUGE, "fleetprof_database_state",                    \
      "state=\"schema_newer\"", "")                                                                \
    X(FP_METRIC_DATABASE_STATE_READ_ONLY, GAUGE, "fleetprof_database_state",                       \
      "state=\"read_only\"", "")                                                                   \
    X(FP_METRIC_DATABASE_STATE_FAILING, GAUGE, "fleetprof_database_state", "state=\"failing\"", "")

enum fp_writer_metric { FP_WRITER_METRICS(FP_METRIC_ID) FP_WRITER_METRIC_COUNT };

extern const struct fp_metric_table fp_writer_metrics;

#endif
