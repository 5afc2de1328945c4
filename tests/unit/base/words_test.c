/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of the enums.
 */
#include "test.h"

#include "collector/base/base.h"
#include "collector/base/words.c"

/* Checks that the values of an enum have these names, in order, and that there are no more. */
#define CHECK_NAMES(name_of, count, ...)                                                           \
    do {                                                                                           \
        static const char *const names_[] = {__VA_ARGS__};                                         \
        assert_int_equal(count, FP_COUNT(names_));                                                 \
        for (size_t i_ = 0; i_ < FP_COUNT(names_); i_++)                                           \
            assert_string_equal(name_of((unsigned)i_), names_[i_]);                                \
    } while (0)

static void enums_have_the_names_of_the_database(void **state)
{
    (void)state;
    CHECK_NAMES(fp_marker_name, FP_MARKER_COUNT, "(none)", "script", "gc", "style", "layout",
                "paint", "other");
    CHECK_NAMES(fp_frame_kind_name, FP_FRAME_KIND_COUNT, "function", "builtin", "marker", "event",
                "overflow");
    CHECK_NAMES(fp_timing_kind_name, FP_TIMING_KIND_COUNT, "mark", "measure", "vital", "vital_good",
                "vital_poor", "window", "interaction", "input_delay", "processing", "frame_script",
                "blocking", "forced_layout", "resource", "resource_bytes", "resource_opaque",
                "coverage", "page_host", "hidden", "left_out", "vital_element", "vital_part",
                "ttfb", "ttfb_server", "hang", "violation", "style", "layout", "forced_style",
                "forced_reflow", "vital_flagged", "interaction_flagged", "response",
                "response_flagged", "wait", "vital_profiled", "vital_without", "script_loaded",
                "script_ran");
    CHECK_NAMES(fp_crash_name, FP_CRASH_COUNT, "crash", "oom", "unresponsive", "other");
    CHECK_NAMES(fp_upload_format_name, FP_UPLOAD_FORMAT_COUNT, "self-profile", "user-timing",
                "speed-tracer", "opera-scope", "reports");
    CHECK_NAMES(fp_coverage_name, FP_COVERAGE_COUNT, "", "no-policy", "unsupported", "quota",
                "disabled", "not-sampled", "overload");
    CHECK_NAMES(fp_left_out_name, FP_LEFT_OUT_COUNT, "(any)", "(unknown)", "mark", "measure",
                "profile", "overload", "vital", "interaction", "frame", "resource", "upload");
    CHECK_NAMES(fp_navigation_name, FP_NAVIGATION_COUNT, "", "hard", "soft", "back-forward",
                "back-forward-cache", "prerender", "reload", "restore");
}

static void finds_the_kind_of_each_word_of_web_vitals_and_of_no_other(void **state)
{
    (void)state;
    static const char *const words[FP_NAVIGATION_COUNT] = {
        [FP_NAVIGATION_HARD] = "navigate",
        [FP_NAVIGATION_SOFT] = "soft-navigation",
        [FP_NAVIGATION_BACK_FORWARD] = "back-forward",
        [FP_NAVIGATION_BACK_FORWARD_CACHE] = "back-forward-cache",
        [FP_NAVIGATION_PRERENDER] = "prerender",
        [FP_NAVIGATION_RELOAD] = "reload",
        [FP_NAVIGATION_RESTORE] = "restore",
    };
    for (enum fp_navigation kind = FP_NAVIGATION_UNKNOWN + 1; kind < FP_NAVIGATION_COUNT; kind++)
        assert_int_equal(fp_navigation_find(fp_str_of(words[kind])), kind);
    static const char *const others[] = {"", "hard", "soft", "back_forward", "Navigate", "reloads"};
    for (size_t i = 0; i < FP_COUNT(others); i++)
        assert_int_equal(fp_navigation_find(fp_str_of(others[i])), FP_NAVIGATION_UNKNOWN);
    for (enum fp_navigation kind = FP_NAVIGATION_UNKNOWN; kind < FP_NAVIGATION_COUNT; kind++)
        assert_int_equal(fp_navigation_is_since_start(kind),
                         kind != FP_NAVIGATION_SOFT && kind != FP_NAVIGATION_PRERENDER &&
                             kind != FP_NAVIGATION_BACK_FORWARD_CACHE);
}

/* Spools have the numbers. */
static void reasons_of_refused_records_keep_their_numbers(void **state)
{
    (void)state;
    CHECK_NAMES(fp_record_refusal_name, FP_RECORD_REFUSAL_COUNT, "", "not_json", "truncated",
                "not_object", "bad_type", "bad_time", "bad_duration", "negative_duration",
                "bad_children", "bad_data", "bad_profile_line", "no_message", "no_type", "no_time",
                "no_overhead", "no_hits", "long_time", "bad_interval", "backward_interval",
                "bad_option", "duplicate_id", "known_event", "cycle", "known_list", "other_detail",
                "bad_detail", "other_service", "bad_status", "service_event", "orphan",
                "other_entry", "other_report", "bad_report");
}

static void finds_each_word_for_what_was_left_out_and_no_other(void **state)
{
    (void)state;
    for (enum fp_left_out what = FP_LEFT_OUT_MARK; what < FP_LEFT_OUT_COUNT; what++)
        assert_int_equal(fp_left_out_find(fp_str_of(fp_left_out_name(what))), what);
    const char *const others[] = {"", "(any)", "(unknown)", "Mark", "marks", "mar"};
    for (size_t i = 0; i < FP_COUNT(others); i++)
        assert_int_equal(fp_left_out_find(fp_str_of(others[i])), FP_LEFT_OUT_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enums_have_the_names_of_the_database),
        cmocka_unit_test(finds_each_word_for_what_was_left_out_and_no_other),
        cmocka_unit_test(finds_the_kind_of_each_word_of_web_vitals_and_of_no_other),
        cmocka_unit_test(reasons_of_refused_records_keep_their_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
