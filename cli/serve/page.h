/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page: the report's files, built in by tools/embed-report.
 */
#ifndef FP_CLI_SERVE_PAGE_H
#define FP_CLI_SERVE_PAGE_H

#include "collector/base/base.h"

struct fp_page_file {
    const char *path; /* "/" or /assets/NAME */
    const char *content_type;
    const char *tag; /* hash of its content, without quotes */
    struct fp_str content;
    struct fp_str packed; /* the same, by gzip */
};

extern const struct fp_page_file fp_page_files[];
extern const size_t fp_page_file_count;

#endif
