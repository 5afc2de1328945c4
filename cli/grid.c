/*
 * Grid: the two forms of an answer, aligned text and JSON.
 */
#include "cli/grid.h"

#include "cli/memory.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>
#include <yyjson.h>

#define ELLIPSIS "…"
#define LINES_MAX ((size_t)1 << 30)

/* On a terminal. */
#define TERMINAL_WIDTH 80 /* of one that does not tell */
#define CUT_WIDTH_MIN 16  /* of a text or a path */
#define TEXT_WIDTH_MAX 48

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

void fp_grid_add(struct fp_grid *grid, const char *value)
{
    grid->cells =
        fp_memory_grow(grid->cells, grid->cell_count, &grid->cell_capacity, sizeof(*grid->cells));
    grid->cells[grid->cell_count++] = value != NULL ? fp_memory_copy(value) : NULL;
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

/* Moves past one character. False at a byte that is not part of one. */
static bool read_letter(const char **text, wchar_t *letter)
{
    mbstate_t state = {0};
    size_t len = mbrtowc(letter, *text, MB_CUR_MAX, &state);
    bool valid = len != (size_t)-1 && len != (size_t)-2;
    *text += valid ? len : 1;
    return valid;
}

/* ---- JSON ---- */

/* JSON is UTF-8, a file name may not be: each byte that is not part of a character becomes U+FFFD.
 */
static yyjson_mut_val *json_text(yyjson_mut_doc *doc, const char *text)
{
    if (mbstowcs(NULL, text, 0) != (size_t)-1)
        return yyjson_mut_str(doc, text);
    struct fp_buf valid;
    fp_buf_init(&valid, 3 * strlen(text) + 1);
    while (*text != '\0') {
        wchar_t letter;
        const char *begin = text;
        if (read_letter(&text, &letter))
            fp_buf_add(&valid, begin, (size_t)(text - begin));
        else
            fp_buf_add(&valid, "\uFFFD", strlen("\uFFFD"));
    }
    yyjson_mut_val *value = yyjson_mut_strcpy(doc, fp_memory_text(&valid));
    fp_buf_release(&valid);
    return value;
}

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
    (void)fwrite(text, 1, len, stdout);
    (void)putchar('\n');
    free(text);
    yyjson_mut_doc_free(doc);
}

/* ---- text ---- */

/* Moves past one character and returns the columns of the terminal that it takes. */
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

/* Returns a copy that takes at most max_width columns, at least 1: a path loses its start, a text
 * its end. The caller frees it. */
static char *cut_text(const char *text, enum fp_cell cell, size_t max_width)
{
    size_t width = text_width(text);
    if (width <= max_width)
        return fp_memory_copy(text);
    const char *from = text, *end = text;
    if (cell == FP_CELL_PATH) {
        while (width > max_width - 1)
            width -= step(&from);
        return fp_memory_print(ELLIPSIS "%s", from);
    }
    const char *next = text;
    width = 0;
    while ((width += step(&next)) <= max_width - 1)
        end = next;
    return fp_memory_print("%.*s" ELLIPSIS, (int)(end - from), from);
}

/* Returns a cell as people read it. The caller frees it. */
static char *shown(enum fp_cell cell, const char *text)
{
    if (text == NULL)
        return fp_memory_copy("");
    if (cell == FP_CELL_MS)
        return fp_memory_print("%.1f", strtod(text, NULL));
    if (cell == FP_CELL_SHARE)
        return fp_memory_print("%.1f", 100 * strtod(text, NULL));
    return fp_memory_copy(text);
}

/* How wide cells may be, SIZE_MAX for no limit, and whether there is room for extra columns. */
struct layout {
    size_t text;
    size_t path;
    bool has_extras;
};

static size_t max_width(const struct layout *layout, enum fp_cell cell)
{
    if (cell == FP_CELL_TEXT)
        return layout->text;
    return cell == FP_CELL_PATH ? layout->path : SIZE_MAX;
}

static bool is_shown(const struct fp_grid *grid, size_t column, bool has_extras)
{
    return grid->columns[column].heading != NULL && (has_extras || column < grid->extra_from);
}

