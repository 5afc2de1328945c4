/*
 * Bytes to delta.
 *
 * A reader that has met an error gives zeros from then on, so that a run of fields is read without
 * a check after each; loops and allocations look at `error` first.
 */
#include "collector/rollup/bins.h"
#include "collector/rollup/delta.h"
#include "collector/rollup/delta_bytes.h"
#include "collector/rollup/ids.h"

#include <endian.h>

struct reader {
    const uint8_t *at;
    const uint8_t *end;
    struct fp_arena *arena;
    enum fp_delta_error error;
};

static bool fine(const struct reader *in)
{
    return in->error == FP_DELTA_OK;
}

static void refuse(struct reader *in, enum fp_delta_error error)
{
    if (fine(in))
        in->error = error;
    in->at = in->end;
}

/* The next len bytes, NULL when there are not so many. */
static const uint8_t *take(struct reader *in, uint64_t len)
{
    if (!fine(in) || len > (uint64_t)(in->end - in->at)) {
        refuse(in, FP_DELTA_DAMAGED);
        return NULL;
    }
    const uint8_t *bytes = in->at;
    in->at += len;
    return bytes;
}

/* A byte below `limit`. */
static unsigned take_byte(struct reader *in, unsigned limit)
{
    const uint8_t *byte = take(in, 1);
    if (byte != NULL && *byte < limit)
        return *byte;
    refuse(in, FP_DELTA_DAMAGED);
    return 0;
}

static uint64_t take_fixed64(struct reader *in)
{
    const uint8_t *bytes = take(in, 8);
    uint64_t little = 0;
    if (bytes != NULL)
        memcpy(&little, bytes, sizeof(little));
    return le64toh(little);
}

/* A number of at most `max`, in its shortest form or not. */
static uint64_t take_varint(struct reader *in, uint64_t max)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t *byte = take(in, 1);
        if (byte == NULL)
            return 0;
        uint64_t bits = *byte & 0x7fu;
        if (shift == 63 && bits > 1)
            break;
        value |= bits << shift;
        if (*byte < 0x80) {
            if (value <= max)
                return value;
            break;
        }
    }
    refuse(in, FP_DELTA_DAMAGED);
    return 0;
}

static uint32_t take_count(struct reader *in)
{
    return (uint32_t)take_varint(in, UINT32_MAX);
}

static int64_t take_time(struct reader *in)
{
    return (int64_t)take_varint(in, FP_DELTA_TIME_MAX_US);
}

static int64_t take_signed(struct reader *in)
{
    uint64_t folded = take_varint(in, UINT64_MAX);
    return (int64_t)(folded >> 1) ^ -(int64_t)(folded & 1);
}

/* A timing's value, within the range of the contract. */
static int64_t take_value(struct reader *in)
{
    int64_t value = take_signed(in);
    if (value >= -FP_DELTA_VALUE_MAX_US && value <= FP_DELTA_VALUE_MAX_US)
        return value;
    refuse(in, FP_DELTA_DAMAGED);
    return 0;
}

/* An index below count. */
static uint32_t take_index(struct reader *in, uint32_t count)
{
    if (count == 0) {
        refuse(in, FP_DELTA_DAMAGED);
        return 0;
    }
    return (uint32_t)take_varint(in, count - 1);
}

/* The same, or FP_INDEX_NONE. */
static uint32_t take_optional_index(struct reader *in, uint32_t count)
{
    uint64_t shifted = take_varint(in, count);
    return shifted == 0 ? FP_INDEX_NONE : (uint32_t)shifted - 1;
}

static int32_t take_position(struct reader *in)
{
    return (int32_t)((int64_t)take_varint(in, (uint64_t)INT32_MAX + 1) - 1);
}

static struct fp_str take_text(struct reader *in)
{
    uint64_t len = take_varint(in, UINT32_MAX);
    const uint8_t *bytes = take(in, len);
    return bytes != NULL ? (struct fp_str){(const char *)bytes, (size_t)len} : FP_STR("");
}

static struct fp_uuid take_uuid(struct reader *in)
{
    struct fp_uuid uuid = {{0}};
    const uint8_t *bytes = take(in, sizeof(uuid.bytes));
    if (bytes != NULL)
        memcpy(uuid.bytes, bytes, sizeof(uuid.bytes));
    return uuid;
}

/*
 * An array of *count elements, where *count comes from the bytes. An element takes at least min_len
 * bytes, so that a count without the bytes for it does not cost memory.
 */
static void *take_array(struct reader *in, uint32_t *count, size_t size, size_t min_len)
{
    *count = take_count(in);
    if (*count > (size_t)(in->end - in->at) / min_len)
        refuse(in, FP_DELTA_DAMAGED);
    void *array = fine(in) ? fp_arena_array(in->arena, *count, size) : NULL;
    if (array == NULL) {
        refuse(in, FP_DELTA_MEMORY);
        *count = 0;
    }
    return array;
}

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

static void take_upload(struct reader *in, struct fp_delta *delta)
{
    delta->id = take_uuid(in);
    unsigned flags = take_byte(in, FP_DELTA_FLAGS + 1);
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

enum fp_delta_error fp_delta_decode(const void *bytes, size_t len, struct fp_arena *arena,
                                    struct fp_delta *delta)
{
    struct reader in = {.at = bytes, .arena = arena};
    in.end = in.at + len;
    *delta = (struct fp_delta){0};
    const uint8_t *version = take(&in, 1);
    if (version == NULL)
        return FP_DELTA_DAMAGED;
    if (*version != FP_DELTA_BYTES_VERSION)
        return FP_DELTA_VERSION;
    take_upload(&in, delta);
    take_resources(&in, delta);
    take_frames(&in, delta);
    take_splits(&in, delta);
    take_stacks(&in, delta);
    take_stack_samples(&in, delta);
    take_timings(&in, delta);
    if (fine(&in) && in.at != in.end)
        refuse(&in, FP_DELTA_DAMAGED);
    return in.error;
}
