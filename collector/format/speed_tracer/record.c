/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, record: one record with its children becomes events, parents first.
 *
 * Recursion is as deep as the JSON, whose depth is within limits.json_depth.
 */
#include "collector/format/speed_tracer/record.h"

#include "collector/format/content.h"
#include "collector/format/json.h"
#include "collector/format/speed_tracer/detail.h"
#include "collector/format/speed_tracer/timers.h"
#include "collector/format/speed_tracer/types.h"
#include "collector/format/speed_tracer/v8.h"
#include "collector/format/utf8.h"

enum record_member {
    TYPE,
    TIME,
    DURATION,
    CHILDREN,
    DATA,
    TYPE_NAME,
    OVERHEAD,
    STACK_TRACE,
    CALLER_NAME,
    CALLER_LINE,
    USED_HEAP,
    TOTAL_HEAP,
    SEQUENCE,
    MEMBER_COUNT
};

static const struct fp_str member_names[] = {
    [TYPE] = {"type", 4},
    [TIME] = {"time", 4},
    [DURATION] = {"duration", 8},
    [CHILDREN] = {"children", 8},
    [DATA] = {"data", 4},
    [TYPE_NAME] = {"typeName", 8},
    [OVERHEAD] = {"overhead", 8},
    [STACK_TRACE] = {"stackTrace", 10},
    [CALLER_NAME] = {"callerScriptName", 16},
    [CALLER_LINE] = {"callerScriptLine", 16},
    [USED_HEAP] = {"usedHeapSize", 12},
    [TOTAL_HEAP] = {"totalHeapSize", 13},
    [SEQUENCE] = {"sequence", 8},
};

/* Members of a record's data, whatever its type. */
enum data_member {
    URL,
    SCRIPT_NAME,
    LINE_NUMBER,
    SCRIPT_LINE,
    REQUEST,
    RESPONSE,
    MESSAGE,
    FORMAT,
    PROFILE_DATA,
    IS_MAIN_RESOURCE,
    MAIN_RESOURCE,
    IS_ORPHANED,
    ORPHAN,
    DATA_MEMBER_COUNT
};

static const struct fp_str data_member_names[] = {
    [URL] = {"url", 3},
    [SCRIPT_NAME] = {"scriptName", 10},
    [LINE_NUMBER] = {"lineNumber", 10},
    [SCRIPT_LINE] = {"scriptLine", 10},
    [REQUEST] = {"request", 7},
    [RESPONSE] = {"response", 8},
    [MESSAGE] = {"message", 7},
    [FORMAT] = {"format", 6},
    [PROFILE_DATA] = {"profileData", 11},
    [IS_MAIN_RESOURCE] = {"isMainResource", 14},
    [MAIN_RESOURCE] = {"mainResource", 12},
    [IS_ORPHANED] = {"isOrphaned", 10},
    [ORPHAN] = {"orphan", 6},
};

/* A record while it is read. A member is NULL if absent or null. */
struct record_reading {
    yyjson_val *record;
    yyjson_val *members[MEMBER_COUNT];
    yyjson_val *data_members[DATA_MEMBER_COUNT];
    struct fp_profile_event event;
    int32_t source_type;
    bool is_read_profile; /* a V8 profile that was read */
};

static void read_members(yyjson_val *object, const struct fp_str *names, size_t name_count,
                         yyjson_val **members)
{
    size_t i;
    size_t count;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_obj_foreach(object, i, count, key, value)
    {
        const struct fp_str name = fp_json_text(key);
        size_t at = 0;
        while (at < name_count && !fp_st_name_is(name, names[at]))
            at++;
        if (at < name_count)
            members[at] = yyjson_is_null(value) ? NULL : value;
    }
}

/* Reads a whole number from min to INT32_MAX. False, with *whole unchanged, if it is not one. */
static bool get_int(yyjson_val *value, int32_t min, int32_t *whole)
{
    int64_t number;
    if (!fp_whole_of(value, min, INT32_MAX, &number))
        return false;
    *whole = (int32_t)number;
    return true;
}

/* Refusals. These functions return the first problem of a record, FP_ST_NOTE_REFUSALS if it is
 * valid. */

