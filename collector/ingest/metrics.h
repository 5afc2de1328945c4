/*
 * Metrics of ingest.
 */
#ifndef FP_INGEST_METRICS_H
#define FP_INGEST_METRICS_H

#include "collector/base/metrics.h"

/* docs/metrics.md has an entry for each. */
#define FP_INGEST_METRICS(X)                                                                       \
    X(FP_METRIC_ENTRIES_SKIPPED, COUNTER, "fleetprof_entries_skipped_total", "",                   \
      "Performance entries of other types, skipped")                                               \
    X(FP_METRIC_ENTRIES_UNORDERED, COUNTER, "fleetprof_entries_unordered_total", "",               \
      "Marks with an earlier time than the mark before them")                                      \
    X(FP_METRIC_MEASURES_UNJOINED, COUNTER, "fleetprof_measures_unjoined_total", "",               \
      "Names of measures not joined with their samples, counted again with each upload")           \
    X(FP_METRIC_LOAD_PARTS_JOINED, COUNTER, "fleetprof_load_parts_joined_total", "",               \
      "Parts of page loads folded together with earlier parts")                                    \
    X(FP_METRIC_LOAD_PARTS_EVICTED, COUNTER, "fleetprof_load_parts_evicted_total", "",             \
      "Parts of page loads forgotten, or not remembered, for lack of room")                        \
    X(FP_METRIC_PAGE_TOKENS_GOOD, COUNTER, "fleetprof_page_tokens_total", "verdict=\"good\"",      \
      "Uploads to sites with token keys, by what their page token was worth")                      \
    X(FP_METRIC_PAGE_TOKENS_MISSING, COUNTER, "fleetprof_page_tokens_total",                       \
      "verdict=\"missing\"", "")                                                                   \
    X(FP_METRIC_PAGE_TOKENS_FORGED, COUNTER, "fleetprof_page_tokens_total", "verdict=\"forged\"",  \
      "")                                                                                          \
    X(FP_METRIC_PAGE_TOKENS_EXPIRED, COUNTER, "fleetprof_page_tokens_total",                       \
      "verdict=\"expired\"", "")                                                                   \
    X(FP_METRIC_PAGE_TOKENS_EARLY, COUNTER, "fleetprof_page_tokens_total", "verdict=\"early\"",    \
      "")                                                                                          \
    X(FP_METRIC_PAGE_TOKENS_USED_UP, COUNTER, "fleetprof_page_tokens_total",                       \
      "verdict=\"used_up\"", "")                                                                   \
    X(FP_METRIC_PAGE_TOKENS_FORGOTTEN, COUNTER, "fleetprof_page_tokens_total",                     \
      "verdict=\"forgotten\"", "")                                                                 \
    X(FP_METRIC_PAGE_TOKENS_UNCHECKED, COUNTER, "fleetprof_page_tokens_total",                     \
      "verdict=\"unchecked\"", "")                                                                 \
    X(FP_METRIC_DRY_RUNS_ACCEPTED, COUNTER, "fleetprof_dry_runs_total", "result=\"accepted\"",     \
      "Requests with ?dry_run, which no other metric of uploads counts")                           \
    X(FP_METRIC_DRY_RUNS_REFUSED, COUNTER, "fleetprof_dry_runs_total", "result=\"refused\"", "")   \
    X(FP_METRIC_INFLATED_BYTES, COUNTER, "fleetprof_inflated_bytes_total", "",                     \
      "Bytes of bodies after inflating")

enum fp_ingest_metric { FP_INGEST_METRICS(FP_METRIC_ID) FP_INGEST_METRIC_COUNT };

extern const struct fp_metric_table fp_ingest_metrics;

/* The metrics of each configured site; site_metrics.c renders them. */
#define FP_SITE_METRICS(X)                                                                         \
    X(FP_METRIC_SITE_ACCEPTED, COUNTER, "fleetprof_uploads_accepted_total", "site",                \
      "Uploads answered with 204")                                                                 \
    X(FP_METRIC_SITE_REFUSED, COUNTER, "fleetprof_uploads_refused_total", "site,reason",           \
      "Requests that were refused")                                                                \
    X(FP_METRIC_SITE_RECORDS, COUNTER, "fleetprof_records_refused_total", "site,reason",           \
      "Records that were refused of accepted uploads")                                             \
    X(FP_METRIC_SITE_LATEST, TIME_GAUGE, "fleetprof_last_upload_timestamp_seconds", "site",        \
      "When the site's latest upload was accepted, 0 before the first")

enum fp_site_metric { FP_SITE_METRICS(FP_METRIC_ID) FP_SITE_METRIC_COUNT };

#endif
