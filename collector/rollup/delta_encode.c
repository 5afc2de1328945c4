/*
 * Delta to bytes.
 */
#include "collector/rollup/bytes_out.h"
#include "collector/rollup/delta_bytes.h"
#include "collector/rollup/session_bytes.h"

static void put_segment(struct fp_buf *out, const struct fp_segment *segment)
{
    put_text(out, segment->site);
    put_text(out, segment->route);
    put_text(out, segment->release);
    put_text(out, segment->environment);
    put_text(out, segment->variant);
    put_text(out, segment->browser);
    put_text(out, segment->os);
    put_text(out, segment->device);
    put_text(out, segment->thread);
    put_varint(out, segment->rate_ppm);
}

static void put_upload(struct fp_buf *out, const struct fp_delta *delta)
{
    unsigned flags = (delta->has_load ? FP_DELTA_HAS_LOAD : 0u) |
                     (delta->truncated ? FP_DELTA_TRUNCATED : 0u) |
                     (delta->session != NULL ? FP_DELTA_HAS_SESSION : 0u);
    fp_buf_add(out, delta->id.bytes, sizeof(delta->id.bytes));
    put_byte(out, flags);
    if (delta->has_load)
        fp_buf_add(out, delta->load.bytes, sizeof(delta->load.bytes));
    put_varint(out, delta->part);
    put_varint(out, (uint64_t)delta->received_us);
    put_segment(out, &delta->segment);
    put_byte(out, delta->format);
    put_byte(out, delta->coverage);
    put_varint(out, delta->browser_version);
    put_text(out, delta->agent);
    put_varint(out, delta->body_bytes);
    put_varint(out, delta->skipped_entries);
    put_varint(out, delta->samples);
    put_time(out, delta->profiled_us);
    put_varint(out, delta->unattributed_samples);
    put_time(out, delta->unattributed_us);
}

static void put_resources(struct fp_buf *out, const struct fp_delta *delta)
{
    put_varint(out, delta->resource_count);
    for (uint32_t i = 0; i < delta->resource_count; i++) {
        put_fixed64(out, delta->resources[i].id);
        put_text(out, delta->resources[i].url);
    }
}

static void put_frames(struct fp_buf *out, const struct fp_delta *delta)
{
    put_varint(out, delta->frame_count);
    for (uint32_t i = 0; i < delta->frame_count; i++) {
        const struct fp_delta_frame *frame = &delta->frames[i];
        put_fixed64(out, frame->id);
        put_text(out, frame->function);
        put_index(out, frame->resource);
        put_position(out, frame->line);
        put_position(out, frame->column);
        put_byte(out, frame->kind);
        put_varint(out, frame->samples);
        put_varint(out, frame->marked_samples);
        put_time(out, frame->self_us);
        put_time(out, frame->total_us);
    }
}

static void put_splits(struct fp_buf *out, const struct fp_delta *delta)
{
    put_varint(out, delta->split_count);
    for (uint32_t i = 0; i < delta->split_count; i++) {
        const struct fp_delta_split *split = &delta->splits[i];
        put_varint(out, split->frame);
        put_byte(out, split->marker);
        put_varint(out, split->samples);
        put_time(out, split->self_us);
        put_time(out, split->total_us);
    }
}

/* Neither id nor level: the reader has both from the parent and the frame. */
static void put_stacks(struct fp_buf *out, const struct fp_delta *delta)
{
    put_varint(out, delta->stack_count);
    for (uint32_t i = 0; i < delta->stack_count; i++) {
        const struct fp_delta_stack *stack = &delta->stacks[i];
        put_varint(out, stack->parent == FP_INDEX_NONE ? 0 : i - stack->parent);
        put_varint(out, stack->frame);
    }
    put_varint(out, delta->stack_sample_count);
    for (uint32_t i = 0; i < delta->stack_sample_count; i++) {
        const struct fp_delta_stack_sample *sample = &delta->stack_samples[i];
        put_varint(out, sample->stack);
        put_byte(out, sample->marker);
        put_varint(out, sample->samples);
        put_time(out, sample->self_us);
    }
}

static void put_timings(struct fp_buf *out, const struct fp_delta *delta)
{
    put_varint(out, delta->timing_count);
    for (uint32_t i = 0; i < delta->timing_count; i++) {
        const struct fp_delta_timing *timing = &delta->timings[i];
        put_fixed64(out, timing->id);
        put_text(out, timing->name);
        put_byte(out, timing->kind);
        put_varint(out, timing->count);
        put_varint(out, timing->negative);
        put_signed(out, timing->sum_us);
        put_signed(out, timing->min_us);
        put_signed(out, timing->max_us);
        put_varint(out, timing->bin_count);
        for (uint32_t k = 0; k < timing->bin_count; k++) {
            const struct fp_delta_bin *bin = &delta->bins[timing->first_bin + k];
            put_varint(out, bin->bin);
            put_varint(out, bin->count);
        }
    }
}

static void put_measured(struct fp_buf *out, const struct fp_delta *delta)
{
    put_varint(out, delta->measured_count);
    for (uint32_t i = 0; i < delta->measured_count; i++) {
        const struct fp_delta_measured *measured = &delta->measured[i];
        put_varint(out, measured->timing);
        put_varint(out, measured->samples);
        put_time(out, measured->profiled_us);
        put_varint(out, measured->unattributed_samples);
        put_time(out, measured->unattributed_us);
        put_varint(out, measured->frame_count);
        for (uint32_t k = 0; k < measured->frame_count; k++) {
            const struct fp_delta_measured_frame *frame =
                &delta->measured_frames[measured->first_frame + k];
            put_varint(out, frame->frame);
            put_byte(out, frame->marker);
            put_varint(out, frame->samples);
            put_time(out, frame->self_us);
            put_time(out, frame->total_us);
        }
    }
}

void fp_delta_encode(const struct fp_delta *delta, struct fp_buf *out)
{
    put_byte(out, FP_DELTA_BYTES_VERSION);
    put_upload(out, delta);
    put_resources(out, delta);
    put_frames(out, delta);
    put_splits(out, delta);
    put_stacks(out, delta);
    /* All timings' bins, so that the reader can make room for them at once. */
    put_varint(out, delta->bin_count);
    put_timings(out, delta);
    put_varint(out, delta->measured_frame_count);
    put_measured(out, delta);
    if (delta->session != NULL)
        fp_session_encode(delta->session, out);
}
