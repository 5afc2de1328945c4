/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grids: a path loses its start between characters, by their width on a terminal; columns share a
 * terminal without going below a minimum; nothing in a cell reaches the terminal as a command.
 */

#include "tests/unit/unit.h"

#include "cli/kit/grid.c"

#include <locale.h>

static void assert_end(const char *path, size_t width, const char *expected)
{
    char *end = keep_end(path, width);
    assert_string_equal(end, expected);
    free(end);
}

static void a_path_loses_its_start(void **state)
{
    (void)state;
    assert_end("https://shop.example/app.js:3:4", 31, "https://shop.example/app.js:3:4");
    assert_end("https://shop.example/app.js:3:4", 11, "…app.js:3:4");
    assert_end("abc", 1, "…");
    assert_end("", 1, "");
}

static void a_cut_never_splits_a_character(void **state)
{
    (void)state;
    assert_end("größe", 3, "…ße");
    /* Two columns each: half of one can't be shown. */
    assert_end("関数関数", 6, "…関数");
    /* Four columns, as libsmartcols prints it. */
    assert_end("a\x1b[2J", 8, "a\x1b[2J");
    assert_end("a\x1b[2J", 7, "…[2J");
}

/* Draws a grid of one row on a terminal of that width; 0: not on a terminal. The caller frees it.
 */
static char *drawn(const struct fp_grid_column *columns, size_t extra_from, size_t width,
                   const char *const *cells, size_t count)
{
    struct fp_grid grid;
    fp_grid_init(&grid, columns, count);
    grid.extra_from = extra_from;
    for (size_t i = 0; i < count; i++)
        fp_grid_add(&grid, cells[i]);
    struct libscols_table *table = make_table(&grid);
    char *lines = draw(table, SCOLS_TERMFORCE_NEVER);
    if (width > 0) {
        free(lines);
        assert_int_equal(scols_table_set_termwidth(table, width), 0);
        fit(&grid, table, width);
        lines = draw(table, SCOLS_TERMFORCE_ALWAYS);
    }
    scols_unref_table(table);
    fp_grid_release(&grid);
    return lines;
}

static const struct fp_grid_column columns[] = {
    {"function", "FUNCTION", FP_CELL_TEXT},
    {"line", NULL, FP_CELL_INTEGER},
    {"where", "WHERE", FP_CELL_PATH},
    {"self_ms", "SELF MS", FP_CELL_MS},
};

static void assert_drawn(size_t width, const char *function, const char *where,
                         const char *expected)
{
    char *lines =
        drawn(columns, 4, width, (const char *[]){function, "123456789", where, "12.25"}, 4);
    assert_string_equal(lines, expected);
    free(lines);
}

static void off_a_terminal_nothing_is_cut(void **state)
{
    (void)state;
    assert_drawn(0, "renderProductListItem", "https://shop.example/assets/app.js",
                 "FUNCTION              WHERE                              SELF MS\n"
                 "renderProductListItem https://shop.example/assets/app.js    12.2");
}

static void paths_get_what_texts_leave(void **state)
{
    (void)state;
    /* 50 less "renderList " less " SELF MS". */
    assert_drawn(50, "renderList", "https://shop.example/assets/app.js",
                 "FUNCTION   WHERE                           SELF MS\n"
                 "renderList …s://shop.example/assets/app.js    12.2");
}

static void a_long_name_is_cut_to_what_a_path_leaves(void **state)
{
    (void)state;
    assert_drawn(50, "renderProductListItem", "https://shop.example/assets/app.js",
                 "FUNCTION     WHERE                         SELF MS\n"
                 "renderProduc …//shop.example/assets/app.js    12.2");
    assert_drawn(50, "renderProductListItem", "/app.js",
                 "FUNCTION              WHERE   SELF MS\n"
                 "renderProductListItem /app.js    12.2");
}

static void a_sentence_is_wrapped(void **state)
{
    static const struct fp_grid_column with_sentence[] = {
        {"id", "ID", FP_CELL_WORD},
        {"detail", "WHY", FP_CELL_SENTENCE},
    };
    (void)state;
    char *lines = drawn(with_sentence, 2, 16, (const char *[]){"1234", "too many samples"}, 2);
    assert_string_equal(lines, "ID   WHY\n"
                               "1234 too many sa\n"
                               "     mples");
    free(lines);
}

static void a_tiny_terminal_still_shows_something(void **state)
{
    (void)state;
    assert_drawn(5, "renderProductListItem", "https://shop.example/assets/app.js",
                 "FUNCTION WHERE\n"
                 "renderPr …e/assets/app.js");
}

static void a_score_is_not_shown_times_a_thousand(void **state)
{
    (void)state;
    static const struct fp_grid_column of_vitals[] = {{"vital", "VITAL", FP_CELL_WORD},
                                                      {"unit", "UNIT", FP_CELL_WORD},
                                                      {"p75", "P75", FP_CELL_MS}};
    static const char *const cells[] = {"CLS", "score x 1000", "111.6", "LCP", "ms", "2523.1"};
    struct fp_grid grid;
    fp_grid_init(&grid, of_vitals, FP_COUNT(of_vitals));
    for (size_t i = 0; i < FP_COUNT(cells); i++)
        fp_grid_add(&grid, cells[i]);
    static const char *const expected[] = {"CLS", "score", "0.11", "LCP", "ms", "2523.1"};
    for (size_t i = 0; i < FP_COUNT(cells); i++) {
        char *text = shown(&grid, i / FP_COUNT(of_vitals), i % FP_COUNT(of_vitals));
        assert_string_equal(text, expected[i]);
        free(text);
    }
    fp_grid_release(&grid);
}

