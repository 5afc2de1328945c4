/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8: U+0000, mojibake and unpaired surrogates.
 */
#include "collector/format/utf8.h"

#include "collector/base/ascii.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

enum { ESCAPE_LEN = 6 /* \uXXXX */ };

static size_t count_nul(struct fp_str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '\0';
    return count;
}

bool fp_utf8_copy(struct fp_arena *arena, struct fp_str text, struct fp_str *copy)
{
    size_t nul_count = text.len > 0 && memchr(text.ptr, '\0', text.len) ? count_nul(text) : 0;
    if (nul_count == 0)
        return fp_arena_copy(arena, text, copy);

    size_t extra_len = sizeof(REPLACEMENT) - 2;
    size_t len;
    if (__builtin_mul_overflow(nul_count, extra_len, &len) ||
        __builtin_add_overflow(len, text.len, &len))
        return false;
    char *bytes = fp_arena_alloc(arena, len);
    if (bytes == NULL)
        return false;
    char *to = bytes;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\0') {
            memcpy(to, REPLACEMENT, sizeof(REPLACEMENT) - 1);
            to += sizeof(REPLACEMENT) - 1;
        } else {
            *to++ = text.ptr[i];
        }
    }
    *copy = (struct fp_str){bytes, len};
    return true;
}

/* Returns the next code point as a byte of Latin-1, -1 for one above U+00FF. */
static int latin1_next(struct fp_str text, size_t *at)
{
    unsigned char first = (unsigned char)text.ptr[*at];
    if (first < 0x80) {
        *at += 1;
        return first;
    }
    if (first > 0xC3)
        return -1;
    unsigned char second = (unsigned char)text.ptr[*at + 1];
    *at += 2;
    return ((first & 0x03) << 6) | (second & 0x3F);
}

/* Returns how many continuation bytes follow a first byte of UTF-8, -1 if it begins no sequence.
 * Sets the range of the first continuation byte (RFC 3629 section 4). */
static int continuation_count(int first, int *lowest, int *highest)
{
    *lowest = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    *highest = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (first >= 0 && first < 0x80)
        return 0;
    if (first >= 0xC2 && first <= 0xDF)
        return 1;
    if (first >= 0xE0 && first <= 0xEF)
        return 2;
    return first >= 0xF0 && first <= 0xF4 ? 3 : -1;
}

bool fp_utf8_is_valid(struct fp_str text)
{
    for (size_t i = 0; i < text.len;) {
        int lowest;
        int highest;
        int left = continuation_count((unsigned char)text.ptr[i++], &lowest, &highest);
        if (left < 0)
            return false;
        for (; left > 0; left--, i++) {
            int byte = i < text.len ? (unsigned char)text.ptr[i] : -1;
            if (byte < lowest || byte > highest)
                return false;
            lowest = 0x80;
            highest = 0xBF;
        }
    }
    return true;
}

bool fp_utf8_is_ascii(struct fp_str text)
{
    unsigned char all = 0;
    for (size_t i = 0; i < text.len; i++)
        all |= (unsigned char)text.ptr[i];
    return all < 0x80;
}

static bool is_mojibake(struct fp_str text)
{
    bool non_ascii = false;
    for (size_t i = 0; i < text.len;) {
        int lowest;
        int highest;
        int left = continuation_count(latin1_next(text, &i), &lowest, &highest);
        if (left < 0)
            return false;
        for (non_ascii = non_ascii || left > 0; left > 0; left--) {
            int byte = i < text.len ? latin1_next(text, &i) : -1;
            if (byte < lowest || byte > highest)
                return false;
            lowest = 0x80;
            highest = 0xBF;
        }
    }
    return non_ascii;
}

struct fp_str fp_utf8_repair(struct fp_str text)
{
    if (fp_utf8_is_ascii(text) ||
        !is_mojibake(text)) /* the fast path: nearly all names are ASCII */
        return text;
    char *bytes = (char *)(uintptr_t)text.ptr; /* the caller's, writable by contract */
    size_t len = 0;
    for (size_t i = 0; i < text.len;)
        bytes[len++] = (char)latin1_next(text, &i);
    return (struct fp_str){bytes, len};
}

/* Returns the code unit of an escape \uXXXX at this place, -1 if there is none. */
static int escaped_unit(const char *json, size_t len, size_t at)
{
    if (at > len || len - at < ESCAPE_LEN || json[at] != '\\' || json[at + 1] != 'u')
        return -1;
    int unit = 0;
    for (size_t i = 2; i < ESCAPE_LEN; i++) {
        int digit = fp_hex_value(json[at + i]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static bool is_high_surrogate(int unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low_surrogate(int unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

bool fp_utf8_pair_escapes(char *json, size_t len)
{
    bool found = false;
    for (size_t i = 0; i < len;) {
        const char *backslash = memchr(json + i, '\\', len - i);
        if (backslash == NULL)
            break;
        i = (size_t)(backslash - json);
        int unit = escaped_unit(json, len, i);
        if (is_high_surrogate(unit) && is_low_surrogate(escaped_unit(json, len, i + ESCAPE_LEN))) {
            i += (size_t)2 * ESCAPE_LEN;
        } else if (is_high_surrogate(unit) || is_low_surrogate(unit)) {
            memcpy(json + i, "\\ufffd", ESCAPE_LEN);
            found = true;
            i += ESCAPE_LEN;
        } else {
            i += 2; /* a backslash and what it escapes */
        }
    }
    return found;
}

/* The characters of 0x80 to 0x9F. */
static const uint16_t windows_1252[32] = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
};

void fp_utf8_add_windows_1252(struct fp_str bytes, struct fp_buf *out)
{
    for (size_t i = 0; i < bytes.len; i++) {
        const unsigned char byte = (unsigned char)bytes.ptr[i];
        const unsigned code = byte >= 0x80 && byte < 0xA0 ? windows_1252[byte - 0x80] : byte;
        const char utf8[] = {
            (char)(code < 0x800 ? 0xC0 | code >> 6 : 0xE0 | code >> 12),
            (char)(0x80 | (code >> (code < 0x800 ? 0 : 6) & 0x3F)),
            (char)(0x80 | (code & 0x3F)),
        };
        if (byte < 0x80)
            fp_buf_add(out, bytes.ptr + i, 1);
        else
            fp_buf_add(out, utf8, code < 0x800 ? 2 : 3);
    }
}
