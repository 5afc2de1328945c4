/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, message: the types of messages, and reading them.
 *
 * Order and names of fields are those of the published Profiler 1.0 and 1.1.
 */
#include "collector/format/opera_scope/message.h"

const struct fp_scope_type fp_scope_start_type = {{"startMode", "windowID"}, {NULL}, 0};
const struct fp_scope_type fp_scope_session_id_type = {{"sessionID"}, {NULL}, 0};
const struct fp_scope_type fp_scope_timeline_type = {{"timelineID", "frameID"}, {NULL}, 0};
const struct fp_scope_type fp_scope_session_type = {
    {"sessionID", "windowID", "timelineList"},
    {[FP_SCOPE_TIMELINES] = &fp_scope_timeline_type},
    1 << FP_SCOPE_TIMELINES};
const struct fp_scope_type fp_scope_interval_type = {{"start", "end"}, {NULL}, 0};
const struct fp_scope_type fp_scope_request_type = {
    {"sessionID", "timelineID", "mode", "eventID", "maxDepth", "eventTypeList", "interval"},
    {[FP_SCOPE_REQUEST_INTERVAL] = &fp_scope_interval_type},
    1 << FP_SCOPE_REQUEST_TYPES};
const struct fp_scope_type fp_scope_events_type = {
    {"interval", "eventList"},
    {[FP_SCOPE_EVENTS_INTERVAL] = &fp_scope_interval_type,
     [FP_SCOPE_EVENTS_LIST] = &fp_scope_event_type},
    1 << FP_SCOPE_EVENTS_LIST};

const struct fp_scope_type fp_scope_area_type = {{"x", "y", "w", "h", "ox", "oy"}, {NULL}, 0};
static const struct fp_scope_type selector_type = {{"selector"}, {NULL}, 0};
static const struct fp_scope_type thread_type = {{"scriptThreadType", "eventName"}, {NULL}, 0};
static const struct fp_scope_type url_type = {{"url"}, {NULL}, 0};
static const struct fp_scope_type script_type = {{"scriptType", "url"}, {NULL}, 0};
static const struct fp_scope_type paint_type = {{"area"}, {&fp_scope_area_type}, 0};
const struct fp_scope_type fp_scope_event_type = {
    {"type", "time", "overhead", "hits", "interval", "eventID", "parentEventID", "childCount",
     "aggregatedTime", "aggregatedOverhead", "cssSelectorMatching", "scriptThreadEvaluation",
     "documentParsing", "cssParsing", "scriptCompilation", "paint"},
    {[FP_SCOPE_EVENT_INTERVAL] = &fp_scope_interval_type,
     [FP_SCOPE_EVENT_SELECTOR] = &selector_type,
     [FP_SCOPE_EVENT_THREAD] = &thread_type,
     [FP_SCOPE_EVENT_DOCUMENT] = &url_type,
     [FP_SCOPE_EVENT_CSS] = &url_type,
     [FP_SCOPE_EVENT_SCRIPT] = &script_type,
     [FP_SCOPE_EVENT_PAINT] = &paint_type},
    0};

/* Names of fields in Opera builds before mid-2012. */
static const struct {
    const char *old;
    const char *name;
} renamed[] = {
    {"threadEvaluation", "scriptThreadEvaluation"},
    {"threadType", "scriptThreadType"},
};

static void read_list(yyjson_val *list, struct fp_scope_message *message)
{
    message->is_list = true;
    message->list_len = yyjson_arr_size(list);
    yyjson_arr_iter elements = yyjson_arr_iter_with(list);
    yyjson_val *element;
    for (size_t i = 0; message->type->fields[i] != NULL; i++)
        if ((element = yyjson_arr_iter_next(&elements)) != NULL && !yyjson_is_null(element))
            message->fields[i] = element;
}

static const char *current_name(yyjson_val *key)
{
    for (size_t i = 0; i < FP_COUNT(renamed); i++)
        if (yyjson_equals_str(key, renamed[i].old))
            return renamed[i].name;
    return yyjson_get_str(key);
}

static void read_member(yyjson_val *key, struct fp_scope_message *message)
{
    const char *name = current_name(key);
    yyjson_val *value = yyjson_obj_iter_get_val(key);
    for (size_t i = 0; message->type->fields[i] != NULL; i++)
        if (strcmp(message->type->fields[i], name) == 0)
            message->fields[i] = yyjson_is_null(value) ? NULL : value;
}

bool fp_scope_read_message(yyjson_val *value, const struct fp_scope_type *type,
                           struct fp_scope_message *message)
{
    *message = (struct fp_scope_message){.type = type};
    if (yyjson_is_arr(value)) {
        read_list(value, message);
        return true;
    }
    if (!yyjson_is_obj(value))
        return false;
    yyjson_obj_iter members = yyjson_obj_iter_with(value);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&members)) != NULL)
        read_member(key, message);
    return true;
}

struct fp_place fp_scope_field_place(const struct fp_scope_message *message,
                                     const struct fp_place *place, size_t field)
{
    if (message->is_list)
        return (struct fp_place){.parent = place, .index = field};
    return (struct fp_place){.parent = place, .member = fp_str_of(message->type->fields[field])};
}

bool fp_scope_get_uint(yyjson_val *value, uint32_t *number)
{
    int64_t whole;
    if (!fp_whole_of(value, 0, UINT32_MAX, &whole))
        return false;
    *number = (uint32_t)whole;
    return true;
}

bool fp_scope_read_uint(struct fp_decoder *decoder, const struct fp_place *place,
                        const struct fp_scope_message *message, size_t field, uint32_t *number)
{
    if (message->fields[field] == NULL || fp_scope_get_uint(message->fields[field], number))
        return true;
    const struct fp_place at = fp_scope_field_place(message, place, field);
    return fp_fail_at(decoder, FP_VERDICT_INVALID, &at,
                      "%s must be a whole number from 0 to 4294967295",
                      message->type->fields[field]);
}
