/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observed: reads interactions and their results, long animation frames and resources, and appends
 * to the profile.
 */
#include "collector/format/web/observed.h"

#include "collector/base/assert.h"

/* Arrays that grow. */

uint64_t fp_observed_count(const struct fp_profile *profile)
{
    return (uint64_t)profile->vital_count + profile->interaction_count + profile->result_count +
           profile->long_frame_count + profile->script_count + profile->responses_count +
           profile->response_duration_count + profile->opaque_responses + profile->request_count;
}

/* True if count more entries fit limits->entries. */
static bool check_count(struct fp_decoder *decoder, const struct fp_place *place, uint32_t more)
{
    return decoder->observed_before + fp_observed_count(decoder->profile) + more <=
               decoder->limits->entries ||
           fp_fail_at(decoder, FP_VERDICT_TOO_LARGE, place,
                      "more than %u vitals, interactions, frames, scripts, resources and requests "
                      "(limits.entries)",
                      (unsigned)decoder->limits->entries);
}

/* Makes room for one more element. An array has room for the next power of two of elements, so its
 * count says whether it is full. NULL: an error was reported. */
static void *grow(struct fp_decoder *decoder, const struct fp_place *place, void *array,
                  uint32_t count, size_t size)
{
    enum { FIRST = 8 };
    if (!check_count(decoder, place, 1))
        return NULL;
    bool is_full = count == 0 || (count >= FIRST && (count & (count - 1)) == 0);
    FP_ASSERT(is_full || array != NULL);
    if (!is_full)
        return array;
    void *larger = fp_arena_array(decoder->arena, count == 0 ? FIRST : 2 * (size_t)count, size);
    if (larger == NULL)
        (void)fp_fail_memory(decoder);
    else if (count > 0)
        memcpy(larger, array, count * size);
    return larger;
}

/* Sets `array` of the profile to one with room for another element. */
#define GROW(decoder, place, array, count)                                                         \
    ((array) = grow((decoder), (place), (array), (count), sizeof(*(array))), (array) != NULL)

bool fp_observed_add_vital(struct fp_decoder *decoder, const struct fp_place *place,
                           const struct fp_profile_vital *vital)
{
    struct fp_profile *profile = decoder->profile;
    if (!GROW(decoder, place, profile->vitals, profile->vital_count))
        return false;
    profile->vitals[profile->vital_count++] = *vital;
    return true;
}

bool fp_observed_add_interaction(struct fp_decoder *decoder, const struct fp_place *place,
                                 const struct fp_profile_interaction *interaction)
{
    struct fp_profile *profile = decoder->profile;
    if (!GROW(decoder, place, profile->interactions, profile->interaction_count))
        return false;
    profile->interactions[profile->interaction_count++] = *interaction;
    return true;
}

bool fp_observed_add_frame(struct fp_decoder *decoder, const struct fp_place *place,
                           const struct fp_profile_long_frame *frame)
{
    struct fp_profile *profile = decoder->profile;
    if (!GROW(decoder, place, profile->long_frames, profile->long_frame_count))
        return false;
    profile->long_frames[profile->long_frame_count++] = *frame;
    return true;
}

bool fp_observed_add_duration(struct fp_decoder *decoder, const struct fp_place *place,
                              int64_t duration_us)
{
    struct fp_profile *profile = decoder->profile;
    if (!GROW(decoder, place, profile->response_durations_us, profile->response_duration_count))
        return false;
    profile->response_durations_us[profile->response_duration_count++] = duration_us;
    return true;
}

bool fp_observed_add_responses(struct fp_decoder *decoder, const struct fp_place *place,
                               const struct fp_profile_responses *responses)
{
    struct fp_profile *profile = decoder->profile;
    if (!GROW(decoder, place, profile->responses, profile->responses_count))
        return false;
    profile->responses[profile->responses_count++] = *responses;
    /* Each opaque response counts against the limit, as durations do. */
    profile->opaque_responses += responses->opaque;
    return check_count(decoder, place, 0);
}

/* Times. */

