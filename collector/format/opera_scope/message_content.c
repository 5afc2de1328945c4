/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, message content: appends messages without the fields that their types do not have.
 * Most messages have no such field and are appended whole.
 */
#include "collector/format/content.h"
#include "collector/format/opera_scope/message.h"
#include "collector/format/opera_scope/opera_scope.h"

static bool is_known(yyjson_val *value, const struct fp_scope_type *type);

/* True if a field has only known fields: it is a message, a value, or a list of either. */
static bool is_known_field(yyjson_val *value, const struct fp_scope_type *type, size_t field)
{
    const struct fp_scope_type *of = type->of[field];
    if ((type->repeated & 1U << field) == 0 || !yyjson_is_arr(value))
        return is_known(value, of);
    yyjson_arr_iter elements = yyjson_arr_iter_with(value);
    yyjson_val *element;
    while ((element = yyjson_arr_iter_next(&elements)) != NULL)
        if (!is_known(element, of))
            return false;
    return true;
}

static bool is_known_list(yyjson_val *list, const struct fp_scope_type *type)
{
    yyjson_arr_iter elements = yyjson_arr_iter_with(list);
    yyjson_val *element;
    for (size_t i = 0; (element = yyjson_arr_iter_next(&elements)) != NULL; i++)
        if (type->fields[i] == NULL || !is_known_field(element, type, i))
            return false;
    return true;
}

/* True if each member is known, under its current name, and comes once. */
static bool is_known_object(yyjson_val *object, const struct fp_scope_type *type)
{
    size_t found = 0;
    for (size_t i = 0; type->fields[i] != NULL; i++) {
        yyjson_val *value = yyjson_obj_get(object, type->fields[i]);
        if (value != NULL && !is_known_field(value, type, i))
            return false;
        found += value != NULL;
    }
    return found == yyjson_obj_size(object);
}

/* True if a value has only fields of its type; type NULL: a value that is not a message. Recurses
 * as deep as the types do. */
static bool is_known(yyjson_val *value, const struct fp_scope_type *type)
{
    if (type == NULL || yyjson_is_null(value))
        return !yyjson_is_ctn(value);
    if (yyjson_is_arr(value))
        return is_known_list(value, type);
    return yyjson_is_obj(value) && is_known_object(value, type);
}

static void add_field(struct fp_decoder *decoder, yyjson_val *value,
                      const struct fp_scope_type *type, size_t field)
{
    const struct fp_scope_type *of = type->of[field];
    struct fp_str before = FP_STR("[");
    if ((type->repeated & 1U << field) == 0 || !yyjson_is_arr(value)) {
        fp_scope_add_content(decoder, value, of);
        return;
    }
    yyjson_arr_iter elements = yyjson_arr_iter_with(value);
    yyjson_val *element;
    for (; (element = yyjson_arr_iter_next(&elements)) != NULL; before = FP_STR(",")) {
        fp_content_add(decoder, before);
        fp_scope_add_content(decoder, element, of);
    }
    fp_content_add(decoder, before.ptr[0] == '[' ? FP_STR("[]") : FP_STR("]"));
}

static void add_message(struct fp_decoder *decoder, const struct fp_scope_message *message)
{
    struct fp_str before = FP_STR("");
    fp_content_add(decoder, message->is_list ? FP_STR("[") : FP_STR("{"));
    for (size_t i = 0; message->type->fields[i] != NULL; i++) {
        if (message->fields[i] == NULL && !message->is_list)
            continue;
        fp_content_add(decoder, before);
        before = FP_STR(",");
        if (!message->is_list) {
            fp_content_add(decoder, FP_STR("\""));
            fp_content_add(decoder, fp_str_of(message->type->fields[i]));
            fp_content_add(decoder, FP_STR("\":"));
        }
        if (message->fields[i] != NULL)
            add_field(decoder, message->fields[i], message->type, i);
        else
            fp_content_add(decoder, FP_STR("null"));
    }
    fp_content_add(decoder, message->is_list ? FP_STR("]") : FP_STR("}"));
}

void fp_scope_add_content(struct fp_decoder *decoder, yyjson_val *value,
                          const struct fp_scope_type *type)
{
    struct fp_scope_message message;
    if (is_known(value, type))
        fp_content_add_value(decoder, value);
    else if (type != NULL && fp_scope_read_message(value, type, &message))
        add_message(decoder, &message);
    else
        fp_content_add(decoder, FP_STR("false")); /* a wrong type stays a wrong type */
}

void fp_opera_scope_add_content(struct fp_decoder *decoder, yyjson_val *value)
{
    /* These two are not messages of the service, but have the same form. */
    static const struct fp_scope_type pair = {
        {"request", "reply"}, {&fp_scope_request_type, &fp_scope_events_type}, 0};
    static const struct fp_scope_type envelope = {
        {"version", "url", "startedAt", "session", "timelines"},
        {[3] = &fp_scope_session_type, [4] = &pair},
        1 << 4};
    fp_scope_add_content(decoder, value, &envelope);
}
