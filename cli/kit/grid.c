/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grid: the three forms of an answer: aligned text, JSON and CSV.
 */
#include "cli/kit/grid.h"

#include "cli/kit/memory.h"
#include "cli/kit/terminal.h"

#include <errno.h>
#include <libsmartcols.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>
#include <yyjson.h>

#define ELLIPSIS "…"

/* On a terminal. */
#define CUT_WIDTH_MIN 16 /* of a text or a path */
#define TEXT_SHARE 0.25  /* of the width: texts that take no more are cut last */

void fp_grid_init(struct fp_grid *grid, const struct fp_grid_column *columns, size_t column_count)
{
    *grid = (struct fp_grid){
        .columns = columns, .column_count = column_count, .extra_from = column_count};
}

void fp_grid_release(struct fp_grid *grid)
{
    for (size_t i = 0; i < grid->cell_count; i++)
        free(grid->cells[i]);
    free(grid->cells);
    fp_grid_init(grid, grid->columns, grid->column_count);
}

/* Returns a copy in which each byte that is not part of a character is U+FFFD, as file names may
 * have them. The caller frees it. */
static char *copy_valid(const char *text)
{
    if (mbstowcs(NULL, text, 0) != (size_t)-1)
        return fp_memory_copy(text);
    struct fp_str left = fp_str_of(text);
    struct fp_buf valid;
    fp_buf_init(&valid, 3 * left.len + 1);
    while (left.len > 0) {
        wchar_t letter;
        const char *begin = left.ptr;
        if (fp_terminal_read_letter(&left, &letter))
            fp_buf_add(&valid, begin, (size_t)(left.ptr - begin));
        else
            fp_buf_add(&valid, "\uFFFD", strlen("\uFFFD"));
    }
    char *copy = fp_memory_copy(fp_memory_text(&valid));
    fp_buf_release(&valid);
    return copy;
}

void fp_grid_add(struct fp_grid *grid, const char *value)
{
    grid->cells =
        fp_memory_grow(grid->cells, grid->cell_count, &grid->cell_capacity, sizeof(*grid->cells));
    grid->cells[grid->cell_count++] = value != NULL ? copy_valid(value) : NULL;
}

void fp_grid_add_integer(struct fp_grid *grid, int64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "%lld", (long long)value);
    fp_grid_add(grid, text);
}

void fp_grid_add_text(struct fp_grid *grid, const char *text)
{
    fp_grid_add(grid, text[0] != '\0' ? text : NULL);
}

void fp_grid_add_optional(struct fp_grid *grid, bool is_there, int64_t value)
{
    if (is_there)
        fp_grid_add_integer(grid, value);
    else
        fp_grid_add(grid, NULL);
}

void fp_grid_add_nothing(struct fp_grid *grid, size_t cells)
{
    for (; cells > 0; cells--)
        fp_grid_add(grid, NULL);
}

size_t fp_grid_rows(const struct fp_grid *grid)
{
    return grid->cell_count / grid->column_count;
}

static const char *cell_at(const struct fp_grid *grid, size_t row, size_t column)
{
    return grid->cells[row * grid->column_count + column];
}

/* ---- JSON ---- */

/* SQL writes numbers as JSON does, except NaN and the infinities. */
static bool is_json_number(const char *text)
{
    return text[0] == '-' ? (text[1] >= '0' && text[1] <= '9') : (text[0] >= '0' && text[0] <= '9');
}

static yyjson_mut_val *json_value(yyjson_mut_doc *doc, enum fp_cell cell, const char *text)
{
    if (text == NULL)
        return yyjson_mut_null(doc);
    switch (cell) {
    case FP_CELL_TEXT:
    case FP_CELL_SENTENCE:
    case FP_CELL_WORD:
    case FP_CELL_TIME:
    case FP_CELL_PATH:
        return yyjson_mut_str(doc, text);
    case FP_CELL_BOOLEAN:
        return yyjson_mut_bool(doc, text[0] == 't');
    case FP_CELL_JSON:
        return yyjson_mut_raw(doc, text);
    case FP_CELL_INTEGER:
    case FP_CELL_MS:
    case FP_CELL_SHARE:
        break;
    }
    return is_json_number(text) ? yyjson_mut_raw(doc, text) : yyjson_mut_null(doc);
}

