/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof session typical: the kept page load that is most like its group.
 */
#include "cli/ask/session_typical.h"

#include "cli/ask/analysis.h"
#include "cli/ask/columns.h"
#include "cli/ask/question_columns.h"
#include "cli/kit/note.h"
#include "cli/kit/options.h"

enum { OPTION_KEY = FP_OPTION_FIRST, OPTION_MEASURE };

struct typical_options {
    struct fp_analysis analysis;
    const char *key; /* NULL: not given, as the next one */
    const char *measure;
};

static const struct argp_option options[] = {
    {"key", OPTION_KEY, "KEY", 0,
     "of page loads that run the function with this function_key, as `fleetprof top --json' prints "
     "it",
     0},
    {"measure", OPTION_MEASURE, "NAME", 0,
     "of page loads with a measure of this name, or a window, such as '(INP) poor': the one that "
     "is most like them inside it",
     0},
    {0},
};

static error_t parse_typical(int key, char *arg, struct argp_state *state)
{
    struct typical_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->analysis;
        state->child_inputs[1] = &given->analysis.form;
        return 0;
    case OPTION_KEY:
        given->key = arg;
        return 0;
    case OPTION_MEASURE:
        given->measure = arg;
        return 0;
    case ARGP_KEY_SUCCESS:
        if (given->key != NULL && given->measure != NULL)
            argp_error(state, "--key and --measure are two groups: leave one out");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_analysis_without_marker_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp typical_argp = {
    .options = options,
    .parser = parse_typical,
    .doc = "The kept page load that is most like its group: all page loads of the filters, those "
           "that run a function, or those with a measure or window.",
    .children = children,
};

static const struct fp_shown shown[] = {
    {.name = "session_id"},
    {.name = "alike", .sql = "round(alike::numeric, 2)::text", .cell = FP_CELL_WORD},
    {.name = "loads"},
    {.name = "kept_loads"},
    {.name = "page_url"},
    {.name = "received"},
};
static const struct fp_grid_column all[] = {FP_COLUMNS_OF_TYPICAL_LOAD(FP_GRID_COLUMN)};

static PGresult *ask(const struct typical_options *given, const struct fp_columns *columns)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select typical.reason, typical.loads, typical.kept_loads, ");
    fp_columns_select(columns, &query);
    fp_sql_add(&query, " from fleetprof.typical_load(key => ");
    fp_sql_value(&query, "text", given->key);
    fp_sql_add(&query, ", measure_name => ");
    fp_sql_value(&query, "text", given->measure);
    fp_sql_add(&query, ", ");
    fp_filters_add(&given->analysis.filters, &query);
    fp_sql_add(&query, ") as typical");
    PGresult *answer = fp_sql_run(given->analysis.connection, &query);
    fp_sql_release(&query);
    return answer;
}

/* Says why none is typical. */
static bool explain(const struct typical_options *given, const char *reason, const char *loads,
                    const char *kept)
{
    if (strcmp(reason, "no page loads") == 0)
        return fp_analysis_explain(&given->analysis, "such page loads");
    if (strcmp(reason, "none alike") == 0) {
        fp_message_notice("no page load is typical: the %s kept ones differ too much", kept);
        fp_message_hint("A filter, such as --route, makes them more alike.");
        return true;
    }
    fp_message_notice("no page load is typical: of %s, %s are kept, and fewer than three do not "
                      "say what is typical",
                      loads, kept);
    fp_message_hint("sample_keep says which share of traces is kept.");
    return true;
}

static bool print_typical(const struct typical_options *given)
{
    enum { REASON, LOADS, KEPT, TABLE };
    struct fp_columns columns;
    fp_columns_init(&columns, shown, FP_COUNT(shown), all, FP_COUNT(all));
    PGresult *answer = ask(given, &columns);
    if (answer == NULL)
        return false;
    const bool is_none = !PQgetisnull(answer, 0, REASON);
    const bool is_for_people = given->analysis.form == FP_FORM_PEOPLE;
    bool fine = true;
    if (!is_none || !is_for_people) {
        struct fp_grid grid;
        fp_grid_init(&grid, columns.columns, columns.count);
        fp_sql_fill(answer, TABLE, &grid);
        fp_grid_print(&grid, given->analysis.form);
        fp_grid_release(&grid);
    }
    if (is_none)
        fine = explain(given, PQgetvalue(answer, 0, REASON), PQgetvalue(answer, 0, LOADS),
                       PQgetvalue(answer, 0, KEPT));
    else if (is_for_people) {
        fp_note_gap();
        fp_note_print("ALIKE is from 0 to 1: its functions against the mean of the KEPT ones of "
                      "these LOADS. `fleetprof session export' gives it back.");
    }
    PQclear(answer);
    return fine;
}

enum fp_exit fp_session_typical_command(int argc, char **argv)
{
    struct typical_options given = {0};
    fp_command_parse(&typical_argp, argc, argv, &given);
    if (!fp_analysis_open(&given.analysis))
        return FP_EXIT_TROUBLE;
    const bool fine = print_typical(&given);
    fp_analysis_close(&given.analysis);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
