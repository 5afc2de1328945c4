/*
 * Table: the two faces of an answer, aligned text by libsmartcols and JSON by yyjson.
 */
#include "cli/table.h"

#include "cli/message.h"
#include "collector/base/buf.h"

#include <libsmartcols.h>
#include <unistd.h>
#include <wchar.h>
#include <yyjson.h>

#define MAX_CELLS ((size_t)16 * 1024 * 1024)
#define ELLIPSIS "…"

/* On a terminal. */
#define TEXT_WIDTH_MIN 16
#define TEXT_WIDTH_MAX 48
#define PATH_WIDTH_MIN 16

void fp_table_init(struct fp_table *table, const struct fp_column *columns, size_t column_count)
{
    *table = (struct fp_table){.columns = columns, .column_count = column_count};
}

void fp_table_release(struct fp_table *table)
{
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (struct fp_table){.columns = table->columns, .column_count = table->column_count};
}

static bool reserve_cell(struct fp_table *table)
{
    if (table->cell_count < table->cell_capacity)
        return true;
    size_t capacity = table->cell_capacity == 0 ? 256 : 2 * table->cell_capacity;
    char **cells =
        capacity <= MAX_CELLS ? reallocarray(table->cells, capacity, sizeof(*cells)) : NULL;
    if (cells == NULL)
        return false;
    table->cells = cells;
    table->cell_capacity = capacity;
    return true;
}

void fp_table_add(struct fp_table *table, const char *value)
{
    if (table->failed || !reserve_cell(table)) {
        table->failed = true;
        return;
    }
    char *copy = value != NULL ? strdup(value) : NULL;
    table->failed = value != NULL && copy == NULL;
    table->cells[table->cell_count++] = copy;
}

void fp_table_add_integer(struct fp_table *table, int64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "%lld", (long long)value);
    fp_table_add(table, text);
}

size_t fp_table_rows(const struct fp_table *table)
{
    return table->cell_count / table->column_count;
}

static const char *cell_at(const struct fp_table *table, size_t row, size_t column)
{
    return table->cells[row * table->column_count + column];
}

/* Goes past one letter, or a byte that begins none. */
static bool read_letter(const char **text, wchar_t *letter)
{
    mbstate_t state = {0};
    size_t len = mbrtowc(letter, *text, MB_CUR_MAX, &state);
    bool valid = len != (size_t)-1 && len != (size_t)-2;
    *text += valid ? len : 1;
    return valid;
}

/* JSON ------------------------------------------------------------------------------------------
 */

/* A file's name may be no UTF-8, which JSON is: bytes that make no letter become U+FFFD. */
static yyjson_mut_val *json_text(yyjson_mut_doc *doc, const char *text)
{
    if (mbstowcs(NULL, text, 0) != (size_t)-1)
        return yyjson_mut_str(doc, text);
    struct fp_buf valid;
    fp_buf_init(&valid, 3 * strlen(text));
    while (*text != '\0') {
        wchar_t letter;
        const char *begin = text;
        if (read_letter(&text, &letter))
            fp_buf_add(&valid, begin, (size_t)(text - begin));
        else
            fp_buf_add(&valid, "\uFFFD", strlen("\uFFFD"));
    }
    yyjson_mut_val *value =
        valid.failed ? NULL : yyjson_mut_strncpy(doc, (const char *)valid.data, valid.len);
    fp_buf_release(&valid);
    return value;
}

/* SQL writes numbers as JSON does, but for NaN and the infinities. */
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
    case FP_CELL_WORD:
    case FP_CELL_PATH:
        return json_text(doc, text);
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

static bool add_json_row(yyjson_mut_doc *doc, yyjson_mut_val *rows, const struct fp_table *table,
                         size_t row)
{
    yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, rows);
    bool fine = object != NULL;
    for (size_t i = 0; fine && i < table->column_count; i++) {
        const struct fp_column *column = &table->columns[i];
        if (column->name != NULL) {
            fine = yyjson_mut_obj_add_val(doc, object, column->name,
                                          json_value(doc, column->cell, cell_at(table, row, i)));
        }
    }
    return fine;
}