bool fp_observed_read_span(struct fp_decoder *decoder, const struct fp_field *field,
                           int64_t *span_us)
{
    if (!fp_read_time(decoder, field, span_us))
        return false;
    return *span_us >= 0 || fp_fail_field(decoder, field, "is %.15g; it must not be negative",
                                          yyjson_get_num(field->value));
}

bool fp_observed_read_optional(struct fp_decoder *decoder, const struct fp_field *field,
                               int64_t *span_us)
{
    return field->value == NULL || fp_observed_read_span(decoder, field, span_us);
}

/* Calls decode for each element of a member, if that is there. */
static bool decode_list(struct fp_decoder *decoder, const struct fp_field *field,
                        bool (*decode)(struct fp_decoder *decoder, const struct fp_place *place,
                                       yyjson_val *value))
{
    const struct fp_place list = fp_field_place(field);
    struct fp_place at = {.parent = &list};
    uint32_t count;
    if (field->value == NULL)
        return true;
    if (!fp_read_array(decoder, field, decoder->limits->entries, "entries", &count))
        return false;
    yyjson_arr_iter elements = yyjson_arr_iter_with(field->value);
    yyjson_val *element;
    for (; (element = yyjson_arr_iter_next(&elements)) != NULL; at.index++)
        if (!decode(decoder, &at, element))
            return false;
    return true;
}

bool fp_observed_read_navigation(struct fp_decoder *decoder, const struct fp_field *field,
                                 enum fp_navigation *navigation)
{
    struct fp_str word = FP_STR("");
    if (!fp_read_text(decoder, field, &word))
        return false;
    *navigation = fp_navigation_find(word);
    return true;
}

/* Interactions. */

bool fp_observed_fill_interaction(struct fp_decoder *decoder, const struct fp_observed_event *event,
                                  struct fp_profile_interaction *interaction)
{
    if (event->processing_start_us < event->start_us)
        return fp_fail_field(decoder, event->processing_start, "is before the interaction starts");
    if (event->processing_end_us < event->processing_start_us)
        return fp_fail_field(decoder, event->processing_end, "is before the processing starts");
    if (event->processing_end_us - event->start_us > event->duration_us + FP_OBSERVED_SLACK_US)
        return fp_fail_field(decoder, event->processing_end, "is after the interaction ends");
    interaction->start_us = event->start_us;
    interaction->duration_us = event->duration_us;
    interaction->longest_us = event->duration_us;
    interaction->delay_us = event->processing_start_us - event->start_us;
    interaction->processing_us = event->processing_end_us - event->processing_start_us;
    return true;
}

static bool decode_interaction(struct fp_decoder *decoder, const struct fp_place *place,
                               yyjson_val *value)
{
    enum { TYPE, START, PROCESSING_START, PROCESSING_END, DURATION, TARGET, NAVIGATION, COUNT };
    struct fp_field fields[COUNT] = {
        [TYPE] = {.object = place, .name = FP_STR("type")},
        [START] = {.object = place, .name = FP_STR("start")},
        [PROCESSING_START] = {.object = place, .name = FP_STR("processingStart")},
        [PROCESSING_END] = {.object = place, .name = FP_STR("processingEnd")},
        [DURATION] = {.object = place, .name = FP_STR("duration")},
        [TARGET] = {.object = place, .name = FP_STR("target")},
        [NAVIGATION] = {.object = place, .name = FP_STR("navigationType")},
    };
    struct fp_observed_event event = {.processing_start = &fields[PROCESSING_START],
                                      .processing_end = &fields[PROCESSING_END]};
    struct fp_profile_interaction interaction = {.target = FP_STR("")};
    return fp_read_object(decoder, place, value, fields, COUNT) &&
           fp_read_required(decoder, &fields[TYPE]) &&
           fp_read_text(decoder, &fields[TYPE], &interaction.type) &&
           fp_read_text(decoder, &fields[TARGET], &interaction.target) &&
           fp_observed_read_navigation(decoder, &fields[NAVIGATION], &interaction.navigation) &&
           fp_observed_read_span(decoder, &fields[START], &event.start_us) &&
           fp_observed_read_span(decoder, event.processing_start, &event.processing_start_us) &&
           fp_observed_read_span(decoder, event.processing_end, &event.processing_end_us) &&
           fp_observed_read_span(decoder, &fields[DURATION], &event.duration_us) &&
           fp_observed_fill_interaction(decoder, &event, &interaction) &&
           fp_observed_add_interaction(decoder, place, &interaction);
}