static enum fp_st_note read_times(struct record_reading *reading, int64_t max_span_us)
{
    struct fp_profile_event *event = &reading->event;
    yyjson_val *const *members = reading->members;
    if (members[TIME] != NULL && !fp_time_of(members[TIME], &event->start_us))
        return FP_ST_NOTE_BAD_TIME;
    if (members[DURATION] == NULL)
        return FP_ST_NOTE_REFUSALS;
    if (!fp_time_of(members[DURATION], &event->duration_us) || event->duration_us > max_span_us)
        return FP_ST_NOTE_BAD_DURATION;
    return yyjson_get_num(members[DURATION]) < 0 ? FP_ST_NOTE_NEGATIVE_DURATION
                                                 : FP_ST_NOTE_REFUSALS;
}

static enum fp_st_note read_valid(struct record_reading *reading, int64_t max_span_us)
{
    yyjson_val *const *members = reading->members;
    if (!yyjson_is_obj(reading->record))
        return FP_ST_NOTE_NO_OBJECT;
    read_members(reading->record, member_names, MEMBER_COUNT, reading->members);
    if (members[TYPE] != NULL && !get_int(members[TYPE], INT32_MIN, &reading->source_type))
        return FP_ST_NOTE_BAD_TYPE;
    if (members[CHILDREN] != NULL && !yyjson_is_arr(members[CHILDREN]))
        return FP_ST_NOTE_BAD_CHILDREN;
    if (members[DATA] != NULL && !yyjson_is_obj(members[DATA]))
        return FP_ST_NOTE_BAD_DATA;
    if (members[DATA] != NULL)
        read_members(members[DATA], data_member_names, DATA_MEMBER_COUNT, reading->data_members);
    return read_times(reading, max_span_us);
}

/* Notes what is odd in a record that is kept. */
static void note_oddities(struct fp_st_dump *dump, const struct record_reading *reading)
{
    yyjson_val *const *members = reading->members;
    const struct {
        bool is_odd;
        enum fp_st_note note;
    } oddities[] = {
        {members[TYPE] == NULL, FP_ST_NOTE_NO_TYPE},
        {members[TIME] == NULL, FP_ST_NOTE_NO_TIME},
        {reading->event.start_us < 0, FP_ST_NOTE_NEGATIVE_TIME},
        {(members[CALLER_NAME] == NULL) != (members[CALLER_LINE] == NULL),
         FP_ST_NOTE_UNPAIRED_CALLER},
        {(members[USED_HEAP] == NULL) != (members[TOTAL_HEAP] == NULL), FP_ST_NOTE_UNPAIRED_HEAP},
    };
    for (size_t i = 0; i < FP_COUNT(oddities); i++)
        if (oddities[i].is_odd)
            fp_st_add_note(dump, oddities[i].note);
}

/* Copies a text into the arena. */
static bool copy_text(struct fp_st_dump *dump, yyjson_val *value, struct fp_str *copy)
{
    const struct fp_str text = fp_json_text(value);
    return fp_utf8_copy(dump->decoder->arena, text, copy) || fp_fail_memory(dump->decoder);
}

/* Places. */

static yyjson_val *either(yyjson_val *first, yyjson_val *other)
{
    return first != NULL ? first : other;
}

/* Finds the URL and line that an event worked on, or else those of its caller. */
static bool find_place(struct fp_st_dump *dump, struct record_reading *reading)
{
    struct fp_profile_event *event = &reading->event;
    yyjson_val *const *data_members = reading->data_members;
    yyjson_val *url = either(data_members[URL], data_members[SCRIPT_NAME]);
    yyjson_val *line = either(data_members[LINE_NUMBER], data_members[SCRIPT_LINE]);
    if (url == NULL && data_members[REQUEST] != NULL)
        url = fp_json_member(data_members[REQUEST], FP_STR("url"));
    if (url == NULL && data_members[RESPONSE] != NULL)
        url = fp_json_member(data_members[RESPONSE], FP_STR("url"));
    if (url == NULL) {
        url = reading->members[CALLER_NAME];
        line = reading->members[CALLER_LINE];
    }
    if (url == NULL && reading->members[STACK_TRACE] != NULL) {
        yyjson_val *frame = yyjson_arr_get_first(reading->members[STACK_TRACE]);
        url = either(fp_json_member(frame, FP_STR("url")),
                     fp_json_member(frame, FP_STR("scriptName")));
        line = fp_json_member(frame, FP_STR("lineNumber"));
    }
    (void)get_int(line, 0, &event->line);
    const struct fp_str text = fp_json_text(url);
    return fp_st_add_resource(dump, text, &event->resource);
}

