/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparison: turns options into a question about two sides, and prints the answer.
 */
#include "cli/ask/comparison.h"

#include "cli/ask/empty_answer.h"
#include "cli/ask/period.h"
#include "cli/ask/question_columns.h"
#include "cli/kit/command.h"
#include "cli/kit/note.h"

enum {
    OPTION_SINCE = FP_OPTION_SHARED + 0xa0,
    OPTION_UNTIL,
    OPTION_BEFORE_SINCE,
    OPTION_BEFORE_UNTIL,
};

static const struct argp_option period_options[] = {
    {"since", OPTION_SINCE, "WHEN", 0,
     "both sides, or the later one if the earlier one has a period of its own, from this time on: "
     "a duration back from now (30m, 2h, 1d, 1w) or a timestamp (default: the later release's "
     "first hour)",
     0},
    {NULL, FP_LETTER_SINCE, NULL, OPTION_ALIAS, NULL, 0},
    {"until", OPTION_UNTIL, "WHEN", 0, "the same sides before this time (default: 48 hours later)",
     0},
    {0},
};

static const struct argp_option before_options[] = {
    {"before-since", OPTION_BEFORE_SINCE, "WHEN", 0, "the earlier side from this time on", 0},
    {"before-until", OPTION_BEFORE_UNTIL, "WHEN", 0, "the earlier side before this time", 0},
    {0},
};

