/*
 * fleetprof export: stacks in the notation of another tool.
 */
#include "cli/analysis.h"
#include "cli/command.h"
#include "cli/empty_answer.h"

enum { OPTION_FORMAT = FP_OPTION_FIRST };

static const struct argp_option options[] = {
    {"format", OPTION_FORMAT, "FORMAT", 0,
     "folded: one line per stack, as flamegraph.pl, speedscope and Firefox Profiler read it; "
     "weights "
     "in microseconds",
     0},
    {0},
};

struct export_options {
    struct fp_analysis analysis;
    const char *format;
};

static error_t parse_export(int key, char *arg, struct argp_state *state)
{
    struct export_options *export = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &export->analysis;
        state->child_inputs[1] = &export->analysis.fold;
        return 0;
    case OPTION_FORMAT:
        if (strcmp(arg, "folded") != 0)
            argp_error(state, "unknown format \"%s\"; this version has folded", arg);
        export->format = arg;
        return 0;
    case ARGP_KEY_END:
        if (export->format == NULL)
            argp_error(state, "--format is missing; this version has folded");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_analysis_argp, 0, NULL, 0},
    {&fp_fold_argp, 0, NULL, 0},
    {0},
};

static const struct argp export_argp = {
    .options = options,
    .parser = parse_export,
    .args_doc = "--format FORMAT",
    .doc = "Writes the stacks of real users' page loads to standard output, for another tool.",
    .children = children,
};

static void print_line(void *context, const PGresult *row)
{
    size_t *lines = context;
    (*lines)++;
    (void)fputs(PQgetvalue(row, 0, 0), stdout);
    (void)putchar('\n');
}

enum fp_exit fp_export_command(int argc, char **argv)
{
    struct export_options export = {0};
    struct fp_analysis *analysis = &export.analysis;
    fp_command_parse(&export_argp, argc, argv, &export);
    if (!fp_analysis_open(analysis))
        return FP_EXIT_TROUBLE;
    struct fp_sql_query query;
    size_t lines = 0;
    fp_analysis_query(analysis, "*", "folded", &query);
    bool fine = fp_sql_stream(analysis->connection, &query, print_line, &lines);
    fp_sql_release(&query);
    if (fine && lines == 0)
        fine = fp_empty_answer_explain(&analysis->filters, NULL, analysis->connection);
    fp_analysis_close(analysis);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
