/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof flame: a flame graph in the terminal, callers above what they call.
 *
 * A line is a level, a cell a stack, as wide as its time. A cell begins with a bar and is filled
 * with dashes, so that it needs no colours. A terminal that has some shows whose code it is.
 */
#include "cli/ask/analysis.h"
#include "cli/ask/question_columns.h"
#include "cli/kit/command.h"
#include "cli/kit/memory.h"
#include "cli/kit/note.h"
#include "cli/kit/options.h"
#include "cli/kit/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

enum { OPTION_WIDTH = FP_OPTION_FIRST, OPTION_DEPTH };
enum {
    WIDTH_MIN = 20,
    WIDTH_MAX = 1000,
    WIDTH_WITHOUT_TERMINAL = 120,
    DEPTH_MAX = 2000,
    DEPTH_BY_DEFAULT = 40,
    CELL_MIN = 3,  /* columns of the narrowest cell that is drawn */
    MARKS_MAX = 4, /* characters without a width that are drawn after one with a width */
};

static const struct argp_option options[] = {
    {"width", OPTION_WIDTH, "N", 0,
     "columns, 20 to 1000 (default: the terminal's; 120 without one)", 0},
    {"depth", OPTION_DEPTH, "N", 0,
     "levels below (all) (default: 40); the last line says if there are deeper ones", 0},
    {0},
};

struct flame_options {
    struct fp_analysis analysis;
    unsigned width; /* 0: not given */
    unsigned depth;
};

