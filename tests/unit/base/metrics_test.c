/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics: counted from any thread, rendered as Prometheus reads them.
 */
#include "test.h"

#include "collector/base/metrics.c"

#include <pthread.h>

#define METRICS(X)                                                                                 \
    X(REFUSED, COUNTER, "fleetprof_uploads_total", "status=\"refused\"", "Uploads", "")            \
    X(DEFERRED, COUNTER, "fleetprof_uploads_total", "status=\"deferred\"", "", "")                 \
    X(BYTES, GAUGE, "fleetprof_spool_bytes", "", "Bytes", "")                                      \
    X(BACKLOG_AGE, AGE, "fleetprof_backlog_age_seconds", "", "Age", "")                            \
    X(LAST, TIME_GAUGE, "fleetprof_last_timestamp_seconds", "", "When", "")                        \
    X(CPU, TIME_COUNTER, "process_cpu_seconds_total", "", "Time", "")                              \
    X(SECONDS, HISTOGRAM, "fleetprof_ack_seconds", "", "Durations", "")

enum { METRICS(FP_METRIC_ID) COUNT };

static const struct fp_metric rows[] = {METRICS(FP_METRIC_ROW)};
static const struct fp_metric_table table = {rows, COUNT, NULL};

static struct fp_metrics *metrics;
static struct fp_metric_set *set;

static int make(void **state)
{
    (void)state;
    metrics = fp_metrics_create();
    set = metrics != NULL ? fp_metrics_join(metrics, &table) : NULL;
    return set == NULL;
}

static int drop(void **state)
{
    (void)state;
    fp_metrics_free(metrics);
    return 0;
}

static char *rendered(struct fp_buf *buf)
{
    fp_buf_init(buf, 1 << 20);
    fp_metrics_render(metrics, buf);
    fp_buf_add(buf, "", 1);
    assert_false(buf->failed);
    return (char *)buf->data;
}

static void counters_and_gauges_show_their_value(void **state)
{
    (void)state;
    fp_metrics_add(set, REFUSED, 3);
    fp_metrics_add(set, REFUSED, 2);
    fp_metrics_set(set, BYTES, 100);
    fp_metrics_shift(set, BYTES, -40);
    assert_int_equal(fp_metrics_get(set, REFUSED), 5);
    struct fp_buf buf;
    const char *text = rendered(&buf);
    assert_non_null(strstr(text, "\nfleetprof_uploads_total{status=\"refused\"} 5\n"));
    assert_non_null(
        strstr(text, "\n# TYPE fleetprof_spool_bytes gauge\nfleetprof_spool_bytes 60\n"));
    fp_buf_release(&buf);
}

static void an_age_grows_by_itself(void **state)
{
    (void)state;
    static const struct {
        int64_t ago_us;
        const char *shown;
    } cases[] = {{90 * FP_US_PER_S + 1000, "90"}, {-FP_US_PER_HOUR, "0"}};
    char line[128];
    struct fp_buf buf;
    assert_non_null(strstr(rendered(&buf), "backlog_age_seconds gauge\n"
                                           "fleetprof_backlog_age_seconds 0\n"));
    fp_buf_release(&buf);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fp_metrics_set_since(set, BACKLOG_AGE, fp_clock_real_us() - cases[i].ago_us);
        snprintf(line, sizeof(line), "\nfleetprof_backlog_age_seconds %s\n", cases[i].shown);
        assert_non_null(strstr(rendered(&buf), line));
        fp_buf_release(&buf);
    }
}

static void help_and_type_stand_once_above_a_name(void **state)
{
    (void)state;
    struct fp_buf buf;
    const char *text = rendered(&buf);
    const char *first = strstr(text, "# TYPE fleetprof_uploads_total counter\n");
    assert_non_null(first);
    assert_null(strstr(first + 1, "# TYPE fleetprof_uploads_total "));
    fp_buf_release(&buf);
}

static void histogram_buckets_are_cumulative(void **state)
{
    (void)state;
    const int64_t durations_us[] = {0, 1000, 1001, 2500000, 10000001};
    for (size_t i = 0; i < 5; i++)
        fp_metrics_observe_us(set, SECONDS, durations_us[i]);
    struct fp_buf buf;
    const char *text = rendered(&buf);
    assert_non_null(strstr(text, "fleetprof_ack_seconds_bucket{le=\"0.001\"} 2\n"));
    assert_non_null(strstr(text, "fleetprof_ack_seconds_bucket{le=\"0.0025\"} 3\n"));
    assert_non_null(strstr(text, "fleetprof_ack_seconds_bucket{le=\"2.5\"} 4\n"));
    assert_non_null(strstr(text, "fleetprof_ack_seconds_bucket{le=\"10\"} 4\n"));
    assert_non_null(strstr(text, "fleetprof_ack_seconds_bucket{le=\"+Inf\"} 5\n"));
    assert_non_null(strstr(text, "fleetprof_ack_seconds_sum 12.502002\n"));
    assert_non_null(strstr(text, "fleetprof_ack_seconds_count 5\n"));
    fp_buf_release(&buf);
}

