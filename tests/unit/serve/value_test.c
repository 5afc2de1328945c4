/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of the report's parameters: which are taken, and the words for the others.
 */
#include "tests/unit/unit.h"

#include "cli/serve/value.c"

#include <locale.h>
#include <stdio.h>
#include <time.h>

static bool is_taken(enum fp_value_type type, const char *value, struct fp_trouble *trouble)
{
    const struct fp_parameter parameter = {.name = "given", .type = type, .most = 100};
    *trouble = (struct fp_trouble){0};
    return fp_value_check(&parameter, fp_str_of(value), trouble);
}

/* True if the C library's calendar has the day. */
static bool is_day(int year, int month, int day)
{
    struct tm asked = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_hour = 12};
    const struct tm given = asked;
    return timegm(&asked) != (time_t)-1 && asked.tm_mon == given.tm_mon &&
           asked.tm_mday == given.tm_mday;
}

static void each_day_of_the_calendar_is_taken_and_no_other(void **state)
{
    (void)state;
    static const int years[] = {1999, 2000, 2026, 2028, 2100};
    for (size_t i = 0; i < FP_COUNT(years); i++) {
        for (int month = 0; month <= 13; month++) {
            for (int day = 0; day <= 32; day++) {
                char text[40];
                struct fp_trouble trouble;
                (void)snprintf(text, sizeof(text), "%04d-%02d-%02d", years[i], month, day);
                if (is_taken(FP_VALUE_TIME, text, &trouble) != is_day(years[i], month, day))
                    fail_msg("%s", text);
            }
        }
    }
}

static void each_unit_of_a_duration_is_taken_and_no_other(void **state)
{
    (void)state;
    for (char unit = ' '; unit <= '~'; unit++) {
        const char text[] = {'2', unit, '\0'};
        if (fp_is_digit(unit))
            continue;
        if (fp_value_is_duration(text) != (strchr("smhdw", unit) != NULL))
            fail_msg("%s", text);
    }
}

static void each_type_says_what_it_wants(void **state)
{
    (void)state;
    static const struct {
        enum fp_value_type type;
        const char *good;
        const char *bad;
        const char *words;
    } cases[] = {
        {FP_VALUE_TIME, "2h", "soon", "given is not a time such as 2026-01-31T12:00:00Z"},
        {FP_VALUE_ID, "-12", "1.5", "given is not a whole number: \"1.5\""},
        {FP_VALUE_NUMBER, "-1.5e3", "much", "given is not a number: \"much\""},
        {FP_VALUE_COUNT, "100", "101", "given is not a whole number from 1 to 100: \"101\""},
        {FP_VALUE_TEXT, "", "\xff", "given is not valid UTF-8"},
        {FP_VALUE_TEXTS, "a", "\xff", "given is not valid UTF-8"},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        struct fp_trouble trouble;
        assert_true(is_taken(cases[i].type, cases[i].good, &trouble));
        assert_false(is_taken(cases[i].type, cases[i].bad, &trouble));
        if (strstr(trouble.detail, cases[i].words) == NULL)
            fail_msg("%s", trouble.detail);
    }
}

int main(void)
{
    /* As main() does. */
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_day_of_the_calendar_is_taken_and_no_other),
        cmocka_unit_test(each_unit_of_a_duration_is_taken_and_no_other),
        cmocka_unit_test(each_type_says_what_it_wants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