static error_t parse_flame(int key, char *arg, struct argp_state *state)
{
    struct flame_options *flame = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &flame->analysis;
        state->child_inputs[1] = &flame->analysis.fold;
        state->child_inputs[2] = &flame->analysis.form;
        return 0;
    case OPTION_WIDTH:
        flame->width = fp_option_number("width", arg, "columns", WIDTH_MIN, WIDTH_MAX, state);
        return 0;
    case OPTION_DEPTH:
        flame->depth = fp_option_number("depth", arg, "levels", 1, DEPTH_MAX, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_analysis_argp, 0, NULL, 0},
    {&fp_fold_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp flame_argp = {
    .options = options,
    .parser = parse_flame,
    .doc = "A flame graph as text: a line is a level of the stacks, a cell a function, as wide as "
           "its time, above what it calls.",
    .children = children,
};

static const struct fp_grid_column row_columns[] = {FP_COLUMNS_OF_FLAMEGRAPH(FP_GRID_COLUMN)};
enum { LEVEL = 1, FUNCTION = 2, RESOURCE = 3, TOTAL_MS = 7 };

/* ---- colours ---- */

/* Begins of a cell's kind, in the hues of the web report: own scripts orange, other hosts' purple,
 * what the browser did teal, and what is not code of a script blue. */
static const char OWN[] = "\033[33m", THIRD[] = "\033[35m", BROWSER[] = "\033[36m",
                  BUILTIN[] = "\033[34m", PLAIN[] = "\033[0m";

/* Asks for the hosts of third parties. NULL: the error is printed. */
static PGresult *ask_third_parties(const struct fp_analysis *analysis)
{
    struct fp_sql_query query;
    const struct fp_filters loads = fp_filters_of_loads(&analysis->filters);
    fp_sql_init(&query, "select host from fleetprof.third_parties(");
    fp_filters_add(&loads, &query);
    fp_sql_add(&query, ") where party = 'third'");
    PGresult *answer = fp_sql_run(analysis->connection, &query);
    fp_sql_release(&query);
    return answer;
}

/* True if an address is one of a host: //HOST, then its end or a slash. */
static bool is_of_host(const char *address, const char *host)
{
    const char *begin = strstr(address, "//");
    const size_t len = strlen(host);
    return begin != NULL && strncmp(begin + 2, host, len) == 0 &&
           (begin[2 + len] == '\0' || begin[2 + len] == '/');
}

static const char *colour_of(const PGresult *third_parties, const char *function,
                             const char *resource)
{
    if (resource[0] == '\0')
        return function[0] == '(' ? BROWSER : BUILTIN;
    for (int i = 0; i < PQntuples(third_parties); i++)
        if (is_of_host(resource, PQgetvalue(third_parties, i, 0)))
            return THIRD;
    return OWN;
}

/* ---- the picture ---- */

#define LEVEL_BYTES_MAX ((size_t)64 * 1024)

/* A line of the graph. */
struct flame_level {
    struct fp_buf text;
    size_t columns;  /* that the text takes */
    double begin_ms; /* where the next cell begins */
};

struct picture {
    struct flame_level *levels;
    size_t level_count; /* with the whole, which is level 0 */
    size_t width;
    double all_ms;
    const PGresult *third_parties; /* NULL: without colours */
    bool is_cut;                   /* a cell is deeper than the last level */
};

static void add_columns(struct flame_level *level, const char *filling, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        fp_buf_add(&level->text, filling, strlen(filling));
    level->columns += columns;
}

/* Appends a text in at most `room` columns. One that is cut ends in an ellipsis, and false is
 * returned. A character that would steer the terminal is a question mark. */
static bool add_label(struct flame_level *level, const char *text, size_t room)
{
    mbstate_t state = {0};
    size_t used = 0;
    size_t cut_len = level->text.len; /* of the text with one column left */
    size_t cut_used = 0;
    size_t marks = 0;
    while (*text != '\0') {
        wchar_t letter;
        size_t len = mbrtowc(&letter, text, strlen(text), &state);
        if (len == (size_t)-1 || len == (size_t)-2)
            fp_memory_end(); /* the database sends UTF-8 */
        bool steers = iswcntrl((wint_t)letter) || fp_terminal_is_hidden(letter);
        int columns_of = steers ? -1 : wcwidth(letter);
        size_t wide = columns_of >= 0 ? (size_t)columns_of : 1;
        if (used + wide > room) {
            level->text.len = cut_len;
            fp_buf_add(&level->text, "…", strlen("…"));
            level->columns += cut_used + 1;
            return false;
        }
        marks = wide == 0 ? marks + 1 : 0;
        if (marks <= MARKS_MAX)
            fp_buf_add(&level->text, columns_of >= 0 ? text : "?", columns_of >= 0 ? len : 1);
        used += wide;
        text += len;
        if (used < room) {
            cut_len = level->text.len;
            cut_used = used;
        }
    }
    level->columns += used;
    return true;
}

static void add_colour(const struct picture *picture, struct flame_level *level, const char *colour)
{
    if (picture->third_parties != NULL)
        fp_buf_add(&level->text, colour, strlen(colour));
}

/* Draws a cell from column `first` to `end`: a bar, the function's name, its share if there is room
 * for all of it, dashes. */
static void draw_cell(struct picture *picture, struct flame_level *level, size_t first, size_t end,
                      const char *function, double total_ms)
{
    add_columns(level, "│", 1);
    char *label = fp_memory_print("%s %.*f %%", function, total_ms < picture->all_ms ? 1 : 0,
                                  100 * total_ms / picture->all_ms);
    size_t len = level->text.len;
    size_t room = end - first - 1;
    if (!add_label(level, label, room)) {
        level->text.len = len;
        level->columns = first + 1;
        (void)add_label(level, function, room);
    }
    free(label);
    add_columns(level, "─", end - level->columns);
}

static size_t column_of(const struct picture *picture, double at_ms)
{
    double column = round(at_ms / picture->all_ms * (double)picture->width);
    return column<0 ? 0 : column>(double) picture->width ? picture->width : (size_t)column;
}

/* Draws a row of the tree, which is depth first: a level's cells come from left to right. */
static void draw_row(struct picture *picture, const PGresult *answer, int row)
{
    size_t number = strtoul(PQgetvalue(answer, row, LEVEL), NULL, 10);
    double total_ms = strtod(PQgetvalue(answer, row, TOTAL_MS), NULL);
    if (number > picture->level_count)
        return;
    if (number == picture->level_count) {
        picture->is_cut = true;
        return;
    }
    struct flame_level *level = &picture->levels[number];
    double begin_ms = level->begin_ms;
    level->begin_ms += total_ms;
    if (number + 1 < picture->level_count)
        level[1].begin_ms = begin_ms;
    size_t first = column_of(picture, begin_ms);
    size_t end = column_of(picture, begin_ms + total_ms);
    if (end < first + CELL_MIN || first < level->columns)
        return;
    const char *function = PQgetvalue(answer, row, FUNCTION);
    add_columns(level, " ", first - level->columns);
    add_colour(picture, level,
               colour_of(picture->third_parties, function, PQgetvalue(answer, row, RESOURCE)));
    draw_cell(picture, level, first, end, function, total_ms);
    add_colour(picture, level, PLAIN);
}

static size_t width_of(const struct flame_options *flame)
{
    struct winsize size = {0};
    if (flame->width > 0)
        return flame->width;
    if (isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
        size.ws_col > 0)
        return size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
    return WIDTH_WITHOUT_TERMINAL;
}

/* Returns what is said below the graph. The caller frees it. */
static char *make_note(const struct picture *picture)
{
    char number[FP_TERMINAL_NUMBER_SIZE];
    return fp_memory_print(
        "100 %% is %s ms, the time of all stacks. Cells below %d columns are left out%s.%s",
        fp_terminal_number(number, picture->all_ms, 1), CELL_MIN,
        picture->is_cut ? ", and deeper levels: --depth" : "",
        picture->third_parties != NULL
            ? " Yellow: own scripts; magenta: third parties; cyan: the browser; blue: built in."
            : "");
}

/* Prints the graph whole: without memory for a part of it, nothing. */
static void print_levels(const struct picture *picture)
{
    struct fp_buf text;
    fp_buf_init(&text, picture->level_count * (LEVEL_BYTES_MAX + 1));
    for (size_t i = 0; i < picture->level_count; i++) {
        const struct fp_buf *level = &picture->levels[i].text;
        text.failed = text.failed || level->failed;
        if (level->len == 0)
            break;
        fp_buf_add(&text, level->data, level->len);
        fp_buf_add(&text, "\n", 1);
    }
    char *note = make_note(picture);
    (void)fputs(fp_memory_text(&text), stdout);
    fp_buf_release(&text);
    fp_note_gap();
    fp_note_put(note);
    free(note);
}

static void draw(const struct flame_options *flame, const PGresult *answer,
                 const PGresult *third_parties)
{
    struct picture picture = {.width = width_of(flame),
                              .third_parties = third_parties,
                              .all_ms = strtod(PQgetvalue(answer, 0, TOTAL_MS), NULL),
                              .level_count = (size_t)flame->depth + 1};
    picture.levels = fp_memory_need(calloc(picture.level_count, sizeof(*picture.levels)));
    for (size_t i = 0; i < picture.level_count; i++)
        fp_buf_init(&picture.levels[i].text, LEVEL_BYTES_MAX);
    for (int row = 0; row < PQntuples(answer) && picture.all_ms > 0; row++)
        draw_row(&picture, answer, row);
    print_levels(&picture);
    for (size_t i = 0; i < picture.level_count; i++)
        fp_buf_release(&picture.levels[i].text);
    free(picture.levels);
}

/* ---- the command ---- */

static void print_rows(const PGresult *answer, enum fp_form form)
{
    struct fp_grid grid;
    fp_grid_init(&grid, row_columns, FP_COUNT(row_columns));
    fp_sql_fill(answer, 0, &grid);
    fp_grid_print(&grid, form);
    fp_grid_release(&grid);
}

/* Draws in colours where there are any. */
static bool draw_in_colours(const struct flame_options *flame, const PGresult *answer)
{
    PGresult *third_parties = NULL;
    if (fp_terminal_has_colours(stdout)) {
        third_parties = ask_third_parties(&flame->analysis);
        if (third_parties == NULL)
            return false;
    }
    draw(flame, answer, third_parties);
    PQclear(third_parties);
    return true;
}

static bool print_flame(const struct flame_options *flame)
{
    const struct fp_analysis *analysis = &flame->analysis;
    struct fp_sql_query query;
    char *columns = fp_analysis_list(row_columns, FP_COUNT(row_columns));
    fp_analysis_query(analysis, columns, "flamegraph", &query);
    free(columns);
    PGresult *answer = fp_sql_run(analysis->connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    bool is_empty = PQntuples(answer) == 0;
    bool fine = true;
    if (analysis->form != FP_FORM_PEOPLE)
        print_rows(answer, analysis->form);
    else if (!is_empty)
        fine = draw_in_colours(flame, answer);
    PQclear(answer);
    return is_empty ? fp_analysis_explain(analysis, "stacks") : fine;
}

enum fp_exit fp_flame_command(int argc, char **argv)
{
    struct flame_options flame = {.depth = DEPTH_BY_DEFAULT};
    fp_command_parse(&flame_argp, argc, argv, &flame);
    if (!fp_analysis_open(&flame.analysis))
        return FP_EXIT_TROUBLE;
    bool fine = print_flame(&flame);
    fp_analysis_close(&flame.analysis);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
