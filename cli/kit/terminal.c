/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminal: reads characters, and replaces those that do not belong on a terminal.
 */
#include "cli/kit/terminal.h"

#include "cli/kit/memory.h"

#include <stdlib.h>
#include <unistd.h>
#include <wctype.h>

bool fp_terminal_read_letter(struct fp_str *text, wchar_t *letter)
{
    mbstate_t state = {0};
    const size_t len = mbrtowc(letter, text->ptr, text->len, &state);
    const bool valid = len != (size_t)-1 && len != (size_t)-2;
    const size_t step = valid && len > 0 ? len : 1; /* a NUL has the length 0 */
    *text = (struct fp_str){text->ptr + step, text->len - step};
    return valid;
}

bool fp_terminal_is_hidden(wchar_t letter)
{
    /* The first three change the direction. Joiners and selectors have no width either, but change
     * how the letters beside them look. */
    static const struct {
        wchar_t first;
        wchar_t last;
    } hidden[] = {
        {0x061C, 0x061C}, {0x200E, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x206F},   {0x180E, 0x180E},
        {0x200B, 0x200B}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F},
    };
    for (size_t i = 0; i < FP_COUNT(hidden); i++)
        if (letter >= hidden[i].first && letter <= hidden[i].last)
            return true;
    return false;
}

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
