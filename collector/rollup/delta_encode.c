/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delta to bytes.
 */
#include "collector/rollup/bytes_out.h"
#include "collector/rollup/delta_bytes.h"
#include "collector/rollup/dimension.h"
#include "collector/rollup/session_bytes.h"

/* The first version has no place for later dimensions: they stand behind the rate. */
static void put_segment(struct fp_buf *out, const struct fp_segment *segment)
{
    for (size_t i = 0; i < FP_DIMENSION_COUNT && fp_dimensions[i].version == 1; i++)
        fp_out_text(out, fp_dimension_of(segment, i));
    fp_out_varint(out, segment->rate_ppm);
    for (size_t i = 0; i < FP_DIMENSION_COUNT; i++)
        if (fp_dimensions[i].version > 1)
            fp_out_text(out, fp_dimension_of(segment, i));
}

static void put_upload(struct fp_buf *out, const struct fp_delta *delta)
{
    unsigned flags = (delta->has_load ? FP_DELTA_HAS_LOAD : 0u) |
                     (delta->truncated ? FP_DELTA_TRUNCATED : 0u) |
                     (delta->session != NULL ? FP_DELTA_HAS_SESSION : 0u);
    fp_buf_add(out, delta->id.bytes, sizeof(delta->id.bytes));
    fp_out_byte(out, flags);
    if (delta->has_load)
        fp_buf_add(out, delta->load.bytes, sizeof(delta->load.bytes));
    fp_out_varint(out, delta->part);
    fp_out_varint(out, (uint64_t)delta->received_us);
    put_segment(out, &delta->segment);
    fp_out_byte(out, delta->format);
    fp_out_byte(out, delta->coverage);
    fp_out_varint(out, delta->browser_version);
    fp_out_text(out, delta->agent);
    fp_out_varint(out, delta->body_bytes);
    fp_out_varint(out, delta->skipped_entries);
    fp_out_varint(out, delta->samples);
    fp_out_time(out, delta->profiled_us);
    fp_out_varint(out, delta->unattributed_samples);
    fp_out_time(out, delta->unattributed_us);
    fp_out_time(out, delta->unseen_us);
}

static void put_resources(struct fp_buf *out, const struct fp_delta *delta)
{
    fp_out_varint(out, delta->resource_count);
    for (uint32_t i = 0; i < delta->resource_count; i++) {
        fp_out_fixed64(out, delta->resources[i].id);
        fp_out_text(out, delta->resources[i].url);
    }
}

static void put_frames(struct fp_buf *out, const struct fp_delta *delta)
{
    fp_out_varint(out, delta->frame_count);
    for (uint32_t i = 0; i < delta->frame_count; i++) {
        const struct fp_delta_frame *frame = &delta->frames[i];
        fp_out_fixed64(out, frame->id);
        fp_out_text(out, frame->function);
        fp_out_index(out, frame->resource);
        fp_out_position(out, frame->line);
        fp_out_position(out, frame->column);
        fp_out_byte(out, frame->kind);
        fp_out_varint(out, frame->samples);
        fp_out_varint(out, frame->marked_samples);
        fp_out_time(out, frame->self_us);
        fp_out_time(out, frame->total_us);
    }
}

static void put_splits(struct fp_buf *out, const struct fp_delta *delta)
{
    fp_out_varint(out, delta->split_count);
    for (uint32_t i = 0; i < delta->split_count; i++) {
        const struct fp_delta_split *split = &delta->splits[i];
        fp_out_varint(out, split->frame);
        fp_out_byte(out, split->marker);
        fp_out_varint(out, split->samples);
        fp_out_time(out, split->self_us);
        fp_out_time(out, split->total_us);
    }
}

/* Neither id nor level: the reader has both from the parent and the frame. */
static void put_stacks(struct fp_buf *out, const struct fp_delta *delta)
{
    fp_out_varint(out, delta->stack_count);
    for (uint32_t i = 0; i < delta->stack_count; i++) {
        const struct fp_delta_stack *stack = &delta->stacks[i];
        fp_out_varint(out, stack->parent == FP_INDEX_NONE ? 0 : i - stack->parent);
        fp_out_varint(out, stack->frame);
    }
    fp_out_varint(out, delta->stack_sample_count);
    for (uint32_t i = 0; i < delta->stack_sample_count; i++) {
        const struct fp_delta_stack_sample *sample = &delta->stack_samples[i];
        fp_out_varint(out, sample->stack);
        fp_out_byte(out, sample->marker);
        fp_out_varint(out, sample->samples);
        fp_out_time(out, sample->self_us);
    }
}

