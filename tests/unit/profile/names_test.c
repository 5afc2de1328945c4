/*
 * Names over their ceilings: where each becomes `(overflow)`, and that whatever comes, no time is
 * lost or made and nothing is stored that no sample needs.
 */
#include "test.h"

#include "collector/base/buf.h"
#include "collector/base/map.h"
#include "collector/rollup/ids.h"

#include <stdio.h>

enum { PLENTY = 1000000, SITE_UPLOADS = 40, ROUNDS = 30 };

static const char overflow[] = "(overflow)";

struct site {
    struct fp_metrics *metrics;
    struct fp_ceilings *ceilings;
    struct fp_ceiling_limits limits;
    struct fp_arena arena;
};

static int set_up(void **state)
{
    struct site *site = calloc(1, sizeof(*site));
    assert_non_null(site);
    site->metrics = fp_metrics_create();
    assert_non_null(site->metrics);
    site->ceilings = fp_ceilings_create(site->metrics);
    assert_non_null(site->ceilings);
    site->limits.memory = 1 << 20;
    for (size_t i = 0; i < FP_NAME_KINDS; i++)
        site->limits.names[i] = PLENTY;
    fp_arena_init(&site->arena, TEST_ARENA_MAX);
    *state = site;
    return 0;
}

static int tear_down(void **state)
{
    struct site *site = *state;
    fp_arena_release(&site->arena);
    fp_ceilings_free(site->ceilings);
    fp_metrics_free(site->metrics);
    free(site);
    return 0;
}

static struct fp_fold_context context_of(const struct site *site)
{
    return (struct fp_fold_context){
        .site = FP_STR("shop"), .ceilings = site->ceilings, .ceiling_limits = &site->limits};
}

static struct fp_delta fold_json(struct site *site, const char *text)
{
    const struct fp_fold_context context = context_of(site);
    struct fp_delta delta;
    fold_body(&site->arena, json_of(&site->arena, text), &context, &delta);
    return delta;
}

static int64_t overflowed(const struct site *site, enum fp_metric metric)
{
    return fp_metrics_get(site->metrics, metric);
}

/* ---- what becomes of what ---- */

#define ENVELOPE(frames, stacks, samples)                                                          \
    "{'sampleInterval':10,'trace':{'resources':['https://shop.example/a.js',"                      \
    "'https://shop.example/b.js'],'frames':[" frames "],'stacks':[" stacks "],'samples':[" samples \
    "]}}"
#define FRAME(name, resource) "{'name':'" name "','resourceId':" resource "}"
#define ABC FRAME("a", "0") "," FRAME("b", "1") "," FRAME("c", "1")

static void add_path(const struct fp_delta *delta, uint32_t stack, struct fp_buf *out)
{
    const struct fp_delta_stack *at = &delta->stacks[stack];
    const struct fp_delta_frame *frame = &delta->frames[at->frame];
    if (at->parent != FP_INDEX_NONE) {
        add_path(delta, at->parent, out);
        fp_buf_addf(out, ";");
    }
    fp_buf_addf(out, "%.*s", FP_STR_ARG(frame->function));
    assert_int_equal(frame->kind == FP_FRAME_OVERFLOW,
                     fp_str_equal(frame->function, fp_str_of(overflow)));
}

/* `PATH SELF PATH SELF …` in milliseconds, then `| FRAME TOTAL …`. */
static void assert_stacks(const struct fp_delta *delta, const char *expected)
{
    struct fp_buf text;
    fp_buf_init(&text, 4096);
    for (uint32_t i = 0; i < delta->stack_sample_count; i++) {
        add_path(delta, delta->stack_samples[i].stack, &text);
        fp_buf_addf(&text, " %lld ", (long long)delta->stack_samples[i].self_us / 1000);
    }
    fp_buf_addf(&text, "|");
    for (uint32_t i = 0; i < delta->frame_count; i++)
        fp_buf_addf(&text, " %.*s %lld", FP_STR_ARG(delta->frames[i].function),
                    (long long)delta->frames[i].total_us / 1000);
    assert_false(text.failed);
    assert_text((struct fp_str){(const char *)text.data, text.len}, expected);
    fp_buf_release(&text);
}

