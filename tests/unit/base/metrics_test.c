/*
 * Metrics: counted from any thread, rendered as Prometheus reads them.
 */
#include "test.h"

#include "collector/base/metrics.c"

#include <pthread.h>

static char *rendered(const struct fp_metrics *metrics, struct fp_buf *buf)
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
    struct fp_metrics *metrics = fp_metrics_create();
    fp_metrics_add(metrics, FP_METRIC_UPLOADS_REFUSED, 3);
    fp_metrics_add(metrics, FP_METRIC_UPLOADS_REFUSED, 2);
    fp_metrics_set(metrics, FP_METRIC_SPOOL_BYTES, 100);
    fp_metrics_shift(metrics, FP_METRIC_SPOOL_BYTES, -40);
    assert_int_equal(fp_metrics_get(metrics, FP_METRIC_UPLOADS_REFUSED), 5);
    struct fp_buf buf;
    const char *text = rendered(metrics, &buf);
    assert_non_null(strstr(text, "\nfleetprof_uploads_total{status=\"refused\"} 5\n"));
    assert_non_null(
        strstr(text, "\n# TYPE fleetprof_spool_bytes gauge\nfleetprof_spool_bytes 60\n"));
    fp_buf_release(&buf);
    fp_metrics_free(metrics);
}

static void an_age_grows_by_itself(void **state)
{
    (void)state;
    static const struct {
        int64_t ago_us;
        const char *shown;
    } cases[] = {{90 * FP_US_PER_S + 1000, "90"}, {-FP_US_PER_HOUR, "0"}};
    struct fp_metrics *metrics = fp_metrics_create();
    char line[128];
    struct fp_buf buf;
    assert_non_null(strstr(rendered(metrics, &buf), "backlog_age_seconds gauge\n"
                                                    "fleetprof_spool_backlog_age_seconds 0\n"));
    fp_buf_release(&buf);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fp_metrics_set_since(metrics, FP_METRIC_SPOOL_BACKLOG_AGE_SECONDS,
                             fp_clock_real_us() - cases[i].ago_us);
        snprintf(line, sizeof(line), "\nfleetprof_spool_backlog_age_seconds %s\n", cases[i].shown);
        assert_non_null(strstr(rendered(metrics, &buf), line));
        fp_buf_release(&buf);
    }
    fp_metrics_free(metrics);
}

static void help_and_type_stand_once_above_a_name(void **state)
{
    (void)state;
    struct fp_metrics *metrics = fp_metrics_create();
    struct fp_buf buf;
    const char *text = rendered(metrics, &buf);
    const char *first = strstr(text, "# TYPE fleetprof_uploads_total counter\n");
    assert_non_null(first);
    assert_null(strstr(first + 1, "# TYPE fleetprof_uploads_total "));
    fp_buf_release(&buf);
    fp_metrics_free(metrics);
}

static void histogram_buckets_are_cumulative(void **state)
{
    (void)state;
    struct fp_metrics *metrics = fp_metrics_create();
    const int64_t durations_us[] = {0, 1000, 1001, 2500000, 10000001};
    for (size_t i = 0; i < 5; i++)
        fp_metrics_observe_us(metrics, FP_METRIC_ACK_SECONDS, durations_us[i]);
    struct fp_buf buf;
    const char *text = rendered(metrics, &buf);
    assert_non_null(strstr(text, "fleetprof_ack_seconds_bucket{le=\"0.001\"} 2\n"));
    assert_non_null(strstr(text, "fleetprof_ack_seconds_bucket{le=\"0.0025\"} 3\n"));
    assert_non_null(strstr(text, "fleetprof_ack_seconds_bucket{le=\"2.5\"} 4\n"));
    assert_non_null(strstr(text, "fleetprof_ack_seconds_bucket{le=\"10\"} 4\n"));
    assert_non_null(strstr(text, "fleetprof_ack_seconds_bucket{le=\"+Inf\"} 5\n"));
    assert_non_null(strstr(text, "fleetprof_ack_seconds_sum 12.502002\n"));
    assert_non_null(strstr(text, "fleetprof_ack_seconds_count 5\n"));
    fp_buf_release(&buf);
    fp_metrics_free(metrics);
}

static void *add_many(void *metrics)
{
    for (int i = 0; i < 10 * 1000; i++)
        fp_metrics_add(metrics, FP_METRIC_BODY_BYTES, 1);
    return NULL;
}

static void two_threads_lose_no_count(void **state)
{
    (void)state;
    struct fp_metrics *metrics = fp_metrics_create();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, metrics), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(fp_metrics_get(metrics, FP_METRIC_BODY_BYTES), 20 * 1000);
    fp_metrics_free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_and_gauges_show_their_value),
        cmocka_unit_test(an_age_grows_by_itself),
        cmocka_unit_test(help_and_type_stand_once_above_a_name),
        cmocka_unit_test(histogram_buckets_are_cumulative),
        cmocka_unit_test(two_threads_lose_no_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
