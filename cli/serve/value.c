/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Value: one check per type.
 */
#include "cli/serve/value.h"

#include "collector/base/ascii.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { DIGITS_MAX = 6 }; /* of a duration: nothing is kept for a million weeks */

bool fp_value_is_duration(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && digits <= DIGITS_MAX && text[digits] != '\0' &&
           strchr("smhdw", text[digits]) != NULL && text[digits + 1] == '\0';
}

/* Reads two digits up to `most` at *text and advances it; -1 if there are none. */
static int read_pair(const char **text, int most)
{
    const char *at = *text;
    if (!fp_is_digit(at[0]) || !fp_is_digit(at[1]))
        return -1;
    int value = (at[0] - '0') * 10 + (at[1] - '0');
    *text += 2;
    return value <= most ? value : -1;
}

static bool skip_one(const char **text, const char *any_of)
{
    bool found = **text != '\0' && strchr(any_of, **text) != NULL;
    *text += found;
    return found;
}

/* Reads YYYY-MM-DD, a day that exists. */
static bool read_date(const char **text)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int century = read_pair(text, 99);
    int year = century < 0 ? -1 : read_pair(text, 99);
    if (year < 0 || !skip_one(text, "-"))
        return false;
    year += 100 * century;
    int month = read_pair(text, 12);
    if (year < 1 || month < 1 || !skip_one(text, "-"))
        return false;
    int day = read_pair(text, days[month - 1]);
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day >= 1 && (month != 2 || day < 29 || is_leap);
}

/* Reads HH:MM, with or without :SS and a fraction of at most six digits. */
static bool read_clock(const char **text)
{
    if (read_pair(text, 23) < 0 || !skip_one(text, ":") || read_pair(text, 59) < 0)
        return false;
    if (!skip_one(text, ":"))
        return true;
    if (read_pair(text, 59) < 0)
        return false;
    if (!skip_one(text, "."))
        return true;
    size_t digits = strspn(*text, "0123456789");
    *text += digits;
    return digits >= 1 && digits <= 6;
}

/* Reads Z, or an offset: +HH, +HH:MM. */
static bool read_zone(const char **text)
{
    if (skip_one(text, "Zz"))
        return true;
    if (!skip_one(text, "+-") || read_pair(text, 14) < 0)
        return false;
    return !skip_one(text, ":") || read_pair(text, 59) >= 0;
}

/* True for a day, or a time in UTC unless it has an offset (RFC 3339). */
static bool is_time(const char *text)
{
    if (!read_date(&text))
        return false;
    if (*text == '\0')
        return true;
    if (!skip_one(&text, "Tt ") || !read_clock(&text))
        return false;
    return *text == '\0' || (read_zone(&text) && *text == '\0');
}

static bool is_id(const char *text)
{
    char *end;
    errno = 0;
    (void)strtoll(text, &end, 10);
    return (fp_is_digit(text[0]) || text[0] == '-') && end != text && *end == '\0' && errno == 0;
}

static bool is_count(const char *text, int64_t most)
{
    if (!fp_is_digit(text[0]) || !is_id(text))
        return false;
    long long value = strtoll(text, NULL, 10);
    return value >= 1 && value <= most;
}

static bool is_number(const char *text)
{
    char *end;
    if (text[strspn(text, "0123456789+-.eE")] != '\0')
        return false;
    double value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(value);
}

/* True for valid UTF-8; the process has the locale C.UTF-8. */
static bool is_utf8(const char *text)
{
    return mbstowcs(NULL, text, 0) != (size_t)-1;
}

static const char *const wanted[] = {
    [FP_VALUE_TIME] = "a time such as 2026-01-31T12:00:00Z, or a duration back from now such as 2h",
    [FP_VALUE_ID] = "a whole number",
    [FP_VALUE_NUMBER] = "a number",
};

static bool has_type(const struct fp_parameter *parameter, const char *text)
{
    switch (parameter->type) {
    case FP_VALUE_TIME:
        return fp_value_is_duration(text) || is_time(text);
    case FP_VALUE_COUNT:
        return is_count(text, parameter->most);
    case FP_VALUE_ID:
        return is_id(text);
    case FP_VALUE_NUMBER:
        return is_number(text);
    case FP_VALUE_TEXT:
    case FP_VALUE_TEXTS:
    default:
        return true;
    }
}

/* True if text ends as a zone does whose + was decoded as a space: " 02:00". */
static bool has_lost_plus(const char *text)
{
    const char *space = strrchr(text, ' ');
    return space != NULL && fp_is_digit(space[1]) && fp_is_digit(space[2]) && space[3] == ':' &&
           fp_is_digit(space[4]) && fp_is_digit(space[5]) && space[6] == '\0' &&
           strchr(text, 'T') != NULL;
}

bool fp_value_check(const struct fp_parameter *parameter, struct fp_str value,
                    struct fp_trouble *trouble)
{
    const char *name = parameter->name;
    bool has_nul = memchr(value.ptr, '\0', value.len) != NULL;
    if (has_nul)
        fp_trouble_parameter(trouble, name, "%s has a U+0000.", name);
    else if (!is_utf8(value.ptr))
        fp_trouble_parameter(trouble, name, "%s is not valid UTF-8.", name);
    else if (has_type(parameter, value.ptr))
        return true;
    else if (parameter->type == FP_VALUE_COUNT)
        fp_trouble_parameter(trouble, name, "%s is not a whole number from 1 to %lld: \"%.80s\".",
                             name, (long long)parameter->most, value.ptr);
    else
        fp_trouble_parameter(trouble, name, "%s is not %s: \"%.80s\".", name,
                             wanted[parameter->type], value.ptr);
    if (parameter->type == FP_VALUE_TIME && has_lost_plus(value.ptr))
        fp_trouble_hint(trouble, "In an address, + is a space: write %%2B for it.");
    return false;
}
