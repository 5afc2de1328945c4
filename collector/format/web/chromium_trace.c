/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chromium trace: finds the trace in a body, and reads its four arrays.
 *
 * Chromium writes an object's members in alphabetical order, without white space and without those
 * that are absent. So the bytes between two values are known. Frames come before the resources,
 * and samples before the stacks that they name: their indexes are checked at the end.
 */
#include "collector/format/web/chromium_trace.h"

#include "collector/format/web/chromium_bytes.h"
#include "collector/format/web/self_profile.h"

#define TRACE_BEGIN "{\"frames\":["
#define EMPTY_TRACE TRACE_BEGIN "],\"resources\":[],\"samples\":[],\"stacks\":[]}"
#define TRACE_MEMBER "\"trace\":"

enum {
    SEARCH_MAX = 4096, /* bytes; the agent writes some hundred before the trace */
    LIST_MIN = 64,     /* elements of the first allocation */
    JSON_DEPTH = 4     /* of a trace in an envelope */
};

struct reader {
    struct fp_decoder *decoder;
    const char *end; /* of the body */
    uint32_t frame_count;
    uint32_t resources_needed; /* 1 + the greatest index so far */
    uint32_t stacks_needed;
};

/* An array that is being read, and grows in the arena. */
struct list {
    size_t size; /* of an element */
    uint32_t max;
    uint32_t count;
    uint32_t cap;
    void *elements;
};

/* Elements. */

/* Reads an index, and keeps *needed above it. */
static const char *read_index(const char *at, const char *end, uint32_t *index, uint32_t *needed)
{
    at = fp_chromium_whole(at, end, index);
    if (at != NULL && *index >= *needed)
        *needed = *index + 1;
    return at;
}

/* Repairs a name in a copy: the body stays unchanged. */
static bool repair(struct reader *reader, struct fp_str *name)
{
    if (!fp_arena_copy(reader->decoder->arena, *name, name))
        return false;
    *name = fp_utf8_repair(*name);
    return true;
}

static const char *read_resource(struct reader *reader, const char *at, void *element)
{
    struct fp_str *resource = element;
    bool is_ascii;
    at = fp_chromium_skip(at, reader->end, FP_STR("\""));
    at = fp_chromium_string(at, reader->end, resource, &is_ascii);
    return at != NULL && (is_ascii || repair(reader, resource)) ? at : NULL;
}

/* Reads a line or a column, which may be absent. */
static const char *read_position(const char *at, const char *end, struct fp_str name,
                                 int32_t *position)
{
    const char *number = fp_chromium_skip(at, end, name);
    uint32_t whole;
    *position = FP_POSITION_NONE;
    if (number == NULL)
        return at;
    at = fp_chromium_skip(fp_chromium_whole(number, end, &whole), end, FP_STR(","));
    if (at != NULL)
        *position = (int32_t)whole;
    return at;
}

static const char *read_frame(struct reader *reader, const char *at, void *element)
{
    struct fp_profile_frame *frame = element;
    const char *end = reader->end;
    bool is_ascii;
    at = fp_chromium_skip(at, end, FP_STR("{"));
    at = read_position(at, end, FP_STR("\"column\":"), &frame->column);
    at = read_position(at, end, FP_STR("\"line\":"), &frame->line);
    at = fp_chromium_skip(at, end, FP_STR("\"name\":\""));
    at = fp_chromium_string(at, end, &frame->function, &is_ascii);
    if (at == NULL || (!is_ascii && !repair(reader, &frame->function)))
        return NULL;
    const char *number = fp_chromium_skip(at, end, FP_STR(",\"resourceId\":"));
    frame->resource = FP_INDEX_NONE;
    if (number != NULL)
        at = read_index(number, end, &frame->resource, &reader->resources_needed);
    return fp_chromium_skip(at, end, FP_STR("}"));
}

