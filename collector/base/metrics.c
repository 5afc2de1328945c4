/*
 * Metrics: one cell of relaxed atomics a metric.
 */
#include "collector/base/metrics.h"

#include "collector/base/clock.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

enum metric_type { COUNTER, GAUGE, HISTOGRAM, AGE };

static const struct metric_description {
    enum metric_type type;
    const char *name;
    const char *labels;
    const char *help;
} descriptions[FP_METRIC_COUNT] = {
#define DESCRIPTION(id, type, name, labels, help) {type, name, labels, help},
    FP_METRICS(DESCRIPTION)
#undef DESCRIPTION
};

static const struct {
    int64_t upper_us;
    const char *label;
} histogram_buckets[] = {
    {1000, "0.001"},  {2500, "0.0025"}, {5000, "0.005"},  {10000, "0.01"},     {25000, "0.025"},
    {50000, "0.05"},  {100000, "0.1"},  {250000, "0.25"}, {500000, "0.5"},     {1000000, "1"},
    {2500000, "2.5"}, {5000000, "5"},   {10000000, "10"}, {INT64_MAX, "+Inf"},
};

enum { BUCKET_COUNT = sizeof(histogram_buckets) / sizeof(histogram_buckets[0]) };

struct cell {
    _Atomic int64_t value; /* a histogram's is its sum in µs, an age's its beginning */
    _Atomic uint64_t buckets[BUCKET_COUNT]; /* a histogram's, not cumulative */
};

struct fp_metrics {
    struct cell cells[FP_METRIC_COUNT];
};

struct fp_metrics *fp_metrics_create(void)
{
    return calloc(1, sizeof(struct fp_metrics));
}

void fp_metrics_free(struct fp_metrics *metrics)
{
    free(metrics);
}

void fp_metrics_shift(struct fp_metrics *metrics, enum fp_metric metric, int64_t amount)
{
    atomic_fetch_add_explicit(&metrics->cells[metric].value, amount, memory_order_relaxed);
}

void fp_metrics_add(struct fp_metrics *metrics, enum fp_metric metric, uint64_t amount)
{
    fp_metrics_shift(metrics, metric, (int64_t)amount);
}

void fp_metrics_set(struct fp_metrics *metrics, enum fp_metric metric, int64_t value)
{
    atomic_store_explicit(&metrics->cells[metric].value, value, memory_order_relaxed);
}

void fp_metrics_set_since(struct fp_metrics *metrics, enum fp_metric metric, int64_t since_us)
{
    fp_metrics_set(metrics, metric, since_us);
}

void fp_metrics_observe_us(struct fp_metrics *metrics, enum fp_metric metric, int64_t duration_us)
{
    struct cell *cell = &metrics->cells[metric];
    size_t bucket = 0;
    while (duration_us > histogram_buckets[bucket].upper_us)
        bucket++;
    atomic_fetch_add_explicit(&cell->buckets[bucket], 1, memory_order_relaxed);
    fp_metrics_shift(metrics, metric, duration_us);
}

int64_t fp_metrics_get(const struct fp_metrics *metrics, enum fp_metric metric)
{
    return atomic_load_explicit(&metrics->cells[metric].value, memory_order_relaxed);
}

static int64_t age_s(int64_t since_us)
{
    int64_t age_us = since_us > 0 ? fp_clock_real_us() - since_us : 0;
    return age_us > 0 ? age_us / FP_US_PER_S : 0;
}

static void render_value(const struct fp_metrics *metrics, enum fp_metric metric,
                         struct fp_buf *out)
{
    const struct metric_description *about = &descriptions[metric];
    bool labelled = about->labels[0] != '\0';
    int64_t value = fp_metrics_get(metrics, metric);
    fp_buf_addf(out, "fleetprof_%s%s%s%s %" PRId64 "\n", about->name, labelled ? "{" : "",
                about->labels, labelled ? "}" : "", about->type == AGE ? age_s(value) : value);
}

static void render_histogram(const struct fp_metrics *metrics, enum fp_metric metric,
                             struct fp_buf *out)
{
    const struct cell *cell = &metrics->cells[metric];
    const char *name = descriptions[metric].name;
    uint64_t count = 0;
    for (size_t i = 0; i < BUCKET_COUNT; i++) {
        count += atomic_load_explicit(&cell->buckets[i], memory_order_relaxed);
        fp_buf_addf(out, "fleetprof_%s_bucket{le=\"%s\"} %" PRIu64 "\n", name,
                    histogram_buckets[i].label, count);
    }
    int64_t sum_us = fp_metrics_get(metrics, metric);
    fp_buf_addf(out, "fleetprof_%s_sum %.6f\n", name, (double)sum_us / 1e6);
    fp_buf_addf(out, "fleetprof_%s_count %" PRIu64 "\n", name, count);
}

/* Help and type stand once above all metrics of a name. */
static void render_heading(enum fp_metric metric, struct fp_buf *out)
{
    static const char *const type_names[] = {"counter", "gauge", "histogram", "gauge"};
    const struct metric_description *about = &descriptions[metric];
    if (metric > 0 && strcmp(about->name, descriptions[metric - 1].name) == 0)
        return;
    fp_buf_addf(out, "# HELP fleetprof_%s %s\n# TYPE fleetprof_%s %s\n", about->name, about->help,
                about->name, type_names[about->type]);
}

void fp_metrics_render(const struct fp_metrics *metrics, struct fp_buf *out)
{
    for (enum fp_metric metric = 0; metric < FP_METRIC_COUNT; metric++) {
        render_heading(metric, out);
        if (descriptions[metric].type == HISTOGRAM)
            render_histogram(metrics, metric, out);
        else
            render_value(metrics, metric, out);
    }
}
