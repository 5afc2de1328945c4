/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, query: reads the messages Session and GetEventsArg.
 */
#include "collector/format/opera_scope/query.h"
#include "collector/base/hash.h"

/* Drafts of the service called a session a profile. */
bool fp_scope_check_draft(struct fp_decoder *decoder, const struct fp_place *place,
                          yyjson_val *value)
{
    return yyjson_obj_get(value, "profileID") == NULL ||
           fp_fail_at(
               decoder, FP_VERDICT_INVALID, place,
               "profileID is of a draft of the service before 1.0; drafts are not supported");
}

static bool read_message(struct fp_scope *scope, const struct fp_place *place, yyjson_val *value,
                         const struct fp_scope_type *type, struct fp_scope_message *message)
{
    if (!fp_scope_read_message(value, type, message))
        return fp_fail_at(scope->decoder, FP_VERDICT_INVALID, place,
                          "this must be a message: a list, or an object by field names");
    return fp_scope_check_draft(scope->decoder, place, value);
}

/* Reads a required id. */
static bool read_id(struct fp_scope *scope, const struct fp_place *place,
                    const struct fp_scope_message *message, size_t field, uint32_t *id)
{
    *id = 0;
    if (!fp_scope_read_uint(scope->decoder, place, message, field, id))
        return false;
    return *id != 0 ||
           fp_fail_at(scope->decoder, FP_VERDICT_INVALID, place,
                      "%s is missing; it is a number from 1", message->type->fields[field]);
}

/* Reads a repeated field; absent: *list is NULL. */
static bool read_repeated(struct fp_scope *scope, const struct fp_place *place,
                          const struct fp_scope_message *message, size_t field, yyjson_val **list)
{
    const struct fp_format_limits *limits = scope->decoder->limits;
    const struct fp_place at = fp_scope_field_place(message, place, field);
    *list = message->fields[field];
    if (*list == NULL)
        return true;
    if (!yyjson_is_arr(*list))
        return fp_fail_at(scope->decoder, FP_VERDICT_INVALID, &at, "%s must be a list",
                          message->type->fields[field]);
    if (yyjson_arr_size(*list) > limits->entries)
        return fp_fail_at(scope->decoder, FP_VERDICT_TOO_LARGE, &at,
                          "%s has %zu elements; at most %u are allowed (limits.entries)",
                          message->type->fields[field], yyjson_arr_size(*list),
                          (unsigned)limits->entries);
    return true;
}

static bool set_session_id(struct fp_scope *scope, const struct fp_place *place, uint32_t id)
{
    struct fp_profile_session *session = &scope->decoder->profile->session;
    if (session->id != 0 && session->id != id)
        return fp_fail_at(scope->decoder, FP_VERDICT_INVALID, place,
                          "this is of session %u, and session %u was before it; an upload holds "
                          "one session",
                          (unsigned)id, (unsigned)session->id);
    session->id = id;
    return true;
}

static bool read_timeline(struct fp_scope *scope, const struct fp_place *place, yyjson_val *value)
{
    struct fp_scope_message timeline;
    uint32_t id;
    uint32_t frame_id = 0;
    if (!read_message(scope, place, value, &fp_scope_timeline_type, &timeline) ||
        !read_id(scope, place, &timeline, FP_SCOPE_TIMELINE_ID, &id) ||
        !fp_scope_read_uint(scope->decoder, place, &timeline, FP_SCOPE_FRAME_ID, &frame_id))
        return false;
    uint32_t at = fp_map_put(&scope->timelines, id, scope->frame_count);
    if (at == FP_MAP_NONE)
        return fp_fail_memory(scope->decoder);
    if (at == scope->frame_count)
        scope->frame_ids[scope->frame_count++] = frame_id;
    return true;
}

