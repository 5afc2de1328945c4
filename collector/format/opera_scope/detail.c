/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, details: the texts and areas of an event become a JSON object by field name.
 *
 * The URL of a detail becomes the event's resource and is not in the object. A detail of another
 * kind than its event, or an incomplete one, is skipped; the event is kept.
 */
#include "collector/base/hash.h"
#include "collector/format/json.h"
#include "collector/format/opera_scope/event.h"
#include "collector/format/utf8.h"

enum {
    EVENT_TYPE_PROCESS = 2,
    EVENT_TYPE_MAX = 11,
};

enum field_kind { FIELD_INTEGER, FIELD_TEXT, FIELD_URL, FIELD_AREA };

/* A field of a detail or an area. */
struct detail_field {
    enum field_kind kind;
    bool is_optional;
};

static const struct detail_field selector_detail[] = {{FIELD_TEXT, false}};
static const struct detail_field thread_detail[] = {{FIELD_INTEGER, false}, {FIELD_TEXT, true}};
static const struct detail_field url_detail[] = {{FIELD_URL, false}};
static const struct detail_field script_detail[] = {{FIELD_INTEGER, false}, {FIELD_URL, true}};
static const struct detail_field paint_detail[] = {{FIELD_AREA, true}};
static const struct detail_field area_fields[] = {{FIELD_INTEGER, false}, {FIELD_INTEGER, false},
                                                  {FIELD_INTEGER, false}, {FIELD_INTEGER, false},
                                                  {FIELD_INTEGER, true},  {FIELD_INTEGER, true}};

/* By EventType; there is no 0. */
static const struct {
    const char *name;
    enum fp_scope_event_field field;   /* where its detail stands */
    const struct detail_field *detail; /* one per field of the message */
} event_types[EVENT_TYPE_MAX + 1] = {
    [1] = {"GENERIC", 0, NULL},
    [EVENT_TYPE_PROCESS] = {"PROCESS", 0, NULL},
    [3] = {"DOCUMENT_PARSING", FP_SCOPE_EVENT_DOCUMENT, url_detail},
    [4] = {"CSS_PARSING", FP_SCOPE_EVENT_CSS, url_detail},
    [5] = {"SCRIPT_COMPILATION", FP_SCOPE_EVENT_SCRIPT, script_detail},
    [6] = {"SCRIPT_THREAD_EVALUATION", FP_SCOPE_EVENT_THREAD, thread_detail},
    [7] = {"REFLOW", 0, NULL},
    [8] = {"STYLE_RECALCULATION", 0, NULL},
    [9] = {"CSS_SELECTOR_MATCHING", FP_SCOPE_EVENT_SELECTOR, selector_detail},
    [10] = {"LAYOUT", 0, NULL},
    [11] = {"PAINT", FP_SCOPE_EVENT_PAINT, paint_detail},
};

/* An event's detail while it is read. */
struct detail {
    struct fp_scope *scope;
    yyjson_mut_doc *doc;
    yyjson_mut_val *object;
    struct fp_str url; /* ptr NULL: none */
    bool is_complete;  /* so far */
};

static bool add_text(struct detail *detail, yyjson_mut_val *object, const char *name,
                     yyjson_val *value)
{
    const struct fp_str raw = fp_json_text(value);
    struct fp_str text;
    return fp_utf8_copy(detail->scope->decoder->arena, raw, &text) &&
           yyjson_mut_obj_add_strn(detail->doc, object, name, text.ptr, text.len);
}

/* Adds an integer or a text. False when memory runs out. */
static bool add_scalar(struct detail *detail, yyjson_mut_val *object, const char *name,
                       enum field_kind kind, yyjson_val *value)
{
    int64_t integer;
    if (kind == FIELD_INTEGER ? !fp_whole_of(value, INT32_MIN, INT32_MAX, &integer)
                              : !yyjson_is_str(value)) {
        detail->is_complete = false;
        return true;
    }
    if (kind == FIELD_INTEGER)
        return yyjson_mut_obj_add_int(detail->doc, object, name, integer);
    if (kind == FIELD_TEXT)
        return add_text(detail, object, name, value);
    const struct fp_str raw = fp_json_text(value);
    return fp_utf8_copy(detail->scope->decoder->arena, raw, &detail->url);
}

/* Reads a message. Marks the detail as incomplete and returns false if a required field is
 * missing. */
static bool read_fields(struct detail *detail, const struct fp_scope_type *type,
                        const struct detail_field *fields, yyjson_val *value,
                        struct fp_scope_message *message)
{
    detail->is_complete = detail->is_complete && fp_scope_read_message(value, type, message);
    for (size_t i = 0; detail->is_complete && type->fields[i] != NULL; i++)
        detail->is_complete = fields[i].is_optional || message->fields[i] != NULL;
    return detail->is_complete;
}

/* Adds an area. False when memory runs out. */
static bool add_area(struct detail *detail, yyjson_val *value)
{
    struct fp_scope_message message;
    if (!read_fields(detail, &fp_scope_area_type, area_fields, value, &message))
        return true;
    yyjson_mut_val *area = yyjson_mut_obj_add_obj(detail->doc, detail->object, "area");
    for (size_t i = 0; area != NULL && fp_scope_area_type.fields[i] != NULL; i++)
        if (message.fields[i] != NULL && !add_scalar(detail, area, fp_scope_area_type.fields[i],
                                                     FIELD_INTEGER, message.fields[i]))
            return false;
    return area != NULL;
}

