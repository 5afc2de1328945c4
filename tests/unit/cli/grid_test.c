/*
 * Grids: texts are cut between characters, by their width on a terminal, and shares of a terminal
 * are handed out without going below a minimum.
 */

#include "tests/unit/unit.h"

#include "cli/grid.c"

#include <locale.h>

static void assert_cut(enum fp_cell cell, const char *text, size_t width, const char *expected)
{
    char *cut = cut_text(text, cell, width);
    assert_non_null(cut);
    assert_string_equal(cut, expected);
    assert_true(text_width(cut) <= width);
    free(cut);
}

static void a_text_loses_its_end(void **state)
{
    (void)state;
    assert_cut(FP_CELL_TEXT, "renderProductList", 17, "renderProductList");
    assert_cut(FP_CELL_TEXT, "renderProductList", 16, "renderProductLi…");
    assert_cut(FP_CELL_TEXT, "renderProductList", 1, "…");
    assert_cut(FP_CELL_TEXT, "", 1, "");
}

static void a_path_loses_its_start(void **state)
{
    (void)state;
    assert_cut(FP_CELL_PATH, "https://shop.example/app.js:3:4", 31,
               "https://shop.example/app.js:3:4");
    assert_cut(FP_CELL_PATH, "https://shop.example/app.js:3:4", 11, "…app.js:3:4");
    assert_cut(FP_CELL_PATH, "abc", 1, "…");
}

static void a_cut_never_splits_a_character(void **state)
{
    (void)state;
    assert_cut(FP_CELL_TEXT, "größe", 4, "grö…");
    assert_cut(FP_CELL_PATH, "größe", 3, "…ße");
    /* Two columns each: half of one can't be shown. */
    assert_cut(FP_CELL_TEXT, "関数関数", 6, "関数…");
    assert_cut(FP_CELL_PATH, "関数関数", 6, "…関数");
}

static void bytes_that_are_no_text_take_a_column_each(void **state)
{
    (void)state;
    assert_int_equal(text_width("\xff\xfe"), 2);
    assert_int_equal(text_width("\xe2\x82"), 2);
    assert_cut(FP_CELL_TEXT, "\xff\xfe\xfd\xfc", 3, "\xff\xfe…");
}

static const struct fp_grid_column columns[] = {
    {"self_ms", "SELF MS", FP_CELL_MS},
    {"function", "FUNCTION", FP_CELL_TEXT},
    {"where", "WHERE", FP_CELL_PATH},
    {"line", NULL, FP_CELL_INTEGER},
};

static struct layout layout_for(size_t terminal_width, const char *function)
{
    struct fp_grid grid;
    fp_grid_init(&grid, columns, 4);
    fp_grid_add(&grid, "12.25");
    fp_grid_add(&grid, function);
    fp_grid_add(&grid, "https://shop.example/app.js");
    fp_grid_add_integer(&grid, 123456789);
    struct layout layout = choose_layout(&grid, terminal_width);
    fp_grid_release(&grid);
    return layout;
}

static void paths_get_what_texts_leave(void **state)
{
    (void)state;
    /* 80 less "SELF MS " less a name of 20 and its blank. */
    struct layout layout = layout_for(80, "12345678901234567890");
    assert_int_equal(layout.text, 20);
    assert_int_equal(layout.path, 80 - 8 - 21);
}

static void a_long_name_takes_half_of_what_numbers_leave(void **state)
{
    (void)state;
    struct layout layout =
        layout_for(80, "1234567890123456789012345678901234567890123456789012345678901234567890");
    assert_int_equal(layout.text, 36);
    assert_int_equal(layout.path, 35);
}

static void a_tiny_terminal_still_shows_something(void **state)
{
    (void)state;
    struct layout layout = layout_for(5, "renderProductListItem");
    assert_int_equal(layout.text, CUT_WIDTH_MIN);
    assert_int_equal(layout.path, CUT_WIDTH_MIN);
}

static const struct fp_grid_column with_extras[] = {
    {"function", "FUNCTION", FP_CELL_TEXT},  {"self", "SELF MS/LOAD", FP_CELL_MS},
    {"where", "WHERE", FP_CELL_PATH},        {"samples", "SAMPLES", FP_CELL_INTEGER},
    {"uploads", "UPLOADS", FP_CELL_INTEGER},
};

static bool has_extras_at(size_t terminal_width)
{
    struct fp_grid grid;
    fp_grid_init(&grid, with_extras, 5);
    grid.extra_from = 3;
    fp_grid_add(&grid, "12345678901234567890");
    fp_grid_add(&grid, "1");
    fp_grid_add(&grid, "https://shop.example/app.js");
    fp_grid_add(&grid, "1");
    fp_grid_add(&grid, "1");
    bool has_extras = choose_layout(&grid, terminal_width).has_extras;
    fp_grid_release(&grid);
    return has_extras;
}

static void extra_columns_are_left_out_together_where_there_is_no_room(void **state)
{
    (void)state;
    /* A text and a path of 16 columns each, and a blank between two columns. */
    size_t needed = 16 + 1 + 12 + 1 + 16 + 1 + 7 + 1 + 7;
    assert_true(has_extras_at(needed));
    assert_false(has_extras_at(needed - 1));
    assert_false(has_extras_at(1));
}

static void numbers_are_json_numbers_and_nothing_else_is(void **state)
{
    (void)state;
    assert_true(is_json_number("0"));
    assert_true(is_json_number("-1.5e-07"));
    assert_false(is_json_number("NaN"));
    assert_false(is_json_number("Infinity"));
    assert_false(is_json_number("-Infinity"));
    assert_false(is_json_number(""));
}

int main(void)
{
    /* As main() does. */
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_loses_its_end),
        cmocka_unit_test(a_path_loses_its_start),
        cmocka_unit_test(a_cut_never_splits_a_character),
        cmocka_unit_test(bytes_that_are_no_text_take_a_column_each),
        cmocka_unit_test(paths_get_what_texts_leave),
        cmocka_unit_test(a_long_name_takes_half_of_what_numbers_leave),
        cmocka_unit_test(a_tiny_terminal_still_shows_something),
        cmocka_unit_test(extra_columns_are_left_out_together_where_there_is_no_room),
        cmocka_unit_test(numbers_are_json_numbers_and_nothing_else_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
