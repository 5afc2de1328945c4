/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Note: chooses the stream, and wraps.
 */
#include "cli/kit/note.h"

#include "cli/kit/memory.h"
#include "cli/kit/terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void fp_note_put(const char *text)
{
    FILE *out = isatty(STDOUT_FILENO) == 1 ? stdout : stderr;
    if (out == stderr)
        (void)fflush(stdout); /* the rows come first where both are one file */
    fp_terminal_write_words(out, text, 0);
    (void)putc('\n', out);
}

void fp_note_print(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        fp_memory_end();
    va_end(args);
    fp_note_put(text);
    free(text);
}

void fp_note_gap(void)
{
    if (isatty(STDOUT_FILENO) == 1)
        (void)putchar('\n');
}
