/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Envelope content: writes a document along a tree of shapes, which list what to keep.
 */
#include "collector/format/web/envelope_content.h"

#include "collector/format/content.h"
#include "collector/format/utf8.h"
#include "collector/format/web/user_timing_points.h"
#include "collector/profile/profile.h"
#include "collector/profile/scrub/selector.h"

enum {
    MEMBERS_MAX = 36,
    /* Members of performance.timing or a navigation entry, with entryType and activationStart. */
    ATTRIBUTES_MAX = FP_POINTS_ATTRIBUTES + 2,
};

/* The shape of a value that was read; other values are skipped. */
struct shape {
    const char *name; /* as a member */
    enum shape_kind {
        SHAPE_SCALAR, /* a text, a number, true or false */
        SHAPE_NUMBER,
        SHAPE_OBJECT,     /* with the members `of` */
        SHAPE_LIST,       /* of elements like `of` */
        SHAPE_ATTRIBUTES, /* of performance.timing, or of a navigation entry */
        SHAPE_TIMINGS,    /* performance entries, or a map of times */
        SHAPE_ENTRY,      /* a mark, a measure or the navigation */
        SHAPE_DETAIL,     /* members in limits->detail_keys */
        SHAPE_NUMBERS,    /* a number, or a list of them */
        SHAPE_SELECTOR,   /* a text that is templated: of a target */
        SHAPE_INVOKER,    /* the same, of what invokes a script, if it is not a URL */
        SHAPE_HOST,       /* the host of a URL */
        SHAPE_PAINT,      /* the name of a paint entry, if it is one that is read */
    } kind;
    const struct shape *of;
    size_t count; /* of members */
};

#define SCALAR(name_) {.name = (name_), .kind = SHAPE_SCALAR}
#define NUMBER(name_) {.name = (name_), .kind = SHAPE_NUMBER}
#define LIST(name_, of_) {.name = (name_), .kind = SHAPE_LIST, .of = (of_)}
#define OBJECT(name_, of_)                                                                         \
    {.name = (name_), .kind = SHAPE_OBJECT, .of = (of_), .count = FP_COUNT(of_)}

static const struct shape scalar = SCALAR(NULL);
static const struct shape number = NUMBER(NULL);
static const struct shape times = LIST(NULL, &number);
static const struct shape entry = {.kind = SHAPE_ENTRY};
static const struct shape entries = LIST(NULL, &entry);

static const struct shape frame_members[] = {SCALAR("name"), NUMBER("resourceId"), NUMBER("line"),
                                             NUMBER("column")};
static const struct shape stack_members[] = {NUMBER("frameId"), NUMBER("parentId")};
static const struct shape sample_members[] = {NUMBER("timestamp"), NUMBER("stackId"),
                                              SCALAR("marker")};
static const struct shape frame = OBJECT(NULL, frame_members);
static const struct shape stack = OBJECT(NULL, stack_members);
static const struct shape sample = OBJECT(NULL, sample_members);
static const struct shape trace_members[] = {LIST("resources", &scalar), LIST("frames", &frame),
                                             LIST("stacks", &stack), LIST("samples", &sample)};
static const struct shape trace = OBJECT(NULL, trace_members);

static const struct shape timing_members[] = {SCALAR("name"),
                                              SCALAR("entryType"),
                                              NUMBER("startTime"),
                                              NUMBER("duration"),
                                              SCALAR("startMark"),
                                              SCALAR("endMark"),
                                              {.name = "detail", .kind = SHAPE_DETAIL}};
static const struct shape timing = OBJECT(NULL, timing_members);
static const struct shape navigation = {.kind = SHAPE_ATTRIBUTES};

#define TEXT(name_, kind_) {.name = (name_), .kind = (kind_)}

static const struct shape metric_entry_members[] = {NUMBER("startTime")};
static const struct shape metric_entry = OBJECT(NULL, metric_entry_members);
#define ELEMENT(id, member) TEXT(member, SHAPE_SELECTOR)
static const struct shape attribution_members[] = {NUMBER("interactionTime"),
                                                   FP_VITAL_ELEMENTS(ELEMENT), SCALAR("url"),
                                                   FP_VITAL_PART_MEMBERS(NUMBER)};
