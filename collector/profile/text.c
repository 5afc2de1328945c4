/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text: cuts valid UTF-8 between code points.
 */
#include "collector/profile/text.h"

struct fp_str fp_text_cut(struct fp_str text, size_t max_points)
{
    if (text.len <= max_points)
        return text;
    size_t points = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool begins = ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
        if (begins && points++ == max_points)
            return (struct fp_str){text.ptr, i};
    }
    return text;
}

/* True if three bytes are a character without width. */
static bool is_hidden(const char *text)
{
    static const char *const hidden[] = {"\u200b", "\u200c", "\u200d", "\u2060", "\ufeff"};
    for (size_t i = 0; i < FP_COUNT(hidden); i++)
        if (memcmp(text, hidden[i], 3) == 0)
            return true;
    return false;
}

struct fp_str fp_text_trim(struct fp_str text)
{
    struct fp_str rest = text;
    while (rest.len >= 3 && is_hidden(rest.ptr))
        rest = fp_str_skip(rest, 3);
    while (rest.len >= 3 && is_hidden(rest.ptr + rest.len - 3))
        rest.len -= 3;
    return rest.len > 0 ? rest : text;
}
