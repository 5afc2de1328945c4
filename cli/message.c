/*
 * Messages on standard error: prefix and text, without control characters.
 */
#include "cli/message.h"

#include <stdarg.h>

/* A longer message is cut. The errors of a configuration are the longest. */
enum { TEXT_SIZE = 72 * 1024 };

static void write_message(const char *prefix, const char *format, va_list args) FP_PRINTF(2, 0);
static void write_message(const char *prefix, const char *format, va_list args)
{
    char text[TEXT_SIZE]; /* not from malloc: it may have to say that memory ran out */
    text[0] = '\0';
    (void)vsnprintf(text, sizeof(text), format, args);
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '\n')
        text[--len] = '\0';
    for (char *c = text; *c != '\0'; c++)
        if (((unsigned char)*c < ' ' && *c != '\n' && *c != '\t') || *c == '\x7f')
            *c = '?';
    (void)fprintf(stderr, "%s%s\n", prefix, text);
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
