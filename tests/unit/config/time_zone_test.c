/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zones: names, and the machine's database of them if it has one.
 */
#include "tests/unit/unit.h"

#include "collector/config/time_zone.h"
#include "tests/unit/directory.h"

#include <sys/stat.h>

static char directory[64];

static void write_file(const char *name, const char *content)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static const char *check(const char *name)
{
    return fp_time_zone_check(fp_str_of(name), directory);
}

static int set_up(void **state)
{
    (void)state;
    make_test_directory(directory, sizeof(directory), "zones");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof(command), "rm -r '%s'", directory);
    return system(command);
}

static void takes_names_where_the_machine_has_no_database(void **state)
{
    (void)state;
    static const char *const good[] = {"UTC",
                                       "Australia/Sydney",
                                       "America/Argentina/Buenos_Aires",
                                       "America/Port-au-Prince",
                                       "Etc/GMT+5",
                                       "EST5EDT",
                                       "Nowhere/At_All"};
    for (size_t i = 0; i < FP_COUNT(good); i++)
        assert_null(check(good[i]));
}

static void refuses_what_has_not_the_form_of_a_name(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",           "+10:00", "australia/sydney", "localtime",   "posix/UTC", "/etc/passwd",
        "Australia/", "A//B",   "A/../B",           "Sydney time", "A\"B",      "\xc3\x89tat",
        "A\\B",       "A'B"};
    for (size_t i = 0; i < FP_COUNT(bad); i++)
        assert_non_null(check(bad[i]));
    assert_non_null(fp_time_zone_check(FP_STR("A\0B"), directory));
    char longest[66];
    memset(longest, 'X', 65);
    longest[65] = '\0';
    assert_non_null(check(longest));
    longest[64] = '\0';
    assert_null(check(longest));
}

static void refuses_a_zone_that_the_machine_does_not_know(void **state)
{
    (void)state;
    char asia[80];
    snprintf(asia, sizeof(asia), "%s/Asia", directory);
    assert_int_equal(mkdir(asia, 0700), 0);
    write_file("UTC", "TZif2");
    write_file("Asia/Kolkata", "TZif2");
    write_file("README", "no zone");
    write_file("Short", "TZ");
    assert_null(check("UTC"));
    assert_null(check("Asia/Kolkata"));
    assert_non_null(strstr(check("Asia/Kolkatta"), "/usr/share/zoneinfo"));
    assert_non_null(check("Asia"));
    assert_non_null(check("README"));
    assert_non_null(check("Short"));
}

static void takes_names_where_the_path_is_too_long_to_look(void **state)
{
    (void)state;
    char long_path[600];
    memset(long_path, '/', sizeof(long_path) - 1);
    long_path[sizeof(long_path) - 1] = '\0';
    assert_null(fp_time_zone_check(FP_STR("Asia/Kolkatta"), long_path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_names_where_the_machine_has_no_database),
        cmocka_unit_test(refuses_what_has_not_the_form_of_a_name),
        cmocka_unit_test(refuses_a_zone_that_the_machine_does_not_know),
        cmocka_unit_test(takes_names_where_the_path_is_too_long_to_look),
    };
    return cmocka_run_group_tests_name("config_time_zone", tests, set_up, tear_down);
}
