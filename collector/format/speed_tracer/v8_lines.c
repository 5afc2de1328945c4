/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, V8 lines: undoes the compression of the engine's log.
 */
#include "collector/format/speed_tracer/v8_lines.h"

#include "collector/base/ascii.h"
#include "collector/base/assert.h"

/* Reads digits at *at and moves after them. False if there are none or too many. */
static bool read_number(struct fp_str text, size_t *at, uint32_t *number)
{
    const size_t begin = *at;
    *number = 0;
    for (; *at < text.len && fp_is_digit(text.ptr[*at]); ++*at) {
        if (*at - begin >= 6)
            return false;
        *number = *number * 10 + (uint32_t)(text.ptr[*at] - '0');
    }
    return *at > begin;
}

struct reference {
    size_t begin; /* of the #, in its line */
    uint32_t lines;
    uint32_t from;
};

/* True if a line ends with a reference. A line that ends with a quote has none: its # is part of a
 * name. */
static bool find_reference(struct fp_str text, struct reference *reference)
{
    const char *mark = text.len > 0 ? memrchr(text.ptr, '#', text.len) : NULL;
    if (mark == NULL || text.ptr[text.len - 1] == '"')
        return false;
    *reference = (struct reference){.begin = (size_t)(mark - text.ptr)};
    size_t at = reference->begin + 1;
    if (!read_number(text, &at, &reference->lines))
        return false;
    if (at < text.len && text.ptr[at] == ':') {
        at++;
        if (!read_number(text, &at, &reference->from))
            return false;
    }
    return at == text.len;
}

static bool append(struct fp_st_v8_line *line, struct fp_str text)
{
    if (text.len > sizeof(line->text) - line->len)
        return false;
    memcpy(line->text + line->len, text.ptr, text.len);
    line->len += text.len;
    return true;
}

/* True for a continuation byte of UTF-8: a line must not be cut there. */
static bool is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

bool fp_st_v8_window_expand(const struct fp_st_v8_window *window, struct fp_str text,
                            struct fp_st_v8_line *line)
{
    line->len = 0;
    struct reference reference;
    if (window->size == 0 || !find_reference(text, &reference))
        return append(line, text);
    if (reference.lines == 0 || reference.lines > window->size || reference.lines > window->count)
        return false;
    const struct fp_st_v8_line *source =
        &window->lines[(window->count - reference.lines) % FP_ST_V8_WINDOW_MAX];
    if (reference.from > source->len ||
        (reference.from < source->len && is_inside_character(source->text[reference.from])))
        return false;
    const struct fp_str tail = {source->text + reference.from, source->len - reference.from};
    return append(line, (struct fp_str){text.ptr, reference.begin}) && append(line, tail);
}

void fp_st_v8_window_add(struct fp_st_v8_window *window, struct fp_str text)
{
    struct fp_st_v8_line *line = &window->lines[window->count++ % FP_ST_V8_WINDOW_MAX];
    line->len = 0;
    bool fits = append(line, text);
    FP_ASSERT(fits);
    (void)fits;
}
