/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gecko: a processed profile, as profiler.firefox.com saves and loads it.
 *
 * Version 49 of https://github.com/firefox-devtools/profiler/blob/main/docs-developer/
 * CHANGELOG-formats.md, which later versions of the viewer bring up to date. Samples weigh
 * milliseconds, not counts. A sample without a stack stands where no sample covers the time.
 */
#include "cli/export/format.h"
#include "cli/export/json.h"

enum category {
    CATEGORY_OTHER,
    CATEGORY_IDLE,
    CATEGORY_SCRIPT,
    CATEGORY_GC,
    CATEGORY_LAYOUT,
    CATEGORY_GRAPHICS,
    CATEGORY_DOM,
    CATEGORY_COUNT
};

static const char *const categories[CATEGORY_COUNT][2] = {
    [CATEGORY_OTHER] = {"Other", "grey"},
    [CATEGORY_IDLE] = {"Idle", "transparent"},
    [CATEGORY_SCRIPT] = {"JavaScript", "yellow"},
    [CATEGORY_GC] = {"GC / CC", "orange"},
    [CATEGORY_LAYOUT] = {"Layout", "purple"},
    [CATEGORY_GRAPHICS] = {"Graphics", "green"},
    [CATEGORY_DOM] = {"DOM", "blue"},
};

/* Returns the category of a frame; that of a marker goes by its name. */
static enum category category_of(const struct fp_export_frame *frame)
{
    static const struct {
        struct fp_str name;
        enum category category;
    } markers[] = {
        {{"(unattributed)", 14}, CATEGORY_IDLE},
        {{"(script)", 8}, CATEGORY_SCRIPT},
        {{"(gc)", 4}, CATEGORY_GC},
        {{"(style)", 7}, CATEGORY_LAYOUT},
        {{"(layout)", 8}, CATEGORY_LAYOUT},
        {{"(paint)", 7}, CATEGORY_GRAPHICS},
    };
    if (frame->kind == FP_FRAME_FUNCTION)
        return CATEGORY_SCRIPT;
    if (frame->kind == FP_FRAME_BUILTIN)
        return CATEGORY_DOM;
    for (size_t i = 0; frame->kind == FP_FRAME_MARKER && i < FP_COUNT(markers); i++) {
        if (fp_str_equal(frame->function, markers[i].name))
            return markers[i].category;
    }
    return CATEGORY_OTHER;
}

/* ---- the head ---- */

/* Adds what the viewer shows of a mark or measure. */
static void add_marker_schema(yyjson_mut_doc *doc, yyjson_mut_val *meta)
{
    static const char *const fields[][2] = {{"name", "Name"}, {"entryType", "Entry Type"}};
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, meta, "markerSchema");
    yyjson_mut_val *schema = yyjson_mut_arr_add_obj(doc, list);
    yyjson_mut_obj_add_str(doc, schema, "name", "UserTiming");
    yyjson_mut_obj_add_str(doc, schema, "tooltipLabel", "{marker.data.name}");
    yyjson_mut_obj_add_str(doc, schema, "chartLabel", "{marker.data.name}");
    yyjson_mut_obj_add_str(doc, schema, "tableLabel", "{marker.data.name}");
    yyjson_mut_val *display = yyjson_mut_obj_add_arr(doc, schema, "display");
    yyjson_mut_arr_add_str(doc, display, "marker-chart");
    yyjson_mut_arr_add_str(doc, display, "marker-table");
    yyjson_mut_val *data = yyjson_mut_obj_add_arr(doc, schema, "data");
    for (size_t i = 0; i < FP_COUNT(fields); i++) {
        yyjson_mut_val *field = yyjson_mut_arr_add_obj(doc, data);
        yyjson_mut_obj_add_str(doc, field, "key", fields[i][0]);
        yyjson_mut_obj_add_str(doc, field, "label", fields[i][1]);
        yyjson_mut_obj_add_str(doc, field, "format", "string");
    }
}