static bool decode_request(struct fp_decoder *decoder, const struct fp_place *place,
                           yyjson_val *value)
{
    enum { HOST, START, DURATION, COUNT };
    struct fp_field fields[COUNT] = {
        [HOST] = {.object = place, .name = FP_STR("host")},
        [START] = {.object = place, .name = FP_STR("start")},
        [DURATION] = {.object = place, .name = FP_STR("duration")},
    };
    struct fp_profile *profile = decoder->profile;
    struct fp_profile_request request;
    if (!fp_read_object(decoder, place, value, fields, COUNT) ||
        !fp_read_required(decoder, &fields[HOST]) ||
        !fp_read_text(decoder, &fields[HOST], &request.host) ||
        !fp_observed_read_span(decoder, &fields[START], &request.start_us) ||
        !fp_observed_read_span(decoder, &fields[DURATION], &request.duration_us) ||
        !GROW(decoder, place, profile->requests, profile->request_count))
        return false;
    profile->requests[profile->request_count++] = request;
    return true;
}

static bool add_result(struct fp_decoder *decoder, const struct fp_place *place,
                       const struct fp_profile_result *result)
{
    struct fp_profile *profile = decoder->profile;
    if (!GROW(decoder, place, profile->results, profile->result_count))
        return false;
    profile->results[profile->result_count] = *result;
    profile->results[profile->result_count++].request_count =
        profile->request_count - result->first_request;
    return true;
}

static bool decode_result(struct fp_decoder *decoder, const struct fp_place *place,
                          yyjson_val *value)
{
    enum { TYPE, START, DURATION, TARGET, NAVIGATION, REQUESTS, COUNT };
    struct fp_field fields[COUNT] = {
        [TYPE] = {.object = place, .name = FP_STR("type")},
        [START] = {.object = place, .name = FP_STR("start")},
        [DURATION] = {.object = place, .name = FP_STR("duration")},
        [TARGET] = {.object = place, .name = FP_STR("target")},
        [NAVIGATION] = {.object = place, .name = FP_STR("navigationType")},
        [REQUESTS] = {.object = place, .name = FP_STR("requests")},
    };
    struct fp_profile_result result = {.target = FP_STR(""),
                                       .first_request = decoder->profile->request_count};
    return fp_read_object(decoder, place, value, fields, COUNT) &&
           fp_read_required(decoder, &fields[TYPE]) &&
           fp_read_text(decoder, &fields[TYPE], &result.type) &&
           fp_read_text(decoder, &fields[TARGET], &result.target) &&
           fp_observed_read_navigation(decoder, &fields[NAVIGATION], &result.navigation) &&
           fp_observed_read_span(decoder, &fields[START], &result.start_us) &&
           fp_observed_read_span(decoder, &fields[DURATION], &result.duration_us) &&
           decode_list(decoder, &fields[REQUESTS], decode_request) &&
           add_result(decoder, place, &result);
}

/* Long animation frames. */

/* A frame being decoded. */
struct frame {
    const struct fp_observed_frame_names *names;
    struct fp_profile_long_frame *frame;
};

/* Fails if a moment or a span within a frame reaches beyond it. */
static bool check_inside(struct fp_decoder *decoder, const struct fp_field *field,
                         const struct fp_profile_long_frame *frame, int64_t start_us,
                         int64_t duration_us)
{
    if (start_us < frame->start_us - FP_OBSERVED_SLACK_US)
        return fp_fail_field(decoder, field, "is before the frame starts");
    if (start_us + duration_us > frame->start_us + frame->duration_us + FP_OBSERVED_SLACK_US)
        return fp_fail_field(decoder, field, "is after the frame ends");
    return true;
}

