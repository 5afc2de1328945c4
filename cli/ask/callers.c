/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof callers: who calls a function, or what it calls.
 */
#include "cli/ask/analysis.h"
#include "cli/ask/columns.h"
#include "cli/ask/empty_answer.h"
#include "cli/ask/question_columns.h"
#include "cli/kit/command.h"
#include "cli/kit/note.h"
#include "cli/kit/options.h"

enum { OPTION_CALLEES = FP_OPTION_FIRST, OPTION_KEY };

struct callers_options {
    struct fp_analysis analysis;
    const char *function; /* NULL: by key */
    const char *key;      /* NULL: by name */
    bool callees;
};

static const struct argp_option options[] = {
    {"callees", OPTION_CALLEES, NULL, 0, "what the function calls, instead; (self) is its own time",
     0},
    {"key", OPTION_KEY, "KEY", 0,
     "the function with this function_key, as --json prints it, in place of FUNCTION", 0},
    {0},
};

static error_t parse_callers(int key, char *arg, struct argp_state *state)
{
    struct callers_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->analysis;
        state->child_inputs[1] = &given->analysis.form;
        state->child_inputs[2] = &given->analysis.fold;
        return 0;
    case OPTION_CALLEES:
        given->callees = true;
        return 0;
    case OPTION_KEY:
        given->key = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one FUNCTION at a time");
        given->function = arg;
        return 0;
    case ARGP_KEY_SUCCESS:
        if ((given->function == NULL) == (given->key == NULL))
            argp_error(state, "name a function or, by --key, its function_key");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_analysis_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {&fp_fold_argp, 0, NULL, 0},
    {0},
};

static const struct argp callers_argp = {
    .options = options,
    .parser = parse_callers,
    .args_doc = "[FUNCTION]",
    .doc = "What calls a function, by the time that is spent in the calls. In FUNCTION, % matches "
           "any text.",
    .children = children,
};

static const struct fp_shown shown[] = {
    {.name = "function"}, FP_SHOWN_PLACE,      {.name = "total_ms"},
    {.name = "share"},    {.name = "samples"},
};
static const struct fp_grid_column all[] = {FP_COLUMNS_OF_CALLERS(FP_GRID_COLUMN)};

static PGresult *ask(const struct callers_options *given, const struct fp_columns *columns)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select ");
    fp_columns_select(columns, &query);
    fp_sql_add(&query, " from fleetprof.");
    fp_sql_add(&query, given->callees ? "callees(" : "callers(");
    fp_sql_add(&query, "function_name => ");
    fp_sql_value(&query, "text", given->function);
    fp_sql_add(&query, ", key => ");
    fp_sql_value(&query, "text", given->key);
    fp_sql_add(&query, ", fold => ");
    fp_sql_value(&query, "text", given->analysis.fold);
    fp_sql_add(&query, ", ");
    fp_filters_add(&given->analysis.filters, &query);
    fp_sql_add(&query, ")");
    PGresult *answer = fp_sql_run(given->analysis.connection, &query);
    fp_sql_release(&query);
    return answer;
}

/* Explains that the function is on no stack, or that there are no stacks. */
static bool explain_nothing(const struct callers_options *given)
{
    PGresult *answer = fp_analysis_list_functions(&given->analysis);
    if (answer == NULL)
        return false;
    if (PQntuples(answer) == 0) {
        PQclear(answer);
        return fp_empty_answer_explain(&given->analysis.filters, NULL, given->analysis.connection);
    }
    const char *fold = given->analysis.fold;
    fp_message_notice("no such function is on any %s: %s", fold != NULL ? "folded stack" : "stack",
                      given->function != NULL ? given->function : given->key);
    if (given->function != NULL)
        fp_sql_hint_at_nearest(answer, given->function);
    PQclear(answer);
    if (fold != NULL)
        fp_message_hint("--fold %s hides functions of packages. Leave it out, or name a package: "
                        "'(react-dom)'.",
                        fold);
    else
        fp_message_hint("`fleetprof top' lists functions; case counts.");
    return true;
}

static bool print_callers(const struct callers_options *given)
{
    struct fp_columns columns;
    fp_columns_init(&columns, shown, FP_COUNT(shown), all, FP_COUNT(all));
    PGresult *answer = ask(given, &columns);
    if (answer == NULL)
        return false;
    struct fp_grid grid;
    fp_grid_init(&grid, columns.columns, columns.count);
    fp_sql_fill(answer, 0, &grid);
    fp_grid_print(&grid, given->analysis.form);
    fp_grid_release(&grid);
    bool is_empty = PQntuples(answer) == 0;
    PQclear(answer);
    if (is_empty)
        return explain_nothing(given);
    if (given->analysis.form == FP_FORM_PEOPLE) {
        fp_note_gap();
        fp_note_put("SHARE % is of the time with the function anywhere on the stack.");
    }
    return true;
}

enum fp_exit fp_callers_command(int argc, char **argv)
{
    struct callers_options given = {0};
    fp_command_parse(&callers_argp, argc, argv, &given);
    if (!fp_analysis_open(&given.analysis))
        return FP_EXIT_TROUBLE;
    bool fine = print_callers(&given);
    fp_analysis_close(&given.analysis);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
