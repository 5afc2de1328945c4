/*
 * Bytes to delta.
 */
#include "collector/rollup/bins.h"
#include "collector/rollup/bytes_in.h"
#include "collector/rollup/ids.h"
#include "collector/rollup/session_bytes.h"

static void take_segment(struct reader *in, struct fp_segment *segment)
{
    segment->site = take_text(in);
    segment->route = take_text(in);
    segment->release = take_text(in);
    segment->environment = take_text(in);
    segment->variant = take_text(in);
    segment->browser = take_text(in);
    segment->os = take_text(in);
    segment->device = take_text(in);
    segment->thread = take_text(in);
    segment->rate_ppm = (uint32_t)take_varint(in, 1000000);
}

/* Returns the flags. */
static unsigned take_upload(struct reader *in, struct fp_delta *delta)
{
    delta->id = take_uuid(in);
    unsigned flags = take_byte(in, in->version == 1 ? FP_DELTA_HAS_SESSION : FP_DELTA_FLAGS + 1);
    delta->has_load = (flags & FP_DELTA_HAS_LOAD) != 0;
    delta->truncated = (flags & FP_DELTA_TRUNCATED) != 0;
    if (delta->has_load)
        delta->load = take_uuid(in);
    delta->part = take_count(in);
    delta->received_us = (int64_t)take_varint(in, FP_DELTA_VALUE_MAX_US);
    take_segment(in, &delta->segment);
    delta->format = (enum fp_upload_format)take_byte(in, FP_UPLOAD_FORMAT_COUNT);
    delta->coverage = (enum fp_coverage)take_byte(in, FP_COVERAGE_COUNT);
    delta->browser_version = take_count(in);
    delta->agent = take_text(in);
    delta->body_bytes = take_count(in);
    delta->skipped_entries = take_count(in);
    delta->samples = take_count(in);
    delta->profiled_us = take_time(in);
    delta->unattributed_samples = take_count(in);
    delta->unattributed_us = take_time(in);
    return flags;
}

static void take_resources(struct reader *in, struct fp_delta *delta)
{
    delta->resources = take_array(in, &delta->resource_count, sizeof(*delta->resources), 9);
    for (uint32_t i = 0; fine(in) && i < delta->resource_count; i++) {
        delta->resources[i].id = take_fixed64(in);
        delta->resources[i].url = take_text(in);
    }
}

static void take_frames(struct reader *in, struct fp_delta *delta)
{
    delta->frames = take_array(in, &delta->frame_count, sizeof(*delta->frames), 17);
    for (uint32_t i = 0; fine(in) && i < delta->frame_count; i++) {
        struct fp_delta_frame *frame = &delta->frames[i];
        frame->id = take_fixed64(in);
        frame->function = take_text(in);
        frame->resource = take_optional_index(in, delta->resource_count);
        frame->line = take_position(in);
        frame->column = take_position(in);
        frame->kind = (enum fp_frame_kind)take_byte(in, FP_FRAME_KIND_COUNT);
        frame->samples = take_count(in);
        frame->marked_samples = (uint32_t)take_varint(in, frame->samples);
        frame->self_us = take_time(in);
        frame->total_us = take_time(in);
    }
}

static void take_splits(struct reader *in, struct fp_delta *delta)
{
    delta->splits = take_array(in, &delta->split_count, sizeof(*delta->splits), 5);
    for (uint32_t i = 0; fine(in) && i < delta->split_count; i++) {
        struct fp_delta_split *split = &delta->splits[i];
        split->frame = take_index(in, delta->frame_count);
        split->marker = (enum fp_marker)take_byte(in, FP_MARKER_COUNT);
        split->samples = take_count(in);
        split->self_us = take_time(in);
        split->total_us = take_time(in);
        if (split->marker == FP_MARKER_NONE)
            refuse(in, FP_DELTA_DAMAGED);
    }
}

static void take_stacks(struct reader *in, struct fp_delta *delta)
{
    delta->stacks = take_array(in, &delta->stack_count, sizeof(*delta->stacks), 2);
    for (uint32_t i = 0; fine(in) && i < delta->stack_count; i++) {
        struct fp_delta_stack *stack = &delta->stacks[i];
        uint32_t back = (uint32_t)take_varint(in, i);
        stack->frame = take_index(in, delta->frame_count);
        if (!fine(in))
            return;
        const struct fp_delta_stack *parent = back > 0 ? &delta->stacks[i - back] : NULL;
        stack->parent = back > 0 ? i - back : FP_INDEX_NONE;
        stack->level = parent != NULL ? parent->level + 1 : 1;
        stack->id = fp_stack_id(parent != NULL ? parent->id : 0, delta->frames[stack->frame].id);
    }
}

