/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome: trace events, as the Performance panel of Chrome's DevTools saves and loads them.
 *
 * A sample lasts until the next one. So where no sample covers the time, and at the end, a sample
 * of `(root)` stands. The page's thread bears the name by which the panel finds it.
 *
 * The panel goes by names alone, of events as of functions. One that it has for its own ends in a
 * no-break space.
 */
#include "cli/export/format.h"
#include "cli/export/json.h"
#include "cli/kit/memory.h"

#include <stdlib.h>

enum { PROCESS_ID = 1, ROOT_ID = 1, FIRST_NODE_ID = 2 };
#define BEGIN_US 1000000 /* of the file: a time of 0 stands for none in the panel */

#define NO_BREAK_SPACE "\u00a0"

struct trace {
    const struct fp_export_stacks *stacks;
    yyjson_mut_doc *doc;
    yyjson_mut_val *events;
    int64_t begin_us; /* what a track's time 0 is in the file */
};

static yyjson_mut_val *add_event(const struct trace *trace, struct fp_str name,
                                 const char *category, const char *phase, size_t thread,
                                 int64_t time_us)
{
    yyjson_mut_val *event = yyjson_mut_arr_add_obj(trace->doc, trace->events);
    yyjson_mut_obj_add_val(trace->doc, event, "name", fp_export_json_text(trace->doc, name));
    yyjson_mut_obj_add_str(trace->doc, event, "cat", category);
    yyjson_mut_obj_add_str(trace->doc, event, "ph", phase);
    yyjson_mut_obj_add_int(trace->doc, event, "pid", PROCESS_ID);
    yyjson_mut_obj_add_uint(trace->doc, event, "tid", thread);
    yyjson_mut_obj_add_int(trace->doc, event, "ts", time_us);
    return event;
}

static void add_id(const struct trace *trace, yyjson_mut_val *event, size_t number)
{
    char id[32];
    (void)snprintf(id, sizeof(id), "0x%zx", number);
    yyjson_mut_obj_add_strcpy(trace->doc, event, "id", id);
}

static void add_name(const struct trace *trace, const char *what, size_t thread, struct fp_str name)
{
    yyjson_mut_val *event = add_event(trace, fp_str_of(what), "__metadata", "M", thread, 0);
    yyjson_mut_val *args = yyjson_mut_obj_add_obj(trace->doc, event, "args");
    yyjson_mut_obj_add_val(trace->doc, args, "name", fp_export_json_text(trace->doc, name));
}

/* Adds what tells the panel which process has the page. */
static void add_start(const struct trace *trace)
{
    yyjson_mut_doc *doc = trace->doc;
    yyjson_mut_val *event =
        add_event(trace, FP_STR("TracingStartedInBrowser"), "disabled-by-default-devtools.timeline",
                  "I", 1, trace->begin_us);
    yyjson_mut_obj_add_str(doc, event, "s", "t");
    yyjson_mut_val *args = yyjson_mut_obj_add_obj(doc, event, "args");
    yyjson_mut_val *data = yyjson_mut_obj_add_obj(doc, args, "data");
    yyjson_mut_obj_add_int(doc, data, "frameTreeNodeId", 1);
    yyjson_mut_obj_add_bool(doc, data, "persistentIds", true);
    yyjson_mut_val *frames = yyjson_mut_obj_add_arr(doc, data, "frames");
    yyjson_mut_val *frame = yyjson_mut_arr_add_obj(doc, frames);
    yyjson_mut_obj_add_str(doc, frame, "frame", "F");
    char *url =
        fp_memory_print("fleetprof:%.*s", (int)trace->stacks->title.len, trace->stacks->title.ptr);
    yyjson_mut_obj_add_strcpy(doc, frame, "url", url);
    free(url);
    yyjson_mut_obj_add_bool(doc, frame, "isOutermostMainFrame", true);
    yyjson_mut_obj_add_bool(doc, frame, "isInPrimaryMainFrame", true);
    yyjson_mut_obj_add_str(doc, frame, "name", "");
    yyjson_mut_obj_add_int(doc, frame, "processId", PROCESS_ID);
}