static void add_json_row(yyjson_mut_doc *doc, yyjson_mut_val *rows, const struct fp_grid *grid,
                         size_t row)
{
    yyjson_mut_val *object = fp_memory_need(yyjson_mut_arr_add_obj(doc, rows));
    for (size_t i = 0; i < grid->column_count; i++) {
        const struct fp_grid_column *column = &grid->columns[i];
        if (column->name != NULL &&
            !yyjson_mut_obj_add_val(doc, object, column->name,
                                    json_value(doc, column->cell, cell_at(grid, row, i))))
            fp_memory_end();
    }
}

static void print_json(const struct fp_grid *grid)
{
    yyjson_mut_doc *doc = fp_memory_need(yyjson_mut_doc_new(NULL));
    yyjson_mut_val *rows = fp_memory_need(yyjson_mut_arr(doc));
    yyjson_mut_doc_set_root(doc, rows);
    for (size_t row = 0; row < fp_grid_rows(grid); row++)
        add_json_row(doc, rows, grid, row);
    size_t len;
    char *text = fp_memory_need(yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, &len));
    fp_terminal_write_json(stdout, (struct fp_str){text, len});
    (void)putchar('\n');
    free(text);
    yyjson_mut_doc_free(doc);
}

/* ---- CSV ---- */

static bool is_text(enum fp_cell cell)
{
    return cell == FP_CELL_TEXT || cell == FP_CELL_SENTENCE || cell == FP_CELL_WORD ||
           cell == FP_CELL_TIME || cell == FP_CELL_PATH;
}

static bool is_number(enum fp_cell cell)
{
    return cell == FP_CELL_INTEGER || cell == FP_CELL_MS || cell == FP_CELL_SHARE;
}

/* True for what formulas begin with, also in full width or small, as some locales take them. */
static bool begins_formula(wchar_t letter)
{
    return letter != L'\0' &&
           wcschr(L"=+-@\t\r\n\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b", letter) != NULL;
}

struct letter_range {
    wchar_t first;
    wchar_t last;
};

static bool is_in(wchar_t letter, const struct letter_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (letter >= ranges[i].first && letter <= ranges[i].last)
            return true;
    return false;
}

/* True for blanks, characters without width and control characters: spreadsheets drop them, at
 * least when they import. */
static bool is_invisible(wchar_t letter)
{
    static const struct letter_range ranges[] = {
        {0x01, 0x08},     {0x0B, 0x0C},       {0x0E, 0x20},     {0x7F, 0xA0},     {0xAD, 0xAD},
        {0x34F, 0x34F},   {0x61C, 0x61C},     {0x115F, 0x1160}, {0x1680, 0x1680}, {0x17B4, 0x17B5},
        {0x180B, 0x180F}, {0x2000, 0x200F},   {0x2028, 0x202F}, {0x205F, 0x206F}, {0x2800, 0x2800},
        {0x3000, 0x3000}, {0x3164, 0x3164},   {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0},
        {0xFFF9, 0xFFFB}, {0xE0000, 0xE0FFF},
    };
    return is_in(letter, ranges, FP_COUNT(ranges));
}

/* Returns the first character that is visible or begins a formula; 0: none. */
static wchar_t first_visible(const char *text)
{
    struct fp_str left = fp_str_of(text);
    wchar_t letter = L'\0';
    while (left.len > 0 && fp_terminal_read_letter(&left, &letter))
        if (!is_invisible(letter))
            return letter;
    return L'\0';
}