/* Reads a part of a whole, if it is there; else *part_us is FP_DURATION_NONE. */
static bool read_part(struct fp_decoder *decoder, const struct fp_field *field, int64_t whole_us,
                      const char *problem, int64_t *part_us)
{
    *part_us = FP_DURATION_NONE;
    return fp_observed_read_optional(decoder, field, part_us) &&
           (*part_us <= whole_us + FP_OBSERVED_SLACK_US ||
            fp_fail_field(decoder, field, "%s", problem));
}

static bool add_script(struct fp_decoder *decoder, const struct fp_place *place,
                       const struct fp_profile_script *script)
{
    struct fp_profile *profile = decoder->profile;
    if (!GROW(decoder, place, profile->scripts, profile->script_count))
        return false;
    profile->scripts[profile->script_count++] = *script;
    return true;
}

/* Reads what a script forced: style and layout together, and each. */
static bool read_forced(struct fp_decoder *decoder, const struct fp_field *fields,
                        struct fp_profile_script *script)
{
    static const char problem[] = "is longer than the script";
    if (!read_part(decoder, &fields[0], script->duration_us, problem, &script->forced_us) ||
        !read_part(decoder, &fields[1], script->duration_us, problem, &script->forced_style_us) ||
        !read_part(decoder, &fields[2], script->duration_us, problem, &script->forced_layout_us))
        return false;
    if (script->forced_us == FP_DURATION_NONE)
        script->forced_us = 0;
    return true;
}

static bool decode_script(struct fp_decoder *decoder, const struct fp_place *place,
                          yyjson_val *value, const struct frame *frame)
{
    enum { INVOKER, INVOKER_TYPE, URL, FUNCTION, POSITION, START, DURATION, FORCED, COUNT = 10 };
    struct fp_field fields[COUNT] = {
        [INVOKER] = {.object = place, .name = FP_STR("invoker")},
        [INVOKER_TYPE] = {.object = place, .name = FP_STR("invokerType")},
        [URL] = {.object = place, .name = frame->names->url},
        [FUNCTION] = {.object = place, .name = frame->names->function},
        [POSITION] = {.object = place, .name = FP_STR("position")},
        [START] = {.object = place, .name = frame->names->script_start},
        [DURATION] = {.object = place, .name = FP_STR("duration")},
        [FORCED] = {.object = place, .name = frame->names->forced},
        [FORCED + 1] = {.object = place, .name = frame->names->forced_style},
        [FORCED + 2] = {.object = place, .name = frame->names->forced_layout},
    };
    struct fp_profile_script script = {
        .invoker = FP_STR(""), .url = FP_STR(""), .function = FP_STR("")};
    struct fp_str invoker_type;
    double position;
    return fp_read_object(decoder, place, value, fields, COUNT) &&
           fp_read_text(decoder, &fields[INVOKER], &script.invoker) &&
           fp_read_text(decoder, &fields[INVOKER_TYPE], &invoker_type) &&
           fp_read_text(decoder, &fields[URL], &script.url) &&
           fp_read_text(decoder, &fields[FUNCTION], &script.function) &&
           fp_read_number(decoder, &fields[POSITION], &position) &&
           fp_observed_read_span(decoder, &fields[START], &script.start_us) &&
           fp_observed_read_span(decoder, &fields[DURATION], &script.duration_us) &&
           check_inside(decoder, &fields[START], frame->frame, script.start_us, 0) &&
           check_inside(decoder, &fields[DURATION], frame->frame, script.start_us,
                        script.duration_us) &&
           read_forced(decoder, &fields[FORCED], &script) && add_script(decoder, place, &script);
}

static bool decode_scripts(struct fp_decoder *decoder, const struct fp_field *field,
                           const struct frame *frame)
{
    const struct fp_place list = fp_field_place(field);
    struct fp_place at = {.parent = &list};
    uint32_t count;
    if (field->value == NULL)
        return true;
    if (!fp_read_array(decoder, field, decoder->limits->entries, "entries", &count))
        return false;
    yyjson_arr_iter scripts = yyjson_arr_iter_with(field->value);
    yyjson_val *script;
    for (; (script = yyjson_arr_iter_next(&scripts)) != NULL; at.index++)
        if (!decode_script(decoder, &at, script, frame))
            return false;
    frame->frame->script_count = count;
    return true;
}

