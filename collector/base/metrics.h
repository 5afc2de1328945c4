/*
 * Metrics: a fixed table of counters, gauges and histograms, rendered as Prometheus text (0.0.4).
 *
 * A registry is made once, from a table, and handed to whoever counts; there is no global one.
 * Updates are relaxed atomics: any thread, any time. Rendering too.
 */
#ifndef FP_BASE_METRICS_H
#define FP_BASE_METRICS_H

#include "collector/base/base.h"
#include "collector/base/buf.h"

/*
 * Every metric of the collector: id, type, name without the prefix `fleetprof_`, one label pair or
 * "", help. An AGE is a gauge that grows by itself. Entries of one name stand together. A docs lint
 * holds docs/metrics.md against this table.
 */
#define FP_METRICS(X)                                                                              \
    X(UPLOADS_ACCEPTED, COUNTER, "uploads_total", "status=\"accepted\"",                           \
      "Uploads by what became of them")                                                            \
    X(UPLOADS_REFUSED, COUNTER, "uploads_total", "status=\"refused\"", "")                         \
    X(UPLOADS_DEFERRED, COUNTER, "uploads_total", "status=\"deferred\"", "")                       \
    X(BUDGET_REFUSALS_REQUESTS, COUNTER, "budget_refusals_total", "budget=\"requests\"",           \
      "Requests answered with 429 because their site had spent a budget")                          \
    X(BUDGET_REFUSALS_BYTES, COUNTER, "budget_refusals_total", "budget=\"bytes\"", "")             \
    X(UPLOADS_DUPLICATE, COUNTER, "uploads_duplicate_total", "",                                   \
      "Uploads met again by their id and not counted again")                                       \
    X(UPLOADS_QUARANTINED, COUNTER, "uploads_quarantined_total", "",                               \
      "Uploads that the database refused as data, set aside")                                      \
    X(UPLOADS_MISDATED, COUNTER, "uploads_misdated_total", "",                                     \
      "Uploads counted in the database's hour, their own time being beyond belief")                \
    X(UPLOADS_FLUSHED, COUNTER, "uploads_flushed_total", "", "Uploads counted in the database")    \
    X(ENTRIES_SKIPPED, COUNTER, "entries_skipped_total", "",                                       \
      "Performance entries of other types, skipped")                                               \
    X(ENTRIES_UNORDERED, COUNTER, "entries_unordered_total", "",                                   \
      "Marks with an earlier time than the mark before them")                                      \
    X(MEASURES_UNJOINED, COUNTER, "measures_unjoined_total", "",                                   \
      "Names of measures not joined with their samples, anew with each upload")                    \
    X(NAMES_OVERFLOWED_FRAME, COUNTER, "names_overflowed_total", "kind=\"frame\"",                 \
      "Names that became (overflow), anew with each upload")                                       \
    X(NAMES_OVERFLOWED_STACK, COUNTER, "names_overflowed_total", "kind=\"stack\"", "")             \
    X(NAMES_OVERFLOWED_TIMING, COUNTER, "names_overflowed_total", "kind=\"timing\"", "")           \
    X(NAMES_OVERFLOWED_ROUTE, COUNTER, "names_overflowed_total", "kind=\"route\"", "")             \
    X(NAMES_OVERFLOWED_RELEASE, COUNTER, "names_overflowed_total", "kind=\"release\"", "")         \
    X(NAMES_OVERFLOWED_SEGMENT, COUNTER, "names_overflowed_total", "kind=\"segment\"", "")         \
    X(PAGE_TOKENS_GOOD, COUNTER, "page_tokens_total", "verdict=\"good\"",                          \
      "Uploads to sites with token keys, by what their page token was worth")                      \
    X(PAGE_TOKENS_MISSING, COUNTER, "page_tokens_total", "verdict=\"missing\"", "")                \
    X(PAGE_TOKENS_FORGED, COUNTER, "page_tokens_total", "verdict=\"forged\"", "")                  \
    X(PAGE_TOKENS_EXPIRED, COUNTER, "page_tokens_total", "verdict=\"expired\"", "")                \
    X(PAGE_TOKENS_EARLY, COUNTER, "page_tokens_total", "verdict=\"early\"", "")                    \
    X(PAGE_TOKENS_USED_UP, COUNTER, "page_tokens_total", "verdict=\"used_up\"", "")                \
    X(PAGE_TOKENS_FORGOTTEN, COUNTER, "page_tokens_total", "verdict=\"forgotten\"", "")            \
    X(PAGE_TOKENS_UNCHECKED, COUNTER, "page_tokens_total", "verdict=\"unchecked\"", "")            \
    X(BODY_BYTES, COUNTER, "body_bytes_total", "", "Bytes of request bodies received")             \
    X(INFLATED_BYTES, COUNTER, "inflated_bytes_total", "", "Bytes of bodies after inflating")      \
    X(RESPONSES_2XX, COUNTER, "http_responses_total", "class=\"2xx\"", "Replies by status class")  \
    X(RESPONSES_4XX, COUNTER, "http_responses_total", "class=\"4xx\"", "")                         \
    X(RESPONSES_5XX, COUNTER, "http_responses_total", "class=\"5xx\"", "")                         \
    X(ACK_SECONDS, HISTOGRAM, "ack_seconds", "", "From the end of a body to its durable reply")    \
    X(SPOOL_BYTES, GAUGE, "spool_bytes", "", "Bytes of spool segments on disk")                    \
    X(SPOOL_MAX_BYTES, GAUGE, "spool_max_bytes", "", "The configured ceiling of spool_bytes")      \
    X(SPOOL_BACKLOG_RECORDS, GAUGE, "spool_backlog_records", "",                                   \
      "Requests whose uploads are not yet flushed")                                                \
    X(SPOOL_BACKLOG_AGE_SECONDS, AGE, "spool_backlog_age_seconds", "",                             \
      "Age of the oldest upload not yet flushed")                                                  \
    X(SPOOL_COMMITS, COUNTER, "spool_commits_total", "", "Group commits (fdatasync calls)")        \
    X(SPOOL_COMMIT_SECONDS, HISTOGRAM, "spool_commit_seconds", "", "Duration of a group commit")   \
    X(SPOOL_DAMAGED_BYTES, COUNTER, "spool_damaged_bytes_total", "",                               \
      "Bytes set aside by recovery because their checksum failed")                                 \
    X(SPOOL_ERRORS, COUNTER, "spool_errors_total", "", "Failed writes and syncs of the spool")     \
    X(FLUSHES, COUNTER, "flushes_total", "", "Transactions that counted uploads")                  \
    X(FLUSH_ERRORS, COUNTER, "flush_errors_total", "", "Flushes that failed and are tried again")  \
    X(FLUSH_SECONDS, HISTOGRAM, "flush_seconds", "", "Duration of a flush")                        \
    X(FLUSH_ROWS, COUNTER, "flush_rows_total", "", "Fact rows written after merging")              \
    X(DATABASE_UP, GAUGE, "database_up", "", "1 while the writer has a connection")                \
    X(DEAD_LETTERS_STORED, COUNTER, "dead_letters_total", "result=\"stored\"",                     \
      "Refused bodies by what became of them")                                                     \
    X(DEAD_LETTERS_DROPPED, COUNTER, "dead_letters_total", "result=\"dropped\"", "")               \
    X(DEAD_LETTERS_EVICTED, COUNTER, "dead_letters_total", "result=\"evicted\"", "")               \
    X(DEAD_LETTERS_BYTES, GAUGE, "dead_letters_bytes", "", "Bytes of dead letters on disk")        \
    X(CONNECTIONS, GAUGE, "connections", "", "Open connections of the public listener")            \
    X(CONNECTIONS_ENDED_SLOW, COUNTER, "connections_ended_total", "reason=\"slow\"",               \
      "Connections ended before their client did")                                                 \
    X(CONNECTIONS_ENDED_CROWDED, COUNTER, "connections_ended_total", "reason=\"crowded\"", "")

