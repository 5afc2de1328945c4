/*
 * fleetprof trend: a function or a measure by hour or day.
 */
#include "cli/analysis.h"
#include "cli/command.h"
#include "cli/empty_answer.h"
#include "cli/options.h"

enum { OPTION_MEASURE = FP_OPTION_FIRST, OPTION_STEP };

struct trend_options {
    struct fp_analysis analysis;
    const char *function; /* NULL: a measure */
    const char *measure;  /* NULL: a function */
    const char *step;
};

static const struct argp_option options[] = {
    {"measure", OPTION_MEASURE, "NAME", 0,
     "the median of the performance.measure() of this name, instead of a function", 0},
    {"step", OPTION_STEP, "STEP", 0, "hour or day (default: hour)", 0},
    {0},
};

static error_t parse_trend(int key, char *arg, struct argp_state *state)
{
    struct trend_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->analysis;
        state->child_inputs[1] = &given->analysis.form;
        return 0;
    case OPTION_MEASURE:
        given->measure = arg;
        return 0;
    case OPTION_STEP:
        if (strcmp(arg, "hour") != 0 && strcmp(arg, "day") != 0)
            argp_error(state, "--step takes hour or day, not \"%s\"", arg);
        given->step = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one FUNCTION at a time");
        given->function = arg;
        return 0;
    case ARGP_KEY_SUCCESS:
        if ((given->function == NULL) == (given->measure == NULL))
            argp_error(state, "name a function or, by --measure, a measure");
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

static const struct argp trend_argp = {
    .options = options,
    .parser = parse_trend,
    .args_doc = "[FUNCTION]",
    .doc = "A function's self time per page load by hour or day, with the range in which it lies "
           "with 95 %. FUNCTION is its name, or its function_key.",
    .children = children,
};

static const struct fp_grid_column columns[] = {
    {NULL, "FROM (UTC)", FP_CELL_WORD}, {NULL, "MS", FP_CELL_MS},
    {NULL, "AT LEAST", FP_CELL_MS},     {NULL, "AT MOST", FP_CELL_MS},
    {NULL, "", FP_CELL_WORD},           {"bucket", NULL, FP_CELL_TEXT},
    {"value_ms", NULL, FP_CELL_MS},     {"low_ms", NULL, FP_CELL_MS},
    {"high_ms", NULL, FP_CELL_MS},      {"uploads", "UPLOADS", FP_CELL_INTEGER},
};

/* The fifth column is a bar of eighths, as long as the value's part of the greatest one. */
static const char select_rows[] =
    "select to_char(bucket at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), value_ms, low_ms, high_ms, "
    "repeat('\u2588', (coalesce(160 * value_ms / nullif(max(value_ms) over (), 0), 0))::integer / "
    "8) || "
    "(array['', '\u258f', '\u258e', '\u258d', '\u258c', '\u258b', '\u258a', '\u2589'])"
    "[(coalesce(160 * value_ms / nullif(max(value_ms) over (), 0), 0))::integer % 8 + 1], "
    "to_char(bucket at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), value_ms, low_ms, "
    "high_ms, uploads "
    "from fleetprof.trend(";

static PGresult *ask(const struct trend_options *given)
{
    struct fp_sql_query query;
    fp_sql_init(&query, select_rows);
    fp_sql_add(&query, given->measure != NULL ? "'measure', " : "'function', ");
    fp_sql_value(&query, "text", given->measure != NULL ? given->measure : given->function);
    fp_sql_add(&query, ", ");
    fp_sql_value(&query, "text", given->step != NULL ? given->step : "hour");
    fp_sql_add(&query, ", ");
    fp_filters_add(&given->analysis.filters, &query);
    fp_sql_add(&query, ") order by bucket");
    PGresult *answer = fp_sql_run(given->analysis.connection, &query);
    fp_sql_release(&query);
    return answer;
}

static bool print_trend(const struct trend_options *given)
{
    PGresult *answer = ask(given);
    if (answer == NULL)
        return false;
    struct fp_grid grid;
    fp_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    fp_sql_fill(answer, 0, &grid);
    fp_grid_print(&grid, given->analysis.form);
    fp_grid_release(&grid);
    bool is_empty = PQntuples(answer) == 0;
    PQclear(answer);
    if (is_empty)
        return fp_empty_answer_explain(&given->analysis.filters, given->measure,
                                       given->analysis.connection);
    if (given->analysis.form == FP_FORM_PEOPLE)
        (void)printf("\n%s.\n", given->measure != NULL
                                    ? "MS is the median; it lies in the range with 95 %"
                                    : "MS is self time per page load; it lies in the range with "
                                      "95 %, if uploads are independent");
    return true;
}

enum fp_exit fp_trend_command(int argc, char **argv)
{
    struct trend_options given = {0};
    fp_command_parse(&trend_argp, argc, argv, &given);
    if (!fp_analysis_open(&given.analysis))
        return FP_EXIT_TROUBLE;
    bool fine = print_trend(&given);
    fp_analysis_close(&given.analysis);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