/* Returns a name set apart from the panel's own ones, which lives as long as the document. */
static struct fp_str set_apart(yyjson_mut_doc *doc, struct fp_str name)
{
    char *text = fp_memory_print("%.*s" NO_BREAK_SPACE, (int)name.len, name.ptr);
    yyjson_mut_val *copy = yyjson_mut_strcpy(doc, text);
    free(text);
    return (struct fp_str){yyjson_mut_get_str(copy), yyjson_mut_get_len(copy)};
}

/* True for the functions that V8 makes up, whose time viewers treat apart. */
static bool is_v8_name(struct fp_str name)
{
    return fp_str_equal(name, FP_STR("(root)")) || fp_str_equal(name, FP_STR("(program)")) ||
           fp_str_equal(name, FP_STR("(idle)")) ||
           fp_str_equal(name, FP_STR("(garbage collector)"));
}

/* Names of events that the panel or speedscope looks for, whoever sends them: they refuse the file,
 * leave the event out, or take it for a profile or for the name of a thread. */
/* clang-format off */
static const char *const event_names[] = {
    "AuctionWorkletDoneWithProcess", "AuctionWorkletRunningInProcess", "BeginMainThreadFrame",
    "CpuProfile", "DOMStats", "InvalidateLayout", "LayoutShift", "MarkDOMContent", "MarkLoad",
    "Paint", "PaintTimingVisualizer::Viewport", "PipelineReporter",
    "PreloadRenderBlockingStatusChange", "Profile", "ProfileChunk", "RequestIdleCallback",
    "ResourceChangePriority", "ResourceFinish", "ResourceMarkAsCached", "ResourceReceiveResponse",
    "ResourceReceivedData", "ResourceSendRequest", "ResourceWillSendRequest",
    "SchedulePostTaskCallback", "ScheduleStyleRecalculation", "SetLayerTreeId",
    "SoftNavigationStart", "StyleInvalidatorInvalidationTracking",
    "StyleRecalcInvalidationTracking", "TimerInstall", "TracingStartedInBrowser", "WebSocketCreate",
    "WebSocketDestroy", "WebSocketReceive", "WebSocketReceiveHandshakeResponse", "WebSocketSend",
    "WebSocketSendHandshakeRequest", "commitNavigationEnd", "connectEnd", "connectStart",
    "domComplete", "domContentLoadedEventEnd", "domContentLoadedEventStart", "domInteractive",
    "domLoading", "domainLookupEnd", "domainLookupStart", "fetchStart", "firstContentfulPaint",
    "firstPaint", "largestContentfulPaint::Candidate",
    "largestContentfulPaint::CandidateForSoftNavigation", "loadEventEnd", "loadEventStart",
    "navigationStart", "process_name", "redirectEnd", "redirectStart", "requestStart",
    "responseEnd", "responseStart", "secureConnectionStart", "thread_name", "unloadEventEnd",
    "unloadEventStart", "workerStart",
};
/* clang-format on */

static bool is_event_name(struct fp_str name)
{
    for (size_t i = 0; i < FP_COUNT(event_names); i++)
        if (fp_str_equal(name, fp_str_of(event_names[i])))
            return true;
    return false;
}

/* Adds a node's function; its lines and columns count from 0. */
static void add_call_frame(const struct trace *trace, yyjson_mut_val *node,
                           const struct fp_export_frame *frame)
{
    yyjson_mut_doc *doc = trace->doc;
    yyjson_mut_val *call = yyjson_mut_obj_add_obj(doc, node, "callFrame");
    bool has_place = frame->resource.len > 0;
    yyjson_mut_obj_add_val(doc, call, "functionName", fp_export_json_text(doc, frame->function));
    yyjson_mut_obj_add_str(doc, call, "scriptId", "0");
    yyjson_mut_obj_add_val(doc, call, "url", fp_export_json_text(doc, frame->resource));
    yyjson_mut_obj_add_int(doc, call, "lineNumber",
                           has_place && frame->line > 0 ? frame->line - 1 : -1);
    yyjson_mut_obj_add_int(doc, call, "columnNumber",
                           has_place && frame->column > 0 ? frame->column - 1 : -1);
    yyjson_mut_obj_add_str(doc, call, "codeType",
                           frame->kind == FP_FRAME_FUNCTION ? "JS" : "other");
}