static void add_categories(yyjson_mut_doc *doc, yyjson_mut_val *meta)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, meta, "categories");
    for (size_t i = 0; i < CATEGORY_COUNT; i++) {
        yyjson_mut_val *category = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, category, "name", categories[i][0]);
        yyjson_mut_obj_add_str(doc, category, "color", categories[i][1]);
        yyjson_mut_val *below = yyjson_mut_obj_add_arr(doc, category, "subcategories");
        yyjson_mut_arr_add_str(doc, below, "Other");
    }
}

static void add_meta(const struct fp_export_stacks *stacks, yyjson_mut_doc *doc,
                     yyjson_mut_val *root)
{
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "meta");
    yyjson_mut_obj_add_int(doc, meta, "version", 24);
    yyjson_mut_obj_add_int(doc, meta, "preprocessedProfileVersion", 49);
    yyjson_mut_obj_add_val(doc, meta, "product", fp_export_json_text(doc, stacks->title));
    yyjson_mut_obj_add_str(doc, meta, "importedFrom", "fleetprof " FP_VERSION);
    yyjson_mut_obj_add_int(doc, meta, "processType", 0);
    yyjson_mut_obj_add_int(doc, meta, "stackwalk", 0);
    yyjson_mut_obj_add_bool(doc, meta, "debug", false);
    yyjson_mut_obj_add_bool(doc, meta, "symbolicated", true);
    yyjson_mut_obj_add_bool(doc, meta, "usesOnlyOneStackType", true);
    yyjson_mut_obj_add_bool(doc, meta, "doesNotUseFrameImplementation", true);
    yyjson_mut_obj_add_bool(doc, meta, "sourceCodeIsNotOnSearchfox", true);
    yyjson_mut_obj_add_int(doc, meta, "interval", 1);
    yyjson_mut_obj_add_val(doc, meta, "startTime", fp_export_json_ms(doc, stacks->started_us));
    yyjson_mut_val *extensions = yyjson_mut_obj_add_obj(doc, meta, "extensions");
    fp_export_json_fill(doc, extensions, "id", 0, 0);
    fp_export_json_fill(doc, extensions, "name", 0, 0);
    fp_export_json_fill(doc, extensions, "baseURL", 0, 0);
    yyjson_mut_obj_add_int(doc, extensions, "length", 0);
    add_categories(doc, meta);
    add_marker_schema(doc, meta);
}

/* ---- a thread ---- */

struct thread {
    const struct fp_export_stacks *stacks;
    const struct fp_export_track *track;
    struct fp_export_use use;
    yyjson_mut_doc *doc;
    yyjson_mut_val *object;
    yyjson_mut_val *strings;
};

/* Adds a table of `count` rows, whose columns the caller adds. */
static yyjson_mut_val *add_table(const struct thread *thread, const char *name, size_t count)
{
    yyjson_mut_val *table = yyjson_mut_obj_add_obj(thread->doc, thread->object, name);
    yyjson_mut_obj_add_uint(thread->doc, table, "length", count);
    return table;
}

static void add_number(yyjson_mut_doc *doc, yyjson_mut_val *list, bool is_there, int64_t number)
{
    if (is_there)
        yyjson_mut_arr_add_int(doc, list, number);
    else
        yyjson_mut_arr_add_null(doc, list);
}

/* The strings are: of each frame its function, its resource; then of each mark its name. */
static void add_strings(struct thread *thread)
{
    const struct fp_export_stacks *stacks = thread->stacks;
    yyjson_mut_doc *doc = thread->doc;
    thread->strings = yyjson_mut_obj_add_arr(doc, thread->object, "stringArray");
    for (size_t i = 0; i < stacks->frame_count; i++) {
        if (thread->use.frames[i] == FP_INDEX_NONE)
            continue;
        yyjson_mut_arr_append(thread->strings,
                              fp_export_json_text(doc, stacks->frames[i].function));
        yyjson_mut_arr_append(thread->strings,
                              fp_export_json_text(doc, stacks->frames[i].resource));
    }
    yyjson_mut_arr_add_str(doc, thread->strings, "UserTiming");
}

