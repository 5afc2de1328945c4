/*
 * Site metrics: what became of a site's uploads, in counters and in the log.
 *
 * Accepted uploads touch atomics alone. Of refusals, the first of a reason is logged at once, later
 * ones in at most one line per minute that has their number and the latest detail: what is
 * remembered is a fixed table of reasons. Any thread.
 */
#ifndef FP_INGEST_SITE_METRICS_H
#define FP_INGEST_SITE_METRICS_H

#include "collector/base/base.h"
#include "collector/base/buf.h"
#include "collector/base/problem.h"

struct fp_site_metrics;

/* Makes one with everything at zero and one reference; NULL when out of memory. The name, "" for
 * requests without a site, is copied. */
struct fp_site_metrics *fp_site_metrics_create(struct fp_str name) FP_MUST_CHECK;

/* One more holder. One holder less: the last one logs what is pending and frees. NULL is fine, here
 * and below, and counts nothing. */
struct fp_site_metrics *fp_site_metrics_ref(struct fp_site_metrics *metrics);
void fp_site_metrics_unref(struct fp_site_metrics *metrics);

/* Counts uploads that are durable. */
void fp_site_metrics_accept(struct fp_site_metrics *metrics, uint64_t uploads);

/* Counts a request that is refused, and logs it unless its reason was logged in this minute.
 * now_us: monotonic. */
void fp_site_metrics_refuse(struct fp_site_metrics *metrics, const struct fp_problem *problem,
                            int64_t now_us);

enum fp_pending {
    FP_PENDING_DUE, /* whose reason was not logged in this minute */
    FP_PENDING_ALL, /* at the end */
};

/* Logs refusals that were counted and not logged. */
void fp_site_metrics_log(struct fp_site_metrics *metrics, enum fp_pending pending, int64_t now_us);

/* Append the site's series of fleetprof_uploads_accepted_total, fleetprof_uploads_refused_total and
 * fleetprof_last_upload_timestamp_seconds. */
void fp_site_metrics_render_accepted(const struct fp_site_metrics *metrics, struct fp_buf *out);
void fp_site_metrics_render_refused(const struct fp_site_metrics *metrics, struct fp_buf *out);
void fp_site_metrics_render_latest(const struct fp_site_metrics *metrics, struct fp_buf *out);

#endif
