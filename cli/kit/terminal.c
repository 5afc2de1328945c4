/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminal: replaces characters that do not belong on a terminal; colours, numbers and JSON.
 */
#include "cli/kit/terminal.h"

#include "cli/kit/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wctype.h>

static bool is_terminal(FILE *out)
{
    return isatty(fileno(out)) == 1;
}

char *fp_terminal_copy_safe(struct fp_str text)
{
    struct fp_buf safe;
    fp_buf_init(&safe, 4 * text.len + 1);
    while (text.len > 0) {
        wchar_t letter;
        const char *begin = text.ptr;
        const bool valid = fp_terminal_read_letter(&text, &letter);
        if (valid && fp_terminal_is_hidden(letter))
            fp_buf_add(&safe, "?", 1);
        else if (!valid || !iswcntrl((wint_t)letter))
            fp_buf_add(&safe, begin, (size_t)(text.ptr - begin));
        else
            for (; begin < text.ptr; begin++)
                fp_buf_addf(&safe, "\\x%02x", (unsigned)(unsigned char)*begin);
    }
    char *copy = fp_memory_copy(fp_memory_text(&safe));
    fp_buf_release(&safe);
    return copy;
}

void fp_terminal_write_line(FILE *out, struct fp_str line)
{
    if (!is_terminal(out)) {
        (void)fwrite(line.ptr, 1, line.len, out);
        return;
    }
    char *safe = fp_terminal_copy_safe(line);
    (void)fputs(safe, out);
    free(safe);
}

/* ---- colours ---- */

bool fp_terminal_has_colours(FILE *out)
{
    const char *refused = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return (refused == NULL || refused[0] == '\0') && terminal != NULL && terminal[0] != '\0' &&
           strcmp(terminal, "dumb") != 0 && is_terminal(out);
}

const char *fp_terminal_style(FILE *out, enum fp_style style)
{
    static const char *const styles[] = {
        [FP_STYLE_PLAIN] = "\033[0m", [FP_STYLE_BOLD] = "\033[1m",  [FP_STYLE_BAD] = "\033[31m",
        [FP_STYLE_WARN] = "\033[33m", [FP_STYLE_GOOD] = "\033[32m",
    };
    return fp_terminal_has_colours(out) ? styles[style] : "";
}

/* ---- numbers ---- */

const char *fp_terminal_number(char text[FP_TERMINAL_NUMBER_SIZE], double number, int decimals)
{
    char plain[FP_TERMINAL_NUMBER_SIZE / 4 * 3];
    (void)snprintf(plain, sizeof(plain), "%.*f", decimals, number);
    const size_t sign = plain[0] == '-' ? 1 : 0;
    const size_t digits = strspn(plain + sign, "0123456789");
    const bool grouped = digits > 3 && is_terminal(stdout);
    char *end = text;
    for (size_t i = 0; plain[i] != '\0'; i++) {
        if (grouped && i > sign && i < sign + digits && (digits + sign - i) % 3 == 0)
            *end++ = ',';
        *end++ = plain[i];
    }
    *end = '\0';
    return text;
}

/* ---- JSON ---- */

/* Writes a character as JSON escapes it: beyond U+FFFF as two halves. */
static void write_escape(FILE *out, uint32_t letter)
{
    if (letter > 0xFFFF)
        (void)fprintf(out, "\\u%04x\\u%04x", 0xD7C0 + (letter >> 10), 0xDC00 + (letter & 0x3FF));
    else
        (void)fprintf(out, "\\u%04x", letter);
}

static bool may_stay(wchar_t letter)
{
    return letter == L'\n' || letter == L'\t' ||
           (!iswcntrl((wint_t)letter) && !fp_terminal_is_hidden(letter));
}

void fp_terminal_write_json(FILE *out, struct fp_str json)
{
    if (!is_terminal(out)) {
        (void)fwrite(json.ptr, 1, json.len, out);
        return;
    }
    while (json.len > 0) {
        wchar_t letter;
        const char *begin = json.ptr;
        if (!fp_terminal_read_letter(&json, &letter))
            write_escape(out, 0xFFFD);
        else if (may_stay(letter))
            (void)fwrite(begin, 1, (size_t)(json.ptr - begin), out);
        else
            write_escape(out, (uint32_t)letter);
    }
}