static const struct shape vital_members[] = {SCALAR("name"),
                                             NUMBER("value"),
                                             SCALAR("navigationType"),
                                             NUMBER("start"),
                                             NUMBER("duration"),
                                             TEXT("target", SHAPE_SELECTOR),
                                             SCALAR("url"),
                                             SCALAR("id"),
                                             NUMBER("server"),
                                             SCALAR("cache"),
                                             LIST("entries", &metric_entry),
                                             OBJECT("attribution", attribution_members)};
static const struct shape vital = OBJECT(NULL, vital_members);
static const struct shape interaction_members[] = {
    SCALAR("type"),          NUMBER("start"),    NUMBER("processingStart"),
    NUMBER("processingEnd"), NUMBER("duration"), TEXT("target", SHAPE_SELECTOR),
    SCALAR("navigationType")};
static const struct shape interaction = OBJECT(NULL, interaction_members);
static const struct shape request_members[] = {TEXT("host", SHAPE_HOST), NUMBER("start"),
                                               NUMBER("duration")};
static const struct shape request = OBJECT(NULL, request_members);
static const struct shape result_members[] = {
    SCALAR("type"),           NUMBER("start"),
    NUMBER("duration"),       TEXT("target", SHAPE_SELECTOR),
    SCALAR("navigationType"), LIST("requests", &request)};
static const struct shape result = OBJECT(NULL, result_members);
static const struct shape script_members[] = {TEXT("invoker", SHAPE_INVOKER),
                                              SCALAR("url"),
                                              SCALAR("function"),
                                              NUMBER("start"),
                                              NUMBER("duration"),
                                              NUMBER("forced"),
                                              NUMBER("forcedStyle"),
                                              NUMBER("forcedLayout")};
static const struct shape script = OBJECT(NULL, script_members);
static const struct shape long_frame_members[] = {NUMBER("start"),
                                                  NUMBER("duration"),
                                                  NUMBER("blocking"),
                                                  NUMBER("style"),
                                                  NUMBER("layout"),
                                                  NUMBER("renderStart"),
                                                  NUMBER("styleAndLayoutStart"),
                                                  LIST("scripts", &script)};
static const struct shape long_frame = OBJECT(NULL, long_frame_members);
static const struct shape response_members[] = {
    TEXT("host", SHAPE_HOST),        SCALAR("kind"),  NUMBER("count"),
    TEXT("duration", SHAPE_NUMBERS), NUMBER("bytes"), SCALAR("opaque")};
static const struct shape response = OBJECT(NULL, response_members);

static const struct shape entry_script_members[] = {TEXT("invoker", SHAPE_INVOKER),
                                                    SCALAR("sourceURL"),
                                                    SCALAR("sourceFunctionName"),
                                                    NUMBER("startTime"),
                                                    NUMBER("duration"),
                                                    NUMBER("forcedStyleAndLayoutDuration"),
                                                    NUMBER("forcedStyleDuration"),
                                                    NUMBER("forcedLayoutDuration")};
static const struct shape entry_script = OBJECT(NULL, entry_script_members);
static const struct shape event_members[] = {
    SCALAR("name"),          SCALAR("entryType"),           NUMBER("startTime"),
    NUMBER("duration"),      NUMBER("processingStart"),     NUMBER("processingEnd"),
    NUMBER("interactionId"), TEXT("target", SHAPE_SELECTOR)};
static const struct shape event = OBJECT(NULL, event_members);
static const struct shape paint_members[] = {TEXT("name", SHAPE_PAINT), SCALAR("entryType"),
                                             NUMBER("startTime")};
static const struct shape paint = OBJECT(NULL, paint_members);
static const struct shape observed_members[] = {SCALAR("entryType"),
                                                NUMBER("startTime"),
                                                NUMBER("duration"),
                                                NUMBER("blockingDuration"),
                                                NUMBER("styleDuration"),
                                                NUMBER("layoutDuration"),
                                                NUMBER("renderStart"),
                                                NUMBER("styleAndLayoutStart"),
                                                LIST("scripts", &entry_script),
                                                NUMBER("value"),
                                                SCALAR("hadRecentInput")};
