/*
 * The names of the enums.
 */
#include "test.h"

#include "collector/base/words.c"

static void enums_have_the_names_of_the_database(void **state)
{
    (void)state;
    assert_string_equal(fp_marker_name(FP_MARKER_NONE), "(none)");
    assert_string_equal(fp_marker_name(FP_MARKER_OTHER), "other");
    assert_string_equal(fp_frame_kind_name(FP_FRAME_OVERFLOW), "overflow");
    assert_string_equal(fp_timing_kind_name(FP_TIMING_MEASURE), "measure");
    assert_string_equal(fp_upload_format_name(FP_UPLOAD_USER_TIMING), "user-timing");
    assert_string_equal(fp_coverage_name(FP_COVERAGE_NONE), "");
    assert_string_equal(fp_coverage_name(FP_COVERAGE_NOT_SAMPLED), "not-sampled");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enums_have_the_names_of_the_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
