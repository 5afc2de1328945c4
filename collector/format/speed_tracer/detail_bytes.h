/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, detail's bytes: texts and numbers of JSON. All bytes of details come through here,
 * so it is inline.
 */
#ifndef FP_FORMAT_SPEED_TRACER_DETAIL_BYTES_H
#define FP_FORMAT_SPEED_TRACER_DETAIL_BYTES_H

#include "collector/base/buf.h"

static inline void fp_st_add_escape(struct fp_buf *out, unsigned char c)
{
    if (c == '"' || c == '\\')
        fp_buf_addf(out, "\\%c", c);
    else if (c == '\0') /* PostgreSQL has no U+0000 */
        fp_buf_add(out, "\xEF\xBF\xBD", 3);
    else if (c == '\n')
        fp_buf_add(out, "\\n", 2);
    else
        fp_buf_addf(out, "\\u%04x", (unsigned)c);
}

#define FP_ST_EACH_BYTE UINT64_C(0x0101010101010101)

/* Returns a value other than 0 if one of eight bytes must be escaped; perhaps also for U+0100 and
 * above. */
static inline uint64_t fp_st_escaped_bytes(uint64_t word)
{
    const uint64_t quote = word ^ (FP_ST_EACH_BYTE * '"');
    const uint64_t backslash = word ^ (FP_ST_EACH_BYTE * '\\');
    return ((word - FP_ST_EACH_BYTE * 0x20) | (quote - FP_ST_EACH_BYTE) |
            (backslash - FP_ST_EACH_BYTE)) &
           (FP_ST_EACH_BYTE << 7);
}

static inline uint64_t fp_st_read_word(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

/* Returns how many bytes at the begin of a text need no escape. */
static inline size_t fp_st_plain_len(struct fp_str text)
{
    size_t at = 0;
    while (text.len - at >= sizeof(uint64_t) &&
           fp_st_escaped_bytes(fp_st_read_word(text.ptr + at)) == 0)
        at += sizeof(uint64_t);
    for (; at < text.len; at++) {
        const unsigned char c = (unsigned char)text.ptr[at];
        if (c < 0x20 || c == '"' || c == '\\')
            break;
    }
    return at;
}

static inline void fp_st_add_escaped(struct fp_buf *out, struct fp_str text)
{
    fp_buf_add(out, "\"", 1);
    for (;;) {
        const size_t len = fp_st_plain_len(text);
        fp_buf_add(out, text.ptr, len);
        if (len == text.len)
            break;
        fp_st_add_escape(out, (unsigned char)text.ptr[len]);
        text = (struct fp_str){text.ptr + len + 1, text.len - len - 1};
    }
    fp_buf_add(out, "\"", 1);
}

/* True if no byte of a text needs an escape. Perhaps false for a text with U+0100 and above. */
static inline bool fp_st_is_plain(struct fp_str text)
{
    if (text.len < sizeof(uint64_t))
        return fp_st_plain_len(text) == text.len;
    uint64_t escaped = fp_st_escaped_bytes(fp_st_read_word(text.ptr + text.len - sizeof(uint64_t)));
    for (size_t at = 0; at + sizeof(uint64_t) < text.len; at += sizeof(uint64_t))
        escaped |= fp_st_escaped_bytes(fp_st_read_word(text.ptr + at));
    return escaped == 0;
}

/* Appends a text in quotes, with a comma before and a colon after it as wanted. Most texts have
 * nothing to escape. */
static inline void fp_st_add_quoted(struct fp_buf *out, struct fp_str text, bool has_comma,
                                    bool has_colon)
{
    if (!fp_st_is_plain(text)) {
        fp_buf_add(out, ",", has_comma);
        fp_st_add_escaped(out, text);
        fp_buf_add(out, ":", has_colon);
        return;
    }
    uint8_t *to = fp_buf_reserve(out, text.len + 4);
    if (to == NULL)
        return;
    *to = ',';
    to += has_comma;
    *to++ = '"';
    if (text.len > 0)
        memcpy(to, text.ptr, text.len);
    to[text.len] = '"';
    to[text.len + 1] = ':';
    out->len += text.len + 2 + has_comma + has_colon;
}

static inline void fp_st_add_whole(struct fp_buf *out, uint64_t number, bool negative)
{
    char digits[24];
    size_t at = sizeof(digits);
    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    if (negative)
        digits[--at] = '-';
    fp_buf_add(out, digits + at, sizeof(digits) - at);
}

/* Appends the name of a member, with a comma before it if need be. */
static inline void fp_st_add_name(struct fp_buf *out, struct fp_str name)
{
    fp_st_add_quoted(out, name, out->len > 0 && out->data[out->len - 1] != '{', true);
}

#endif
