/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples inside measures: compares random profiles with a slow method that asks each measure,
 * sample by sample; and tests the limits when measures overlap as much as they can.
 */
#include "tests/unit/profile/chance.h"
#include "tests/unit/profile/test.h"

#include <time.h>

enum {
    ROUNDS = 400,
    SAMPLE_MAX = 60,
    STACK_MAX = 30,
    FRAME_MAX = 9,
    TIMING_MAX = 12,
    NAME_MAX = 5,
    INTERVAL_US = 10000,
    SPAN_US = 300000,
    SPARSE_SPAN_US = 1500000,
    GAP_MAX_US = 250000,
    STEP_US = 500,
    MEASURES = 64,
};

/* The profile under test, in memory of its own. */
struct random_profile {
    struct fp_profile profile;
    struct fp_profile_frame frames[FRAME_MAX];
    struct fp_profile_stack stacks[STACK_MAX];
    struct fp_profile_sample samples[SAMPLE_MAX];
    struct fp_profile_timing timings[TIMING_MAX];
    uint32_t span_us;
};

/* Includes the profiler's own frames: noise at the edges, frames elsewhere. */
static const char *const functions[FRAME_MAX] = {"a", "b",        "c",    "d",       "e",
                                                 "f", "Profiler", "stop", "(layout)"};
static const char *const names[NAME_MAX] = {"outer", "inner", "render", "", "empty"};

static void make_stacks(struct random_profile *made)
{
    struct fp_profile *profile = &made->profile;
    profile->frame_count = 1 + below(FRAME_MAX);
    profile->stack_count = 1 + below(STACK_MAX);
    for (uint32_t i = 0; i < profile->frame_count; i++)
        made->frames[i] = (struct fp_profile_frame){fp_str_of(functions[i]), FP_INDEX_NONE,
                                                    FP_POSITION_NONE, FP_POSITION_NONE};
    for (uint32_t i = 0; i < profile->stack_count; i++)
        made->stacks[i] =
            (struct fp_profile_stack){.frame = below(profile->frame_count),
                                      .parent = i == 0 || below(5) == 0 ? FP_INDEX_NONE : below(i)};
}

static void make_samples(struct random_profile *made)
{
    struct fp_profile *profile = &made->profile;
    profile->sample_count = below(SAMPLE_MAX + 1);
    for (uint32_t i = 0; i < profile->sample_count; i++)
        made->samples[i] = (struct fp_profile_sample){
            .time_us = (int64_t)below(made->span_us / 1000) * 1000,
            .stack = below(3) == 0 ? FP_INDEX_NONE : below(profile->stack_count),
            .marker = below(3) == 0 ? (enum fp_marker)below(FP_MARKER_COUNT) : FP_MARKER_NONE};
}

static void make_timings(struct random_profile *made)
{
    struct fp_profile *profile = &made->profile;
    profile->timing_count = below(TIMING_MAX + 1);
    for (uint32_t i = 0; i < profile->timing_count; i++)
        made->timings[i] = (struct fp_profile_timing){
            .name = fp_str_of(names[below(NAME_MAX)]),
            .kind = FP_TIMING_MEASURE,
            .has_start = below(8) > 0,
            .start_us = (int64_t)below(made->span_us / 1000) * 1000 - 20000,
            .value_us = below(8) == 0 ? -1000 : (int64_t)below(made->span_us / 1000) * 1000};
}

static void make_profile(struct random_profile *made)
{
    made->profile = (struct fp_profile){.has_trace = true,
                                        .interval_us = INTERVAL_US,
                                        .frames = made->frames,
                                        .stacks = made->stacks,
                                        .samples = made->samples,
                                        .timings = made->timings};
    /* Spread over a long time, there are gaps with unseen time in them. */
    made->span_us = below(8) == 0 ? SPARSE_SPAN_US : SPAN_US;
    make_stacks(made);
    make_samples(made);
    make_timings(made);
}

/* The slow way. */

/* A name's sums for one (frame, marker), or for all. */
struct sums {
    bool is_met;
    uint32_t samples;
    int64_t self_us;
    int64_t total_us;
};

/* Returns a sample's place in the order of time: how many come before it. */
static uint32_t rank_of(const struct fp_profile *profile, uint32_t index)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < profile->sample_count; i++)
        rank += profile->samples[i].time_us < profile->samples[index].time_us ||
                (profile->samples[i].time_us == profile->samples[index].time_us && i < index);
    return rank;
}

