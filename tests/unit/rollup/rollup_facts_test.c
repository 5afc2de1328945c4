/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rollup's facts: compares every row with a slow count over all deltas.
 */
#include "rollup_test.h"

/* True if a delta belongs to a fact's segment and hour. */
static bool belongs(const struct fp_delta *delta, const struct fp_fact_key *key)
{
    return (int64_t)fp_segment_id(&delta->segment) == key->segment_id &&
           delta->received_us >= key->bucket_us &&
           delta->received_us < key->bucket_us + FP_US_PER_HOUR;
}

#define FOR_EACH_DELTA(room, key, delta)                                                           \
    for (const struct fp_delta *delta = (room)->deltas; delta < (room)->deltas + DELTAS; delta++)  \
        if (belongs(delta, key))

/* True if the frame is on a stack of samples without a marker. */
static bool has_unmarked_stack(const struct fp_delta *delta, uint32_t frame)
{
    for (uint32_t i = 0; i < delta->stack_sample_count; i++) {
        if (delta->stack_samples[i].marker != FP_MARKER_NONE)
            continue;
        uint32_t stack = delta->stack_samples[i].stack;
        while (stack != FP_INDEX_NONE && delta->stacks[stack].frame != frame)
            stack = delta->stacks[stack].parent;
        if (stack != FP_INDEX_NONE)
            return true;
    }
    return false;
}

static void check_frame_fact(struct room *room, const struct fp_frame_fact *row)
{
    struct fp_frame_fact slow = {.key = row->key};
    FOR_EACH_DELTA(room, &row->key, delta)
    for (uint32_t i = 0; i < delta->frame_count; i++) {
        const struct fp_delta_frame *frame = &delta->frames[i];
        if ((int64_t)frame->id != row->key.id)
            continue;
        double self = (double)frame->self_us;
        double total = (double)frame->total_us;
        double profiled = (double)delta->profiled_us;
        slow.uploads += frame->samples > 0 || frame->total_us > 0 ? 1 : 0;
        slow.unmarked_uploads += has_unmarked_stack(delta, i) ? 1 : 0;
        slow.samples += frame->samples;
        slow.self_us += frame->self_us;
        slow.total_us += frame->total_us;
        slow.self_us2 += self * self;
        slow.total_us2 += total * total;
        slow.self_profiled += self * profiled;
        slow.total_profiled += total * profiled;
    }
    assert_true(slow.uploads > 0);
    assert_memory_equal(row, &slow, sizeof(slow));
}

static void check_frame_marker_fact(struct room *room, const struct fp_frame_marker_fact *row)
{
    struct fp_frame_marker_fact slow = {.key = row->key};
    FOR_EACH_DELTA(room, &row->key, delta)
    for (uint32_t i = 0; i < delta->split_count; i++) {
        const struct fp_delta_split *split = &delta->splits[i];
        if ((int64_t)delta->frames[split->frame].id != row->key.id ||
            (int64_t)split->marker != row->key.part)
            continue;
        slow.uploads++;
        slow.samples += split->samples;
        slow.self_us += split->self_us;
        slow.total_us += split->total_us;
    }
    assert_true(slow.uploads > 0);
    assert_int_not_equal(row->key.part, FP_MARKER_NONE);
    assert_memory_equal(row, &slow, sizeof(slow));
}

static void check_stack_fact(struct room *room, const struct fp_stack_fact *row)
{
    struct fp_stack_fact slow = {.key = row->key};
    FOR_EACH_DELTA(room, &row->key, delta)
    for (uint32_t i = 0; i < delta->stack_sample_count; i++) {
        const struct fp_delta_stack_sample *sample = &delta->stack_samples[i];
        if ((int64_t)delta->stacks[sample->stack].id != row->key.id ||
            (int64_t)sample->marker != row->key.part)
            continue;
        slow.uploads++;
        slow.samples += sample->samples;
        slow.self_us += sample->self_us;
    }
    assert_true(slow.uploads > 0);
    assert_memory_equal(row, &slow, sizeof(slow));
}

static void add_unattributed(const struct fp_delta *delta, struct fp_total_fact *slow)
{
    bool is_profiled = fp_delta_is_profiled(delta);
    slow->uploads += is_profiled ? 1 : 0;
    slow->loads += is_profiled && !delta->has_load ? 1 : 0;
    slow->samples += delta->unattributed_samples;
    slow->self_us += delta->unattributed_us;
    slow->profiled_us2 += (double)delta->profiled_us * (double)delta->profiled_us;
    slow->unseen_us += delta->unseen_us;
}

