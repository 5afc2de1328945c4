/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dimensions: the collector's table, and that of the filters.
 */
#include "tests/unit/unit.h"

#include "cli/ask/filter_rows.h"
#include "collector/rollup/delta_bytes.h"
#include "collector/rollup/dimension.h"

#define ROW(id, of, name, placeholder, usual, ...) {name, usual}

static const struct {
    const char *name;
    const char *usual;
} filters[] = {FP_FILTERS_OF_DIMENSIONS(ROW)};

static void are_the_site_and_the_filters_of_page_loads(void **state)
{
    (void)state;
    assert_string_equal(fp_dimensions[0].name, "site");
    assert_int_equal(FP_DIMENSION_COUNT, 1 + FP_COUNT(filters));
    for (size_t i = 0; i < FP_COUNT(filters); i++) {
        const struct fp_dimension *dimension = &fp_dimensions[i + 1];
        assert_string_equal(dimension->name, filters[i].name);
        assert_string_equal(dimension->absent, filters[i].usual != NULL ? filters[i].usual : "");
    }
}

static void each_has_a_text_of_its_own(void **state)
{
    (void)state;
    struct fp_segment segment = {0};
    for (size_t i = 0; i < FP_DIMENSION_COUNT; i++)
        *fp_dimension_text(&segment, i) = fp_str_of(fp_dimensions[i].name);
    for (size_t i = 0; i < FP_DIMENSION_COUNT; i++)
        assert_true(fp_str_equal(fp_dimension_of(&segment, i), fp_str_of(fp_dimensions[i].name)));
    assert_true(fp_str_equal(segment.frame, FP_STR("frame")));
}

/* Bytes of a delta have them in this order. */
static void versions_ascend_up_to_the_present_one(void **state)
{
    (void)state;
    for (size_t i = 1; i < FP_DIMENSION_COUNT; i++)
        assert_true(fp_dimensions[i].version >= fp_dimensions[i - 1].version);
    assert_true(fp_dimensions[FP_DIMENSION_COUNT - 1].version <= FP_DELTA_BYTES_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_the_site_and_the_filters_of_page_loads),
        cmocka_unit_test(each_has_a_text_of_its_own),
        cmocka_unit_test(versions_ascend_up_to_the_present_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
