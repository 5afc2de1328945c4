/*
 * fleetprof coverage: how many page loads are profiled, and why not all.
 */
#include "cli/report.h"

static const struct fp_grid_column columns[] = {
    {"loads", "LOADS", FP_CELL_INTEGER},
    {"profiled", "PROFILED", FP_CELL_INTEGER},
    {"no_policy", "NO POLICY", FP_CELL_INTEGER},
    {"unsupported", "UNSUPPORTED", FP_CELL_INTEGER},
    {"quota", "QUOTA", FP_CELL_INTEGER},
    {"disabled", "DISABLED", FP_CELL_INTEGER},
    {"not_sampled", "NOT SAMPLED", FP_CELL_INTEGER},
    {"sampled", "SAMPLED", FP_CELL_INTEGER},
    {"delivered", "DELIVERED", FP_CELL_INTEGER},
    {"estimated_loads", "ESTIMATED LOADS", FP_CELL_MS},
};

static const struct fp_report report = {
    .doc = "How many page loads said whether they were profiled, how many were, and why the others "
           "were not; how many the server had sampled, and how many page loads those stand for.",
    .question =
        {
            .select = "loads, profiled, no_policy, unsupported, quota, disabled, not_sampled, "
                      "sampled, delivered, estimated_loads",
            .function = "coverage",
            .things = "profile, and give no reason",
            .columns = columns,
            .column_count = sizeof(columns) / sizeof(columns[0]),
        },
    .footer = "SAMPLED page loads have a token that proves it; DELIVERED are those of them with a "
              "profile. An empty cell is not known.",
};

enum fp_exit fp_coverage_command(int argc, char **argv)
{
    return fp_report_command(&report, argc, argv);
}