/* Reads a moment of rendering, which is 0 if nothing was rendered. */
static bool read_moment(struct fp_decoder *decoder, const struct fp_field *field,
                        const struct fp_profile_long_frame *frame, int64_t *moment_us)
{
    *moment_us = 0;
    return fp_observed_read_optional(decoder, field, moment_us) &&
           (*moment_us == 0 || check_inside(decoder, field, frame, *moment_us, 0));
}

bool fp_observed_decode_frame(struct fp_decoder *decoder, const struct fp_place *place,
                              yyjson_val *value, const struct fp_observed_frame_names *names)
{
    enum { START, DURATION, BLOCKING, RENDER, STYLE_START, STYLE, LAYOUT, SCRIPTS, COUNT };
    struct fp_field fields[COUNT] = {
        [START] = {.object = place, .name = names->start},
        [DURATION] = {.object = place, .name = names->duration},
        [BLOCKING] = {.object = place, .name = names->blocking},
        [RENDER] = {.object = place, .name = FP_STR("renderStart")},
        [STYLE_START] = {.object = place, .name = FP_STR("styleAndLayoutStart")},
        [STYLE] = {.object = place, .name = names->style},
        [LAYOUT] = {.object = place, .name = names->layout},
        [SCRIPTS] = {.object = place, .name = names->scripts},
    };
    struct fp_profile_long_frame frame = {.first_script = decoder->profile->script_count};
    const struct frame decoding = {names, &frame};
    static const char problem[] = "is longer than the frame";
    int64_t unused_us;
    if (!fp_read_object(decoder, place, value, fields, COUNT) ||
        !fp_observed_read_span(decoder, &fields[START], &frame.start_us) ||
        !fp_observed_read_span(decoder, &fields[DURATION], &frame.duration_us) ||
        !read_moment(decoder, &fields[RENDER], &frame, &unused_us) ||
        !read_moment(decoder, &fields[STYLE_START], &frame, &frame.render_us) ||
        !read_part(decoder, &fields[BLOCKING], frame.duration_us, problem, &frame.blocking_us) ||
        !read_part(decoder, &fields[STYLE], frame.duration_us, problem, &frame.style_us) ||
        !read_part(decoder, &fields[LAYOUT], frame.duration_us, problem, &frame.layout_us))
        return false;
    if (frame.blocking_us == FP_DURATION_NONE)
        frame.blocking_us = 0;
    return decode_scripts(decoder, &fields[SCRIPTS], &decoding) &&
           fp_observed_add_frame(decoder, place, &frame);
}

static bool decode_frame(struct fp_decoder *decoder, const struct fp_place *place,
                         yyjson_val *value)
{
    static const struct fp_observed_frame_names names = {
        .start = {"start", 5},
        .duration = {"duration", 8},
        .blocking = {"blocking", 8},
        .style = {"style", 5},
        .layout = {"layout", 6},
        .scripts = {"scripts", 7},
        .script_start = {"start", 5},
        .url = {"url", 3},
        .function = {"function", 8},
        .forced = {"forced", 6},
        .forced_style = {"forcedStyle", 11},
        .forced_layout = {"forcedLayout", 12},
    };
    return fp_observed_decode_frame(decoder, place, value, &names);
}

/* Resources. */

/* Reads how many responses were opaque: true stands for all, which are `count`, or one. */
static bool read_opaque(struct fp_decoder *decoder, const struct fp_field *field,
                        const struct fp_field *count, uint32_t *opaque)
{
    const uint32_t max = decoder->limits->entries;
    if (yyjson_is_bool(field->value)) {
        *opaque = yyjson_get_bool(field->value) ? 1 : 0;
        return *opaque == 0 || fp_read_whole(decoder, count, max, opaque);
    }
    if (field->value != NULL && !yyjson_is_num(field->value))
        return fp_fail_field(decoder, field, "must be true, false or a number of responses");
    return fp_read_whole(decoder, field, max, opaque);
}