static error_t parse_period(int key, char *arg, struct argp_state *state)
{
    struct fp_comparison *comparison = state->input;
    switch (key) {
    case OPTION_SINCE:
    case FP_LETTER_SINCE:
        comparison->filters.values[FP_FILTER_SINCE] = arg;
        return 0;
    case OPTION_UNTIL:
        comparison->filters.values[FP_FILTER_UNTIL] = arg;
        return 0;
    case OPTION_BEFORE_SINCE:
        comparison->before_since = arg;
        return 0;
    case OPTION_BEFORE_UNTIL:
        comparison->before_until = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp period_argp = {.options = period_options, .parser = parse_period};
static const struct argp before_argp = {.options = before_options, .parser = parse_period};

#define FILTERS_HEADING                                                                            \
    "Which page loads, of both sides (in a PATTERN, % matches any text; '' matches an absent "     \
    "value):"

#define OWN_HEADING "Filters of one side, which stand for those of both:"

static const struct argp_child children[] = {
    {&fp_filters_of_both_sides_argp, 0, FILTERS_HEADING, 1},
    {&period_argp, 0, "When:", 2},
    {&fp_database_argp, 0, "The database:", 3},
    {&before_argp, 0, NULL, 2},
    {&fp_own_filters_argp, 0, OWN_HEADING, 4},
    {0},
};
static const struct argp_child children_of_releases[] = {
    {&fp_filters_of_both_sides_argp, 0, FILTERS_HEADING, 1},
    {&period_argp, 0, "When:", 2},
    {&fp_database_argp, 0, "The database:", 3},
    {0},
};

static error_t parse_comparison(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    struct fp_comparison *comparison = state->input;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = &comparison->filters;
    state->child_inputs[1] = comparison;
    state->child_inputs[2] = &comparison->database;
    return 0;
}

static error_t parse_two_periods(int key, char *arg, struct argp_state *state)
{
    error_t error = parse_comparison(key, arg, state);
    struct fp_comparison *comparison = state->input;
    if (error == 0) {
        state->child_inputs[3] = comparison;
        state->child_inputs[4] = &comparison->own;
    }
    return error;
}

const struct argp fp_comparison_argp = {.parser = parse_two_periods, .children = children};
const struct argp fp_comparison_of_releases_argp = {.parser = parse_comparison,
                                                    .children = children_of_releases};

bool fp_comparison_open(struct fp_comparison *comparison)
{
    comparison->connection = fp_database_open(&comparison->database);
    if (comparison->connection == NULL)
        return false;
    if (!fp_filters_choose_site(&comparison->filters, comparison->connection) ||
        !fp_period_check_sides(&comparison->filters, comparison->before_since,
                               comparison->before_until, comparison->connection)) {
        fp_comparison_close(comparison);
        return false;
    }
    return true;
}

void fp_comparison_close(struct fp_comparison *comparison)
{
    PQfinish(comparison->connection);
    comparison->connection = NULL;
}

static void add_time(struct fp_sql_query *query, const char *name, const char *value)
{
    if (value == NULL)
        return;
    fp_sql_add(query, name);
    fp_filters_add_value(FP_FILTER_SINCE, value, query);
}

void fp_comparison_add(const struct fp_comparison *comparison, struct fp_sql_query *query)
{
    fp_filters_add(&comparison->filters, query);
    add_time(query, ", before_since => ", comparison->before_since);
    add_time(query, ", before_until => ", comparison->before_until);
    fp_own_filters_add(&comparison->own, query);
}

/* ---- the table ---- */

static const struct fp_shown shown[] = {
    {.name = "verdict",
     .cell = FP_CELL_WORD,
     .sql = "verdict || coalesce(', at least ' || " FP_COMPARISON_CHANGE("at_least") ", '')"},
    {.name = "function"},
    FP_SHOWN_PLACE,
    {.name = "before_self_ms"},
    {.name = "after_self_ms"},
    FP_SHOWN_CHANGE("OWN CHANGE", "own_change", "own_low", "own_high"),
    {.name = "before_uploads"},
    {.name = "after_uploads"},
    {.name = "samples"},
};
enum { FIRST_EXTRA = 8 };
static const struct fp_grid_column all[] = {FP_COLUMNS_OF_COMPARE_RELEASES(FP_GRID_COLUMN)};

static void list_columns(struct fp_columns *columns)
{
    fp_columns_init(columns, shown, sizeof(shown) / sizeof(shown[0]), all,
                    sizeof(all) / sizeof(all[0]));
}

void fp_comparison_select(struct fp_sql_query *query)
{
    struct fp_columns columns;
    list_columns(&columns);
    fp_columns_select(&columns, query);
}

void fp_comparison_print(const struct fp_comparison *comparison, const PGresult *answer,
                         int first_column)
{
    struct fp_columns columns;
    struct fp_grid grid;
    list_columns(&columns);
    fp_grid_init(&grid, columns.columns, columns.count);
    grid.extra_from = FIRST_EXTRA;
    fp_sql_fill(answer, first_column, &grid);
    fp_grid_print(&grid, comparison->form);
    fp_grid_release(&grid);
}

/* ---- the summary ---- */

/* The obstacle, and what a verdict needs. */
#define OBSTACLE                                                                                   \
    "case obstacle when 'early' then 'Too early: each side needs 12 hours and ' || "               \
    "least_uploads || ' uploads, or a change far beyond noise.' "                                  \
    "when 'not enough data' then 'Not enough data: ' || least(before_uploads, after_uploads) || "  \
    "' of ' || least_uploads || ' uploads.' "                                                      \
    "when 'not comparable' then 'Not comparable: only ' || round(100 * comparable_share) || "      \
    "' % of the later uploads are of a page, device and browser that both sides have.' "
#define COUNTS                                                                                     \
    "slower || ' slower, ' || faster || ' faster, ' || new || ' new, ' || gone || ' gone, ' || "   \
    "unchanged || ' without a change that could be seen, ' || too_few || "                         \
    "' with too few uploads to tell, ' || unmatched || ' without a name to find them again.'"
#define COMMON                                                                                     \
    "case when obstacle is null and common_change is null then 'Everything together: not known; "  \
    "it takes 30 functions.' "                                                                     \
    "when obstacle is null and abs(common_change) >= 0.005 then 'Everything together: ' "          \
    "|| " FP_COMPARISON_CHANGE(                                                                    \
        "common_change") " || '. That is taken off before a function is judged.' end"
#define LENGTHS                                                                                    \
    "case when by_time then 'Uploads of one side are longer, so functions are compared as if all " \
    "were equally long.' end"
#define SEEN                                                                                       \
    "case when seen_differs then 'Seen: ' || round(100 * before_seen_share) || "                   \
    "' % of the earlier side''s time, ' || round(100 * after_seen_share) || "                      \
    "' % of the later one''s. What the browser did not see is missing, most on the side with "     \
    "less.' end"
#define PLACEBO                                                                                    \
    "case when placebo_tested > 0 then 'Placebo: ' || placebo_flags || ' of ' || placebo_tested "  \
    "|| ' functions differ between two halves of the earlier side' || "                            \
    "case when placebo_flags > 0.05 * placebo_tested then ': do not trust the verdicts.' "         \
    "else '.' end when obstacle is null then 'No placebo: each half of the earlier side needs "    \
    "12 hours and ' || least_uploads || ' uploads.' end"

/* One line per row; null ones are left out. */
static const char summary_lines[] =
    "select line from summary cross join lateral unnest(array["
    "'Before: ' || before_uploads || ' uploads in the hours from ' || " FP_COMPARISON_HOURS(
        "before_hours") " || ' (UTC).', "
                        "'After: ' || after_uploads || ' uploads in the hours from ' "
                        "|| " FP_COMPARISON_HOURS(
                            "after_hours") " || ' (UTC).', " OBSTACLE "else " COUNTS " end, "
                                           "case when obstacle is null and undecided > 0 then 'Too "
                                           "little is known of ' || undecided || "
                                           "' of them: each side needs 12 hours and ' || "
                                           "least_uploads || ' uploads.' end, "
                                           "nullif(" FP_COMPARISON_WAIT ", ''), " COMMON
                                           ", " LENGTHS ", " SEEN ", " PLACEBO
                                           "]) as line where line is not null";

static void add_release(struct fp_sql_query *query, const char *name, const char *value)
{
    if (value == NULL)
        return;
    fp_sql_add(query, ", ");
    fp_sql_add(query, name);
    fp_sql_add(query, " => ");
    fp_sql_value(query, "text", value);
}

bool fp_comparison_summarise(const struct fp_comparison *comparison, const char *before,
                             const char *after)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "with summary as materialized (select * from fleetprof.compare_summary(");
    fp_comparison_add(comparison, &query);
    add_release(&query, "before", before);
    add_release(&query, "after", after);
    fp_sql_add(&query, ")) ");
    fp_sql_add(&query, summary_lines);
    PGresult *answer = fp_sql_run(comparison->connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    fp_note_gap();
    for (int i = 0; i < PQntuples(answer); i++)
        fp_note_put(PQgetvalue(answer, i, 0));
    PQclear(answer);
    return true;
}

/* ---- an empty answer ---- */

/* Asks for the first of the two releases that has no uploads at all. */
static PGresult *ask_unknown(const struct fp_comparison *comparison, const char *before,
                             const char *after)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select name from unnest(array[");
    fp_sql_value(&query, "text", before);
    fp_sql_add(&query, ", ");
    fp_sql_value(&query, "text", after);
    fp_sql_add(&query, "]) as name where not exists (select from fleetprof.segment where "
                       "fleetprof_data.matches(release, name) and fleetprof_data.matches(site, ");
    fp_sql_value(&query, "text", comparison->filters.values[FP_FILTER_SITE]);
    fp_sql_add(&query, ")) limit 1");
    PGresult *answer = fp_sql_run(comparison->connection, &query);
    fp_sql_release(&query);
    return answer;
}

/* Asks for the sides that have no uploads in their periods. */
static PGresult *ask_empty_sides(const struct fp_comparison *comparison, const char *before,
                                 const char *after)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select before_uploads = 0, after_uploads = 0 "
                        "from fleetprof.compare_summary(");
    fp_comparison_add(comparison, &query);
    add_release(&query, "before", before);
    add_release(&query, "after", after);
    fp_sql_add(&query, ")");
    PGresult *answer = fp_sql_run(comparison->connection, &query);
    fp_sql_release(&query);
    return answer;
}

