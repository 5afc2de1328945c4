/*
 * fleetprof interactions: what visitors clicked and typed, and how long the page took.
 */
#include "cli/report.h"

static const struct fp_grid_column columns[] = {
    {"target", "TARGET", FP_CELL_TEXT},
    {"type", "TYPE", FP_CELL_WORD},
    {"count", "COUNT", FP_CELL_INTEGER},
    {"p75_ms", "P75 MS", FP_CELL_MS},
    {"p98_ms", "P98 MS", FP_CELL_MS},
    {"max_ms", "MAX MS", FP_CELL_MS},
    {"total_ms", "TOTAL MS", FP_CELL_MS},
    {"input_delay_share", "DELAY %", FP_CELL_SHARE},
    {"processing_share", "PROCESSING %", FP_CELL_SHARE},
    {"presentation_share", "PRESENTATION %", FP_CELL_SHARE},
};

static const struct fp_report report = {
    .doc = "Interactions by type and target, the most time first: how long they took until the "
           "next paint, and which shares of it were input delay, processing and presentation.",
    .question =
        {
            .select = "target, type, count, p75_ms, p98_ms, max_ms, total_ms, input_delay_share, "
                      "processing_share, presentation_share",
            .function = "interactions",
            .things = "interactions",
            .columns = columns,
            .column_count = sizeof(columns) / sizeof(columns[0]),
        },
    .footer = "Shares are of TOTAL MS, the sum of all durations; percentiles are at most 1.6 % "
              "off.",
};

enum fp_exit fp_interactions_command(int argc, char **argv)
{
    return fp_report_command(&report, argc, argv);
}
