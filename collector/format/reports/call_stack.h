/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stack: reads the text of a JavaScript stack, as V8 writes Error.stack. Pure; any thread.
 */
#ifndef FP_FORMAT_REPORTS_CALL_STACK_H
#define FP_FORMAT_REPORTS_CALL_STACK_H

#include "collector/profile/profile.h"

/*
 * Reads the innermost calls, at most `max`, into `calls`; returns how many. Skips lines that are
 * not calls, such as a message, and looks at 256 lines at most. Texts are slices of `stack`.
 */
uint32_t fp_call_stack_read(struct fp_str stack, struct fp_profile_call *calls, uint32_t max);

#endif
