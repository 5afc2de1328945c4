/*
 * Metrics: a registry of counters, gauges and histograms, rendered as Prometheus text (0.0.4).
 *
 * A registry is made once and handed to whoever counts; there is no global one. Each room declares
 * its own metrics in a file named metrics.h, as a list and an enum, and joins the registry with
 * them. Updates are relaxed atomics: any thread, any time. Rendering too.
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
    const char *name;   /* whole, as it is rendered */
    const char *labels; /* one pair or more, "" for none */
    const char *help;   /* of the first metric of a name; these stand together */
};

struct fp_metric_set;

/* What a room declares. */
struct fp_metric_table {
    const struct fp_metric *metrics;
    size_t count;
    /* Sets what is only known when somebody asks; called before each rendering. NULL: nothing. */
    void (*refresh)(struct fp_metric_set *set);
};

/* For a list X(id, TYPE, name, labels, help): members of a room's enum, elements of its table. */
#define FP_METRIC_ID(id, type, name, labels, help) id,
#define FP_METRIC_ROW(id, type, name, labels, help) {FP_METRIC_##type, name, labels, help},

struct fp_metrics;

/* Makes an empty registry; NULL when out of memory. The caller releases it, with all its sets. */
struct fp_metrics *fp_metrics_create(void) FP_MUST_CHECK;
void fp_metrics_free(struct fp_metrics *metrics);

/*
 * Adds a table, everything at zero, or finds it. The set is the registry's. NULL when out of
 * memory. Before the first rendering, one thread at a time.
 */
struct fp_metric_set *fp_metrics_join(struct fp_metrics *metrics,
                                      const struct fp_metric_table *table) FP_MUST_CHECK;

/* Adds to a counter. In all that follows, `metric` is of the enum of the set's room. */
void fp_metrics_add(struct fp_metric_set *set, size_t metric, uint64_t amount);

/* Sets a gauge; fp_metrics_shift adds to one (either sign). */
void fp_metrics_set(struct fp_metric_set *set, size_t metric, int64_t value);
void fp_metrics_shift(struct fp_metric_set *set, size_t metric, int64_t amount);

/* Sets an age: seconds since this moment of the real clock are shown; 0 are while it is 0. */
void fp_metrics_set_since(struct fp_metric_set *set, size_t metric, int64_t since_us);

/* Notes one duration in a histogram of seconds (buckets 1 ms … 10 s). */
void fp_metrics_observe_us(struct fp_metric_set *set, size_t metric, int64_t duration_us);

/* The value of a counter or gauge. */
int64_t fp_metrics_get(const struct fp_metric_set *set, size_t metric);

/* Appends the whole registry as Prometheus text. */
void fp_metrics_render(const struct fp_metrics *metrics, struct fp_buf *out);

/* Appends the two lines that stand once above all metrics of a name. */
void fp_metrics_render_heading(const struct fp_metric *metric, struct fp_buf *out);

#endif
