/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status: what is wrong in the numbers of collectors, where a test with real ones would have to
 * wait for hours. tests/behaviour/status.test.mjs has the other findings, and checks the names.
 */
#include "tests/unit/unit.h"

#include "cli/doctor/status_judge.c"

#define BUILD "fleetprof_build_info{version=\"0.1.0\",compiler=\"gcc\"} 1\n"
#define STARTED "process_start_time_seconds 1000\n"

/* Judges up to two collectors by their pages. */
static struct fp_status judge(const char *page, const char *other)
{
    struct fp_status status = {.collector_count = other != NULL ? 2 : 1};
    status.collectors = calloc(2, sizeof(*status.collectors));
    assert_non_null(status.collectors);
    for (size_t i = 0; i < status.collector_count; i++) {
        status.collectors[i] = (struct fp_status_collector){
            .address = (char *)(uintptr_t)(i == 0 ? "one" : "two"), .late_us = 10 * FP_US_PER_S};
        fp_scrape_parse(&status.collectors[i].latest, i == 0 ? page : other);
    }
    fp_status_judge(&status);
    return status;
}

static void release(struct fp_status *status)
{
    for (size_t i = 0; i < status->collector_count; i++)
        fp_scrape_release(&status->collectors[i].latest);
    fp_findings_release(&status->findings);
    free(status->collectors);
}

/* Expects exactly one finding, or none (NULL). */
static void expect(const char *page, const char *other, const char *id, const char *seen)
{
    struct fp_status status = judge(page, other);
    assert_int_equal(status.findings.count, id != NULL ? 1 : 0);
    if (id != NULL) {
        assert_string_equal(fp_finding_name(status.findings.items[0].id), id);
        assert_non_null(strstr(status.findings.items[0].seen, seen));
    }
    release(&status);
}

static void finds_what_takes_hours(void **state)
{
    (void)state;
    expect(BUILD STARTED, NULL, NULL, NULL);
    expect("fleetprof_unsealed_age_seconds 7200\n", NULL, NULL, NULL);
    expect("fleetprof_unsealed_age_seconds 10800\n", NULL, "sealing-late", "3.0 h ago");
    expect("fleetprof_uploads_quarantined_total 2\n", NULL, "uploads-quarantined", "2 uploads");
    expect("fleetprof_spool_records_out_of_reach_total 5\n", NULL, "uploads-lost",
           "at most 5 requests");
    expect("fleetprof_spool_damaged_bytes_total 7\nfleetprof_spool_errors_total 0\n", NULL,
           "spool-damaged", "7 bytes");
    expect("fleetprof_spool_errors_total 1\n", NULL, "spool-damaged", "1 failed writes");
    expect("fleetprof_spool_backlog_age_seconds 11\nfleetprof_spool_backlog_records 3\n", NULL,
           "backlog", "11 s; 3 requests");
}

static void says_of_the_database_what_its_collector_says(void **state)
{
    (void)state;
    static const char sentence[] = "refusing: drop constraint house";
    expect("fleetprof_database_state{state=\"refusing\"} 1\n", NULL, "collector-database",
           "fleetprof_database_state: refusing");
    struct fp_status status = judge("fleetprof_database_state{state=\"refusing\"} 1\n", NULL);
    status.collectors[0].database = (char *)(uintptr_t)sentence;
    fp_status_judge(&status);
    assert_string_equal(status.findings.items[0].seen, sentence);
    /* The sentence is of another moment than the number. */
    status.collectors[0].database = (char *)(uintptr_t)"reachable: uploads can be written";
    fp_status_judge(&status);
    assert_string_equal(status.findings.items[0].seen, "fleetprof_database_state: refusing");
    release(&status);
}

static void says_whose_clock_retention_does_not_believe(void **state)
{
    (void)state;
    static const char page[] = "fleetprof_retention_refused{reason=\"clocks_differ\"} 1\n"
                               "fleetprof_retention_refused{reason=\"clock_ahead\"} 0\n";
    expect("fleetprof_retention_refused{reason=\"clocks_differ\"} 0\n", NULL, NULL, NULL);
    expect(page, NULL, "retention-refused", "fleetprof_retention_refused: clocks_differ");
    struct fp_status status = judge("", page);
    assert_int_equal(status.findings.count, 1);
    assert_string_equal(status.findings.items[0].where, "two");
    release(&status);
}

static void finds_a_spool_that_has_no_room(void **state)
{
    (void)state;
    expect("fleetprof_spool_bytes 80\nfleetprof_spool_max_bytes "
           "100\nfleetprof_spool_disk_free_bytes 20\n",
           NULL, NULL, NULL);
    expect("fleetprof_spool_bytes 81\nfleetprof_spool_max_bytes "
           "100\nfleetprof_spool_disk_free_bytes 20\n",
           NULL, "spool-filling", "MiB");
    expect("fleetprof_spool_bytes 80\nfleetprof_spool_max_bytes "
           "100\nfleetprof_spool_disk_free_bytes 19\n",
           NULL, "spool-space", "MiB free");
}