static void a_frame_over_its_ceiling_is_replaced_in_its_place(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_FRAME] = 2;
    struct fp_delta delta = fold_json(
        site, ENVELOPE(ABC,
                       "{'frameId':0},{'frameId':2,'parentId':0},{'frameId':1,'parentId':0},"
                       "{'frameId':0,'parentId':2}",
                       "{'timestamp':0,'stackId':1},{'timestamp':10,'stackId':3}"));
    assert_stacks(&delta, "a;c 10 a;(overflow);a 10 | a 20 c 10 (overflow) 10");
    const uint64_t site_id = fp_site_id(FP_STR("shop"));
    const struct fp_frame_key key = {fp_str_of(overflow), 0, FP_POSITION_NONE, FP_POSITION_NONE,
                                     FP_FRAME_OVERFLOW};
    assert_int_equal(delta.frames[2].id, fp_frame_id(site_id, &key));
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_FRAME), 1);
}

static void several_of_one_stack_count_each_sample_once(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_FRAME] = 1;
    struct fp_delta delta =
        fold_json(site, ENVELOPE(ABC,
                                 "{'frameId':0},{'frameId':1,'parentId':0},"
                                 "{'frameId':2,'parentId':1}",
                                 "{'timestamp':0,'stackId':2},{'timestamp':10,'stackId':1}"));
    assert_stacks(&delta, "a;(overflow) 10 a;(overflow);(overflow) 10 | a 20 (overflow) 20");
    assert_int_equal(delta.frames[1].samples, 2);
    assert_int_equal(delta.resource_count, 1);
}

static void stacks_that_become_alike_are_one(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_FRAME] = 1;
    struct fp_delta delta =
        fold_json(site, ENVELOPE(ABC,
                                 "{'frameId':0},{'frameId':1,'parentId':0},"
                                 "{'frameId':2,'parentId':0},{'frameId':0,'parentId':2}",
                                 "{'timestamp':0,'stackId':0},{'timestamp':10,'stackId':1},"
                                 "{'timestamp':20,'stackId':2},{'timestamp':30,'stackId':3}"));
    assert_stacks(&delta, "a 10 a;(overflow) 20 a;(overflow);a 10 | a 40 (overflow) 30");
}

static void a_stack_over_its_ceiling_is_the_one_frame_and_leaves_nothing_behind(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_STACK] = 2;
    struct fp_delta delta =
        fold_json(site, ENVELOPE(ABC,
                                 "{'frameId':0},{'frameId':1,'parentId':0},"
                                 "{'frameId':2,'parentId':1}",
                                 "{'timestamp':0,'stackId':0},{'timestamp':10,'stackId':2}"));
    assert_stacks(&delta, "a 10 (overflow) 10 | a 10 (overflow) 10");
    assert_int_equal(delta.stack_count, 2);
    assert_int_equal(delta.resource_count, 1);
    assert_int_equal(delta.stacks[1].level, 1);
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_STACK), 1);

    /* What the first upload was charged for is known to the second one. */
    delta = fold_json(site, ENVELOPE(ABC, "{'frameId':0},{'frameId':1,'parentId':0}",
                                     "{'timestamp':0,'stackId':1}"));
    assert_stacks(&delta, "a;b 10 | a 10 b 10");
}

static void the_stack_of_overflow_alone_is_free(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_FRAME] = 1;
    site->limits.names[FP_NAME_STACK] = 1;
    struct fp_delta delta =
        fold_json(site, ENVELOPE(ABC, "{'frameId':0},{'frameId':1},{'frameId':2,'parentId':1}",
                                 "{'timestamp':0,'stackId':0},{'timestamp':10,'stackId':1},"
                                 "{'timestamp':20,'stackId':2}"));
    assert_stacks(&delta, "a 10 (overflow) 20 | a 10 (overflow) 20");
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_STACK), 1);
}

static void what_stands_on_overflow_alone_is_judged_by_itself(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_FRAME] = 1;
    site->limits.names[FP_NAME_STACK] = 2;
    struct fp_delta delta =
        fold_json(site, ENVELOPE(ABC,
                                 "{'frameId':0},{'frameId':1},{'frameId':2,'parentId':1},"
                                 "{'frameId':0,'parentId':2}",
                                 "{'timestamp':0,'stackId':0},{'timestamp':10,'stackId':1},"
                                 "{'timestamp':20,'stackId':2},{'timestamp':30,'stackId':3}"));
    assert_stacks(&delta, "a 10 (overflow) 20 (overflow);(overflow) 10 | a 10 (overflow) 30");
}