/* Reads a marker, which may be absent. */
static const char *read_marker(const char *at, const char *end, enum fp_marker *marker)
{
    const char *string = fp_chromium_skip(at, end, FP_STR("\"marker\":\""));
    struct fp_str word;
    bool is_ascii;
    *marker = FP_MARKER_NONE;
    if (string == NULL)
        return at;
    at = fp_chromium_string(string, end, &word, &is_ascii);
    at = fp_chromium_skip(at, end, FP_STR(","));
    if (at != NULL)
        *marker = fp_self_profile_marker(word);
    return at;
}

static const char *read_sample(struct reader *reader, const char *at, void *element)
{
    struct fp_profile_sample *sample = element;
    const char *end = reader->end;
    at = fp_chromium_skip(at, end, FP_STR("{"));
    at = read_marker(at, end, &sample->marker);
    const char *number = fp_chromium_skip(at, end, FP_STR("\"stackId\":"));
    sample->stack = FP_INDEX_NONE;
    if (number != NULL)
        at = fp_chromium_skip(read_index(number, end, &sample->stack, &reader->stacks_needed), end,
                              FP_STR(","));
    at = fp_chromium_skip(at, end, FP_STR("\"timestamp\":"));
    at = fp_chromium_time(at, end, &sample->time_us);
    return fp_chromium_skip(at, end, FP_STR("}"));
}

static const char *read_stack(struct reader *reader, const char *at, void *element)
{
    struct fp_profile_stack *stack = element;
    const char *end = reader->end;
    stack->parent = FP_INDEX_NONE;
    at = fp_chromium_skip(at, end, FP_STR("{\"frameId\":"));
    at = fp_chromium_whole(at, end, &stack->frame);
    if (at == NULL || stack->frame >= reader->frame_count)
        return NULL;
    const char *number = fp_chromium_skip(at, end, FP_STR(",\"parentId\":"));
    if (number != NULL)
        at = read_index(number, end, &stack->parent, &reader->stacks_needed);
    return fp_chromium_skip(at, end, FP_STR("}"));
}

/* Arrays. */

/* Doubles the room for elements. The arena keeps the old arrays, which together are shorter than
 * the new one. */
static bool grow(struct reader *reader, struct list *list)
{
    uint32_t cap = list->cap > 0 ? list->cap * 2 : LIST_MIN;
    size_t len;
    if (list->count >= list->max || __builtin_mul_overflow(cap, list->size, &len))
        return false;
    void *elements = fp_arena_alloc(reader->decoder->arena, len);
    if (elements == NULL)
        return false;
    if (list->count > 0)
        memcpy(elements, list->elements, list->count * list->size);
    list->elements = elements;
    list->cap = cap < list->max ? cap : list->max;
    return true;
}

/* Reads the elements of an array, whose opening bracket was skipped. Inline: each array has a loop
 * of its own around its reader. */
__attribute__((always_inline)) static inline const char *
read_array(struct reader *reader, const char *at, struct list *list,
           const char *(*read_element)(struct reader *reader, const char *at, void *element))
{
    const char *end = reader->end;
    if (at == NULL || at == end)
        return NULL;
    if (*at == ']')
        return at + 1;
    char separator;
    do {
        if (list->count == list->cap && !grow(reader, list))
            return NULL;
        at = read_element(reader, at, (char *)list->elements + list->count * list->size);
        if (at == NULL || at == end)
            return NULL;
        separator = *at++;
        list->count++;
    } while (separator == ',');
    return separator == ']' ? at : NULL;
}

static const char *read_trace(struct reader *reader, const char *at,
                              struct fp_chromium_trace *trace)
{
    const struct fp_format_limits *limits = reader->decoder->limits;
    const char *end = reader->end;
    struct list frames = {.size = sizeof(*trace->frames), .max = limits->frames};
    struct list resources = {.size = sizeof(*trace->resources), .max = limits->resources};
    struct list samples = {.size = sizeof(*trace->samples), .max = limits->samples};
    struct list stacks = {.size = sizeof(*trace->stacks), .max = limits->stacks};

