/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upload report: what a decoder read, kept, refused and noted, for people and as JSON.
 *
 * One thread.
 */
#ifndef FP_CLI_FEED_UPLOAD_REPORT_H
#define FP_CLI_FEED_UPLOAD_REPORT_H

#include "cli/kit/grid.h"
#include "collector/base/buf.h"
#include "collector/profile/profile.h"

/* The columns of a report, for JSON alone; fp_upload_report_add_cells fills them. */
#define FP_UPLOAD_REPORT_COLUMNS                                                                   \
    {"session", NULL, FP_CELL_INTEGER}, {"truncated", NULL, FP_CELL_BOOLEAN},                      \
        {"records_read", NULL, FP_CELL_INTEGER}, {"records_kept", NULL, FP_CELL_INTEGER},          \
        {"records_refused", NULL, FP_CELL_INTEGER},                                                \
    {                                                                                              \
        "notes", NULL, FP_CELL_JSON                                                                \
    }

/* Appends the cells of FP_UPLOAD_REPORT_COLUMNS. profile: NULL for an upload that does not decode.
 */
void fp_upload_report_add_cells(const struct fp_profile *profile, struct fp_grid *grid);

/* Appends the name of an upload: its file's name, and its session's id if it is one of several
 * (is_session) in the file. */
void fp_upload_report_add_name(const struct fp_profile *profile, bool is_session, const char *name,
                               struct fp_buf *text);

/*
 * Appends the readable report of an upload and of those after it in the same file. Appends nothing
 * if there are no records and no notes. name: the file's. The caller ends the text with
 * fp_memory_text.
 */
void fp_upload_report_add_lines(const struct fp_profile *profile, const char *name,
                                struct fp_buf *lines);

#endif