enum fp_metric {
#define FP_METRIC_ID(id, type, name, labels, help) FP_METRIC_##id,
    FP_METRICS(FP_METRIC_ID)
#undef FP_METRIC_ID
        FP_METRIC_COUNT
};

struct fp_metrics;

/* Makes a registry with everything at zero; NULL when out of memory. The caller releases it. */
struct fp_metrics *fp_metrics_create(void) FP_MUST_CHECK;
void fp_metrics_free(struct fp_metrics *metrics);

/* Adds to a counter. */
void fp_metrics_add(struct fp_metrics *metrics, enum fp_metric metric, uint64_t amount);

/* Sets a gauge; fp_metrics_shift adds to one (either sign). */
void fp_metrics_set(struct fp_metrics *metrics, enum fp_metric metric, int64_t value);
void fp_metrics_shift(struct fp_metrics *metrics, enum fp_metric metric, int64_t amount);

/* Sets an age: seconds since this moment of the real clock are shown; 0 are while it is 0. */
void fp_metrics_set_since(struct fp_metrics *metrics, enum fp_metric metric, int64_t since_us);

/* Notes one duration in a histogram of seconds (buckets 1 ms … 10 s). */
void fp_metrics_observe_us(struct fp_metrics *metrics, enum fp_metric metric, int64_t duration_us);

/* The value of a counter or gauge. */
int64_t fp_metrics_get(const struct fp_metrics *metrics, enum fp_metric metric);

/* Appends the whole registry as Prometheus text. */
void fp_metrics_render(const struct fp_metrics *metrics, struct fp_buf *out);

#endif