static void add_nodes(const struct trace *trace, const struct fp_export_use *use,
                      yyjson_mut_val *profile)
{
    static const struct fp_export_frame root = {
        .function = {"(root)", 6}, .line = FP_POSITION_NONE, .column = FP_POSITION_NONE};
    const struct fp_export_stacks *stacks = trace->stacks;
    yyjson_mut_val *nodes = yyjson_mut_obj_add_arr(trace->doc, profile, "nodes");
    yyjson_mut_val *node = yyjson_mut_arr_add_obj(trace->doc, nodes);
    yyjson_mut_obj_add_int(trace->doc, node, "id", ROOT_ID);
    add_call_frame(trace, node, &root);
    for (size_t i = 0; i < stacks->node_count; i++) {
        uint32_t parent = stacks->nodes[i].parent;
        if (use->nodes[i] == FP_INDEX_NONE)
            continue;
        node = yyjson_mut_arr_add_obj(trace->doc, nodes);
        yyjson_mut_obj_add_uint(trace->doc, node, "id", (uint64_t)use->nodes[i] + FIRST_NODE_ID);
        yyjson_mut_obj_add_uint(
            trace->doc, node, "parent",
            parent != FP_INDEX_NONE ? (uint64_t)use->nodes[parent] + FIRST_NODE_ID : ROOT_ID);
        struct fp_export_frame frame = stacks->frames[stacks->nodes[i].frame];
        if (is_v8_name(frame.function))
            frame.function = set_apart(trace->doc, frame.function);
        add_call_frame(trace, node, &frame);
    }
}

/* The panel takes the samples of an event as arguments of one call, whose number is limited. */
enum { CHUNK_SAMPLES = 10000 };

/* The samples of a profile, each with the time since the one before it. */
struct chunk {
    const struct trace *trace;
    size_t thread;
    yyjson_mut_val *profile;
    yyjson_mut_val *nodes;
    yyjson_mut_val *deltas;
    size_t count;
    int64_t at_us; /* of the last sample of all chunks */
};

static yyjson_mut_val *add_profiler_event(const struct trace *trace, struct fp_str name,
                                          size_t thread, int64_t time_us)
{
    yyjson_mut_val *event =
        add_event(trace, name, "disabled-by-default-v8.cpu_profiler", "P", thread, time_us);
    add_id(trace, event, thread);
    yyjson_mut_val *args = yyjson_mut_obj_add_obj(trace->doc, event, "args");
    return yyjson_mut_obj_add_obj(trace->doc, args, "data");
}

static void begin_chunk(struct chunk *chunk)
{
    yyjson_mut_doc *doc = chunk->trace->doc;
    yyjson_mut_val *data =
        add_profiler_event(chunk->trace, FP_STR("ProfileChunk"), chunk->thread, chunk->at_us);
    chunk->profile = yyjson_mut_obj_add_obj(doc, data, "cpuProfile");
    chunk->nodes = yyjson_mut_obj_add_arr(doc, chunk->profile, "samples");
    chunk->deltas = yyjson_mut_obj_add_arr(doc, data, "timeDeltas");
    chunk->count = 0;
}

static void add_sample(struct chunk *chunk, uint64_t node, int64_t time_us)
{
    if (chunk->count == CHUNK_SAMPLES)
        begin_chunk(chunk);
    yyjson_mut_arr_add_uint(chunk->trace->doc, chunk->nodes, node);
    yyjson_mut_arr_add_int(chunk->trace->doc, chunk->deltas, time_us - chunk->at_us);
    chunk->at_us = time_us;
    chunk->count++;
}

static void add_samples(const struct trace *trace, const struct fp_export_track *track,
                        const struct fp_export_use *use, struct chunk *chunk)
{
    for (size_t i = 0; i < track->sample_count; i++) {
        const struct fp_export_sample *sample = &track->samples[i];
        int64_t time_us = trace->begin_us + sample->time_us;
        if (sample->weight_us > 0)
            add_sample(chunk, (uint64_t)use->nodes[sample->node] + FIRST_NODE_ID, time_us);
        if (fp_export_has_gap(track, i))
            add_sample(chunk, ROOT_ID, time_us + sample->weight_us);
    }
}

/* Adds a task per stretch of samples without a gap: the panel shows calls within tasks. One that
 * began together with its first call would be taken for a part of it. */
