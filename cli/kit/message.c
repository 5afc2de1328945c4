/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages on standard error: prefix and text, without control characters.
 */
#include "cli/kit/message.h"

#include "cli/kit/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A longer message is cut. The errors of a configuration are the longest. */
enum { TEXT_SIZE = 72 * 1024, PROGRESS_SIZE = 1024 };

#define ERASE_REST "\033[K"

/* True if a line on standard error can be replaced. */
static bool is_live(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

static bool is_between(char c, unsigned char first, unsigned char last)
{
    return (unsigned char)c >= first && (unsigned char)c <= last;
}

/* Returns the length of a control character, or of a change of direction, in UTF-8; 0 for others.
 */
static size_t control_len(const char *c)
{
    if ((is_between(*c, 0, 0x1F) && *c != '\n' && *c != '\t') || *c == '\x7f')
        return 1;
    if ((*c == '\xC2' && is_between(c[1], 0x80, 0x9F)) || (*c == '\xD8' && c[1] == '\x9C'))
        return 2;
    bool is_mark = *c == '\xE2' && c[1] == '\x80' &&
                   (is_between(c[2], 0x8E, 0x8F) || is_between(c[2], 0xAA, 0xAE));
    bool is_isolate = *c == '\xE2' && c[1] == '\x81' && is_between(c[2], 0xA6, 0xA9);
    return is_mark || is_isolate ? 3 : 0;
}

static void replace_controls(char *text)
{
    for (char *c = text; *c != '\0'; c++)
        (void)memset(c, '?', control_len(c));
}

/* Moves past one byte, or all of a character that does not belong in a line. Returns the byte, or
 * a question mark. */
static char next_plain(const char **text)
{
    char c = **text;
    size_t len = c == '\n' || c == '\t' ? 1 : control_len(*text);
    *text += len > 0 ? len : 1;
    if (len > 0)
        c = '?';
    return c;
}

void fp_message_put(const char *text)
{
    while (*text != '\0')
        (void)putchar(next_plain(&text));
}

char *fp_message_make_plain(char *text)
{
    char *end = text;
    for (const char *from = text; *from != '\0';) {
        const char c = next_plain(&from);
        *end++ = c;
    }
    *end = '\0';
    return text;
}

/* Writes a line, wrapped between words on a terminal. What begins with a space or has a tab stays:
 * it is laid out already. */
static void put_line(const char *line)
{
    if (isatty(STDERR_FILENO) != 1 || line[0] == ' ' || strchr(line, '\t') != NULL)
        (void)fputs(line, stderr);
    else
        fp_terminal_write_words(stderr, line, 0);
    (void)putc('\n', stderr);
}

static void write_message(const char *prefix, const char *format, va_list args) FP_PRINTF(2, 0);
static void write_message(const char *prefix, const char *format, va_list args)
{
    char text[TEXT_SIZE]; /* not from malloc: it may have to say that memory ran out */
    const size_t begin = (size_t)snprintf(text, sizeof(text), "%s", prefix);
    (void)vsnprintf(text + begin, sizeof(text) - begin, format, args);
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '\n')
        text[--len] = '\0';
    replace_controls(text);
    (void)fputs(is_live() ? ERASE_REST : "", stderr);
    char *rest = text;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n"))
        put_line(line);
}

/* Cuts a text to what one line of the terminal holds. Characters beyond ASCII may be wide. */
static void cut_to_line(char *text)
{
    struct winsize size;
    bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    size_t left = is_known ? size.ws_col - 1U : 79;
    char *c = text;
    while (*c != '\0') {
        size_t width = (unsigned char)*c < 0x80 ? 1 : 2;
        if (width > left)
            break;
        left -= width;
        for (c++; ((unsigned char)*c & 0xC0) == 0x80; c++)
            continue;
    }
    *c = '\0';
}

void fp_message_progress(const char *format, ...)
{
    char text[PROGRESS_SIZE];
    va_list args;
    if (!is_live())
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    replace_controls(text);
    cut_to_line(text);
    (void)fprintf(stderr, "%s" ERASE_REST "\r", text);
}

void fp_message_progress_end(void)
{
    if (is_live())
        (void)fputs(ERASE_REST, stderr);
}

void fp_message_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_message("fleetprof: error: ", format, args);
    va_end(args);
}

void fp_message_detail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_message("fleetprof: detail: ", format, args);
    va_end(args);
}

void fp_message_hint(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_message("fleetprof: hint: ", format, args);
    va_end(args);
}

void fp_message_notice(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_message("fleetprof: ", format, args);
    va_end(args);
}

static void write_line(const char *format, ...) FP_PRINTF(1, 2);
static void write_line(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_message("", format, args);
    va_end(args);
}

void fp_message_fault(const char *file, const struct fp_fault *fault)
{
    if (fault->pointer != NULL && fault->pointer[0] != '\0')
        write_line("%s: %s: %s", file, fault->pointer, fault->detail);
    else if (fault->offset >= 0)
        write_line("%s: byte %lld: %s", file, (long long)fault->offset, fault->detail);
    else
        write_line("%s: %s", file, fault->detail);
}