static struct fp_str url_of(const struct fp_st_dump *dump, const struct fp_profile_event *event)
{
    return event->resource != FP_INDEX_NONE ? dump->decoder->profile->resources[event->resource]
                                            : FP_STR("");
}

/* Events. */

static bool fail_limit(struct fp_st_dump *dump)
{
    fp_upload_fail(dump->decoder->error, FP_VERDICT_TOO_LARGE,
                   "the dump has more than %u events (limits.entries)",
                   (unsigned)dump->decoder->limits->entries);
    return fp_st_fail_at_record(dump);
}

static bool add_event(struct fp_st_dump *dump, struct fp_profile_event *event)
{
    struct fp_profile *profile = dump->decoder->profile;
    if (profile->event_count >= dump->decoder->limits->entries)
        return fail_limit(dump);
    profile->events = fp_st_grow(dump->decoder->arena, profile->events, profile->event_count,
                                 &dump->event_cap, sizeof(*event));
    if (profile->events == NULL)
        return fp_fail_memory(dump->decoder);
    event->id = profile->event_count + 1;
    profile->events[profile->event_count++] = *event;
    return true;
}

/* Keeps a fact in the content, unless the record says it already or has no data. */
static bool keep_fact(struct fp_st_dump *dump, const struct record_reading *reading,
                      struct fp_str name, bool value)
{
    yyjson_val *data = reading->members[DATA];
    if (data == NULL || yyjson_is_bool(fp_json_member(data, name)))
        return true;
    dump->facts = fp_st_grow(dump->decoder->arena, dump->facts, dump->fact_count, &dump->fact_cap,
                             sizeof(*dump->facts));
    if (dump->facts == NULL)
        return fp_fail_memory(dump->decoder);
    dump->facts[dump->fact_count++] = (struct fp_st_fact){reading->record, name, value};
    return true;
}

/* True if a change of page shows the same page again: its URL without the fragment is the same. */
static bool shows_same_page(struct fp_st_dump *dump, const struct record_reading *reading)
{
    struct fp_str page = url_of(dump, &reading->event);
    const char *fragment = page.len > 0 ? memchr(page.ptr, '#', page.len) : NULL;
    if (fragment != NULL)
        page.len = (size_t)(fragment - page.ptr);
    bool is_same =
        page.len > 0 && dump->shown_page.ptr != NULL && fp_str_equal(page, dump->shown_page);
    dump->shown_page = page;
    return is_same;
}

/* Finds whether a change of page is a refresh. In an exported dump the record says it, because URLs
 * there lack what tells them apart. */
static bool find_refresh(struct fp_st_dump *dump, const struct record_reading *reading,
                         bool *is_refresh)
{
    const struct fp_str name = FP_STR("isRefresh");
    yyjson_val *said = fp_json_member(reading->members[DATA], name);
    bool is_first = dump->shown_page.ptr == NULL;
    *is_refresh = false;
    if (reading->event.type_number != FP_ST_TYPE_TAB_CHANGED)
        return true;
    *is_refresh = shows_same_page(dump, reading);
    if (yyjson_is_bool(said))
        *is_refresh = yyjson_get_bool(said);
    return is_first || keep_fact(dump, reading, name, *is_refresh);
}

static bool starts_request(const struct record_reading *reading)
{
    switch (reading->event.type_number) {
    case FP_ST_TYPE_RESOURCE_START:
    case FP_ST_TYPE_RESOURCE_UPDATE:
    case FP_ST_TYPE_REQUEST_WILL_BE_SENT:
        return true;
    default:
        return false;
    }
}

