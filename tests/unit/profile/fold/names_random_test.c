/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random uploads over the ceilings: no time is lost or invented, and only what samples need is
 * stored.
 */
#include "site_test.h"
#include "tests/unit/profile/chance.h"

#include "collector/base/buf.h"
#include "collector/base/map.h"
#include "collector/rollup/ids.h"

enum { SITE_UPLOADS = 40, ROUNDS = 30 };
enum { NAMES = 40, FRAMES = 30, STACKS = 60, SAMPLES = 80, TIMINGS = 20, EVENTS = 20 };

/* Makes an upload from few names, so that many repeat. */
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
        .said = {.environment = name_in(upload), .variant = name_in(upload)},
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
                                       .kind = (enum fp_timing_kind)below(FP_TIMING_MEASURE + 1),
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

/* The sums that ceilings must not change. */
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

/* Returns the total time by its definition: of all stacks that have the frame, once. */
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
        assert_true(samples > 0 || total_us > 0);
    }
}

/* Checks that ids match the stored content and are unique, and that parents precede their
 * children. */
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

/* Checks that the bytes decode, and that the same upload gives the same bytes. */
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

/* The distinct ids that a site has stored. */
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

/* Besides the names that the ceilings admit: one `(overflow)`, one per kind of timings, and of
 * segments a tenth per step and the one that gave up all four. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(runs_out_of_memory_at_every_point_without_harm),
        cmocka_unit_test(random_uploads_keep_their_sums_under_any_ceilings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
