/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, types: names and the numberings of the eras.
 */
#include "collector/format/speed_tracer/types.h"

#include "collector/base/hash.h"
#include "collector/format/json.h"
#include "collector/format/utf8.h"

/* Names in the tool's schemas, by number. */
static const char *const type_names[] = {
    "DOM_EVENT",
    "LAYOUT",
    "RECALC_STYLE",
    "PAINT",
    "PARSE_HTML",
    "TIMER_INSTALLED",
    "TIMER_CLEARED",
    "TIMER_FIRED",
    "XHR_READY_STATE_CHANGE",
    "XHR_LOAD",
    "EVAL_SCRIPT",
    "LOG_MESSAGE",
    "NETWORK_RESOURCE_START",
    "NETWORK_RESOURCE_RESPONSE",
    "NETWORK_RESOURCE_FINISH",
    "JAVASCRIPT_CALLBACK",
    "RESOURCE_DATA_RECEIVED",
    "GC_EVENT",
    "MARK_DOM_CONTENT",
    "MARK_LOAD_EVENT",
    "SCHEDULE_RESOURCE_REQUEST",
    "PROGRAM",
};

enum { TYPE_COUNT = FP_COUNT(type_names), TOP_FIRST = 0x7FFFFFF7 };

/* Names of the tool's own records, from TOP_FIRST up. */
static const char *const top_names[] = {
    "NETWORK_LOADING_FINISHED",     "NETWORK_DATA_RECEIVED", "NETWORK_RESPONSE_RECEIVED",
    "NETWORK_REQUEST_WILL_BE_SENT", "SERVER_EVENT",          "PROFILE_DATA",
    "NETWORK_RESOURCE_UPDATE",      "TAB_CHANGED",           "AGGREGATED_EVENTS",
};

/* Returns the schema's name of a type, NULL if it is unknown. */
static const char *name_of(int32_t type)
{
    if (type == FP_ST_TYPE_INVALID)
        return "INVALID";
    if (type >= TOP_FIRST)
        return top_names[type - TOP_FIRST];
    return type >= 0 && type < TYPE_COUNT ? type_names[type] : NULL;
}

/*
 * Returns the current number of a resource record, which names its resource by resourceId. Versions
 * up to 0.8 had 21 to 24; the unreleased trunk after them had 0x7FFFFFF9 to 0x7FFFFFFC, which now
 * are other types.
 */
static int32_t renumber_resource(int32_t type)
{
    switch (type) {
    case 24:
    case 0x7FFFFFF9:
        return FP_ST_TYPE_RESOURCE_START;
    case 23:
    case 0x7FFFFFFA:
        return FP_ST_TYPE_RESOURCE_RESPONSE;
    case 22:
    case 21: /* an error */
    case 0x7FFFFFFB:
    case 0x7FFFFFFC: /* an error */
        return FP_ST_TYPE_RESOURCE_FINISH;
    default:
        return type;
    }
}

/* Types that renumber recognized by their data have their current numbers already. */
const char *fp_st_early_type_name(int32_t *type)
{
    switch (*type) {
    case 21:
    case 22:
    case 23:
    case 24:
        *type = renumber_resource(*type);
        return name_of(*type);
    case 17:
        *type = FP_ST_TYPE_AGGREGATED;
        return name_of(*type);
    case 18:
        return "DOM_BINDING";
    case 19:
        return "JAVASCRIPT_COMPILE";
    case 20:
        return "WINDOW_EVENT";
    case 25:
        *type = FP_ST_TYPE_GC_EVENT;
        return name_of(*type);
    case 26:
        return "MOUSE_HOVER_STYLE";
    case 27:
        return "EVENT_DISPATCH";
    default:
        return NULL;
    }
}

/* Returns the current number of a record's type. Its data tell early numbers from later ones. */
static int32_t renumber(struct fp_st_dump *dump, const struct fp_st_raw_type *raw)
{
    const int32_t type = raw->type;
    yyjson_val *data = raw->data;
    /* For a few weeks 15 was a profile; since then it is a callback, which has no such member. */
    if (type == FP_ST_TYPE_JAVASCRIPT_CALLBACK &&
        yyjson_is_str(fp_json_member(data, FP_STR("profileData"))))
        return FP_ST_TYPE_PROFILE_DATA;
    if (!dump->may_be_early || type <= FP_ST_TYPE_JAVASCRIPT_CALLBACK)
        return type;
    int32_t current = type;
    if (type == 16 && !raw->has_duration && yyjson_is_str(fp_json_member(data, FP_STR("url"))))
        current = FP_ST_TYPE_TAB_CHANGED;
    else if (fp_json_member(data, FP_STR("resourceId")) != NULL)
        current = renumber_resource(type);
    dump->is_early = dump->is_early || (current != type && type < TOP_FIRST);
    return current;
}

