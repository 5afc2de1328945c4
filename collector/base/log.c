/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log: builds one logfmt line on the stack and writes it with one write(2).
 */
#include "collector/base/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_LEN = 2048 };

/* A line under construction. Text past its end is dropped. */
struct log_line {
    char text[LINE_MAX_LEN];
    size_t len;
};

static void add_char(struct log_line *line, char c)
{
    /* One byte is kept for the newline. */
    if (line->len < sizeof(line->text) - 1)
        line->text[line->len++] = c;
}

static void add_text(struct log_line *line, const char *text)
{
    for (; *text != '\0'; text++)
        add_char(line, *text);
}

static bool is_plain(struct fp_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f)
            return false;
    }
    return value.len > 0;
}

/* Adds a value; quotes it unless it is plain ASCII without spaces. */
static void add_value(struct log_line *line, struct fp_str value)
{
    static const char digits[] = "0123456789abcdef";
    if (is_plain(value)) {
        for (size_t i = 0; i < value.len; i++)
            add_char(line, value.ptr[i]);
        return;
    }
    add_char(line, '"');
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        if (c == '"' || c == '\\') {
            add_char(line, '\\');
            add_char(line, (char)c);
        } else if (c == '\n') {
            add_text(line, "\\n");
        } else if (c < ' ' || c == 0x7f) {
            add_text(line, "\\x");
            add_char(line, digits[c >> 4]);
            add_char(line, digits[c & 15]);
        } else {
            add_char(line, (char)c);
        }
    }
    add_char(line, '"');
}

/* The length modifiers that fp_log knows; char and short arrive as int. */
enum length { LENGTH_INT, LENGTH_LONG, LENGTH_LONG_LONG, LENGTH_SIZE };

static enum length read_length(const char **format)
{
    const char *at = *format;
    if (at[0] == 'l' && at[1] == 'l') {
        *format += 2;
        return LENGTH_LONG_LONG;
    }
    *format += 1;
    if (at[0] == 'l')
        return LENGTH_LONG;
    if (at[0] == 'z')
        return LENGTH_SIZE;
    *format -= 1;
    return LENGTH_INT;
}

/* Arguments by reference: a va_list passed by value may not be used afterwards. */
struct arguments {
    va_list list;
};

static intmax_t next_signed(struct arguments *args, enum length length)
{
    switch (length) {
    case LENGTH_LONG:
        return va_arg(args->list, long);
    case LENGTH_LONG_LONG:
        return va_arg(args->list, long long);
    case LENGTH_SIZE:
        return va_arg(args->list, ssize_t);
    case LENGTH_INT:
    default:
        return va_arg(args->list, int);
    }
}

static uintmax_t next_unsigned(struct arguments *args, enum length length)
{
    switch (length) {
    case LENGTH_LONG:
        return va_arg(args->list, unsigned long);
    case LENGTH_LONG_LONG:
        return va_arg(args->list, unsigned long long);
    case LENGTH_SIZE:
        return va_arg(args->list, size_t);
    case LENGTH_INT:
    default:
        return va_arg(args->list, unsigned);
    }
}

/* Returns the text of %s or, with its length before it, of %.*s. */
static struct fp_str next_text(struct arguments *args, bool has_len)
{
    size_t max = SIZE_MAX;
    if (has_len) {
        int given = va_arg(args->list, int);
        max = given > 0 ? (size_t)given : 0;
    }
    const char *text = va_arg(args->list, const char *);
    if (text == NULL)
        return FP_STR("");
    return (struct fp_str){text, max == SIZE_MAX ? strlen(text) : strnlen(text, max)};
}

/* Adds the conversion that begins after a '%' and returns what follows it. */
static const char *add_conversion(struct log_line *line, const char *format, struct arguments *args)
{
    bool has_len = format[0] == '.' && format[1] == '*';
    if (has_len)
        format += 2;
    enum length length = read_length(&format);
    char number[64];
    switch (*format) {
    case 's':
        add_value(line, next_text(args, has_len));
        return format + 1;
    case 'd':
    case 'i':
        snprintf(number, sizeof(number), "%" PRIdMAX, next_signed(args, length));
        break;
    case 'u':
        snprintf(number, sizeof(number), "%" PRIuMAX, next_unsigned(args, length));
        break;
    case 'x':
        snprintf(number, sizeof(number), "%" PRIxMAX, next_unsigned(args, length));
        break;
    case 'f':
    case 'g':
        snprintf(number, sizeof(number), "%g", va_arg(args->list, double));
        break;
    default: /* not a conversion that log.h names: better cut than misread */
        return "";
    }
    add_text(line, number);
    return format + 1;
}

static void add_fields(struct log_line *line, const char *format, struct arguments *args)
{
    if (*format != '\0')
        add_char(line, ' ');
    while (*format != '\0') {
        if (*format != '%')
            add_char(line, *format++);
        else
            format = add_conversion(line, format + 1, args);
    }
}

/* True if standard error is the journal, which notes the time itself: systemd.exec(5) puts the
 * device and inode of its socket in the environment. */
static bool journal_listens(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat status;
    if (stream == NULL || fstat(STDERR_FILENO, &status) != 0)
        return false;
    char own[64];
    snprintf(own, sizeof(own), "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    return strcmp(stream, own) == 0;
}

static void add_time(struct log_line *line)
{
    struct timespec now;
    struct tm utc;
    char text[48];
    clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &utc) == NULL)
        return;
    size_t len = strftime(text, sizeof(text), "time=%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + len, sizeof(text) - len, ".%03ldZ ", now.tv_nsec / 1000000);
    add_text(line, text);
}

void fp_log(enum fp_log_level level, const char *message, const char *fields, ...)
{
    static const char *const level_names[] = {"info", "warn", "error"};
    struct log_line line = {.len = 0};
    if (!journal_listens())
        add_time(&line);
    add_text(&line, "level=");
    add_text(&line, level_names[level]);
    add_text(&line, " msg=");
    add_value(&line, fp_str_of(message));
    struct arguments args;
    va_start(args.list, fields);
    add_fields(&line, fields, &args);
    va_end(args.list);
    line.text[line.len++] = '\n';
    /* There is nowhere to report that this write failed. */
    ssize_t written = write(STDERR_FILENO, line.text, line.len);
    (void)written;
}
