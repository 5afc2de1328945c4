/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Analysis: turns options into a question and prints the answer.
 */
#include "cli/ask/analysis.h"

#include "cli/ask/empty_answer.h"
#include "cli/ask/period.h"
#include "cli/kit/command.h"
#include "cli/kit/memory.h"
#include "collector/base/buf.h"

#include <stdlib.h>

#define FILTERS_HEADING                                                                            \
    "Which page loads (in a PATTERN, % matches any text; '' matches an absent value):"

static const struct argp_child children[] = {
    {&fp_filters_argp, 0, FILTERS_HEADING, 1},
    {&fp_database_argp, 0, "The database:", 2},
    {0},
};
static const struct argp_child children_without_marker[] = {
    {&fp_filters_without_marker_argp, 0, FILTERS_HEADING, 1},
    {&fp_database_argp, 0, "The database:", 2},
    {0},
};

static const struct argp_child children_of_vitals[] = {
    {&fp_filters_without_marker_argp, 0, FILTERS_HEADING, 1},
    {&fp_database_argp, 0, "The database:", 2},
    {&fp_filters_of_vitals_argp, 0, "Which vitals and interactions:", 1},
    {0},
};

static error_t parse_analysis(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    struct fp_analysis *analysis = state->input;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = &analysis->filters;
    state->child_inputs[1] = &analysis->database;
    return 0;
}

static error_t parse_analysis_of_vitals(int key, char *arg, struct argp_state *state)
{
    struct fp_analysis *analysis = state->input;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[2] = &analysis->filters;
    return parse_analysis(key, arg, state);
}

const struct argp fp_analysis_of_vitals_argp = {.parser = parse_analysis_of_vitals,
                                                .children = children_of_vitals};
const struct argp fp_analysis_argp = {.parser = parse_analysis, .children = children};
const struct argp fp_analysis_without_marker_argp = {.parser = parse_analysis,
                                                     .children = children_without_marker};

static const struct argp_option fold_options[] = {
    {"fold", FP_OPTION_FOLD, "INTO", 0,
     "fold frames of npm packages and other ignored code: package: neighbours of one package are "
     "one frame, such as (react-dom); caller: they are a part of the function that called them",
     0},
    {0},
};

static error_t parse_fold(int key, char *arg, struct argp_state *state)
{
    if (key != FP_OPTION_FOLD)
        return ARGP_ERR_UNKNOWN;
    if (strcmp(arg, "package") != 0 && strcmp(arg, "caller") != 0)
        argp_error(state, "--fold is package or caller, not \"%s\"", arg);
    *(const char **)state->input = arg;
    return 0;
}

const struct argp fp_fold_argp = {.options = fold_options, .parser = parse_fold};

bool fp_analysis_open(struct fp_analysis *analysis)
{
    analysis->connection = fp_database_open(&analysis->database);
    if (analysis->connection == NULL)
        return false;
    if (!fp_filters_choose_site(&analysis->filters, analysis->connection) ||
        !fp_period_check(&analysis->filters, analysis->connection)) {
        fp_analysis_close(analysis);
        return false;
    }
    return true;
}

void fp_analysis_close(struct fp_analysis *analysis)
{
    PQfinish(analysis->connection);
    analysis->connection = NULL;
}

void fp_analysis_query(const struct fp_analysis *analysis, const char *columns,
                       const char *function, struct fp_sql_query *query)
{
    fp_sql_init(query, "select ");
    fp_sql_add(query, columns);
    fp_sql_add(query, " from fleetprof.");
    fp_sql_add(query, function);
    fp_sql_add(query, "(");
    if (analysis->parameter != NULL) {
        fp_sql_add(query, analysis->parameter);
        fp_sql_add(query, " => ");
        fp_sql_value(query, "text", analysis->argument);
        fp_sql_add(query, ", ");
    }
    if (analysis->fold != NULL) {
        fp_sql_add(query, "fold => ");
        fp_sql_value(query, "text", analysis->fold);
        fp_sql_add(query, ", ");
    }
    fp_filters_add(&analysis->filters, query);
    fp_sql_add(query, ")");
}

PGresult *fp_analysis_list_functions(const struct fp_analysis *analysis)
{
    struct fp_sql_query query;
    struct fp_filters loads = fp_filters_of_loads(&analysis->filters);
    loads.values[FP_FILTER_MARKER] = analysis->filters.values[FP_FILTER_MARKER];
    fp_sql_init(&query, "select function from fleetprof.hotspots(");
    fp_filters_add(&loads, &query);
    fp_sql_add(&query, ", top => null) group by function order by sum(self_ms) desc");
    PGresult *answer = fp_sql_run(analysis->connection, &query);
    fp_sql_release(&query);
    return answer;
}

bool fp_analysis_explain(const struct fp_analysis *analysis, const char *things)
{
    struct fp_sql_query query;
    const struct fp_filters loads = fp_filters_of_loads(&analysis->filters);
    fp_sql_init(&query, "select from fleetprof.coverage(");
    fp_filters_add(&loads, &query);
    fp_sql_add(&query, ")");
    PGresult *answer = fp_sql_run(analysis->connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    bool any_load = PQntuples(answer) > 0;
    PQclear(answer);
    if (!any_load)
        return fp_empty_answer_explain(&analysis->filters, NULL, analysis->connection);
    fp_message_notice("the page loads that match have no %s", things);
    return true;
}

char *fp_analysis_list(const struct fp_grid_column *columns, size_t count)
{
    struct fp_buf list;
    fp_buf_init(&list, 4096);
    for (size_t i = 0; i < count; i++)
        fp_buf_addf(&list, "%s%s", i > 0 ? ", " : "", columns[i].name);
    char *text = fp_memory_copy(fp_memory_text(&list));
    fp_buf_release(&list);
    return text;
}

bool fp_analysis_print(const struct fp_analysis *analysis,
                       const struct fp_analysis_question *question, size_t *rows)
{
    struct fp_sql_query query;
    char *columns = fp_analysis_list(question->columns, question->column_count);
    fp_analysis_query(analysis, columns, question->function, &query);
    free(columns);
    PGresult *answer = fp_sql_run(analysis->connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    struct fp_grid grid;
    fp_grid_init(&grid, question->columns, question->column_count);
    grid.extra_from = question->column_count - question->extra_count;
    fp_sql_fill(answer, 0, &grid);
    PQclear(answer);
    *rows = fp_grid_rows(&grid);
    fp_grid_print(&grid, analysis->form);
    fp_grid_release(&grid);
    return *rows > 0 || fp_analysis_explain(analysis, question->things);
}
