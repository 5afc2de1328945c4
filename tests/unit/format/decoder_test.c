/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoder: whole numbers and times at their bounds; names of formats.
 */
#include "collector/format/decoder.h"
#include "tests/unit/format/test.h"

#include "collector/format/format.c"

/* The value that an unchanged result keeps. */
#define UNCHANGED INT64_C(-77)

static yyjson_val *parse(const char *json, yyjson_doc **doc)
{
    *doc = yyjson_read(json, strlen(json), YYJSON_READ_NOFLAG);
    assert_non_null(*doc);
    return yyjson_doc_get_root(*doc);
}

static void reads_whole_numbers_between_the_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        int64_t min, max, number;
    } cases[] = {
        {"0", 0, 5, 0},
        {"5", 0, 5, 5},
        {"6", 0, 5, UNCHANGED},
        {"-1", 0, 5, UNCHANGED},
        {"-0.0", 0, 5, 0},
        {"5.0", 0, 5, 5},
        {"5e0", 0, 5, 5},
        {"4.5", 0, 5, UNCHANGED},
        {"-4.5", -5, 5, UNCHANGED},
        {"-5", -5, 5, -5},
        {"-2147483648", INT32_MIN, INT32_MAX, INT32_MIN},
        {"-2147483649", INT32_MIN, INT32_MAX, UNCHANGED},
        {"4294967295", 0, UINT32_MAX, UINT32_MAX},
        {"4294967296", 0, UINT32_MAX, UNCHANGED},
        {"18446744073709551615", 0, UINT32_MAX, UNCHANGED},
        {"1e300", 0, UINT32_MAX, UNCHANGED},
        {"0", 0, -1, UNCHANGED},
        {"\"5\"", 0, 5, UNCHANGED},
        {"true", 0, 5, UNCHANGED},
        {"null", 0, 5, UNCHANGED},
        {"[5]", 0, 5, UNCHANGED},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        yyjson_doc *doc;
        yyjson_val *value = parse(cases[i].json, &doc);
        int64_t number = UNCHANGED;
        bool is_whole = fp_whole_of(value, cases[i].min, cases[i].max, &number);
        if (number != cases[i].number || is_whole != (number != UNCHANGED))
            fail_msg("%s gives %lld", cases[i].json, (long long)number);
        yyjson_doc_free(doc);
    }
    int64_t number = UNCHANGED;
    assert_false(fp_whole_of(NULL, 0, 5, &number));
    assert_true(number == UNCHANGED);
}

static void reads_times_as_rounded_microseconds(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        int64_t time_us;
    } cases[] = {
        {"0", 0},
        {"1", 1000},
        {"0.0005", 1},
        {"0.00049", 0},
        {"-0.0005", 0},
        {"-0.00051", -1},
        {"-1.5", -1500},
        {"9007199254740.992", FP_TIME_MAX_US},
        {"-9007199254740.992", -FP_TIME_MAX_US},
        {"9007199254741", UNCHANGED},
        {"-9007199254741", UNCHANGED},
        {"1e300", UNCHANGED},
        {"\"1\"", UNCHANGED},
        {"null", UNCHANGED},
        {"{}", UNCHANGED},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        yyjson_doc *doc;
        yyjson_val *value = parse(cases[i].json, &doc);
        int64_t time_us = UNCHANGED;
        bool is_time = fp_time_of(value, &time_us);
        if (time_us != cases[i].time_us || is_time != (time_us != UNCHANGED))
            fail_msg("%s gives %lld", cases[i].json, (long long)time_us);
        yyjson_doc_free(doc);
    }
    int64_t time_us = UNCHANGED;
    assert_false(fp_time_of(NULL, &time_us));
    assert_true(time_us == UNCHANGED);
}

/* The values of sites[].formats, and the upload formats that each stands for. */
static void each_group_of_formats_has_its_name(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t formats;
    } cases[] = {
        {"web",
         1u << FP_UPLOAD_SELF_PROFILE | 1u << FP_UPLOAD_USER_TIMING | 1u << FP_UPLOAD_REPORTS},
        {"speed-tracer", 1u << FP_UPLOAD_SPEED_TRACER},
        {"opera-scope", 1u << FP_UPLOAD_OPERA_SCOPE},
    };
    uint32_t all = 0;
    assert_walks(groups, .name, cases, .name);
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        assert_int_equal(fp_formats_named(fp_str_of(cases[i].name)), cases[i].formats);
        all |= cases[i].formats;
    }
    assert_int_equal(all, (1u << FP_UPLOAD_FORMAT_COUNT) - 1);
    assert_int_equal(fp_formats_named(FP_STR("self-profile")), 0);
}

static void each_format_has_a_decoder_by_its_name(void **state)
{
    (void)state;
    for (enum fp_upload_format i = 0; i < FP_UPLOAD_FORMAT_COUNT; i++) {
        const struct fp_format_decoder *decoder =
            decoder_named(fp_str_of(fp_upload_format_name(i)));
        assert_non_null(decoder);
        assert_int_equal(decoder->format, i);
    }
    assert_null(decoder_named(FP_STR("web")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_whole_numbers_between_the_bounds),
        cmocka_unit_test(reads_times_as_rounded_microseconds),
        cmocka_unit_test(each_group_of_formats_has_its_name),
        cmocka_unit_test(each_format_has_a_decoder_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