/* True for a text that a spreadsheet would run as a formula. A number is none. */
static bool is_formula(const char *text)
{
    if (!begins_formula(first_visible(text)))
        return false;
    char *end = NULL;
    (void)strtod(text, &end);
    return !is_json_number(text) || *end != '\0';
}

/* Prints a field as RFC 4180 has it; an apostrophe before a text defuses a formula. */
static void print_quoted(const char *text, bool is_dangerous)
{
    if (!is_dangerous && strpbrk(text, "\",\r\n") == NULL) {
        (void)fputs(text, stdout);
        return;
    }
    (void)fputs(is_dangerous ? "\"'" : "\"", stdout);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            (void)putchar('"');
        (void)putchar(*text);
    }
    (void)putchar('"');
}

static void print_field(const char *text, bool defuse)
{
    const bool is_dangerous = defuse && is_formula(text);
    if (isatty(STDOUT_FILENO) != 1) {
        print_quoted(text, is_dangerous);
        return;
    }
    char *safe = fp_terminal_copy_safe(fp_str_of(text));
    print_quoted(safe, is_dangerous);
    free(safe);
}

static void print_names(const struct fp_grid *grid)
{
    const char *comma = "";
    for (size_t i = 0; i < grid->column_count; i++) {
        if (grid->columns[i].name == NULL)
            continue;
        (void)printf("%s%s", comma, grid->columns[i].name);
        comma = ",";
    }
    (void)putchar('\n');
}

/* Prints the cells that have a name; no value, NaN and the infinities are empty fields. */
static void print_fields(const struct fp_grid *grid, size_t row)
{
    const char *comma = "";
    for (size_t i = 0; i < grid->column_count; i++) {
        const struct fp_grid_column *column = &grid->columns[i];
        const char *text = cell_at(grid, row, i);
        if (column->name == NULL)
            continue;
        (void)fputs(comma, stdout);
        comma = ",";
        if (text != NULL && column->cell == FP_CELL_BOOLEAN)
            text = text[0] == 't' ? "true" : "false";
        if (text != NULL && (!is_number(column->cell) || is_json_number(text)))
            print_field(text, is_text(column->cell));
    }
    (void)putchar('\n');
}

static void print_csv(const struct fp_grid *grid)
{
    print_names(grid);
    for (size_t row = 0; row < fp_grid_rows(grid); row++)
        print_fields(grid, row);
}

/* ---- text ---- */

/* Moves past one character and returns the columns of the terminal that it takes. libsmartcols
 * prints a control character as \xHH. */
static size_t step(struct fp_str *text)
{
    wchar_t letter;
    const char *begin = text->ptr;
    int columns = fp_terminal_read_letter(text, &letter) ? wcwidth(letter) : -1;
    return columns >= 0 ? (size_t)columns : strlen("\\xHH") * (size_t)(text->ptr - begin);
}

/* Returns a copy without changes of direction. The caller frees it. */
static char *copy_directed(const char *text)
{
    struct fp_str left = fp_str_of(text);
    char *copy = fp_memory_copy(text);
    char *end = copy;
    while (left.len > 0) {
        wchar_t letter;
        const char *begin = left.ptr;
        if (fp_terminal_read_letter(&left, &letter) && fp_terminal_is_hidden(letter))
            *end++ = '?';
        else
            end = mempcpy(end, begin, (size_t)(left.ptr - begin));
    }
    *end = '\0';
    return copy;
}

/* Returns a copy without changes of direction that takes at most max_width columns, at least 1: it
 * loses its start. The caller frees it. */
static char *keep_end(const char *text, size_t max_width)
{
    char *copy = copy_directed(text);
    struct fp_str from = fp_str_of(copy);
    size_t width = 0;
    for (struct fp_str left = from; left.len > 0;)
        width += step(&left);
    if (width <= max_width)
        return copy;
    while (width > max_width - 1)
        width -= step(&from);
    char *end = fp_memory_print(ELLIPSIS "%s", from.ptr);
    free(copy);
    return end;
}

/* ---- cells for people ---- */