/* Finds whether the URL of a request has a query. An exported dump says it. */
static bool find_query(struct fp_st_dump *dump, const struct record_reading *reading,
                       bool *has_query)
{
    const struct fp_str name = FP_STR("hasQuery");
    const struct fp_str url = url_of(dump, &reading->event);
    *has_query =
        starts_request(reading) && (yyjson_is_true(fp_json_member(reading->members[DATA], name)) ||
                                    (url.len > 0 && memchr(url.ptr, '?', url.len) != NULL));
    return !*has_query || keep_fact(dump, reading, name, true);
}

/* True if the record's sequence is one above that of another. */
static bool follows(const struct record_reading *reading, uint64_t last_sequence)
{
    return yyjson_get_uint(reading->members[SEQUENCE]) - 1 == last_sequence;
}

static bool belongs_to_event(const struct record_reading *reading)
{
    yyjson_val *const *data = reading->data_members;
    return reading->event.type_number == FP_ST_TYPE_PROFILE_DATA &&
           !yyjson_is_true(either(data[IS_ORPHANED], data[ORPHAN])) &&
           yyjson_is_uint(reading->members[SEQUENCE]);
}

/* True if a profile is the first of its part and belongs to the last record of the part before. */
static bool is_of_earlier(const struct fp_st_dump *dump, const struct record_reading *reading)
{
    return dump->decoder->profile->event_count == 0 && dump->before.event_count > 0 &&
           belongs_to_event(reading) && follows(reading, dump->before.sequence);
}

/* Finds the id of the event that a profile belongs to: the record with the sequence before its own.
 * False if it is unknown. */
static bool find_profiled(const struct fp_st_dump *dump, const struct record_reading *reading,
                          int64_t *event_id)
{
    bool is_earlier = is_of_earlier(dump, reading);
    *event_id = is_earlier ? dump->before.id : dump->last_event;
    return is_earlier || (dump->last_event > 0 && belongs_to_event(reading) &&
                          follows(reading, dump->last_sequence));
}

/* True if a profile may belong to the last record of the part before, which is lost. */
static bool has_lost_event(const struct fp_st_dump *dump, const struct record_reading *reading)
{
    return dump->before.is_lost && dump->decoder->profile->event_count == 0 &&
           belongs_to_event(reading);
}

static int64_t take(int64_t own_us, int64_t *left_us)
{
    int64_t taken_us = own_us < *left_us ? own_us : *left_us;
    if (taken_us < 0)
        taken_us = 0;
    *left_us -= taken_us;
    return taken_us;
}

/* Takes time from the events of the part before, which have counted it there. */
static bool take_earlier(struct fp_st_dump *dump, int64_t left_us)
{
    struct fp_profile *profile = dump->decoder->profile;
    struct fp_arena *arena = dump->decoder->arena;
    const struct fp_st_last *before = &dump->before;
    profile->earlier_events =
        fp_arena_array(arena, before->event_count, sizeof(*profile->earlier_events));
    if (profile->earlier_events == NULL)
        return fp_fail_memory(dump->decoder);
    for (; left_us > 0 && profile->earlier_event_count < before->event_count;) {
        const struct fp_st_last_event *last = &before->events[profile->earlier_event_count];
        struct fp_profile_event *event = &profile->earlier_events[profile->earlier_event_count++];
        *event = (struct fp_profile_event){
            .parent = last->parent,
            .type_number = last->type_number,
            .line = last->line,
            .sampled_us = take(last->own_us, &left_us),
        };
        if (!fp_st_add_resource(dump, last->url, &event->resource))
            return false;
        if (!fp_arena_copy(arena, last->type, &event->type))
            return fp_fail_memory(dump->decoder);
    }
    return true;
}

/* Takes the time of a profile's ticks from the own time of the event that it belongs to, and of the
 * events inside, so that it counts once. */
static bool take_sampled(struct fp_st_dump *dump, const struct record_reading *reading,
                         uint32_t first_sample)
{
    struct fp_profile *profile = dump->decoder->profile;
    int64_t event_id;
    int64_t left_us = 0;
    if (has_lost_event(dump, reading))
        profile->session.is_detached = true;
    if (!find_profiled(dump, reading, &event_id))
        return true;
    for (uint32_t i = first_sample; i < profile->sample_count; i++)
        left_us += profile->weights_us[i];
    if (event_id <= 0)
        return take_earlier(dump, left_us);
    for (uint32_t i = (uint32_t)event_id - 1; left_us > 0 && i < profile->event_count; i++)
        profile->events[i].sampled_us = take(profile->events[i].self_us, &left_us);
    return true;
}