static bool read_timelines(struct fp_scope *scope, const struct fp_place *place, yyjson_val *list)
{
    scope->frame_ids =
        fp_arena_array(scope->decoder->arena, yyjson_arr_size(list), sizeof(*scope->frame_ids));
    if (scope->frame_ids == NULL)
        return fp_fail_memory(scope->decoder);
    fp_map_clear(&scope->timelines);
    scope->frame_count = 0;
    struct fp_place at = {.parent = place};
    yyjson_arr_iter timelines = yyjson_arr_iter_with(list);
    yyjson_val *timeline;
    for (; (timeline = yyjson_arr_iter_next(&timelines)) != NULL; at.index++)
        if (!read_timeline(scope, &at, timeline))
            return false;
    return true;
}

bool fp_scope_read_session(struct fp_scope *scope, const struct fp_place *place, yyjson_val *value)
{
    struct fp_scope_message session;
    uint32_t id;
    yyjson_val *timelines;
    if (!read_message(scope, place, value, &fp_scope_session_type, &session) ||
        !read_id(scope, place, &session, FP_SCOPE_SESSION_ID, &id) ||
        !set_session_id(scope, place, id) ||
        !fp_scope_read_uint(scope->decoder, place, &session, FP_SCOPE_WINDOW_ID,
                            &scope->decoder->profile->session.window_id) ||
        !read_repeated(scope, place, &session, FP_SCOPE_TIMELINES, &timelines))
        return false;
    const struct fp_place at = fp_scope_field_place(&session, place, FP_SCOPE_TIMELINES);
    return read_timelines(scope, &at, timelines);
}

/* Queries. */

static bool read_mode(struct fp_scope *scope, const struct fp_place *place,
                      const struct fp_scope_message *request, enum fp_reduce_mode *mode)
{
    uint32_t number = FP_REDUCE_ALL_EVENTS;
    if (!fp_scope_read_uint(scope->decoder, place, request, FP_SCOPE_REQUEST_MODE, &number))
        return false;
    if (number < FP_REDUCE_ALL_EVENTS || number > FP_REDUCE_ALL) {
        const struct fp_place at = fp_scope_field_place(request, place, FP_SCOPE_REQUEST_MODE);
        return fp_fail_at(scope->decoder, FP_VERDICT_INVALID, &at,
                          "mode is %u; it must be 1 to %d, or absent for 1", (unsigned)number,
                          FP_REDUCE_ALL);
    }
    *mode = (enum fp_reduce_mode)number;
    return true;
}

/* Which of a timeline's events are requested, in a form that does not depend on how the request is
 * written. */
struct filter {
    uint32_t event;
    uint64_t max_depth; /* UINT64_MAX: all */
    int64_t start_us;   /* INT64_MIN: open */
    int64_t end_us;     /* INT64_MAX: open */
    uint32_t *types;    /* sorted, each once; none: all */
    size_t type_count;
};

