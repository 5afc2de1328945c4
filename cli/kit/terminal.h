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

enum { FP_TERMINAL_NUMBER_SIZE = 512 };

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

/* Writes words as the copy above, wrapped between them on a terminal: further lines begin in column
 * `indent`, where the first one already is. Needs no memory. */
void fp_terminal_write_words(FILE *out, const char *text, size_t indent);

enum fp_style {
    FP_STYLE_PLAIN, /* ends another */
    FP_STYLE_BOLD,
    FP_STYLE_BAD,  /* red */
    FP_STYLE_WARN, /* orange */
    FP_STYLE_GOOD, /* green */
};

/* True if a stream is a terminal that may show colours: TERM is set and not dumb, and NO_COLOR is
 * not set, or empty (https://no-color.org). */
bool fp_terminal_has_colours(FILE *out) FP_MUST_CHECK;

/* Returns the characters that begin a style: "" without colours. Constant. */
const char *fp_terminal_style(FILE *out, enum fp_style style);

/* Writes a number with decimals; on a terminal, if standard output is one, with a comma between
 * thousands. Returns `text`. */
const char *fp_terminal_number(char text[FP_TERMINAL_NUMBER_SIZE], double number, int decimals);

/* Writes JSON, or lines of it: whole, but on a terminal with JSON's escapes for what would steer or
 * mislead it, which JSON allows anywhere in a text. Line feeds and tabs stay; a byte that is not
 * part of a character becomes U+FFFD, escaped. */
void fp_terminal_write_json(FILE *out, struct fp_str json);

#endif
