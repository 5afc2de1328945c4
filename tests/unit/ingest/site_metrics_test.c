/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Site metrics: each refusal is counted once, and the log stays bounded however many come.
 */
#include "tests/unit/unit.h"

#include "collector/ingest/site_metrics.c"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define S FP_US_PER_S
#define START (1000 * S)

static struct fp_site_metrics *metrics;
static int log_fd;
static int kept_stderr;

/* The log goes into a file of the test's own. */
static int set_up(void **state)
{
    (void)state;
    metrics = fp_site_metrics_create((struct fp_str){"shopXYZ", 4});
    log_fd = memfd_create("log", MFD_CLOEXEC);
    kept_stderr = dup(STDERR_FILENO);
    return metrics == NULL || log_fd < 0 || dup2(log_fd, STDERR_FILENO) < 0;
}

static void restore_stderr(void)
{
    dup2(kept_stderr, STDERR_FILENO);
}

static int tear_down(void **state)
{
    (void)state;
    fp_site_metrics_unref(metrics);
    restore_stderr();
    close(kept_stderr);
    close(log_fd);
    return 0;
}

static char text[1 << 16];

/* Returns the text logged since the last call. */
static const char *logged(void)
{
    ssize_t len = pread(log_fd, text, sizeof(text) - 1, 0);
    text[len > 0 ? len : 0] = '\0';
    assert_int_equal(ftruncate(log_fd, 0), 0);
    lseek(log_fd, 0, SEEK_SET);
    return text;
}

static size_t count_lines(const char *lines)
{
    size_t count = 0;
    for (; *lines != '\0'; lines++)
        count += *lines == '\n';
    return count;
}

static void refuse(enum fp_refusal reason, const char *detail, const char *evidence, int64_t now_us)
{
    struct fp_problem problem;
    fp_problem_refuse(&problem, reason, "%s", detail);
    fp_problem_show(&problem, fp_str_of(evidence), FP_EVIDENCE_LEN);
    fp_site_metrics_refuse(metrics, &problem, now_us);
}

