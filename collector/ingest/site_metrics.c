/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Site metrics: atomics for the counters, a lock for refusals that wait to be logged.
 */
#include "collector/ingest/site_metrics.h"

#include "collector/base/clock.h"
#include "collector/base/log.h"
#include "collector/ingest/metrics.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static const struct fp_metric metrics_table[] = {FP_INGEST_METRICS(FP_METRIC_ROW)};
const struct fp_metric_table fp_ingest_metrics = {metrics_table, FP_INGEST_METRIC_COUNT, NULL};

enum { NAME_LEN = 64, DETAIL_LEN = 240 };

#define LINE_EVERY_US (60 * FP_US_PER_S)

/* Refusals of one reason. */
struct refusals {
    uint64_t pending;  /* counted but not logged */
    int64_t logged_us; /* monotonic; 0: never */
    unsigned status;
    char detail[DETAIL_LEN + 1]; /* the latest */
    char evidence[FP_EVIDENCE_LEN + 1];
};

/* Refused records of accepted uploads that wait to be logged. */
struct pending_records {
    uint64_t requests; /* with such records */
    struct fp_refused_records sum;
};

struct fp_site_metrics {
    atomic_uint references;
    char name[NAME_LEN + 1];
    _Atomic uint64_t accepted;
    _Atomic int64_t latest_us; /* epoch: the last accepted upload; 0: none */
    _Atomic uint64_t refused[FP_REFUSAL_COUNT];
    _Atomic uint64_t kept_bytes;
    _Atomic uint64_t not_kept;
    _Atomic uint64_t decoding_us;
    _Atomic uint64_t records_refused[FP_RECORD_REFUSAL_COUNT];

    pthread_mutex_t lock; /* protects what follows */
    uint64_t pending;     /* of all reasons */
    struct refusals refusals[FP_REFUSAL_COUNT];
    struct pending_records records;
    int64_t records_logged_us; /* monotonic; 0: never */
};

struct fp_site_metrics *fp_site_metrics_create(struct fp_str name)
{
    struct fp_site_metrics *metrics = calloc(1, sizeof(*metrics));
    if (metrics == NULL)
        return NULL;
    if (pthread_mutex_init(&metrics->lock, NULL) != 0) {
        free(metrics);
        return NULL;
    }
    atomic_init(&metrics->references, 1);
    snprintf(metrics->name, sizeof(metrics->name), "%.*s", FP_STR_ARG(name));
    return metrics;
}

struct fp_site_metrics *fp_site_metrics_ref(struct fp_site_metrics *metrics)
{
    if (metrics != NULL)
        atomic_fetch_add_explicit(&metrics->references, 1, memory_order_relaxed);
    return metrics;
}

void fp_site_metrics_unref(struct fp_site_metrics *metrics)
{
    if (metrics == NULL ||
        atomic_fetch_sub_explicit(&metrics->references, 1, memory_order_acq_rel) > 1)
        return;
    fp_site_metrics_log(metrics, FP_PENDING_ALL, fp_clock_monotonic_us());
    pthread_mutex_destroy(&metrics->lock);
    free(metrics);
}

void fp_site_metrics_accept(struct fp_site_metrics *metrics, uint64_t uploads)
{
    if (metrics == NULL)
        return;
    atomic_fetch_add_explicit(&metrics->accepted, uploads, memory_order_relaxed);
    atomic_store_explicit(&metrics->latest_us, fp_clock_real_us(), memory_order_relaxed);
}

void fp_site_metrics_keep(struct fp_site_metrics *metrics, uint64_t bytes, uint64_t not_kept)
{
    if (metrics == NULL)
        return;
    atomic_fetch_add_explicit(&metrics->kept_bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->not_kept, not_kept, memory_order_relaxed);
}

void fp_site_metrics_decode(struct fp_site_metrics *metrics, int64_t processor_us)
{
    if (metrics != NULL)
        atomic_fetch_add_explicit(&metrics->decoding_us, (uint64_t)processor_us,
                                  memory_order_relaxed);
}

