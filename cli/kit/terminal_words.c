/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words on a terminal: characters as they are shown, and lines wrapped between words. Needs no
 * memory, so that messages that memory ran out can use it.
 */
#include "cli/kit/terminal.h"

#include <string.h>
#include <sys/ioctl.h>
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

/* Returns how many columns a line has; 0: unknown, as the stream is not a terminal. */
static size_t width_of(FILE *out)
{
    struct winsize size = {0};
    if (isatty(fileno(out)) != 1)
        return 0;
    const bool is_known = ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return is_known ? size.ws_col : 80;
}

/* Takes one character as it is shown. Returns how many columns it takes. */
static size_t next_shown(struct fp_str *text, char shown[32])
{
    wchar_t letter;
    const char *begin = text->ptr;
    const bool valid = fp_terminal_read_letter(text, &letter);
    const size_t len = (size_t)(text->ptr - begin);
    if (valid && fp_terminal_is_hidden(letter)) {
        (void)snprintf(shown, 32, "?");
        return 1;
    }
    if (valid && !iswcntrl((wint_t)letter)) {
        (void)snprintf(shown, 32, "%.*s", (int)len, begin);
        return wcwidth(letter) > 0 ? (size_t)wcwidth(letter) : 0;
    }
    size_t used = 0;
    for (; begin < text->ptr && used + sizeof("\\xHH") <= 32; begin++)
        used +=
            (size_t)snprintf(shown + used, 32 - used, "\\x%02x", (unsigned)(unsigned char)*begin);
    return used;
}

/* Returns the length of the first word; a percent sign belongs to its number. */
static size_t word_len(const char *text)
{
    size_t len = strcspn(text, " ");
    while (text[len] == ' ' && text[len + 1] == '%')
        len += 1 + strcspn(text + len + 1, " ");
    return len;
}

static size_t word_columns(struct fp_str word)
{
    char shown[32];
    size_t columns = 0;
    while (word.len > 0)
        columns += next_shown(&word, shown);
    return columns;
}

static void write_word(FILE *out, struct fp_str word)
{
    char shown[32];
    while (word.len > 0) {
        (void)next_shown(&word, shown);
        (void)fputs(shown, out);
    }
}

void fp_terminal_write_words(FILE *out, const char *text, size_t indent)
{
    const size_t width = width_of(out);
    size_t column = indent;
    if (width == 0) {
        write_word(out, fp_str_of(text));
        return;
    }
    while (text[0] != '\0') {
        const struct fp_str word = {text, word_len(text)};
        const size_t columns = word_columns(word);
        const bool is_first = column == indent;
        if (!is_first && column + 1 + columns > width) {
            (void)fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!is_first) {
            (void)putc(' ', out);
            column++;
        }
        write_word(out, word);
        column += columns;
        text += word.len;
        text += strspn(text, " ");
    }
}
