/*
 * Question: the table of routes, and the check of what a request asks.
 */
#include "cli/serve/question.h"

#include "cli/serve/value.h"
#include "collector/base/ascii.h"

enum {
    ROWS_MOST = 10 * 1000,
    NODES_MOST = 200 * 1000,
    DEPTH_MOST = 2000,
};

#define TEXT(name_, option_) {.name = (name_), .type = FP_VALUE_TEXT, .option = (option_)}
#define NEEDED(name_, type_, option_)                                                              \
    {.name = (name_), .type = (type_), .presence = FP_PRESENCE_NEEDED, .option = (option_)}
#define OR_NULL(name_, option_)                                                                    \
    {.name = (name_), .type = FP_VALUE_TEXT, .presence = FP_PRESENCE_NULL, .option = (option_)}
#define TIME(name_, option_) {.name = (name_), .type = FP_VALUE_TIME, .option = (option_)}
#define ID(name_) {.name = (name_), .type = FP_VALUE_ID}
#define NUMBER(name_) {.name = (name_), .type = FP_VALUE_NUMBER}
#define COUNT(name_, most_, option_)                                                               \
    {.name = (name_), .type = FP_VALUE_COUNT, .most = (most_), .option = (option_)}
#define NEEDED_COUNT(name_)                                                                        \
    {.name = (name_), .type = FP_VALUE_COUNT, .most = INT32_MAX, .presence = FP_PRESENCE_NEEDED}
#define FOLD TEXT("fold", "--fold")
#define TOP COUNT("top", ROWS_MOST, "--top")
#define SESSION NEEDED("session_id", FP_VALUE_ID, NULL)

static const struct fp_parameter filters[] = {
    NEEDED("site", FP_VALUE_TEXT, "--site"),
    TIME("since", "--since"),
    TIME("until", "--until"),
    TEXT("route", "--route"),
    TEXT("release", "--release"),
    TEXT("environment", "--environment"),
    TEXT("variant", "--variant"),
    TEXT("browser", "--browser"),
    TEXT("os", "--os"),
    TEXT("device", "--device"),
    TEXT("thread", "--thread"),
    TEXT("marker", "--marker"),
    TEXT("exclude_route", "--exclude"),
    TEXT("exclude_release", "--exclude"),
    TEXT("exclude_environment", "--exclude"),
    TEXT("exclude_variant", "--exclude"),
    TEXT("exclude_browser", "--exclude"),
    TEXT("exclude_os", "--exclude"),
    TEXT("exclude_device", "--exclude"),
    TEXT("exclude_thread", "--exclude"),
    TEXT("exclude_marker", "--exclude"),
};

enum {
    RELEASE = 1U << 4 | 1U << 13, /* and its twin, exclude_release */
    MARKER = 1U << 11 | 1U << 20,
    WITH_MARKER = (1U << FP_COUNT(filters)) - 1,
    LOADS = WITH_MARKER & ~MARKER,
    BOTH_SIDES = LOADS & ~RELEASE,
};

