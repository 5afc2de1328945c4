/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self-profile: reads the four arrays of a ProfilerTrace. Checks each index against the length of
 * its array, and that all chains of parents end.
 *
 * The members come in any order (Chromium's alphabetically: frames before resources), so all
 * lengths are read before any element.
 */
#include "collector/format/web/self_profile.h"

#include "collector/base/assert.h"
#include "collector/format/json.h"
#include "collector/format/utf8.h"
#include "collector/format/web/chromium_trace.h"

enum trace_field { TRACE_FRAMES, TRACE_RESOURCES, TRACE_SAMPLES, TRACE_STACKS, TRACE_FIELD_COUNT };

static const char *const trace_names[] = {"frames", "resources", "samples", "stacks"};

struct elements {
    struct fp_place place; /* of the array */
    struct fp_place at;    /* of the element being read, below `place` */
    yyjson_arr_iter iter;
};

/* Returns the next element of an array, NULL if there is none. */
static yyjson_val *next_element(struct elements *elements)
{
    elements->at.index = elements->iter.idx;
    return yyjson_arr_iter_next(&elements->iter);
}

static void begin_elements(struct elements *elements, const struct fp_field *field)
{
    elements->place = fp_field_place(field);
    elements->at = (struct fp_place){.parent = &elements->place};
    elements->iter = yyjson_arr_iter_with(field->value);
}

bool fp_self_profile_is_trace(yyjson_val *object)
{
    for (size_t i = 0; i < TRACE_FIELD_COUNT; i++)
        if (yyjson_obj_get(object, trace_names[i]) != NULL)
            return true;
    return false;
}

/* Resources. */

static bool decode_resources(struct fp_decoder *decoder, const struct fp_field *field)
{
    struct fp_str *resource = decoder->profile->resources;
    struct elements elements;
    begin_elements(&elements, field);
    yyjson_val *value;
    while ((value = next_element(&elements)) != NULL) {
        if (!yyjson_is_str(value))
            return fp_fail_at(decoder, FP_VERDICT_INVALID, &elements.at,
                              "a resource must be a string, the URL of a script");
        const struct fp_str url = {yyjson_get_str(value), yyjson_get_len(value)};
        if (!fp_utf8_copy(decoder->arena, url, resource))
            return fp_fail_memory(decoder);
        /* Only a name from `//# sourceURL=` can have other characters than ASCII. */
        *resource = fp_utf8_repair(*resource);
        resource++;
    }
    return true;
}

/* Frames. */

enum frame_field { FRAME_COLUMN, FRAME_LINE, FRAME_NAME, FRAME_RESOURCE, FRAME_FIELD_COUNT };

static bool read_position(struct fp_decoder *decoder, const struct fp_field *field,
                          int32_t *position)
{
    uint32_t number = 0;
    if (!fp_read_whole(decoder, field, INT32_MAX, &number))
        return false;
    *position = field->value != NULL ? (int32_t)number : FP_POSITION_NONE;
    return true;
}

static bool decode_frame(struct fp_decoder *decoder, const struct fp_field *fields,
                         struct fp_profile_frame *frame)
{
    if (!fp_read_required(decoder, &fields[FRAME_NAME]) ||
        !fp_read_text(decoder, &fields[FRAME_NAME], &frame->function) ||
        !fp_read_index(decoder, &fields[FRAME_RESOURCE], decoder->profile->resource_count,
                       "resources", &frame->resource) ||
        !read_position(decoder, &fields[FRAME_LINE], &frame->line) ||
        !read_position(decoder, &fields[FRAME_COLUMN], &frame->column))
        return false;
    frame->function = fp_utf8_repair(frame->function);
    return true;
}

static bool decode_frames(struct fp_decoder *decoder, const struct fp_field *field)
{
    struct elements elements;
    begin_elements(&elements, field);
    struct fp_field fields[FRAME_FIELD_COUNT] = {
        [FRAME_COLUMN] = {.object = &elements.at, .name = FP_STR("column")},
        [FRAME_LINE] = {.object = &elements.at, .name = FP_STR("line")},
        [FRAME_NAME] = {.object = &elements.at, .name = FP_STR("name")},
        [FRAME_RESOURCE] = {.object = &elements.at, .name = FP_STR("resourceId")},
    };
    struct fp_profile_frame *frame = decoder->profile->frames;
    yyjson_val *value;
    while ((value = next_element(&elements)) != NULL) {
        if (!fp_read_object(decoder, &elements.at, value, fields, FRAME_FIELD_COUNT) ||
            !decode_frame(decoder, fields, frame++))
            return false;
    }
    FP_ASSERT(frame == decoder->profile->frames + decoder->profile->frame_count);
    return true;
}

/* Stacks. */

enum stack_field { STACK_FRAME, STACK_PARENT, STACK_FIELD_COUNT };

static bool decode_stacks(struct fp_decoder *decoder, const struct fp_field *field)
{
    const struct fp_profile *profile = decoder->profile;
    struct elements elements;
    begin_elements(&elements, field);
    struct fp_field fields[STACK_FIELD_COUNT] = {
        [STACK_FRAME] = {.object = &elements.at, .name = FP_STR("frameId")},
        [STACK_PARENT] = {.object = &elements.at, .name = FP_STR("parentId")},
    };
    struct fp_profile_stack *stack = profile->stacks;
    yyjson_val *value;
    while ((value = next_element(&elements)) != NULL) {
        if (!fp_read_object(decoder, &elements.at, value, fields, STACK_FIELD_COUNT) ||
            !fp_read_required(decoder, &fields[STACK_FRAME]) ||
            !fp_read_index(decoder, &fields[STACK_FRAME], profile->frame_count, "frames",
                           &stack->frame) ||
            !fp_read_index(decoder, &fields[STACK_PARENT], profile->stack_count, "stacks",
                           &stack->parent))
            return false;
        stack++;
    }
    FP_ASSERT(stack == profile->stacks + profile->stack_count);
    return true;
}

/* The value in `depths` of a stack on the chain that is being walked. */
#define DEPTH_BEING_WALKED UINT32_MAX

static bool fail_cycle(struct fp_decoder *decoder, const struct fp_place *stacks, size_t index)
{
    const struct fp_place stack = {.parent = stacks, .index = index};
    const struct fp_place parent = {.parent = &stack, .member = FP_STR("parentId")};
    if (decoder->profile->stacks[index].parent == index)
        return fp_fail_at(decoder, FP_VERDICT_INVALID, &parent,
                          "parentId is the stack's own position; a stack cannot be its own parent");
    return fp_fail_at(decoder, FP_VERDICT_INVALID, &parent,
                      "the chain of parents that begins here never ends; it comes back to a stack "
                      "it has passed");
}

/*
 * Finds the depths of one stack and its ancestors: walks up to the first with a known depth,
 * marking its path to detect a cycle, then walks the path again to set the depths. All calls
 * together visit each stack at most twice.
 */
static bool find_depth(struct fp_decoder *decoder, const struct fp_place *place, uint32_t index,
                       uint32_t *depths)
{
    const struct fp_profile_stack *stacks = decoder->profile->stacks;
    uint32_t steps = 0;
    uint32_t at = index;
    for (; at != FP_INDEX_NONE && depths[at] == 0; at = stacks[at].parent, steps++)
        depths[at] = DEPTH_BEING_WALKED;
    if (at != FP_INDEX_NONE && depths[at] == DEPTH_BEING_WALKED)
        return fail_cycle(decoder, place, at);

    uint32_t depth = steps + (at != FP_INDEX_NONE ? depths[at] : 0);
    if (depth > decoder->limits->stack_depth)
        return fp_fail_at(decoder, FP_VERDICT_TOO_LARGE, place,
                          "stack %u is %u frames deep; at most %u are allowed (limits.stack_depth)",
                          (unsigned)index, (unsigned)depth, (unsigned)decoder->limits->stack_depth);
    for (at = index; steps > 0; at = stacks[at].parent, steps--)
        depths[at] = depth--;
    FP_ASSERT(depth == (at != FP_INDEX_NONE ? depths[at] : 0));
    return true;
}

static bool check_parents(struct fp_decoder *decoder, const struct fp_field *field)
{
    uint32_t count = decoder->profile->stack_count;
    const struct fp_place place = fp_field_place(field);
    uint32_t *depths = fp_arena_array(decoder->arena, count, sizeof(*depths));
    if (depths == NULL)
        return fp_fail_memory(decoder);
    for (uint32_t i = 0; i < count; i++)
        if (depths[i] == 0 && !find_depth(decoder, &place, i, depths))
            return false;
    return true;
}

/* Samples. */

enum sample_field { SAMPLE_MARKER, SAMPLE_STACK, SAMPLE_TIMESTAMP, SAMPLE_FIELD_COUNT };

enum fp_marker fp_self_profile_marker(struct fp_str word)
{
    for (enum fp_marker marker = FP_MARKER_SCRIPT; marker < FP_MARKER_COUNT; marker++)
        if (fp_str_equal(word, fp_str_of(fp_marker_name(marker))))
            return marker;
    return FP_MARKER_OTHER;
}

static bool read_marker(struct fp_decoder *decoder, const struct fp_field *field,
                        enum fp_marker *marker)
{
    *marker = FP_MARKER_NONE;
    if (field->value == NULL)
        return true;
    if (!yyjson_is_str(field->value))
        return fp_fail_field(decoder, field, "must be a string, such as \"gc\" or \"layout\"");
    *marker = fp_self_profile_marker(fp_json_text(field->value));
    return true;
}

static bool decode_samples(struct fp_decoder *decoder, const struct fp_field *field)
{
    const struct fp_profile *profile = decoder->profile;
    struct elements elements;
    begin_elements(&elements, field);
    struct fp_field fields[SAMPLE_FIELD_COUNT] = {
        [SAMPLE_MARKER] = {.object = &elements.at, .name = FP_STR("marker")},
        [SAMPLE_STACK] = {.object = &elements.at, .name = FP_STR("stackId")},
        [SAMPLE_TIMESTAMP] = {.object = &elements.at, .name = FP_STR("timestamp")},
    };
    struct fp_profile_sample *sample = profile->samples;
    yyjson_val *value;
    while ((value = next_element(&elements)) != NULL) {
        if (!fp_read_object(decoder, &elements.at, value, fields, SAMPLE_FIELD_COUNT) ||
            !fp_read_time(decoder, &fields[SAMPLE_TIMESTAMP], &sample->time_us) ||
            !fp_read_index(decoder, &fields[SAMPLE_STACK], profile->stack_count, "stacks",
                           &sample->stack) ||
            !read_marker(decoder, &fields[SAMPLE_MARKER], &sample->marker))
            return false;
        sample++;
    }
    FP_ASSERT(sample == profile->samples + profile->sample_count);
    return true;
}

static bool check_span(struct fp_decoder *decoder, const struct fp_field *field)
{
    const struct fp_profile *profile = decoder->profile;
    if (profile->sample_count == 0)
        return true;
    int64_t first_us = profile->samples[0].time_us;
    int64_t last_us = first_us;
    for (uint32_t i = 1; i < profile->sample_count; i++) {
        int64_t time_us = profile->samples[i].time_us;
        first_us = time_us < first_us ? time_us : first_us;
        last_us = time_us > last_us ? time_us : last_us;
    }
    if (last_us - first_us <= decoder->limits->max_span_us)
        return true;
    return fp_fail_field(decoder, field, "span more than %lld s (limits.max_span)",
                         (long long)(decoder->limits->max_span_us / FP_US_PER_S));
}

/* The trace. */

static bool allocate(struct fp_decoder *decoder)
{
    struct fp_profile *profile = decoder->profile;
    struct fp_arena *arena = decoder->arena;
    profile->resources =
        fp_arena_array(arena, profile->resource_count, sizeof(*profile->resources));
    profile->frames = fp_arena_array(arena, profile->frame_count, sizeof(*profile->frames));
    profile->stacks = fp_arena_array(arena, profile->stack_count, sizeof(*profile->stacks));
    profile->samples = fp_arena_array(arena, profile->sample_count, sizeof(*profile->samples));
    if (profile->resources == NULL || profile->frames == NULL || profile->stacks == NULL ||
        profile->samples == NULL)
        return fp_fail_memory(decoder);
    return true;
}

static bool read_lengths(struct fp_decoder *decoder, const struct fp_field *fields)
{
    const struct fp_format_limits *limits = decoder->limits;
    struct fp_profile *profile = decoder->profile;
    return fp_read_array(decoder, &fields[TRACE_RESOURCES], limits->resources, "resources",
                         &profile->resource_count) &&
           fp_read_array(decoder, &fields[TRACE_FRAMES], limits->frames, "frames",
                         &profile->frame_count) &&
           fp_read_array(decoder, &fields[TRACE_STACKS], limits->stacks, "stacks",
                         &profile->stack_count) &&
           fp_read_array(decoder, &fields[TRACE_SAMPLES], limits->samples, "samples",
                         &profile->sample_count);
}

static void take(struct fp_profile *profile, const struct fp_chromium_trace *trace)
{
    profile->resources = trace->resources;
    profile->frames = trace->frames;
    profile->stacks = trace->stacks;
    profile->samples = trace->samples;
    profile->resource_count = trace->resource_count;
    profile->frame_count = trace->frame_count;
    profile->stack_count = trace->stack_count;
    profile->sample_count = trace->sample_count;
}

bool fp_self_profile_decode(struct fp_decoder *decoder, const struct fp_place *place,
                            yyjson_val *trace)
{
    struct fp_field fields[TRACE_FIELD_COUNT];
    for (size_t i = 0; i < TRACE_FIELD_COUNT; i++)
        fields[i] = (struct fp_field){.object = place, .name = fp_str_of(trace_names[i])};
    if (!fp_read_object(decoder, place, trace, fields, TRACE_FIELD_COUNT))
        return false;
    decoder->profile->has_trace = true;
    if (decoder->trace != NULL) {
        take(decoder->profile, decoder->trace);
        return check_parents(decoder, &fields[TRACE_STACKS]) &&
               check_span(decoder, &fields[TRACE_SAMPLES]);
    }
    return read_lengths(decoder, fields) && allocate(decoder) &&
           decode_resources(decoder, &fields[TRACE_RESOURCES]) &&
           decode_frames(decoder, &fields[TRACE_FRAMES]) &&
           decode_stacks(decoder, &fields[TRACE_STACKS]) &&
           check_parents(decoder, &fields[TRACE_STACKS]) &&
           decode_samples(decoder, &fields[TRACE_SAMPLES]) &&
           check_span(decoder, &fields[TRACE_SAMPLES]);
}