static bool print_json(const struct fp_table *table)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    if (doc == NULL)
        return false;
    yyjson_mut_val *rows = yyjson_mut_arr(doc);
    yyjson_mut_doc_set_root(doc, rows);
    bool fine = rows != NULL;
    for (size_t row = 0; fine && row < fp_table_rows(table); row++)
        fine = add_json_row(doc, rows, table, row);
    size_t len;
    char *text = fine ? yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, &len) : NULL;
    if (text != NULL) {
        (void)fwrite(text, 1, len, stdout);
        (void)putchar('\n');
    }
    free(text);
    yyjson_mut_doc_free(doc);
    return text != NULL;
}

/* Text ------------------------------------------------------------------------------------------
 */

/* Steps over one character of a UTF-8 text and returns the terminal's columns that it takes. */
static size_t step(const char **text)
{
    wchar_t letter;
    int columns = read_letter(text, &letter) ? wcwidth(letter) : 1;
    return columns >= 0 ? (size_t)columns : 1;
}

static size_t text_width(const char *text)
{
    size_t width = 0;
    while (*text != '\0')
        width += step(&text);
    return width;
}

/* A copy that takes at most so many columns (at least 1): a path loses its start, a text its end.
 */
static char *cut_text(const char *text, enum fp_cell cell, size_t max_width)
{
    size_t width = text_width(text);
    if (width <= max_width)
        return strdup(text);
    const char *from = text, *end = text;
    if (cell == FP_CELL_PATH) {
        while (width > max_width - 1)
            width -= step(&from);
        end = from + strlen(from);
    } else {
        const char *next = text;
        width = 0;
        while ((width += step(&next)) <= max_width - 1)
            end = next;
    }
    char *cut = NULL;
    int len = asprintf(&cut, "%s%.*s%s", from > text ? ELLIPSIS : "", (int)(end - from), from,
                       from > text ? "" : ELLIPSIS);
    return len < 0 ? NULL : cut;
}

/* A cell as people read it; the caller frees it. NULL when memory ran out. */
static char *shown(enum fp_cell cell, const char *text)
{
    if (text == NULL)
        return strdup("");
    char *number = NULL;
    int len = 0;
    switch (cell) {
    case FP_CELL_MS:
        len = asprintf(&number, "%.1f", strtod(text, NULL));
        break;
    case FP_CELL_SHARE:
        len = asprintf(&number, "%.1f", 100 * strtod(text, NULL));
        break;
    case FP_CELL_TEXT:
    case FP_CELL_WORD:
    case FP_CELL_PATH:
    case FP_CELL_INTEGER:
    case FP_CELL_BOOLEAN:
    case FP_CELL_JSON:
        return strdup(text);
    }
    return len < 0 ? NULL : number;
}

/* How wide cells may be, SIZE_MAX for as wide as they are. */
struct layout {
    size_t text;
    size_t path;
};

static size_t max_width(const struct layout *layout, enum fp_cell cell)
{
    if (cell == FP_CELL_TEXT)
        return layout->text;
    return cell == FP_CELL_PATH ? layout->path : SIZE_MAX;
}

/* The width of a column as it would be without a limit; 0 when it is not shown. */
static size_t natural_width(const struct fp_table *table, size_t column)
{
    const struct fp_column *c = &table->columns[column];
    if (c->heading == NULL)
        return 0;
    size_t widest = text_width(c->heading);
    for (size_t row = 0; row < fp_table_rows(table); row++) {
        char *text = shown(c->cell, cell_at(table, row, column));
        size_t width = text != NULL ? text_width(text) : 0;
        widest = width > widest ? width : widest;
        free(text);
    }
    return widest;
}

static size_t clamp(size_t value, size_t min, size_t max)
{
    if (value < min)
        return min;
    return value < max ? value : max;
}

