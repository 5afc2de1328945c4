/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes to delta.
 */
#include "collector/rollup/bins.h"
#include "collector/rollup/bytes_in.h"
#include "collector/rollup/dimension.h"
#include "collector/rollup/ids.h"
#include "collector/rollup/session_bytes.h"

static void take_segment(struct fp_in *in, struct fp_segment *segment)
{
    for (size_t i = 0; i < FP_DIMENSION_COUNT && fp_dimensions[i].version == 1; i++)
        *fp_dimension_text(segment, i) = fp_in_text(in);
    segment->rate_ppm = (uint32_t)fp_in_varint(in, 1000000);
    for (size_t i = 0; i < FP_DIMENSION_COUNT; i++)
        if (fp_dimensions[i].version > 1 && fp_dimensions[i].version <= in->version)
            *fp_dimension_text(segment, i) = fp_in_text(in);
}

/* Returns the flags. */
static unsigned take_upload(struct fp_in *in, struct fp_delta *delta)
{
    delta->id = fp_in_uuid(in);
    unsigned flags = fp_in_byte(in, in->version == 1 ? FP_DELTA_HAS_SESSION : FP_DELTA_FLAGS + 1);
    delta->has_load = (flags & FP_DELTA_HAS_LOAD) != 0;
    delta->truncated = (flags & FP_DELTA_TRUNCATED) != 0;
    if (delta->has_load)
        delta->load = fp_in_uuid(in);
    delta->part = fp_in_count(in);
    delta->received_us = (int64_t)fp_in_varint(in, FP_TIME_MAX_US);
    take_segment(in, &delta->segment);
    delta->format = (enum fp_upload_format)fp_in_byte(in, FP_UPLOAD_FORMAT_COUNT);
    delta->coverage = (enum fp_coverage)fp_in_byte(in, FP_COVERAGE_COUNT);
    delta->browser_version = fp_in_count(in);
    delta->agent = fp_in_text(in);
    delta->body_bytes = fp_in_count(in);
    delta->skipped_entries = fp_in_count(in);
    delta->samples = fp_in_count(in);
    delta->profiled_us = fp_in_time(in);
    delta->unattributed_samples = fp_in_count(in);
    delta->unattributed_us = fp_in_time(in);
    if (in->version > 3)
        delta->unseen_us = fp_in_time(in);
    if (delta->unseen_us < 0)
        fp_in_refuse(in, FP_DELTA_DAMAGED);
    return flags;
}

static void take_resources(struct fp_in *in, struct fp_delta *delta)
{
    delta->resources = fp_in_array(in, &delta->resource_count, sizeof(*delta->resources), 9);
    for (uint32_t i = 0; fp_in_ok(in) && i < delta->resource_count; i++) {
        delta->resources[i].id = fp_in_fixed64(in);
        delta->resources[i].url = fp_in_text(in);
    }
}

static void take_frames(struct fp_in *in, struct fp_delta *delta)
{
    delta->frames = fp_in_array(in, &delta->frame_count, sizeof(*delta->frames), 17);
    for (uint32_t i = 0; fp_in_ok(in) && i < delta->frame_count; i++) {
        struct fp_delta_frame *frame = &delta->frames[i];
        frame->id = fp_in_fixed64(in);
        frame->function = fp_in_text(in);
        frame->resource = fp_in_optional_index(in, delta->resource_count);
        frame->line = fp_in_position(in);
        frame->column = fp_in_position(in);
        frame->kind = (enum fp_frame_kind)fp_in_byte(in, FP_FRAME_KIND_COUNT);
        frame->samples = fp_in_count(in);
        frame->marked_samples = (uint32_t)fp_in_varint(in, frame->samples);
        frame->self_us = fp_in_time(in);
        frame->total_us = fp_in_time(in);
    }
}

static void take_splits(struct fp_in *in, struct fp_delta *delta)
{
    delta->splits = fp_in_array(in, &delta->split_count, sizeof(*delta->splits), 5);
    for (uint32_t i = 0; fp_in_ok(in) && i < delta->split_count; i++) {
        struct fp_delta_split *split = &delta->splits[i];
        split->frame = fp_in_index(in, delta->frame_count);
        split->marker = (enum fp_marker)fp_in_byte(in, FP_MARKER_COUNT);
        split->samples = fp_in_count(in);
        split->self_us = fp_in_time(in);
        split->total_us = fp_in_time(in);
        if (split->marker == FP_MARKER_NONE)
            fp_in_refuse(in, FP_DELTA_DAMAGED);
    }
}

