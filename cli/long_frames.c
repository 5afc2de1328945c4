/*
 * fleetprof long-frames: scripts of long animation frames.
 */
#include "cli/report.h"

static const struct fp_grid_column columns[] = {
    {"invoker", "INVOKER", FP_CELL_TEXT},
    {"function", "FUNCTION", FP_CELL_TEXT},
    {"script", "SCRIPT", FP_CELL_PATH},
    {"count", "COUNT", FP_CELL_INTEGER},
    {"total_ms", "TOTAL MS", FP_CELL_MS},
    {"p75_ms", "P75 MS", FP_CELL_MS},
    {"blocking_ms", "BLOCKING MS", FP_CELL_MS},
    {"forced_layout_ms", "FORCED LAYOUT MS", FP_CELL_MS},
};

static const struct fp_report report = {
    .doc = "Scripts of long animation frames, the most blocking time first, as the browser "
           "reports them: also of page loads that are not profiled.",
    .question =
        {
            .select = "invoker, function, script, count, total_ms, p75_ms, blocking_ms, "
                      "forced_layout_ms",
            .function = "long_frames",
            .things = "long animation frames",
            .columns = columns,
            .column_count = sizeof(columns) / sizeof(columns[0]),
        },
    .footer = "A row without names is of frames without scripts. A frame's blocking time is "
              "divided among its scripts by their durations.",
};

enum fp_exit fp_long_frames_command(int argc, char **argv)
{
    return fp_report_command(&report, argc, argv);
}