/* Uploads are decided on in several steps, and others come between. */
static void a_known_stack_on_a_refused_one_goes_with_it(void **state)
{
    struct site *site = *state;
    const char upload[] =
        ENVELOPE(ABC, "{'frameId':0},{'frameId':1,'parentId':0}", "{'timestamp':0,'stackId':1}");
    const struct fp_fold_context unbounded = {.site = FP_STR("shop")};
    struct fp_delta delta;
    fold_body(&site->arena, json_of(&site->arena, upload), &unbounded, &delta);
    const struct fp_ceilings_visit visit = {
        .ceilings = site->ceilings,
        .limits = &site->limits,
        .site = unbounded.site,
        .site_id = fp_site_id(unbounded.site),
    };
    bool refused;
    site->limits.names[FP_NAME_STACK] = 1;
    assert_int_equal(fp_ceilings_admit(&visit, FP_NAME_STACK, &delta.stacks[1].id, 1, &refused), 0);
    delta = fold_json(site, upload);
    assert_stacks(&delta, "(overflow) 10 | (overflow) 10");
    assert_int_equal(delta.stack_count, 1);
}

static void markers_stay_beside_overflow(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_FRAME] = 1;
    struct fp_delta delta = fold_json(
        site, ENVELOPE(ABC, "{'frameId':0},{'frameId':1}",
                       "{'timestamp':0,'stackId':0},{'timestamp':10,'stackId':1,'marker':'gc'},"
                       "{'timestamp':20,'marker':'layout'},{'timestamp':30}"));
    assert_stacks(&delta, "a 10 (overflow) 10 (overflow) 10 | a 10 (overflow) 20");
    assert_int_equal(delta.split_count, 2);
    assert_int_equal(delta.splits[0].marker, FP_MARKER_GC);
    assert_int_equal(delta.splits[1].marker, FP_MARKER_LAYOUT);
    assert_int_equal(delta.unattributed_us, 10000);
}

static void timings_over_their_ceiling_are_counted_and_binned_by_kind(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_TIMING] = 1;
    struct fp_delta delta =
        fold_json(site, "{'measures':{'a':[1],'b':[2,3],'(overflow)':[5],'a2':[1]},"
                        "'marks':{'m':[7],'(overflow)':[9]}}");
    assert_int_equal(delta.timing_count, 3);
    uint32_t counts[FP_TIMING_KIND_COUNT] = {0};
    for (uint32_t i = 0; i < delta.timing_count; i++) {
        const struct fp_delta_timing *timing = &delta.timings[i];
        if (!fp_str_equal(timing->name, fp_str_of(overflow)))
            continue;
        counts[timing->kind] = timing->count;
        uint32_t binned = 0;
        for (uint32_t k = 0; k < timing->bin_count; k++)
            binned += delta.bins[timing->first_bin + k].count;
        assert_int_equal(binned, timing->count);
        assert_int_equal(timing->id,
                         fp_timing_id(fp_site_id(FP_STR("shop")), timing->kind, timing->name));
    }
    /* One name of either kind was admitted. */
    assert_true((counts[FP_TIMING_MEASURE] == 4 && counts[FP_TIMING_MARK] == 2) ||
                (counts[FP_TIMING_MEASURE] == 5 && counts[FP_TIMING_MARK] == 1));
}

static void routes_and_releases_over_their_ceilings_are_replaced(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_ROUTE] = 1;
    site->limits.names[FP_NAME_RELEASE] = 1;
    const char first[] = "{'marks':{'m':[1]},'release':'1','page':{'route':'/a'}}";
    for (int round = 0; round < 2; round++) {
        struct fp_delta delta = fold_json(site, first);
        assert_text(delta.segment.release, "1");
        assert_text(delta.segment.route, "/a");
        delta = fold_json(site, "{'marks':{'m':[1]},'release':'2','page':{'route':'/b'}}");
        assert_text(delta.segment.release, overflow);
        assert_text(delta.segment.route, overflow);
        delta = fold_json(site, "{'marks':{'m':[1]}}");
        assert_text(delta.segment.release, "");
        assert_text(delta.segment.route, "");
    }
}