const struct fp_question fp_questions[] = {
    {.name = "sites", .relation = "sites"},
    {.name = "values",
     .relation = "field_values",
     .filters = LOADS,
     .own = {NEEDED("field", FP_VALUE_TEXT, NULL)}},
    {.name = "summary", .relation = "summary", .filters = LOADS},
    {.name = "releases", .relation = "releases", .filters = BOTH_SIDES},
    {.name = "hotspots",
     .relation = "hotspots",
     .command = "top",
     .filters = WITH_MARKER,
     .own = {TOP}},
    {.name = "measure_hotspots",
     .relation = "measure_hotspots",
     .command = "top",
     .filters = WITH_MARKER,
     .own = {NEEDED("measure_name", FP_VALUE_TEXT, "--measure"), TOP}},
    {.name = "estimated_hotspots",
     .relation = "estimated_hotspots",
     .filters = WITH_MARKER,
     .own = {TOP}},
    {.name = "vital_hotspots",
     .relation = "vital_hotspots",
     .filters = WITH_MARKER,
     .own = {NEEDED("vital", FP_VALUE_TEXT, NULL), TOP}},
    {.name = "flamegraph_columns",
     .relation = "flamegraph_columns",
     .shape = FP_SHAPE_TREE,
     .command = "export --format folded",
     .filters = WITH_MARKER,
     .own = {COUNT("max_nodes", NODES_MOST, FP_OPTION_DROPPED), ID("root"), FOLD}},
    {.name = "callers",
     .relation = "callers",
     .command = "callers",
     .filters = WITH_MARKER,
     .own = {OR_NULL("function_name", ""), TEXT("key", "--key"), FOLD}},
    {.name = "callees",
     .relation = "callees",
     .command = "callers --callees",
     .filters = WITH_MARKER,
     .own = {OR_NULL("function_name", ""), TEXT("key", "--key"), FOLD}},
    {.name = "compare_releases",
     .relation = "compare_releases",
     .command = "compare",
     .filters = BOTH_SIDES,
     .own = {TEXT("before", ""), TEXT("after", ""), TIME("before_since", "--before-since"),
             TIME("before_until", "--before-until"), TOP}},
    {.name = "compare_summary",
     .relation = "compare_summary",
     .command = "compare",
     .filters = BOTH_SIDES,
     .own = {TEXT("before", ""), TEXT("after", ""), TIME("before_since", "--before-since"),
             TIME("before_until", "--before-until")}},
    {.name = "compare_timings",
     .relation = "compare_timings",
     .command = "compare --timings",
     .filters = BOTH_SIDES,
     .own = {TEXT("before", ""), TEXT("after", ""), TIME("before_since", "--before-since"),
             TIME("before_until", "--before-until")}},
    {.name = "compare_vitals",
     .relation = "compare_vitals",
     .command = "compare --vitals",
     .filters = BOTH_SIDES,
     .own = {TEXT("before", ""), TEXT("after", ""), TIME("before_since", "--before-since"),
             TIME("before_until", "--before-until")}},
    {.name = "regressions",
     .relation = "regressions",
     .command = "regressions",
     .filters = BOTH_SIDES,
     .own = {TEXT("release", ""), NUMBER("least_change")}},
    {.name = "trend",
     .relation = "trend",
     .command = "trend",
     .filters = LOADS,
     .own = {NEEDED("by", FP_VALUE_TEXT, "--by"), NEEDED("key", FP_VALUE_TEXT, ""),
             NEEDED("step", FP_VALUE_TEXT, "--step")}},
    {.name = "function_by",
     .relation = "function_by",
     .filters = LOADS,
     .own = {NEEDED("by", FP_VALUE_TEXT, NULL), NEEDED("key", FP_VALUE_TEXT, NULL)}},
    {.name = "histogram",
     .relation = "histogram",
     .filters = LOADS,
     .own = {NEEDED("kind", FP_VALUE_TEXT, NULL), NEEDED("timing_name", FP_VALUE_TEXT, NULL)}},
    {.name = "cost_by",
     .relation = "cost_by",
     .command = "cost",
     .filters = WITH_MARKER,
     .own = {NEEDED("by", FP_VALUE_TEXT, "")}},
    {.name = "function_origin",
     .relation = "function_origin",
     .own = {NEEDED("site", FP_VALUE_TEXT, NULL), NEEDED("generated_resource", FP_VALUE_TEXT, NULL),
             NEEDED_COUNT("generated_line"), NEEDED_COUNT("generated_column"),
             TEXT("release", NULL)}},
    {.name = "markers", .relation = "markers", .command = "markers", .filters = WITH_MARKER},
    {.name = "event_breakdown", .relation = "event_breakdown", .filters = WITH_MARKER},
    {.name = "timings", .relation = "timings", .command = "timings", .filters = LOADS},
    {.name = "vitals", .relation = "vitals", .command = "vitals", .filters = LOADS},
    {.name = "vitals_by",
     .relation = "vitals_by",
     .command = "vitals",
     .filters = LOADS,
     .own = {NEEDED("dimension", FP_VALUE_TEXT, "--by")}},
    {.name = "interactions",
     .relation = "interactions",
     .command = "interactions",
     .filters = LOADS},
    {.name = "long_frames", .relation = "long_frames", .command = "long-frames", .filters = LOADS},
    {.name = "third_parties",
     .relation = "third_parties",
     .command = "third-parties",
     .filters = LOADS},
    {.name = "coverage", .relation = "coverage", .command = "coverage", .filters = LOADS},
    {.name = "refusals", .relation = "refusals", .filters = LOADS},
    {.name = "sessions",
     .relation = "sessions",
     .shape = FP_SHAPE_VIEW,
     .order = "received desc, session_id",
     .time = "received",
     .filters = LOADS,
     .own = {{.name = "session_id", .type = FP_VALUE_ID}}},
    {.name = "timelines",
     .relation = "timelines",
     .shape = FP_SHAPE_VIEW,
     .order = "timeline",
     .own = {SESSION}},
    {.name = "get_events",
     .relation = "get_events",
     .own = {SESSION,
             NEEDED("timeline_id", FP_VALUE_ID, NULL),
             TEXT("mode", NULL),
             {.name = "event_id", .type = FP_VALUE_ID},
             NUMBER("from_ms"),
             NUMBER("to_ms"),
             COUNT("max_depth", DEPTH_MOST, NULL),
             {.name = "types", .type = FP_VALUE_TEXTS}}},
    {.name = "session_content",
     .relation = "session_content",
     .command = "session export",
     .own = {NEEDED("session_id", FP_VALUE_ID, "")}},
    {.name = "session_parts", .relation = "session_parts", .own = {SESSION}},
    {.name = "event_summary",
     .relation = "event_summary",
     .own = {SESSION, NUMBER("from_ms"), NUMBER("to_ms")}},
    {.name = "ui_thread_use",
     .relation = "ui_thread_use",
     .own = {SESSION, NUMBER("from_ms"), NUMBER("to_ms")}},
    {.name = "log_messages", .relation = "log_messages", .own = {SESSION}},
    {.name = "page_transitions", .relation = "page_transitions", .own = {SESSION}},
    {.name = "network_resources", .relation = "network_resources", .own = {SESSION}},
    {.name = "network_graph", .relation = "network_graph", .own = {SESSION}},
    {.name = "server_events", .relation = "server_events", .own = {SESSION}},
    {.name = "vm_states", .relation = "vm_states", .own = {SESSION}},
    {.name = "js_profile",
     .relation = "js_profile",
     .own = {SESSION, {.name = "event_id", .type = FP_VALUE_ID}, TEXT("state", NULL)}},
    {.name = "js_profile_bottom_up",
     .relation = "js_profile_bottom_up",
     .own = {SESSION,
             {.name = "event_id", .type = FP_VALUE_ID},
             TEXT("state", NULL),
             NUMBER("min_share")}},
    {.name = "hints", .relation = "hints", .own = {SESSION}},
};
const size_t fp_question_count = FP_COUNT(fp_questions);