static const struct shape observed = OBJECT(NULL, observed_members);
static const struct shape resource_members[] = {TEXT("name", SHAPE_HOST), SCALAR("entryType"),
                                                NUMBER("startTime"),      NUMBER("duration"),
                                                SCALAR("initiatorType"),  NUMBER("transferSize"),
                                                NUMBER("requestStart"),   NUMBER("responseStart")};
static const struct shape resource = OBJECT(NULL, resource_members);

static const struct shape page_members[] = {SCALAR("url"), SCALAR("route")};
#define OBSERVED_LISTS                                                                             \
    LIST("vitals", &vital), LIST("interactions", &interaction), LIST("responses", &result),        \
        LIST("frames", &long_frame), LIST("resources", &response)
static const struct shape view_members[] = {OBJECT("page", page_members), SCALAR("release"),
                                            OBSERVED_LISTS};
static const struct shape view = OBJECT(NULL, view_members);

static const struct shape agent_members[] = {SCALAR("name"), SCALAR("version")};
static const struct shape left_out_members[] = {SCALAR("what"), SCALAR("name"), NUMBER("count")};
static const struct shape left_out = OBJECT(NULL, left_out_members);
static const struct shape envelope_members[] = {
    NUMBER("version"),
    SCALAR("load"),
    NUMBER("part"),
    OBJECT("agent", agent_members),
    SCALAR("truncated"),
    LIST("leftOut", &left_out),
    SCALAR("variant"),
    SCALAR("coverage"),
    OBJECT("page", page_members),
    SCALAR("release"),
    SCALAR("environment"),
    SCALAR("thread"),
    SCALAR("frame"),
    SCALAR("machine"),
    SCALAR("drawn"),
    SCALAR("network"),
    SCALAR("custom"),
    NUMBER("sampleInterval"),
    NUMBER("requestedInterval"),
    NUMBER("maxBufferSize"),
    NUMBER("timeOrigin"),
    NUMBER("start"),
    NUMBER("duration"),
    {.name = "timing", .kind = SHAPE_ATTRIBUTES},
    OBJECT("trace", trace_members),
    {.name = "marks", .kind = SHAPE_TIMINGS},
    {.name = "measures", .kind = SHAPE_TIMINGS},
    {.name = "entries", .kind = SHAPE_TIMINGS},
    OBSERVED_LISTS,
    LIST("views", &view),
};
static const struct shape envelope = OBJECT(NULL, envelope_members);

_Static_assert(FP_COUNT(envelope_members) <= MEMBERS_MAX && ATTRIBUTES_MAX <= MEMBERS_MAX,
               "any object's members fit");

static bool is_scalar(yyjson_val *value)
{
    return yyjson_is_str(value) || yyjson_is_num(value) || yyjson_is_bool(value);
}

static bool fits(yyjson_val *value, enum shape_kind kind)
{
    switch (kind) {
    case SHAPE_SCALAR:
        return is_scalar(value);
    case SHAPE_NUMBER:
        return yyjson_is_num(value);
    case SHAPE_LIST:
        return yyjson_is_arr(value);
    case SHAPE_TIMINGS:
        return yyjson_is_ctn(value);
    case SHAPE_NUMBERS:
        return yyjson_is_num(value) || yyjson_is_arr(value);
    case SHAPE_SELECTOR:
    case SHAPE_INVOKER:
    case SHAPE_HOST:
        return yyjson_is_str(value);
    case SHAPE_PAINT:
        return yyjson_equals_str(value, "first-paint") ||
               yyjson_equals_str(value, "first-contentful-paint");
    case SHAPE_OBJECT:
    case SHAPE_ATTRIBUTES:
    case SHAPE_ENTRY:
    case SHAPE_DETAIL:
        break;
    }
    return yyjson_is_obj(value);
}

static void add_value(struct fp_decoder *decoder, yyjson_val *value, const struct shape *shape);

static void add_separator(struct fp_decoder *decoder, bool *is_first)
{
    if (!*is_first)
        fp_content_add(decoder, FP_STR(","));
    *is_first = false;
}

/* True if an object has only these members, all of them kept as they are, as most frames, stacks
 * and samples. */
static bool is_plain(yyjson_val *object, const struct fp_field *fields, const struct shape *members,
                     size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += (members[i].kind == SHAPE_SCALAR || members[i].kind == SHAPE_NUMBER) &&
                         fits(fields[i].value, members[i].kind)
                     ? 1
                     : 0;
    return found == yyjson_obj_size(object);
}