static void take_stack_samples(struct reader *in, struct fp_delta *delta)
{
    delta->stack_samples =
        take_array(in, &delta->stack_sample_count, sizeof(*delta->stack_samples), 4);
    for (uint32_t i = 0; fine(in) && i < delta->stack_sample_count; i++) {
        struct fp_delta_stack_sample *sample = &delta->stack_samples[i];
        sample->stack = take_index(in, delta->stack_count);
        sample->marker = (enum fp_marker)take_byte(in, FP_MARKER_COUNT);
        sample->samples = take_count(in);
        sample->self_us = take_time(in);
    }
}

/* The bins of one timing, which begin at bins[first_bin]. */
static void take_timing_bins(struct reader *in, struct fp_delta *delta,
                             struct fp_delta_timing *timing)
{
    timing->bin_count = (uint32_t)take_varint(in, delta->bin_count - timing->first_bin);
    for (uint32_t i = 0; fine(in) && i < timing->bin_count; i++) {
        struct fp_delta_bin *bin = &delta->bins[timing->first_bin + i];
        bin->bin = (uint16_t)take_varint(in, fp_bin_of(FP_DELTA_VALUE_MAX_US));
        bin->count = take_count(in);
    }
}

static void take_timings(struct reader *in, struct fp_delta *delta)
{
    delta->bins = take_array(in, &delta->bin_count, sizeof(*delta->bins), 2);
    delta->timings = take_array(in, &delta->timing_count, sizeof(*delta->timings), 16);
    uint32_t first_bin = 0;
    for (uint32_t i = 0; fine(in) && i < delta->timing_count; i++) {
        struct fp_delta_timing *timing = &delta->timings[i];
        timing->id = take_fixed64(in);
        timing->name = take_text(in);
        timing->kind = (enum fp_timing_kind)take_byte(in, FP_TIMING_KIND_COUNT);
        timing->count = take_count(in);
        timing->negative = (uint32_t)take_varint(in, timing->count);
        timing->sum_us = take_signed(in);
        timing->min_us = take_value(in);
        timing->max_us = take_value(in);
        timing->first_bin = first_bin;
        take_timing_bins(in, delta, timing);
        first_bin += timing->bin_count;
    }
    if (first_bin != delta->bin_count)
        refuse(in, FP_DELTA_DAMAGED);
}

/* The frames of one measure, which begin at measured_frames[first_frame]. */
static void take_measured_frames(struct reader *in, struct fp_delta *delta,
                                 struct fp_delta_measured *measured)
{
    measured->frame_count =
        (uint32_t)take_varint(in, delta->measured_frame_count - measured->first_frame);
    for (uint32_t i = 0; fine(in) && i < measured->frame_count; i++) {
        struct fp_delta_measured_frame *frame = &delta->measured_frames[measured->first_frame + i];
        frame->frame = take_index(in, delta->frame_count);
        frame->marker = (enum fp_marker)take_byte(in, FP_MARKER_COUNT);
        frame->samples = take_count(in);
        frame->self_us = take_time(in);
        frame->total_us = take_time(in);
    }
}

static void take_measured(struct reader *in, struct fp_delta *delta)
{
    delta->measured_frames =
        take_array(in, &delta->measured_frame_count, sizeof(*delta->measured_frames), 5);
    delta->measured = take_array(in, &delta->measured_count, sizeof(*delta->measured), 6);
    uint32_t first_frame = 0;
    for (uint32_t i = 0; fine(in) && i < delta->measured_count; i++) {
        struct fp_delta_measured *measured = &delta->measured[i];
        measured->timing = take_index(in, delta->timing_count);
        measured->samples = take_count(in);
        measured->profiled_us = take_time(in);
        measured->unattributed_samples = take_count(in);
        measured->unattributed_us = take_time(in);
        measured->first_frame = first_frame;
        take_measured_frames(in, delta, measured);
        first_frame += measured->frame_count;
    }
    if (first_frame != delta->measured_frame_count)
        refuse(in, FP_DELTA_DAMAGED);
}

enum fp_delta_error fp_delta_decode(const void *bytes, size_t len, struct fp_arena *arena,
                                    struct fp_delta *delta)
{
    struct reader in = {.at = bytes, .arena = arena};
    in.end = in.at + len;
    *delta = (struct fp_delta){0};
    const uint8_t *version = take(&in, 1);
    if (version == NULL)
        return FP_DELTA_DAMAGED;
    if (*version == 0 || *version > FP_DELTA_BYTES_VERSION)
        return FP_DELTA_VERSION;
    in.version = *version;
    unsigned flags = take_upload(&in, delta);
    take_resources(&in, delta);
    take_frames(&in, delta);
    take_splits(&in, delta);
    take_stacks(&in, delta);
    take_stack_samples(&in, delta);
    take_timings(&in, delta);
    if (in.version > 1)
        take_measured(&in, delta);
    if ((flags & FP_DELTA_HAS_SESSION) != 0)
        fp_session_decode(&in, delta);
    if (fine(&in) && in.at != in.end)
        refuse(&in, FP_DELTA_DAMAGED);
    return in.error;
}