/* A duration in each bucket: as long as it may be, and one longer in the next. */
static void each_bucket_ends_at_its_label(void **state)
{
    (void)state;
    static const char *const labels[] = {"0.001", "0.0025", "0.005", "0.01", "0.025",
                                         "0.05",  "0.1",    "0.25",  "0.5",  "1",
                                         "2.5",   "5",      "10",    "+Inf"};
    assert_int_equal(FP_COUNT(labels), BUCKET_COUNT);
    for (size_t i = 0; i + 1 < FP_COUNT(labels); i++) {
        const int64_t upper_us = (int64_t)(strtod(labels[i], NULL) * 1e6 + 0.5);
        fp_metrics_observe_us(set, SECONDS, upper_us);
        fp_metrics_observe_us(set, SECONDS, upper_us + 1);
    }
    struct fp_buf buf;
    const char *text = rendered(&buf);
    for (size_t i = 0; i < FP_COUNT(labels); i++) {
        char line[80];
        const size_t count = i + 1 < FP_COUNT(labels) ? 2 * i + 1 : 2 * i;
        snprintf(line, sizeof(line), "fleetprof_ack_seconds_bucket{le=\"%s\"} %zu\n", labels[i],
                 count);
        if (strstr(text, line) == NULL)
            fail_msg("no %s", line);
    }
    fp_buf_release(&buf);
}

static void *add_many(void *context)
{
    for (int i = 0; i < 10 * 1000; i++)
        fp_metrics_add(context, REFUSED, 1);
    return NULL;
}

static void two_threads_lose_no_count(void **state)
{
    (void)state;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, set), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(fp_metrics_get(set, REFUSED), 20 * 1000);
}

static void times_are_shown_in_seconds(void **state)
{
    (void)state;
    struct fp_buf buf;
    fp_metrics_set(set, LAST, 1795330000000042);
    fp_metrics_set(set, CPU, 7);
    const char *text = rendered(&buf);
    assert_non_null(strstr(text, "gauge\nfleetprof_last_timestamp_seconds 1795330000.000042\n"));
    assert_non_null(strstr(text, "counter\nprocess_cpu_seconds_total 0.000007\n"));
    fp_buf_release(&buf);
}

static void refresh(struct fp_metric_set *refreshed)
{
    fp_metrics_add(refreshed, 0, 1);
}

static void rooms_join_once_each_and_are_rendered_in_their_order(void **state)
{
    (void)state;
    static const struct fp_metric row = {FP_METRIC_COUNTER, "room_asked_total", "", "Asked"};
    static const struct fp_metric_table room = {&row, 1, refresh};
    struct fp_buf buf;
    struct fp_metric_set *joined = fp_metrics_join(metrics, &room);
    assert_non_null(joined);
    assert_ptr_not_equal(joined, set);
    assert_ptr_equal(fp_metrics_join(metrics, &room), joined);
    assert_ptr_equal(fp_metrics_join(metrics, &table), set);
    (void)rendered(&buf);
    fp_buf_release(&buf);
    const char *text = rendered(&buf);
    const char *last = strstr(text, "\nroom_asked_total 2\n");
    assert_non_null(last);
    assert_true(strstr(text, "fleetprof_ack_seconds_count") < last);
    fp_buf_release(&buf);
}

int main(void)
{
#define WITH_SET(test) cmocka_unit_test_setup_teardown(test, make, drop)
    const struct CMUnitTest tests[] = {
        WITH_SET(counters_and_gauges_show_their_value),
        WITH_SET(an_age_grows_by_itself),
        WITH_SET(help_and_type_stand_once_above_a_name),
        WITH_SET(times_are_shown_in_seconds),
        WITH_SET(rooms_join_once_each_and_are_rendered_in_their_order),
        WITH_SET(histogram_buckets_are_cumulative),
        WITH_SET(each_bucket_ends_at_its_label),
        WITH_SET(two_threads_lose_no_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
