/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observed entries: one reader per type.
 *
 * Older agents sent these entries and had them skipped. So an entry that lacks a member is skipped;
 * one with a member of a wrong type, or out of range, is refused.
 *
 * Events of one interaction that were presented in the same frame are one, as in the agent: a
 * click's pointerdown, pointerup and click mostly have the same end, and one of them has the time.
 */
#include "collector/format/web/observed_entries.h"

#include "collector/format/web/observed.h"
#include "collector/profile/scrub/url.h"

/* Browsers round durations to 8 ms: events whose ends are at most so far apart have the same frame.
 */
#define SAME_FRAME_US (8 * FP_US_PER_MS)

/* The names of the entry that is being read, and where it is. */
struct entry {
    struct fp_observed_entries *all;
    struct fp_decoder *decoder;
    const struct fp_place *place;
    yyjson_val *value;
};

void fp_observed_entries_init(struct fp_observed_entries *entries, size_t entry_max)
{
    *entries = (struct fp_observed_entries){.entry_max = entry_max};
    fp_map_init(&entries->interactions, entry_max);
}

void fp_observed_entries_release(struct fp_observed_entries *entries)
{
    fp_map_release(&entries->interactions);
}

static bool read_members(const struct entry *entry, struct fp_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fields[i].object = entry->place;
    return fp_read_object(entry->decoder, entry->place, entry->value, fields, count);
}

/* True if the first `needed` fields are there. */
static bool are_there(const struct fp_field *fields, size_t needed)
{
    for (size_t i = 0; i < needed; i++)
        if (fields[i].value == NULL)
            return false;
    return true;
}

/* event, first-input: Event Timing. */

/* Returns the place of a type among those by which people know an interaction: less is better.
 * Enter on a button is a key and a click; it counts as a key, as the agent counts it. */
