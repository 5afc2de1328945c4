/*
 * Report: what a decoder read, kept, refused and noted of an upload, for people and as JSON.
 *
 * One thread.
 */
#ifndef FP_CLI_REPORT_H
#define FP_CLI_REPORT_H

#include "cli/table.h"
#include "collector/base/buf.h"
#include "collector/profile/profile.h"

/* The columns of a report, for JSON alone; fp_report_add_cells fills them. */
#define FP_REPORT_COLUMNS                                                                          \
    {"truncated", NULL, FP_CELL_BOOLEAN}, {"records_read", NULL, FP_CELL_INTEGER},                 \
        {"records_kept", NULL, FP_CELL_INTEGER},                                                   \
    {                                                                                              \
        "notes", NULL, FP_CELL_JSON                                                                \
    }

/* Adds the cells of FP_REPORT_COLUMNS. profile: NULL for an upload that does not decode. */
void fp_report_add_cells(const struct fp_profile *profile, struct fp_table *table);

/*
 * Adds lines for people: nothing for an upload without records of which there is nothing to tell.
 * name: the file's. Look at lines->failed.
 */
void fp_report_add_lines(const struct fp_profile *profile, const char *name, struct fp_buf *lines);

#endif
