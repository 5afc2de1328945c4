/*
 * fleetprof vitals: percentiles of web vitals, and shares of good and poor ones.
 */
#include "cli/report.h"

enum { OPTION_BY = FP_OPTION_FIRST };

static const struct argp_option options[] = {
    {"by", OPTION_BY, "DIMENSION", 0,
     "for each route, release, environment, variant, browser, os, device or thread", 0},
    {0},
};

static error_t parse_vitals(int key, char *arg, struct argp_state *state)
{
    struct fp_analysis *analysis = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = analysis;
        return 0;
    case OPTION_BY:
        analysis->parameter = "dimension";
        analysis->argument = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_report_argp, 0, NULL, 0},
    {0},
};

static const struct argp vitals_argp = {
    .options = options,
    .parser = parse_vitals,
    .doc = "Web vitals (LCP, INP, CLS, FCP, TTFB): percentiles, and shares that are good, need "
           "improvement or are poor.",
    .children = children,
};

/* Without --by there is no value. */
#define VALUE_COLUMNS 1

static const struct fp_grid_column columns[] = {
    {"value", "VALUE", FP_CELL_TEXT},
    {"name", "VITAL", FP_CELL_WORD},
    {"unit", "UNIT", FP_CELL_WORD},
    {"count", "COUNT", FP_CELL_INTEGER},
    {"p50", "P50", FP_CELL_MS},
    {"p75", "P75", FP_CELL_MS},
    {"p95", "P95", FP_CELL_MS},
    {"good_share", "GOOD %", FP_CELL_SHARE},
    {"needs_improvement_share", "NEEDS IMPROVEMENT %", FP_CELL_SHARE},
    {"poor_share", "POOR %", FP_CELL_SHARE},
};

#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))
#define FOOTER                                                                                     \
    "Percentiles are in UNIT and at most 1.6 % off. COUNT is of values; shares are of it."
#define THINGS "web vitals; the agent's vitals build sends them"

static const struct fp_report whole = {
    .question = {.select = "name, unit, count, p50, p75, p95, good_share, needs_improvement_share, "
                           "poor_share",
                 .function = "vitals",
                 .things = THINGS,
                 .columns = columns + VALUE_COLUMNS,
                 .column_count = COLUMN_COUNT - VALUE_COLUMNS},
    .footer = FOOTER,
};

static const struct fp_report by_dimension = {
    .question = {.select = "value, name, unit, count, p50, p75, p95, good_share, "
                           "needs_improvement_share, poor_share",
                 .function = "vitals_by",
                 .things = THINGS,
                 .columns = columns,
                 .column_count = COLUMN_COUNT},
    .footer = FOOTER,
};

enum fp_exit fp_vitals_command(int argc, char **argv)
{
    struct fp_analysis analysis = {0};
    fp_command_parse(&vitals_argp, argc, argv, &analysis);
    return fp_report_answer(analysis.parameter != NULL ? &by_dimension : &whole, &analysis);
}
