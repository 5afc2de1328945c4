/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of ingest.
 */
#ifndef FP_INGEST_METRICS_H
#define FP_INGEST_METRICS_H

#include "collector/base/metrics.h"

#define FP_INGEST_METRICS(X)                                                                       \
    X(FP_METRIC_ENTRIES_SKIPPED, COUNTER, "fleetprof_entries_skipped_total", "",                   \
      "Performance entries of other types, skipped",                                               \
      "Also those without a member that their type needs")                                         \
    X(FP_METRIC_ENTRIES_UNORDERED, COUNTER, "fleetprof_entries_unordered_total", "",               \
      "Marks with an earlier time than the mark before them",                                      \
      "Also those of one name in a map. A page set the time itself, or its clock went back. They " \
      "are taken all the same")                                                                    \
    X(FP_METRIC_CUSTOM_DROPPED, COUNTER, "fleetprof_custom_values_dropped_total", "",              \
      "Values of custom dimensions that were dropped",                                             \
      "`sites[].custom` does not name the dimension, or the value is longer than 64 characters "   \
      "or has `;`, `%` or a control character")                                                    \
    X(FP_METRIC_MEASURES_UNJOINED, COUNTER, "fleetprof_measures_unjoined_total", "",               \
      "Names of measures and windows not joined with their samples, counted again with each "      \
      "upload",                                                                                    \
      "The upload had [too many](numbers.md#what-ran-inside-a-measure)")                           \
    X(FP_METRIC_LOAD_PARTS_JOINED, COUNTER, "fleetprof_load_parts_joined_total", "",               \
      "Parts of page loads folded together with earlier parts",                                    \
      "See [numbers.md](numbers.md#across-the-parts-of-a-page-load)")                              \
    X(FP_METRIC_LOAD_PARTS_EVICTED, COUNTER, "fleetprof_load_parts_evicted_total", "",             \
      "Parts of page loads forgotten, or not remembered, for lack of room",                        \
      "Windows of other parts do not reach their samples")                                         \
    X(FP_METRIC_PAGE_TOKENS_GOOD, COUNTER, "fleetprof_page_tokens_total", "verdict=\"good\"",      \
      "Uploads to sites with token keys, by what their page token was worth",                      \
      "The token verified the sample rate. Sites count whether they require tokens or not")        \
    X(FP_METRIC_PAGE_TOKENS_MISSING, COUNTER, "fleetprof_page_tokens_total",                       \
      "verdict=\"missing\"", "", "Uploads without a token")                                        \
    X(FP_METRIC_PAGE_TOKENS_FORGED, COUNTER, "fleetprof_page_tokens_total", "verdict=\"forged\"",  \
      "",                                                                                          \
      "With one that no server of the site has signed: malformed, of an unknown key, changed, or " \
      "another site's")                                                                            \
    X(FP_METRIC_PAGE_TOKENS_EXPIRED, COUNTER, "fleetprof_page_tokens_total",                       \
      "verdict=\"expired\"", "", "With one that is older than `token_max_age`")                    \
    X(FP_METRIC_PAGE_TOKENS_EARLY, COUNTER, "fleetprof_page_tokens_total", "verdict=\"early\"",    \
      "",                                                                                          \
      "With one from the future: the clocks of web server and collector differ by more than a "    \
      "minute")                                                                                    \
    X(FP_METRIC_PAGE_TOKENS_USED_UP, COUNTER, "fleetprof_page_tokens_total",                       \
      "verdict=\"used_up\"", "", "With one that has had its `token_uploads`")                      \
    X(FP_METRIC_PAGE_TOKENS_FORGOTTEN, COUNTER, "fleetprof_page_tokens_total",                     \
      "verdict=\"forgotten\"", "",                                                                 \
      "With one older than the table of uses reaches: more page loads than it holds")              \
    X(FP_METRIC_PAGE_TOKENS_UNCHECKED, COUNTER, "fleetprof_page_tokens_total",                     \
      "verdict=\"unchecked\"", "",                                                                 \
      "With one that could not be checked because libcrypto failed; 503 where tokens are "         \
      "required")                                                                                  \
    X(FP_METRIC_DRY_RUNS_ACCEPTED, COUNTER, "fleetprof_dry_runs_total", "result=\"accepted\"",     \
      "Requests with ?dry_run, which no other metric of uploads counts",                           \
      "See [http.md](http.md#dry-runs)")                                                           \
    X(FP_METRIC_DRY_RUNS_REFUSED, COUNTER, "fleetprof_dry_runs_total", "result=\"refused\"", "",   \
      "")                                                                                          \
    X(FP_METRIC_INFLATED_BYTES, COUNTER, "fleetprof_inflated_bytes_total", "",                     \
      "Bytes of bodies after inflating", "")

enum fp_ingest_metric { FP_INGEST_METRICS(FP_METRIC_ID) FP_INGEST_METRIC_COUNT };

extern const struct fp_metric_table fp_ingest_metrics;

/* The metrics of each configured site; site_metrics.c renders them. */
#define FP_SITE_METRICS(X)                                                                         \
    X(FP_METRIC_SITE_ACCEPTED, COUNTER, "fleetprof_uploads_accepted_total", "site",                \
      "Uploads answered with 204", "Each part of a form is one")                                   \
    X(FP_METRIC_SITE_REFUSED, COUNTER, "fleetprof_uploads_refused_total", "site,reason",           \
      "Requests that were refused", "Each once, by [reason](#reasons-of-refusals); a form is one") \
    X(FP_METRIC_SITE_RECORDS, COUNTER, "fleetprof_records_refused_total", "site,reason",           \
      "Records that were refused of accepted uploads",                                             \
      "By [reason](formats.md#refused-records); a retried upload counts again")                    \
    X(FP_METRIC_SITE_KEPT, COUNTER, "fleetprof_kept_bytes_total", "site",                          \
      "Bytes of sessions and traces that are kept whole",                                          \
      "[Kept bytes](configuration.md#kept-bytes) says what counts")                                \
    X(FP_METRIC_SITE_NOT_KEPT, COUNTER, "fleetprof_uploads_not_kept_total", "site",                \
      "Accepted uploads that are not kept whole because of a ceiling",                             \
      "They count; [kept bytes](configuration.md#kept-bytes) has the ceilings")                    \
    X(FP_METRIC_SITE_DECODING, COUNTER, "fleetprof_decode_seconds_total", "site",                  \
      "Processor time of decoding and folding uploads", "Refused ones and dry runs included")      \
    X(FP_METRIC_SITE_LATEST, TIME_GAUGE, "fleetprof_last_upload_timestamp_seconds", "site",        \
      "When the site's latest upload was accepted; 0 before the first since the start", "")

enum fp_site_metric { FP_SITE_METRICS(FP_METRIC_ID) FP_SITE_METRIC_COUNT };

#endif
