/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Site metrics: counts and logs what happened to a site's uploads.
 *
 * Accepted uploads touch only atomics, unless some of their records were refused. The first refusal
 * for a reason is logged at once; later ones share at most one line per minute, with their number
 * and the latest detail. So memory is a fixed table of reasons. Any thread.
 */
#ifndef FP_INGEST_SITE_METRICS_H
#define FP_INGEST_SITE_METRICS_H

#include "collector/base/base.h"
#include "collector/base/buf.h"
#include "collector/base/problem.h"
#include "collector/base/words.h"
#include "collector/profile/notes.h"

struct fp_site_metrics;

/* Makes zeroed site metrics with one reference. Returns NULL when out of memory. Copies the name;
 * "": for requests without a site. */
struct fp_site_metrics *fp_site_metrics_create(struct fp_str name) FP_MUST_CHECK;

/* Add and drop a reference; dropping the last one logs what is pending and frees. NULL is fine,
 * here and below, and counts nothing. */
struct fp_site_metrics *fp_site_metrics_ref(struct fp_site_metrics *metrics);
void fp_site_metrics_unref(struct fp_site_metrics *metrics);

/* The records that were refused of one request's uploads, although these were accepted. */
struct fp_refused_records {
    uint64_t count; /* of all reasons */
    uint64_t by_reason[FP_RECORD_REFUSAL_COUNT];
    enum fp_upload_format format;  /* of the last one with such a record, as the next two */
    enum fp_record_refusal reason; /* its first */
    char place[FP_NOTE_PLACE_MAX]; /* its first place, "" if unknown */
};

/* Counts the refused records of durable uploads. They are logged by fp_site_metrics_log, for a site
 * at most one line per minute. */
void fp_site_metrics_refuse_records(struct fp_site_metrics *metrics,
                                    const struct fp_refused_records *refused);

/* Counts durable uploads. */
void fp_site_metrics_accept(struct fp_site_metrics *metrics, uint64_t uploads);

/* Counts processor time that decoding took. */
void fp_site_metrics_decode(struct fp_site_metrics *metrics, int64_t processor_us);

/* Counts what is kept whole of durable uploads, and uploads that a ceiling kept from it. */
void fp_site_metrics_keep(struct fp_site_metrics *metrics, uint64_t bytes, uint64_t not_kept);

/* Counts a refused request, and logs it unless its reason was logged within this minute. now_us:
 * monotonic. */
void fp_site_metrics_refuse(struct fp_site_metrics *metrics, const struct fp_problem *problem,
                            int64_t now_us);

enum fp_pending {
    FP_PENDING_DUE, /* whose reason was not logged within this minute */
    FP_PENDING_ALL, /* at the end */
};

/* Logs refusals that were counted but not logged. */
void fp_site_metrics_log(struct fp_site_metrics *metrics, enum fp_pending pending, int64_t now_us);

/* Append the site's series of fleetprof_uploads_accepted_total, fleetprof_uploads_refused_total,
 * fleetprof_records_refused_total, fleetprof_kept_bytes_total, fleetprof_uploads_not_kept_total,
 * fleetprof_decode_seconds_total and fleetprof_last_upload_timestamp_seconds. */
void fp_site_metrics_render_accepted(const struct fp_site_metrics *metrics, struct fp_buf *out);
void fp_site_metrics_render_refused(const struct fp_site_metrics *metrics, struct fp_buf *out);
void fp_site_metrics_render_records(const struct fp_site_metrics *metrics, struct fp_buf *out);
void fp_site_metrics_render_kept(const struct fp_site_metrics *metrics, struct fp_buf *out);
void fp_site_metrics_render_not_kept(const struct fp_site_metrics *metrics, struct fp_buf *out);
void fp_site_metrics_render_decoding(const struct fp_site_metrics *metrics, struct fp_buf *out);
void fp_site_metrics_render_latest(const struct fp_site_metrics *metrics, struct fp_buf *out);

#endif
