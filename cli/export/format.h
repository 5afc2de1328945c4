/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Format: the table of formats that stacks are exported in. Another format is another row, and a
 * writer in a file of its own.
 *
 * One thread.
 */
#ifndef FP_CLI_EXPORT_FORMAT_H
#define FP_CLI_EXPORT_FORMAT_H

#include "cli/export/stacks.h"

#include <stdio.h>

/* Where stacks come from. */
enum fp_export_source {
    FP_EXPORT_AGGREGATE,
    FP_EXPORT_COMPARISON,
    FP_EXPORT_SESSION,
    FP_EXPORT_SOURCE_COUNT
};

/* How often a file lists all frames of a stack. */
enum fp_export_paths { FP_EXPORT_PATHS_NEVER, FP_EXPORT_PATHS_ONCE, FP_EXPORT_PATHS_PER_SAMPLE };

struct fp_export_format {
    const char *name;
    const char *meaning; /* for --help */
    /* Why the format has no room for a source; NULL: it has. */
    const char *obstacles[FP_EXPORT_SOURCE_COUNT];
    enum fp_export_paths paths;
    bool has_marks;
    bool is_binary;
    bool repeats_names; /* a stack's frames are listed by name, not by number */
    /* Writes a whole file. The owner of the stream checks it for errors. */
    void (*write)(const struct fp_export_stacks *stacks, FILE *out);
};

extern const struct fp_export_format fp_export_formats[];
extern const size_t fp_export_format_count;

/* Returns the format of this name, NULL for an unknown one. */
const struct fp_export_format *fp_export_format_find(const char *name);

void fp_export_write_folded(const struct fp_export_stacks *stacks, FILE *out);
void fp_export_write_speedscope(const struct fp_export_stacks *stacks, FILE *out);
void fp_export_write_gecko(const struct fp_export_stacks *stacks, FILE *out);
void fp_export_write_chrome(const struct fp_export_stacks *stacks, FILE *out);
void fp_export_write_pprof(const struct fp_export_stacks *stacks, FILE *out);

#endif