static void take_stacks(struct fp_in *in, struct fp_delta *delta)
{
    delta->stacks = fp_in_array(in, &delta->stack_count, sizeof(*delta->stacks), 2);
    for (uint32_t i = 0; fp_in_ok(in) && i < delta->stack_count; i++) {
        struct fp_delta_stack *stack = &delta->stacks[i];
        uint32_t back = (uint32_t)fp_in_varint(in, i);
        stack->frame = fp_in_index(in, delta->frame_count);
        if (!fp_in_ok(in))
            return;
        const struct fp_delta_stack *parent = back > 0 ? &delta->stacks[i - back] : NULL;
        stack->parent = back > 0 ? i - back : FP_INDEX_NONE;
        stack->level = parent != NULL ? parent->level + 1 : 1;
        stack->id = fp_stack_id(parent != NULL ? parent->id : 0, delta->frames[stack->frame].id);
    }
}

static void take_stack_samples(struct fp_in *in, struct fp_delta *delta)
{
    delta->stack_samples =
        fp_in_array(in, &delta->stack_sample_count, sizeof(*delta->stack_samples), 4);
    for (uint32_t i = 0; fp_in_ok(in) && i < delta->stack_sample_count; i++) {
        struct fp_delta_stack_sample *sample = &delta->stack_samples[i];
        sample->stack = fp_in_index(in, delta->stack_count);
        sample->marker = (enum fp_marker)fp_in_byte(in, FP_MARKER_COUNT);
        sample->samples = fp_in_count(in);
        sample->self_us = fp_in_time(in);
    }
}

/* The bins of one timing, which begin at bins[first_bin]. */
static void take_timing_bins(struct fp_in *in, struct fp_delta *delta,
                             struct fp_delta_timing *timing)
{
    timing->bin_count = (uint32_t)fp_in_varint(in, delta->bin_count - timing->first_bin);
    for (uint32_t i = 0; fp_in_ok(in) && i < timing->bin_count; i++) {
        struct fp_delta_bin *bin = &delta->bins[timing->first_bin + i];
        bin->bin = (uint16_t)fp_in_varint(in, fp_bin_of(FP_TIME_MAX_US));
        bin->count = fp_in_count(in);
    }
}

/* Before version 8 no delta has it. */
static enum fp_navigation take_navigation(struct fp_in *in)
{
    return in->version > 7 ? (enum fp_navigation)fp_in_byte(in, FP_NAVIGATION_COUNT)
                           : FP_NAVIGATION_UNKNOWN;
}

static void take_timings(struct fp_in *in, struct fp_delta *delta)
{
    delta->bins = fp_in_array(in, &delta->bin_count, sizeof(*delta->bins), 2);
    delta->timings = fp_in_array(in, &delta->timing_count, sizeof(*delta->timings), 16);
    uint32_t first_bin = 0;
    for (uint32_t i = 0; fp_in_ok(in) && i < delta->timing_count; i++) {
        struct fp_delta_timing *timing = &delta->timings[i];
        timing->id = fp_in_fixed64(in);
        timing->name = fp_in_text(in);
        timing->kind = (enum fp_timing_kind)fp_in_byte(in, in->version < 3 ? FP_TIMING_MEASURE + 1
                                                                           : FP_TIMING_KIND_COUNT);
        if (timing->kind > FP_TIMING_MEASURE) {
            timing->source = fp_in_text(in);
            timing->function = fp_in_text(in);
            timing->navigation = take_navigation(in);
        }
        timing->count = fp_in_count(in);
        timing->negative = (uint32_t)fp_in_varint(in, timing->count);
        timing->sum_us = fp_in_signed(in);
        timing->min_us = fp_in_value(in);
        timing->max_us = fp_in_value(in);
        timing->first_bin = first_bin;
        take_timing_bins(in, delta, timing);
        first_bin += timing->bin_count;
    }
    if (first_bin != delta->bin_count)
        fp_in_refuse(in, FP_DELTA_DAMAGED);
}

