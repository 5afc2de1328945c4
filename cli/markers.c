/*
 * fleetprof markers: time by what the page's thread did.
 */
#include "cli/report.h"

static const struct fp_grid_column columns[] = {
    {"marker", "MARKER", FP_CELL_TEXT},
    {"samples", "SAMPLES", FP_CELL_INTEGER},
    {"self_ms", "SELF MS", FP_CELL_MS},
    {"share", "SHARE %", FP_CELL_SHARE},
};

static const struct fp_report report = {
    .has_marker = true,
    .doc = "Time by what the page's thread did, the most first: garbage collection, style, layout, "
           "paint, script, functions without a marker, and time without a visible stack.",
    .question =
        {
            .select = "marker, samples, self_ms, share",
            .function = "markers",
            .things = "samples",
            .columns = columns,
            .column_count = sizeof(columns) / sizeof(columns[0]),
        },
    .footer = "SHARE % is of profiled time. (none): a function ran without a marker. "
              "(unattributed): idle, or in code that the page may not see.",
};

enum fp_exit fp_markers_command(int argc, char **argv)
{
    return fp_report_command(&report, argc, argv);
}