static void put_timings(struct fp_buf *out, const struct fp_delta *delta)
{
    fp_out_varint(out, delta->timing_count);
    for (uint32_t i = 0; i < delta->timing_count; i++) {
        const struct fp_delta_timing *timing = &delta->timings[i];
        fp_out_fixed64(out, timing->id);
        fp_out_text(out, timing->name);
        fp_out_byte(out, timing->kind);
        if (timing->kind > FP_TIMING_MEASURE) {
            fp_out_text(out, timing->source);
            fp_out_text(out, timing->function);
            fp_out_byte(out, timing->navigation);
        }
        fp_out_varint(out, timing->count);
        fp_out_varint(out, timing->negative);
        fp_out_signed(out, timing->sum_us);
        fp_out_signed(out, timing->min_us);
        fp_out_signed(out, timing->max_us);
        fp_out_varint(out, timing->bin_count);
        for (uint32_t k = 0; k < timing->bin_count; k++) {
            const struct fp_delta_bin *bin = &delta->bins[timing->first_bin + k];
            fp_out_varint(out, bin->bin);
            fp_out_varint(out, bin->count);
        }
    }
}

static void put_measured(struct fp_buf *out, const struct fp_delta *delta)
{
    fp_out_varint(out, delta->measured_count);
    for (uint32_t i = 0; i < delta->measured_count; i++) {
        const struct fp_delta_measured *measured = &delta->measured[i];
        fp_out_varint(out, measured->timing);
        fp_out_varint(out, measured->samples);
        fp_out_time(out, measured->profiled_us);
        fp_out_varint(out, measured->unattributed_samples);
        fp_out_time(out, measured->unattributed_us);
        fp_out_time(out, measured->window_us);
        fp_out_byte(out, measured->counts_load);
        fp_out_varint(out, measured->frame_count);
        for (uint32_t k = 0; k < measured->frame_count; k++) {
            const struct fp_delta_measured_frame *frame =
                &delta->measured_frames[measured->first_frame + k];
            fp_out_varint(out, frame->frame);
            fp_out_byte(out, frame->marker);
            fp_out_varint(out, frame->samples);
            fp_out_time(out, frame->self_us);
            fp_out_time(out, frame->total_us);
        }
    }
}

static void put_refusals(struct fp_buf *out, const struct fp_delta *delta)
{
    fp_out_varint(out, delta->records_read);
    fp_out_varint(out, delta->refusal_count);
    for (uint32_t i = 0; i < delta->refusal_count; i++) {
        fp_out_byte(out, delta->refusals[i].reason);
        fp_out_varint(out, delta->refusals[i].records);
        fp_out_text(out, delta->refusals[i].place);
    }
}

static void put_parts(struct fp_buf *out, const struct fp_vital_parts *parts)
{
    fp_out_varint(out, (uint64_t)parts->known);
    for (int64_t i = 0; i < parts->known; i++)
        fp_out_varint(out, (uint64_t)parts->us[i]);
}

/* Puts a part of the withouts. */
static void put_range(struct fp_buf *out, const struct fp_delta *delta, uint32_t first,
                      uint32_t count)
{
    fp_out_varint(out, count);
    for (uint32_t i = first; i < first + count; i++) {
        fp_out_varint(out, delta->withouts[i].timing);
        fp_out_varint(out, delta->withouts[i].gone);
        fp_out_varint(out, delta->withouts[i].half);
    }
}

/* After the vitals, whose values their bins are of. */
static void put_withouts(struct fp_buf *out, const struct fp_delta *delta)
{
    fp_out_varint(out, delta->without_count);
    for (uint32_t i = 0; i < delta->vital_count; i++) {
        const struct fp_delta_vital *vital = &delta->vitals[i];
        fp_out_varint(out, vital->later);
        fp_out_byte(out, vital->is_profiled);
        put_range(out, delta, vital->first_without, vital->without_count);
    }
    fp_out_varint(out, delta->profiled_count);
    for (uint32_t i = 0; i < delta->profiled_count; i++) {
        const struct fp_delta_profiled *profiled = &delta->profiled[i];
        fp_out_varint(out, profiled->timing);
        fp_out_varint(out, profiled->now);
        put_range(out, delta, profiled->first_without, profiled->without_count);
    }
}

static void put_vitals(struct fp_buf *out, const struct fp_delta *delta)
{
    fp_out_varint(out, delta->vital_count);
    for (uint32_t i = 0; i < delta->vital_count; i++) {
        fp_out_fixed64(out, delta->vitals[i].metric);
        fp_out_byte(out, delta->vitals[i].vital);
        fp_out_varint(out, (uint64_t)delta->vitals[i].value_us);
        fp_out_index(out, delta->vitals[i].element);
        put_parts(out, &delta->vitals[i].parts);
        fp_out_byte(out, delta->vitals[i].navigation);
    }
}

void fp_delta_encode(const struct fp_delta *delta, struct fp_buf *out)
{
    fp_out_byte(out, FP_DELTA_BYTES_VERSION);
    put_upload(out, delta);
    put_resources(out, delta);
    put_frames(out, delta);
    put_splits(out, delta);
    put_stacks(out, delta);
    /* All timings' bins, so that the reader can make room for them at once. */
    fp_out_varint(out, delta->bin_count);
    put_timings(out, delta);
    fp_out_varint(out, delta->measured_frame_count);
    put_measured(out, delta);
    if (delta->session != NULL)
        fp_session_encode(delta->session, out);
    put_refusals(out, delta);
    put_vitals(out, delta);
    put_withouts(out, delta);
}
