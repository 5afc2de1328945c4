/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The export to Firefox Profiler: the category of each kind of frame.
 */
#include "tests/unit/unit.h"

#include "cli/export/write_gecko.c"

static void each_frame_has_its_category(void **state)
{
    (void)state;
    static const struct {
        enum fp_frame_kind kind;
        const char *name;
        const char *category;
        const char *colour; /* one that Firefox Profiler has */
    } cases[] = {
        {FP_FRAME_FUNCTION, "(gc)", "JavaScript", "yellow"},
        {FP_FRAME_BUILTIN, "appendChild", "DOM", "blue"},
        {FP_FRAME_MARKER, "(unattributed)", "Idle", "transparent"},
        {FP_FRAME_MARKER, "(script)", "JavaScript", "yellow"},
        {FP_FRAME_MARKER, "(gc)", "GC / CC", "orange"},
        {FP_FRAME_MARKER, "(style)", "Layout", "purple"},
        {FP_FRAME_MARKER, "(layout)", "Layout", "purple"},
        {FP_FRAME_MARKER, "(paint)", "Graphics", "green"},
        {FP_FRAME_MARKER, "(other)", "Other", "grey"},
        {FP_FRAME_EVENT, "(paint)", "Other", "grey"},
        {FP_FRAME_OVERFLOW, "(overflow)", "Other", "grey"},
    };
    bool is_seen[CATEGORY_COUNT] = {false};
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        const struct fp_export_frame frame = {.kind = cases[i].kind,
                                              .function = fp_str_of(cases[i].name)};
        const enum category category = category_of(&frame);
        is_seen[category] = true;
        assert_string_equal(categories[category][0], cases[i].category);
        assert_string_equal(categories[category][1], cases[i].colour);
    }
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        assert_true(is_seen[i]);
}

/* A marker's frame is named after it. */
static void each_marker_has_a_category_of_its_own(void **state)
{
    (void)state;
    for (enum fp_marker marker = FP_MARKER_SCRIPT; marker < FP_MARKER_OTHER; marker++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "(%s)", fp_marker_name(marker));
        const struct fp_export_frame frame = {.kind = FP_FRAME_MARKER, .function = fp_str_of(name)};
        assert_int_not_equal(category_of(&frame), CATEGORY_OTHER);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_frame_has_its_category),
        cmocka_unit_test(each_marker_has_a_category_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