/* The unit of CLS. People read the score itself. */
#define SCORE "score x 1000"

static bool is_called(const struct fp_grid_column *column, const char *name, const char *heading)
{
    return (column->name != NULL && strcmp(column->name, name) == 0) ||
           (column->heading != NULL && strcmp(column->heading, heading) == 0);
}

/* True if a row has a unit, and it is that of CLS. */
static bool is_of_scores(const struct fp_grid *grid, size_t row)
{
    for (size_t i = 0; i < grid->column_count; i++) {
        const char *text = cell_at(grid, row, i);
        if (text != NULL && is_called(&grid->columns[i], "unit", "UNIT"))
            return strcmp(text, SCORE) == 0;
    }
    return false;
}

static char *copy_number(const struct fp_grid *grid, size_t row, enum fp_cell cell,
                         const char *text)
{
    char shown[FP_TERMINAL_NUMBER_SIZE];
    const double number = strtod(text, NULL);
    if (cell == FP_CELL_SHARE)
        return fp_memory_copy(fp_terminal_number(shown, 100 * number, 1));
    if (is_of_scores(grid, row))
        return fp_memory_copy(fp_terminal_number(shown, number / 1000, 2));
    return fp_memory_copy(fp_terminal_number(shown, number, 1));
}

/* Lines are counted, but are names of places. */
static bool is_count(const struct fp_grid_column *column)
{
    return column->cell == FP_CELL_INTEGER && !is_called(column, "line", "LINE");
}

/* Returns a cell as people read it. The caller frees it. */
static char *shown(const struct fp_grid *grid, size_t row, size_t column)
{
    char number[FP_TERMINAL_NUMBER_SIZE];
    const enum fp_cell cell = grid->columns[column].cell;
    const char *text = cell_at(grid, row, column);
    if (text == NULL)
        return fp_memory_copy("");
    if (cell == FP_CELL_MS || cell == FP_CELL_SHARE)
        return copy_number(grid, row, cell, text);
    if (is_count(&grid->columns[column]) && strlen(text) < 15 && is_json_number(text))
        return fp_memory_copy(fp_terminal_number(number, strtod(text, NULL), 0));
    if (strcmp(text, SCORE) == 0 && is_called(&grid->columns[column], "unit", "UNIT"))
        return fp_memory_copy("score");
    return copy_directed(text);
}

/* ---- lines of a pipe ---- */

static void write_lines(const struct fp_grid *grid, FILE *out)
{
    const char *tab = "";
    for (size_t i = 0; i < grid->column_count; i++) {
        if (grid->columns[i].heading == NULL)
            continue;
        (void)fprintf(out, "%s%s", tab, grid->columns[i].heading);
        tab = "\t";
    }
    for (size_t i = 0; i < grid->cell_count; i++) {
        const size_t column = i % grid->column_count;
        if (column == 0) {
            (void)putc('\n', out);
            tab = "";
        }
        if (grid->columns[column].heading == NULL)
            continue;
        char *text = shown(grid, i / grid->column_count, column);
        char *safe = fp_terminal_copy_safe(fp_str_of(text));
        (void)fprintf(out, "%s%s", tab, safe);
        tab = "\t";
        free(safe);
        free(text);
    }
    (void)putc('\n', out);
}

/* Prints headings and rows with a tab between cells: without memory for all of them, none. */
static void print_lines(const struct fp_grid *grid)
{
    char *lines = NULL;
    size_t len = 0;
    FILE *out = fp_memory_need(open_memstream(&lines, &len));
    write_lines(grid, out);
    const bool failed = ferror(out) != 0;
    /* glibc leaves no text, and no error, if it cannot shrink the buffer at the end. */
    if (fclose(out) != 0 || failed || lines == NULL)
        fp_memory_end();
    (void)fwrite(lines, 1, len, stdout);
    free(lines);
}

/* ---- a table on a terminal ---- */

