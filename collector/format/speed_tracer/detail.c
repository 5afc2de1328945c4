/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, detail: `data` and the other members of a record as one compact JSON object, with
 * one spelling for the names of all versions.
 *
 * Recursion is as deep as the JSON, whose depth is within limits.json_depth.
 */
#include "collector/format/speed_tracer/detail.h"

#include "collector/base/hash.h"
#include "collector/format/json.h"
#include "collector/format/speed_tracer/detail_bytes.h"
#include "collector/format/speed_tracer/types.h"
#include "collector/format/speed_tracer/v8_table.h"

enum {
    NUMBER_MAX = 512, /* more than yyjson takes to write one number */
    SCANNED_MAX = 64, /* an object with more members gets an index */
};

/* Another name of a member. A NULL pointer ends a list. */
struct spelling {
    struct fp_str old;
    struct fp_str name;
};

#define SPELLING(old, name) {{(old), sizeof(old) - 1}, {(name), sizeof(name) - 1}}

static const struct spelling data_spellings[] = {
    SPELLING("contentLength", "resourceSize"), SPELLING("lengthReceived", "dataLength"),
    SPELLING("connectionID", "connectionId"),  SPELLING("cached", "fromDiskCache"),
    SPELLING("isCached", "fromDiskCache"),     SPELLING("wasCached", "fromDiskCache"),
    SPELLING("httpHeaderFields", "headers"),   SPELLING("httpStatusCode", "status"),
    SPELLING("responseCode", "statusCode"),    SPELLING("httpMethod", "requestMethod"),
    SPELLING("orphan", "isOrphaned"),          {{NULL, 0}, {NULL, 0}},
};

static const struct spelling frame_spellings[] = {
    SPELLING("scriptName", "url"),
    SPELLING("column", "columnNumber"),
    {{NULL, 0}, {NULL, 0}},
};

static const struct spelling no_spellings[] = {{{NULL, 0}, {NULL, 0}}};

static bool is_one_of(struct fp_str name, const struct fp_str *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fp_st_name_is(name, names[i]))
            return true;
    return false;
}

/* Writing. */

/* Appends null, or a number with a fraction or exponent. */
static void add_by_yyjson(struct fp_buf *out, yyjson_val *value)
{
    char memory[NUMBER_MAX];
    yyjson_alc allocator;
    yyjson_alc_pool_init(&allocator, memory, sizeof(memory));
    size_t len = 0;
    const char *text = yyjson_val_write_opts(value, YYJSON_WRITE_NOFLAG, &allocator, &len, NULL);
    fp_buf_add(out, text != NULL ? text : "null", text != NULL ? len : 4);
}

static void add_object(struct fp_buf *out, yyjson_val *object, const struct spelling *spellings);

/* Appends a value. spellings: member names of the object, or of the objects in the array. */
static void add_value(struct fp_buf *out, yyjson_val *value, const struct spelling *spellings)
{
    if (yyjson_is_str(value)) {
        fp_st_add_quoted(out, fp_json_text(value), false, false);
    } else if (yyjson_is_uint(value)) {
        fp_st_add_whole(out, yyjson_get_uint(value), false);
    } else if (yyjson_is_sint(value)) {
        fp_st_add_whole(out, -(uint64_t)yyjson_get_sint(value), true);
    } else if (yyjson_is_obj(value)) {
        fp_buf_add(out, "{", 1);
        add_object(out, value, spellings);
        fp_buf_add(out, "}", 1);
    } else if (yyjson_is_arr(value)) {
        fp_buf_add(out, "[", 1);
        size_t i;
        size_t count;
        yyjson_val *element;
        yyjson_arr_foreach(value, i, count, element)
        {
            if (i > 0)
                fp_buf_add(out, ",", 1);
            add_value(out, element, spellings);
        }
        fp_buf_add(out, "]", 1);
    } else if (yyjson_is_true(value)) {
        fp_buf_add(out, "true", 4);
    } else if (yyjson_is_false(value)) {
        fp_buf_add(out, "false", 5);
    } else {
        add_by_yyjson(out, value);
    }
}

/* Spelling. */

/* Searches an object for names. A large object gets an index, so that searching for each of its
 * names takes linear time. */
struct lookup {
    yyjson_val *object;
    struct fp_buf *out; /* fails when memory for the index is out */
    struct fp_map names;
    bool is_indexed;
};

static void index_names(struct lookup *lookup)
{
    size_t i;
    size_t count;
    yyjson_val *key;
    yyjson_val *value;
    fp_map_init(&lookup->names, yyjson_obj_size(lookup->object));
    lookup->is_indexed = true;
    yyjson_obj_foreach(lookup->object, i, count, key, value)
    {
        const struct fp_str name = fp_json_text(key);
        if (!yyjson_is_null(value) &&
            fp_map_put(&lookup->names, fp_hash64(name.ptr, name.len), 0) == FP_MAP_NONE)
            lookup->out->failed = true;
    }
}

