/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function end: where a function ends in its source, by its indentation.
 *
 * A function table knows where functions begin, also those inside others. Any thread.
 */
#ifndef FP_CLI_ASK_FUNCTION_END_H
#define FP_CLI_ASK_FUNCTION_END_H

#include "collector/base/base.h"

/* Returns the line of the bracket that closes what begins on line first (from 1): the next one that
 * is indented as that line is. 0: the text has no such line, or something else is there before. */
unsigned fp_function_end(const char *text, unsigned first);

#endif