/* Returns the colour of a cell, as libsmartcols takes it; NULL: none. */
static const char *colour_of(const struct fp_grid_column *column, const char *text)
{
    static const struct {
        const char *word; /* that the verdict begins with */
        enum fp_style style;
    } verdicts[] = {
        {"slower", FP_STYLE_WARN}, {"new", FP_STYLE_WARN},  {"over", FP_STYLE_WARN},
        {"faster", FP_STYLE_GOOD}, {"gone", FP_STYLE_GOOD}, {"within", FP_STYLE_GOOD},
    };
    if (text == NULL || !is_called(column, "verdict", "VERDICT"))
        return NULL;
    for (size_t i = 0; i < FP_COUNT(verdicts); i++)
        if (strncmp(text, verdicts[i].word, strlen(verdicts[i].word)) == 0)
            return fp_terminal_style(stdout, verdicts[i].style);
    return NULL;
}

static void colour_cell(struct libscols_cell *cell, const char *colour)
{
    if (colour != NULL && cell != NULL && scols_cell_set_color(cell, colour) != 0)
        fp_memory_end();
}

static int column_flags(const struct fp_grid_column *column)
{
    if (column->heading == NULL)
        return SCOLS_FL_HIDDEN;
    if (column->cell == FP_CELL_TEXT)
        return SCOLS_FL_TRUNC;
    if (column->cell == FP_CELL_SENTENCE)
        return SCOLS_FL_WRAP;
    return column->cell <= FP_CELL_PATH ? 0 : SCOLS_FL_RIGHT;
}

/* Gives a cell of the table a text, which is freed with it. */
static void set_cell(struct libscols_line *line, size_t column, char *text)
{
    if (scols_line_refer_data(line, column, text) != 0)
        fp_memory_end();
}

/* Returns a table with the columns and rows of a grid. */
static struct libscols_table *make_table(const struct fp_grid *grid)
{
    const bool coloured = fp_terminal_has_colours(stdout);
    struct libscols_table *table = fp_memory_need(scols_new_table());
    if (scols_table_enable_colors(table, coloured ? 1 : 0) != 0)
        fp_memory_end();
    for (size_t i = 0; i < grid->column_count; i++) {
        const struct fp_grid_column *column = &grid->columns[i];
        struct libscols_column *made = fp_memory_need(scols_table_new_column(
            table, column->heading != NULL ? column->heading : "",
            column->cell <= FP_CELL_SENTENCE ? TEXT_SHARE : 0, column_flags(column)));
        if (coloured)
            colour_cell(scols_column_get_header(made), fp_terminal_style(stdout, FP_STYLE_BOLD));
    }
    for (size_t row = 0; row < fp_grid_rows(grid); row++) {
        struct libscols_line *line = fp_memory_need(scols_table_new_line(table, NULL));
        for (size_t i = 0; i < grid->column_count; i++) {
            set_cell(line, i, shown(grid, row, i));
            if (coloured)
                colour_cell(scols_line_get_cell(line, i),
                            colour_of(&grid->columns[i], cell_at(grid, row, i)));
        }
    }
    return table;
}

/*
 * Returns the lines of a table. The caller frees them.
 *
 * When libsmartcols has no memory for a cell, it leaves the cell blank and returns 0; only errno
 * tells. Nothing overwrites it later: that would take invalid UTF-8, and cells are valid.
 */
static char *draw(struct libscols_table *table, int termforce)
{
    char *lines = NULL;
    (void)scols_table_set_termforce(table, termforce);
    errno = 0;
    if (scols_print_table_to_string(table, &lines) != 0 || errno == ENOMEM)
        fp_memory_end();
    return fp_memory_need(lines);
}

/* Returns how wide a table that was drawn is without its paths, with texts cut to text_max and a
 * blank after each column. */
