/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics: one cell of relaxed atomics per metric.
 */
#include "collector/base/metrics.h"

#include "collector/base/clock.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

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
    _Atomic int64_t value; /* for a histogram its sum in µs, for an age its start */
    _Atomic uint64_t buckets[BUCKET_COUNT]; /* for a histogram; not cumulative */
};

struct fp_metric_set {
    struct fp_metric_set *next;
    const struct fp_metric_table *table;
    struct cell cells[];
};

struct fp_metrics {
    struct fp_metric_set *first;
};

struct fp_metrics *fp_metrics_create(void)
{
    return calloc(1, sizeof(struct fp_metrics));
}

void fp_metrics_free(struct fp_metrics *metrics)
{
    while (metrics != NULL && metrics->first != NULL) {
        struct fp_metric_set *set = metrics->first;
        metrics->first = set->next;
        free(set);
    }
    free(metrics);
}

struct fp_metric_set *fp_metrics_join(struct fp_metrics *metrics,
                                      const struct fp_metric_table *table)
{
    struct fp_metric_set **end = &metrics->first;
    for (; *end != NULL; end = &(*end)->next)
        if ((*end)->table == table)
            return *end;
    struct fp_metric_set *set = calloc(1, sizeof(*set) + table->count * sizeof(set->cells[0]));
    if (set != NULL)
        set->table = table;
    *end = set;
    return set;
}

void fp_metrics_shift(struct fp_metric_set *set, size_t metric, int64_t amount)
{
    atomic_fetch_add_explicit(&set->cells[metric].value, amount, memory_order_relaxed);
}

void fp_metrics_add(struct fp_metric_set *set, size_t metric, uint64_t amount)
{
    fp_metrics_shift(set, metric, (int64_t)amount);
}

void fp_metrics_set(struct fp_metric_set *set, size_t metric, int64_t value)
{
    atomic_store_explicit(&set->cells[metric].value, value, memory_order_relaxed);
}

void fp_metrics_set_since(struct fp_metric_set *set, size_t metric, int64_t since_us)
{
    fp_metrics_set(set, metric, since_us);
}

void fp_metrics_observe_us(struct fp_metric_set *set, size_t metric, int64_t duration_us)
{
    struct cell *cell = &set->cells[metric];
    size_t bucket = 0;
    while (duration_us > histogram_buckets[bucket].upper_us)
        bucket++;
    atomic_fetch_add_explicit(&cell->buckets[bucket], 1, memory_order_relaxed);
    fp_metrics_shift(set, metric, duration_us);
}

int64_t fp_metrics_get(const struct fp_metric_set *set, size_t metric)
{
    return atomic_load_explicit(&set->cells[metric].value, memory_order_relaxed);
}

static int64_t age_s(int64_t since_us)
{
    int64_t age_us = since_us > 0 ? fp_clock_real_us() - since_us : 0;
    return age_us > 0 ? age_us / FP_US_PER_S : 0;
}

static void render_value(const struct fp_metric *about, int64_t value, struct fp_buf *out)
{
    bool is_labelled = about->labels[0] != '\0';
    bool is_time = about->type == FP_METRIC_TIME_GAUGE || about->type == FP_METRIC_TIME_COUNTER;
    fp_buf_addf(out, "%s%s%s%s ", about->name, is_labelled ? "{" : "", about->labels,
                is_labelled ? "}" : "");
    if (is_time)
        fp_buf_addf(out, "%" PRId64 ".%06" PRId64 "\n", value / FP_US_PER_S, value % FP_US_PER_S);
    else
        fp_buf_addf(out, "%" PRId64 "\n", about->type == FP_METRIC_AGE ? age_s(value) : value);
}

static void render_histogram(const struct fp_metric *about, const struct cell *cell,
                             struct fp_buf *out)
{
    uint64_t count = 0;
    for (size_t i = 0; i < BUCKET_COUNT; i++) {
        count += atomic_load_explicit(&cell->buckets[i], memory_order_relaxed);
        fp_buf_addf(out, "%s_bucket{le=\"%s\"} %" PRIu64 "\n", about->name,
                    histogram_buckets[i].label, count);
    }
    int64_t sum_us = atomic_load_explicit(&cell->value, memory_order_relaxed);
    fp_buf_addf(out, "%s_sum %.6f\n", about->name, (double)sum_us / 1e6);
    fp_buf_addf(out, "%s_count %" PRIu64 "\n", about->name, count);
}

void fp_metrics_render_heading(const struct fp_metric *metric, struct fp_buf *out)
{
    static const char *const type_names[] = {
        [FP_METRIC_COUNTER] = "counter",     [FP_METRIC_GAUGE] = "gauge",
        [FP_METRIC_HISTOGRAM] = "histogram", [FP_METRIC_AGE] = "gauge",
        [FP_METRIC_TIME_GAUGE] = "gauge",    [FP_METRIC_TIME_COUNTER] = "counter",
    };
    fp_buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help, metric->name,
                type_names[metric->type]);
}

static void render_set(const struct fp_metric_set *set, struct fp_buf *out)
{
    const struct fp_metric *metrics = set->table->metrics;
    for (size_t i = 0; i < set->table->count; i++) {
        if (i == 0 || strcmp(metrics[i].name, metrics[i - 1].name) != 0)
            fp_metrics_render_heading(&metrics[i], out);
        if (metrics[i].type == FP_METRIC_HISTOGRAM)
            render_histogram(&metrics[i], &set->cells[i], out);
        else
            render_value(&metrics[i], fp_metrics_get(set, i), out);
    }
}

void fp_metrics_render(const struct fp_metrics *metrics, struct fp_buf *out)
{
    for (struct fp_metric_set *set = metrics->first; set != NULL; set = set->next) {
        if (set->table->refresh != NULL)
            set->table->refresh(set);
        render_set(set, out);
    }
}
