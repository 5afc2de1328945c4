/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing comparison: asks for percentiles of two sides, and prints them.
 */
#include "cli/ask/timing_comparison.h"

#include "cli/ask/question_columns.h"

#include <assert.h>

#define SHOWN(before, after)                                                                       \
    {.heading = "VERDICT", .cell = FP_CELL_WORD, .sql = "verdict"}, {.name = "name"},              \
        {.heading = "PERCENTILE", .cell = FP_CELL_WORD, .sql = "'p' || percentile"},               \
        {.heading = "BEFORE", .cell = FP_CELL_MS, .sql = (before)},                                \
        {.heading = "AFTER", .cell = FP_CELL_MS, .sql = (after)},                                  \
        FP_SHOWN_CHANGE("CHANGE", "change", "change_low", "change_high"),                          \
        {.name = "before_count"}, {.name = "after_count"}, {.name = "common_change"}

static const struct fp_shown shown_timings[] = {SHOWN("before_ms", "after_ms")};
static const struct fp_shown shown_vitals[] = {SHOWN("before_value", "after_value")};
static const struct fp_grid_column timings[] = {FP_COLUMNS_OF_COMPARE_TIMINGS(FP_GRID_COLUMN)};
static const struct fp_grid_column vitals[] = {FP_COLUMNS_OF_COMPARE_VITALS(FP_GRID_COLUMN)};
enum {
    SHOWN_COUNT = sizeof(shown_timings) / sizeof(shown_timings[0]),
    COLUMN_COUNT = sizeof(timings) / sizeof(timings[0]),
    FIRST_EXTRA = 8,
};
static_assert(sizeof(timings) == sizeof(vitals), "unit stands in the place of kind");

static void list_columns(bool of_vitals, struct fp_columns *columns)
{
    fp_columns_init(columns, of_vitals ? shown_vitals : shown_timings, SHOWN_COUNT,
                    of_vitals ? vitals : timings, COLUMN_COUNT);
}

static PGresult *ask(const struct fp_comparison *comparison, bool of_vitals,
                     const char *const releases[2], const char *top)
{
    struct fp_sql_query query;
    struct fp_columns columns;
    list_columns(of_vitals, &columns);
    fp_sql_init(&query, "select ");
    fp_columns_select(&columns, &query);
    fp_sql_add(&query,
               of_vitals ? " from fleetprof.compare_vitals(" : " from fleetprof.compare_timings(");
    fp_comparison_add(comparison, &query);
    if (releases[0] != NULL) {
        fp_sql_add(&query, ", before => ");
        fp_sql_value(&query, "text", releases[0]);
        fp_sql_add(&query, ", after => ");
        fp_sql_value(&query, "text", releases[1]);
    }
    fp_sql_add(&query, ") limit ");
    fp_sql_value(&query, "integer", top);
    PGresult *answer = fp_sql_run(comparison->connection, &query);
    fp_sql_release(&query);
    return answer;
}

bool fp_timing_comparison_print(const struct fp_comparison *comparison, bool of_vitals,
                                const char *const releases[2], const char *top, int *rows)
{
    PGresult *answer = ask(comparison, of_vitals, releases, top);
    if (answer == NULL)
        return false;
    struct fp_columns columns;
    struct fp_grid grid;
    list_columns(of_vitals, &columns);
    fp_grid_init(&grid, columns.columns, columns.count);
    grid.extra_from = FIRST_EXTRA;
    fp_sql_fill(answer, 0, &grid);
    fp_grid_print(&grid, comparison->form);
    fp_grid_release(&grid);
    *rows = PQntuples(answer);
    PQclear(answer);
    return true;
}