const struct fp_question *fp_question_find(const char *name)
{
    for (size_t i = 0; i < FP_COUNT(fp_questions); i++) {
        if (strcmp(fp_questions[i].name, name) == 0)
            return &fp_questions[i];
    }
    return NULL;
}

size_t fp_question_parameters(const struct fp_question *question,
                              const struct fp_parameter *parameters[FP_PARAMETERS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < FP_OWN_PARAMETERS && question->own[i].name != NULL; i++)
        parameters[count++] = &question->own[i];
    for (size_t i = 0; i < FP_COUNT(filters); i++) {
        if ((question->filters & (1U << i)) != 0)
            parameters[count++] = &filters[i];
    }
    return count;
}
_Static_assert(FP_OWN_PARAMETERS + FP_COUNT(filters) <= FP_PARAMETERS_MAX, "all fit");

enum { LIST_MAX = 32 * 1024 };

void fp_inquiry_init(struct fp_inquiry *inquiry, const struct fp_question *question)
{
    *inquiry = (struct fp_inquiry){.question = question};
    inquiry->count = fp_question_parameters(question, inquiry->parameters);
    fp_buf_init(&inquiry->list, LIST_MAX);
}

void fp_inquiry_release(struct fp_inquiry *inquiry)
{
    fp_buf_release(&inquiry->list);
}