static bool has(struct lookup *lookup, struct fp_str name)
{
    if (yyjson_obj_size(lookup->object) <= SCANNED_MAX)
        return fp_json_member(lookup->object, name) != NULL;
    if (!lookup->is_indexed)
        index_names(lookup);
    return fp_map_get(&lookup->names, fp_hash64(name.ptr, name.len)) != FP_MAP_NONE;
}

static void release(struct lookup *lookup)
{
    if (lookup->is_indexed)
        fp_map_release(&lookup->names);
}

/* A request's id has three names. The tool looked for them in this order. */
static const struct fp_str id_names[] = {{"identifier", 10}, {"requestId", 9}, {"resourceId", 10}};

enum {
    ID_NAMES = FP_COUNT(id_names),
    SPELLED_MIN = 6, /* shorter names have one spelling */
};

static struct fp_str find_spelling(struct lookup *object, struct fp_str name,
                                   const struct spelling *spellings)
{
    bool may_be_id = spellings == data_spellings && (name.ptr[0] == 'i' || name.ptr[0] == 'r');
    for (size_t i = 0; may_be_id && i < ID_NAMES; i++) {
        if (fp_st_name_is(name, id_names[i]))
            return FP_STR("requestId");
        if (is_one_of(name, id_names + i + 1, ID_NAMES - i - 1) && has(object, id_names[i]))
            return (struct fp_str){0};
    }
    for (; spellings->old.ptr != NULL; spellings++)
        if (fp_st_name_is(name, spellings->old))
            return has(object, spellings->name) ? (struct fp_str){0} : spellings->name;
    return name;
}

#define LETTER(letter) (UINT32_C(1) << ((letter) & 31))

/* Returns the name under which a member is kept, a NULL pointer if another member takes precedence.
 * Most names have one spelling: they are too short, or begin with another letter. */
static inline struct fp_str spell(struct lookup *object, struct fp_str name,
                                  const struct spelling *spellings)
{
    const uint32_t letters = LETTER('c') | LETTER('h') | LETTER('i') | LETTER('l') | LETTER('o') |
                             LETTER('r') | LETTER('s') | LETTER('w');
    bool may_have_another = spellings != no_spellings && name.len >= SPELLED_MIN &&
                            (letters >> (name.ptr[0] & 31) & 1) > 0;
    return may_have_another ? find_spelling(object, name, spellings) : name;
}

/* Returns the spellings inside a member of a record's data. */
static const struct spelling *spellings_inside(const struct spelling *outside, struct fp_str name)
{
    static const struct fp_str nested[] = {
        {"request", 7}, {"response", 8}, {"redirectResponse", 16}};
    bool is_nested = outside == data_spellings && is_one_of(name, nested, FP_COUNT(nested));
    return is_nested ? data_spellings : no_spellings;
}

/* Appends the id of a request as a text, and that of a timer as a number; both come as either.
 * False for another member, which is not appended. */
static bool add_id(struct fp_buf *out, struct fp_str name, yyjson_val *value)
{
    if (fp_str_equal(name, FP_STR("requestId")) && yyjson_is_num(value)) {
        fp_buf_add(out, "\"", 1);
        add_value(out, value, no_spellings);
        fp_buf_add(out, "\"", 1);
        return true;
    }
    const struct fp_str text = fp_json_text(value);
    if (!fp_str_equal(name, FP_STR("timerId")) || text.len == 0 || text.len > 15 ||
        text.ptr[0] == '0')
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!fp_is_digit(text.ptr[i]))
            return false;
    fp_buf_add(out, text.ptr, text.len);
    return true;
}

/* Appends all members of an object after those already there; NULL has none. */
/* True for what a kept dump says so that its absence cannot be taken as a yes. */
static bool is_denial(struct fp_str name, yyjson_val *value)
{
    return yyjson_is_false(value) && fp_str_equal(name, FP_STR("isRefresh"));
}

static void add_object(struct fp_buf *out, yyjson_val *object, const struct spelling *spellings)
{
    size_t i;
    size_t count;
    yyjson_val *key;
    yyjson_val *value;
    if (object == NULL)
        return;
    struct lookup lookup = {.object = object, .out = out};
    yyjson_obj_foreach(object, i, count, key, value)
    {
        const struct fp_str name = spell(&lookup, fp_json_text(key), spellings);
        if (name.ptr == NULL || (yyjson_is_null(value) && spellings != no_spellings) ||
            (spellings == data_spellings && is_denial(name, value)))
            continue;
        fp_st_add_name(out, name);
        if (spellings != data_spellings || !add_id(out, name, value))
            add_value(out, value, spellings_inside(spellings, name));
    }
    release(&lookup);
}

/* Records. */

/* True for members of a profile that only this decoder may write. */
static bool is_own(struct fp_str name)
{
    static const struct fp_str own[] = {{"profileOf", 9}, {"vmStates", 8}, {"profile", 7}};
    return is_one_of(name, own, FP_COUNT(own));
}