static void assert_segment(struct site *site, const char *upload, const char *expected)
{
    const struct fp_delta delta = fold_json(site, upload);
    const struct fp_segment *segment = &delta.segment;
    char text[200];
    snprintf(text, sizeof(text), "%.*s|%.*s|%.*s|%.*s", FP_STR_ARG(segment->environment),
             FP_STR_ARG(segment->release), FP_STR_ARG(segment->route),
             FP_STR_ARG(segment->variant));
    assert_string_equal(text, expected);
}

#define IN(environment, release, route, variant)                                                   \
    "{'marks':{'m':[1]},'environment':'" environment "','release':'" release                       \
    "','page':{'route':'" route "'},'variant':'" variant "'}"

static void segments_lose_environment_then_release_then_route(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_SEGMENT] = 10; /* a tenth for each step */
    for (char name[] = "0"; name[0] <= '9'; name[0]++) {
        char upload[200];
        char expected[20];
        snprintf(upload, sizeof(upload), IN("e", "%s", "/", "v"), name);
        snprintf(expected, sizeof(expected), "e|%s|/|v", name);
        assert_segment(site, upload, expected);
    }
    assert_segment(site, IN("e", "0", "/", "v"), "e|0|/|v");
    assert_segment(site, IN("f", "0", "/", "v"), "(overflow)|0|/|v");
    assert_segment(site, IN("g", "0", "/", "v"), "(overflow)|0|/|v");
    assert_segment(site, IN("g", "1", "/", "v"), "(overflow)|(overflow)|/|v");
    assert_segment(site, IN("g", "2", "/", "v"), "(overflow)|(overflow)|/|v");
    assert_segment(site, IN("g", "2", "/b", "v"), "(overflow)|(overflow)|(overflow)|v");
    assert_segment(site, IN("g", "2", "/b", "w"), "(overflow)|(overflow)|(overflow)|(overflow)");
    assert_segment(site, IN("", "2", "", "w"), "|(overflow)||(overflow)");
    assert_segment(site, IN("e", "5", "/", "v"), "e|5|/|v");
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_SEGMENT), 7);
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_RELEASE), 0);
}

/* ---- whatever comes ---- */

enum { NAMES = 40, FRAMES = 30, STACKS = 60, SAMPLES = 80, TIMINGS = 20, EVENTS = 20 };

static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % limit;
}

/* An upload out of few names, so that many are met again. */
struct upload {
    struct fp_profile profile;
    char names[NAMES][8];
    struct fp_str resources[3];
    struct fp_profile_frame frames[FRAMES];
    struct fp_profile_stack stacks[STACKS];
    struct fp_profile_sample samples[SAMPLES];
    struct fp_profile_timing timings[TIMINGS];
    struct fp_profile_event events[EVENTS];
    struct fp_profile_timeline timeline;
};

static struct fp_str name_in(struct upload *upload)
{
    char *name = upload->names[below(NAMES)];
    return below(9) == 0 ? fp_str_of(overflow) : fp_str_of(name);
}

static void make_trace(struct upload *upload)
{
    struct fp_profile *profile = &upload->profile;
    for (uint32_t i = 0; i < profile->frame_count; i++)
        upload->frames[i] = (struct fp_profile_frame){
            .function = name_in(upload),
            .resource = below(4) == 0 ? FP_INDEX_NONE : below(profile->resource_count),
            .line = FP_POSITION_NONE,
            .column = FP_POSITION_NONE};
    for (uint32_t i = 0; i < profile->stack_count; i++)
        upload->stacks[i] =
            (struct fp_profile_stack){.frame = below(profile->frame_count),
                                      .parent = i == 0 || below(5) == 0 ? FP_INDEX_NONE : below(i)};
    for (uint32_t i = 0; i < profile->sample_count; i++)
        upload->samples[i] = (struct fp_profile_sample){
            .time_us = (int64_t)below(1000000),
            .stack = below(5) == 0 ? FP_INDEX_NONE : below(profile->stack_count),
            .marker = below(5) == 0 ? (enum fp_marker)below(FP_MARKER_COUNT) : FP_MARKER_NONE};
}

