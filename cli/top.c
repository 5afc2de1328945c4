/*
 * fleetprof top: the functions that cost the most time.
 */
#include "cli/analysis.h"
#include "cli/command.h"

enum { OPTION_TOP = FP_OPTION_FIRST, OPTION_MEASURE, OPTION_JSON };

static const struct argp_option options[] = {
    {"top", OPTION_TOP, "N", 0, "how many functions (default: 20)", 0},
    {"measure", OPTION_MEASURE, "NAME", 0,
     "only what ran inside the performance.measure() of this name", 0},
    {"json", OPTION_JSON, NULL, 0, "print JSON, with every column of the SQL function", 0},
    {0},
};

static error_t parse_top(int key, char *arg, struct argp_state *state)
{
    struct fp_analysis *analysis = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = analysis;
        return 0;
    case OPTION_TOP:
        if (arg[0] == '0' || arg[0] == '\0' || arg[strspn(arg, "0123456789")] != '\0')
            argp_error(state, "--top takes a number from 1 on, not \"%s\"", arg);
        analysis->top = arg;
        return 0;
    case OPTION_MEASURE:
        analysis->measure = arg;
        return 0;
    case OPTION_JSON:
        analysis->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_analysis_argp, 0, NULL, 0},
    {0},
};

static const struct argp top_argp = {
    .options = options,
    .parser = parse_top,
    .doc =
        "The functions in which the browsers of real users spent the most time themselves (self), "
        "and with all that they called (total).",
    .children = children,
};

static const struct fp_grid_column columns[] = {
    {"function", NULL, FP_CELL_TEXT},
    {"resource", NULL, FP_CELL_PATH},
    {"line", NULL, FP_CELL_INTEGER},
    {"column_number", NULL, FP_CELL_INTEGER},
    {"kind", NULL, FP_CELL_TEXT},
    {"self_ms", "SELF MS", FP_CELL_MS},
    {"total_ms", "TOTAL MS", FP_CELL_MS},
    {"self_share", "SELF %", FP_CELL_SHARE},
    {"total_share", "TOTAL %", FP_CELL_SHARE},
    {"samples", "SAMPLES", FP_CELL_INTEGER},
    {"uploads", "UPLOADS", FP_CELL_INTEGER},
    {NULL, "FUNCTION", FP_CELL_TEXT},
    {NULL, "WHERE", FP_CELL_PATH},
};

static const struct fp_analysis_question everywhere = {
    .select = "function, resource, line, column_number, kind, self_ms, total_ms, self_share, "
              "total_share, samples, uploads, function, "
              "coalesce(resource, '') || coalesce(':' || line, '') || "
              "coalesce(':' || column_number, '')",
    .function = "hotspots",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(columns[0]),
};

static bool print_measure_footer(const struct fp_analysis *analysis)
{
    return printf("\nShares are of what was profiled inside \"%s\".\n", analysis->measure) >= 0;
}

/* What the shares are of: markers, unless asked for one of them, add up to the profiled time. */
static bool print_footer(const struct fp_analysis *analysis)
{
    struct fp_analysis all = *analysis;
    all.filters.values[FP_FILTER_MARKER] = NULL;
    all.top = NULL;
    struct fp_sql_query query;
    fp_analysis_query(&all,
                      "sum(self_ms) / 1000, "
                      "100 * coalesce(sum(share) filter (where marker = '(unattributed)'), 0)",
                      "markers", &query);
    PGresult *answer = fp_sql_run(all.connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    (void)printf("\nShares are of %.1f s of profiled time; %.1f %% of it belongs to no visible "
                 "stack (idle, or code that the page may not see).\n",
                 strtod(PQgetvalue(answer, 0, 0), NULL), strtod(PQgetvalue(answer, 0, 1), NULL));
    PQclear(answer);
    return true;
}

enum fp_exit fp_top_command(int argc, char **argv)
{
    struct fp_analysis analysis = {0};
    if (!fp_command_parse(&top_argp, argc, argv, &analysis) || !fp_analysis_open(&analysis))
        return FP_EXIT_TROUBLE;
    struct fp_analysis_question question = everywhere;
    if (analysis.measure != NULL)
        question.function = "measure_hotspots";
    size_t rows = 0;
    bool fine = fp_analysis_print(&analysis, &question, &rows);
    if (fine && !analysis.json && rows > 0)
        fine = analysis.measure != NULL ? print_measure_footer(&analysis) : print_footer(&analysis);
    fp_analysis_close(&analysis);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
