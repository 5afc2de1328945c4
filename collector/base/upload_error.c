/*
 * Upload error: filled in one place.
 */
#include "collector/base/upload_error.h"

#include <stdarg.h>
#include <stdio.h>

enum fp_format_verdict fp_format_fail(struct fp_format_error *error, enum fp_format_verdict verdict,
                                      const char *detail, ...)
{
    *error = (struct fp_format_error){.verdict = verdict, .offset = -1};
    va_list args;
    va_start(args, detail);
    vsnprintf(error->detail, sizeof(error->detail), detail, args);
    va_end(args);
    return verdict;
}

enum fp_format_verdict fp_format_fail_memory(struct fp_format_error *error)
{
    return fp_format_fail(error, FP_FORMAT_MEMORY,
                          "the upload needs more memory than is set aside for one");
}
