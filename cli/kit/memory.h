/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a command: a command that runs out of it says so and ends the process.
 *
 * Nothing here returns NULL, so callers need no branch for it. A command may end at any time: what
 * it sends is counted once by its id, and what it writes to a file replaces that file whole.
 *
 * One thread.
 */
#ifndef FP_CLI_KIT_MEMORY_H
#define FP_CLI_KIT_MEMORY_H

#include "collector/base/buf.h"

/* Prints "out of memory" and exits with FP_EXIT_TROUBLE. */
_Noreturn void fp_memory_end(void);

/* Returns the pointer; ends the process when it is NULL, as after a failed allocation. */
void *fp_memory_need(void *pointer);

/* Returns a copy that the caller frees. */
char *fp_memory_copy(const char *text);

/* Returns a text made by printf's rules; the caller frees it. */
char *fp_memory_print(const char *format, ...) FP_PRINTF(1, 2);

/* Makes room for one more element of a growing array; the caller frees the array. */
void *fp_memory_grow(void *array, size_t count, size_t *capacity, size_t size);

/* Appends a NUL and returns the buffer's text. Ends the process when an append has failed. */
const char *fp_memory_text(struct fp_buf *buf);

#endif