/* Appends a profile without its text, which becomes stacks and samples. */
static void add_profile(struct fp_buf *out, yyjson_val *data)
{
    size_t i;
    size_t count;
    yyjson_val *key;
    yyjson_val *value;
    if (data == NULL)
        return;
    struct lookup lookup = {.object = data, .out = out};
    yyjson_obj_foreach(data, i, count, key, value)
    {
        const struct fp_str name = spell(&lookup, fp_json_text(key), data_spellings);
        if (name.ptr == NULL || yyjson_is_null(value) || is_own(name))
            continue;
        bool is_text = fp_str_equal(name, FP_STR("profileData"));
        fp_st_add_name(out, is_text ? FP_STR("profileDataLength") : name);
        if (is_text)
            fp_st_add_whole(out, fp_json_text(value).len, false);
        else
            add_value(out, value, no_spellings);
    }
    release(&lookup);
}

/* True for members of a record that are fields of the event, its data, or useless outside the
 * tool. */
static bool is_omitted(struct fp_str name)
{
    static const struct fp_str omitted[] = {
        {"type", 4}, {"time", 4},  {"duration", 8}, {"children", 8},
        {"data", 4}, {"hints", 5}, {"overhead", 8}, {"typeName", 8},
    };
    return is_one_of(name, omitted, FP_COUNT(omitted));
}

static void add_other_members(struct fp_buf *out, const struct fp_st_detail_source *source)
{
    size_t i;
    size_t count;
    yyjson_val *key;
    yyjson_val *value;
    struct lookup data = {.object = source->data, .out = out};
    yyjson_obj_foreach(source->record, i, count, key, value)
    {
        const struct fp_str name = fp_json_text(key);
        if (is_omitted(name) || yyjson_is_null(value) || has(&data, name) ||
            (source->type == FP_ST_TYPE_PROFILE_DATA && is_own(name)))
            continue;
        bool is_stack = fp_str_equal(name, FP_STR("stackTrace"));
        fp_st_add_name(out, name);
        add_value(out, value, is_stack ? frame_spellings : no_spellings);
    }
    release(&data);
}

/* Appends a fact, unless the data says it already. */
static void add_flag(struct fp_buf *out, yyjson_val *data, struct fp_str name, bool is_set)
{
    if (!is_set || yyjson_is_true(fp_json_member(data, name)))
        return;
    fp_st_add_name(out, name);
    fp_buf_add(out, "true", 4);
}

/* Appends a member of a timer's start, unless the record that it fires also has one. */
static void add_timer_member(struct fp_buf *out, yyjson_val *data, struct fp_str name,
                             yyjson_val value)
{
    if (yyjson_get_type(&value) == YYJSON_TYPE_NONE || fp_json_member(data, name) != NULL)
        return;
    fp_st_add_name(out, name);
    add_value(out, &value, no_spellings);
}

/* Appends whose profile it is, and what was read of it. */
static void add_profile_facts(struct fp_st_dump *dump, const struct fp_st_detail_source *source)
{
    struct fp_buf *out = &dump->detail;
    if (source->is_tied) {
        const int64_t id = source->profiled_event;
        fp_st_add_name(out, FP_STR("profileOf"));
        fp_st_add_whole(out, (uint64_t)(id < 0 ? -id : id), id < 0);
    }
    if (source->is_read_profile)
        fp_st_v8_table_write(dump, out);
}

bool fp_st_write_detail(struct fp_st_dump *dump, const struct fp_st_detail_source *source)
{
    struct fp_buf *out = &dump->detail;
    fp_buf_clear(out);
    fp_buf_add(out, "{", 1);
    if (source->type == FP_ST_TYPE_PROFILE_DATA)
        add_profile(out, source->data);
    else
        add_object(out, source->data,
                   source->type <= FP_ST_TYPE_CUSTOM ? no_spellings : data_spellings);
    /* Early versions had one type for a finish and one for an error. */
    if (source->type == FP_ST_TYPE_RESOURCE_FINISH &&
        source->source_type != FP_ST_TYPE_RESOURCE_FINISH) {
        bool failed = source->source_type == 21 || source->source_type == FP_ST_TYPE_PROFILE_DATA;
        fp_st_add_name(out, FP_STR("didFail"));
        fp_buf_addf(out, "%s", failed ? "true" : "false");
    }
    add_other_members(out, source);
    add_profile_facts(dump, source);
    if (source->timer != NULL) {
        add_timer_member(out, source->data, FP_STR("timeout"), source->timer->timeout);
        add_timer_member(out, source->data, FP_STR("singleShot"), source->timer->single_shot);
    }
    add_flag(out, source->data, FP_STR("isRefresh"), source->is_refresh);
    add_flag(out, source->data, FP_STR("hasQuery"), source->has_query);
    fp_buf_add(out, "}", 1);
    return !out->failed;
}
