/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Custom dimensions: what SQL's filters can tell apart.
 */
#include "collector/profile/scrub/custom.h"

#include "collector/profile/text.h"

enum { NAME_MAX_LEN = 32 };

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

const char *fp_custom_name_check(struct fp_str name)
{
    bool is_good = name.len > 0 && name.len <= NAME_MAX_LEN && is_letter(name.ptr[0]);
    for (size_t i = 0; is_good && i < name.len; i++)
        is_good = is_letter(name.ptr[i]) || (name.ptr[i] >= '0' && name.ptr[i] <= '9') ||
                  name.ptr[i] == '_';
    return is_good
               ? NULL
               : "is not 1 to 32 lower-case letters, digits and underscores, the first a letter";
}

bool fp_custom_value_is_valid(struct fp_str value)
{
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.ptr[i] < ' ' || value.ptr[i] == 0x7F || value.ptr[i] == ';' ||
            value.ptr[i] == '%')
            return false;
    return value.len > 0 && fp_text_cut(value, FP_CUSTOM_VALUE_MAX).len == value.len;
}