/* Reads the V8 profile that the record may be. */
static bool read_profile(struct fp_st_dump *dump, struct record_reading *reading)
{
    if (reading->event.type_number != FP_ST_TYPE_PROFILE_DATA)
        return true;
    yyjson_val *text = reading->data_members[PROFILE_DATA];
    if (!yyjson_is_str(text) || !yyjson_equals_str(reading->data_members[FORMAT], "v8")) {
        fp_st_add_note(dump, FP_ST_NOTE_UNKNOWN_PROFILE);
        return true;
    }
    if (dump->v8 == NULL && !fp_st_v8_create(dump))
        return false;
    const struct fp_str log = fp_json_text(text);
    const uint32_t first_sample = dump->decoder->profile->sample_count;
    reading->is_read_profile = true;
    return fp_st_v8_read(dump, log, reading->event.start_us) &&
           take_sampled(dump, reading, first_sample);
}

static bool copy_detail(struct fp_st_dump *dump, struct record_reading *reading)
{
    bool is_refresh;
    bool has_query;
    if (!find_refresh(dump, reading, &is_refresh) || !find_query(dump, reading, &has_query))
        return false;
    struct fp_st_detail_source source = {
        .record = reading->record,
        .data = reading->members[DATA],
        .type = reading->event.type_number,
        .source_type = reading->source_type,
        .is_refresh = is_refresh,
        .has_query = has_query,
        .is_read_profile = reading->is_read_profile,
        .timer = fp_st_find_timer(dump, reading->event.type_number, reading->members[DATA]),
    };
    source.is_tied = find_profiled(dump, reading, &source.profiled_event);
    if (!fp_st_write_detail(dump, &source))
        return fp_fail_memory(dump->decoder);
    const struct fp_str text = {(const char *)dump->detail.data, dump->detail.len};
    if (text.len <= 2) /* {} */
        return true;
    return fp_arena_copy(dump->decoder->arena, text, &reading->event.detail) ||
           fp_fail_memory(dump->decoder);
}

/* Adds a mark for a record that is one. Its page is known at the end of the dump. */
static bool add_mark(struct fp_st_dump *dump, const struct record_reading *reading)
{
    struct fp_st_mark mark = {.event = dump->decoder->profile->event_count};
    switch (reading->event.type_number) {
    case FP_ST_TYPE_MARK_DOM_CONTENT:
        mark.name = FP_STR("domContentLoaded");
        break;
    case FP_ST_TYPE_MARK_LOAD_EVENT:
        mark.name = FP_STR("load");
        break;
    case FP_ST_TYPE_LOG_MESSAGE:
        if (!copy_text(dump, reading->data_members[MESSAGE], &mark.name))
            return false;
        break;
    default:
        break;
    }
    if (mark.name.len == 0)
        return true;
    dump->marks = fp_st_grow(dump->decoder->arena, dump->marks, dump->mark_count, &dump->mark_cap,
                             sizeof(mark));
    if (dump->marks == NULL)
        return fp_fail_memory(dump->decoder);
    dump->marks[dump->mark_count++] = mark;
    return true;
}

static void set_main_resource(struct fp_st_dump *dump, const struct record_reading *reading)
{
    if (dump->main_resource == FP_INDEX_NONE && reading->event.resource != FP_INDEX_NONE &&
        yyjson_is_true(
            either(reading->data_members[IS_MAIN_RESOURCE], reading->data_members[MAIN_RESOURCE])))
        dump->main_resource = reading->event.resource;
}

