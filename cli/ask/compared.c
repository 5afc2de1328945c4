/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compared: asks for timings, vitals, costs or parts of two sides, and prints them.
 */
#include "cli/ask/compared.h"

#include "cli/ask/question_columns.h"
#include "cli/kit/command.h"

#define SHOWN_TIMINGS(before, after)                                                               \
    {.name = "verdict"}, {.name = "name"},                                                         \
        {.name = "percentile", .cell = FP_CELL_WORD, .sql = "'p' || percentile"},                  \
        {.name = (before)}, {.name = (after)},                                                     \
        FP_SHOWN_CHANGE("CHANGE", "change", "change_low", "change_high"),                          \
        {.name = "before_count"}, {.name = "after_count"}, {.name = "common_change"},              \
        {.heading = "WITHOUT MACHINES",                                                            \
         .cell = FP_CELL_WORD,                                                                     \
         .sql =                                                                                    \
             FP_COMPARISON_CHANGE("own_low") " || ' to ' || " FP_COMPARISON_CHANGE("own_high")},   \
        {.name = "fleet_change"}

static const struct fp_shown shown_timings[] = {SHOWN_TIMINGS("before_ms", "after_ms")};
static const struct fp_shown shown_vitals[] = {SHOWN_TIMINGS("before_value", "after_value")};
static const struct fp_shown shown_costs[] = {
    {.name = "verdict"},
    {.name = "name"},
    {.name = "before_self_ms"},
    {.name = "after_self_ms"},
    FP_SHOWN_CHANGE("OWN CHANGE", "own_change", "own_low", "own_high"),
    {.name = "before_uploads"},
    {.name = "after_uploads"},
};
static const struct fp_shown shown_parts[] = {{.name = "part"}, {.name = "ms"}, {.name = "share"}};

static const struct fp_grid_column timings[] = {FP_COLUMNS_OF_COMPARE_TIMINGS(FP_GRID_COLUMN)};
static const struct fp_grid_column vitals[] = {FP_COLUMNS_OF_COMPARE_VITALS(FP_GRID_COLUMN)};
static const struct fp_grid_column costs[] = {FP_COLUMNS_OF_COMPARE_COSTS(FP_GRID_COLUMN)};
static const struct fp_grid_column parts[] = {FP_COLUMNS_OF_CHANGE_PARTS(FP_GRID_COLUMN)};

#define COLUMNS(shown, all)                                                                        \
    (shown), sizeof(shown) / sizeof((shown)[0]), (all), sizeof(all) / sizeof((all)[0])

/* A question, and its columns for people: those from extra_from on are shown if there is room. */
static const struct compared {
    const char *function;
    const struct fp_shown *shown;
    size_t shown_count;
    const struct fp_grid_column *all;
    size_t all_count;
    size_t extra_from;
} compared[] = {
    [FP_COMPARED_TIMINGS] = {"compare_timings", COLUMNS(shown_timings, timings), 8},
    [FP_COMPARED_VITALS] = {"compare_vitals", COLUMNS(shown_vitals, vitals), 8},
    [FP_COMPARED_COSTS] = {"compare_costs", COLUMNS(shown_costs, costs), 7},
    [FP_COMPARED_PARTS] = {"change_parts", COLUMNS(shown_parts, parts), 3},
};

static void list_columns(enum fp_compared what, struct fp_columns *columns)
{
    fp_columns_init(columns, compared[what].shown, compared[what].shown_count, compared[what].all,
                    compared[what].all_count);
}

static void add_text(struct fp_sql_query *query, const char *name, const char *value)
{
    if (value == NULL)
        return;
    fp_sql_add(query, name);
    fp_sql_value(query, "text", value);
}

static PGresult *ask(const struct fp_comparison *comparison,
                     const struct fp_compared_question *question)
{
    struct fp_sql_query query;
    struct fp_columns columns;
    list_columns(question->what, &columns);
    fp_sql_init(&query, "select ");
    fp_columns_select(&columns, &query);
    fp_sql_add(&query, " from fleetprof.");
    fp_sql_add(&query, compared[question->what].function);
    fp_sql_add(&query, "(");
    fp_comparison_add(comparison, &query);
    add_text(&query, ", before => ", question->releases[0]);
    add_text(&query, ", after => ", question->releases[1]);
    add_text(&query, ", by => ", question->by);
    /* For a dimension, compare_costs itself finds the values with the most time. */
    fp_sql_add(&query, question->by != NULL ? ", top => " : ") limit ");
    fp_sql_value(&query, "integer", question->top);
    fp_sql_add(&query, question->by != NULL ? ")" : "");
    PGresult *answer = fp_sql_run(comparison->connection, &query);
    fp_sql_release(&query);
    return answer;
}

bool fp_compared_print(const struct fp_comparison *comparison,
                       const struct fp_compared_question *question, int *rows)
{
    PGresult *answer = ask(comparison, question);
    if (answer == NULL)
        return false;
    struct fp_columns columns;
    struct fp_grid grid;
    list_columns(question->what, &columns);
    fp_grid_init(&grid, columns.columns, columns.count);
    grid.extra_from = compared[question->what].extra_from;
    fp_sql_fill(answer, 0, &grid);
    fp_grid_print(&grid, comparison->form);
    fp_grid_release(&grid);
    *rows = PQntuples(answer);
    PQclear(answer);
    return true;
}
