/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ASCII: classes of characters and comparisons that do not depend on the locale. Bytes above 0x7F
 * are in no class. Any thread.
 */
#ifndef FP_BASE_ASCII_H
#define FP_BASE_ASCII_H

#include "collector/base/base.h"

static inline bool fp_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool fp_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool fp_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool fp_is_alpha(char c)
{
    return fp_is_lower(c) || fp_is_upper(c);
}

static inline bool fp_is_alnum(char c)
{
    return fp_is_alpha(c) || fp_is_digit(c);
}

/* True for space and tab: the optional white space of HTTP's fields (RFC 9110 §5.6.3). */
static inline bool fp_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* True for space, \t, \n, \v, \f and \r, as isspace() in the C locale. */
static inline bool fp_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline char fp_to_lower(char c)
{
    if (!fp_is_upper(c))
        return c;
    return (char)(c + ('a' - 'A'));
}

/* Returns the value of a hexadecimal digit of either case, -1 for any other character. */
static inline int fp_hex_value(char c)
{
    if (fp_is_digit(c))
        return c - '0';
    char lower = fp_to_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Returns the text without the blanks at both ends. */
static inline struct fp_str fp_str_trim(struct fp_str text)
{
    while (text.len > 0 && fp_is_blank(text.ptr[0]))
        text = fp_str_skip(text, 1);
    while (text.len > 0 && fp_is_blank(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* Compares without regard to the case of ASCII letters. */
static inline bool fp_str_equal_nocase(struct fp_str a, struct fp_str b)
{
    size_t same = 0;
    while (same < a.len && same < b.len && fp_to_lower(a.ptr[same]) == fp_to_lower(b.ptr[same]))
        same++;
    return a.len == b.len && same == a.len;
}

/* True if the text begins with the prefix, in any case of its ASCII letters. */
static inline bool fp_str_has_prefix_nocase(struct fp_str text, struct fp_str prefix)
{
    return text.len >= prefix.len &&
           fp_str_equal_nocase((struct fp_str){text.ptr, prefix.len}, prefix);
}

#endif
