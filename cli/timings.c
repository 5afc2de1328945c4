/*
 * fleetprof timings: percentiles of User Timing marks and measures.
 */
#include "cli/analysis.h"
#include "cli/command.h"
#include "cli/options.h"

static error_t parse_timings(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    struct fp_analysis *analysis = state->input;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = analysis;
    state->child_inputs[1] = &analysis->json;
    return 0;
}

static const struct argp_child children[] = {
    {&fp_analysis_without_marker_argp, 0, NULL, 0},
    {&fp_json_argp, 0, NULL, 0},
    {0},
};

static const struct argp timings_argp = {
    .parser = parse_timings,
    .doc = "Percentiles of what pages marked and measured with performance.mark() (time since the "
           "page's start) and performance.measure() (duration), in milliseconds.",
    .children = children,
};

static const struct fp_grid_column columns[] = {
    {"name", "NAME", FP_CELL_TEXT},      {"kind", "KIND", FP_CELL_WORD},
    {"count", "COUNT", FP_CELL_INTEGER}, {"p50_ms", "P50 MS", FP_CELL_MS},
    {"p75_ms", "P75 MS", FP_CELL_MS},    {"p95_ms", "P95 MS", FP_CELL_MS},
    {"p99_ms", "P99 MS", FP_CELL_MS},    {"min_ms", "MIN MS", FP_CELL_MS},
    {"max_ms", "MAX MS", FP_CELL_MS},    {"mean_ms", "MEAN MS", FP_CELL_MS},
};

static const struct fp_analysis_question question = {
    .select = "name, kind, count, p50_ms, p75_ms, p95_ms, p99_ms, min_ms, max_ms, mean_ms",
    .function = "timings",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(columns[0]),
};

enum fp_exit fp_timings_command(int argc, char **argv)
{
    struct fp_analysis analysis = {0};
    fp_command_parse(&timings_argp, argc, argv, &analysis);
    if (!fp_analysis_open(&analysis))
        return FP_EXIT_TROUBLE;
    size_t rows = 0;
    bool fine = fp_analysis_print(&analysis, &question, &rows);
    if (fine && rows > 0 && !analysis.json) {
        (void)printf(
            "\nCounts are of values observed in uploads of profiled page loads; percentiles "
            "leave out negative durations and are at most 1.6 %% off.\n");
    }
    fp_analysis_close(&analysis);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
