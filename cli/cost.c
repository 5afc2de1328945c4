/*
 * fleetprof cost: time by what scripts or page loads have in common.
 */
#include "cli/options.h"
#include "cli/report.h"

static const struct argp_child children[] = {
    {&fp_analysis_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static error_t parse_cost(int key, char *arg, struct argp_state *state)
{
    struct fp_analysis *analysis = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = analysis;
        state->child_inputs[1] = &analysis->form;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one BY at a time");
        analysis->argument = arg;
        return 0;
    case ARGP_KEY_SUCCESS:
        if (analysis->argument == NULL)
            argp_error(state, "name by what to list time, such as party");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp cost_argp = {
    .parser = parse_cost,
    .args_doc = "BY",
    .doc = "Time by what scripts have in common (BY is package, party, entity, host, resource or "
           "source), by a dimension (route, release, environment, variant, browser, os, device, "
           "thread) or by marker.",
    .children = children,
};

static const struct fp_grid_column columns[] = {
    {"name", "NAME", FP_CELL_PATH},          {"self_ms", "SELF MS", FP_CELL_MS},
    {"share", "SHARE %", FP_CELL_SHARE},     {"samples", "SAMPLES", FP_CELL_INTEGER},
    {"uploads", "UPLOADS", FP_CELL_INTEGER},
};

static const struct fp_report report = {
    .question =
        {
            .select = "name, self_ms, share, samples, uploads",
            .function = "cost_by",
            .things = "samples",
            .columns = columns,
            .column_count = sizeof(columns) / sizeof(columns[0]),
        },
    .footer = "SHARE % is of profiled time.",
};

enum fp_exit fp_cost_command(int argc, char **argv)
{
    struct fp_analysis analysis = {.parameter = "\"by\""};
    fp_command_parse(&cost_argp, argc, argv, &analysis);
    return fp_report_answer(&report, &analysis);
}