static bool is_inside(const struct fp_profile *profile, int64_t time_us, struct fp_str name)
{
    for (uint32_t i = 0; i < profile->timing_count; i++) {
        const struct fp_profile_timing *timing = &profile->timings[i];
        if (timing->has_start && fp_str_equal(timing->name, name) && time_us >= timing->start_us &&
            time_us < timing->start_us + timing->value_us)
            return true;
    }
    return false;
}

/* Returns the gap to the neighbour at that distance in the order of time. */
static int64_t gap_to(const struct fp_profile *profile, uint32_t index, int distance)
{
    int64_t gap_us = INTERVAL_US;
    for (uint32_t i = 0; i < profile->sample_count; i++)
        if ((int)rank_of(profile, i) == (int)rank_of(profile, index) + distance)
            gap_us = (profile->samples[i].time_us - profile->samples[index].time_us) * distance;
    return gap_us < GAP_MAX_US ? gap_us : GAP_MAX_US;
}

/* Returns a sample's own time inside a name's windows. Asks each STEP_US of it: all times of the
 * profile are multiples of two of them. */
static int64_t weight_inside(const struct fp_profile *profile, uint32_t index, struct fp_str name)
{
    const int64_t time_us = profile->samples[index].time_us;
    const int64_t end_us = time_us + gap_to(profile, index, 1) / 2;
    int64_t weight_us = 0;
    for (int64_t at = time_us - gap_to(profile, index, -1) / 2; at < end_us; at += STEP_US)
        weight_us += is_inside(profile, at, name) ? STEP_US : 0;
    return weight_us;
}

/* True if the sample counts as one: it was taken in a window, and weighs half an interval. */
static bool is_sample_inside(const struct fp_profile *profile, uint32_t index, struct fp_str name)
{
    int64_t weight_us = gap_to(profile, index, 1) / 2 + gap_to(profile, index, -1) / 2;
    return weight_us >= INTERVAL_US / 2 &&
           is_inside(profile, profile->samples[index].time_us, name);
}

static bool is_attributed(const struct fp_profile *profile, uint32_t index)
{
    const struct fp_profile_sample *sample = &profile->samples[index];
    if (sample->stack == FP_INDEX_NONE)
        return sample->marker != FP_MARKER_NONE;
    uint32_t rank = rank_of(profile, index);
    if (rank > 0 && rank + 1 < profile->sample_count)
        return true;
    struct fp_str leaf = profile->frames[profile->stacks[sample->stack].frame].function;
    return !fp_str_equal(leaf, FP_STR("Profiler")) && !fp_str_equal(leaf, FP_STR("stop"));
}

/* A sample's part in a name. */
struct part {
    int64_t weight_us;
    bool is_sample;
};

/* By sample, in the name that is being asked for. */
static struct part parts[SAMPLE_MAX];

static void find_parts(const struct fp_profile *profile, struct fp_str name)
{
    for (uint32_t i = 0; i < profile->sample_count; i++)
        parts[i] =
            (struct part){weight_inside(profile, i, name), is_sample_inside(profile, i, name)};
}

static void add(struct sums *sums, struct part part, bool on_top, bool on_stack)
{
    if (!on_stack || part.weight_us == 0)
        return;
    sums->is_met = true;
    sums->samples += part.is_sample;
    sums->self_us += on_top ? part.weight_us : 0;
    sums->total_us += part.weight_us;
}

/* Checks for a frame of that kind and name: on top of the sample's stack, and anywhere on it. */
static void add_if_there(const struct fp_profile *profile, uint32_t index,
                         const struct fp_delta_frame *frame, struct sums *sums)
{
    const struct fp_profile_sample *sample = &profile->samples[index];
    const struct part part = parts[index];
    if (sample->stack == FP_INDEX_NONE) {
        char name[32];
        snprintf(name, sizeof(name), "(%s)", fp_marker_name(sample->marker));
        bool here =
            frame->kind == FP_FRAME_MARKER && fp_str_equal(frame->function, fp_str_of(name));
        add(sums, part, here, here);
        return;
    }
    bool on_top = false;
    bool on_stack = false;
    for (uint32_t at = sample->stack; at != FP_INDEX_NONE; at = profile->stacks[at].parent) {
        bool here =
            frame->kind == FP_FRAME_BUILTIN &&
            fp_str_equal(profile->frames[profile->stacks[at].frame].function, frame->function);
        on_top = on_top || (here && at == sample->stack);
        on_stack = on_stack || here;
    }
    add(sums, part, on_top, on_stack);
}

static struct sums expected_frame(const struct fp_profile *profile,
                                  const struct fp_delta_frame *frame, enum fp_marker marker)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < profile->sample_count; i++)
        if (profile->samples[i].marker == marker && is_attributed(profile, i))
            add_if_there(profile, i, frame, &sums);
    return sums;
}

