/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Envelope: finds a document's shape, and reads an envelope's members from a table.
 *
 * Shapes, in the order they are checked:
 *  - an array: performance entries
 *  - an object that has only lists of times: a map of marks, as from getMarks() of the 2012 draft,
 *    whatever their names
 *  - an object with trace, marks, measures, entries, vitals, interactions or coverage: an envelope
 *    (ours, or the specification's {duration, trace} and {timing, trace})
 *  - an object with version, and responses, frames or resources, but neither stacks nor samples: an
 *    envelope
 *  - an object with a member of a trace: a bare ProfilerTrace
 *  - an object that has only arrays: a map of marks, some without times
 */
#include "collector/format/web/envelope.h"

#include "collector/base/ascii.h"
#include "collector/base/assert.h"
#include "collector/base/hash.h"
#include "collector/base/uuid.h"
#include "collector/format/format_decoder.h"
#include "collector/format/web/chromium_trace.h"
#include "collector/format/web/envelope_content.h"
#include "collector/format/web/left_out.h"
#include "collector/format/web/observed.h"
#include "collector/format/web/self_profile.h"
#include "collector/format/web/user_timing.h"
#include "collector/format/web/vitals.h"

#define ENVELOPE_VERSION 1
#define INTERVAL_MAX_MS 10000

enum { DIMENSION_WORDS_MAX = 7 };
enum { VIEWS_MAX = FP_PROFILE_SESSIONS_MAX - 1 }; /* beside the envelope's own */

/* Scalars. */

static bool read_version(struct fp_decoder *decoder, const struct fp_field *field)
{
    if (field->value == NULL)
        return true;
    if (yyjson_is_num(field->value) && yyjson_get_num(field->value) >= ENVELOPE_VERSION &&
        yyjson_get_num(field->value) <= ENVELOPE_VERSION)
        return true;
    return fp_fail_field(decoder, field, "of the envelope must be the number %d", ENVELOPE_VERSION);
}

static bool read_uuid(struct fp_decoder *decoder, const struct fp_field *field, bool *has_uuid,
                      struct fp_uuid *uuid)
{
    *has_uuid = field->value != NULL;
    if (field->value == NULL)
        return true;
    const struct fp_str text = {yyjson_get_str(field->value), yyjson_get_len(field->value)};
    if (yyjson_is_str(field->value) && fp_uuid_parse(text, uuid))
        return true;
    return fp_fail_field(decoder, field,
                         "must be a UUID such as \"123e4567-e89b-42d3-a456-426614174000\"; "
                         "crypto.randomUUID() makes one");
}

static bool read_id(struct fp_decoder *decoder, const struct fp_field *field)
{
    return read_uuid(decoder, field, &decoder->profile->has_id, &decoder->profile->id);
}

static bool read_load(struct fp_decoder *decoder, const struct fp_field *field)
{
    return read_uuid(decoder, field, &decoder->profile->has_load, &decoder->profile->load);
}

static bool read_part(struct fp_decoder *decoder, const struct fp_field *field)
{
    return fp_read_whole(decoder, field, INT32_MAX, &decoder->profile->part);
}

static bool read_truncated(struct fp_decoder *decoder, const struct fp_field *field)
{
    return fp_read_bool(decoder, field, &decoder->profile->truncated);
}

/* Dimensions that the page says: any text, or one of a few words. */
static const struct said_dimension {
    const char *name;
    size_t place;       /* of the text in struct fp_profile */
    const char *absent; /* the word that says no more than its absence; NULL: there is none */
    const char *words[DIMENSION_WORDS_MAX + 1]; /* up to the first NULL */
} dimensions[] = {
    {"release", offsetof(struct fp_profile, release), NULL, {NULL}},
    {"environment", offsetof(struct fp_profile, said.environment), NULL, {NULL}},
    {"variant", offsetof(struct fp_profile, said.variant), NULL, {NULL}},
    {"thread", offsetof(struct fp_profile, said.thread), NULL, {"window", "worker"}},
    {"frame",
     offsetof(struct fp_profile, said.frame),
     "top",
     {"top", "same-origin", "cross-origin"}},
    {"machine", offsetof(struct fp_profile, said.machine), NULL, {"low", "mid", "high"}},
};

static const struct said_dimension *find_dimension(struct fp_str name)
{
    const struct said_dimension *dimension = dimensions;
    while (!fp_str_equal(name, fp_str_of(dimension->name))) {
        dimension++;
        FP_ASSERT(dimension < dimensions + FP_COUNT(dimensions));
    }
    return dimension;
}

/* Fails, and lists the words that a dimension may be. */
static bool refuse_word(struct fp_decoder *decoder, const struct fp_field *field,
                        const char *const *words)
{
    char choice[200] = "";
    for (size_t i = 0; words[i] != NULL; i++) {
        size_t used = strlen(choice);
        const char *separator = i == 0 ? "" : words[i + 1] == NULL ? " or " : ", ";
        (void)snprintf(choice + used, sizeof(choice) - used, "%s\"%s\"", separator, words[i]);
    }
    return fp_fail_field(decoder, field, "must be %s", choice);
}

static bool read_dimension(struct fp_decoder *decoder, const struct fp_field *field)
{
    const struct said_dimension *dimension = find_dimension(field->name);
    struct fp_str *text = (struct fp_str *)((char *)decoder->profile + dimension->place);
    struct fp_str word = {NULL, 0};
    if (dimension->words[0] == NULL)
        return fp_read_dimension(decoder, field, text);
    if (!fp_read_text(decoder, field, &word))
        return false;
    if (field->value == NULL)
        return true;
    size_t i = 0;
    while (dimension->words[i] != NULL && !fp_str_equal(word, fp_str_of(dimension->words[i])))
        i++;
    if (dimension->words[i] == NULL)
        return refuse_word(decoder, field, dimension->words);
    if (dimension->absent == NULL || strcmp(dimension->words[i], dimension->absent) != 0)
        *text = word;
    return true;
}

/* Reads whether the server drew the page load to be profiled. */
static bool read_drawn(struct fp_decoder *decoder, const struct fp_field *field)
{
    bool is_drawn = false;
    if (!fp_read_bool(decoder, field, &is_drawn))
        return false;
    if (field->value != NULL)
        decoder->profile->said.drawn = is_drawn ? FP_STR("yes") : FP_STR("no");
    return true;
}

/* Reads the browser's word for its network. A word that browsers do not have yet is not a reason to
 * refuse what the page observed. */
static bool read_network(struct fp_decoder *decoder, const struct fp_field *field)
{
    static const struct {
        const char *said;
        const char *class;
    } words[] = {
        {"4g", "4g"}, {"3g", "3g"}, {"2g", "2g"}, {"slow-2g", "2g"}, {"save-data", "save-data"},
    };
    struct fp_str word = {NULL, 0};
    if (!fp_read_text(decoder, field, &word))
        return false;
    for (size_t i = 0; i < FP_COUNT(words); i++)
        if (fp_str_equal(word, fp_str_of(words[i].said)))
            decoder->profile->said.network = fp_str_of(words[i].class);
    return true;
}

/* Custom dimensions. */

static bool add_custom(struct fp_decoder *decoder, struct fp_str name, struct fp_str value)
{
    struct fp_profile *profile = decoder->profile;
    if (profile->said.custom == NULL)
        profile->said.custom =
            fp_arena_array(decoder->arena, FP_PROFILE_CUSTOM_MAX, sizeof(*profile->said.custom));
    if (profile->said.custom == NULL)
        return fp_fail_memory(decoder);
    if (profile->said.custom_count < FP_PROFILE_CUSTOM_MAX)
        profile->said.custom[profile->said.custom_count++] =
            (struct fp_profile_custom){name, value};
    return true;
}

/* Reads "plan=pro; country=de". Where there is no =, the value is empty. */
static bool split_custom(struct fp_decoder *decoder, struct fp_str text)
{
    while (text.len > 0) {
        const char *end = memchr(text.ptr, ';', text.len);
        const struct fp_str pair = {text.ptr, end != NULL ? (size_t)(end - text.ptr) : text.len};
        const char *equals = pair.len > 0 ? memchr(pair.ptr, '=', pair.len) : NULL;
        const size_t name_len = equals != NULL ? (size_t)(equals - pair.ptr) : pair.len;
        const size_t value_at = equals != NULL ? name_len + 1 : pair.len;
        const struct fp_str name = fp_str_trim((struct fp_str){pair.ptr, name_len});
        const struct fp_str value =
            fp_str_trim((struct fp_str){pair.ptr + value_at, pair.len - value_at});
        if (name.len > 0 && !add_custom(decoder, name, value))
            return false;
        const size_t used = pair.len < text.len ? pair.len + 1 : pair.len;
        text = (struct fp_str){text.ptr + used, text.len - used};
    }
    return true;
}

/* Reads the custom dimensions, as the agent sends them. */
static bool read_custom(struct fp_decoder *decoder, const struct fp_field *field)
{
    struct fp_str text = {NULL, 0};
    return fp_read_text(decoder, field, &text) && split_custom(decoder, text);
}

static bool read_coverage(struct fp_decoder *decoder, const struct fp_field *field)
{
    struct fp_str word = {NULL, 0};
    if (!fp_read_text(decoder, field, &word))
        return false;
    if (field->value == NULL)
        return true;
    const char *words[FP_COVERAGE_COUNT] = {NULL}; /* the last one stays NULL */
    for (enum fp_coverage coverage = FP_COVERAGE_NO_POLICY; coverage < FP_COVERAGE_COUNT;
         coverage++) {
        decoder->profile->coverage = coverage;
        words[coverage - FP_COVERAGE_NO_POLICY] = fp_coverage_name(coverage);
        if (fp_str_equal(word, fp_str_of(fp_coverage_name(coverage))))
            return true;
    }
    return refuse_word(decoder, field, words);
}

static bool read_interval(struct fp_decoder *decoder, const struct fp_field *field)
{
    double interval_ms = 0;
    if (!fp_read_number(decoder, field, &interval_ms))
        return false;
    if (field->value == NULL)
        return true;
    if (!(interval_ms > 0 && interval_ms <= INTERVAL_MAX_MS))
        return fp_fail_field(decoder, field, "is %.15g; it must be above 0 and at most %d ms",
                             interval_ms, INTERVAL_MAX_MS);
    int64_t interval_us = (int64_t)(interval_ms * (double)FP_US_PER_MS + 0.5);
    decoder->profile->interval_us = interval_us > 0 ? interval_us : 1;
    return true;
}

/* Reads the token without verifying it. */
static bool read_token(struct fp_decoder *decoder, const struct fp_field *field)
{
    return fp_read_text(decoder, field, &decoder->profile->token);
}

/* Checks the type of a member that is not used: a wrong type is a mistake worth reporting. */
static bool check_number(struct fp_decoder *decoder, const struct fp_field *field)
{
    double number;
    return fp_read_number(decoder, field, &number);
}

static bool read_start(struct fp_decoder *decoder, const struct fp_field *field)
{
    decoder->profile->has_start = field->value != NULL;
    return fp_observed_read_optional(decoder, field, &decoder->profile->start_us);
}

static bool check_object(struct fp_decoder *decoder, const struct fp_field *field)
{
    if (field->value == NULL || yyjson_is_obj(field->value))
        return true;
    return fp_fail_field(decoder, field, "must be an object");
}

/* Nested objects. */

static bool read_page(struct fp_decoder *decoder, const struct fp_field *field)
{
    if (field->value == NULL)
        return true;
    struct fp_profile *profile = decoder->profile;
    const struct fp_place place = fp_field_place(field);
    struct fp_field fields[] = {
        {.object = &place, .name = FP_STR("url")},
        {.object = &place, .name = FP_STR("route")},
    };
    if (!fp_read_object(decoder, &place, field->value, fields, FP_COUNT(fields)) ||
        !fp_read_text(decoder, &fields[0], &profile->page_url) ||
        !fp_read_dimension(decoder, &fields[1], &profile->page_route))
        return false;
    profile->has_page_route = fields[1].value != NULL;
    return true;
}

static bool read_agent(struct fp_decoder *decoder, const struct fp_field *field)
{
    if (field->value == NULL)
        return true;
    const struct fp_place place = fp_field_place(field);
    struct fp_field fields[] = {
        {.object = &place, .name = FP_STR("name")},
        {.object = &place, .name = FP_STR("version")},
    };
    return fp_read_object(decoder, &place, field->value, fields, FP_COUNT(fields)) &&
           fp_read_dimension(decoder, &fields[0], &decoder->profile->agent_name) &&
           fp_read_dimension(decoder, &fields[1], &decoder->profile->agent_version);
}

/* The envelope. */

enum envelope_field {
    ENVELOPE_TRACE, /* from here to ENVELOPE_COVERAGE: the members that make an envelope */
    ENVELOPE_MARKS,
    ENVELOPE_MEASURES,
    ENVELOPE_ENTRIES,
    ENVELOPE_VITALS,
    ENVELOPE_INTERACTIONS,
    ENVELOPE_COVERAGE,
    ENVELOPE_RESPONSES, /* to interactions */
    ENVELOPE_FRAMES,
    ENVELOPE_RESOURCES,
    ENVELOPE_VIEWS,
    ENVELOPE_TIMING,
    ENVELOPE_START,
    ENVELOPE_DURATION
};

/* `read` is NULL for the arrays: they are read after the cheap members and after `thread`. */
static const struct {
    const char *name;
    bool (*read)(struct fp_decoder *decoder, const struct fp_field *field);
} envelope_members[] = {
    [ENVELOPE_TRACE] = {"trace", NULL},
    [ENVELOPE_MARKS] = {"marks", NULL},
    [ENVELOPE_MEASURES] = {"measures", NULL},
    [ENVELOPE_ENTRIES] = {"entries", NULL},
    [ENVELOPE_VITALS] = {"vitals", NULL},
    [ENVELOPE_INTERACTIONS] = {"interactions", NULL},
    [ENVELOPE_COVERAGE] = {"coverage", read_coverage},
    [ENVELOPE_RESPONSES] = {"responses", NULL},
    [ENVELOPE_FRAMES] = {"frames", NULL},
    [ENVELOPE_RESOURCES] = {"resources", NULL},
    [ENVELOPE_VIEWS] = {"views", NULL},
    [ENVELOPE_TIMING] = {"timing", check_object},
    [ENVELOPE_START] = {"start", read_start},
    [ENVELOPE_DURATION] = {"duration", check_number},
    {"version", read_version},
    {"id", read_id},
    {"load", read_load},
    {"part", read_part},
    {"agent", read_agent},
    {"truncated", read_truncated},
    {"leftOut", fp_left_out_decode},
    {"variant", read_dimension},
    {"page", read_page},
    {"release", read_dimension},
    {"environment", read_dimension},
    {"thread", read_dimension},
    {"frame", read_dimension},
    {"machine", read_dimension},
    {"drawn", read_drawn},
    {"network", read_network},
    {"custom", read_custom},
    {"sampleInterval", read_interval},
    {"requestedInterval", check_number},
    {"maxBufferSize", check_number},
    {"timeOrigin", check_number},
    {"token", read_token},
};
enum { ENVELOPE_FIELD_COUNT = FP_COUNT(envelope_members) };

static bool is_map_of_times(yyjson_val *object)
{
    size_t i;
    size_t count;
    yyjson_val *name;
    yyjson_val *times;
    bool has_times = false;
    yyjson_obj_foreach(object, i, count, name, times)
    {
        if (!fp_is_times(times) && !yyjson_is_null(times))
            return false;
        has_times |= fp_is_times(times);
    }
    return has_times;
}

/* True if an object has the records of a posted dump, which would be a dump with a header. */
static bool is_post_without_header(yyjson_val *object)
{
    return yyjson_is_obj(yyjson_arr_get_first(yyjson_obj_get(object, "data")));
}

static bool is_envelope(yyjson_val *object)
{
    for (size_t i = ENVELOPE_TRACE; i <= ENVELOPE_COVERAGE; i++)
        if (yyjson_obj_get(object, envelope_members[i].name) != NULL)
            return true;
    /* A bare trace may lack all but these two, and is then refused as such. */
    bool has_any = false;
    for (size_t i = ENVELOPE_RESPONSES; i <= ENVELOPE_RESOURCES; i++)
        has_any = has_any || yyjson_obj_get(object, envelope_members[i].name) != NULL;
    return has_any && yyjson_obj_get(object, "version") != NULL &&
           yyjson_obj_get(object, "stacks") == NULL && yyjson_obj_get(object, "samples") == NULL;
}

/* True if an object's first member of a field's name is its last, which is the field's value. */
static bool is_only(yyjson_val *object, const struct fp_field *field)
{
    return yyjson_obj_getn(object, field->name.ptr, field->name.len) == field->value;
}

static bool decode_trace(struct fp_decoder *decoder, yyjson_val *root, const struct fp_field *field)
{
    /* The trace that was read ahead may be the first of several. */
    if (decoder->trace != NULL && !is_only(root, field))
        return false;
    if (field->value == NULL)
        return true;
    const struct fp_place place = fp_field_place(field);
    return fp_self_profile_decode(decoder, &place, field->value);
}

static bool decode_timings(struct fp_decoder *decoder, const struct fp_field *fields)
{
    static const enum fp_user_timing_allow allowed[] = {
        FP_USER_TIMING_MARKS, FP_USER_TIMING_MEASURES, FP_USER_TIMING_MIXED};
    struct fp_place places[FP_COUNT(allowed)];
    struct fp_user_timing_source sources[FP_COUNT(allowed)];
    for (size_t i = 0; i < FP_COUNT(allowed); i++) {
        const struct fp_field *field = &fields[ENVELOPE_MARKS + i];
        places[i] = fp_field_place(field);
        sources[i] = (struct fp_user_timing_source){&places[i], field->value, allowed[i]};
    }
    return fp_user_timing_decode(decoder, sources, FP_COUNT(sources), &fields[ENVELOPE_TIMING]);
}

static bool decode_observed(struct fp_decoder *decoder, const struct fp_field *fields)
{
    const struct fp_observed_members members = {
        .interactions = &fields[ENVELOPE_INTERACTIONS],
        .results = &fields[ENVELOPE_RESPONSES],
        .frames = &fields[ENVELOPE_FRAMES],
        .resources = &fields[ENVELOPE_RESOURCES],
    };
    return fp_vitals_decode(decoder, &fields[ENVELOPE_VITALS]) &&
           fp_observed_decode(decoder, &members);
}

/* Reads the upload's window in the page load, which begins at `start`. That of a trace is as
 * bounded as its samples are. */
static bool read_window(struct fp_decoder *decoder, const struct fp_field *fields)
{
    struct fp_profile *profile = decoder->profile;
    const int64_t max_us = decoder->limits->max_span_us;
    if (!profile->has_start)
        return true;
    return fp_observed_read_optional(decoder, &fields[ENVELOPE_DURATION], &profile->duration_us) &&
           (!profile->has_trace || profile->duration_us <= max_us ||
            fp_fail_field(decoder, &fields[ENVELOPE_DURATION],
                          "is %.15g; a trace can be of at most %lld s (limits.max_span)",
                          yyjson_get_num(fields[ENVELOPE_DURATION].value),
                          (long long)(max_us / FP_US_PER_S)));
}

static bool has_observed(const struct fp_profile *profile)
{
    return profile->vital_count > 0 || profile->interaction_count > 0 ||
           profile->result_count > 0 || profile->long_frame_count > 0 ||
           profile->responses_count > 0 || profile->has_first_paint;
}

/* True for a part of a page load in which nothing happened, or that the page has emptied. */
static bool is_empty_part(const struct fp_decoder *decoder, const struct fp_field *fields)
{
    bool has_content = false;
    for (size_t i = ENVELOPE_TRACE; i <= ENVELOPE_RESOURCES; i++)
        has_content = has_content || fields[i].value != NULL;
    return has_content && decoder->profile->has_load && decoder->profile->skipped_entries == 0;
}

/* Refuses an upload that would add nothing to the numbers. */
static bool check_not_empty(struct fp_decoder *decoder)
{
    struct fp_profile *profile = decoder->profile;
    if (profile->has_trace || profile->timing_count > 0 || profile->coverage != FP_COVERAGE_NONE ||
        profile->left_out_count > 0 || has_observed(profile))
        return true;
    if (profile->skipped_entries > 0)
        return fp_fail_at(decoder, FP_VERDICT_INVALID, NULL,
                          "nothing is left of the entries: none of them is a mark, a measure or "
                          "of another type that is read");
    return fp_fail_at(decoder, FP_VERDICT_INVALID, NULL,
                      "there is no trace, mark, measure, vital, interaction, frame, resource or "
                      "coverage in this upload");
}

/* Views: what the page observed under other URLs than the envelope's. */

/* Makes the profile of a view, which is an upload of its own in all that the envelope says. */
static bool begin_view(struct fp_decoder *decoder, const struct fp_profile *envelope,
                       uint32_t number)
{
    struct fp_profile *view = fp_arena_array(decoder->arena, 1, sizeof(*view));
    if (view == NULL)
        return fp_fail_memory(decoder);
    *view = (struct fp_profile){
        .is_view = true,
        .has_id = envelope->has_id,
        .id = fp_uuid_of_part(&envelope->id, number),
        .has_load = envelope->has_load,
        .load = envelope->load,
        .part = envelope->part,
        .has_start = envelope->has_start,
        .start_us = envelope->start_us,
        .format = FP_UPLOAD_USER_TIMING,
        .said = envelope->said,
        .agent_name = envelope->agent_name,
        .agent_version = envelope->agent_version,
    };
    decoder->profile->next = view;
    decoder->profile = view;
    return true;
}

static bool decode_view(struct fp_decoder *decoder, const struct fp_place *place, yyjson_val *value)
{
    enum { PAGE, RELEASE, VITALS, INTERACTIONS, RESPONSES, FRAMES, RESOURCES, COUNT };
    struct fp_field fields[COUNT] = {
        [PAGE] = {.object = place, .name = FP_STR("page")},
        [RELEASE] = {.object = place, .name = FP_STR("release")},
        [VITALS] = {.object = place, .name = FP_STR("vitals")},
        [INTERACTIONS] = {.object = place, .name = FP_STR("interactions")},
        [RESPONSES] = {.object = place, .name = FP_STR("responses")},
        [FRAMES] = {.object = place, .name = FP_STR("frames")},
        [RESOURCES] = {.object = place, .name = FP_STR("resources")},
    };
    const struct fp_observed_members members = {&fields[INTERACTIONS], &fields[RESPONSES],
                                                &fields[FRAMES], &fields[RESOURCES]};
    return fp_read_object(decoder, place, value, fields, COUNT) &&
           fp_read_required(decoder, &fields[PAGE]) && read_page(decoder, &fields[PAGE]) &&
           read_dimension(decoder, &fields[RELEASE]) &&
           fp_vitals_decode(decoder, &fields[VITALS]) && fp_observed_decode(decoder, &members) &&
           (has_observed(decoder->profile) ||
            fp_fail_at(decoder, FP_VERDICT_INVALID, place,
                       "there is no vital, interaction, response, frame or resource in this view"));
}

/* Appends a profile for each view. Ceilings count them all together. */
static bool decode_views(struct fp_decoder *decoder, const struct fp_field *field)
{
    struct fp_profile *envelope = decoder->profile;
    const struct fp_place list = fp_field_place(field);
    struct fp_place at = {.parent = &list};
    if (field->value == NULL)
        return true;
    if (!yyjson_is_arr(field->value))
        return fp_fail_field(decoder, field, "must be an array of views");
    if (yyjson_arr_size(field->value) > VIEWS_MAX)
        return fp_fail_at(decoder, FP_VERDICT_TOO_LARGE, &list,
                          "an envelope can have at most %d views", VIEWS_MAX);
    yyjson_arr_iter views = yyjson_arr_iter_with(field->value);
    yyjson_val *view;
    bool decoded = true;
    for (; decoded && (view = yyjson_arr_iter_next(&views)) != NULL; at.index++) {
        decoder->observed_before += fp_observed_count(decoder->profile);
        decoded =
            begin_view(decoder, envelope, (uint32_t)at.index) && decode_view(decoder, &at, view);
    }
    decoder->profile = envelope;
    return decoded;
}

/* Reads all members but the arrays. */
static bool read_members(struct fp_decoder *decoder, yyjson_val *root, struct fp_field *fields)
{
    for (size_t i = 0; i < ENVELOPE_FIELD_COUNT; i++)
        fields[i] = (struct fp_field){.name = fp_str_of(envelope_members[i].name)};
    if (!fp_read_object(decoder, NULL, root, fields, ENVELOPE_FIELD_COUNT))
        return false;
    for (size_t i = 0; i < ENVELOPE_FIELD_COUNT; i++)
        if (envelope_members[i].read != NULL && !envelope_members[i].read(decoder, &fields[i]))
            return false;
    return true;
}

static bool decode_envelope(struct fp_decoder *decoder, yyjson_val *root)
{
    struct fp_field fields[ENVELOPE_FIELD_COUNT];
    return read_members(decoder, root, fields) &&
           decode_trace(decoder, root, &fields[ENVELOPE_TRACE]) && read_window(decoder, fields) &&
           decode_observed(decoder, fields) && decode_timings(decoder, fields) &&
           (is_empty_part(decoder, fields) || check_not_empty(decoder)) &&
           decode_views(decoder, &fields[ENVELOPE_VIEWS]);
}

bool fp_envelope_read_around(struct fp_decoder *decoder, yyjson_val *root, const char *content)
{
    struct fp_field fields[ENVELOPE_FIELD_COUNT];
    if (!read_members(decoder, root, fields))
        return false;
    for (size_t i = ENVELOPE_TRACE; i <= ENVELOPE_VIEWS; i++)
        if (fields[i].value != NULL)
            return fp_fail_field(decoder, &fields[i], "cannot be in one upload with %s", content);
    return true;
}

/* Bare shapes. */

static bool decode_bare_timings(struct fp_decoder *decoder, yyjson_val *root,
                                enum fp_user_timing_allow allow)
{
    const struct fp_user_timing_source source = {NULL, root, allow};
    return fp_user_timing_decode(decoder, &source, 1, NULL) && check_not_empty(decoder);
}

static bool decode_object(struct fp_decoder *decoder, yyjson_val *root)
{
    bool is_map = is_map_of_times(root);
    if (!is_map && is_envelope(root))
        return decode_envelope(decoder, root);
    if (!is_map && fp_self_profile_is_trace(root))
        return fp_self_profile_decode(decoder, NULL, root);
    if (is_post_without_header(root))
        return fp_fail_at(decoder, FP_VERDICT_INVALID, NULL,
                          "header is missing: a posted dump of Speed Tracer has it beside data; a "
                          "map of marks has times in milliseconds, not objects");
    if (is_map || fp_user_timing_is_map(root))
        return decode_bare_timings(decoder, root, FP_USER_TIMING_MARKS);
    return fp_fail_at(decoder, FP_VERDICT_INVALID, NULL,
                      "this is not an upload: it has none of trace, marks, measures, entries, "
                      "vitals, interactions and coverage, and is not a ProfilerTrace, a map of "
                      "marks, a Speed Tracer dump "
                      "or an Opera Scope session");
}

static bool has_shape_of(yyjson_val *root, enum fp_upload_format format)
{
    if (yyjson_is_arr(root) || is_map_of_times(root))
        return format == FP_UPLOAD_USER_TIMING;
    if (is_envelope(root))
        return format == FP_UPLOAD_SELF_PROFILE || format == FP_UPLOAD_USER_TIMING;
    if (fp_self_profile_is_trace(root))
        return format == FP_UPLOAD_SELF_PROFILE;
    return format == FP_UPLOAD_USER_TIMING && fp_user_timing_is_map(root);
}

static bool decode_any(struct fp_decoder *decoder, yyjson_val *root)
{
    struct fp_profile *profile = decoder->profile;
    *profile = (struct fp_profile){0};
    bool decoded;
    if (yyjson_is_arr(root))
        decoded = decode_bare_timings(decoder, root, FP_USER_TIMING_MIXED);
    else if (yyjson_is_obj(root))
        decoded = decode_object(decoder, root);
    else
        decoded = fp_fail_at(decoder, FP_VERDICT_INVALID, NULL,
                             "an upload is a JSON object or an array of performance entries");
    /* A page load with a trace is profiled, whatever reason it gives for having none. */
    bool is_cut_short = profile->coverage == FP_COVERAGE_OVERLOAD;
    if (profile->has_trace && !is_cut_short)
        profile->coverage = FP_COVERAGE_NONE;
    bool timings_alone =
        !profile->has_trace && (profile->coverage == FP_COVERAGE_NONE || is_cut_short ||
                                profile->timing_count > 0 || has_observed(profile));
    profile->format = timings_alone ? FP_UPLOAD_USER_TIMING : FP_UPLOAD_SELF_PROFILE;
    return decoded;
}

/* Decides whether this trace is kept whole. Hashes the id, so retries and other collectors agree;
 * random without an id. The hash has a key, so a page cannot choose an id that is drawn. */
static bool is_drawn(const struct fp_decoder *decoder)
{
    enum { PPM = 1000000 };
    uint32_t ppm = decoder->limits->keep_ppm;
    struct fp_uuid id = decoder->profile->id;
    if (ppm == 0 || ppm >= PPM)
        return ppm > 0;
    if (!decoder->profile->has_id && !fp_uuid_random(&id))
        return false;
    struct {
        struct fp_uuid upload;
        uint64_t site_id;
    } drawn = {id, decoder->limits->keep_site_id};
    return (fp_siphash(decoder->limits->keep_key.bytes, &drawn, sizeof(drawn)) >> 32) * PPM >> 32 <
           ppm;
}

/* Writes the content of a trace that is kept whole. A document lacks a trace that was read ahead.
 */
static bool keep(struct fp_decoder *decoder, struct fp_str body, yyjson_val *root)
{
    struct fp_json whole;
    if (decoder->trace == NULL) {
        fp_envelope_add_content(decoder, root);
        return true;
    }
    if (fp_json_parse(body, decoder->limits->json_depth, decoder->arena, &whole, decoder->error) !=
        FP_VERDICT_OK)
        return false;
    fp_envelope_add_content(decoder, whole.root);
    fp_json_release(&whole);
    return true;
}

static bool decode(struct fp_decoder *decoder, struct fp_str body, struct fp_json *json)
{
    return decode_any(decoder, json->root) &&
           (!decoder->profile->has_trace || !is_drawn(decoder) || keep(decoder, body, json->root));
}

static bool has_trace_shape(yyjson_val *root)
{
    return has_shape_of(root, FP_UPLOAD_SELF_PROFILE);
}

static bool has_timings_shape(yyjson_val *root)
{
    return has_shape_of(root, FP_UPLOAD_USER_TIMING);
}

const struct fp_format_decoder fp_format_self_profile = {
    .format = FP_UPLOAD_SELF_PROFILE,
    .has_shape = has_trace_shape,
    .read_ahead = fp_chromium_trace_read,
    .decode = decode,
    .what_else = "neither a ProfilerTrace nor an envelope",
};

const struct fp_format_decoder fp_format_user_timing = {
    .format = FP_UPLOAD_USER_TIMING,
    .has_shape = has_timings_shape,
    .decode = decode,
    .what_else = "neither marks and measures nor an envelope",
};