static void wide_characters_stay_aligned(void **state)
{
    (void)state;
    assert_drawn(0, "関数", "/größe.js",
                 "FUNCTION WHERE     SELF MS\n"
                 "関数     /größe.js    12.2");
}

static void a_cell_cannot_command_the_terminal(void **state)
{
    (void)state;
    assert_drawn(0, "a\x1b[2J\xc2\x9b\n", "\xff/x",
                 "FUNCTION             WHERE SELF MS\n"
                 "a\\x1b[2J\\xc2\\x9b\\x0a \uFFFD/x      12.2");
}

static const struct fp_grid_column with_extras[] = {
    {"function", "FUNCTION", FP_CELL_TEXT},  {"self", "SELF MS/LOAD", FP_CELL_MS},
    {"where", "WHERE", FP_CELL_PATH},        {"samples", "SAMPLES", FP_CELL_INTEGER},
    {"uploads", "UPLOADS", FP_CELL_INTEGER},
};

static bool has_extras_at(size_t width)
{
    char *lines = drawn(
        with_extras, 3, width,
        (const char *[]){"12345678901234567890", "1", "https://shop.example/app.js", "1", "1"}, 5);
    bool has_samples = strstr(lines, "SAMPLES") != NULL;
    assert_true(has_samples == (strstr(lines, "UPLOADS") != NULL));
    free(lines);
    return has_samples;
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

struct interval {
    wchar_t first;
    wchar_t last;
};

/* Asserts that exactly the code points in the intervals, which ascend and do not touch, are taken.
 */
static void assert_takes(bool (*takes)(wchar_t), const struct interval *intervals, size_t count)
{
    size_t at = 0;
    for (wchar_t letter = 1; letter <= 0x10FFFF; letter++) {
        while (at < count && letter > intervals[at].last)
            at++;
        const bool expected = at < count && letter >= intervals[at].first;
        if (takes(letter) != expected)
            fail_msg("U+%04X is %staken", (unsigned)letter, expected ? "not " : "");
    }
}

/* Characters that change the direction of text (Bidi_Control, and deprecated ones beside it), and
 * characters without width that change no letter beside them. */
static void hidden_letters_are_these(void **state)
{
    (void)state;
    static const struct interval hidden[] = {
        {0x061C, 0x061C}, {0x180E, 0x180E}, {0x200B, 0x200B}, {0x200E, 0x200F},   {0x202A, 0x202E},
        {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F},
    };
    assert_takes(fp_terminal_is_hidden, hidden, FP_COUNT(hidden));
}

/* Control characters but tab, line feed and carriage return, which begin a formula or a line;
 * blanks; what Unicode says to ignore by default. */
static void spreadsheets_look_behind_these(void **state)
{
    (void)state;
    static const struct interval invisible[] = {
        {0x01, 0x08},     {0x0B, 0x0C},       {0x0E, 0x20},     {0x7F, 0xA0},     {0xAD, 0xAD},
        {0x34F, 0x34F},   {0x61C, 0x61C},     {0x115F, 0x1160}, {0x1680, 0x1680}, {0x17B4, 0x17B5},
        {0x180B, 0x180F}, {0x2000, 0x200F},   {0x2028, 0x202F}, {0x205F, 0x206F}, {0x2800, 0x2800},
        {0x3000, 0x3000}, {0x3164, 0x3164},   {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0},
        {0xFFF9, 0xFFFB}, {0xE0000, 0xE0FFF},
    };
    assert_takes(is_invisible, invisible, FP_COUNT(invisible));
}

static void formulas_begin_with_these(void **state)
{
    (void)state;
    static const struct interval starts[] = {
        {'\t', '\n'},     {'\r', '\r'},     {'+', '+'},       {'-', '-'},       {'=', '='},
        {'@', '@'},       {0xFE62, 0xFE63}, {0xFE66, 0xFE66}, {0xFE6B, 0xFE6B}, {0xFF0B, 0xFF0B},
        {0xFF0D, 0xFF0D}, {0xFF1D, 0xFF1D}, {0xFF20, 0xFF20},
    };
    assert_takes(begins_formula, starts, FP_COUNT(starts));
}

int main(void)
{
    /* As main() does. */
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_loses_its_start),
        cmocka_unit_test(a_cut_never_splits_a_character),
        cmocka_unit_test(off_a_terminal_nothing_is_cut),
        cmocka_unit_test(paths_get_what_texts_leave),
        cmocka_unit_test(a_long_name_is_cut_to_what_a_path_leaves),
        cmocka_unit_test(a_sentence_is_wrapped),
        cmocka_unit_test(a_tiny_terminal_still_shows_something),
        cmocka_unit_test(a_score_is_not_shown_times_a_thousand),
        cmocka_unit_test(wide_characters_stay_aligned),
        cmocka_unit_test(a_cell_cannot_command_the_terminal),
        cmocka_unit_test(extra_columns_are_left_out_together_where_there_is_no_room),
        cmocka_unit_test(numbers_are_json_numbers_and_nothing_else_is),
        cmocka_unit_test(hidden_letters_are_these),
        cmocka_unit_test(spreadsheets_look_behind_these),
        cmocka_unit_test(formulas_begin_with_these),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
