/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Size: what a file of stacks may have. Writers need no limits of their own within it.
 *
 * One thread.
 */
#ifndef FP_CLI_EXPORT_SIZE_H
#define FP_CLI_EXPORT_SIZE_H

#include "cli/export/format.h"

/* Returns false, with an error, if a file of the format would be too large. */
bool fp_export_check_size(const struct fp_export_format *format,
                          const struct fp_export_stacks *stacks) FP_MUST_CHECK;

#endif