static void make_upload(struct upload *upload)
{
    *upload =
        (struct upload){.resources = {FP_STR("https://a.example/a.js"),
                                      FP_STR("https://a.example/b.js"), FP_STR("c.js")},
                        .timeline = {.id = 1, .mode = FP_REDUCE_ALL_EVENTS, .event_count = EVENTS}};
    for (int i = 0; i < NAMES; i++)
        snprintf(upload->names[i], sizeof(upload->names[i]), "f%u", below(1 + 20 * NAMES));
    upload->profile = (struct fp_profile){
        .has_id = true,
        .has_trace = true,
        .interval_us = 10000,
        .release = name_in(upload),
        .environment = name_in(upload),
        .variant = name_in(upload),
        .has_page_route = true,
        .page_route = name_in(upload),
        .resources = upload->resources,
        .resource_count = 3,
        .frames = upload->frames,
        .frame_count = 1 + below(FRAMES),
        .stacks = upload->stacks,
        .stack_count = 1 + below(STACKS),
        .samples = upload->samples,
        .sample_count = below(SAMPLES + 1),
        .timings = upload->timings,
        .timing_count = below(TIMINGS + 1),
        .timelines = &upload->timeline,
        .timeline_count = 1,
        .events = upload->events,
        .event_count = EVENTS,
    };
    make_trace(upload);
    for (uint32_t i = 0; i < upload->profile.timing_count; i++)
        upload->timings[i] =
            (struct fp_profile_timing){.name = name_in(upload),
                                       .kind = (enum fp_timing_kind)below(FP_TIMING_KIND_COUNT),
                                       .has_start = true,
                                       .start_us = below(1000000),
                                       .value_us = (int64_t)below(300000) - 1000};
    for (uint32_t i = 0; i < EVENTS; i++)
        upload->events[i] =
            (struct fp_profile_event){.type = name_in(upload),
                                      .parent = i == 0 || below(3) == 0 ? FP_INDEX_NONE : below(i),
                                      .self_us = (int64_t)below(5000) - 100,
                                      .resource = FP_INDEX_NONE,
                                      .line = FP_POSITION_NONE,
                                      .hits = 1};
}

/* What must be the same with ceilings and without. */
struct whole {
    int64_t profiled_us;
    int64_t unattributed_us;
    int64_t stacks_self_us[FP_MARKER_COUNT];
    int64_t frames_self_us;
    int64_t timings_sum_us[FP_TIMING_KIND_COUNT];
    uint64_t stack_samples[FP_MARKER_COUNT];
    uint64_t timings[FP_TIMING_KIND_COUNT];
    uint64_t negative;
    uint64_t bins;
    uint64_t samples;
};

static struct whole whole_of(const struct fp_delta *delta)
{
    struct whole whole = {.profiled_us = delta->profiled_us,
                          .unattributed_us = delta->unattributed_us,
                          .samples = delta->samples};
    for (uint32_t i = 0; i < delta->stack_sample_count; i++) {
        whole.stacks_self_us[delta->stack_samples[i].marker] += delta->stack_samples[i].self_us;
        whole.stack_samples[delta->stack_samples[i].marker] += delta->stack_samples[i].samples;
    }
    for (uint32_t i = 0; i < delta->frame_count; i++)
        whole.frames_self_us += delta->frames[i].self_us;
    for (uint32_t i = 0; i < delta->timing_count; i++) {
        whole.timings[delta->timings[i].kind] += delta->timings[i].count;
        whole.timings_sum_us[delta->timings[i].kind] += delta->timings[i].sum_us;
        whole.negative += delta->timings[i].negative;
    }
    for (uint32_t i = 0; i < delta->bin_count; i++)
        whole.bins += delta->bins[i].count;
    return whole;
}

static void assert_sums_are_whole(const struct fp_delta *delta, const struct fp_delta *without)
{
    const struct whole whole = whole_of(delta);
    const struct whole expected = whole_of(without);
    assert_memory_equal(&whole, &expected, sizeof(whole));
    assert_int_equal(whole.frames_self_us + whole.unattributed_us, whole.profiled_us);
}

static void assert_measured(const struct fp_delta *delta)
{
    for (uint32_t i = 0; i < delta->measured_count; i++) {
        const struct fp_delta_measured *measured = &delta->measured[i];
        int64_t self_us = 0;
        assert_true(measured->timing < delta->timing_count);
        for (uint32_t k = 0; k < measured->frame_count; k++)
            self_us += delta->measured_frames[measured->first_frame + k].self_us;
        assert_int_equal(self_us + measured->unattributed_us, measured->profiled_us);
    }
}

