/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of the writer.
 */
#ifndef FP_WRITER_METRICS_H
#define FP_WRITER_METRICS_H

#include "collector/base/metrics.h"

#define FP_WRITER_METRICS(X)                                                                       \
    X(FP_METRIC_UPLOADS_FLUSHED, COUNTER, "fleetprof_uploads_flushed_total", "",                   \
      "Uploads counted in the database", "")                                                       \
    X(FP_METRIC_UPLOADS_DUPLICATE, COUNTER, "fleetprof_uploads_duplicate_total", "",               \
      "Uploads met again by their id and not counted again", "")                                   \
    X(FP_METRIC_UPLOADS_QUARANTINED, COUNTER, "fleetprof_uploads_quarantined_total", "",           \
      "Uploads that the database refused as data, and those of the same form",                     \
      "Each request is in a file of its own in the spool's directory")                             \
    X(FP_METRIC_UPLOADS_MISDATED, COUNTER, "fleetprof_uploads_misdated_total", "",                 \
      "Uploads counted in the database's hour, because their own time is beyond belief",           \
      "It is more than an hour ahead of the database's clock, past `retention.facts`, or by a "    \
      "clock that is wrong by more than two days. They are counted in [the hour of "               \
      "now](internals/schema.md#clocks)")                                                          \
    X(FP_METRIC_UPLOADS_RECOUNTED, COUNTER, "fleetprof_uploads_recounted_total", "",               \
      "Uploads counted again from the spool, because the database had lost them",                  \
      "See [Failover](postgresql.md#failover)")                                                    \
    X(FP_METRIC_RECORDS_OUT_OF_REACH, COUNTER, "fleetprof_spool_records_out_of_reach_total", "",   \
      "Requests, at most, that the database lost or never had, and the spool no longer keeps",     \
      "They are older than `spool.keep`, and counted nowhere")                                     \
    X(FP_METRIC_SPOOL_BACKLOG_AGE_SECONDS, AGE, "fleetprof_spool_backlog_age_seconds", "",         \
      "Age of the oldest upload that is not yet in the database",                                  \
      "The alarm for a database that does not keep up, or hangs")                                  \
    X(FP_METRIC_FLUSHES, COUNTER, "fleetprof_flushes_total", "",                                   \
      "Transactions that counted uploads", "")                                                     \
    X(FP_METRIC_FLUSH_ERRORS, COUNTER, "fleetprof_flush_errors_total", "",                         \
      "Flushes that failed and are tried again", "")                                               \
    X(FP_METRIC_FLUSH_REFUSALS, COUNTER, "fleetprof_flush_refusals_total", "",                     \
      "Flushes that the database refused as data",                                                 \
      "Their window was halved, or its only record [judged](internals/spool.md#refused-records)")  \
    X(FP_METRIC_FLUSH_WINDOW_RECORDS, GAUGE, "fleetprof_flush_window_records", "",                 \
      "Requests that the next flush takes at most",                                                \
      "Small while the database refuses some, or [takes long for each](configuration.md#flush)")   \
    X(FP_METRIC_FLUSH_SECONDS, HISTOGRAM, "fleetprof_flush_seconds", "", "Duration of a flush",    \
      "")                                                                                          \
    X(FP_METRIC_FLUSH_ROWS, COUNTER, "fleetprof_flush_rows_total", "",                             \
      "Entries of packed facts written after merging",                                             \
      "Entries ÷ uploads flushed falls as the load grows")                                         \
    X(FP_METRIC_LAST_FLUSH, TIME_GAUGE, "fleetprof_last_flush_timestamp_seconds", "",              \
      "When the last flush committed; 0 before the first since the start", "")                     \
    X(FP_METRIC_DATABASE_UP, GAUGE, "fleetprof_database_up", "",                                   \
      "1 while uploads can be written to the database",                                            \
      "0 when the latest try failed, for rights as for an outage")                                 \
    X(FP_METRIC_DATABASE_STATE_CONNECTING, GAUGE, "fleetprof_database_state",                      \
      "state=\"connecting\"", "1 for the state the database is in, 0 for the others",              \
      "Not tried yet")                                                                             \
    X(FP_METRIC_DATABASE_STATE_REACHABLE, GAUGE, "fleetprof_database_state",                       \
      "state=\"reachable\"", "", "All is well")                                                    \
    X(FP_METRIC_DATABASE_STATE_UNREACHABLE, GAUGE, "fleetprof_database_state",                     \
      "state=\"unreachable\"", "", "No connection")                                                \
    X(FP_METRIC_DATABASE_STATE_AUTHENTICATION, GAUGE, "fleetprof_database_state",                  \
      "state=\"authentication\"", "",                                                              \
      "The role is not let in; the log has the lines for `pg_hba.conf` and `pg_ident.conf`")       \
    X(FP_METRIC_DATABASE_STATE_NOT_MIGRATED, GAUGE, "fleetprof_database_state",                    \
      "state=\"not_migrated\"", "", "Role, database or schema is missing: `fleetprof migrate`")    \
    X(FP_METRIC_DATABASE_STATE_WRONG_RIGHTS, GAUGE, "fleetprof_database_state",                    \
      "state=\"wrong_rights\"", "", "The role may not write: connect as `fleetprof_writer`")       \
    X(FP_METRIC_DATABASE_STATE_SCHEMA_OLDER, GAUGE, "fleetprof_database_state",                    \
      "state=\"schema_older\"", "",                                                                \
      "The schema is not this collector's; `fleetprof_database_up` says whether it works all the " \
      "same")                                                                                      \
    X(FP_METRIC_DATABASE_STATE_SCHEMA_NEWER, GAUGE, "fleetprof_database_state",                    \
      "state=\"schema_newer\"", "", "")                                                            \
    X(FP_METRIC_DATABASE_STATE_READ_ONLY, GAUGE, "fleetprof_database_state",                       \
      "state=\"read_only\"", "", "The server is a standby")                                        \
    X(FP_METRIC_DATABASE_STATE_REFUSING, GAUGE, "fleetprof_database_state", "state=\"refusing\"",  \
      "",                                                                                          \
      "It refuses uploads, all or some: somebody changed its tables. [Nothing is "                 \
      "quarantined](internals/spool.md#refused-records)")                                          \
    X(FP_METRIC_DATABASE_STATE_FAILING, GAUGE, "fleetprof_database_state", "state=\"failing\"",    \
      "", "Any other error; the log has it")

/* This one's labels name what refuses (status.c). */
#define FP_REFUSED_BY_METRICS(X)                                                                   \
    X(FP_METRIC_DATABASE_REFUSED_BY, GAUGE, "fleetprof_database_refused_by", "object,table",       \
      "1 for what somebody changed in the database's schema, while that refuses uploads",          \
      "Such as the object `constraint house`. There is no series while nothing refuses them")

enum fp_writer_metric { FP_WRITER_METRICS(FP_METRIC_ID) FP_WRITER_METRIC_COUNT };

extern const struct fp_metric_table fp_writer_metrics;

#endif