static int compare_types(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static void sort_types(struct filter *filter)
{
    size_t kept = 0;
    if (filter->type_count == 0)
        return;
    qsort(filter->types, filter->type_count, sizeof(*filter->types), compare_types);
    for (size_t i = 1; i < filter->type_count; i++)
        if (filter->types[i] != filter->types[kept])
            filter->types[++kept] = filter->types[i];
    filter->type_count = kept + 1;
}

static bool read_types(struct fp_scope *scope, const struct fp_place *place,
                       const struct fp_scope_message *request, struct filter *filter)
{
    yyjson_val *list;
    if (!read_repeated(scope, place, request, FP_SCOPE_REQUEST_TYPES, &list))
        return false;
    if (list == NULL)
        return true;
    filter->types =
        fp_arena_array(scope->decoder->arena, yyjson_arr_size(list), sizeof(*filter->types));
    if (filter->types == NULL)
        return fp_fail_memory(scope->decoder);
    const struct fp_place types = fp_scope_field_place(request, place, FP_SCOPE_REQUEST_TYPES);
    struct fp_place at = {.parent = &types};
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    yyjson_val *type;
    for (; (type = yyjson_arr_iter_next(&iter)) != NULL; at.index++)
        if (!fp_scope_get_uint(type, &filter->types[filter->type_count++]))
            return fp_fail_at(scope->decoder, FP_VERDICT_INVALID, &at,
                              "a type of event must be a whole number from 0");
    sort_types(filter);
    return true;
}

static bool read_bounds(struct fp_scope *scope, const struct fp_place *place,
                        const struct fp_scope_message *request, struct filter *filter)
{
    struct fp_scope_message interval;
    yyjson_val *value = request->fields[FP_SCOPE_REQUEST_INTERVAL];
    if (value == NULL)
        return true;
    if (fp_scope_read_message(value, &fp_scope_interval_type, &interval)) {
        yyjson_val *start = interval.fields[FP_SCOPE_INTERVAL_START];
        yyjson_val *end = interval.fields[FP_SCOPE_INTERVAL_END];
        if ((start == NULL || fp_time_of(start, &filter->start_us)) &&
            (end == NULL || fp_time_of(end, &filter->end_us)))
            return true;
    }
    const struct fp_place at = fp_scope_field_place(request, place, FP_SCOPE_REQUEST_INTERVAL);
    return fp_fail_at(scope->decoder, FP_VERDICT_INVALID, &at,
                      "interval must be a message of start and end, in milliseconds");
}

static bool read_filter(struct fp_scope *scope, const struct fp_place *place,
                        const struct fp_scope_message *request, struct filter *filter)
{
    uint32_t depth = 0;
    *filter = (struct filter){.max_depth = UINT64_MAX, .start_us = INT64_MIN, .end_us = INT64_MAX};
    if (!fp_scope_read_uint(scope->decoder, place, request, FP_SCOPE_REQUEST_EVENT,
                            &filter->event) ||
        !fp_scope_read_uint(scope->decoder, place, request, FP_SCOPE_REQUEST_DEPTH, &depth))
        return false;
    if (request->fields[FP_SCOPE_REQUEST_DEPTH] != NULL)
        filter->max_depth = depth;
    return read_types(scope, place, request, filter) && read_bounds(scope, place, request, filter);
}

/* Returns the query's key: queries with the same key request the same events. */
static uint64_t hash_query(const struct fp_scope_query *query, const struct filter *filter)
{
    const uint64_t numbers[] = {query->timeline_id,
                                query->mode,
                                filter->event,
                                filter->max_depth,
                                (uint64_t)filter->start_us,
                                (uint64_t)filter->end_us};
    const struct fp_str types = {(const char *)filter->types,
                                 filter->type_count * sizeof(*filter->types)};
    return fp_hash_fields(&(struct fp_hash_input){'q', numbers, FP_COUNT(numbers), &types, 1});
}

bool fp_scope_read_query(struct fp_scope *scope, const struct fp_place *place, yyjson_val *value,
                         struct fp_scope_query *query)
{
    struct fp_scope_message request;
    struct filter filter;
    *query = (struct fp_scope_query){.session_id = 0};
    if (!read_message(scope, place, value, &fp_scope_request_type, &request) ||
        !fp_scope_read_uint(scope->decoder, place, &request, FP_SCOPE_REQUEST_SESSION,
                            &query->session_id) ||
        !read_id(scope, place, &request, FP_SCOPE_REQUEST_TIMELINE, &query->timeline_id) ||
        !read_mode(scope, place, &request, &query->mode) ||
        !read_filter(scope, place, &request, &filter))
        return false;
    query->event_id = filter.event;
    query->key = hash_query(query, &filter);
    return true;
}

/* An Events message has a list in the place of the timeline. */
bool fp_scope_is_request(yyjson_val *value)
{
    struct fp_scope_message request;
    return fp_scope_read_message(value, &fp_scope_request_type, &request) &&
           yyjson_is_num(request.fields[FP_SCOPE_REQUEST_TIMELINE]);
}

bool fp_scope_set_query_session(struct fp_scope *scope, const struct fp_place *place,
                                const struct fp_scope_query *query)
{
    if (query->session_id != 0)
        return set_session_id(scope, place, query->session_id);
    return scope->decoder->profile->session.id != 0 ||
           fp_fail_at(scope->decoder, FP_VERDICT_INVALID, place,
                      "nothing says whose events these are: there is no sessionID in the request, "
                      "and no Session");
}