/* Says which side has no uploads, or that one has not the things that were asked for. */
static bool explain_sides(const struct fp_comparison *comparison, const char *before,
                          const char *after, const char *things)
{
    PGresult *answer = ask_empty_sides(comparison, before, after);
    if (answer == NULL)
        return false;
    bool is_empty[2];
    const char *const releases[] = {before, after};
    const char *const sides[] = {"earlier", "later"};
    for (int i = 0; i < 2; i++) {
        is_empty[i] = PQgetvalue(answer, 0, i)[0] == 't';
        if (is_empty[i] && releases[i] != NULL)
            fp_message_notice("release \"%s\" has no matching uploads in its period", releases[i]);
        else if (is_empty[i])
            fp_message_notice("the %s side has no matching uploads in its period", sides[i]);
    }
    PQclear(answer);
    if (is_empty[0] || is_empty[1])
        fp_message_hint("Choose another period, a longer one, or fewer filters.");
    else
        fp_message_notice("one of the sides has no %s in its period", things);
    return true;
}

bool fp_comparison_explain(const struct fp_comparison *comparison, const char *before,
                           const char *after, const char *things)
{
    PGresult *unknown = ask_unknown(comparison, before, after);
    if (unknown == NULL)
        return false;
    struct fp_filters filters = comparison->filters;
    bool fine = true;
    if (PQntuples(unknown) == 0) {
        fine = explain_sides(comparison, before, after, things);
    } else {
        filters.values[FP_FILTER_RELEASE] = PQgetvalue(unknown, 0, 0);
        fine = fp_empty_answer_explain(&filters, NULL, comparison->connection);
    }
    PQclear(unknown);
    return fine;
}