/* The frames of one measure, which begin at measured_frames[first_frame]. */
static void take_measured_frames(struct fp_in *in, struct fp_delta *delta,
                                 struct fp_delta_measured *measured)
{
    measured->frame_count =
        (uint32_t)fp_in_varint(in, delta->measured_frame_count - measured->first_frame);
    for (uint32_t i = 0; fp_in_ok(in) && i < measured->frame_count; i++) {
        struct fp_delta_measured_frame *frame = &delta->measured_frames[measured->first_frame + i];
        frame->frame = fp_in_index(in, delta->frame_count);
        frame->marker = (enum fp_marker)fp_in_byte(in, FP_MARKER_COUNT);
        frame->samples = fp_in_count(in);
        frame->self_us = fp_in_time(in);
        frame->total_us = fp_in_time(in);
    }
}

static void take_measured(struct fp_in *in, struct fp_delta *delta)
{
    delta->measured_frames =
        fp_in_array(in, &delta->measured_frame_count, sizeof(*delta->measured_frames), 5);
    delta->measured = fp_in_array(in, &delta->measured_count, sizeof(*delta->measured), 6);
    uint32_t first_frame = 0;
    for (uint32_t i = 0; fp_in_ok(in) && i < delta->measured_count; i++) {
        struct fp_delta_measured *measured = &delta->measured[i];
        measured->timing = fp_in_index(in, delta->timing_count);
        measured->samples = fp_in_count(in);
        measured->profiled_us = fp_in_time(in);
        measured->unattributed_samples = fp_in_count(in);
        measured->unattributed_us = fp_in_time(in);
        /* Before version 4 each upload was a page load, and nothing was known to be unseen. */
        measured->window_us = in->version > 3 ? fp_in_time(in) : measured->profiled_us;
        measured->counts_load = in->version > 3 ? fp_in_byte(in, 2) != 0 : true;
        measured->first_frame = first_frame;
        take_measured_frames(in, delta, measured);
        first_frame += measured->frame_count;
    }
    if (first_frame != delta->measured_frame_count)
        fp_in_refuse(in, FP_DELTA_DAMAGED);
}

static void take_refusals(struct fp_in *in, struct fp_delta *delta)
{
    unsigned before = FP_RECORD_REFUSAL_NONE;
    delta->records_read = fp_in_count(in);
    delta->refusals = fp_in_array(in, &delta->refusal_count, sizeof(*delta->refusals), 3);
    for (uint32_t i = 0; fp_in_ok(in) && i < delta->refusal_count; i++) {
        struct fp_delta_refusal *refusal = &delta->refusals[i];
        const unsigned reason = fp_in_byte(in, FP_RECORD_REFUSAL_COUNT);
        refusal->reason = (enum fp_record_refusal)reason;
        refusal->records = (uint32_t)fp_in_varint(in, UINT32_MAX - delta->records_refused);
        refusal->place = fp_in_text(in);
        delta->records_refused += refusal->records;
        if (reason <= before || refusal->records == 0)
            fp_in_refuse(in, FP_DELTA_DAMAGED);
        before = reason;
    }
}

/* Takes the parts of a value, which are not longer than the value. */
static void take_parts(struct fp_in *in, struct fp_delta_vital *vital)
{
    vital->parts.known = (int64_t)fp_in_varint(in, FP_VITAL_PARTS_MAX - 1);
    if (fp_in_ok(in) && vital->parts.known > 0 &&
        (size_t)vital->parts.known + 1 != fp_vital_part_count(vital->vital))
        fp_in_refuse(in, FP_DELTA_DAMAGED);
    int64_t left_us = vital->value_us;
    for (int64_t i = 0; fp_in_ok(in) && i < vital->parts.known; i++) {
        vital->parts.us[i] = (int64_t)fp_in_varint(in, (uint64_t)left_us);
        left_us -= vital->parts.us[i];
    }
}

/* Takes the element of a vital: a timing of that vital without values. */
static uint32_t take_element(struct fp_in *in, const struct fp_delta *delta)
{
    const uint32_t element = fp_in_optional_index(in, delta->timing_count);
    if (fp_in_ok(in) && element != FP_INDEX_NONE &&
        delta->timings[element].kind != FP_TIMING_VITAL_ELEMENT)
        fp_in_refuse(in, FP_DELTA_DAMAGED);
    return element;
}