static void check_total_fact(struct room *room, const struct fp_total_fact *row)
{
    struct fp_total_fact slow = {.key = row->key};
    FOR_EACH_DELTA(room, &row->key, delta)
    {
        slow.site_id = (int64_t)fp_site_id(delta->segment.site);
        if (row->key.part == FP_TOTAL_UNATTRIBUTED)
            add_unattributed(delta, &slow);
        for (uint32_t i = 0; i < delta->stack_sample_count; i++) {
            if ((int64_t)delta->stack_samples[i].marker != row->key.part)
                continue;
            slow.samples += delta->stack_samples[i].samples;
            slow.self_us += delta->stack_samples[i].self_us;
        }
    }
    assert_true(slow.samples > 0 || slow.self_us > 0 || row->key.part == FP_TOTAL_UNATTRIBUTED);
    assert_memory_equal(row, &slow, sizeof(slow));
}

static void check_timing_fact(struct room *room, const struct fp_timing_fact *row)
{
    struct fp_timing_fact slow = {.key = row->key, .min_us = INT64_MAX, .max_us = INT64_MIN};
    FOR_EACH_DELTA(room, &row->key, delta)
    for (uint32_t i = 0; i < delta->timing_count; i++) {
        const struct fp_delta_timing *timing = &delta->timings[i];
        if ((int64_t)timing->id != row->key.id)
            continue;
        slow.uploads++;
        if (timing->kind != FP_TIMING_LEFT_OUT || timing->source.len > 0 || !delta->has_load)
            slow.count += timing->count; /* else when the database knows of no such page load */
        slow.negative += timing->negative;
        slow.sum_us += (double)timing->sum_us;
        slow.min_us = timing->min_us < slow.min_us ? timing->min_us : slow.min_us;
        slow.max_us = timing->max_us > slow.max_us ? timing->max_us : slow.max_us;
    }
    assert_true(slow.uploads > 0);
    assert_memory_equal(row, &slow, sizeof(slow));
}

static void check_timing_bin_fact(struct room *room, const struct fp_timing_bin_fact *row)
{
    int64_t count = 0;
    FOR_EACH_DELTA(room, &row->key, delta)
    for (uint32_t i = 0; i < delta->timing_count; i++) {
        const struct fp_delta_timing *timing = &delta->timings[i];
        for (uint32_t k = 0; (int64_t)timing->id == row->key.id && k < timing->bin_count; k++)
            if (delta->bins[timing->first_bin + k].bin == row->key.part)
                count += delta->bins[timing->first_bin + k].count;
    }
    assert_true(count > 0);
    assert_int_equal(row->count, count);
}

static void check_measure_fact(struct room *room, const struct fp_measure_fact *row)
{
    struct fp_measure_fact slow = {.key = row->key};
    FOR_EACH_DELTA(room, &row->key, delta)
    for (uint32_t i = 0; i < delta->measured_count; i++) {
        const struct fp_delta_measured *measured = &delta->measured[i];
        if ((int64_t)delta->timings[measured->timing].id != row->key.id)
            continue;
        slow.uploads += measured->profiled_us > 0 ? 1 : 0;
        slow.loads += measured->counts_load ? 1 : 0;
        slow.window_us += measured->window_us;
        slow.samples += measured->samples;
        slow.unattributed_samples += measured->unattributed_samples;
        slow.profiled_us += measured->profiled_us;
        slow.unattributed_us += measured->unattributed_us;
    }
    assert_true(slow.uploads > 0);
    assert_memory_equal(row, &slow, sizeof(slow));
}

/* True if a measure has a row of this frame under an earlier marker. */
static bool has_earlier_marker(const struct fp_delta *delta,
                               const struct fp_delta_measured *measured,
                               const struct fp_delta_measured_frame *frame)
{
    for (uint32_t i = 0; i < measured->frame_count; i++) {
        const struct fp_delta_measured_frame *other =
            &delta->measured_frames[measured->first_frame + i];
        if (other->frame == frame->frame && other->marker < frame->marker)
            return true;
    }
    return false;
}

static void check_measure_frame_fact(struct room *room, const struct fp_measure_frame_fact *row)
{
    struct fp_measure_frame_fact slow = {.key = row->key};
    FOR_EACH_DELTA(room, &row->key.fact, delta)
    for (uint32_t i = 0; i < delta->measured_count; i++) {
        const struct fp_delta_measured *measured = &delta->measured[i];
        if ((int64_t)delta->timings[measured->timing].id != row->key.fact.id)
            continue;
        for (uint32_t k = 0; k < measured->frame_count; k++) {
            const struct fp_delta_measured_frame *frame =
                &delta->measured_frames[measured->first_frame + k];
            if ((int64_t)frame->marker != row->key.fact.part ||
                (int64_t)delta->frames[frame->frame].id != row->key.frame_id)
                continue;
            slow.uploads++;
            slow.first_uploads += has_earlier_marker(delta, measured, frame) ? 0 : 1;
            slow.samples += frame->samples;
            slow.self_us += frame->self_us;
            slow.total_us += frame->total_us;
        }
    }
    assert_true(slow.uploads > 0);
    assert_memory_equal(row, &slow, sizeof(slow));
}

#define CHECK_ALL(room, table, type, check)                                                        \
    do {                                                                                           \
        assert_true(row_count(room, table) > 0);                                                   \
        for (size_t i = 0; i < row_count(room, table); i++)                                        \
            check(room, (const struct type *)row_at(room, table, i));                              \
    } while (0)

