/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, check: asserts what delta.h promises of a folded delta.
 */
#include "collector/base/assert.h"
#include "collector/profile/fold/internal.h"

/* Ids are compared in pairs, so only those of short lists are. */
enum { UNIQUE_MAX = 512 };

static int64_t stack_self_us(const struct fp_delta *delta)
{
    int64_t sum_us = 0;
    for (uint32_t i = 0; i < delta->stack_sample_count; i++)
        sum_us += delta->stack_samples[i].self_us;
    return sum_us;
}

static int64_t frame_self_us(const struct fp_delta *delta)
{
    int64_t sum_us = 0;
    for (uint32_t i = 0; i < delta->frame_count; i++)
        sum_us += delta->frames[i].self_us;
    return sum_us;
}

static uint64_t attributed_samples(const struct fp_delta *delta)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < delta->stack_sample_count; i++)
        count += delta->stack_samples[i].samples;
    return count;
}

static bool is_index(uint32_t index, uint32_t count)
{
    return index < count || index == FP_INDEX_NONE;
}

static bool parents_precede_children(const struct fp_delta *delta)
{
    for (uint32_t i = 0; i < delta->stack_count; i++) {
        const struct fp_delta_stack *stack = &delta->stacks[i];
        bool is_root = stack->parent == FP_INDEX_NONE;
        if (stack->frame >= delta->frame_count || !is_index(stack->parent, i) ||
            stack->level != (is_root ? 1 : delta->stacks[stack->parent].level + 1))
            return false;
    }
    return true;
}

static bool resources_exist(const struct fp_delta *delta)
{
    for (uint32_t i = 0; i < delta->frame_count; i++)
        if (!is_index(delta->frames[i].resource, delta->resource_count))
            return false;
    return true;
}

static bool splits_ascend(const struct fp_delta *delta)
{
    for (uint32_t i = 1; i < delta->split_count; i++) {
        const struct fp_delta_split *split = &delta->splits[i];
        if (split->frame < split[-1].frame ||
            (split->frame == split[-1].frame && split->marker <= split[-1].marker))
            return false;
    }
    return true;
}

/* True if the ids, the first members of rows of this size, are unique. */
static bool ids_are_unique(const void *rows, uint32_t count, size_t row_size)
{
    const char *bytes = rows;
    if (count > UNIQUE_MAX)
        return true;
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (memcmp(bytes + i * row_size, bytes + k * row_size, sizeof(uint64_t)) == 0)
                return false;
    return true;
}

/* True for kinds that only count and sum. */
static bool has_no_bins(enum fp_timing_kind kind)
{
    static const bool without[FP_TIMING_KIND_COUNT] = {
        [FP_TIMING_VITAL_GOOD] = true,
        [FP_TIMING_VITAL_POOR] = true,
        [FP_TIMING_INPUT_DELAY] = true,
        [FP_TIMING_PROCESSING] = true,
        [FP_TIMING_BLOCKING] = true,
        [FP_TIMING_FORCED_LAYOUT] = true,
        [FP_TIMING_RESOURCE_BYTES] = true,
        [FP_TIMING_RESOURCE_OPAQUE] = true,
        [FP_TIMING_COVERAGE] = true,
        [FP_TIMING_PAGE_HOST] = true,
        [FP_TIMING_HIDDEN] = true,
        [FP_TIMING_LEFT_OUT] = true,
        [FP_TIMING_VITAL_PART] = true,
        [FP_TIMING_TTFB_SERVER] = true,
        [FP_TIMING_HANG] = true,
        [FP_TIMING_VIOLATION] = true,
        [FP_TIMING_STYLE] = true,
        [FP_TIMING_LAYOUT] = true,
        [FP_TIMING_FORCED_STYLE] = true,
        [FP_TIMING_FORCED_REFLOW] = true,
        [FP_TIMING_VITAL_FLAGGED] = true,
        [FP_TIMING_INTERACTION_FLAGGED] = true,
        [FP_TIMING_RESPONSE_FLAGGED] = true,
        [FP_TIMING_WAIT] = true,
        [FP_TIMING_SCRIPT_LOADED] = true,
        [FP_TIMING_SCRIPT_RAN] = true,
    };
    return without[kind];
}

/* True if the values of a timing that are not negative are those of its bins. */
static bool bins_add_up(const struct fp_delta *delta)
{
    for (uint32_t i = 0; i < delta->timing_count; i++) {
        const struct fp_delta_timing *timing = &delta->timings[i];
        uint64_t count = timing->negative;
        for (uint32_t k = 0; k < timing->bin_count; k++) {
            const struct fp_delta_bin *bin = &delta->bins[timing->first_bin + k];
            count += bin->count;
            if (k > 0 && bin->bin <= bin[-1].bin)
                return false;
        }
        if (has_no_bins(timing->kind) ? count > 0 : count != timing->count)
            return false;
    }
    return true;
}

static bool measures_add_up(const struct fp_delta *delta)
{
    for (uint32_t i = 0; i < delta->measured_count; i++) {
        const struct fp_delta_measured *measured = &delta->measured[i];
        int64_t sum_us = measured->unattributed_us;
        for (uint32_t k = 0; k < measured->frame_count; k++) {
            const struct fp_delta_measured_frame *row =
                &delta->measured_frames[measured->first_frame + k];
            sum_us += row->self_us;
            if (k > 0 && (row->frame < row[-1].frame ||
                          (row->frame == row[-1].frame && row->marker <= row[-1].marker)))
                return false;
        }
        if (sum_us != measured->profiled_us)
            return false;
    }
    return true;
}

static bool refusals_add_up(const struct fp_delta *delta)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < delta->refusal_count; i++)
        sum += delta->refusals[i].records;
    return sum == delta->records_refused;
}

void fp_fold_check(const struct fp_delta *delta)
{
    FP_ASSERT_COSTLY(stack_self_us(delta) + delta->unattributed_us == delta->profiled_us);
    FP_ASSERT_COSTLY(frame_self_us(delta) == stack_self_us(delta));
    FP_ASSERT_COSTLY(attributed_samples(delta) + delta->unattributed_samples == delta->samples);
    FP_ASSERT_COSTLY(parents_precede_children(delta));
    FP_ASSERT_COSTLY(resources_exist(delta));
    FP_ASSERT_COSTLY(splits_ascend(delta));
    FP_ASSERT_COSTLY(ids_are_unique(delta->frames, delta->frame_count, sizeof(*delta->frames)));
    FP_ASSERT_COSTLY(ids_are_unique(delta->stacks, delta->stack_count, sizeof(*delta->stacks)));
    FP_ASSERT_COSTLY(ids_are_unique(delta->timings, delta->timing_count, sizeof(*delta->timings)));
    FP_ASSERT_COSTLY(bins_add_up(delta));
    FP_ASSERT_COSTLY(measures_add_up(delta));
    FP_ASSERT_COSTLY(refusals_add_up(delta));
}
