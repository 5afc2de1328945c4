/*
 * Opera Scope, query: whose timelines these are (Session), and which of their events were asked for
 * (GetEventsArg).
 */
#include "collector/base/hash.h"
#include "collector/format/opera_scope_parts.h"

enum { FILTER_FIELDS = FP_SCOPE_REQUEST_INTERVAL - FP_SCOPE_REQUEST_EVENT + 1 };

/* Reads a message; drafts of the service called a session a profile. */
static bool read_message(struct fp_scope *scope, const struct fp_place *place, yyjson_val *value,
                         const struct fp_scope_type *type, struct fp_scope_message *message)
{
    if (!fp_scope_read(value, type, message))
        return fp_fail_at(scope->decoder, FP_FORMAT_INVALID, place,
                          "this must be a message: a list, or an object by field names");
    if (!message->is_list && yyjson_obj_get(value, "profileID") != NULL)
        return fp_fail_at(scope->decoder, FP_FORMAT_INVALID, place,
                          "profileID is of a draft of the service before 1.0; drafts are not "
                          "taken");
    return true;
}

/* Reads an id that must be there. */
static bool read_id(struct fp_scope *scope, const struct fp_place *place,
                    const struct fp_scope_message *message, size_t field, uint32_t *id)
{
    *id = 0;
    if (!fp_scope_read_uint(scope->decoder, place, message, field, id))
        return false;
    return *id != 0 ||
           fp_fail_at(scope->decoder, FP_FORMAT_INVALID, place,
                      "%s is missing; it is a number from 1", message->type->fields[field]);
}

/* A repeated field; absent: *list is NULL. */
static bool read_repeated(struct fp_scope *scope, const struct fp_place *place,
                          const struct fp_scope_message *message, size_t field, yyjson_val **list)
{
    const struct fp_format_limits *limits = scope->decoder->limits;
    const struct fp_place at = fp_scope_field_place(message, place, field);
    *list = message->fields[field];
    if (*list != NULL && !yyjson_is_arr(*list))
        return fp_fail_at(scope->decoder, FP_FORMAT_INVALID, &at, "%s must be a list",
                          message->type->fields[field]);
    if (yyjson_arr_size(*list) > limits->entries)
        return fp_fail_at(scope->decoder, FP_FORMAT_TOO_LARGE, &at,
                          "%s has %zu elements; at most %u are taken (limits.entries)",
                          message->type->fields[field], yyjson_arr_size(*list),
                          (unsigned)limits->entries);
    return true;
}

static bool set_session_id(struct fp_scope *scope, const struct fp_place *place, uint32_t id)
{
    struct fp_profile_session *session = &scope->decoder->profile->session;
    if (session->id != 0 && session->id != id)
        return fp_fail_at(scope->decoder, FP_FORMAT_INVALID, place,
                          "this is of session %u, and session %u was before it; an upload holds "
                          "one session",
                          (unsigned)id, (unsigned)session->id);
    session->id = id;
    return true;
}

static bool take_timeline(struct fp_scope *scope, const struct fp_place *place, yyjson_val *value)
{
    struct fp_scope_message timeline;
    uint32_t id;
    uint32_t frame_id = 0;
    if (!read_message(scope, place, value, &fp_scope_timeline, &timeline) ||
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

static bool take_timelines(struct fp_scope *scope, const struct fp_place *place, yyjson_val *list)
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
        if (!take_timeline(scope, &at, timeline))
            return false;
    return true;
}

bool fp_scope_take_session(struct fp_scope *scope, const struct fp_place *place, yyjson_val *value)
{
    struct fp_scope_message session;
    uint32_t id;
    yyjson_val *timelines;
    if (!read_message(scope, place, value, &fp_scope_session, &session) ||
        !read_id(scope, place, &session, FP_SCOPE_SESSION_ID, &id) ||
        !set_session_id(scope, place, id) ||
        !fp_scope_read_uint(scope->decoder, place, &session, FP_SCOPE_WINDOW_ID,
                            &scope->decoder->profile->session.window_id) ||
        !read_repeated(scope, place, &session, FP_SCOPE_TIMELINES, &timelines))
        return false;
    const struct fp_place at = fp_scope_field_place(&session, place, FP_SCOPE_TIMELINES);
    return take_timelines(scope, &at, timelines);
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
        return fp_fail_at(scope->decoder, FP_FORMAT_INVALID, &at,
                          "mode is %u; it must be 1 to %d, or absent for 1", (unsigned)number,
                          FP_REDUCE_ALL);
    }
    *mode = (enum fp_reduce_mode)number;
    return true;
}

/* A hash of what was asked for; what is absent is empty. */
static bool hash_query(struct fp_scope *scope, const struct fp_scope_message *request,
                       struct fp_scope_query *query)
{
    const uint64_t numbers[] = {query->timeline_id, query->mode};
    struct fp_str texts[FILTER_FIELDS] = {{NULL, 0}};
    char *written[FILTER_FIELDS] = {NULL};
    bool complete = true;
    for (size_t i = 0; i < FILTER_FIELDS; i++) {
        yyjson_val *value = request->fields[FP_SCOPE_REQUEST_EVENT + i];
        if (value == NULL || (yyjson_is_arr(value) && yyjson_arr_size(value) == 0))
            continue;
        written[i] = yyjson_val_write(value, YYJSON_WRITE_NOFLAG, &texts[i].len);
        texts[i].ptr = written[i];
        complete = complete && written[i] != NULL;
    }
    if (complete)
        query->key = fp_hash_fields(&(struct fp_hash_input){'q', numbers, 2, texts, FILTER_FIELDS});
    for (size_t i = 0; i < FILTER_FIELDS; i++)
        free(written[i]);
    return complete || fp_fail_memory(scope->decoder);
}

/* Checks what the filter is made of, which only matters as a whole. */
static bool check_filter(struct fp_scope *scope, const struct fp_place *place,
                         const struct fp_scope_message *request)
{
    uint32_t number;
    yyjson_val *types;
    return fp_scope_read_uint(scope->decoder, place, request, FP_SCOPE_REQUEST_EVENT, &number) &&
           fp_scope_read_uint(scope->decoder, place, request, FP_SCOPE_REQUEST_DEPTH, &number) &&
           read_repeated(scope, place, request, FP_SCOPE_REQUEST_TYPES, &types);
}

bool fp_scope_read_query(struct fp_scope *scope, const struct fp_place *place, yyjson_val *value,
                         struct fp_scope_query *query)
{
    struct fp_scope_message request;
    *query = (struct fp_scope_query){.session_id = 0};
    return read_message(scope, place, value, &fp_scope_request, &request) &&
           fp_scope_read_uint(scope->decoder, place, &request, FP_SCOPE_REQUEST_SESSION,
                              &query->session_id) &&
           read_id(scope, place, &request, FP_SCOPE_REQUEST_TIMELINE, &query->timeline_id) &&
           read_mode(scope, place, &request, &query->mode) &&
           check_filter(scope, place, &request) && hash_query(scope, &request, query);
}

bool fp_scope_take_query_session(struct fp_scope *scope, const struct fp_place *place,
                                 const struct fp_scope_query *query)
{
    if (query->session_id != 0)
        return set_session_id(scope, place, query->session_id);
    return scope->decoder->profile->session.id != 0 ||
           fp_fail_at(scope->decoder, FP_FORMAT_INVALID, place,
                      "nothing says whose events these are: there is no sessionID in the request, "
                      "and no Session");
}
