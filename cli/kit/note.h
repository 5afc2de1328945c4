/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Note: what is said about the rows of an answer, such as what its columns mean.
 *
 * On a terminal it follows the rows, wrapped between words. Where standard output is piped or
 * redirected it goes to standard error, so that standard output has rows only.
 * Control characters, which names may have, are escaped. One thread.
 */
#ifndef FP_CLI_KIT_NOTE_H
#define FP_CLI_KIT_NOTE_H

#include "collector/base/base.h"

/* Prints a paragraph; it has no line feed. */
void fp_note_print(const char *format, ...) FP_PRINTF(1, 2);

/* Does the same, and needs no memory. */
void fp_note_put(const char *text);

/* Prints an empty line on a terminal, between rows and notes. */
void fp_note_gap(void);

#endif