static bool fill_event(struct fp_st_dump *dump, struct record_reading *reading)
{
    struct fp_profile_event *event = &reading->event;
    event->self_us = event->duration_us > 0 ? event->duration_us : 0;
    event->child_count = (uint32_t)yyjson_arr_size(reading->members[CHILDREN]);
    int64_t overhead_us = 0;
    if (fp_time_of(reading->members[OVERHEAD], &overhead_us) && overhead_us > 0 &&
        overhead_us <= dump->decoder->limits->max_span_us)
        event->overhead_us = overhead_us;
    note_oddities(dump, reading);
    const struct fp_st_raw_type raw = {
        .type = reading->source_type,
        .data = reading->members[DATA],
        .type_name = reading->members[TYPE_NAME],
        .has_duration = reading->members[DURATION] != NULL,
    };
    if (!fp_st_set_type(dump, &raw, event) || !find_place(dump, reading) ||
        !read_profile(dump, reading) || !copy_detail(dump, reading))
        return false;
    set_main_resource(dump, reading);
    return fp_st_add_timer(dump, event->type_number, reading->members[DATA]) &&
           add_mark(dump, reading) && add_event(dump, event);
}

bool fp_st_is_raw_message(yyjson_val *value)
{
    const char *method = yyjson_get_str(yyjson_obj_get(value, "method"));
    return method != NULL && strchr(method, '.') != NULL && yyjson_obj_get(value, "type") == NULL;
}

static bool fail_raw_message(const struct fp_st_dump *dump)
{
    fp_upload_fail(dump->decoder->error, FP_VERDICT_UNSUPPORTED, FP_ST_RAW_MESSAGE);
    return fp_st_fail_at_record(dump);
}

static bool read_nested(struct fp_st_dump *dump, yyjson_val *record, uint32_t parent,
                        int64_t *duration_us);

/* Reads the children of a record, and subtracts their time from the own time of their parent: the
 * record's event or, if that is skipped, the event around it; FP_INDEX_NONE: none. */
static bool read_children(struct fp_st_dump *dump, yyjson_val *children, uint32_t parent)
{
    size_t i;
    size_t count;
    yyjson_val *child;
    if (children == NULL)
        return true;
    yyjson_arr_foreach(children, i, count, child)
    {
        int64_t duration_us = 0;
        if (!read_nested(dump, child, parent, &duration_us))
            return false;
        struct fp_profile_event *events = dump->decoder->profile->events;
        if (parent != FP_INDEX_NONE && events[parent].duration_us != FP_DURATION_NONE)
            events[parent].self_us -= duration_us;
    }
    return true;
}

/* Reads one record and its children. *duration_us is unchanged if it has none or is skipped; the
 * children of a skipped record become those of the event around it. */
static bool read_nested(struct fp_st_dump *dump, yyjson_val *record, uint32_t parent,
                        int64_t *duration_us)
{
    struct record_reading reading = {
        .record = record,
        .source_type = FP_ST_TYPE_INVALID,
        .event = {.parent = parent,
                  .hits = 1,
                  .duration_us = FP_DURATION_NONE,
                  .resource = FP_INDEX_NONE,
                  .line = FP_POSITION_NONE},
    };
    struct fp_profile *profile = dump->decoder->profile;
    enum fp_st_note refusal = read_valid(&reading, dump->decoder->limits->max_span_us);
    profile->session.records_read++;
    if (reading.members[TYPE] == NULL && fp_st_is_raw_message(record))
        return fail_raw_message(dump);
    if (refusal != FP_ST_NOTE_REFUSALS) {
        fp_st_add_note(dump, refusal);
        return read_children(dump, fp_json_member(record, FP_STR("children")), parent);
    }
    const uint32_t index = profile->event_count;
    if (!fill_event(dump, &reading))
        return false;
    profile->session.records_kept++;
    if (reading.event.duration_us != FP_DURATION_NONE)
        *duration_us = reading.event.duration_us;
    if (!read_children(dump, reading.members[CHILDREN], index))
        return false;
    if (profile->events[index].self_us < 0)
        fp_st_add_note(dump, FP_ST_NOTE_NEGATIVE_SELF);
    return true;
}

/* The content. */

static void add_with_facts(struct fp_st_dump *dump, yyjson_val *record, uint32_t *next);

static void add_records(struct fp_st_dump *dump, yyjson_val *records, uint32_t *next)
{
    size_t i;
    size_t count;
    yyjson_val *record;
    fp_content_add(dump->decoder, FP_STR("["));
    yyjson_arr_foreach(records, i, count, record)
    {
        if (i > 0)
            fp_content_add(dump->decoder, FP_STR(","));
        add_with_facts(dump, record, next);
    }
    fp_content_add(dump->decoder, FP_STR("]"));
}