static void add_tasks(const struct trace *trace, const struct fp_export_track *track, size_t thread)
{
    int64_t begin_us = 0;
    for (size_t i = 0; i < track->sample_count; i++) {
        const struct fp_export_sample *sample = &track->samples[i];
        if (i == 0 || fp_export_has_gap(track, i - 1))
            begin_us = sample->time_us - 1;
        if (!fp_export_has_gap(track, i))
            continue;
        yyjson_mut_val *event =
            add_event(trace, FP_STR("RunTask"), "disabled-by-default-devtools.timeline", "X",
                      thread, trace->begin_us + begin_us);
        yyjson_mut_obj_add_int(trace->doc, event, "dur",
                               sample->time_us + sample->weight_us - begin_us);
        (void)yyjson_mut_obj_add_obj(trace->doc, event, "args");
    }
}

static void add_profile(const struct trace *trace, const struct fp_export_track *track,
                        size_t thread)
{
    /* No sample is earlier: speedscope refuses one before the start. */
    yyjson_mut_val *data = add_profiler_event(trace, FP_STR("Profile"), thread, BEGIN_US);
    yyjson_mut_obj_add_int(trace->doc, data, "startTime", BEGIN_US);
    struct chunk chunk = {.trace = trace, .thread = thread, .at_us = BEGIN_US};
    struct fp_export_use use;
    fp_export_use_init(&use, trace->stacks, track);
    begin_chunk(&chunk);
    add_nodes(trace, &use, chunk.profile);
    add_samples(trace, track, &use, &chunk);
    fp_export_use_release(&use);
}

/* Adds half of a measure, or a mark. */
static void add_timing(const struct trace *trace, const struct fp_export_mark *mark,
                       const char *phase, int64_t time_us, size_t thread, size_t number)
{
    yyjson_mut_doc *doc = trace->doc;
    struct fp_str name = is_event_name(mark->name) ? set_apart(doc, mark->name) : mark->name;
    yyjson_mut_val *event =
        add_event(trace, name, "blink.user_timing", phase, thread, trace->begin_us + time_us);
    yyjson_mut_val *args = yyjson_mut_obj_add_obj(doc, event, "args");
    if (mark->duration_us == FP_EXPORT_POINT) {
        yyjson_mut_val *data = yyjson_mut_obj_add_obj(doc, args, "data");
        yyjson_mut_obj_add_val(doc, data, "startTime", fp_export_json_ms(doc, mark->time_us));
    } else {
        add_id(trace, event, number);
    }
}

static void add_marks(const struct trace *trace, const struct fp_export_track *track, size_t thread)
{
    for (size_t i = 0; i < track->mark_count; i++) {
        const struct fp_export_mark *mark = &track->marks[i];
        if (mark->duration_us == FP_EXPORT_POINT) {
            add_timing(trace, mark, "R", mark->time_us, thread, i);
            continue;
        }
        add_timing(trace, mark, "b", mark->time_us, thread, i + 1);
        add_timing(trace, mark, "e", mark->time_us + mark->duration_us, thread, i + 1);
    }
}

/* Returns the name by which the panel knows the page's thread or a worker's, else the track's. */
static struct fp_str thread_name(const struct fp_export_track *track, size_t number)
{
    if (fp_str_equal(track->name, FP_STR("worker")))
        return FP_STR("DedicatedWorker thread");
    return number == 0 ? FP_STR("CrRendererMain") : track->name;
}

void fp_export_write_chrome(const struct fp_export_stacks *stacks, FILE *out)
{
    struct trace trace = {.stacks = stacks, .doc = fp_export_json_begin()};
    trace.events = yyjson_mut_arr(trace.doc);
    trace.begin_us = BEGIN_US - fp_export_begin(stacks);
    add_name(&trace, "process_name", 1, FP_STR("Renderer"));
    add_start(&trace);
    for (size_t i = 0; i < stacks->track_count; i++) {
        const struct fp_export_track *track = &stacks->tracks[i];
        add_name(&trace, "thread_name", i + 1, thread_name(track, i));
        if (track->sample_count > 0)
            add_profile(&trace, track, i + 1);
        add_tasks(&trace, track, i + 1);
        add_marks(&trace, track, i + 1);
    }
    yyjson_mut_val *root = yyjson_mut_obj(trace.doc);
    yyjson_mut_obj_add_val(trace.doc, root, "traceEvents", trace.events);
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(trace.doc, root, "metadata");
    yyjson_mut_obj_add_str(trace.doc, metadata, "source", "fleetprof " FP_VERSION);
    fp_export_json_end(trace.doc, root, out);
}