static void add_functions(const struct thread *thread)
{
    const struct fp_export_stacks *stacks = thread->stacks;
    yyjson_mut_doc *doc = thread->doc;
    yyjson_mut_val *table = add_table(thread, "funcTable", thread->use.frame_count);
    yyjson_mut_val *name = yyjson_mut_obj_add_arr(doc, table, "name");
    yyjson_mut_val *is_js = yyjson_mut_obj_add_arr(doc, table, "isJS");
    yyjson_mut_val *relevant = yyjson_mut_obj_add_arr(doc, table, "relevantForJS");
    yyjson_mut_val *file = yyjson_mut_obj_add_arr(doc, table, "fileName");
    yyjson_mut_val *line = yyjson_mut_obj_add_arr(doc, table, "lineNumber");
    yyjson_mut_val *column = yyjson_mut_obj_add_arr(doc, table, "columnNumber");
    fp_export_json_fill(doc, table, "resource", thread->use.frame_count, -1);
    for (size_t i = 0; i < stacks->frame_count; i++) {
        const struct fp_export_frame *frame = &stacks->frames[i];
        int64_t number = thread->use.frames[i];
        if (thread->use.frames[i] == FP_INDEX_NONE)
            continue;
        yyjson_mut_arr_add_int(doc, name, 2 * number);
        yyjson_mut_arr_add_bool(doc, is_js, frame->kind == FP_FRAME_FUNCTION);
        yyjson_mut_arr_add_bool(doc, relevant, frame->kind == FP_FRAME_BUILTIN);
        add_number(doc, file, frame->resource.len > 0, 2 * number + 1);
        add_number(doc, line, frame->line != FP_POSITION_NONE, frame->line);
        add_number(doc, column, frame->column != FP_POSITION_NONE, frame->column);
    }
}

static void add_frames(const struct thread *thread)
{
    const struct fp_export_stacks *stacks = thread->stacks;
    size_t count = thread->use.frame_count;
    yyjson_mut_doc *doc = thread->doc;
    yyjson_mut_val *table = add_table(thread, "frameTable", count);
    yyjson_mut_val *function = yyjson_mut_obj_add_arr(doc, table, "func");
    yyjson_mut_val *category = yyjson_mut_obj_add_arr(doc, table, "category");
    yyjson_mut_val *line = yyjson_mut_obj_add_arr(doc, table, "line");
    yyjson_mut_val *column = yyjson_mut_obj_add_arr(doc, table, "column");
    fp_export_json_fill(doc, table, "address", count, -1);
    fp_export_json_fill(doc, table, "inlineDepth", count, 0);
    fp_export_json_fill(doc, table, "subcategory", count, 0);
    fp_export_json_fill(doc, table, "innerWindowID", count, 0);
    fp_export_json_nulls(doc, table, "nativeSymbol", count);
    fp_export_json_nulls(doc, table, "implementation", count);
    for (size_t i = 0; i < stacks->frame_count; i++) {
        const struct fp_export_frame *frame = &stacks->frames[i];
        if (thread->use.frames[i] == FP_INDEX_NONE)
            continue;
        yyjson_mut_arr_add_uint(doc, function, thread->use.frames[i]);
        yyjson_mut_arr_add_int(doc, category, category_of(frame));
        add_number(doc, line, frame->line != FP_POSITION_NONE, frame->line);
        add_number(doc, column, frame->column != FP_POSITION_NONE, frame->column);
    }
}

static void add_stacks(const struct thread *thread)
{
    const struct fp_export_stacks *stacks = thread->stacks;
    yyjson_mut_doc *doc = thread->doc;
    yyjson_mut_val *table = add_table(thread, "stackTable", thread->use.node_count);
    yyjson_mut_val *prefix = yyjson_mut_obj_add_arr(doc, table, "prefix");
    yyjson_mut_val *frame = yyjson_mut_obj_add_arr(doc, table, "frame");
    yyjson_mut_val *category = yyjson_mut_obj_add_arr(doc, table, "category");
    fp_export_json_fill(doc, table, "subcategory", thread->use.node_count, 0);
    for (size_t i = 0; i < stacks->node_count; i++) {
        const struct fp_export_node *node = &stacks->nodes[i];
        bool has_parent = node->parent != FP_INDEX_NONE;
        if (thread->use.nodes[i] == FP_INDEX_NONE)
            continue;
        add_number(doc, prefix, has_parent, has_parent ? thread->use.nodes[node->parent] : 0);
        yyjson_mut_arr_add_uint(doc, frame, thread->use.frames[node->frame]);
        yyjson_mut_arr_add_int(doc, category, category_of(&stacks->frames[node->frame]));
    }
}