static struct sums expected_whole(const struct fp_profile *profile, bool with_attributed)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < profile->sample_count; i++)
        if (with_attributed || !is_attributed(profile, i))
            add(&sums, parts[i], true, true);
    return sums;
}

/* The comparison. */

static struct sums found_frame(const struct fp_delta *delta,
                               const struct fp_delta_measured *measured, uint32_t frame,
                               enum fp_marker marker)
{
    for (uint32_t i = 0; i < measured->frame_count; i++) {
        const struct fp_delta_measured_frame *row =
            &delta->measured_frames[measured->first_frame + i];
        if (row->frame == frame && row->marker == marker)
            return (struct sums){true, row->samples, row->self_us, row->total_us};
    }
    return (struct sums){0};
}

static void assert_sums(struct sums found, struct sums expected)
{
    assert_int_equal(found.is_met, expected.is_met);
    assert_int_equal(found.samples, expected.samples);
    assert_true(found.self_us == expected.self_us);
    assert_true(found.total_us == expected.total_us);
}

static int64_t window_length(const struct fp_profile *profile, struct fp_str name)
{
    int64_t length_us = 0;
    for (int64_t at = -SPAN_US; at < 2 * SPARSE_SPAN_US; at += 2 * STEP_US)
        length_us += is_inside(profile, at, name) ? 2 * STEP_US : 0;
    return length_us;
}

static void assert_measured(const struct fp_profile *profile, const struct fp_delta *delta,
                            const struct fp_delta_measured *measured)
{
    struct fp_str name = delta->timings[measured->timing].name;
    find_parts(profile, name);
    struct sums whole = expected_whole(profile, true);
    struct sums unattributed = expected_whole(profile, false);
    assert_int_equal(measured->samples, whole.samples);
    assert_true(measured->profiled_us == whole.self_us);
    assert_int_equal(measured->unattributed_samples, unattributed.samples);
    assert_true(measured->unattributed_us == unattributed.self_us);
    int64_t self_us = 0;
    for (uint32_t frame = 0; frame < delta->frame_count; frame++) {
        for (enum fp_marker marker = FP_MARKER_NONE; marker < FP_MARKER_COUNT; marker++) {
            struct sums found = found_frame(delta, measured, frame, marker);
            assert_sums(found, expected_frame(profile, &delta->frames[frame], marker));
            self_us += found.self_us;
        }
    }
    assert_true(self_us + measured->unattributed_us == measured->profiled_us);
    assert_true(measured->window_us == window_length(profile, name));
    assert_int_equal(measured->counts_load, measured->profiled_us > 0);
}

static void assert_rows_are_in_order(const struct fp_delta *delta,
                                     const struct fp_delta_measured *measured)
{
    const struct fp_delta_measured_frame *rows = delta->measured_frames + measured->first_frame;
    for (uint32_t i = 0; i < measured->frame_count; i++)
        assert_true(rows[i].total_us > 0 &&
                    (i == 0 || rows[i - 1].frame < rows[i].frame ||
                     (rows[i - 1].frame == rows[i].frame && rows[i - 1].marker < rows[i].marker)));
}

static void gives_each_name_what_ran_inside_it(void **state)
{
    (void)state;
    static const struct fp_fold_context context = {.site = {"shop", 4}, .measures = MEASURES};
    struct fp_arena arena;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    uint32_t measured_count = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        random_state = round;
        struct random_profile made;
        struct fp_delta delta;
        make_profile(&made);
        assert_true(fp_fold(&made.profile, &context, &arena, &delta));
        uint32_t expected_count = 0;
        for (uint32_t i = 0; i < delta.timing_count; i++)
            expected_count += window_length(&made.profile, delta.timings[i].name) > 0 ? 1 : 0;
        assert_int_equal(delta.measured_count, expected_count);
        assert_int_equal(delta.unmeasured, 0);
        for (uint32_t i = 0; i < delta.measured_count; i++) {
            assert_measured(&made.profile, &delta, &delta.measured[i]);
            assert_rows_are_in_order(&delta, &delta.measured[i]);
        }
        measured_count += delta.measured_count;
        fp_arena_clear(&arena);
    }
    assert_true(measured_count > ROUNDS);
    fp_arena_release(&arena);
}

/* Limits. */

enum { MANY_SAMPLES = 200000, MANY_MEASURES = 50000, MANY_STACKS = 500000, DEEP = 2000 };

/* Generous, for sanitizers on a busy machine: it takes about 80 ms. Asking each measure takes
 * hours. */
#define FOLD_NS_MAX INT64_C(10000000000)