/* Reads one duration, or an array of them. */
static bool read_durations(struct fp_decoder *decoder, const struct fp_field *field)
{
    const struct fp_place list = fp_field_place(field);
    struct fp_place at = {.parent = &list};
    int64_t duration_us;
    if (!yyjson_is_arr(field->value))
        return fp_observed_read_span(decoder, field, &duration_us) &&
               fp_observed_add_duration(decoder, &list, duration_us);
    yyjson_arr_iter durations = yyjson_arr_iter_with(field->value);
    yyjson_val *duration;
    for (; (duration = yyjson_arr_iter_next(&durations)) != NULL; at.index++) {
        if (!fp_read_time_at(decoder, &at, duration, &duration_us))
            return false;
        if (duration_us < 0)
            return fp_fail_at(decoder, FP_VERDICT_INVALID, &at,
                              "this is %.15g; a duration must not be negative",
                              yyjson_get_num(duration));
        if (!fp_observed_add_duration(decoder, &at, duration_us))
            return false;
    }
    return true;
}

/* Reads the bytes of all responses of an object: a whole number. */
static bool read_bytes(struct fp_decoder *decoder, const struct fp_field *field, int64_t *bytes)
{
    if (field->value == NULL || fp_whole_of(field->value, 0, FP_TIME_MAX_US, bytes))
        return true;
    return fp_fail_field(decoder, field, "must be a whole number from 0 to 2^53");
}

static bool check_responses(struct fp_decoder *decoder, const struct fp_field *count,
                            const struct fp_profile_responses *responses)
{
    uint32_t number = responses->duration_count + responses->opaque;
    uint32_t given = number;
    if (!fp_read_whole(decoder, count, INT32_MAX, &given))
        return false;
    if (given != number)
        return fp_fail_field(decoder, count,
                             "is %u, but there are %u durations and %u opaque responses, which "
                             "have none",
                             (unsigned)given, (unsigned)responses->duration_count,
                             (unsigned)responses->opaque);
    return number > 0 || fp_fail_at(decoder, FP_VERDICT_INVALID, count->object,
                                    "a resource needs a duration, unless it is opaque");
}

static bool decode_responses(struct fp_decoder *decoder, const struct fp_place *place,
                             yyjson_val *value)
{
    enum { HOST, KIND, NUMBER, DURATION, BYTES, OPAQUE, COUNT };
    struct fp_field fields[COUNT] = {
        [HOST] = {.object = place, .name = FP_STR("host")},
        [KIND] = {.object = place, .name = FP_STR("kind")},
        [NUMBER] = {.object = place, .name = FP_STR("count")},
        [DURATION] = {.object = place, .name = FP_STR("duration")},
        [BYTES] = {.object = place, .name = FP_STR("bytes")},
        [OPAQUE] = {.object = place, .name = FP_STR("opaque")},
    };
    struct fp_profile *profile = decoder->profile;
    struct fp_profile_responses responses = {.kind = FP_STR(""),
                                             .first_duration = profile->response_duration_count};
    if (!fp_read_object(decoder, place, value, fields, COUNT) ||
        !fp_read_required(decoder, &fields[HOST]) ||
        !fp_read_text(decoder, &fields[HOST], &responses.host) ||
        !fp_read_text(decoder, &fields[KIND], &responses.kind) ||
        !read_bytes(decoder, &fields[BYTES], &responses.bytes) ||
        !read_opaque(decoder, &fields[OPAQUE], &fields[NUMBER], &responses.opaque))
        return false;
    /* The duration of one opaque response may be given, but says nothing. */
    bool is_all_opaque = yyjson_is_true(fields[OPAQUE].value);
    if (fields[DURATION].value != NULL && !read_durations(decoder, &fields[DURATION]))
        return false;
    if (is_all_opaque)
        profile->response_duration_count = responses.first_duration;
    responses.duration_count = profile->response_duration_count - responses.first_duration;
    return check_responses(decoder, &fields[NUMBER], &responses) &&
           fp_observed_add_responses(decoder, place, &responses);
}

bool fp_observed_decode(struct fp_decoder *decoder, const struct fp_observed_members *members)
{
    return decode_list(decoder, members->interactions, decode_interaction) &&
           decode_list(decoder, members->results, decode_result) &&
           decode_list(decoder, members->frames, decode_frame) &&
           decode_list(decoder, members->resources, decode_responses);
}
