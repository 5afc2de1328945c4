/*
 * fleetprof timings: percentiles of User Timing marks and measures.
 */
#include "cli/report.h"

static const struct fp_grid_column columns[] = {
    {"name", "NAME", FP_CELL_TEXT},      {"kind", "KIND", FP_CELL_WORD},
    {"count", "COUNT", FP_CELL_INTEGER}, {"p50_ms", "P50 MS", FP_CELL_MS},
    {"p75_ms", "P75 MS", FP_CELL_MS},    {"p95_ms", "P95 MS", FP_CELL_MS},
    {"p99_ms", "P99 MS", FP_CELL_MS},    {"min_ms", "MIN MS", FP_CELL_MS},
    {"max_ms", "MAX MS", FP_CELL_MS},    {"mean_ms", "MEAN MS", FP_CELL_MS},
};

static const struct fp_report report = {
    .doc = "Percentiles of what pages marked and measured with performance.mark() (time since the "
           "page's start) and performance.measure() (duration), in milliseconds.",
    .question =
        {
            .select = "name, kind, count, p50_ms, p75_ms, p95_ms, p99_ms, min_ms, max_ms, mean_ms",
            .function = "timings",
            .things = "marks or measures",
            .columns = columns,
            .column_count = sizeof(columns) / sizeof(columns[0]),
        },
    .footer = "Counts are of values observed in uploads of profiled page loads; percentiles leave "
              "out negative durations and are at most 1.6 % off.",
};

enum fp_exit fp_timings_command(int argc, char **argv)
{
    return fp_report_command(&report, argc, argv);
}