void fp_site_metrics_refuse_records(struct fp_site_metrics *metrics,
                                    const struct fp_refused_records *refused)
{
    if (metrics == NULL || refused->count == 0)
        return;
    struct fp_refused_records *sum = &metrics->records.sum;
    pthread_mutex_lock(&metrics->lock);
    metrics->records.requests++;
    sum->count += refused->count;
    for (unsigned i = 0; i < FP_RECORD_REFUSAL_COUNT; i++) {
        sum->by_reason[i] += refused->by_reason[i];
        atomic_fetch_add_explicit(&metrics->records_refused[i], refused->by_reason[i],
                                  memory_order_relaxed);
    }
    sum->format = refused->format;
    sum->reason = refused->reason;
    memcpy(sum->place, refused->place, sizeof(sum->place));
    pthread_mutex_unlock(&metrics->lock);
}

/* ---- the log ---- */

static bool is_due(const struct refusals *refusals, enum fp_pending pending, int64_t now_us)
{
    return refusals->pending > 0 && (pending == FP_PENDING_ALL || refusals->logged_us == 0 ||
                                     now_us - refusals->logged_us >= LINE_EVERY_US);
}

/* Takes the counts of the next log line, and returns its reason; FP_REFUSAL_COUNT if none is due.
 * With the lock held. */
static enum fp_refusal take_line(struct fp_site_metrics *metrics, enum fp_pending pending,
                                 int64_t now_us, struct refusals *line)
{
    for (enum fp_refusal reason = 0; metrics->pending > 0 && reason < FP_REFUSAL_COUNT; reason++) {
        struct refusals *refusals = &metrics->refusals[reason];
        if (!is_due(refusals, pending, now_us))
            continue;
        *line = *refusals;
        metrics->pending -= refusals->pending;
        refusals->pending = 0;
        refusals->logged_us = now_us;
        return reason;
    }
    return FP_REFUSAL_COUNT;
}

static void write_line(const char *site, enum fp_refusal reason, const struct refusals *line)
{
    bool has_evidence = line->evidence[0] != '\0';
    fp_log(FP_LOG_WARN, "uploads refused",
           has_evidence ? "site=%s reason=%s status=%u count=%llu detail=%s latest=%s"
                        : "site=%s reason=%s status=%u count=%llu detail=%s",
           site, fp_refusal_name(reason), line->status, (unsigned long long)line->pending,
           line->detail, line->evidence);
}

/* Takes the refused records of the next log line. False if none is due. */
static bool take_records(struct fp_site_metrics *metrics, enum fp_pending pending, int64_t now_us,
                         struct pending_records *line)
{
    pthread_mutex_lock(&metrics->lock);
    bool due = metrics->records.requests > 0 &&
               (pending == FP_PENDING_ALL || metrics->records_logged_us == 0 ||
                now_us - metrics->records_logged_us >= LINE_EVERY_US);
    if (due) {
        *line = metrics->records;
        metrics->records = (struct pending_records){0};
        metrics->records_logged_us = now_us;
    }
    pthread_mutex_unlock(&metrics->lock);
    return due;
}

/* Writes one line: the number of refused records by reason, and the latest. */
static void write_records(const char *site, const struct pending_records *line)
{
    enum { REASON_LEN = 48 };
    const struct fp_refused_records *sum = &line->sum;
    char reasons[FP_RECORD_REFUSAL_COUNT * REASON_LEN] = "";
    size_t len = 0;
    for (unsigned i = FP_RECORD_REFUSAL_NONE + 1; i < FP_RECORD_REFUSAL_COUNT; i++)
        if (sum->by_reason[i] > 0)
            len += (size_t)snprintf(
                reasons + len, sizeof(reasons) - len, "%s%s:%" PRIu64, len > 0 ? " " : "",
                fp_record_refusal_name((enum fp_record_refusal)i), sum->by_reason[i]);
    fp_log(FP_LOG_INFO, "records refused",
           "site=%s records=%llu requests=%llu reasons=%s format=%s reason=%s place=%s", site,
           (unsigned long long)sum->count, (unsigned long long)line->requests, reasons,
           fp_upload_format_name(sum->format), fp_record_refusal_name(sum->reason), sum->place);
}

void fp_site_metrics_log(struct fp_site_metrics *metrics, enum fp_pending pending, int64_t now_us)
{
    enum fp_refusal reason;
    struct pending_records records;
    if (take_records(metrics, pending, now_us, &records))
        write_records(metrics->name, &records);
    do {
        struct refusals line;
        pthread_mutex_lock(&metrics->lock);
        reason = take_line(metrics, pending, now_us, &line);
        pthread_mutex_unlock(&metrics->lock);
        /* Without the lock: a reader of the log may be slow. */
        if (reason != FP_REFUSAL_COUNT)
            write_line(metrics->name, reason, &line);
    } while (reason != FP_REFUSAL_COUNT);
}

