/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Format: the table.
 */
#include "cli/export/format.h"

const struct fp_export_format fp_export_formats[] = {
    {
        .name = "folded",
        .meaning = "one line per stack, for flamegraph.pl; a comparison: two weights",
        .paths = FP_EXPORT_PATHS_ONCE,
        .repeats_names = true,
        .write = fp_export_write_folded,
    },
    {
        .name = "speedscope",
        .meaning = "for speedscope.app; a comparison is two profiles",
        .paths = FP_EXPORT_PATHS_PER_SAMPLE,
        .write = fp_export_write_speedscope,
    },
    {
        .name = "gecko",
        .meaning = "for profiler.firefox.com",
        .obstacles = {[FP_EXPORT_COMPARISON] = "a profile of Firefox has no weights below zero and "
                                               "no second side"},
        .has_marks = true,
        .write = fp_export_write_gecko,
    },
    {
        .name = "chrome",
        .meaning = "for the Performance panel of Chrome's DevTools",
        .obstacles = {[FP_EXPORT_COMPARISON] = "a trace of Chrome has no weights below zero and no "
                                               "second side"},
        .has_marks = true,
        .write = fp_export_write_chrome,
    },
    {
        .name = "pprof",
        .meaning = "for pprof, gzipped; a comparison as pprof -diff_base makes it",
        .is_binary = true,
        .paths = FP_EXPORT_PATHS_ONCE,
        .write = fp_export_write_pprof,
    },
};
const size_t fp_export_format_count = FP_COUNT(fp_export_formats);

const struct fp_export_format *fp_export_format_find(const char *name)
{
    for (size_t i = 0; i < fp_export_format_count; i++) {
        if (strcmp(fp_export_formats[i].name, name) == 0)
            return &fp_export_formats[i];
    }
    return NULL;
}