static void assert_logged(const char *words)
{
    const char *lines = logged();
    if (strstr(lines, words) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", words, lines);
    assert_int_equal(count_lines(lines), 1);
}

static void the_first_of_a_reason_is_logged_at_once(void **state)
{
    (void)state;
    refuse(FP_REFUSAL_ORIGIN, "not listed", "http://a.example", START);
    assert_logged("level=warn msg=\"uploads refused\" site=shop reason=origin status=403 count=1 "
                  "detail=\"not listed\" latest=http://a.example\n");
    refuse(FP_REFUSAL_NOT_JSON, "not JSON", "", START + 1);
    assert_logged("reason=not_json status=400 count=1 detail=\"not JSON\"\n");
}

static void later_ones_are_one_line_per_minute_with_the_latest_detail(void **state)
{
    (void)state;
    refuse(FP_REFUSAL_ORIGIN, "first", "", START);
    (void)logged();
    for (int i = 0; i < 99999; i++)
        refuse(FP_REFUSAL_ORIGIN, i % 2 == 0 ? "even" : "odd", "", START + i);
    fp_site_metrics_log(metrics, FP_PENDING_DUE, START + 60 * S - 1);
    assert_string_equal(logged(), "");
    fp_site_metrics_log(metrics, FP_PENDING_DUE, START + 60 * S);
    assert_logged("reason=origin status=403 count=99999 detail=even\n");
    fp_site_metrics_log(metrics, FP_PENDING_DUE, START + 600 * S);
    assert_string_equal(logged(), "");
    refuse(FP_REFUSAL_ORIGIN, "again", "", START + 120 * S);
    assert_logged("count=1 detail=again\n");
}

static void a_refusal_itself_tells_of_those_before_once_their_minute_is_over(void **state)
{
    (void)state;
    refuse(FP_REFUSAL_ORIGIN, "1", "", START);
    refuse(FP_REFUSAL_ORIGIN, "2", "", START + 1);
    (void)logged();
    refuse(FP_REFUSAL_ORIGIN, "3", "", START + 60 * S);
    assert_logged("count=2 detail=3\n");
}

static void the_end_leaves_nothing_pending(void **state)
{
    (void)state;
    for (enum fp_refusal reason = 0; reason < FP_REFUSAL_COUNT; reason++)
        for (int i = 0; i < 3; i++)
            refuse(reason, "d", "", START);
    assert_int_equal(count_lines(logged()), FP_REFUSAL_COUNT);
    struct fp_site_metrics *other = fp_site_metrics_ref(metrics);
    fp_site_metrics_unref(other);
    assert_string_equal(logged(), "");
    fp_site_metrics_unref(metrics);
    const char *lines = logged();
    assert_int_equal(count_lines(lines), FP_REFUSAL_COUNT);
    assert_non_null(strstr(lines, "reason=memory status=503 count=2"));
    metrics = fp_site_metrics_create(FP_STR(""));
}

static void text_of_a_request_is_escaped_and_cut(void **state)
{
    (void)state;
    char evil[300];
    memset(evil, 'x', sizeof(evil));
    memcpy(evil, "\" level=error\n\x1b[31m", 19);
    evil[sizeof(evil) - 1] = '\0';
    refuse(FP_REFUSAL_ORIGIN, "d", evil, START);
    const char *lines = logged();
    assert_int_equal(count_lines(lines), 1);
    assert_non_null(strstr(lines, "latest=\"\\\" level=error\\n\\x1b[31mxxx"));
    assert_non_null(strstr(lines, "...\"\n"));
    assert_true(strlen(lines) < 250);
}

static void a_part_of_a_key_is_shown(void **state)
{
    (void)state;
    struct fp_problem problem;
    fp_problem_refuse(&problem, FP_REFUSAL_UNKNOWN_KEY, "d");
    fp_problem_show(&problem, FP_STR("pk_secret"), 4);
    assert_string_equal(problem.evidence, "pk_s...");
    fp_problem_show(&problem, FP_STR("p"), 0);
    assert_string_equal(problem.evidence, "...");
}

static void refuse_records(uint64_t not_json, uint64_t entries, const char *place)
{
    struct fp_refused_records refused = {
        .count = not_json + entries,
        .by_reason =
            {[FP_RECORD_REFUSAL_NOT_JSON] = not_json, [FP_RECORD_REFUSAL_OTHER_ENTRY] = entries},
        .format = FP_UPLOAD_SPEED_TRACER,
        .reason = FP_RECORD_REFUSAL_NOT_JSON,
    };
    snprintf(refused.place, sizeof(refused.place), "%s", place);
    fp_site_metrics_refuse_records(metrics, &refused);
}

static void refused_records_share_one_line_a_minute(void **state)
{
    (void)state;
    refuse_records(0, 0, "");
    fp_site_metrics_log(metrics, FP_PENDING_DUE, START);
    assert_string_equal(logged(), "");
    refuse_records(1, 0, "byte 7");
    refuse_records(2, 3, "byte 9");
    fp_site_metrics_log(metrics, FP_PENDING_DUE, START);
    assert_logged("level=info msg=\"records refused\" site=shop records=6 requests=2 "
                  "reasons=\"not_json:3 other_entry:3\" format=speed-tracer "
                  "reason=not_json place=\"byte 9\"");
    refuse_records(1, 0, "byte 1");
    fp_site_metrics_log(metrics, FP_PENDING_DUE, START + 59 * S);
    assert_string_equal(logged(), "");
    fp_site_metrics_log(metrics, FP_PENDING_DUE, START + 60 * S);
    assert_logged("records=1 requests=1 reasons=not_json:1 ");
    refuse_records(1, 0, "");
    fp_site_metrics_log(metrics, FP_PENDING_ALL, START + 61 * S);
    assert_logged("place=\"\"");
    fp_site_metrics_refuse_records(NULL, &(struct fp_refused_records){.count = 1});
}

static void the_line_of_all_reasons_fits(void **state)
{
    (void)state;
    struct fp_refused_records refused = {.count = UINT64_MAX};
    memset(refused.by_reason, 0xff, sizeof(refused.by_reason));
    memset(refused.place, 'p', sizeof(refused.place) - 1);
    fp_site_metrics_refuse_records(metrics, &refused);
    fp_site_metrics_log(metrics, FP_PENDING_DUE, START);
    assert_logged("ppp\n");
}

static void refused_records_are_counted_by_reason(void **state)
{
    (void)state;
    struct fp_buf buf;
    fp_buf_init(&buf, 1 << 16);
    refuse_records(2, 3, "");
    refuse_records(1, 0, "");
    fp_site_metrics_render_records(metrics, &buf);
    fp_buf_add(&buf, "", 1);
    const char *page = (const char *)buf.data;
    assert_non_null(
        strstr(page, "fleetprof_records_refused_total{site=\"shop\",reason=\"not_json\"} 3\n"));
    assert_non_null(
        strstr(page, "fleetprof_records_refused_total{site=\"shop\",reason=\"other_entry\"} 3\n"));
    assert_int_equal(count_lines(page), FP_RECORD_REFUSAL_COUNT - 1);
    fp_buf_release(&buf);
}

static void counts_are_those_of_the_site(void **state)
{
    (void)state;
    struct fp_buf buf;
    fp_buf_init(&buf, 1 << 16);
    fp_site_metrics_accept(metrics, 3);
    fp_site_metrics_accept(NULL, 5);
    refuse(FP_REFUSAL_GPC, "d", "", START);
    refuse(FP_REFUSAL_GPC, "d", "", START);
    fp_site_metrics_render_accepted(metrics, &buf);
    fp_site_metrics_render_refused(metrics, &buf);
    fp_site_metrics_decode(metrics, 1200000);
    fp_site_metrics_decode(metrics, 1);
    fp_site_metrics_decode(NULL, 1);
    fp_site_metrics_render_decoding(metrics, &buf);
    fp_site_metrics_render_latest(metrics, &buf);
    fp_buf_add(&buf, "", 1);
    const char *page = (const char *)buf.data;
    assert_non_null(strstr(page, "fleetprof_uploads_accepted_total{site=\"shop\"} 3\n"));
    assert_non_null(
        strstr(page, "fleetprof_uploads_refused_total{site=\"shop\",reason=\"gpc\"} 2\n"));
    assert_non_null(
        strstr(page, "fleetprof_uploads_refused_total{site=\"shop\",reason=\"origin\"} 0\n"));
    assert_non_null(strstr(page, "fleetprof_decode_seconds_total{site=\"shop\"} 1.200001\n"));
    const char *latest = strstr(page, "fleetprof_last_upload_timestamp_seconds{site=\"shop\"} ");
    assert_non_null(latest);
    double age = (double)fp_clock_real_us() / 1e6 - strtod(strchr(latest, ' '), NULL);
    assert_true(age >= 0 && age < 60);
    assert_int_equal(count_lines(page), FP_REFUSAL_COUNT + 3);
    fp_buf_release(&buf);
}

int main(void)
{
#define WITH_SITE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_SITE(the_first_of_a_reason_is_logged_at_once),
        WITH_SITE(later_ones_are_one_line_per_minute_with_the_latest_detail),
        WITH_SITE(a_refusal_itself_tells_of_those_before_once_their_minute_is_over),
        WITH_SITE(the_end_leaves_nothing_pending),
        WITH_SITE(text_of_a_request_is_escaped_and_cut),
        WITH_SITE(a_part_of_a_key_is_shown),
        WITH_SITE(refused_records_share_one_line_a_minute),
        WITH_SITE(the_line_of_all_reasons_fits),
        WITH_SITE(refused_records_are_counted_by_reason),
        WITH_SITE(counts_are_those_of_the_site),
    };
    return cmocka_run_group_tests_name("site_metrics", tests, NULL, NULL);
}
