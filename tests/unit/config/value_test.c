/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values: units, bounds of numbers, and how they are printed.
 */
#include "tests/unit/unit.h"

#include "collector/base/clock.h"
#include "collector/config/value.c"

static int64_t bytes(const char *text)
{
    int64_t value = -1;
    return fp_value_bytes(fp_str_of(text), &value) == NULL ? value : -1;
}

static int64_t duration(const char *text)
{
    int64_t value = -1;
    return fp_value_duration(fp_str_of(text), &value) == NULL ? value : -1;
}

static void bytes_have_binary_units_or_none(void **state)
{
    (void)state;
    assert_true(bytes("0") == 0);
    assert_true(bytes("12B") == 12);
    assert_true(bytes("3KiB") == 3072);
    assert_true(bytes("4GiB") == INT64_C(4) << 30);
    assert_true(bytes("8388607TiB") == INT64_C(8388607) << 40);
    assert_true(bytes("9223372036854775807") == INT64_MAX);
    static const char *const bad[] = {
        "",      "MiB",  "1KB",    "1k",         "1 MiB",
        "+1",    "-1",   "1.5MiB", "8388608TiB", "9223372036854775808",
        "1MiBB", "0x10", "1mib"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_true(bytes(bad[i]) == -1);
}

static void durations_need_a_unit(void **state)
{
    (void)state;
    assert_true(duration("250ms") == 250000);
    assert_true(duration("10s") == 10 * FP_US_PER_S);
    assert_true(duration("3m") == 180 * FP_US_PER_S);
    assert_true(duration("1h") == FP_US_PER_HOUR);
    assert_true(duration("7d") == 7 * FP_US_PER_DAY);
    assert_true(duration("0s") == 0);
    static const char *const bad[] = {"",    "5",   "s",  "1us",   "1.5s",
                                      "-1s", "1 s", "1S", "1h30m", "106751992d"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_true(duration(bad[i]) == -1);
}

static int64_t share(const char *text)
{
    int64_t value = -1;
    return fp_value_share(fp_str_of(text), &value) == NULL ? value : -1;
}

static void shares_are_percentages_in_millionths(void **state)
{
    (void)state;
    assert_true(share("0%") == 0);
    assert_true(share("1%") == 10000);
    assert_true(share("0.05%") == 500);
    assert_true(share("0.0001%") == 1);
    assert_true(share("99.99%") == 999900);
    assert_true(share("100%") == 1000000);
    static const char *const bad[] = {"",         "%",    "1",   "1.%", ".5%",    "-1%",
                                      "0.00001%", "101%", "1 %", "1%%", "100.1%", "1/2000"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_true(share(bad[i]) == -1);
}

static void numbers_are_printed_with_the_largest_unit_that_divides(void **state)
{
    (void)state;
    struct fp_buf out;
    fp_buf_init(&out, 256);
    fp_value_print_bytes(0, &out);
    fp_buf_addf(&out, " ");
    fp_value_print_bytes(1025, &out);
    fp_buf_addf(&out, " ");
    fp_value_print_bytes(INT64_C(4) << 30, &out);
    fp_buf_addf(&out, " ");
    fp_value_print_duration(90 * FP_US_PER_S, &out);
    fp_buf_addf(&out, " ");
    fp_value_print_duration(48 * FP_US_PER_HOUR, &out);
    fp_buf_addf(&out, " ");
    fp_value_print_share(500, &out);
    fp_buf_addf(&out, " ");
    fp_value_print_share(1000000, &out);
    fp_buf_add(&out, "", 1);
    assert_string_equal((const char *)out.data, "0B 1025B 4GiB 90s 2d 0.05% 100%");
    fp_buf_release(&out);
}

static void origins_are_as_browsers_send_them(void **state)
{
    (void)state;
    static const char *const good[] = {"null",
                                       "https://shop.example",
                                       "http://127.0.0.1:8080",
                                       "http://[::1]:8080",
                                       "https://[2001:db8::1]",
                                       "https://xn--mnchen-3ya.example",
                                       "chrome-extension://abcdefghijklmnop",
                                       "capacitor://localhost",
                                       "https://a.example:80",
                                       "http://a_b.example"};
    static const char *const bad[] = {"",
                                      "*",
                                      "null ",
                                      "NULL",
                                      "https:/a",
                                      "://a",
                                      "1x://a",
                                      "https://a b",
                                      "https://a:",
                                      "https://:80",
                                      "https://a:65536",
                                      "https://a:080",
                                      "https://u@a",
                                      "https://a?b",
                                      "HTTPS://a",
                                      "https://a\n"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_null(fp_value_check_origin(fp_str_of(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_non_null(fp_value_check_origin(fp_str_of(bad[i])));
}

static void hosts_have_no_scheme_port_or_path(void **state)
{
    (void)state;
    static const char *const good[] = {"shopcdn.example", "localhost", "a_b.c-1.example",
                                       "127.0.0.1"};
    static const char *const bad[] = {"",    "a b",       "a..b", ".a",  "a.",   "A.example",
                                      "a/b", "https://a", "a:80", "*.a", "a\"b", "é.example"};
    for (size_t i = 0; i < FP_COUNT(good); i++)
        assert_null(fp_value_check_host(fp_str_of(good[i])));
    for (size_t i = 0; i < FP_COUNT(bad); i++)
        assert_non_null(fp_value_check_host(fp_str_of(bad[i])));
    char longest[255];
    memset(longest, 'x', 254);
    longest[254] = '\0';
    assert_non_null(fp_value_check_host(fp_str_of(longest)));
    longest[253] = '\0';
    assert_null(fp_value_check_host(fp_str_of(longest)));
}

static void names_are_short_and_plain(void **state)
{
    (void)state;
    char longest[65];
    memset(longest, 'x', 64);
    longest[64] = '\0';
    assert_null(fp_value_check_name(fp_str_of(longest)));
    assert_null(fp_value_check_name(fp_str_of("A-z_0.9")));
    assert_non_null(fp_value_check_name(FP_STR("")));
    assert_non_null(fp_value_check_name(FP_STR("a/b")));
    assert_non_null(fp_value_check_name(FP_STR("a\0b")));
    char too_long[66];
    memset(too_long, 'x', 65);
    too_long[65] = '\0';
    assert_non_null(fp_value_check_name(fp_str_of(too_long)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_have_binary_units_or_none),
        cmocka_unit_test(durations_need_a_unit),
        cmocka_unit_test(shares_are_percentages_in_millionths),
        cmocka_unit_test(numbers_are_printed_with_the_largest_unit_that_divides),
        cmocka_unit_test(origins_are_as_browsers_send_them),
        cmocka_unit_test(hosts_have_no_scheme_port_or_path),
        cmocka_unit_test(names_are_short_and_plain),
    };
    return cmocka_run_group_tests_name("config_value", tests, NULL, NULL);
}
