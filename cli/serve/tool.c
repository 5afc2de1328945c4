/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tool: writes the JSON schema of a question's parameters.
 */
#include "cli/serve/tool.h"

#include "cli/serve/tool_rows.h"

#define NOTE(parameter_, meaning_) {.parameter = (parameter_), .meaning = (meaning_)}
#define NO_MORE {.parameter = NULL}
#define TOOL(name_, route_, columns_, about_, ...)                                                 \
    {                                                                                              \
        .name = (name_), .route = (route_), .columns = (columns_), .about = (about_), .notes = {   \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static const struct fp_tool tools[] = {FP_TOOLS(TOOL, NOTE, NO_MORE)};

const struct fp_tool *fp_tool_find(struct fp_str name)
{
    for (size_t i = 0; i < FP_COUNT(tools); i++) {
        if (fp_str_equal(fp_str_of(tools[i].name), name))
            return &tools[i];
    }
    return NULL;
}

bool fp_tool_has_column(const struct fp_tool *tool, const char *column)
{
    const size_t len = strlen(column);
    if (tool->columns[0] == '\0')
        return true;
    for (const char *at = tool->columns; at != NULL; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, column, len) == 0 && (at[len] == ',' || at[len] == '\0'))
            return true;
    }
    return false;
}

static const char *meaning_of(const struct fp_tool *tool, const char *parameter)
{
    for (size_t i = 0; tool->notes[i].parameter != NULL; i++) {
        if (strcmp(tool->notes[i].parameter, parameter) == 0)
            return tool->notes[i].meaning;
    }
    return NULL;
}

/* Describes a value of a type. An id has 64 bits: not every client writes it as a number. */
static yyjson_mut_val *type_schema(yyjson_mut_doc *doc, const struct fp_parameter *parameter)
{
    static const char *const types[] = {
        [FP_VALUE_TEXT] = "string", [FP_VALUE_TIME] = "string",   [FP_VALUE_COUNT] = "integer",
        [FP_VALUE_ID] = "string",   [FP_VALUE_NUMBER] = "number", [FP_VALUE_TEXTS] = "array",
    };
    yyjson_mut_val *schema = yyjson_mut_obj(doc);
    (void)yyjson_mut_obj_add_str(doc, schema, "type", types[parameter->type]);
    if (parameter->type == FP_VALUE_COUNT) {
        (void)yyjson_mut_obj_add_int(doc, schema, "minimum", 1);
        (void)yyjson_mut_obj_add_int(doc, schema, "maximum", parameter->most);
    } else if (parameter->type == FP_VALUE_TEXTS) {
        yyjson_mut_val *items = yyjson_mut_obj_add_obj(doc, schema, "items");
        (void)yyjson_mut_obj_add_str(doc, items, "type", "string");
    }
    return schema;
}

/* True for one of the many filters that a pattern of names describes: exclude_, before_ and after_
 * before the name of a dimension. */
static bool is_twin(const struct fp_tool *tool, const struct fp_parameter *parameter)
{
    static const char *const prefixes[] = {"exclude_", "before_", "after_"};
    if (meaning_of(tool, parameter->name) != NULL)
        return false;
    for (size_t i = 0; i < FP_COUNT(prefixes); i++) {
        if (strncmp(parameter->name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}

static void add_property(yyjson_mut_doc *doc, yyjson_mut_val *properties,
                         const struct fp_tool *tool, const struct fp_parameter *parameter)
{
    yyjson_mut_val *schema = type_schema(doc, parameter);
    const char *meaning = meaning_of(tool, parameter->name);
    if (meaning != NULL)
        (void)yyjson_mut_obj_add_str(doc, schema, "description", meaning);
    (void)yyjson_mut_obj_add_val(doc, properties, parameter->name, schema);
}

static yyjson_mut_val *input_schema(yyjson_mut_doc *doc, const struct fp_tool *tool)
{
    struct fp_inquiry inquiry;
    fp_inquiry_init(&inquiry, fp_question_find(tool->route));
    yyjson_mut_val *schema = yyjson_mut_obj(doc);
    (void)yyjson_mut_obj_add_str(doc, schema, "type", "object");
    yyjson_mut_val *properties = yyjson_mut_obj_add_obj(doc, schema, "properties");
    yyjson_mut_val *required = yyjson_mut_arr(doc);
    bool has_twins = false;
    for (size_t i = 0; i < inquiry.count; i++) {
        const struct fp_parameter *parameter = inquiry.parameters[i];
        if (is_twin(tool, parameter))
            has_twins = true;
        else if (strcmp(parameter->name, "drawn") != 0) /* the list is long without it */
            add_property(doc, properties, tool, parameter);
        if (parameter->presence == FP_PRESENCE_NEEDED)
            (void)yyjson_mut_arr_add_str(doc, required, parameter->name);
    }
    (void)yyjson_mut_obj_add_val(doc, schema, "required", required);
    if (has_twins) {
        yyjson_mut_val *patterns = yyjson_mut_obj_add_obj(doc, schema, "patternProperties");
        yyjson_mut_val *twin = yyjson_mut_obj_add_obj(doc, patterns, "^(exclude|before|after)_");
        (void)yyjson_mut_obj_add_str(doc, twin, "type", "string");
    }
    (void)yyjson_mut_obj_add_bool(doc, schema, "additionalProperties", false);
    fp_inquiry_release(&inquiry);
    return schema;
}

yyjson_mut_val *fp_tool_list(yyjson_mut_doc *doc)
{
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    for (size_t i = 0; i < FP_COUNT(tools); i++) {
        yyjson_mut_val *tool = yyjson_mut_arr_add_obj(doc, list);
        (void)yyjson_mut_obj_add_str(doc, tool, "name", tools[i].name);
        (void)yyjson_mut_obj_add_str(doc, tool, "description", tools[i].about);
        (void)yyjson_mut_obj_add_val(doc, tool, "inputSchema", input_schema(doc, &tools[i]));
        yyjson_mut_val *annotations = yyjson_mut_obj_add_obj(doc, tool, "annotations");
        (void)yyjson_mut_obj_add_bool(doc, annotations, "readOnlyHint", true);
    }
    return list;
}