static size_t rank_type(struct fp_str type)
{
    static const char *const known[] = {"keydown", "keyup", "click", "pointerup", "pointerdown"};
    size_t rank = 0;
    while (rank < FP_COUNT(known) && !fp_str_equal(type, fp_str_of(known[rank])))
        rank++;
    return rank;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t end_of(const struct fp_profile_interaction *event)
{
    return event->start_us + event->duration_us;
}

/* Makes events that were presented in the same frame one: processed from the first handler's start
 * to the last one's end. */
static void merge_event(struct fp_profile_interaction *known,
                        const struct fp_profile_interaction *event)
{
    const int64_t known_us = known->start_us + known->delay_us;
    const int64_t event_us = event->start_us + event->delay_us;
    const int64_t processing_us = smaller(known_us, event_us);
    const int64_t processed_us =
        greater(known_us + known->processing_us, event_us + event->processing_us);
    const int64_t end_us = greater(end_of(known), end_of(event));
    known->start_us = smaller(known->start_us, event->start_us);
    known->duration_us = end_us - known->start_us;
    known->longest_us = greater(known->longest_us, event->longest_us);
    known->delay_us = processing_us - known->start_us;
    known->processing_us = processed_us - processing_us;
    if (rank_type(event->type) < rank_type(known->type))
        known->type = event->type;
}

/* Takes another event of an interaction, such as its click after its pointerdown: one of the same
 * frame into it, as the agent does, and otherwise the longest instead of it. */
static void take_event(struct fp_profile_interaction *known,
                       const struct fp_profile_interaction *event)
{
    const int64_t apart_us = end_of(known) - end_of(event);
    const struct fp_str target = known->target;
    const bool is_same_frame = apart_us >= -SAME_FRAME_US && apart_us <= SAME_FRAME_US;
    if (is_same_frame)
        merge_event(known, event);
    else if (event->duration_us > known->duration_us)
        *known = *event;
    if (known->target.len == 0)
        known->target = target.len > 0 ? target : event->target;
}

static bool add_interaction(const struct entry *entry, const struct fp_field *id_field,
                            const struct fp_profile_interaction *interaction)
{
    struct fp_profile *profile = entry->decoder->profile;
    uint32_t id = 0;
    uint32_t index = profile->interaction_count;
    if (!fp_read_whole(entry->decoder, id_field, UINT32_MAX, &id))
        return false;
    if (id_field->value != NULL)
        index = fp_map_put(&entry->all->interactions, id, index);
    if (index == FP_MAP_NONE)
        return fp_fail_memory(entry->decoder);
    if (index == profile->interaction_count)
        return fp_observed_add_interaction(entry->decoder, entry->place, interaction);
    take_event(&profile->interactions[index], interaction);
    return true;
}

enum event_field {
    EVENT_NAME,
    EVENT_START,
    EVENT_PROCESSING_START,
    EVENT_PROCESSING_END,
    EVENT_DURATION,
    EVENT_ID,
    EVENT_TARGET,
    EVENT_FIELD_COUNT
};

/* Reads an event's moments, and clips its processing to it: the browser may present a frame before
 * a handler ends, as one that calls alert(). */
static bool read_moments(struct fp_decoder *decoder, const struct fp_field *fields,
                         struct fp_observed_event *event)
{
    if (!fp_observed_read_span(decoder, &fields[EVENT_START], &event->start_us) ||
        !fp_observed_read_span(decoder, event->processing_start, &event->processing_start_us) ||
        !fp_observed_read_span(decoder, event->processing_end, &event->processing_end_us) ||
        !fp_observed_read_span(decoder, &fields[EVENT_DURATION], &event->duration_us))
        return false;
    const int64_t end_us = event->start_us + event->duration_us;
    event->processing_start_us =
        greater(event->start_us, smaller(event->processing_start_us, end_us));
    event->processing_end_us =
        greater(event->processing_start_us, smaller(event->processing_end_us, end_us));
    return true;
}

static bool read_event(const struct entry *entry, bool *taken)
{
    struct fp_field fields[EVENT_FIELD_COUNT] = {
        [EVENT_NAME] = {.name = FP_STR("name")},
        [EVENT_START] = {.name = FP_STR("startTime")},
        [EVENT_PROCESSING_START] = {.name = FP_STR("processingStart")},
        [EVENT_PROCESSING_END] = {.name = FP_STR("processingEnd")},
        [EVENT_DURATION] = {.name = FP_STR("duration")},
        [EVENT_ID] = {.name = FP_STR("interactionId")},
        [EVENT_TARGET] = {.name = FP_STR("target")},
    };
    struct fp_decoder *decoder = entry->decoder;
    struct fp_observed_event event = {.processing_start = &fields[EVENT_PROCESSING_START],
                                      .processing_end = &fields[EVENT_PROCESSING_END]};
    struct fp_profile_interaction interaction = {.target = FP_STR("")};
    if (!read_members(entry, fields, EVENT_FIELD_COUNT))
        return false;
    /* An event with the id 0 is not part of an interaction. */
    yyjson_val *id = fields[EVENT_ID].value;
    bool is_other = yyjson_is_num(id) && !(yyjson_get_num(id) != 0);
    *taken = are_there(fields, EVENT_ID) && !is_other;
    return !*taken || (fp_read_text(decoder, &fields[EVENT_NAME], &interaction.type) &&
                       fp_read_text(decoder, &fields[EVENT_TARGET], &interaction.target) &&
                       read_moments(decoder, fields, &event) &&
                       fp_observed_fill_interaction(decoder, &event, &interaction) &&
                       add_interaction(entry, &fields[EVENT_ID], &interaction));
}

/* long-animation-frame, longtask. */

static bool read_frame(const struct entry *entry, bool *taken)
{
    static const struct fp_observed_frame_names names = {
        .start = {"startTime", 9},
        .duration = {"duration", 8},
        .blocking = {"blockingDuration", 16},
        .style = {"styleDuration", 13},
        .layout = {"layoutDuration", 14},
        .scripts = {"scripts", 7},
        .script_start = {"startTime", 9},
        .url = {"sourceURL", 9},
        .function = {"sourceFunctionName", 18},
        .forced = {"forcedStyleAndLayoutDuration", 28},
        .forced_style = {"forcedStyleDuration", 19},
        .forced_layout = {"forcedLayoutDuration", 20},
    };
    struct fp_field fields[] = {{.name = names.start}, {.name = names.duration}};
    if (!read_members(entry, fields, FP_COUNT(fields)))
        return false;
    *taken = are_there(fields, FP_COUNT(fields));
    return !*taken || fp_observed_decode_frame(entry->decoder, entry->place, entry->value, &names);
}

/* Keeps a long task until all entries are read: where the browser reports frames, it is in one. */
static bool read_task(const struct entry *entry, bool *taken)
{
    enum { BLOCKING_US = 50000 }; /* what is longer blocks, says the specification */
    struct fp_observed_entries *all = entry->all;
    struct fp_field fields[] = {{.name = FP_STR("startTime")}, {.name = FP_STR("duration")}};
    struct fp_profile_long_frame task = {.style_us = FP_DURATION_NONE,
                                         .layout_us = FP_DURATION_NONE};
    if (!read_members(entry, fields, FP_COUNT(fields)))
        return false;
    *taken = are_there(fields, FP_COUNT(fields));
    if (!*taken)
        return true;
    if (!fp_observed_read_span(entry->decoder, &fields[0], &task.start_us) ||
        !fp_observed_read_span(entry->decoder, &fields[1], &task.duration_us))
        return false;
    if (all->tasks == NULL)
        all->tasks = fp_arena_array(entry->decoder->arena, all->entry_max, sizeof(*all->tasks));
    if (all->tasks == NULL)
        return fp_fail_memory(entry->decoder);
    task.blocking_us = task.duration_us > BLOCKING_US ? task.duration_us - BLOCKING_US : 0;
    all->tasks[all->task_count++] = task;
    return true;
}

/* Entries that vitals come from. */

static void set_vital(const struct entry *entry, enum fp_vital vital, int64_t value_us)
{
    entry->all->has_vital[vital] = true;
    entry->all->vitals_us[vital] = value_us;
}

/* Takes the last candidate, which is the largest element that was painted. */
static bool read_largest_paint(const struct entry *entry, bool *taken)
{
    struct fp_field field = {.name = FP_STR("startTime")};
    int64_t time_us;
    if (!read_members(entry, &field, 1))
        return false;
    *taken = field.value != NULL;
    if (*taken && !fp_observed_read_span(entry->decoder, &field, &time_us))
        return false;
    if (*taken)
        set_vital(entry, FP_VITAL_LCP, time_us);
    return true;
}

static bool read_paint(const struct entry *entry, bool *taken)
{
    struct fp_profile *profile = entry->decoder->profile;
    struct fp_field fields[] = {{.name = FP_STR("name")}, {.name = FP_STR("startTime")}};
    int64_t time_us;
    if (!read_members(entry, fields, FP_COUNT(fields)))
        return false;
    bool is_first = yyjson_equals_str(fields[0].value, "first-paint");
    bool is_content = yyjson_equals_str(fields[0].value, "first-contentful-paint");
    *taken = (is_first || is_content) && fields[1].value != NULL;
    if (!*taken)
        return true;
    if (!fp_observed_read_span(entry->decoder, &fields[1], &time_us))
        return false;
    if (is_content)
        set_vital(entry, FP_VITAL_FCP, time_us);
    if (!profile->has_first_paint || time_us < profile->first_paint_us)
        profile->first_paint_us = time_us;
    profile->has_first_paint = true;
    return true;
}

/* Takes the time to the first byte, and when a page that was rendered in advance was shown. */
static bool read_navigation(const struct entry *entry, bool *taken)
{
    struct fp_field fields[] = {{.name = FP_STR("responseStart")},
                                {.name = FP_STR("activationStart")}};
    struct fp_profile *profile = entry->decoder->profile;
    int64_t response_us = 0;
    if (!read_members(entry, fields, FP_COUNT(fields)) ||
        !fp_observed_read_optional(entry->decoder, &fields[0], &response_us) ||
        !fp_observed_read_optional(entry->decoder, &fields[1], &profile->shown_us))
        return false;
    *taken = response_us > 0;
    if (*taken)
        set_vital(entry, FP_VITAL_TTFB, response_us);
    return true;
}

/* Adds a shift to its window: at most a second after the one before it, and at most five seconds
 * after the window's first. CLS is the greatest window. */
static void add_shift(struct fp_observed_entries *all, int64_t time_us, double score)
{
    bool is_of_window = all->shift_score > 0 && time_us - all->last_shift_us < FP_US_PER_S &&
                        time_us - all->first_shift_us < 5 * FP_US_PER_S;
    if (!is_of_window) {
        all->shift_score = 0;
        all->first_shift_us = time_us;
    }
    all->last_shift_us = time_us;
    all->shift_score += score;
    if (all->shift_score > all->best_score)
        all->best_score = all->shift_score;
}

static bool read_shift(const struct entry *entry, bool *taken)
{
    enum { SCORE_MAX = 1000 };
    struct fp_field fields[] = {{.name = FP_STR("startTime")},
                                {.name = FP_STR("value")},
                                {.name = FP_STR("hadRecentInput")}};
    struct fp_decoder *decoder = entry->decoder;
    bool had_input = false;
    double score;
    int64_t time_us;
    if (!read_members(entry, fields, FP_COUNT(fields)))
        return false;
    *taken = are_there(fields, 2);
    if (!*taken)
        return true;
    if (!fp_observed_read_span(decoder, &fields[0], &time_us) ||
        !fp_read_number(decoder, &fields[1], &score) ||
        !fp_read_bool(decoder, &fields[2], &had_input))
        return false;
    if (!(score >= 0 && score <= (double)SCORE_MAX))
        return fp_fail_field(decoder, &fields[1], "is %.15g; a score is from 0 to %d", score,
                             SCORE_MAX);
    if (!had_input)
        add_shift(entry->all, time_us, score);
    set_vital(entry, FP_VITAL_CLS, fp_floor_of(entry->all->best_score * (double)FP_US_PER_S + 0.5));
    return true;
}

/* resource: Resource Timing. */

/* True for `blob:` and `data:`: nothing went over the network. */
static bool has_no_host(struct fp_str name)
{
    const struct fp_url url = fp_url_parse(name);
    return url.scheme.len > 0 && url.host.len == 0;
}

static bool read_resource(const struct entry *entry, bool *taken)
{
    enum { NAME, DURATION, KIND, BYTES, REQUEST, RESPONSE, COUNT };
    struct fp_field fields[COUNT] = {
        [NAME] = {.name = FP_STR("name")},
        [DURATION] = {.name = FP_STR("duration")},
        [KIND] = {.name = FP_STR("initiatorType")},
        [BYTES] = {.name = FP_STR("transferSize")},
        [REQUEST] = {.name = FP_STR("requestStart")},
        [RESPONSE] = {.name = FP_STR("responseStart")},
    };
    struct fp_decoder *decoder = entry->decoder;
    struct fp_profile *profile = decoder->profile;
    struct fp_profile_responses responses = {.kind = FP_STR(""),
                                             .first_duration = profile->response_duration_count};
    int64_t duration_us;
    int64_t request_us = 0;
    int64_t response_us = 0;
    if (!read_members(entry, fields, COUNT))
        return false;
    *taken = are_there(fields, KIND);
    if (!*taken)
        return true;
    if (!fp_read_text(decoder, &fields[NAME], &responses.host))
        return false;
    *taken = !has_no_host(responses.host);
    if (!*taken)
        return true;
    if (!fp_observed_read_span(decoder, &fields[DURATION], &duration_us) ||
        !fp_read_text(decoder, &fields[KIND], &responses.kind) ||
        !fp_observed_read_optional(decoder, &fields[REQUEST], &request_us) ||
        !fp_observed_read_optional(decoder, &fields[RESPONSE], &response_us))
        return false;
    if (fields[BYTES].value != NULL &&
        !fp_whole_of(fields[BYTES].value, 0, FP_TIME_MAX_US, &responses.bytes))
        return fp_fail_field(decoder, &fields[BYTES], "must be a whole number from 0 to 2^53");
    /* Without Timing-Allow-Origin, the browser says only when it began and ended. */
    responses.opaque = fields[RESPONSE].value != NULL && request_us == 0 && response_us == 0;
    if (responses.opaque == 0 && !fp_observed_add_duration(decoder, entry->place, duration_us))
        return false;
    responses.duration_count = responses.opaque == 0 ? 1 : 0;
    return fp_observed_add_responses(decoder, entry->place, &responses);
}

/* All types. */

static const struct {
    const char *name;
    bool (*read)(const struct entry *entry, bool *taken);
} types[] = {
    {"event", read_event},
    {"first-input", read_event},
    {"long-animation-frame", read_frame},
    {"longtask", read_task},
    {"largest-contentful-paint", read_largest_paint},
    {"layout-shift", read_shift},
    {"paint", read_paint},
    {"navigation", read_navigation},
    {"resource", read_resource},
};

bool fp_observed_entries_read(struct fp_observed_entries *entries, struct fp_decoder *decoder,
                              const struct fp_place *place, yyjson_val *value, bool *taken)
{
    const struct entry entry = {entries, decoder, place, value};
    struct fp_field type = {.object = place, .name = FP_STR("entryType")};
    *taken = false;
    if (!fp_read_object(decoder, place, value, &type, 1))
        return false;
    for (size_t i = 0; i < FP_COUNT(types); i++)
        if (yyjson_equals_str(type.value, types[i].name))
            return types[i].read(&entry, taken);
    return true;
}

/* True if the envelope has this vital. */
static bool has_vital(const struct fp_profile *profile, enum fp_vital vital)
{
    for (uint32_t i = 0; i < profile->vital_count; i++)
        if (profile->vitals[i].vital == vital)
            return true;
    return false;
}

/* Returns a vital of an array. Those of the page's start are measured, in a page that was rendered
 * in advance, from when it was shown: its visitor did not wait before. */
static struct fp_profile_vital vital_of(const struct fp_observed_entries *entries,
                                        enum fp_vital vital, int64_t shown_us)
{
    struct fp_profile_vital found = {.vital = vital, .value_us = entries->vitals_us[vital]};
    if (shown_us == 0 || vital == FP_VITAL_CLS)
        return found;
    found.value_us = greater(found.value_us - shown_us, 0);
    found.has_window = true;
    found.start_us = shown_us;
    found.duration_us = found.value_us;
    return found;
}

/* Adds the long tasks as frames, unless there are frames. */
static bool add_tasks(struct fp_observed_entries *entries, struct fp_decoder *decoder,
                      const struct fp_place *place)
{
    if (decoder->profile->long_frame_count > 0)
        return true;
    for (uint32_t i = 0; i < entries->task_count; i++)
        if (!fp_observed_add_frame(decoder, place, &entries->tasks[i]))
            return false;
    return true;
}

bool fp_observed_entries_finish(struct fp_observed_entries *entries, struct fp_decoder *decoder,
                                const struct fp_place *place)
{
    for (enum fp_vital vital = FP_VITAL_LCP; vital < FP_VITAL_COUNT; vital++) {
        const struct fp_profile_vital found = vital_of(entries, vital, decoder->profile->shown_us);
        if (entries->has_vital[vital] && !has_vital(decoder->profile, vital) &&
            !fp_observed_add_vital(decoder, place, &found))
            return false;
    }
    return add_tasks(entries, decoder, place);
}
