/*
 * fleetprof third-parties: hosts that pages load from.
 */
#include "cli/report.h"

static const struct fp_grid_column columns[] = {
    {"host", "HOST", FP_CELL_TEXT},
    {"party", "PARTY", FP_CELL_WORD},
    {"self_ms", "SELF MS", FP_CELL_MS},
    {"self_share", "SELF %", FP_CELL_SHARE},
    {"requests", "REQUESTS", FP_CELL_INTEGER},
    {"p75_ms", "P75 MS", FP_CELL_MS},
    {"bytes", "BYTES", FP_CELL_INTEGER},
    {"opaque_share", "OPAQUE %", FP_CELL_SHARE},
};

static const struct fp_report report = {
    .doc = "Hosts that pages load from, the most script time first: self time of their functions "
           "in profiles, and their responses.",
    .question =
        {
            .select = "host, party, self_ms, self_share, requests, p75_ms, bytes, opaque_share",
            .function = "third_parties",
            .things = "scripts or responses with a host",
            .columns = columns,
            .column_count = sizeof(columns) / sizeof(columns[0]),
        },
    .footer = "SELF % is of profiled time. Opaque responses lack Timing-Allow-Origin: their "
              "durations and sizes are not known.",
};

enum fp_exit fp_third_parties_command(int argc, char **argv)
{
    return fp_report_command(&report, argc, argv);
}
