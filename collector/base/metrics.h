/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics: a registry of counters, gauges and histograms, rendered as Prometheus text (0.0.4).
 *
 * The main program makes one registry and passes it to all users; there is no global one. Each
 * component declares its own metrics in a file named metrics.h, as a list and an enum, and adds
 * them to the registry. Updates are relaxed atomics. Any thread may update and render at any time.
 */
#ifndef FP_BASE_METRICS_H
#define FP_BASE_METRICS_H

#include "collector/base/base.h"
#include "collector/base/buf.h"

enum fp_metric_type {
    FP_METRIC_COUNTER,
    FP_METRIC_GAUGE,
    FP_METRIC_HISTOGRAM,    /* of durations in µs */
    FP_METRIC_AGE,          /* a gauge that grows by itself, see fp_metrics_set_since */
    FP_METRIC_TIME_GAUGE,   /* µs, rendered as seconds */
    FP_METRIC_TIME_COUNTER, /* µs, rendered as seconds */
};

struct fp_metric {
    enum fp_metric_type type;
    const char *name;   /* the complete name, as rendered */
    const char *labels; /* one or more pairs, "" for none */
    const char *help;   /* plain; of the first metric of a name; metrics of one name are adjacent */
};

struct fp_metric_set;

/* The metrics that a component declares. */
struct fp_metric_table {
    const struct fp_metric *metrics;
    size_t count;
    /* Sets the values that are only read on demand; called before each rendering. May be NULL. */
    void (*refresh)(struct fp_metric_set *set);
};

/*
 * Expand a list X(id, TYPE, name, labels, help, more) to the members of a component's enum and the
 * elements of its table. tools/reference.mjs writes the lists into docs/metrics.md, which says
 * `more` beside the help: Markdown, with links as from docs/.
 */
#define FP_METRIC_ID(id, type, name, labels, help, more) id,
#define FP_METRIC_ROW(id, type, name, labels, help, more) {FP_METRIC_##type, name, labels, help},

struct fp_metrics;

/* Makes an empty registry. Returns NULL when out of memory. The caller releases it, with all its
 * sets. */
struct fp_metrics *fp_metrics_create(void) FP_MUST_CHECK;
void fp_metrics_free(struct fp_metrics *metrics);

/*
 * Adds a table with all values at zero, or finds it if it was added before. The registry owns the
 * set. Returns NULL when out of memory. Call it before the first rendering, from one thread at a
 * time.
 */
struct fp_metric_set *fp_metrics_join(struct fp_metrics *metrics,
                                      const struct fp_metric_table *table) FP_MUST_CHECK;

/* Adds to a counter. In this and the following functions, `metric` is a member of the enum of the
 * set's component. */
void fp_metrics_add(struct fp_metric_set *set, size_t metric, uint64_t amount);

/* Sets a gauge; fp_metrics_shift adds to it (either sign). */
void fp_metrics_set(struct fp_metric_set *set, size_t metric, int64_t value);
void fp_metrics_shift(struct fp_metric_set *set, size_t metric, int64_t amount);

/* Sets the start of an age, by the real clock. The rendered value is the seconds since then; 0
 * while the start is 0. */
void fp_metrics_set_since(struct fp_metric_set *set, size_t metric, int64_t since_us);

/* Records one duration in a histogram of seconds (buckets 1 ms … 10 s). */
void fp_metrics_observe_us(struct fp_metric_set *set, size_t metric, int64_t duration_us);

/* Returns the value of a counter or gauge. */
int64_t fp_metrics_get(const struct fp_metric_set *set, size_t metric);

/* Appends the whole registry as Prometheus text. */
void fp_metrics_render(const struct fp_metrics *metrics, struct fp_buf *out);

/* Appends the two heading lines that precede all metrics of a name. */
void fp_metrics_render_heading(const struct fp_metric *metric, struct fp_buf *out);

#endif
