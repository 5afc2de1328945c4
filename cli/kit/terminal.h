/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminal: shows texts that strangers wrote, without letting them steer or mislead the terminal.
 *
 * Control characters steer it; characters that change the direction of the text after them, or have
 * no width, mislead: a name could make the rest of a line read otherwise, or look like another
 * name. The locale is one of UTF-8. One thread.
 */
#ifndef FP_CLI_KIT_TERMINAL_H
#define FP_CLI_KIT_TERMINAL_H

#include "collector/base/base.h"

#include <stdio.h>
#include <wchar.h>

/* Takes one character off the front of a text that is not empty. False at a byte that is not part
 * of one; the byte is taken. */
bool fp_terminal_read_letter(struct fp_str *text, wchar_t *letter) FP_MUST_CHECK;

/* True if a character misleads. A question mark is shown instead. */
bool fp_terminal_is_hidden(wchar_t letter);

/* Returns a copy that may be shown: control characters as \xHH, others that mislead as a question
 * mark. The caller frees it. */
char *fp_terminal_copy_safe(struct fp_str text);

/* Writes one line of text without its line feed: whole, but on a terminal as the copy above. */
void fp_terminal_write_line(FILE *out, struct fp_str line);

/* Writes JSON, or lines of it: whole, but on a terminal with JSON's escapes for what would steer or
 * mislead it, which JSON allows anywhere in a text. Line feeds and tabs stay; a byte that is not
 * part of a character becomes U+FFFD, escaped. */
void fp_terminal_write_json(FILE *out, struct fp_str json);

#endif