/* The tests above check each row; this one, that everything in a delta has its row. */
static void check_nothing_is_missing(struct room *room)
{
    int64_t uploads = 0;
    int64_t profiled_us = 0;
    int64_t samples = 0;
    int64_t splits = 0;
    int64_t frames = 0;
    int64_t timings = 0;
    int64_t measured = 0;
    int64_t measured_frames = 0;
    for (size_t i = 0; i < DELTAS; i++) {
        uploads += fp_delta_is_profiled(&room->deltas[i]) ? 1 : 0;
        profiled_us += room->deltas[i].profiled_us;
        samples += room->deltas[i].stack_sample_count;
        splits += room->deltas[i].split_count;
        frames += room->deltas[i].frame_count;
        timings += room->deltas[i].timing_count;
        measured += room->deltas[i].measured_count;
        measured_frames += room->deltas[i].measured_frame_count;
    }
    for (size_t i = 0; i < row_count(room, FP_ROLLUP_TABLE_TOTAL_FACT); i++) {
        const struct fp_total_fact *total = row_at(room, FP_ROLLUP_TABLE_TOTAL_FACT, i);
        uploads -= total->uploads;
        profiled_us -= total->self_us;
    }
    for (size_t i = 0; i < row_count(room, FP_ROLLUP_TABLE_STACK_FACT); i++)
        samples -= ((struct fp_stack_fact *)row_at(room, FP_ROLLUP_TABLE_STACK_FACT, i))->uploads;
    for (size_t i = 0; i < row_count(room, FP_ROLLUP_TABLE_FRAME_MARKER_FACT); i++)
        splits -=
            ((struct fp_frame_marker_fact *)row_at(room, FP_ROLLUP_TABLE_FRAME_MARKER_FACT, i))
                ->uploads;
    for (size_t i = 0; i < row_count(room, FP_ROLLUP_TABLE_FRAME_FACT); i++)
        frames -= ((struct fp_frame_fact *)row_at(room, FP_ROLLUP_TABLE_FRAME_FACT, i))->uploads;
    for (size_t i = 0; i < row_count(room, FP_ROLLUP_TABLE_TIMING_FACT); i++)
        timings -= ((struct fp_timing_fact *)row_at(room, FP_ROLLUP_TABLE_TIMING_FACT, i))->uploads;
    for (size_t i = 0; i < row_count(room, FP_ROLLUP_TABLE_MEASURE_FACT); i++)
        measured -=
            ((struct fp_measure_fact *)row_at(room, FP_ROLLUP_TABLE_MEASURE_FACT, i))->uploads;
    for (size_t i = 0; i < row_count(room, FP_ROLLUP_TABLE_MEASURE_FRAME_FACT); i++)
        measured_frames -=
            ((struct fp_measure_frame_fact *)row_at(room, FP_ROLLUP_TABLE_MEASURE_FRAME_FACT, i))
                ->uploads;
    assert_int_equal(uploads, 0);
    assert_int_equal(profiled_us, 0);
    assert_int_equal(samples, 0);
    assert_int_equal(splits, 0);
    assert_int_equal(frames, 0);
    assert_int_equal(timings, 0);
    assert_int_equal(measured, 0);
    assert_int_equal(measured_frames, 0);
    assert_int_equal(row_count(room, FP_ROLLUP_TABLE_UPLOAD), DELTAS);
}

static void check_facts(struct room *room)
{
    CHECK_ALL(room, FP_ROLLUP_TABLE_TOTAL_FACT, fp_total_fact, check_total_fact);
    CHECK_ALL(room, FP_ROLLUP_TABLE_FRAME_FACT, fp_frame_fact, check_frame_fact);
    CHECK_ALL(room, FP_ROLLUP_TABLE_FRAME_MARKER_FACT, fp_frame_marker_fact,
              check_frame_marker_fact);
    CHECK_ALL(room, FP_ROLLUP_TABLE_STACK_FACT, fp_stack_fact, check_stack_fact);
    CHECK_ALL(room, FP_ROLLUP_TABLE_TIMING_FACT, fp_timing_fact, check_timing_fact);
    CHECK_ALL(room, FP_ROLLUP_TABLE_TIMING_BIN_FACT, fp_timing_bin_fact, check_timing_bin_fact);
    CHECK_ALL(room, FP_ROLLUP_TABLE_MEASURE_FACT, fp_measure_fact, check_measure_fact);
    CHECK_ALL(room, FP_ROLLUP_TABLE_MEASURE_FRAME_FACT, fp_measure_frame_fact,
              check_measure_frame_fact);
    check_nothing_is_missing(room);
}

static void every_fact_is_the_sum_over_its_deltas(void **state)
{
    struct room *room = *state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        fp_arena_clear(&room->arena);
        fp_rollup_clear(&room->rollup, &now_clock);
        draw_all(room, seed);
        add_all(room);
        check_facts(room);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_fact_is_the_sum_over_its_deltas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
