/*
 * Report: what the commands that only print a table have in common.
 */
#include "cli/report.h"

#include "cli/options.h"

static error_t parse_report(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    struct fp_analysis *analysis = state->input;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = analysis;
    state->child_inputs[1] = &analysis->form;
    return 0;
}

static const struct argp_child children[] = {
    {&fp_analysis_without_marker_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp_child children_with_marker[] = {
    {&fp_analysis_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

const struct argp fp_report_argp = {.parser = parse_report, .children = children};

enum fp_exit fp_report_answer(const struct fp_report *report, struct fp_analysis *analysis)
{
    if (!fp_analysis_open(analysis))
        return FP_EXIT_TROUBLE;
    size_t rows = 0;
    bool fine = fp_analysis_print(analysis, &report->question, &rows);
    if (fine && rows > 0 && analysis->form == FP_FORM_PEOPLE)
        (void)printf("\n%s\n", report->footer);
    fp_analysis_close(analysis);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}

enum fp_exit fp_report_command(const struct fp_report *report, int argc, char **argv)
{
    struct fp_analysis analysis = {0};
    const struct argp argp = {.parser = parse_report,
                              .doc = report->doc,
                              .children = report->has_marker ? children_with_marker : children};
    fp_command_parse(&argp, argc, argv, &analysis);
    return fp_report_answer(report, &analysis);
}