/* On a terminal texts and paths share what numbers and words leave; paths get what texts do not
 * need. A table has at most one column of paths. */
static struct layout choose_layout(const struct fp_table *table, size_t terminal_width)
{
    size_t left = terminal_width;
    size_t widest_text = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        enum fp_cell cell = table->columns[i].cell;
        size_t width = natural_width(table, i);
        if (cell == FP_CELL_TEXT && width > widest_text)
            widest_text = width;
        else if (cell != FP_CELL_PATH && width > 0)
            left -= clamp(width + 1, 0, left);
    }
    size_t text = clamp(clamp(widest_text, 0, left / 2), TEXT_WIDTH_MIN, TEXT_WIDTH_MAX);
    return (struct layout){text, clamp(left - clamp(text + 1, 0, left), PATH_WIDTH_MIN, SIZE_MAX)};
}

static bool add_headings(const struct fp_table *table, struct libscols_table *printed)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const struct fp_column *column = &table->columns[i];
        bool left = column->cell <= FP_CELL_PATH;
        if (column->heading != NULL &&
            scols_table_new_column(printed, column->heading, 0, left ? 0 : SCOLS_FL_RIGHT) == NULL)
            return false;
    }
    return true;
}

static bool add_row(const struct fp_table *table, size_t row, struct layout layout,
                    struct libscols_table *printed)
{
    struct libscols_line *line = scols_table_new_line(printed, NULL);
    bool fine = line != NULL;
    size_t at = 0;
    for (size_t i = 0; fine && i < table->column_count; i++) {
        const struct fp_column *column = &table->columns[i];
        if (column->heading == NULL)
            continue;
        char *text = shown(column->cell, cell_at(table, row, i));
        char *cut =
            text != NULL ? cut_text(text, column->cell, max_width(&layout, column->cell)) : NULL;
        free(text);
        fine = cut != NULL && scols_line_refer_data(line, at++, cut) == 0;
    }
    return fine;
}

static size_t count_ink(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += *text != ' ' && *text != '\n';
    return count;
}

/*
 * Whether a text holds all headings and cells. libsmartcols leaves those blank that it has no
 * memory for, and says nothing; what it cannot show as it is it only makes longer.
 */
static bool is_whole(const char *text, struct libscols_table *printed)
{
    size_t expected = 0;
    for (size_t i = 0; i < scols_table_get_ncols(printed); i++) {
        struct libscols_column *column = scols_table_get_column(printed, i);
        expected += count_ink(scols_column_get_name(column));
        for (size_t row = 0; row < scols_table_get_nlines(printed); row++) {
            struct libscols_line *line = scols_table_get_line(printed, row);
            expected += count_ink(scols_cell_get_data(scols_line_get_cell(line, i)));
        }
    }
    return count_ink(text) >= expected;
}

static bool print_whole(struct libscols_table *printed)
{
    char *text = NULL;
    bool fine =
        scols_print_table_to_string(printed, &text) == 0 && text != NULL && is_whole(text, printed);
    if (fine)
        (void)puts(text); /* it has no line feed at its end */
    free(text);
    return fine;
}

static bool print_text(const struct fp_table *table)
{
    if (fp_table_rows(table) == 0)
        return true;
    struct libscols_table *printed = scols_new_table();
    if (printed == NULL)
        return false;
    struct layout layout = {SIZE_MAX, SIZE_MAX};
    if (isatty(STDOUT_FILENO) == 1)
        layout = choose_layout(table, scols_table_get_termwidth(printed));
    bool fine = add_headings(table, printed);
    for (size_t row = 0; fine && row < fp_table_rows(table); row++)
        fine = add_row(table, row, layout, printed);
    fine = fine && print_whole(printed);
    scols_unref_table(printed);
    return fine;
}

bool fp_table_print(const struct fp_table *table, bool json)
{
    if (!table->failed && (json ? print_json(table) : print_text(table)))
        return true;
    fp_message_error("out of memory");
    return false;
}