/* Names the parameters that there are. */
static void hint_at_parameters(const struct fp_inquiry *inquiry, struct fp_trouble *trouble)
{
    size_t used = 0;
    for (size_t i = 0; i < inquiry->count && used < sizeof(trouble->hint); i++) {
        int len = snprintf(trouble->hint + used, sizeof(trouble->hint) - used, "%s%s",
                           i == 0 ? "It takes " : ", ", inquiry->parameters[i]->name);
        used += len > 0 ? (size_t)len : 0;
    }
    if (inquiry->count == 0)
        fp_trouble_hint(trouble, "It takes no parameters.");
}

static size_t place_of(const struct fp_inquiry *inquiry, struct fp_str name)
{
    size_t place = 0;
    while (place < inquiry->count &&
           !fp_str_equal(name, fp_str_of(inquiry->parameters[place]->name)))
        place++;
    return place;
}

/* Appends an element to the text of a text[]. */
static bool add_element(struct fp_inquiry *inquiry, const char *value)
{
    struct fp_buf *list = &inquiry->list;
    if (list->len > 0)
        list->len -= strlen("}") + 1;
    fp_buf_add(list, list->len > 0 ? ",\"" : "{\"", 2);
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            fp_buf_add(list, "\\", 1);
        fp_buf_add(list, c, 1);
    }
    fp_buf_add(list, "\"}", 3);
    return !list->failed;
}

bool fp_inquiry_add(struct fp_inquiry *inquiry, struct fp_str name, struct fp_str value,
                    struct fp_trouble *trouble)
{
    size_t place = place_of(inquiry, name);
    if (place == inquiry->count) {
        fp_trouble_set(trouble, 400, "%s has no parameter \"%.*s\".", inquiry->question->name,
                       (int)(name.len < 80 ? name.len : 80), name.ptr);
        (void)snprintf(trouble->unknown, sizeof(trouble->unknown), "%.*s",
                       (int)(name.len < 80 ? name.len : 80), name.ptr);
        hint_at_parameters(inquiry, trouble);
        return false;
    }
    const struct fp_parameter *parameter = inquiry->parameters[place];
    if (!fp_value_check(parameter, value, trouble))
        return false;
    if (parameter->type == FP_VALUE_TEXTS) {
        if (!add_element(inquiry, value.ptr)) {
            fp_trouble_parameter(trouble, parameter->name, "%s has too many values.",
                                 parameter->name);
            return false;
        }
        inquiry->values[place] = (const char *)inquiry->list.data;
        return true;
    }
    if (inquiry->values[place] != NULL) {
        fp_trouble_parameter(trouble, parameter->name, "%s is given twice.", parameter->name);
        return false;
    }
    inquiry->values[place] = value.ptr;
    return true;
}

bool fp_inquiry_is_whole(const struct fp_inquiry *inquiry, struct fp_trouble *trouble)
{
    for (size_t i = 0; i < inquiry->count; i++) {
        const struct fp_parameter *parameter = inquiry->parameters[i];
        if (parameter->presence == FP_PRESENCE_NEEDED && inquiry->values[i] == NULL) {
            fp_trouble_parameter(trouble, parameter->name, "%s is missing: %s needs it.",
                                 parameter->name, inquiry->question->name);
            return false;
        }
    }
    return true;
}

static bool has_word(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        bool begins = at == text || !(fp_is_alnum(at[-1]) || at[-1] == '_');
        if (begins && !(fp_is_alnum(at[len]) || at[len] == '_'))
            return true;
    }
    return false;
}

void fp_inquiry_blame(const struct fp_inquiry *inquiry, struct fp_trouble *trouble)
{
    for (size_t i = 0; i < inquiry->count && trouble->parameter == NULL; i++) {
        if (has_word(trouble->detail, inquiry->parameters[i]->name))
            trouble->parameter = inquiry->parameters[i]->name;
    }
}
