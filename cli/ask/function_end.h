/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function end: where a function ends in its source, by its indentation.
 *
 * A function table knows where functions begin, also those inside others. Any thread.
 */
#ifndef FP_CLI_ASK_FUNCTION_END_H
#define FP_CLI_ASK_FUNCTION_END_H

#include "collector/base/base.h"

/* Returns the last line of what begins on line first (from 1): the next closing bracket that is
 * indented as that line is; without a bracket to close, the last line that is indented more, or
 * that line itself. 0: the text does not show it. */
unsigned fp_function_end(const char *text, unsigned first);

#endif