static void finds_a_silent_site_unless_another_collector_hears_it(void **state)
{
    (void)state;
    char heard[200];
    (void)snprintf(heard, sizeof(heard),
                   STARTED "fleetprof_last_upload_timestamp_seconds{site=\"shop\"} %lld\n",
                   (long long)(fp_clock_real_us() / FP_US_PER_S - 60));
    static const char silent[] =
        STARTED "fleetprof_last_upload_timestamp_seconds{site=\"shop\"} 2000\n";
    expect(silent, NULL, "site-silent", "the latest upload came");
    expect(STARTED "fleetprof_last_upload_timestamp_seconds{site=\"shop\"} 0\n", NULL,
           "site-silent", "no upload since the start");
    expect(heard, NULL, NULL, NULL);
    expect(silent, heard, NULL, NULL);
    expect(silent, silent, "site-silent", "h ago"); /* one finding for both */
}

static void compares_refused_with_accepted_uploads_of_the_site(void **state)
{
    (void)state;
#define ACCEPTED(site, count) "fleetprof_uploads_accepted_total{site=\"" site "\"} " count "\n"
#define REFUSED(site, reason, count)                                                               \
    "fleetprof_uploads_refused_total{site=\"" site "\",reason=\"" reason "\"} " count "\n"
#define SITE "fleetprof_last_upload_timestamp_seconds{site=\"shop\"} 9999999999\n"
    expect(SITE ACCEPTED("shop", "100") REFUSED("shop", "origin", "11"), NULL, NULL, NULL);
    expect(SITE ACCEPTED("shop", "90") REFUSED("shop", "origin", "4") REFUSED("shop", "size", "6"),
           NULL, "uploads-refused-earlier", "10 of 100, most for the reason size");
    expect(SITE ACCEPTED("shop", "1") REFUSED("shop", "origin", "9"), NULL, NULL, NULL);
    expect(SITE ACCEPTED("shop", "90") ACCEPTED("other", "500") REFUSED("", "unknown_key", "50"),
           NULL, NULL, NULL);
    expect(SITE ACCEPTED("shop", "90") REFUSED("", "unknown_key", "50"), NULL,
           "uploads-refused-earlier", "site (unknown)");
}

/* The examples have the numbers of today, so a changed threshold is noticed. */
static void each_threshold_parts_good_from_bad(void **state)
{
    (void)state;
    char heard[2][200];
    for (int i = 0; i < 2; i++)
        (void)snprintf(heard[i], sizeof(heard[i]),
                       STARTED "fleetprof_last_upload_timestamp_seconds{site=\"shop\"} %lld\n",
                       (long long)(fp_clock_real_us() / FP_US_PER_S - (i == 0 ? 3000 : 3610)));
#define SPOOL "fleetprof_spool_disk_free_bytes 100\nfleetprof_spool_max_bytes 100\n"
    const struct {
        const char *name, *good, *bad, *id;
    } examples[] = {
        {"SITE_SILENT_S", heard[0], heard[1], "site-silent"},
        {"SEALING_LATE_S", "fleetprof_unsealed_age_seconds 7200\n",
         "fleetprof_unsealed_age_seconds 7201\n", "sealing-late"},
        {"SPOOL_FILLING_SHARE", SPOOL "fleetprof_spool_bytes 80\n",
         SPOOL "fleetprof_spool_bytes 81\n", "spool-filling"},
        {"REFUSED_SHARE", ACCEPTED("shop", "91") REFUSED("shop", "origin", "10"),
         ACCEPTED("shop", "90") REFUSED("shop", "origin", "10"), "uploads-refused-earlier"},
        {"REFUSED_COUNT", ACCEPTED("shop", "1") REFUSED("shop", "origin", "9"),
         ACCEPTED("shop", "1") REFUSED("shop", "origin", "10"), "uploads-refused-earlier"},
    };
    static const struct {
        const char *name;
    } thresholds[] = {
#define NAME(name, value) {#name},
        FP_THRESHOLDS(NAME)
#undef NAME
    };
    assert_walks(thresholds, .name, examples, .name);
    for (size_t i = 0; i < FP_COUNT(examples); i++) {
        expect(examples[i].good, NULL, NULL, NULL);
        expect(examples[i].bad, NULL, examples[i].id, "");
    }
}

static void collectors_of_two_versions_differ(void **state)
{
    (void)state;
    expect(BUILD, BUILD, NULL, NULL);
    expect(BUILD, "fleetprof_build_info{version=\"0.2.0\",compiler=\"gcc\"} 1\n", "versions-differ",
           "0.2.0; one has 0.1.0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_takes_hours),
        cmocka_unit_test(says_of_the_database_what_its_collector_says),
        cmocka_unit_test(says_whose_clock_retention_does_not_believe),
        cmocka_unit_test(finds_a_spool_that_has_no_room),
        cmocka_unit_test(finds_a_silent_site_unless_another_collector_hears_it),
        cmocka_unit_test(compares_refused_with_accepted_uploads_of_the_site),
        cmocka_unit_test(each_threshold_parts_good_from_bad),
        cmocka_unit_test(collectors_of_two_versions_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