/* Appends a record's data, and a fact as its last member, which wins over another of that name. */
static void add_data(struct fp_st_dump *dump, yyjson_val *data, const struct fp_st_fact *fact)
{
    struct fp_decoder *decoder = dump->decoder;
    size_t i;
    size_t count;
    yyjson_val *key;
    yyjson_val *value;
    fp_content_add(decoder, FP_STR("{"));
    yyjson_obj_foreach(data, i, count, key, value)
    {
        fp_content_add_value(decoder, key);
        fp_content_add(decoder, FP_STR(":"));
        fp_content_add_value(decoder, value);
        fp_content_add(decoder, FP_STR(","));
    }
    fp_content_add(decoder, FP_STR("\""));
    fp_content_add(decoder, fact->name);
    fp_content_add(decoder, fact->value ? FP_STR("\":true}") : FP_STR("\":false}"));
}

/* Appends a record with the facts about it and its children, of which the first is *next. */
static void add_with_facts(struct fp_st_dump *dump, yyjson_val *record, uint32_t *next)
{
    struct fp_decoder *decoder = dump->decoder;
    size_t i;
    size_t count;
    yyjson_val *key;
    yyjson_val *value;
    if (!yyjson_is_obj(record)) {
        fp_content_add_value(decoder, record);
        return;
    }
    const struct fp_st_fact *fact = NULL;
    if (*next < dump->fact_count && dump->facts[*next].record == record)
        fact = &dump->facts[(*next)++];
    fp_content_add(decoder, FP_STR("{"));
    yyjson_obj_foreach(record, i, count, key, value)
    {
        const struct fp_str name = fp_json_text(key);
        if (i > 0)
            fp_content_add(decoder, FP_STR(","));
        fp_content_add_value(decoder, key);
        fp_content_add(decoder, FP_STR(":"));
        if (fp_st_name_is(name, member_names[CHILDREN]) && yyjson_is_arr(value))
            add_records(dump, value, next);
        else if (fact != NULL && fp_st_name_is(name, member_names[DATA]) && yyjson_is_obj(value))
            add_data(dump, value, fact);
        else
            fp_content_add_value(decoder, value);
    }
    fp_content_add(decoder, FP_STR("}"));
}

static void add_content(struct fp_st_dump *dump, yyjson_val *record)
{
    uint32_t next = 0;
    fp_content_add(dump->decoder, dump->before_record);
    if (dump->fact_count > 0)
        add_with_facts(dump, record, &next);
    else if (dump->text.len > 0)
        fp_content_add(dump->decoder, dump->text);
    else
        fp_content_add_value(dump->decoder, record);
    dump->before_record = dump->is_post ? FP_STR(",\n") : FP_STR("\n");
}

/* Remembers a top-level record for the profile that may follow it. */
static void remember_sequence(struct fp_st_dump *dump, yyjson_val *record, uint32_t index)
{
    const struct fp_profile_event *event = &dump->decoder->profile->events[index];
    yyjson_val *sequence = fp_json_member(record, member_names[SEQUENCE]);
    bool is_ui = yyjson_is_uint(sequence) && event->duration_us != FP_DURATION_NONE;
    dump->last_sequence = yyjson_get_uint(sequence);
    dump->last_event = is_ui ? event->id : 0;
}

bool fp_st_read_record(struct fp_st_dump *dump, yyjson_val *record)
{
    const struct fp_profile *profile = dump->decoder->profile;
    const uint32_t index = profile->event_count;
    int64_t duration_us;
    dump->fact_count = 0;
    if (!read_nested(dump, record, FP_INDEX_NONE, &duration_us))
        return false;
    if (profile->event_count == index)
        return true;
    add_content(dump, record);
    if (index > 0 && profile->events[index].start_us < dump->last_start_us)
        fp_st_add_note(dump, FP_ST_NOTE_TIME_BACKWARDS);
    dump->last_start_us = profile->events[index].start_us;
    remember_sequence(dump, record, index);
    return true;
}