void fp_site_metrics_refuse(struct fp_site_metrics *metrics, const struct fp_problem *problem,
                            int64_t now_us)
{
    if (metrics == NULL)
        return;
    atomic_fetch_add_explicit(&metrics->refused[problem->reason], 1, memory_order_relaxed);
    struct refusals *refusals = &metrics->refusals[problem->reason];
    pthread_mutex_lock(&metrics->lock);
    metrics->pending++;
    refusals->pending++;
    refusals->status = problem->status;
    snprintf(refusals->detail, sizeof(refusals->detail), "%.*s", DETAIL_LEN, problem->detail);
    memcpy(refusals->evidence, problem->evidence, sizeof(refusals->evidence));
    bool due = is_due(refusals, FP_PENDING_DUE, now_us);
    pthread_mutex_unlock(&metrics->lock);
    if (due)
        fp_site_metrics_log(metrics, FP_PENDING_DUE, now_us);
}

/* ---- /metrics ---- */

static const struct fp_metric names[] = {FP_SITE_METRICS(FP_METRIC_ROW)};

static void render_count(const struct fp_site_metrics *metrics, enum fp_site_metric metric,
                         const _Atomic uint64_t *count, struct fp_buf *out)
{
    fp_buf_addf(out, "%s{site=\"%s\"} %" PRIu64 "\n", names[metric].name, metrics->name,
                atomic_load_explicit(count, memory_order_relaxed));
}

void fp_site_metrics_render_accepted(const struct fp_site_metrics *metrics, struct fp_buf *out)
{
    render_count(metrics, FP_METRIC_SITE_ACCEPTED, &metrics->accepted, out);
}

void fp_site_metrics_render_kept(const struct fp_site_metrics *metrics, struct fp_buf *out)
{
    render_count(metrics, FP_METRIC_SITE_KEPT, &metrics->kept_bytes, out);
}

void fp_site_metrics_render_not_kept(const struct fp_site_metrics *metrics, struct fp_buf *out)
{
    render_count(metrics, FP_METRIC_SITE_NOT_KEPT, &metrics->not_kept, out);
}

void fp_site_metrics_render_refused(const struct fp_site_metrics *metrics, struct fp_buf *out)
{
    for (enum fp_refusal reason = 0; reason < FP_REFUSAL_COUNT; reason++)
        fp_buf_addf(out, "%s{site=\"%s\",reason=\"%s\"} %" PRIu64 "\n",
                    names[FP_METRIC_SITE_REFUSED].name, metrics->name, fp_refusal_name(reason),
                    atomic_load_explicit(&metrics->refused[reason], memory_order_relaxed));
}

void fp_site_metrics_render_records(const struct fp_site_metrics *metrics, struct fp_buf *out)
{
    for (unsigned i = FP_RECORD_REFUSAL_NONE + 1; i < FP_RECORD_REFUSAL_COUNT; i++)
        fp_buf_addf(out, "%s{site=\"%s\",reason=\"%s\"} %" PRIu64 "\n",
                    names[FP_METRIC_SITE_RECORDS].name, metrics->name,
                    fp_record_refusal_name((enum fp_record_refusal)i),
                    atomic_load_explicit(&metrics->records_refused[i], memory_order_relaxed));
}

static void render_seconds(const struct fp_site_metrics *metrics, enum fp_site_metric metric,
                           int64_t time_us, struct fp_buf *out)
{
    fp_buf_addf(out, "%s{site=\"%s\"} %" PRId64 ".%06" PRId64 "\n", names[metric].name,
                metrics->name, time_us / FP_US_PER_S, time_us % FP_US_PER_S);
}

void fp_site_metrics_render_decoding(const struct fp_site_metrics *metrics, struct fp_buf *out)
{
    const uint64_t spent_us = atomic_load_explicit(&metrics->decoding_us, memory_order_relaxed);
    render_seconds(metrics, FP_METRIC_SITE_DECODING, (int64_t)spent_us, out);
}

void fp_site_metrics_render_latest(const struct fp_site_metrics *metrics, struct fp_buf *out)
{
    const int64_t latest_us = atomic_load_explicit(&metrics->latest_us, memory_order_relaxed);
    render_seconds(metrics, FP_METRIC_SITE_LATEST, latest_us, out);
}
