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