static void take_vitals(struct fp_in *in, struct fp_delta *delta)
{
    delta->vitals = fp_in_array(in, &delta->vital_count, sizeof(*delta->vitals), 10);
    if (delta->vital_count > 0 && !delta->has_load)
        fp_in_refuse(in, FP_DELTA_DAMAGED);
    for (uint32_t i = 0; fp_in_ok(in) && i < delta->vital_count; i++) {
        struct fp_delta_vital *vital = &delta->vitals[i];
        vital->metric = fp_in_fixed64(in);
        vital->vital = (enum fp_vital)fp_in_byte(in, FP_VITAL_COUNT);
        vital->value_us = (int64_t)fp_in_varint(in, FP_DELTA_TIME_MAX_US);
        vital->element = in->version > 6 ? take_element(in, delta) : FP_INDEX_NONE;
        if (in->version > 6)
            take_parts(in, vital);
        vital->navigation = take_navigation(in);
    }
}

/* Takes what a value in this bin would be without something, from withouts[first] on. Returns how
 * many there are, at most `most`. */
static uint32_t take_range(struct fp_in *in, struct fp_delta *delta, uint32_t first, uint32_t most,
                           uint16_t bin)
{
    const uint32_t count = (uint32_t)fp_in_varint(in, most);
    for (uint32_t i = 0; fp_in_ok(in) && i < count; i++) {
        struct fp_delta_without *without = &delta->withouts[first + i];
        without->timing = fp_in_index(in, delta->timing_count);
        without->gone = (uint16_t)fp_in_varint(in, bin);
        without->half = (uint16_t)fp_in_varint(in, bin);
        if (fp_in_ok(in) && delta->timings[without->timing].kind != FP_TIMING_VITAL_WITHOUT)
            fp_in_refuse(in, FP_DELTA_DAMAGED);
    }
    return count;
}

/* Takes what one vital would be without something. */
static void take_withouts_of(struct fp_in *in, struct fp_delta *delta, struct fp_delta_vital *vital)
{
    const uint32_t left = delta->without_count - vital->first_without;
    vital->later = (uint32_t)fp_in_varint(in, UINT32_MAX - delta->part);
    vital->is_profiled = fp_in_byte(in, 2) != 0;
    vital->without_count = take_range(in, delta, vital->first_without,
                                      vital->is_profiled ? left : 0, fp_bin_of(vital->value_us));
}

/* Takes measures and responses, and what they would be, from withouts[first] on. Returns the end of
 * these. */
static uint32_t take_profiled(struct fp_in *in, struct fp_delta *delta, uint32_t first)
{
    delta->profiled = fp_in_array(in, &delta->profiled_count, sizeof(*delta->profiled), 3);
    for (uint32_t i = 0; fp_in_ok(in) && i < delta->profiled_count; i++) {
        struct fp_delta_profiled *profiled = &delta->profiled[i];
        profiled->timing = fp_in_index(in, delta->timing_count);
        profiled->now = (uint16_t)fp_in_varint(in, fp_bin_of(FP_DELTA_TIME_MAX_US));
        profiled->first_without = first;
        profiled->without_count =
            take_range(in, delta, first, delta->without_count - first, profiled->now);
        first += profiled->without_count;
        if (fp_in_ok(in) && delta->timings[profiled->timing].kind != FP_TIMING_VITAL_PROFILED)
            fp_in_refuse(in, FP_DELTA_DAMAGED);
    }
    return first;
}

static void take_withouts(struct fp_in *in, struct fp_delta *delta)
{
    delta->withouts = fp_in_array(in, &delta->without_count, sizeof(*delta->withouts), 3);
    uint32_t first = 0;
    for (uint32_t i = 0; fp_in_ok(in) && i < delta->vital_count; i++) {
        delta->vitals[i].first_without = first;
        take_withouts_of(in, delta, &delta->vitals[i]);
        first += delta->vitals[i].without_count;
    }
    if (fp_in_ok(in) && take_profiled(in, delta, first) != delta->without_count)
        fp_in_refuse(in, FP_DELTA_DAMAGED);
}

enum fp_delta_error fp_delta_decode(const void *bytes, size_t len, struct fp_arena *arena,
                                    struct fp_delta *delta)
{
    struct fp_in in = {.at = bytes, .arena = arena};
    in.end = in.at + len;
    *delta = (struct fp_delta){0};
    const uint8_t *version = fp_in_bytes(&in, 1);
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
    if (in.version > 2)
        take_refusals(&in, delta);
    if (in.version > 4)
        take_vitals(&in, delta);
    if (in.version > 9)
        take_withouts(&in, delta);
    if (fp_in_ok(&in) && in.at != in.end)
        fp_in_refuse(&in, FP_DELTA_DAMAGED);
    return in.error;
}