    at = fp_chromium_skip(at, end, FP_STR(TRACE_BEGIN));
    at = read_array(reader, at, &frames, read_frame);
    at = fp_chromium_skip(at, end, FP_STR(",\"resources\":["));
    at = read_array(reader, at, &resources, read_resource);
    at = fp_chromium_skip(at, end, FP_STR(",\"samples\":["));
    at = read_array(reader, at, &samples, read_sample);
    at = fp_chromium_skip(at, end, FP_STR(",\"stacks\":["));
    reader->frame_count = frames.count;
    at = read_array(reader, at, &stacks, read_stack);
    at = fp_chromium_skip(at, end, FP_STR("}"));
    *trace = (struct fp_chromium_trace){
        .resources = resources.elements,
        .frames = frames.elements,
        .stacks = stacks.elements,
        .samples = samples.elements,
        .resource_count = resources.count,
        .frame_count = frames.count,
        .stack_count = stacks.count,
        .sample_count = samples.count,
    };
    bool are_indexes_valid =
        reader->resources_needed <= resources.count && reader->stacks_needed <= stacks.count;
    return are_indexes_valid ? at : NULL;
}

/* The body. */

/* Returns the value of the member `trace` of an envelope, NULL if it is not near the beginning or
 * begins otherwise. Assumes that the body is valid JSON up to there. */
static const char *find_member(struct fp_str body)
{
    const struct fp_str begin = FP_STR(TRACE_MEMBER TRACE_BEGIN);
    const size_t end = body.len < SEARCH_MAX ? body.len : SEARCH_MAX;
    unsigned depth = 0;
    for (size_t at = 0; at < end;) {
        const char c = body.ptr[at];
        if (depth == 1 && fp_str_has_prefix(fp_str_skip(body, at), begin))
            return body.ptr + at + strlen(TRACE_MEMBER);
        depth += c == '{' || c == '[';
        depth -= (c == '}' || c == ']') && depth > 0;
        at = c == '"' ? fp_quoted_end(body.ptr, at, end) : at + 1;
    }
    return NULL;
}

/* Copies the body with an empty trace in place of the one between `begin` and `end`. */
static bool cut(struct fp_arena *arena, struct fp_str body, const char *begin, const char *end,
                struct fp_str *rest)
{
    const struct fp_str empty = FP_STR(EMPTY_TRACE);
    const struct fp_str head = {body.ptr, (size_t)(begin - body.ptr)};
    const struct fp_str tail = fp_str_skip(body, (size_t)(end - body.ptr));
    char *bytes = fp_arena_alloc(arena, head.len + empty.len + tail.len);
    if (bytes == NULL)
        return false;
    memcpy(bytes, head.ptr, head.len);
    memcpy(bytes + head.len, empty.ptr, empty.len);
    memcpy(bytes + head.len + empty.len, tail.ptr, tail.len);
    *rest = (struct fp_str){bytes, head.len + empty.len + tail.len};
    return true;
}

bool fp_chromium_trace_read(struct fp_decoder *decoder, struct fp_str body, struct fp_str *rest)
{
    bool is_bare = fp_str_has_prefix(body, FP_STR(TRACE_BEGIN));
    const char *begin = is_bare ? body.ptr : find_member(body);
    if (begin == NULL || decoder->limits->json_depth < JSON_DEPTH)
        return false;
    struct fp_chromium_trace *trace = fp_arena_alloc(decoder->arena, sizeof(*trace));
    if (trace == NULL)
        return false;
    struct reader reader = {.decoder = decoder, .end = body.ptr + body.len};
    const char *end = read_trace(&reader, begin, trace);
    if (end == NULL || !cut(decoder->arena, body, begin, end, rest))
        return false;
    decoder->trace = trace;
    return true;
}