/* Returns the width of a column without a limit. */
static size_t natural_width(const struct fp_grid *grid, size_t column)
{
    const struct fp_grid_column *c = &grid->columns[column];
    size_t widest = text_width(c->heading);
    for (size_t row = 0; row < fp_grid_rows(grid); row++) {
        char *text = shown(c->cell, cell_at(grid, row, column));
        size_t width = text_width(text);
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

/* What columns need, with one blank between them. */
struct need {
    size_t fixed;       /* numbers and words */
    size_t widest_text; /* texts share one width */
    size_t least;       /* all columns, with texts and paths cut as far as they may be */
};

static struct need measure(const struct fp_grid *grid, bool has_extras)
{
    struct need need = {0};
    for (size_t i = 0; i < grid->column_count; i++) {
        enum fp_cell cell = grid->columns[i].cell;
        if (!is_shown(grid, i, has_extras))
            continue;
        size_t width = natural_width(grid, i);
        if (cell == FP_CELL_TEXT && width > need.widest_text)
            need.widest_text = width;
        else if (cell != FP_CELL_TEXT && cell != FP_CELL_PATH)
            need.fixed += width + 1;
        if (cell == FP_CELL_TEXT || cell == FP_CELL_PATH)
            width = clamp(width, 0, CUT_WIDTH_MIN);
        need.least += width + 1;
    }
    return need;
}

/* Lets texts and paths share what numbers and words leave; paths get what texts do not need. */
static struct layout choose_layout(const struct fp_grid *grid, size_t terminal_width)
{
    struct need need = measure(grid, true);
    bool has_extras = need.least <= terminal_width + 1;
    if (!has_extras)
        need = measure(grid, false);
    size_t left = terminal_width - clamp(need.fixed, 0, terminal_width);
    size_t text = clamp(need.widest_text, 0, clamp(left / 2, CUT_WIDTH_MIN, TEXT_WIDTH_MAX));
    size_t path = clamp(left - clamp(text + 1, 0, left), CUT_WIDTH_MIN, SIZE_MAX);
    return (struct layout){text, path, has_extras};
}

/* Appends a text, with `?` for each control character: a cell must not steer the terminal. */
static void add_safe(const char *text, struct fp_buf *lines)
{
    while (*text != '\0') {
        wchar_t letter;
        const char *begin = text;
        bool is_printable = read_letter(&text, &letter) && iswcntrl((wint_t)letter) == 0;
        fp_buf_add(lines, is_printable ? begin : "?", is_printable ? (size_t)(text - begin) : 1);
    }
}

static void add_blanks(size_t count, struct fp_buf *lines)
{
    for (; count > 0; count--)
        fp_buf_add(lines, " ", 1);
}

/* Appends a cell `width` columns wide. Returns the blanks that belong to its right. */
static size_t add_cell(enum fp_cell cell, const char *text, size_t width, struct fp_buf *lines)
{
    size_t blanks = width - clamp(text_width(text), 0, width);
    bool is_left = cell <= FP_CELL_PATH;
    if (!is_left)
        add_blanks(blanks, lines);
    add_safe(text, lines);
    return is_left ? blanks : 0;
}

/* How a grid becomes lines. */
struct drawing {
    const struct fp_grid *grid;
    struct layout layout;
    size_t *widths; /* by column */
    struct fp_buf lines;
};

enum { HEADINGS = -1 };

static void draw_row(struct drawing *drawing, ssize_t row)
{
    const struct fp_grid *grid = drawing->grid;
    size_t blanks = 0;
    for (size_t i = 0; i < grid->column_count; i++) {
        const struct fp_grid_column *column = &grid->columns[i];
        if (!is_shown(grid, i, drawing->layout.has_extras))
            continue;
        char *text = row == HEADINGS ? fp_memory_copy(column->heading)
                                     : shown(column->cell, cell_at(grid, (size_t)row, i));
        char *cut = cut_text(text, column->cell, max_width(&drawing->layout, column->cell));
        add_blanks(blanks, &drawing->lines);
        blanks = 1 + add_cell(column->cell, cut, drawing->widths[i], &drawing->lines);
        free(cut);
        free(text);
    }
    fp_buf_add(&drawing->lines, "\n", 1);
}

static size_t terminal_width(void)
{
    struct winsize size;
    bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return is_known ? size.ws_col : TERMINAL_WIDTH;
}

static void choose_widths(struct drawing *drawing)
{
    const struct fp_grid *grid = drawing->grid;
    drawing->widths = fp_memory_need(calloc(grid->column_count, sizeof(*drawing->widths)));
    for (size_t i = 0; i < grid->column_count; i++) {
        if (is_shown(grid, i, drawing->layout.has_extras))
            drawing->widths[i] = clamp(natural_width(grid, i), 0,
                                       max_width(&drawing->layout, grid->columns[i].cell));
    }
}

/* Prints all lines at once: memory may run out before, never in the middle. */
static void print_text(const struct fp_grid *grid)
{
    if (fp_grid_rows(grid) == 0)
        return;
    struct drawing drawing = {.grid = grid, .layout = {SIZE_MAX, SIZE_MAX, true}};
    if (isatty(STDOUT_FILENO) == 1)
        drawing.layout = choose_layout(grid, terminal_width());
    choose_widths(&drawing);
    fp_buf_init(&drawing.lines, LINES_MAX);
    for (ssize_t row = HEADINGS; row < (ssize_t)fp_grid_rows(grid); row++)
        draw_row(&drawing, row);
    (void)fputs(fp_memory_text(&drawing.lines), stdout);
    fp_buf_release(&drawing.lines);
    free(drawing.widths);
}

void fp_grid_print(const struct fp_grid *grid, bool json)
{
    if (json)
        print_json(grid);
    else
        print_text(grid);
}