/* Reads an object's members as the decoder did: the last of equal names, and null as absent. */
static bool read_members(struct fp_decoder *decoder, yyjson_val *object,
                         const struct shape *members, size_t count,
                         struct fp_field fields[MEMBERS_MAX])
{
    for (size_t i = 0; i < count; i++)
        fields[i] = (struct fp_field){.name = fp_str_of(members[i].name)};
    return fp_read_object(decoder, NULL, object, fields, count);
}

static void add_fields(struct fp_decoder *decoder, const struct fp_field *fields,
                       const struct shape *members, size_t count, bool is_first)
{
    for (size_t i = 0; i < count; i++) {
        if (!fits(fields[i].value, members[i].kind))
            continue;
        add_separator(decoder, &is_first);
        fp_content_add(decoder, FP_STR("\""));
        fp_content_add(decoder, fields[i].name);
        fp_content_add(decoder, FP_STR("\":"));
        add_value(decoder, fields[i].value, &members[i]);
    }
    fp_content_add(decoder, FP_STR("}"));
}

static void add_members(struct fp_decoder *decoder, yyjson_val *object, const struct shape *members,
                        size_t count)
{
    struct fp_field fields[MEMBERS_MAX];
    if (read_members(decoder, object, members, count, fields) &&
        is_plain(object, fields, members, count)) {
        fp_content_add_value(decoder, object);
        return;
    }
    fp_content_add(decoder, FP_STR("{"));
    add_fields(decoder, fields, members, count, true);
}

static void add_attributes(struct fp_decoder *decoder, yyjson_val *object)
{
    struct shape members[ATTRIBUTES_MAX] = {SCALAR("entryType"), NUMBER("activationStart")};
    for (size_t i = 0; i < FP_POINTS_ATTRIBUTES; i++)
        members[i + 2] = (struct shape)NUMBER(fp_points_attribute(i));
    add_members(decoder, object, members, ATTRIBUTES_MAX);
}

/* True for a member of a `detail` that is kept. */
static bool is_detail_key(const struct fp_decoder *decoder, yyjson_val *key, yyjson_val *value)
{
    const struct fp_str_list *keys = &decoder->limits->detail_keys;
    for (size_t i = 0; i < keys->count && is_scalar(value); i++)
        if (yyjson_equals_strn(key, keys->items[i].ptr, keys->items[i].len))
            return true;
    return false;
}

/* Appends the members of an object with free names and values of a shape. of NULL: the object is a
 * `detail`. */
static void add_map(struct fp_decoder *decoder, yyjson_val *map, const struct shape *of)
{
    bool is_first = true;
    yyjson_obj_iter members = yyjson_obj_iter_with(map);
    yyjson_val *key;
    fp_content_add(decoder, FP_STR("{"));
    while ((key = yyjson_obj_iter_next(&members)) != NULL) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        /* null takes away what an equal name before it has. */
        bool is_null = of != NULL && yyjson_is_null(value);
        if (of != NULL ? !is_null && !fits(value, of->kind) : !is_detail_key(decoder, key, value))
            continue;
        add_separator(decoder, &is_first);
        fp_content_add_value(decoder, key);
        fp_content_add(decoder, FP_STR(":"));
        add_value(decoder, value, of != NULL && !is_null ? of : &scalar);
    }
    fp_content_add(decoder, FP_STR("}"));
}

static void add_list(struct fp_decoder *decoder, yyjson_val *list, const struct shape *of)
{
    bool is_first = true;
    yyjson_arr_iter elements = yyjson_arr_iter_with(list);
    yyjson_val *element;
    fp_content_add(decoder, FP_STR("["));
    while ((element = yyjson_arr_iter_next(&elements)) != NULL) {
        if (!fits(element, of->kind))
            continue;
        add_separator(decoder, &is_first);
        add_value(decoder, element, of);
    }
    fp_content_add(decoder, FP_STR("]"));
}

/* Returns the shape of an entry. One of an unknown type is kept for its place and its attributes,
 * which measures may name. */
