/*
 * Speed Tracer, V8 profiles: undoing the compression of the engine's log.
 */
#include "collector/format/speed_tracer/v8.h"

/* Reads digits at *at, which moves behind them. False when there are none, or too many. */
static bool read_number(struct fp_str text, size_t *at, uint32_t *number)
{
    const size_t begin = *at;
    *number = 0;
    for (; *at < text.len && text.ptr[*at] >= '0' && text.ptr[*at] <= '9'; ++*at) {
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

/* Whether a line ends with a reference. One that ends with a quote has none: a # in it belongs to a
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

static bool append(struct fp_v8_line *line, struct fp_str text)
{
    if (text.len > sizeof(line->text) - line->len)
        return false;
    memcpy(line->text + line->len, text.ptr, text.len);
    line->len += text.len;
    return true;
}

/* Whether a byte continues a character of UTF-8: no line may be cut there. */
static bool is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

bool fp_v8_window_expand(const struct fp_v8_window *window, struct fp_str text,
                         struct fp_v8_line *line)
{
    line->len = 0;
    struct reference reference;
    if (window->size == 0 || !find_reference(text, &reference))
        return append(line, text);
    if (reference.lines == 0 || reference.lines > window->size || reference.lines > window->count)
        return false;
    const struct fp_v8_line *source =
        &window->lines[(window->count - reference.lines) % FP_V8_WINDOW_MAX];
    if (reference.from > source->len ||
        (reference.from < source->len && is_inside_character(source->text[reference.from])))
        return false;
    const struct fp_str tail = {source->text + reference.from, source->len - reference.from};
    return append(line, (struct fp_str){text.ptr, reference.begin}) && append(line, tail);
}

void fp_v8_window_add(struct fp_v8_window *window, struct fp_str text)
{
    struct fp_v8_line *line = &window->lines[window->count++ % FP_V8_WINDOW_MAX];
    line->len = 0;
    (void)append(line, text);
}
