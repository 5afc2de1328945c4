/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random deltas: draws samples on random stacks, then adds them up in the simplest way.
 */
#include "tests/tools/random_delta.h"

#include "collector/base/hash.h"
#include "collector/rollup/bins.h"
#include "collector/rollup/ids.h"

enum {
    STACK_DEPTH_MAX = 6,
    STACK_TRIES = 12,
    TIMING_MAX = 4,
    LEFT_OUT_MAX = 6,
    VALUES_MAX = 8,
    TIMELINES_MAX = 3,
    EVENTS_MAX = 9,
    RESOURCES = 3
};

uint64_t random_next(uint64_t *state)
{
    /* splitmix64 */
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint32_t below(uint64_t *state, uint64_t limit)
{
    return limit == 0 ? 0 : (uint32_t)(random_next(state) % limit);
}

static struct fp_str text(struct fp_arena *arena, const char *prefix, unsigned number)
{
    char *bytes = fp_arena_alloc(arena, 64);
    int len = snprintf(bytes, 64, "%s%u", prefix, number);
    return (struct fp_str){bytes, (size_t)len};
}

static struct fp_uuid uuid(uint64_t *state)
{
    struct fp_uuid id;
    for (size_t i = 0; i < sizeof(id.bytes); i++)
        id.bytes[i] = (uint8_t)random_next(state);
    return id;
}

/* Draws one of a dimension's values, of which one is absent and one is frequent; without a number
 * of values, the fixed one. */
static struct fp_str dimension(const struct random_delta_settings *settings, uint64_t *state,
                               struct fp_arena *arena, const char *fixed)
{
    if (settings->values == 0)
        return fp_str_of(fixed);
    uint32_t number = below(state, 3) > 0 ? 1 : below(state, settings->values);
    return number == 0 ? FP_STR("") : text(arena, fixed, number);
}

static void describe(const struct random_delta_settings *settings, uint64_t *state,
                     struct fp_arena *arena, struct fp_delta *delta)
{
    static const char *const browsers[] = {"Chrome", "Edge", ""};
    static const char *const frames[] = {"", "", "", "", "same-origin", "cross-origin"};
    static const char *const traffic[] = {"", "", "repeated"};
    static const char *const machines[] = {"", "low", "mid", "high"};
    static const char *const versions[] = {"", "155", "156"};
    static const char *const networks[] = {"", "4g", "save-data"};
    static const char *const draws[] = {"", "no", "yes"};
    static const char *const customs[] = {"", "plan=pro", "plan=pro; country=de"};
    delta->id = uuid(state);
    delta->has_load = below(state, 2) == 0;
    if (delta->has_load) /* some loads have several parts */
        delta->load.bytes[15] = (uint8_t)below(state, 250);
    delta->part = below(state, 4);
    delta->received_us = settings->received_us;
    delta->segment = (struct fp_segment){
        .site = text(arena, "site-", below(state, settings->values > 0 ? 3 : 2)),
        .route = text(arena, "/route/", below(state, settings->routes)),
        .release = dimension(settings, state, arena, "1.0"),
        .environment = dimension(settings, state, arena, "production"),
        .variant = dimension(settings, state, arena, ""),
        .browser = fp_str_of(browsers[below(state, 3)]),
        .os = dimension(settings, state, arena, "Linux"),
        .device = dimension(settings, state, arena, "desktop"),
        .thread = dimension(settings, state, arena, "window"),
        .frame = fp_str_of(frames[below(state, 6)]),
        .traffic = fp_str_of(traffic[below(state, 3)]),
        .machine = fp_str_of(machines[below(state, 4)]),
        .browser_version = fp_str_of(versions[below(state, 3)]),
        .network = fp_str_of(networks[below(state, 3)]),
        /* All that is random stays as it was before these came. */
        .custom = fp_str_of(customs[settings->seed % 3]),
        .drawn = fp_str_of(draws[settings->seed / 3 % 3]),
        .rate_ppm = below(state, settings->values > 0 ? 3 : 2) * 10000,
    };
    delta->format = (enum fp_upload_format)below(state, FP_UPLOAD_FORMAT_COUNT);
    delta->coverage = (enum fp_coverage)below(state, FP_COVERAGE_COUNT);
    delta->truncated = below(state, 2) == 0;
    delta->browser_version = below(state, 200);
    delta->agent = FP_STR("fleetprof/1.0");
    delta->body_bytes = below(state, 100000);
    delta->skipped_entries = below(state, 5);
}

static bool has_events(const struct fp_delta *delta)
{
    return delta->format == FP_UPLOAD_SPEED_TRACER || delta->format == FP_UPLOAD_OPERA_SCOPE;
}

/* Finds the frame of function `number` or adds it. Every fourth has no resource. Among
 * several resources, those of a format with events are events. */
static uint32_t frame_of(struct fp_delta *delta, struct fp_arena *arena, unsigned number,
                         uint64_t site_id)
{
    bool has_resource = number % 4 != 0;
    bool is_event = delta->resource_count > 1 && has_events(delta);
    uint32_t resource = number % delta->resource_count;
    struct fp_frame_key key = {
        .function = number % 7 == 0 ? FP_STR("") : text(arena, "function_", number),
        .resource_id = has_resource ? delta->resources[resource].id : 0,
        .line = number % 5 == 0 ? FP_POSITION_NONE : (int32_t)number,
        .column = number % 5 == 0 ? FP_POSITION_NONE : 7,
        .kind = is_event       ? FP_FRAME_EVENT
                : has_resource ? FP_FRAME_FUNCTION
                               : FP_FRAME_BUILTIN,
    };
    uint64_t id = fp_frame_id(site_id, &key);
    for (uint32_t i = 0; i < delta->frame_count; i++)
        if (delta->frames[i].id == id)
            return i;
    delta->frames[delta->frame_count] = (struct fp_delta_frame){
        .id = id,
        .function = key.function,
        .resource = has_resource ? resource : FP_INDEX_NONE,
        .line = key.line,
        .column = key.column,
        .kind = key.kind,
    };
    return delta->frame_count++;
}

static uint32_t stack_of(struct fp_delta *delta, uint32_t parent, uint32_t frame)
{
    const struct fp_delta_stack *above = parent != FP_INDEX_NONE ? &delta->stacks[parent] : NULL;
    uint64_t id = fp_stack_id(above != NULL ? above->id : 0, delta->frames[frame].id);
    for (uint32_t i = 0; i < delta->stack_count; i++)
        if (delta->stacks[i].id == id)
            return i;
    delta->stacks[delta->stack_count] = (struct fp_delta_stack){
        .id = id, .parent = parent, .frame = frame, .level = above != NULL ? above->level + 1 : 1};
    return delta->stack_count++;
}

/* Adds a sample's weight to all frames on its stack, once each. */
static void charge_frames(struct fp_delta *delta, const struct fp_delta_stack_sample *sample)
{
    bool charged[1024] = {false};
    bool on_top = true;
    for (uint32_t at = sample->stack; at != FP_INDEX_NONE; at = delta->stacks[at].parent) {
        struct fp_delta_frame *frame = &delta->frames[delta->stacks[at].frame];
        if (on_top)
            frame->self_us += sample->self_us;
        on_top = false;
        if (charged[delta->stacks[at].frame])
            continue;
        charged[delta->stacks[at].frame] = true;
        frame->samples += sample->samples;
        frame->marked_samples += sample->marker != FP_MARKER_NONE ? sample->samples : 0;
        frame->total_us += sample->self_us;
    }
}

static void add_sample(struct fp_delta *delta, const struct fp_delta_stack_sample *sample)
{
    charge_frames(delta, sample);
    for (uint32_t i = 0; i < delta->stack_sample_count; i++) {
        struct fp_delta_stack_sample *sum = &delta->stack_samples[i];
        if (sum->stack == sample->stack && sum->marker == sample->marker) {
            sum->samples += sample->samples;
            sum->self_us += sample->self_us;
            return;
        }
    }
    delta->stack_samples[delta->stack_sample_count++] = *sample;
}

static bool is_on_stack(const struct fp_delta *delta, uint32_t stack, uint32_t frame)
{
    for (; stack != FP_INDEX_NONE; stack = delta->stacks[stack].parent)
        if (delta->stacks[stack].frame == frame)
            return true;
    return false;
}

static void split_by_marker(struct fp_delta *delta, struct fp_arena *arena)
{
    delta->splits =
        fp_arena_array(arena, delta->frame_count * FP_MARKER_COUNT, sizeof(*delta->splits));
    for (uint32_t frame = 0; frame < delta->frame_count; frame++)
        for (int marker = FP_MARKER_SCRIPT; marker < FP_MARKER_COUNT; marker++) {
            struct fp_delta_split split = {.frame = frame, .marker = (enum fp_marker)marker};
            for (uint32_t i = 0; i < delta->stack_sample_count; i++) {
                const struct fp_delta_stack_sample *sample = &delta->stack_samples[i];
                if ((int)sample->marker != marker || !is_on_stack(delta, sample->stack, frame))
                    continue;
                split.samples += sample->samples;
                split.total_us += sample->self_us;
                if (delta->stacks[sample->stack].frame == frame)
                    split.self_us += sample->self_us;
            }
            if (split.samples > 0 || split.total_us != 0)
                delta->splits[delta->split_count++] = split;
        }
}

/* A stack that samples are drawn from: its functions, outermost first. */
struct drawn_stack {
    uint32_t depth;
    uint32_t functions[STACK_DEPTH_MAX];
};

/* Returns the index of a stack in the delta, which has only stacks with samples. */
static uint32_t needed_stack(struct fp_delta *delta, struct fp_arena *arena, uint64_t site_id,
                             const struct drawn_stack *drawn)
{
    uint32_t top = FP_INDEX_NONE;
    for (uint32_t level = 0; level < drawn->depth; level++)
        top = stack_of(delta, top, frame_of(delta, arena, drawn->functions[level], site_id));
    return top;
}

static void draw_trace(const struct random_delta_settings *settings, uint64_t *state,
                       struct fp_arena *arena, struct fp_delta *delta)
{
    static const char *const urls[RESOURCES] = {"https://shop.example/app.js",
                                                "https://shop.example/fleetprof.js",
                                                "https://shop.example/route/:id"};
    uint32_t samples = below(state, settings->max_samples + 1);
    size_t nodes = STACK_TRIES * STACK_DEPTH_MAX;
    uint64_t site_id = fp_site_id(delta->segment.site);
    struct drawn_stack drawn[STACK_TRIES];
    delta->resources = fp_arena_array(arena, RESOURCES, sizeof(*delta->resources));
    delta->frames = fp_arena_array(arena, nodes, sizeof(*delta->frames));
    delta->stacks = fp_arena_array(arena, nodes, sizeof(*delta->stacks));
    delta->stack_samples =
        fp_arena_array(arena, nodes * FP_MARKER_COUNT, sizeof(*delta->stack_samples));
    delta->resource_count = settings->values > 0 ? RESOURCES : 1;
    for (uint32_t i = 0; i < delta->resource_count; i++) {
        delta->resources[i].url = fp_str_of(urls[i]);
        delta->resources[i].id = fp_resource_id(site_id, delta->resources[i].url);
    }
    for (size_t i = 0; i < STACK_TRIES; i++) {
        drawn[i].depth = 1 + below(state, STACK_DEPTH_MAX);
        for (uint32_t level = 0; level < drawn[i].depth; level++)
            drawn[i].functions[level] = below(state, settings->functions);
    }
    delta->unseen_us = has_events(delta) ? 0 : below(state, 3) * below(state, 500000);
    for (uint32_t i = 0; i < samples; i++) {
        int64_t weight_us = 1 + below(state, 20000);
        if (has_events(delta) && below(state, 20) == 0)
            weight_us = -weight_us; /* events' clocks are coarse */
        const uint32_t evidence = has_events(delta) || below(state, 10) > 0; /* else too light */
        delta->samples += evidence;
        delta->profiled_us += weight_us;
        if (below(state, 3) == 0) {
            delta->unattributed_samples += evidence;
            delta->unattributed_us += weight_us;
            continue;
        }
        const struct fp_delta_stack_sample sample = {
            .stack = needed_stack(delta, arena, site_id, &drawn[below(state, STACK_TRIES)]),
            .marker = below(state, 2) == 0 ? FP_MARKER_NONE
                                           : (enum fp_marker)below(state, FP_MARKER_COUNT),
            .samples = evidence,
            .self_us = weight_us,
        };
        add_sample(delta, &sample);
    }
    split_by_marker(delta, arena);
}

static void draw_timing(uint64_t *state, struct fp_delta *delta, struct fp_delta_timing *timing)
{
    uint32_t values = 1 + below(state, VALUES_MAX);
    timing->first_bin = delta->bin_count;
    for (uint32_t i = 0; i < values; i++) {
        int64_t value_us = (int64_t)below(state, 5000000) - 100000;
        if (timing->count == 0 || value_us < timing->min_us)
            timing->min_us = value_us;
        if (timing->count == 0 || value_us > timing->max_us)
            timing->max_us = value_us;
        timing->count++;
        timing->sum_us += value_us;
        if (value_us < 0) {
            timing->negative++;
            continue;
        }
        uint16_t bin = fp_bin_of(value_us);
        uint32_t at = timing->first_bin;
        while (at < delta->bin_count && delta->bins[at].bin < bin)
            at++;
        if (at == delta->bin_count || delta->bins[at].bin != bin) {
            memmove(&delta->bins[at + 1], &delta->bins[at],
                    (delta->bin_count++ - at) * sizeof(*delta->bins));
            delta->bins[at] = (struct fp_delta_bin){.bin = bin};
        }
        delta->bins[at].count++;
    }
    timing->bin_count = delta->bin_count - timing->first_bin;
}

/* Counts the reason that an upload gives, as a fold does. */
static void add_reason(uint64_t site_id, struct fp_delta *delta)
{
    if (delta->coverage == FP_COVERAGE_NONE ||
        (delta->part > 0 && delta->coverage != FP_COVERAGE_OVERLOAD))
        return;
    const struct fp_timing_key key = {.kind = FP_TIMING_COVERAGE,
                                      .name = fp_str_of(fp_coverage_name(delta->coverage))};
    delta->timings[delta->timing_count++] =
        (struct fp_delta_timing){.id = fp_timing_id(site_id, &key),
                                 .name = key.name,
                                 .kind = key.kind,
                                 .count = 1,
                                 .first_bin = delta->bin_count};
}

static void draw_timings(const struct random_delta_settings *settings, uint64_t *state,
                         struct fp_arena *arena, struct fp_delta *delta)
{
    const uint32_t kinds = settings->observed ? FP_TIMING_KIND_COUNT : FP_TIMING_MEASURE + 1;
    delta->timing_count = below(state, TIMING_MAX + 1);
    delta->timings = fp_arena_array(arena, TIMING_MAX + LEFT_OUT_MAX + FP_VITAL_COUNT + 1,
                                    sizeof(*delta->timings));
    delta->bins = fp_arena_array(arena, TIMING_MAX * VALUES_MAX, sizeof(*delta->bins));
    uint64_t site_id = fp_site_id(delta->segment.site);
    for (uint32_t i = 0; i < delta->timing_count; i++) {
        struct fp_delta_timing *timing = &delta->timings[i];
        timing->name = text(arena, "timing-", i);
        timing->kind = (enum fp_timing_kind)below(state, kinds);
        if (timing->kind > FP_TIMING_MEASURE) {
            timing->source = text(arena, "source-", below(state, 3));
            timing->function = text(arena, "function-", below(state, 3));
            timing->navigation = (enum fp_navigation)below(state, FP_NAVIGATION_COUNT);
        }
        const struct fp_timing_key key = {timing->kind, timing->name, timing->source,
                                          timing->function, timing->navigation};
        timing->id = fp_timing_id(site_id, &key);
        draw_timing(state, delta, timing);
    }
    if (settings->reasons)
        add_reason(site_id, delta);
}

/* Overlaps some measures with some frames; time without a frame is unattributed. */
static void draw_measured(uint64_t *state, struct fp_arena *arena, struct fp_delta *delta)
{
    size_t rows = (size_t)delta->frame_count * FP_MARKER_COUNT;
    delta->measured = fp_arena_array(arena, TIMING_MAX, sizeof(*delta->measured));
    delta->measured_frames =
        fp_arena_array(arena, TIMING_MAX * rows, sizeof(*delta->measured_frames));
    for (uint32_t i = 0; i < delta->timing_count; i++) {
        enum fp_timing_kind kind = delta->timings[i].kind;
        if ((kind != FP_TIMING_MEASURE && kind != FP_TIMING_WINDOW) || below(state, 3) == 0)
            continue;
        struct fp_delta_measured *measured = &delta->measured[delta->measured_count++];
        *measured = (struct fp_delta_measured){.timing = i,
                                               .samples = 1 + below(state, 100),
                                               .unattributed_samples = below(state, 2),
                                               .unattributed_us = below(state, 20000),
                                               .first_frame = delta->measured_frame_count};
        measured->profiled_us = measured->unattributed_us;
        for (uint32_t row = 0; row < rows; row++) {
            if (below(state, 4) > 0)
                continue;
            int64_t self_us = below(state, 20000);
            delta->measured_frames[delta->measured_frame_count++] =
                (struct fp_delta_measured_frame){.frame = row / FP_MARKER_COUNT,
                                                 .marker = (enum fp_marker)(row % FP_MARKER_COUNT),
                                                 .samples = 1 + below(state, 9),
                                                 .self_us = self_us,
                                                 .total_us = self_us + below(state, 20000)};
            measured->profiled_us += self_us;
        }
        measured->window_us = below(state, 2) * (measured->profiled_us + below(state, 50000));
        measured->counts_load = measured->profiled_us > 0 && below(state, 3) > 0;
        measured->frame_count = delta->measured_frame_count - measured->first_frame;
    }
}

static void draw_event(uint64_t *state, const struct fp_session *session, uint32_t index)
{
    session->events[index] = (struct fp_session_event){
        .id = index + 1,
        .parent = index == 0 || below(state, 3) == 0 ? FP_INDEX_NONE : below(state, index),
        .type = below(state, session->type_count),
        .start_us = (int64_t)below(state, 1000000) - 1000,
        .duration_us = below(state, 4) == 0 ? FP_DURATION_NONE : below(state, 90000),
        .self_us = (int64_t)below(state, 30000) - 2000,
        .overhead_us = below(state, 9),
        .hits = 1 + below(state, 3),
        .child_count = below(state, 5),
        .resource = below(state, 2) == 0 ? FP_INDEX_NONE : 0,
        .line = below(state, 2) == 0 ? FP_POSITION_NONE : 12,
        .parent_id = index % 5 == 4 ? index : 0,
        .detail = below(state, 2) == 0 ? FP_STR("") : FP_STR("{\"timerId\":7}"),
    };
}

static void draw_session(uint64_t *state, struct fp_arena *arena, struct fp_delta *delta)
{
    struct fp_session *session = fp_arena_array(arena, 1, sizeof(*session));
    delta->session = session;
    *session = (struct fp_session){
        .source_id = below(state, 9),
        .window_id = below(state, 9),
        .version = FP_STR("1.1"),
        .page_url = FP_STR("https://shop.example/cart"),
        .started_us = below(state, 2) * INT64_C(1300000000000000),
        .is_raw = below(state, 2) == 0,
        .content_len = below(state, 100),
        .content = text(arena, "content ", below(state, 100)),
        .types = fp_arena_array(arena, 2, sizeof(*session->types)),
        .type_count = 2,
        .resources = fp_arena_array(arena, 1, sizeof(*session->resources)),
        .resource_count = 1,
        .timelines = fp_arena_array(arena, TIMELINES_MAX, sizeof(*session->timelines)),
        .timeline_count = below(state, TIMELINES_MAX + 1),
        .events =
            fp_arena_array(arena, (size_t)TIMELINES_MAX * EVENTS_MAX, sizeof(*session->events)),
    };
    session->resources[0] = FP_STR("https://shop.example/app.js");
    session->types[0] = (struct fp_event_type){1, FP_STR("LAYOUT")};
    session->types[1] = (struct fp_event_type){-2, FP_STR("Custom")};
    for (uint32_t i = 0; i < session->timeline_count; i++) {
        uint32_t first = session->event_count;
        session->timelines[i] = (struct fp_session_timeline){
            .id = i + 1,
            .frame_id = below(state, 3),
            .mode = (enum fp_reduce_mode)(1 + below(state, FP_REDUCE_MODE_COUNT - 1)),
            .first_event = first,
            .event_count = below(state, EVENTS_MAX + 1),
        };
        session->event_count += session->timelines[i].event_count;
        for (uint32_t k = first; k < session->event_count; k++)
            draw_event(state, session, k);
    }
}

static void draw_refusals(uint64_t *state, struct fp_arena *arena, struct fp_delta *delta)
{
    delta->records_read = below(state, 100);
    delta->refusals = fp_arena_array(arena, FP_RECORD_REFUSAL_COUNT, sizeof(*delta->refusals));
    for (unsigned reason = 1; reason < FP_RECORD_REFUSAL_COUNT; reason++) {
        if (below(state, 8) > 0)
            continue;
        struct fp_delta_refusal *refusal = &delta->refusals[delta->refusal_count++];
        *refusal = (struct fp_delta_refusal){
            .reason = (enum fp_record_refusal)reason,
            .records = 1 + below(state, 9),
            .place = below(state, 4) > 0 ? text(arena, "byte ", below(state, 1000)) : FP_STR(""),
        };
        delta->records_refused += refusal->records;
    }
}

/* Returns the timing of the vital's element, FP_INDEX_NONE for number 0. */
static uint32_t draw_element(struct fp_arena *arena, struct fp_delta *delta, uint64_t number,
                             enum fp_vital vital)
{
    if (number == 0)
        return FP_INDEX_NONE;
    const struct fp_timing_key key = {.kind = FP_TIMING_VITAL_ELEMENT,
                                      .name = fp_str_of(fp_vital_name(vital)),
                                      .source = text(arena, "element-", (uint32_t)number),
                                      .function = FP_STR("")};
    delta->timings[delta->timing_count] =
        (struct fp_delta_timing){.id = fp_timing_id(fp_site_id(delta->segment.site), &key),
                                 .name = key.name,
                                 .source = key.source,
                                 .function = key.function,
                                 .kind = key.kind,
                                 .first_bin = delta->bin_count};
    return delta->timing_count++;
}

/* Draws vitals of few metrics. A part always has the same value, whichever upload brings it: so it
 * is the same in which order two of them are counted. */
static void draw_vitals(uint64_t *state, struct fp_arena *arena, struct fp_delta *delta)
{
    delta->vitals = fp_arena_array(arena, FP_VITAL_COUNT, sizeof(*delta->vitals));
    for (unsigned vital = 0; vital < FP_VITAL_COUNT; vital++) {
        if (below(state, 2) == 0)
            continue;
        const uint64_t metric = 1 + below(state, 2);
        const uint64_t load = delta->load.bytes[15];
        const uint64_t value = fp_hash_pair((char)vital, load << 8 | delta->part, metric);
        const uint64_t value_us = value % 6000000;
        struct fp_delta_vital *drawn = &delta->vitals[delta->vital_count++];
        *drawn = (struct fp_delta_vital){
            .metric = metric,
            .vital = (enum fp_vital)vital,
            .navigation = (enum fp_navigation)(value / 6 % FP_NAVIGATION_COUNT),
            .element = draw_element(arena, delta, value % 3, (enum fp_vital)vital),
            .value_us = (int64_t)value_us,
        };
        if (value % 2 == 0 && fp_vital_part_count(drawn->vital) > 0)
            drawn->parts.known = (int64_t)fp_vital_part_count(drawn->vital) - 1;
        for (int64_t i = 0; i < drawn->parts.known; i++)
            drawn->parts.us[i] = (int64_t)(value_us / (uint64_t)(6 + i));
    }
}

static void add_left_out(struct fp_delta *delta, enum fp_left_out what, struct fp_str source,
                         uint32_t count)
{
    const struct fp_timing_key key = {.kind = FP_TIMING_LEFT_OUT,
                                      .name = fp_str_of(fp_left_out_name(what)),
                                      .source = source,
                                      .function = {"", 0}};
    delta->timings[delta->timing_count++] =
        (struct fp_delta_timing){.id = fp_timing_id(fp_site_id(delta->segment.site), &key),
                                 .name = key.name,
                                 .source = source,
                                 .function = key.function,
                                 .kind = key.kind,
                                 .count = 1,
                                 .sum_us = count,
                                 .min_us = count,
                                 .max_us = count,
                                 .first_bin = delta->bin_count};
}

/* Leaves out something of some page loads, in each of their uploads: things of two kinds, and marks
 * or measures of a name. */
static void draw_left_outs(uint64_t *state, struct fp_arena *arena, struct fp_delta *delta)
{
    const bool is_of_name = below(state, 2) == 0;
    const enum fp_left_out what = below(state, 2) == 0 ? FP_LEFT_OUT_MARK : FP_LEFT_OUT_MEASURE;
    const unsigned others = FP_LEFT_OUT_COUNT - FP_LEFT_OUT_MEASURE - 1;
    const uint32_t drawn = below(state, 3);
    if ((delta->has_load ? delta->load.bytes[15] % 3U : drawn) > 0)
        return;
    delta->truncated = true;
    add_left_out(delta, FP_LEFT_OUT_ANY, FP_STR(""), 0);
    add_left_out(delta, what, FP_STR(""), below(state, 20000));
    if (is_of_name)
        add_left_out(delta, what, text(arena, "timing-", below(state, TIMING_MAX)),
                     below(state, 20000));
    if (below(state, 2) == 0)
        add_left_out(delta, (enum fp_left_out)(FP_LEFT_OUT_MEASURE + 1 + below(state, others)),
                     FP_STR(""), below(state, 2));
}

void random_delta(const struct random_delta_settings *settings, struct fp_arena *arena,
                  struct fp_delta *delta)
{
    uint64_t state = settings->seed;
    *delta = (struct fp_delta){0};
    describe(settings, &state, arena, delta);
    draw_trace(settings, &state, arena, delta);
    if (!settings->observed && !fp_delta_is_profiled(delta)) {
        delta->format = FP_UPLOAD_SELF_PROFILE;
        delta->coverage = FP_COVERAGE_NONE;
    }
    draw_timings(settings, &state, arena, delta);
    draw_measured(&state, arena, delta);
    if (has_events(delta))
        draw_session(&state, arena, delta);
    draw_refusals(&state, arena, delta);
    if (settings->vitals && delta->has_load)
        draw_vitals(&state, arena, delta);
    if (settings->left_out)
        draw_left_outs(&state, arena, delta);
}
