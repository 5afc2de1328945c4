/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminal: reads characters, and replaces those that do not belong on a terminal.
 */
#include "cli/kit/terminal.h"

#include "cli/kit/memory.h"

#include <stdlib.h>
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

/* ---- words ---- */

/* Returns how many columns a line has; 0: unknown, as the stream is not a terminal. */
static size_t width_of(FILE *out)
{
    struct winsize size = {0};
    if (!is_terminal(out))
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
