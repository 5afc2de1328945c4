/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upload error: filled in one place.
 */
#include "collector/base/upload_error.h"

#include <stdarg.h>
#include <stdio.h>

enum fp_verdict fp_upload_fail(struct fp_upload_error *error, enum fp_verdict verdict,
                               const char *detail, ...)
{
    *error = (struct fp_upload_error){.verdict = verdict, .offset = -1};
    va_list args;
    va_start(args, detail);
    vsnprintf(error->detail, sizeof(error->detail), detail, args);
    va_end(args);
    return verdict;
}

enum fp_verdict fp_upload_fail_memory(struct fp_upload_error *error)
{
    return fp_upload_fail(error, FP_VERDICT_MEMORY,
                          "the upload needs more memory than one upload may use");
}