static void fill(struct fp_profile *profile, struct fp_arena *arena, bool one_name)
{
    profile->frames = fp_arena_array(arena, DEEP, sizeof(*profile->frames));
    profile->stacks = fp_arena_array(arena, MANY_STACKS, sizeof(*profile->stacks));
    profile->samples = fp_arena_array(arena, MANY_SAMPLES, sizeof(*profile->samples));
    profile->timings = fp_arena_array(arena, MANY_MEASURES, sizeof(*profile->timings));
    profile->frame_count = DEEP;
    profile->stack_count = MANY_STACKS;
    profile->sample_count = MANY_SAMPLES;
    profile->timing_count = MANY_MEASURES;
    for (uint32_t i = 0; i < DEEP; i++)
        profile->frames[i] = (struct fp_profile_frame){FP_STR("f"), FP_INDEX_NONE, (int32_t)i, 0};
    for (uint32_t i = 0; i < MANY_STACKS; i++)
        profile->stacks[i] =
            (struct fp_profile_stack){i % DEEP, i % DEEP == 0 ? FP_INDEX_NONE : i - 1};
    for (uint32_t i = 0; i < MANY_SAMPLES; i++)
        profile->samples[i] = (struct fp_profile_sample){(int64_t)i * 10000, i % MANY_STACKS,
                                                         (enum fp_marker)(i % FP_MARKER_COUNT)};
    for (uint32_t i = 0; i < MANY_MEASURES; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%u", one_name ? 0 : (unsigned)i);
        profile->timings[i] = (struct fp_profile_timing){.kind = FP_TIMING_MEASURE,
                                                         .has_start = true,
                                                         .start_us = (int64_t)i - INTERVAL_US,
                                                         .value_us = INT64_C(1) << 40};
        assert_true(fp_arena_copy(arena, fp_str_of(name), &profile->timings[i].name));
    }
}

/* Returns the processor time of a fold in nanoseconds. */
static int64_t fold_time(const struct fp_profile *profile, struct fp_arena *arena,
                         struct fp_delta *delta)
{
    static const struct fp_fold_context context = {.site = {"shop", 4}, .measures = MEASURES};
    struct timespec before;
    struct timespec after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    assert_true(fp_fold(profile, &context, arena, delta));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    return (after.tv_sec - before.tv_sec) * INT64_C(1000000000) + after.tv_nsec - before.tv_nsec;
}

static void the_most_measures_over_the_most_samples_stay_bounded_by_whole_names(void **state)
{
    (void)state;
    struct fp_arena arena;
    struct fp_profile profile = {.has_trace = true, .interval_us = INTERVAL_US};
    struct fp_delta delta;
    fp_arena_init(&arena, 4 * (size_t)TEST_ARENA_MAX);
    fill(&profile, &arena, false);
    size_t used_before = arena.used_bytes;
    assert_true(fold_time(&profile, &arena, &delta) < FOLD_NS_MAX);
    assert_true(arena.used_bytes - used_before < TEST_ARENA_MAX);
    assert_true(delta.measured_count > 0 && delta.measured_count <= MEASURES);
    assert_int_equal(delta.measured_count + delta.unmeasured, MANY_MEASURES);
    assert_true(delta.measured_frame_count <= FP_FOLD_MEASURED_FRAMES_MAX);
    uint32_t listed = 0;
    for (uint32_t i = 0; i < delta.measured_count; i++) {
        const struct fp_delta_measured *measured = &delta.measured[i];
        int64_t self_us = measured->unattributed_us;
        assert_int_equal(measured->first_frame, listed);
        for (uint32_t k = 0; k < measured->frame_count; k++)
            self_us += delta.measured_frames[listed++].self_us;
        assert_true(self_us == measured->profiled_us);
        assert_true(i == 0 || measured[-1].samples >= measured->samples);
    }
    assert_int_equal(listed, delta.measured_frame_count);
    fp_arena_release(&arena);
}

static void windows_of_one_name_are_one(void **state)
{
    (void)state;
    struct fp_arena arena;
    struct fp_profile profile = {.has_trace = true, .interval_us = INTERVAL_US};
    struct fp_delta delta;
    fp_arena_init(&arena, 4 * (size_t)TEST_ARENA_MAX);
    fill(&profile, &arena, true);
    (void)fold_time(&profile, &arena, &delta);
    assert_int_equal(delta.measured_count, 1);
    assert_int_equal(delta.measured[0].samples, MANY_SAMPLES);
    assert_true(delta.measured[0].profiled_us == delta.profiled_us);
    fp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_each_name_what_ran_inside_it),
        cmocka_unit_test(the_most_measures_over_the_most_samples_stay_bounded_by_whole_names),
        cmocka_unit_test(windows_of_one_name_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
