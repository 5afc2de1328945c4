/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frame vectors: what is picked of an upload, against a slow count, and at the ceilings.
 */
#include "tests/unit/unit.h"

#include "collector/rollup/frame_vector.c"

enum { FRAMES = 300, WINDOWS = 40 };

/* An upload of many frames, each in every window. */
struct upload {
    struct fp_delta delta;
    struct fp_delta_frame frames[FRAMES];
    struct fp_delta_timing timings[WINDOWS];
    struct fp_delta_measured measured[WINDOWS];
    struct fp_delta_measured_frame measured_frames[WINDOWS * FRAMES];
};

/* Spreads the numbers below FRAMES: no two frames have equal times. */
static int64_t spread(uint32_t number)
{
    return (number * 7 + 3) % FRAMES;
}

static int set_up(void **state)
{
    struct upload *upload = calloc(1, sizeof(*upload));
    for (uint32_t i = 0; i < FRAMES; i++) {
        upload->frames[i] = (struct fp_delta_frame){
            .id = 1000 + i, .self_us = spread(i), .total_us = 1000 + (FRAMES - spread(i))};
    }
    upload->delta = (struct fp_delta){.frames = upload->frames,
                                      .timings = upload->timings,
                                      .measured = upload->measured,
                                      .measured_frames = upload->measured_frames,
                                      .frame_count = FRAMES,
                                      .measured_frame_count = WINDOWS * FRAMES};
    *state = upload;
    return 0;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

/* Adds a window of so many frames, which have 10 µs each and one more under a second marker. */
static void add_window_of(struct upload *upload, enum fp_timing_kind kind, struct fp_str name,
                          uint32_t frames)
{
    struct fp_delta *delta = &upload->delta;
    const uint32_t number = delta->measured_count++;
    const uint32_t first = number * FRAMES;
    upload->timings[number] =
        (struct fp_delta_timing){.id = number + 1, .kind = kind, .name = name};
    upload->measured[number] = (struct fp_delta_measured){
        .timing = number, .first_frame = first, .frame_count = frames * 2};
    for (uint32_t i = 0; i < frames; i++) {
        upload->measured_frames[first + 2 * i] =
            (struct fp_delta_measured_frame){.frame = i, .self_us = 10};
        upload->measured_frames[first + 2 * i + 1] =
            (struct fp_delta_measured_frame){.frame = i, .marker = FP_MARKER_LAYOUT, .self_us = 1};
    }
    delta->timing_count = delta->measured_count;
}

static void picks_the_frames_with_the_most_time(void **state)
{
    struct upload *upload = *state;
    static struct fp_frame_vector vector;
    fp_frame_vector_fill(&upload->delta, &vector);
    assert_int_equal(vector.entry_count, FP_VECTOR_TOP);
    assert_int_equal(vector.frame_count, FP_VECTOR_FRAMES_MAX);
    for (uint32_t i = 0; i < vector.entry_count; i++) {
        assert_int_equal(vector.entries[i].timing_id, 0);
        assert_int_equal(vector.entries[i].self_us, FRAMES - 1 - i);
        assert_int_equal(spread((uint32_t)vector.entries[i].frame_id - 1000), FRAMES - 1 - i);
    }
    for (uint32_t i = 0; i < vector.frame_count; i++)
        assert_int_equal(spread((uint32_t)vector.frame_ids[i] - 1000), i);
    assert_int_equal(fp_frame_vector_bytes(&vector), FP_VECTOR_TOP * 24 + FP_VECTOR_FRAMES_MAX * 8);
}

static void leaves_out_what_has_no_time(void **state)
{
    struct upload *upload = *state;
    static struct fp_frame_vector vector;
    upload->delta.frame_count = 3;
    upload->frames[0] = (struct fp_delta_frame){.id = 1, .self_us = 0, .total_us = 5};
    upload->frames[1] = (struct fp_delta_frame){.id = 2, .self_us = -5, .total_us = -5};
    upload->frames[2] = (struct fp_delta_frame){.id = 3, .self_us = 5, .total_us = 5};
    add_window_of(upload, FP_TIMING_WINDOW, FP_STR("(INP) poor"), 3);
    fp_frame_vector_fill(&upload->delta, &vector);
    assert_int_equal(vector.frame_count, 2);
    assert_int_equal(vector.entry_count, 3);
    assert_int_equal(vector.entries[0].frame_id, 3);
    /* Inside the window, a frame of an earlier part has time that this upload's trace does not. */
    assert_int_equal(vector.entries[1].timing_id, 1);
    assert_int_equal(vector.entries[1].frame_id, 1);
    assert_int_equal(vector.entries[1].self_us, 11);
    assert_int_equal(vector.entries[2].frame_id, 3);
}

static void takes_windows_of_rated_vitals_first_and_no_other_kinds(void **state)
{
    struct upload *upload = *state;
    static struct fp_frame_vector vector;
    upload->delta.frame_count = 1;
    add_window_of(upload, FP_TIMING_MEASURE, FP_STR("render"), 1);
    add_window_of(upload, FP_TIMING_HIDDEN, FP_STR(""), 1);
    add_window_of(upload, FP_TIMING_WINDOW, FP_STR("(LCP) good"), 1);
    add_window_of(upload, FP_TIMING_WINDOW, FP_STR("(INP) poor"), 1);
    fp_frame_vector_fill(&upload->delta, &vector);
    assert_int_equal(vector.entry_count, 4);
    assert_int_equal(vector.entries[0].timing_id, 0);
    assert_int_equal(vector.entries[1].timing_id, 3);
    assert_int_equal(vector.entries[2].timing_id, 4);
    assert_int_equal(vector.entries[3].timing_id, 1);
}

static void a_window_beyond_the_ceiling_is_left_out_whole(void **state)
{
    struct upload *upload = *state;
    static struct fp_frame_vector vector;
    for (uint32_t i = 0; i < WINDOWS - 1; i++)
        add_window_of(upload, FP_TIMING_MEASURE, FP_STR("render"), 70);
    add_window_of(upload, FP_TIMING_WINDOW, FP_STR("(INP) poor"), 70);
    fp_frame_vector_fill(&upload->delta, &vector);
    assert_int_equal(vector.entry_count, FP_VECTOR_ENTRIES_MAX);
    assert_int_equal(vector.entries[FP_VECTOR_TOP].timing_id, WINDOWS);
    for (uint32_t i = 0; i < vector.entry_count; i += FP_VECTOR_TOP)
        assert_int_equal(vector.entries[i].timing_id,
                         vector.entries[i + FP_VECTOR_TOP - 1].timing_id);
}

int main(void)
{
#define WITH_UPLOAD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_UPLOAD(picks_the_frames_with_the_most_time),
        WITH_UPLOAD(leaves_out_what_has_no_time),
        WITH_UPLOAD(takes_windows_of_rated_vitals_first_and_no_other_kinds),
        WITH_UPLOAD(a_window_beyond_the_ceiling_is_left_out_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
