/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chromium bytes: readers of the few kinds of values in a trace, in the only form in which Chromium
 * writes each. JSON allows more forms; those are left to yyjson.
 *
 * A reader returns where it ended. It returns NULL, and so does each reader after it, if the bytes
 * are not in its form. Pure; any thread.
 */
#ifndef FP_FORMAT_WEB_CHROMIUM_BYTES_H
#define FP_FORMAT_WEB_CHROMIUM_BYTES_H

#include "collector/base/clock.h"
#include "collector/base/quoted.h"
#include "collector/format/utf8.h"

#include <endian.h>

#define FP_CHROMIUM_HIGH_BITS (FP_QUOTED_EACH_BYTE << 7)

/* Skips a text that must be here. */
static inline const char *fp_chromium_skip(const char *at, const char *end, struct fp_str text)
{
    bool is_here =
        at != NULL && (size_t)(end - at) >= text.len && memcmp(at, text.ptr, text.len) == 0;
    return is_here ? at + text.len : NULL;
}

/* Returns the next eight bytes, the first one in the lowest bits; zeros beyond the end. */
static inline uint64_t fp_chromium_load(const char *at, const char *end)
{
    uint64_t word = 0;
    if (end - at >= (ptrdiff_t)sizeof(word))
        memcpy(&word, at, sizeof(word));
    else
        memcpy(&word, at, (size_t)(end - at));
    return le64toh(word);
}

/* Returns how many bytes of a word are digits, up to the first that is not: its high half is 3, and
 * 6 more do not carry into that. */
static inline unsigned fp_chromium_digit_count(uint64_t word)
{
    const uint64_t high_halves = FP_QUOTED_EACH_BYTE * 0xF0;
    const uint64_t threes = FP_QUOTED_EACH_BYTE * 0x30;
    const uint64_t others = ((word & high_halves) ^ threes) |
                            (((word + FP_QUOTED_EACH_BYTE * 6) & high_halves) ^ threes);
    return others == 0 ? 8 : (unsigned)__builtin_ctzll(others) / 8;
}

/* Returns the number that the first `count` bytes of a word are, 1 to 8 digits or zeros. Adds up
 * neighbours: digits to pairs, pairs to fours, fours to eight. */
static inline uint32_t fp_chromium_digits(uint64_t word, unsigned count)
{
    word <<= 64 - 8 * count;
    word = (word & UINT64_C(0x0F0F0F0F0F0F0F0F)) * (10 * 256 + 1) >> 8;
    word = (word & UINT64_C(0x00FF00FF00FF00FF)) * (100 * 65536 + 1) >> 16;
    return (uint32_t)((word & UINT64_C(0x0000FFFF0000FFFF)) * (10000 * (UINT64_C(1) << 32) + 1) >>
                      32);
}

/* Reads a whole number of at most 8 digits. */
static inline const char *fp_chromium_whole(const char *at, const char *end, uint32_t *number)
{
    if (at == NULL)
        return NULL;
    const uint64_t word = fp_chromium_load(at, end);
    const unsigned count = fp_chromium_digit_count(word);
    if (count == 0 || (count > 1 && *at == '0'))
        return NULL;
    *number = fp_chromium_digits(word, count);
    return at + count;
}

/*
 * Reads the digits after the point of a number of milliseconds, and rounds them to whole
 * microseconds. fp_time_of rounds by floor(x * 1000 + 0.5) in doubles, whose errors are below 0.001
 * microseconds here: there are at most 8 digits before the point. So both agree, unless the fourth
 * digit is 4 or 5.
 */
static inline const char *fp_chromium_fraction(const char *at, const char *end, uint32_t *us)
{
    uint64_t word = fp_chromium_load(at, end);
    unsigned count = fp_chromium_digit_count(word);
    if (count == 0)
        return NULL;
    const uint64_t digits = count < 4 ? word & ((UINT64_C(1) << (8 * count)) - 1) : word;
    const uint32_t tenths = fp_chromium_digits(digits, 4);
    if (tenths % 10 == 4 || tenths % 10 == 5)
        return NULL;
    *us = tenths / 10 + (tenths % 10 > 5);
    for (at += count; count == 8; at += count)
        count = fp_chromium_digit_count(fp_chromium_load(at, end));
    return at;
}

/* Reads a time in milliseconds as whole microseconds. */
static inline const char *fp_chromium_time(const char *at, const char *end, int64_t *time_us)
{
    uint32_t ms = 0;
    uint32_t us = 0;
    at = fp_chromium_whole(at, end, &ms);
    if (at != NULL && at < end && *at == '.')
        at = fp_chromium_fraction(at + 1, end, &us);
    *time_us = ms * FP_US_PER_MS + us;
    return at;
}

/* Returns the high bit of each byte that is a quote, a backslash or a control character, and
 * perhaps of bytes after the first one. */
static inline uint64_t fp_chromium_specials(uint64_t word)
{
    return fp_quoted_zeros(word ^ (FP_QUOTED_EACH_BYTE * '"')) |
           fp_quoted_zeros(word ^ (FP_QUOTED_EACH_BYTE * '\\')) |
           ((word - FP_QUOTED_EACH_BYTE * 0x20) & ~word & FP_CHROMIUM_HIGH_BITS);
}

/* Reads a string without escapes, whose opening quote was skipped. *text is in the body. */
static inline const char *fp_chromium_string(const char *at, const char *end, struct fp_str *text,
                                             bool *is_ascii)
{
    const char *begin = at;
    if (at == NULL)
        return NULL;
    uint64_t high_bits = 0;
    uint64_t word = fp_chromium_load(at, end);
    uint64_t specials = fp_chromium_specials(word);
    while (specials == 0) { /* ends: a word beyond the end has zeros */
        high_bits |= word;
        at += sizeof(word);
        word = fp_chromium_load(at, end);
        specials = fp_chromium_specials(word);
    }
    high_bits |= word & (specials ^ (specials - 1)) >> 8;
    at += __builtin_ctzll(specials) / 8;
    *text = (struct fp_str){begin, (size_t)(at - begin)};
    *is_ascii = (high_bits & FP_CHROMIUM_HIGH_BITS) == 0;
    if (at >= end || *at != '"' || !(*is_ascii || fp_utf8_is_valid(*text)))
        return NULL;
    return at + 1;
}

#endif
