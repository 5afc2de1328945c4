/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stack: line by line. A line is `at NAME (PLACE)` or `at PLACE`; a place is
 * `URL:LINE:COLUMN`.
 */
#include "collector/format/reports/call_stack.h"

#include "collector/base/ascii.h"

enum { LINES_MAX = 256 };

static struct fp_str take_line(struct fp_str *rest)
{
    const char *end = memchr(rest->ptr, '\n', rest->len);
    const struct fp_str line = {rest->ptr, end != NULL ? (size_t)(end - rest->ptr) : rest->len};
    const size_t taken = line.len + (end != NULL);
    *rest = (struct fp_str){rest->ptr + taken, rest->len - taken};
    return line;
}

static bool skip(struct fp_str *text, struct fp_str prefix)
{
    if (text->len < prefix.len || memcmp(text->ptr, prefix.ptr, prefix.len) != 0)
        return false;
    *text = (struct fp_str){text->ptr + prefix.len, text->len - prefix.len};
    return true;
}

static bool is_space(char c)
{
    return fp_is_blank(c) || c == '\r';
}

static struct fp_str trim(struct fp_str text)
{
    while (text.len > 0 && is_space(text.ptr[0]))
        text = (struct fp_str){text.ptr + 1, text.len - 1};
    while (text.len > 0 && is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* Takes `:NUMBER` off the end. False, with the text unchanged, if there is none that a position can
 * be. */
static bool take_number(struct fp_str *text, int32_t *number)
{
    size_t at = text->len;
    int64_t value = 0;
    int64_t unit = 1;
    while (at > 0 && fp_is_digit(text->ptr[at - 1]) && unit <= INT32_MAX) {
        value += (text->ptr[--at] - '0') * unit;
        unit *= 10;
    }
    if (at == text->len || at == 0 || text->ptr[at - 1] != ':' || value > INT32_MAX)
        return false;
    text->len = at - 1;
    *number = (int32_t)value;
    return true;
}

/* True for a URL. Not for `<anonymous>`, `native code`, and the places of eval, which have spaces.
 */
static bool is_url(struct fp_str text)
{
    return text.len > 0 && memchr(text.ptr, ':', text.len) != NULL &&
           memchr(text.ptr, ' ', text.len) == NULL && text.ptr[0] != '<';
}

/* Reads the place of a call. */
static void read_place(struct fp_str place, struct fp_profile_call *call)
{
    int32_t last;
    int32_t before;
    if (!take_number(&place, &last))
        return;
    const bool has_both = take_number(&place, &before);
    if (!is_url(place))
        return;
    call->url = place;
    call->line = has_both ? before : last;
    call->column = has_both ? last : FP_POSITION_NONE;
}

/* Returns where ` (` begins, the length of the text if nowhere. */
static size_t find_place(struct fp_str text)
{
    for (size_t i = 0; i + 1 < text.len; i++)
        if (text.ptr[i] == ' ' && text.ptr[i + 1] == '(')
            return i;
    return text.len;
}

/* Reads `NAME (PLACE)` or `PLACE`. */
static void read_call(struct fp_str text, struct fp_profile_call *call)
{
    const size_t at = find_place(text);
    *call = (struct fp_profile_call){.function = FP_STR(""),
                                     .url = FP_STR(""),
                                     .line = FP_POSITION_NONE,
                                     .column = FP_POSITION_NONE};
    if (at == text.len || text.ptr[text.len - 1] != ')') {
        read_place(text, call);
        if (call->url.len == 0)
            call->function = text;
        return;
    }
    call->function = (struct fp_str){text.ptr, at};
    read_place((struct fp_str){text.ptr + at + 2, text.len - at - 3}, call);
}

uint32_t fp_call_stack_read(struct fp_str stack, struct fp_profile_call *calls, uint32_t max)
{
    uint32_t count = 0;
    for (unsigned lines = 0; stack.len > 0 && lines < LINES_MAX && count < max; lines++) {
        struct fp_str line = trim(take_line(&stack));
        if (!skip(&line, FP_STR("at ")) || line.len == 0)
            continue;
        (void)skip(&line, FP_STR("async "));
        (void)skip(&line, FP_STR("new "));
        if (line.len > 0)
            read_call(line, &calls[count++]);
    }
    return count;
}