static const struct shape *shape_of_entry(yyjson_val *type)
{
    static const struct {
        const char *type;
        const struct shape *shape;
    } shapes[] = {
        {"mark", &timing},
        {"measure", &timing},
        {"event", &event},
        {"first-input", &event},
        {"long-animation-frame", &observed},
        {"longtask", &observed},
        {"largest-contentful-paint", &observed},
        {"layout-shift", &observed},
        {"paint", &paint},
        {"resource", &resource},
    };
    for (size_t i = 0; i < FP_COUNT(shapes); i++)
        if (yyjson_equals_str(type, shapes[i].type))
            return shapes[i].shape;
    return type == NULL ? &timing : &navigation;
}

/* Appends an entry. */
static void add_entry(struct fp_decoder *decoder, yyjson_val *object)
{
    struct fp_field type = {.name = FP_STR("entryType")};
    if (fp_read_object(decoder, NULL, object, &type, 1))
        add_value(decoder, object, shape_of_entry(type.value));
}

static void add_timings(struct fp_decoder *decoder, yyjson_val *timings)
{
    if (yyjson_is_arr(timings))
        add_value(decoder, timings, &entries);
    else
        add_map(decoder, timings, &times);
}

/* Appends a text as the fold stores it. Nothing of it needs an escape. */
static void add_text(struct fp_decoder *decoder, yyjson_val *value, enum shape_kind kind)
{
    const struct fp_str text = {yyjson_get_str(value), yyjson_get_len(value)};
    struct fp_str valid;
    struct fp_str kept = FP_STR("");
    if (kind == SHAPE_INVOKER && fp_invoker_is_url(text)) {
        fp_content_add_value(decoder, value);
        return;
    }
    bool fits = fp_utf8_copy(decoder->arena, text, &valid) &&
                (kind == SHAPE_HOST
                     ? fp_scrub_host(valid, decoder->arena, &kept)
                     : fp_scrub_selector(valid, kind == SHAPE_INVOKER, decoder->arena, &kept));
    decoder->content->failed = decoder->content->failed || !fits;
    fp_content_add(decoder, FP_STR("\""));
    fp_content_add(decoder, kept);
    fp_content_add(decoder, FP_STR("\""));
}

/* Appends a value that fits the shape. Recurses as deep as the shapes do. */
static void add_value(struct fp_decoder *decoder, yyjson_val *value, const struct shape *shape)
{
    switch (shape->kind) {
    case SHAPE_SCALAR:
    case SHAPE_NUMBER:
    case SHAPE_PAINT:
        fp_content_add_value(decoder, value);
        return;
    case SHAPE_OBJECT:
        add_members(decoder, value, shape->of, shape->count);
        return;
    case SHAPE_LIST:
        add_list(decoder, value, shape->of);
        return;
    case SHAPE_ATTRIBUTES:
        add_attributes(decoder, value);
        return;
    case SHAPE_TIMINGS:
        add_timings(decoder, value);
        return;
    case SHAPE_ENTRY:
        add_entry(decoder, value);
        return;
    case SHAPE_DETAIL:
        add_map(decoder, value, NULL);
        return;
    case SHAPE_NUMBERS:
        add_value(decoder, value, yyjson_is_arr(value) ? &times : &number);
        return;
    case SHAPE_SELECTOR:
    case SHAPE_INVOKER:
    case SHAPE_HOST:
        add_text(decoder, value, shape->kind);
        return;
    }
}

void fp_envelope_add_content(struct fp_decoder *decoder, yyjson_val *root)
{
    bool is_bare = yyjson_obj_get(root, "trace") == NULL;
    if (decoder->content != NULL && yyjson_is_obj(root))
        add_value(decoder, root, is_bare ? &trace : &envelope);
}

void fp_envelope_add_content_around(struct fp_decoder *decoder, yyjson_val *root,
                                    const struct fp_field *guest,
                                    void (*add_content)(struct fp_decoder *decoder,
                                                        yyjson_val *value))
{
    struct fp_field fields[MEMBERS_MAX];
    if (decoder->content == NULL ||
        !read_members(decoder, root, envelope.of, envelope.count, fields))
        return;
    fp_content_add(decoder, FP_STR("{\""));
    fp_content_add(decoder, guest->name);
    fp_content_add(decoder, FP_STR("\":"));
    add_content(decoder, guest->value);
    add_fields(decoder, fields, envelope.of, envelope.count, false);
}
