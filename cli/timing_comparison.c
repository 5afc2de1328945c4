/*
 * Timing comparison: asks for percentiles of two sides, and prints them.
 */
#include "cli/timing_comparison.h"

static const struct fp_grid_column columns[] = {
    {NULL, "VERDICT", FP_CELL_WORD},
    {NULL, "NAME", FP_CELL_TEXT},
    {NULL, "PERCENTILE", FP_CELL_WORD},
    {NULL, "BEFORE", FP_CELL_MS},
    {NULL, "AFTER", FP_CELL_MS},
    {NULL, "CHANGE", FP_CELL_WORD},
    {NULL, "95 % BETWEEN", FP_CELL_WORD},
    {NULL, "COULD HAVE SEEN", FP_CELL_WORD},
    {"name", NULL, FP_CELL_TEXT},
    {"kind", NULL, FP_CELL_TEXT},
    {"percentile", NULL, FP_CELL_INTEGER},
    {"before_ms", NULL, FP_CELL_MS},
    {"after_ms", NULL, FP_CELL_MS},
    {"change", NULL, FP_CELL_SHARE},
    {"change_low", NULL, FP_CELL_SHARE},
    {"change_high", NULL, FP_CELL_SHARE},
    {"smallest_visible", NULL, FP_CELL_SHARE},
    {"p", NULL, FP_CELL_SHARE},
    {"verdict", NULL, FP_CELL_TEXT},
    {"before_count", "VALUES BEFORE", FP_CELL_INTEGER},
    {"after_count", "VALUES AFTER", FP_CELL_INTEGER},
};
enum {
    COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]),
    KIND = 9,
    BEFORE = 11,
    AFTER = 12,
    FIRST_EXTRA = 19
};

/* clang-format off */
#define SELECT(before, after, kind)                                                                \
    "select verdict, name, 'p' || percentile, " before ", " after ", " FP_COMPARISON_CHANGE("change") ", "      \
    FP_COMPARISON_CHANGE("change_low") " || ' and ' || " FP_COMPARISON_CHANGE("change_high") ", "                            \
    "case verdict when 'no change seen' then " FP_COMPARISON_CHANGE("smallest_visible") " end, "                \
    "name, " kind ", percentile, " before ", " after ", change, change_low, change_high, "         \
    "smallest_visible, p, verdict, before_count, after_count from fleetprof."
/* clang-format on */

static const char timings[] = SELECT("before_ms", "after_ms", "kind") "compare_timings(";
static const char vitals[] = SELECT("before_value", "after_value", "unit") "compare_vitals(";

static PGresult *ask(const struct fp_comparison *comparison, bool of_vitals,
                     const char *const releases[2], const char *top)
{
    struct fp_sql_query query;
    fp_sql_init(&query, of_vitals ? vitals : timings);
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
    struct fp_grid_column shown[COLUMN_COUNT];
    memcpy(shown, columns, sizeof(shown));
    if (of_vitals) {
        shown[KIND].name = "unit";
        shown[BEFORE].name = "before_value";
        shown[AFTER].name = "after_value";
    }
    struct fp_grid grid;
    fp_grid_init(&grid, shown, COLUMN_COUNT);
    grid.extra_from = FIRST_EXTRA;
    fp_sql_fill(answer, 0, &grid);
    fp_grid_print(&grid, comparison->form);
    fp_grid_release(&grid);
    *rows = PQntuples(answer);
    PQclear(answer);
    return true;
}
