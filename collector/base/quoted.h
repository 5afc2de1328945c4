/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quoted: finds the end of a string with backslash escapes, as in JSON. Pure; any thread.
 */
#ifndef FP_BASE_QUOTED_H
#define FP_BASE_QUOTED_H

#include "collector/base/base.h"

#define FP_QUOTED_EACH_BYTE UINT64_C(0x0101010101010101)

/* Returns the high bit of each zero byte of a word, and perhaps of bytes after the first one. */
static inline uint64_t fp_quoted_zeros(uint64_t word)
{
    return (word - FP_QUOTED_EACH_BYTE) & ~word & (FP_QUOTED_EACH_BYTE << 7);
}

/* Advances to the first quote or backslash, eight bytes at a time, or near the end. */
static inline size_t fp_quoted_skip_plain(const char *bytes, size_t at, size_t end, char quote)
{
    const uint64_t quotes = FP_QUOTED_EACH_BYTE * (unsigned char)quote;
    const uint64_t escapes = FP_QUOTED_EACH_BYTE * '\\';
    for (uint64_t word; end - at >= sizeof(word); at += sizeof(word)) {
        memcpy(&word, bytes + at, sizeof(word));
        const uint64_t found = fp_quoted_zeros(word ^ quotes) | fp_quoted_zeros(word ^ escapes);
        if (found != 0 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
            return at + (size_t)__builtin_ctzll(found) / 8;
        if (found != 0)
            return at;
    }
    return at;
}

/* Returns the position after the string that contains bytes[at] or its closing quote; end if it is
 * not closed. */
static inline size_t fp_quoted_end_from(const char *bytes, size_t at, size_t end, char quote)
{
    while (at < end && bytes[at] != quote) {
        if (bytes[at] != '\\')
            at++;
        else if (end - at > 2)
            at = fp_quoted_skip_plain(bytes, at + 2, end, quote);
        else
            return end;
    }
    return at < end ? at + 1 : end;
}

/* Returns the position after the string whose opening quote, of either kind, is bytes[at]; end if
 * it is not closed. */
static inline size_t fp_quoted_end(const char *bytes, size_t at, size_t end)
{
    const char quote = bytes[at++];
    return fp_quoted_end_from(bytes, fp_quoted_skip_plain(bytes, at, end, quote), end, quote);
}

#endif