static size_t width_without_paths(const struct fp_grid *grid, struct libscols_table *table,
                                  size_t text_max)
{
    size_t total = 0;
    for (size_t i = 0; i < grid->column_count; i++) {
        struct libscols_column *column = scols_table_get_column(table, i);
        size_t width = scols_column_get_width(column);
        if (grid->columns[i].cell <= FP_CELL_SENTENCE && width > text_max)
            width = text_max;
        if (grid->columns[i].cell != FP_CELL_PATH && !scols_column_is_hidden(column))
            total += width + 1;
    }
    return total;
}

static void hide(struct libscols_table *table, size_t column)
{
    (void)scols_column_set_flags(scols_table_get_column(table, column), SCOLS_FL_HIDDEN);
}

/* Returns the width that a table needs at least: texts and paths are cut to CUT_WIDTH_MIN. */
static size_t least_width(const struct fp_grid *grid, struct libscols_table *table)
{
    size_t width = width_without_paths(grid, table, CUT_WIDTH_MIN);
    for (size_t i = 0; i < grid->column_count; i++) {
        struct libscols_column *column = scols_table_get_column(table, i);
        if (grid->columns[i].cell == FP_CELL_PATH && !scols_column_is_hidden(column))
            width += CUT_WIDTH_MIN + 1;
    }
    return width > 0 ? width - 1 : 0; /* no blank after the last one */
}

/* Hides columns for which there is no room: the extra ones, then from the last one on, but not the
 * first two. */
static void drop_columns(const struct fp_grid *grid, struct libscols_table *table, size_t room)
{
    enum { KEPT = 2 };
    const bool is_narrow = least_width(grid, table) > room;
    for (size_t i = grid->extra_from; is_narrow && i < grid->column_count; i++)
        hide(table, i);
    size_t shown_count = 0;
    for (size_t i = 0; i < grid->column_count; i++)
        shown_count += scols_column_is_hidden(scols_table_get_column(table, i)) ? 0 : 1;
    for (size_t i = grid->column_count; i > 0 && shown_count > KEPT; i--) {
        struct libscols_column *column = scols_table_get_column(table, i - 1);
        if (least_width(grid, table) <= room)
            return;
        if (scols_column_is_hidden(column) || grid->columns[i - 1].cell == FP_CELL_PATH)
            continue;
        hide(table, i - 1);
        shown_count--;
    }
}

/* Prepares a table that was drawn for a terminal: drops columns, and cuts paths to what the others
 * leave. libsmartcols cuts texts itself. */
static void fit(const struct fp_grid *grid, struct libscols_table *table, size_t terminal_width)
{
    drop_columns(grid, table, terminal_width);
    size_t needed = width_without_paths(grid, table, (size_t)(TEXT_SHARE * (double)terminal_width));
    size_t path_width =
        needed + CUT_WIDTH_MIN < terminal_width ? terminal_width - needed : CUT_WIDTH_MIN;
    for (size_t i = 0; i < grid->cell_count; i++) {
        size_t column = i % grid->column_count;
        if (grid->cells[i] != NULL && grid->columns[column].cell == FP_CELL_PATH)
            set_cell(scols_table_get_line(table, i / grid->column_count), column,
                     keep_end(grid->cells[i], path_width));
    }
}

static void print_text(const struct fp_grid *grid)
{
    if (fp_grid_rows(grid) == 0)
        return;
    if (isatty(STDOUT_FILENO) != 1) {
        print_lines(grid);
        return;
    }
    struct libscols_table *table = make_table(grid);
    free(draw(table, SCOLS_TERMFORCE_NEVER)); /* tells how wide columns are */
    fit(grid, table, scols_table_get_termwidth(table));
    char *lines = draw(table, SCOLS_TERMFORCE_ALWAYS);
    (void)puts(lines); /* the last line has no line feed */
    free(lines);
    scols_unref_table(table);
}

void fp_grid_print(const struct fp_grid *grid, enum fp_form form)
{
    if (form == FP_FORM_JSON)
        print_json(grid);
    else if (form == FP_FORM_CSV)
        print_csv(grid);
    else
        print_text(grid);
}