struct sample_columns {
    yyjson_mut_doc *doc;
    yyjson_mut_val *stack;
    yyjson_mut_val *time;
    yyjson_mut_val *weight;
};

static void add_sample(const struct sample_columns *columns, uint32_t node, int64_t time_us,
                       int64_t weight_us)
{
    add_number(columns->doc, columns->stack, node != FP_INDEX_NONE, node);
    yyjson_mut_arr_append(columns->time, fp_export_json_ms(columns->doc, time_us));
    yyjson_mut_arr_append(columns->weight, fp_export_json_ms(columns->doc, weight_us));
}

/* The time from a track's first mark to the end of its last one. */
struct marked {
    int64_t begin_us;
    int64_t end_us;
};

static struct marked find_marked(const struct fp_export_track *track)
{
    struct marked marked = {INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < track->mark_count; i++) {
        const struct fp_export_mark *mark = &track->marks[i];
        int64_t end_us =
            mark->time_us + (mark->duration_us != FP_EXPORT_POINT ? mark->duration_us : 0);
        marked.begin_us = mark->time_us < marked.begin_us ? mark->time_us : marked.begin_us;
        marked.end_us = end_us > marked.end_us ? end_us : marked.end_us;
    }
    return marked;
}

/* Adds the samples. The viewer shows no mark before the first or after the last of them. */
static void add_samples(const struct thread *thread)
{
    yyjson_mut_doc *doc = thread->doc;
    const struct fp_export_track *track = thread->track;
    yyjson_mut_val *table = yyjson_mut_obj_add_obj(doc, thread->object, "samples");
    struct sample_columns columns = {.doc = doc,
                                     .stack = yyjson_mut_obj_add_arr(doc, table, "stack"),
                                     .time = yyjson_mut_obj_add_arr(doc, table, "time"),
                                     .weight = yyjson_mut_obj_add_arr(doc, table, "weight")};
    const struct marked marked = find_marked(track);
    int64_t end_us = marked.begin_us;
    if (track->mark_count > 0 &&
        (track->sample_count == 0 || marked.begin_us < track->samples[0].time_us))
        add_sample(&columns, FP_INDEX_NONE, marked.begin_us, 0);
    for (size_t i = 0; i < track->sample_count; i++) {
        const struct fp_export_sample *sample = &track->samples[i];
        add_sample(&columns, thread->use.nodes[sample->node], sample->time_us, sample->weight_us);
        if (fp_export_has_gap(track, i))
            add_sample(&columns, FP_INDEX_NONE, sample->time_us + sample->weight_us, 0);
        end_us = sample->time_us + sample->weight_us;
    }
    if (track->mark_count > 0 && marked.end_us > end_us)
        add_sample(&columns, FP_INDEX_NONE, marked.end_us, 0);
    yyjson_mut_obj_add_str(doc, table, "weightType", "tracing-ms");
    yyjson_mut_obj_add_uint(doc, table, "length", yyjson_mut_arr_size(columns.stack));
}