/* Total time by the definition: of all stacks that have the frame, once. */
static void assert_totals(const struct fp_delta *delta)
{
    for (uint32_t frame = 0; frame < delta->frame_count; frame++) {
        int64_t total_us = 0;
        uint32_t samples = 0;
        for (uint32_t i = 0; i < delta->stack_sample_count; i++) {
            uint32_t stack = delta->stack_samples[i].stack;
            while (stack != FP_INDEX_NONE && delta->stacks[stack].frame != frame)
                stack = delta->stacks[stack].parent;
            if (stack == FP_INDEX_NONE)
                continue;
            total_us += delta->stack_samples[i].self_us;
            samples += delta->stack_samples[i].samples;
        }
        assert_int_equal(delta->frames[frame].total_us, total_us);
        assert_int_equal(delta->frames[frame].samples, samples);
        assert_true(samples > 0);
    }
}

/* Ids are those of what is stored, each is there once, and parents stand before their children. */
static void assert_ids(const struct fp_delta *delta)
{
    const uint64_t site_id = fp_site_id(FP_STR("shop"));
    bool needed[3] = {false};
    struct fp_map seen;
    fp_map_init(&seen, (size_t)delta->frame_count + delta->stack_count + delta->timing_count);
    for (uint32_t i = 0; i < delta->frame_count; i++) {
        const struct fp_delta_frame *frame = &delta->frames[i];
        bool has_resource = frame->resource != FP_INDEX_NONE;
        if (has_resource)
            needed[frame->resource] = true;
        const struct fp_frame_key key = {frame->function,
                                         has_resource ? delta->resources[frame->resource].id : 0,
                                         frame->line, frame->column, frame->kind};
        assert_int_equal(frame->id, fp_frame_id(site_id, &key));
        assert_int_equal(fp_map_put(&seen, frame->id, i), i);
    }
    for (uint32_t i = 0; i < delta->resource_count; i++)
        assert_true(needed[i]);
    for (uint32_t i = 0; i < delta->stack_count; i++) {
        const struct fp_delta_stack *stack = &delta->stacks[i];
        bool is_root = stack->parent == FP_INDEX_NONE;
        assert_true(is_root || stack->parent < i);
        uint64_t parent_id = is_root ? 0 : delta->stacks[stack->parent].id;
        assert_int_equal(stack->id, fp_stack_id(parent_id, delta->frames[stack->frame].id));
        assert_int_equal(stack->level, is_root ? 1 : delta->stacks[stack->parent].level + 1);
        assert_int_equal(fp_map_put(&seen, stack->id, i), i);
    }
    for (uint32_t i = 0; i < delta->timing_count; i++)
        assert_int_equal(fp_map_put(&seen, delta->timings[i].id, i), i);
    fp_map_release(&seen);
}

/* The bytes decode, and are the same for the upload sent again. */
static void assert_repeats(struct site *site, const struct fp_profile *profile,
                           const struct fp_delta *delta)
{
    const struct fp_fold_context context = context_of(site);
    struct fp_delta again;
    struct fp_buf bytes;
    struct fp_buf bytes_again;
    fp_buf_init(&bytes, 1 << 20);
    fp_buf_init(&bytes_again, 1 << 20);
    assert_true(fp_fold(profile, &context, &site->arena, &again));
    fp_delta_encode(delta, &bytes);
    fp_delta_encode(&again, &bytes_again);
    assert_int_equal(bytes.len, bytes_again.len);
    assert_memory_equal(bytes.data, bytes_again.data, bytes.len);
    assert_int_equal(fp_delta_decode(bytes.data, bytes.len, &site->arena, &again), FP_DELTA_OK);
    fp_buf_release(&bytes);
    fp_buf_release(&bytes_again);
}

/* The different ids that a site has stored. */
struct stored {
    struct fp_map ids[FP_NAME_KINDS];
};

static void store(struct stored *stored, enum fp_name_kind kind, uint64_t id)
{
    assert_int_not_equal(fp_map_put(&stored->ids[kind], id, 1), FP_MAP_NONE);
}

static void store_delta(struct stored *stored, const struct fp_delta *delta)
{
    for (uint32_t i = 0; i < delta->frame_count; i++)
        store(stored, FP_NAME_FRAME, delta->frames[i].id);
    for (uint32_t i = 0; i < delta->stack_count; i++)
        store(stored, FP_NAME_STACK, delta->stacks[i].id);
    for (uint32_t i = 0; i < delta->timing_count; i++)
        store(stored, FP_NAME_TIMING, delta->timings[i].id);
    store(stored, FP_NAME_SEGMENT, fp_segment_id(&delta->segment));
}