/* Adds the fields of a detail. False when memory runs out. */
static bool add_fields(struct detail *detail, const struct fp_scope_type *type,
                       const struct detail_field *fields, yyjson_val *value)
{
    struct fp_scope_message message;
    if (!read_fields(detail, type, fields, value, &message))
        return true;
    for (size_t i = 0; type->fields[i] != NULL; i++) {
        yyjson_val *field = message.fields[i];
        if (field == NULL)
            continue;
        if (fields[i].kind == FIELD_AREA
                ? !add_area(detail, field)
                : !add_scalar(detail, detail->object, type->fields[i], fields[i].kind, field))
            return false;
    }
    return true;
}

/* Reads the detail that belongs to the event's type. False when memory runs out. */
static bool read_own_detail(struct detail *detail, const struct fp_scope_message *message,
                            const struct fp_scope_item *item)
{
    int32_t number = item->event.type_number;
    const struct detail_field *fields =
        number <= EVENT_TYPE_MAX ? event_types[number].detail : NULL;
    for (size_t i = FP_SCOPE_EVENT_SELECTOR; i <= FP_SCOPE_EVENT_PAINT; i++) {
        if (message->fields[i] == NULL)
            continue;
        if (fields == NULL || i != (size_t)event_types[number].field)
            fp_scope_add_note(detail->scope, FP_SCOPE_NOTE_OTHER_DETAIL, 1, item->index);
        else if (!add_fields(detail, fp_scope_event_type.of[i], fields, message->fields[i]))
            return false;
    }
    if (detail->is_complete)
        return true;
    fp_scope_add_note(detail->scope, FP_SCOPE_NOTE_BAD_DETAIL, 1, item->index);
    detail->url = (struct fp_str){NULL, 0};
    return yyjson_mut_obj_clear(detail->object);
}

/* Adds the aggregates as they are. False when memory runs out. */
static bool add_aggregates(struct detail *detail, const struct fp_scope_message *message)
{
    for (size_t i = FP_SCOPE_EVENT_AGGREGATED_TIME; i <= FP_SCOPE_EVENT_AGGREGATED_OVERHEAD; i++)
        if (message->fields[i] != NULL &&
            !yyjson_mut_obj_add_val(detail->doc, detail->object, message->type->fields[i],
                                    yyjson_val_mut_copy(detail->doc, message->fields[i])))
            return false;
    return true;
}

static bool write_object(struct detail *detail, struct fp_str *text)
{
    *text = FP_STR("");
    if (yyjson_mut_obj_size(detail->object) == 0)
        return true;
    yyjson_alc *memory = detail->scope->details;
    size_t len = 0;
    char *json = yyjson_mut_write_opts(detail->doc, YYJSON_WRITE_NOFLAG, memory, &len, NULL);
    const struct fp_str written = {json, len};
    bool copied = json != NULL && fp_arena_copy(detail->scope->decoder->arena, written, text);
    if (json != NULL)
        memory->free(memory->ctx, json);
    return copied;
}

static bool fail_resources(struct fp_decoder *decoder)
{
    return fp_fail_at(decoder, FP_VERDICT_TOO_LARGE, NULL,
                      "the events name more than %u URLs (limits.resources)",
                      (unsigned)decoder->limits->resources);
}

static bool find_resource(struct fp_scope *scope, struct fp_str url, uint32_t *resource)
{
    struct fp_profile *profile = scope->decoder->profile;
    uint64_t hash = fp_hash64(url.ptr, url.len);
    *resource = fp_map_get(&scope->resources, hash);
    if (*resource != FP_MAP_NONE)
        return true;
    if (profile->resource_count == scope->decoder->limits->resources)
        return fail_resources(scope->decoder);
    struct fp_str *resources = fp_scope_grow(scope, profile->resources, sizeof(*profile->resources),
                                             profile->resource_count + 1, &scope->resource_cap);
    if (resources == NULL)
        return fp_fail_memory(scope->decoder);
    profile->resources = resources;
    *resource = fp_map_put(&scope->resources, hash, profile->resource_count);
    if (*resource == FP_MAP_NONE)
        return fp_fail_memory(scope->decoder);
    resources[profile->resource_count++] = url;
    return true;
}

static bool name_type(struct fp_scope *scope, struct fp_profile_event *event)
{
    char name[24];
    event->is_process = event->type_number == EVENT_TYPE_PROCESS;
    if (event->type_number <= EVENT_TYPE_MAX && event_types[event->type_number].name != NULL) {
        event->type = fp_str_of(event_types[event->type_number].name);
        return true;
    }
    snprintf(name, sizeof(name), "TYPE_%d", (int)event->type_number);
    return fp_arena_copy(scope->decoder->arena, fp_str_of(name), &event->type) ||
           fp_fail_memory(scope->decoder);
}

bool fp_scope_read_detail(struct fp_scope *scope, const struct fp_scope_message *message,
                          struct fp_scope_item *item)
{
    if (!name_type(scope, &item->event))
        return false;
    struct detail detail = {.scope = scope, .is_complete = true};
    detail.doc = yyjson_mut_doc_new(scope->details);
    detail.object = yyjson_mut_obj(detail.doc);
    yyjson_mut_doc_set_root(detail.doc, detail.object);
    bool read = detail.object != NULL && read_own_detail(&detail, message, item) &&
                add_aggregates(&detail, message) && write_object(&detail, &item->event.detail);
    yyjson_mut_doc_free(detail.doc);
    if (!read)
        return fp_fail_memory(scope->decoder);
    return detail.url.ptr == NULL || find_resource(scope, detail.url, &item->event.resource);
}
