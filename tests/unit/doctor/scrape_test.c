/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrape: pages are parsed as Prometheus parses them, and counters compared across restarts.
 */
#include "tests/unit/unit.h"

#include "cli/doctor/scrape.c"

#define START "process_start_time_seconds 100\n"

static void reads_samples_and_skips_the_rest(void **state)
{
    (void)state;
    struct fp_scrape page;
    fp_scrape_parse(
        &page,
        "# HELP a text {x=\"y\"} 1\n# TYPE a counter\na 1\nb{} 2\n\nb{l=\"} \\\"\"} 3.5\n"
        "c NaN\nwithout_value\nwith_text text\n{l=\"x\"} 1\nopen{l=\"x 1\nlast{l=\"z\"} 7 123");
    assert_int_equal(page.count, 5);
    assert_true(fp_scrape_value(&page, "a", "") == 1);
    assert_true(fp_scrape_sum(&page, "b") == 5.5);
    assert_true(isnan(fp_scrape_value(&page, "c", "")));
    assert_true(isnan(fp_scrape_value(&page, "d", "")));
    assert_true(isnan(fp_scrape_sum(&page, "d")));
    assert_true(fp_scrape_value(&page, "last", "l=\"z\"") == 7);
    fp_scrape_release(&page);
}

static void reads_and_unescapes_labels(void **state)
{
    (void)state;
    char value[8];
    const struct fp_scrape_sample sample = {
        .name = "a", .labels = "site=\"a\\\"b\\\\c\\nd\",reason=\"origin\",long=\"123456789\""};
    assert_true(fp_scrape_label(&sample, "site", value, sizeof(value)));
    assert_string_equal(value, "a\"b\\c\nd");
    assert_true(fp_scrape_label(&sample, "reason", value, sizeof(value)));
    assert_string_equal(value, "origin");
    assert_true(fp_scrape_label(&sample, "long", value, sizeof(value)));
    assert_string_equal(value, "1234567");
    assert_false(fp_scrape_label(&sample, "reas", value, sizeof(value)));
    const struct fp_scrape_sample broken[] = {
        {.labels = "site"}, {.labels = "site=x"}, {.labels = "site=\"x"}};
    assert_false(fp_scrape_label(&broken[0], "site", value, sizeof(value)));
    assert_false(fp_scrape_label(&broken[1], "site", value, sizeof(value)));
    assert_false(fp_scrape_label(&broken[2], "other", value, sizeof(value)));
}

static void a_counter_rises_unless_its_process_is_another(void **state)
{
    (void)state;
    struct fp_scrape earlier, latest, other, empty = {0};
    fp_scrape_parse(&earlier, START "a{site=\"x\"} 3\n");
    fp_scrape_parse(&latest, START "new 1\na{site=\"x\"} 5\na{site=\"y\"} 4\n");
    fp_scrape_parse(&other, "process_start_time_seconds 99\na{site=\"x\"} 3\n");
    assert_true(fp_scrape_rise(&earlier, &latest, &latest.samples[2]) == 2);
    assert_true(fp_scrape_rise(&earlier, &latest, &latest.samples[3]) == 4);
    assert_true(isnan(fp_scrape_rise(&other, &latest, &latest.samples[2])));
    assert_true(isnan(fp_scrape_rise(&empty, &latest, &latest.samples[2])));
    fp_scrape_release(&earlier);
    fp_scrape_release(&latest);
    fp_scrape_release(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_samples_and_skips_the_rest),
        cmocka_unit_test(reads_and_unescapes_labels),
        cmocka_unit_test(a_counter_rises_unless_its_process_is_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