/* Beside as many as the ceilings say: one `(overflow)`, of timings one a kind, of segments a tenth
 * a step and the one that has given up all four. */
static void assert_few_stored(const struct site *site, const struct stored *stored)
{
    const uint32_t *names = site->limits.names;
    assert_true(stored->ids[FP_NAME_FRAME].count <= names[FP_NAME_FRAME] + 1);
    assert_true(stored->ids[FP_NAME_STACK].count <= names[FP_NAME_STACK] + 1);
    assert_true(stored->ids[FP_NAME_TIMING].count <= names[FP_NAME_TIMING] + 2);
    assert_true(stored->ids[FP_NAME_SEGMENT].count <=
                names[FP_NAME_SEGMENT] + names[FP_NAME_SEGMENT] / 10 * 3 + 1);
}

static void uploads_of_one_site(struct site *site)
{
    struct stored stored;
    for (size_t i = 0; i < FP_NAME_KINDS; i++)
        fp_map_init(&stored.ids[i], PLENTY);
    const struct fp_fold_context bounded = context_of(site);
    const struct fp_fold_context unbounded = {.site = FP_STR("shop")};
    for (int i = 0; i < SITE_UPLOADS; i++) {
        struct upload upload;
        struct fp_delta delta;
        struct fp_delta without;
        make_upload(&upload);
        assert_true(fp_fold(&upload.profile, &bounded, &site->arena, &delta));
        assert_true(fp_fold(&upload.profile, &unbounded, &site->arena, &without));
        assert_sums_are_whole(&delta, &without);
        assert_measured(&delta);
        assert_totals(&delta);
        assert_ids(&delta);
        assert_repeats(site, &upload.profile, &delta);
        store_delta(&stored, &delta);
        fp_arena_clear(&site->arena);
    }
    assert_few_stored(site, &stored);
    for (size_t i = 0; i < FP_NAME_KINDS; i++)
        fp_map_release(&stored.ids[i]);
}

static void random_uploads_keep_their_sums_under_any_ceilings(void **state)
{
    (void)state;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        random_state = round;
        void *site = NULL;
        assert_int_equal(set_up(&site), 0);
        for (size_t i = 0; i < FP_NAME_KINDS; i++)
            ((struct site *)site)->limits.names[i] = 1 + below(below(2) == 0 ? 5 : 200);
        uploads_of_one_site(site);
        assert_int_equal(tear_down(&site), 0);
    }
}

static void runs_out_of_memory_at_every_point_without_harm(void **state)
{
    struct site *site = *state;
    struct upload upload;
    random_state = 1;
    make_upload(&upload);
    for (size_t i = 0; i < FP_NAME_KINDS; i++)
        site->limits.names[i] = 3;
    const struct fp_fold_context context = context_of(site);
    bool folded = false;
    for (size_t max_bytes = 0; max_bytes < 128 * 1024; max_bytes += 101) {
        struct fp_arena arena;
        struct fp_delta delta;
        fp_arena_init(&arena, max_bytes);
        folded = fp_fold(&upload.profile, &context, &arena, &delta);
        fp_arena_release(&arena);
    }
    assert_true(folded);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_frame_over_its_ceiling_is_replaced_in_its_place),
        TEST(several_of_one_stack_count_each_sample_once),
        TEST(stacks_that_become_alike_are_one),
        TEST(a_stack_over_its_ceiling_is_the_one_frame_and_leaves_nothing_behind),
        TEST(the_stack_of_overflow_alone_is_free),
        TEST(what_stands_on_overflow_alone_is_judged_by_itself),
        TEST(a_known_stack_on_a_refused_one_goes_with_it),
        TEST(markers_stay_beside_overflow),
        TEST(timings_over_their_ceiling_are_counted_and_binned_by_kind),
        TEST(routes_and_releases_over_their_ceilings_are_replaced),
        TEST(segments_lose_environment_then_release_then_route),
        TEST(runs_out_of_memory_at_every_point_without_harm),
        cmocka_unit_test(random_uploads_keep_their_sums_under_any_ceilings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