/* Names that types have which are not custom, apart from the schemas' and `TYPE_n`. The reports
 * make the last two. */
static const struct fp_str other_names[] = {
    {"DOM_BINDING", 11},       {"JAVASCRIPT_COMPILE", 18}, {"WINDOW_EVENT", 12},
    {"MOUSE_HOVER_STYLE", 17}, {"EVENT_DISPATCH", 14},     {"INVALID", 7},
    {"CUSTOM_EVENT", 12},      {"(available)", 11},        {"(not listed)", 12},
};

static bool is_among(struct fp_str name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fp_str_equal(name, fp_str_of(names[i])))
            return true;
    return false;
}

/* True for a name that a type has which is not custom. */
static bool is_reserved(struct fp_str name)
{
    for (size_t i = 0; i < FP_COUNT(other_names); i++)
        if (fp_st_name_is(name, other_names[i]))
            return true;
    return fp_str_has_prefix(name, FP_STR("TYPE_")) || is_among(name, type_names, TYPE_COUNT) ||
           is_among(name, top_names, FP_COUNT(top_names));
}

#define CUSTOM_MARK FP_STR(" (custom)")

/* Copies the name of a custom type. Keeps one that is named like another type apart from it by a
 * mark, and so one that has the mark already from that. */
static bool copy_custom_name(struct fp_arena *arena, struct fp_str name, struct fp_str *copy)
{
    const struct fp_str mark = CUSTOM_MARK;
    struct fp_str begin = name;
    while (begin.len >= mark.len &&
           memcmp(begin.ptr + begin.len - mark.len, mark.ptr, mark.len) == 0)
        begin.len -= mark.len;
    if (!is_reserved(begin))
        return fp_utf8_copy(arena, name, copy);
    char *bytes = fp_arena_alloc(arena, name.len + mark.len);
    if (bytes == NULL)
        return false;
    memcpy(bytes, name.ptr, name.len);
    memcpy(bytes + name.len, mark.ptr, mark.len);
    return fp_utf8_copy(arena, (struct fp_str){bytes, name.len + mark.len}, copy);
}

/* Numbers a custom type by its name, from -2 down, as the tool did when it loaded a dump: the
 * record's number has no meaning outside the process that wrote it. */
static bool name_custom_type(struct fp_st_dump *dump, yyjson_val *name,
                             struct fp_profile_event *event)
{
    struct fp_decoder *decoder = dump->decoder;
    if (!yyjson_is_str(name)) {
        fp_st_add_note(dump, FP_ST_NOTE_NO_TYPE_NAME);
        event->type = FP_STR("CUSTOM_EVENT");
        return true;
    }
    const struct fp_str text = fp_json_text(name);
    const uint32_t next = (uint32_t)dump->type_names.count; /* at most limits.entries */
    uint32_t index = fp_map_put(&dump->type_names, fp_hash64(text.ptr, text.len), next);
    dump->custom_types =
        fp_st_grow(decoder->arena, dump->custom_types, next, &dump->custom_type_cap, sizeof(text));
    if (index == FP_MAP_NONE || dump->custom_types == NULL ||
        (index == next && !copy_custom_name(decoder->arena, text, &dump->custom_types[index])))
        return fp_fail_memory(decoder);
    event->type = dump->custom_types[index];
    event->type_number = FP_ST_TYPE_CUSTOM - (int32_t)index;
    return true;
}

static bool name_unknown_type(struct fp_st_dump *dump, struct fp_profile_event *event)
{
    char name[24];
    int len = snprintf(name, sizeof(name), "TYPE_%d", (int)event->type_number);
    fp_st_add_note(dump, FP_ST_NOTE_UNKNOWN_TYPE);
    const struct fp_str text = {name, (size_t)len};
    return fp_arena_copy(dump->decoder->arena, text, &event->type) || fp_fail_memory(dump->decoder);
}

bool fp_st_set_type(struct fp_st_dump *dump, const struct fp_st_raw_type *raw,
                    struct fp_profile_event *event)
{
    event->type_number = renumber(dump, raw);
    if (event->type_number <= FP_ST_TYPE_CUSTOM)
        return name_custom_type(dump, raw->type_name, event);
    const char *name = name_of(event->type_number);
    if (name == NULL)
        return name_unknown_type(dump, event);
    event->type = fp_str_of(name);
    return true;
}