static void add_marks(const struct thread *thread)
{
    yyjson_mut_doc *doc = thread->doc;
    const struct fp_export_track *track = thread->track;
    yyjson_mut_val *table = add_table(thread, "markers", track->mark_count);
    yyjson_mut_val *data = yyjson_mut_obj_add_arr(doc, table, "data");
    yyjson_mut_val *start = yyjson_mut_obj_add_arr(doc, table, "startTime");
    yyjson_mut_val *end = yyjson_mut_obj_add_arr(doc, table, "endTime");
    yyjson_mut_val *phase = yyjson_mut_obj_add_arr(doc, table, "phase");
    fp_export_json_fill(doc, table, "category", track->mark_count, CATEGORY_DOM);
    fp_export_json_fill(doc, table, "name", track->mark_count,
                        (int64_t)(2 * thread->use.frame_count));
    for (size_t i = 0; i < track->mark_count; i++) {
        const struct fp_export_mark *mark = &track->marks[i];
        bool is_point = mark->duration_us == FP_EXPORT_POINT;
        yyjson_mut_val *datum = yyjson_mut_arr_add_obj(doc, data);
        yyjson_mut_obj_add_str(doc, datum, "type", "UserTiming");
        yyjson_mut_obj_add_val(doc, datum, "name", fp_export_json_text(doc, mark->name));
        yyjson_mut_obj_add_str(doc, datum, "entryType", is_point ? "mark" : "measure");
        yyjson_mut_arr_append(start, fp_export_json_ms(doc, mark->time_us));
        yyjson_mut_arr_append(end, is_point
                                       ? yyjson_mut_null(doc)
                                       : fp_export_json_ms(doc, mark->time_us + mark->duration_us));
        yyjson_mut_arr_add_int(doc, phase, is_point ? 0 : 1);
    }
}

static void add_empty_tables(const struct thread *thread)
{
    static const char *const columns[][5] = {
        {"resourceTable", "lib", "name", "host", "type"},
        {"nativeSymbols", "libIndex", "address", "name", "functionSize"},
    };
    for (size_t i = 0; i < FP_COUNT(columns); i++) {
        yyjson_mut_val *table = add_table(thread, columns[i][0], 0);
        for (size_t k = 1; k < FP_COUNT(columns[i]); k++)
            fp_export_json_fill(thread->doc, table, columns[i][k], 0, 0);
    }
}

static void add_thread(struct thread *thread, size_t number)
{
    yyjson_mut_doc *doc = thread->doc;
    yyjson_mut_val *object = thread->object;
    yyjson_mut_obj_add_val(doc, object, "name", fp_export_json_text(doc, thread->track->name));
    yyjson_mut_obj_add_bool(doc, object, "isMainThread", number == 0);
    yyjson_mut_obj_add_str(doc, object, "processType", "default");
    yyjson_mut_obj_add_str(doc, object, "processName", "fleetprof");
    yyjson_mut_obj_add_int(doc, object, "processStartupTime", 0);
    yyjson_mut_obj_add_null(doc, object, "processShutdownTime");
    yyjson_mut_obj_add_int(doc, object, "registerTime", 0);
    yyjson_mut_obj_add_null(doc, object, "unregisterTime");
    yyjson_mut_obj_add_str(doc, object, "pid", "1");
    yyjson_mut_obj_add_uint(doc, object, "tid", number + 1);
    yyjson_mut_obj_add_bool(doc, object, "showMarkersInTimeline", true);
    fp_export_json_fill(doc, object, "pausedRanges", 0, 0);
    fp_export_use_init(&thread->use, thread->stacks, thread->track);
    add_strings(thread);
    add_functions(thread);
    add_frames(thread);
    add_stacks(thread);
    add_samples(thread);
    add_marks(thread);
    add_empty_tables(thread);
    fp_export_use_release(&thread->use);
}

void fp_export_write_gecko(const struct fp_export_stacks *stacks, FILE *out)
{
    yyjson_mut_doc *doc = fp_export_json_begin();
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    add_meta(stacks, doc, root);
    fp_export_json_fill(doc, root, "libs", 0, 0);
    fp_export_json_fill(doc, root, "pages", 0, 0);
    yyjson_mut_val *threads = yyjson_mut_obj_add_arr(doc, root, "threads");
    for (size_t i = 0; i < stacks->track_count; i++) {
        struct thread thread = {.stacks = stacks,
                                .track = &stacks->tracks[i],
                                .doc = doc,
                                .object = yyjson_mut_arr_add_obj(doc, threads)};
        add_thread(&thread, i);
    }
    fp_export_json_end(doc, root, out);
}
