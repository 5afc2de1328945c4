/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status: durations and sizes as people read them.
 */
#include "tests/unit/unit.h"

#include "cli/doctor/status_view.c"

static void each_unit_of_time_begins_at_two_of_it(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {
        {-1, "0.0 s"},    {0, "0.0 s"},      {119.9, "119.9 s"},
        {120, "2 min"},   {7199, "119 min"}, {7200, "2 h"},
        {172799, "47 h"}, {172800, "2 d"},   {86400 * 400, "400 d"},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        char text[32];
        write_duration(text, cases[i].seconds);
        assert_string_equal(text, cases[i].text);
    }
}

static void each_unit_of_size_goes_up_to_ten_thousand(void **state)
{
    (void)state;
    static const struct {
        double bytes;
        const char *text;
    } cases[] = {
        {0, "0 KiB"},
        {1024, "1 KiB"},
        {10239.0 * 1024, "10239 KiB"},
        {10240.0 * 1024, "10 MiB"},
        {10239.0 * 1048576, "10239 MiB"},
        {10240.0 * 1048576, "10 GiB"},
        {10240.0 * 1073741824, "10 TiB"},
        {20480.0 * 1099511627776, "20480 TiB"},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        char text[32];
        write_bytes(text, cases[i].bytes);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_unit_of_time_begins_at_two_of_it),
        cmocka_unit_test(each_unit_of_size_goes_up_to_ten_thousand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
