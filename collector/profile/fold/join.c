/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, join: windows reach across the parts of a page load.
 *
 * The part that arrives later carries the common time of both: its spans inside windows of
 * earlier parts, and spans of earlier parts inside its windows. Each moment counts once per name
 * also across parts, so what an earlier part's own windows of the name hold is left out.
 */
#include "collector/profile/fold/internal.h"

#include <stdlib.h>

size_t fp_fold_earlier_windows(const struct fp_fold_context *context)
{
    size_t count = 0;
    for (size_t i = 0; i < context->earlier_count; i++)
        count += context->earlier[i]->window_count;
    return count;
}

uint32_t fp_fold_first_sample(const struct fp_fold_sample *samples, uint32_t count, int64_t time_us)
{
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (fp_fold_end_us(&samples[middle]) <= time_us)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Samples of which only those from `first` up to, but not including, `end` matter. */
struct span_range {
    uint32_t first;
    uint32_t end;
};

/* Finds the samples whose spans overlap [start, end). */
static struct span_range find_spans(const struct fp_fold_sample *samples, uint32_t count,
                                    int64_t start_us, int64_t end_us)
{
    struct span_range range = {.first = fp_fold_first_sample(samples, count, start_us)};
    range.end = range.first;
    if (end_us <= start_us)
        return range;
    range.end = fp_fold_first_sample(samples, count, end_us);
    /* The last one may begin in the window and end after it. */
    range.end += range.end < count && samples[range.end].start_us < end_us;
    return range;
}

/* ---- time that earlier parts own ---- */

static int compare_samples(const void *a, const void *b)
{
    const struct fp_fold_sample *left = a;
    const struct fp_fold_sample *right = b;
    return left->start_us < right->start_us ? -1 : left->start_us > right->start_us;
}

/* Lists the earlier parts' samples that overlap this upload's, by time. NULL: no memory. */
static struct fp_fold_sample *list_owned(struct fp_fold *fold, uint32_t *count)
{
    const struct fp_fold_context *context = fold->context;
    const int64_t start_us = fold->samples[0].start_us;
    const int64_t end_us = fp_fold_end_us(&fold->samples[fold->sample_count - 1]);
    uint32_t most = 0;
    *count = 0;
    for (size_t i = 0; i < context->earlier_count; i++)
        most += context->earlier[i]->sample_count;
    struct fp_fold_sample *owned = fp_fold_array(fold, most, sizeof(*owned));
    for (size_t i = 0; owned != NULL && i < context->earlier_count; i++) {
        const struct fp_part *part = context->earlier[i];
        struct span_range range = find_spans(part->samples, part->sample_count, start_us, end_us);
        for (uint32_t k = range.first; k < range.end; k++)
            owned[(*count)++] = part->samples[k];
    }
    if (owned != NULL)
        qsort(owned, *count, sizeof(*owned), compare_samples);
    return owned;
}

/* Adds the piece [start, end) of a sample, if it is not empty. It counts as a sample if it has the
 * moment of the sample. */
static uint32_t add_piece(struct fp_fold_sample *pieces, uint32_t count,
                          const struct fp_fold_sample *sample, int64_t start_us, int64_t end_us)
{
    if (start_us >= end_us)
        return count;
    pieces[count] = *sample;
    pieces[count].start_us = start_us;
    pieces[count].weight_us = end_us - start_us;
    pieces[count].is_evidence =
        sample->is_evidence && sample->time_us >= start_us && sample->time_us < end_us;
    return count + 1;
}

/* Cuts what others own out of the upload's samples. Returns the number of pieces. */
static uint32_t cut_out(const struct fp_fold *fold, const struct fp_fold_sample *owned,
                        uint32_t owned_count, struct fp_fold_sample *pieces)
{
    uint32_t count = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < fold->sample_count; i++) {
        const struct fp_fold_sample *sample = &fold->samples[i];
        int64_t start_us = sample->start_us;
        const int64_t end_us = fp_fold_end_us(sample);
        while (at < owned_count && fp_fold_end_us(&owned[at]) <= start_us)
            at++;
        for (uint32_t k = at; k < owned_count && owned[k].start_us < end_us; k++) {
            count = add_piece(pieces, count, sample, start_us, owned[k].start_us);
            start_us = fp_fold_end_us(&owned[k]);
        }
        count = add_piece(pieces, count, sample, start_us, end_us);
    }
    return count;
}

bool fp_fold_claim(struct fp_fold *fold)
{
    fold->own = fold->samples;
    fold->own_count = fold->is_watched ? fold->sample_count : 0;
    for (size_t i = 0; i < fold->context->earlier_count; i++)
        fold->was_watched = fold->was_watched || fold->context->earlier[i]->is_watched;
    if (fold->own_count == 0 || !fold->was_watched)
        return true;
    uint32_t owned_count;
    const struct fp_fold_sample *owned = list_owned(fold, &owned_count);
    if (owned == NULL || owned_count == 0)
        return owned != NULL;
    struct fp_fold_sample *pieces =
        fp_fold_array(fold, (size_t)fold->own_count + owned_count, sizeof(*pieces));
    if (pieces == NULL)
        return false;
    fold->own_count = cut_out(fold, owned, owned_count, pieces);
    fold->own = pieces;
    return true;
}

/* ---- windows of earlier parts ---- */

/* True if the window matters although this upload has no window of its name: because it holds
 * samples, or because so far nobody could say that its time is unseen. */
static bool is_wanted(const struct fp_fold *fold, const struct fp_fold_window *window)
{
    uint32_t first = fp_fold_first_sample(fold->own, fold->own_count, window->start_us);
    bool holds_samples = first < fold->own_count && fold->own[first].start_us < window->end_us;
    return holds_samples || (fold->is_watched && !fold->was_watched);
}

/* Adds the window of an earlier part: under the timing of this upload, or a new one without values.
 * One that is not wanted and has no name in common is left out. */
static bool add_window(struct fp_fold *fold, const struct fp_part *part,
                       const struct fp_fold_window *window)
{
    struct fp_delta *delta = fold->delta;
    const struct fp_delta_timing *from = &part->timings[window->timing];
    uint32_t timing = fp_map_get(&fold->timings, from->id);
    if (timing == FP_MAP_NONE) {
        if (!is_wanted(fold, window))
            return true;
        timing = fp_map_put(&fold->timings, from->id, delta->timing_count);
        if (timing == FP_MAP_NONE)
            return false;
        delta->timings[delta->timing_count++] = (struct fp_delta_timing){
            .id = from->id, .name = from->name, .kind = from->kind, .navigation = from->navigation};
    }
    fold->windows[fold->window_count++] =
        (struct fp_fold_window){timing, window->start_us, window->end_us};
    return true;
}

static bool add_windows(struct fp_fold *fold)
{
    const struct fp_fold_context *context = fold->context;
    for (size_t i = 0; i < context->earlier_count; i++)
        for (uint32_t k = 0; k < context->earlier[i]->window_count; k++)
            if (!add_window(fold, context->earlier[i], &context->earlier[i]->windows[k]))
                return false;
    return true;
}

/* ---- samples of earlier parts ---- */

/* The span of this upload's own windows. */
struct joining_span {
    int64_t start_us;
    int64_t end_us;
};

static struct joining_span span_of_windows(const struct fp_fold *fold)
{
    struct joining_span span = {INT64_MAX, INT64_MIN};
    for (uint32_t i = 0; i < fold->own_window_count; i++) {
        const struct fp_fold_window *window = &fold->windows[i];
        span.start_us = window->start_us < span.start_us ? window->start_us : span.start_us;
        span.end_us = window->end_us > span.end_us ? window->end_us : span.end_us;
    }
    return span;
}

/* An earlier part, and its samples that are being joined. */
struct joining {
    const struct fp_part *part;
    struct span_range samples;
};

static uint32_t find_samples(const struct fp_fold *fold, struct joining *joining)
{
    const struct joining_span span = span_of_windows(fold);
    uint32_t count = 0;
    for (size_t i = 0; i < fold->context->earlier_count; i++) {
        const struct fp_part *part = fold->context->earlier[i];
        joining[i] = (struct joining){
            part, find_spans(part->samples, part->sample_count, span.start_us, span.end_us)};
        count += joining[i].samples.end - joining[i].samples.first;
    }
    return count;
}

/* Moves an array of the fold to one with room for `more` elements. */
static bool enlarge(struct fp_fold *fold, void **array, uint32_t count, uint32_t more, size_t size)
{
    void *larger = fp_fold_array(fold, (size_t)count + more, size);
    if (larger != NULL && count > 0)
        memcpy(larger, *array, count * size);
    *array = larger;
    return larger != NULL;
}

#define ENLARGE(fold, array, count, more)                                                          \
    enlarge((fold), (void **)&(array), (count), (more), sizeof(*(array)))

static bool make_room(struct fp_fold *fold, const struct joining *joining, uint32_t samples)
{
    struct fp_delta *delta = fold->delta;
    uint32_t resources = 0;
    uint32_t frames = 0;
    uint32_t stacks = 0;
    for (size_t i = 0; i < fold->context->earlier_count; i++) {
        resources += joining[i].part->resource_count;
        frames += joining[i].part->frame_count;
        stacks += joining[i].part->stack_count;
    }
    return ENLARGE(fold, delta->resources, delta->resource_count, resources) &&
           ENLARGE(fold, delta->frames, delta->frame_count, frames) &&
           ENLARGE(fold, fold->outermost, delta->stack_count, stacks) &&
           ENLARGE(fold, delta->stacks, delta->stack_count, stacks) &&
           (fold->joined = fp_fold_array(fold, samples, sizeof(*fold->joined))) != NULL;
}

/* Enters what the delta has into the maps, whose indexes the ceilings may have changed. */
static bool reindex(struct fp_fold *fold)
{
    const struct fp_delta *delta = fold->delta;
    fp_map_release(&fold->resources);
    fp_map_release(&fold->frames);
    fp_map_release(&fold->stacks);
    fp_map_init(&fold->resources, UINT32_MAX);
    fp_map_init(&fold->frames, UINT32_MAX);
    fp_map_init(&fold->stacks, UINT32_MAX);
    for (uint32_t i = 0; i < delta->resource_count; i++)
        if (fp_map_put(&fold->resources, delta->resources[i].id, i) == FP_MAP_NONE)
            return false;
    for (uint32_t i = 0; i < delta->frame_count; i++)
        if (fp_map_put(&fold->frames, delta->frames[i].id, i) == FP_MAP_NONE)
            return false;
    for (uint32_t i = 0; i < delta->stack_count; i++)
        if (fp_map_put(&fold->stacks, delta->stacks[i].id, i) == FP_MAP_NONE)
            return false;
    return true;
}

static bool join_resource(struct fp_fold *fold, const struct fp_part *part, uint32_t *resource)
{
    struct fp_delta *delta = fold->delta;
    if (*resource == FP_INDEX_NONE)
        return true;
    const struct fp_delta_resource *from = &part->resources[*resource];
    *resource = fp_map_put(&fold->resources, from->id, delta->resource_count);
    if (*resource == delta->resource_count)
        delta->resources[delta->resource_count++] = *from;
    return *resource != FP_MAP_NONE;
}

/* Finds a frame of the part in the delta, or adds it without numbers. */
static bool join_frame(struct fp_fold *fold, const struct fp_part *part, uint32_t *frame)
{
    struct fp_delta *delta = fold->delta;
    const struct fp_delta_frame *from = &part->frames[*frame];
    uint32_t resource = from->resource;
    if (!join_resource(fold, part, &resource))
        return false;
    *frame = fp_map_put(&fold->frames, from->id, delta->frame_count);
    if (*frame == delta->frame_count)
        delta->frames[delta->frame_count++] = (struct fp_delta_frame){.id = from->id,
                                                                      .function = from->function,
                                                                      .resource = resource,
                                                                      .line = from->line,
                                                                      .column = from->column,
                                                                      .kind = from->kind};
    return *frame != FP_MAP_NONE;
}

/* True if no stack above this one has its frame. */
static bool is_outermost(const struct fp_delta *delta, uint32_t stack)
{
    uint32_t frame = delta->stacks[stack].frame;
    uint32_t above = delta->stacks[stack].parent;
    while (above != FP_INDEX_NONE && delta->stacks[above].frame != frame)
        above = delta->stacks[above].parent;
    return above == FP_INDEX_NONE;
}

/* Finds a stack in the delta, or adds it. Its parent is there. */
static bool join_stack(struct fp_fold *fold, uint32_t parent, uint32_t frame, uint32_t *stack)
{
    uint32_t count = fold->delta->stack_count;
    if (!fp_fold_stack(fold, parent, frame, stack))
        return false;
    if (*stack == count)
        fold->outermost[*stack] = is_outermost(fold->delta, *stack);
    return true;
}

/* Joins the stacks that the samples need; a stack follows its parent. stack_of: by the part's
 * index, the delta's. */
static bool join_stacks(struct fp_fold *fold, const struct joining *joining, uint32_t *stack_of)
{
    const struct fp_part *part = joining->part;
    for (uint32_t i = joining->samples.first; i < joining->samples.end; i++)
        if (part->samples[i].stack != FP_INDEX_NONE)
            stack_of[part->samples[i].stack] = 0;
    for (uint32_t i = part->stack_count; i-- > 0;)
        if (stack_of[i] != FP_INDEX_NONE && part->stacks[i].parent != FP_INDEX_NONE)
            stack_of[part->stacks[i].parent] = 0;
    for (uint32_t i = 0; i < part->stack_count; i++) {
        uint32_t frame = part->stacks[i].frame;
        uint32_t parent = part->stacks[i].parent;
        if (stack_of[i] == FP_INDEX_NONE)
            continue;
        if (!join_frame(fold, part, &frame) ||
            !join_stack(fold, parent != FP_INDEX_NONE ? stack_of[parent] : FP_INDEX_NONE, frame,
                        &stack_of[i]))
            return false;
    }
    return true;
}

static bool join_samples(struct fp_fold *fold, const struct joining *joining)
{
    const struct fp_part *part = joining->part;
    uint32_t *stack_of = fp_fold_indexes(fold, part->stack_count);
    if (stack_of == NULL || !join_stacks(fold, joining, stack_of))
        return false;
    for (uint32_t i = joining->samples.first; i < joining->samples.end; i++) {
        struct fp_fold_sample sample = part->samples[i];
        if (sample.stack != FP_INDEX_NONE)
            sample.stack = stack_of[sample.stack];
        fold->joined[fold->joined_count++] = sample;
    }
    return true;
}

/* Lists the names for which earlier parts counted the page load. */
static bool list_counted(struct fp_fold *fold)
{
    const struct fp_fold_context *context = fold->context;
    fp_map_init(&fold->counted, UINT32_MAX);
    for (size_t i = 0; i < context->earlier_count; i++)
        for (uint32_t k = 0; k < context->earlier[i]->counted_count; k++)
            if (fp_map_put(&fold->counted, context->earlier[i]->counted[k], 0) == FP_MAP_NONE)
                return false;
    return true;
}

bool fp_fold_join(struct fp_fold *fold)
{
    const size_t parts = fold->context->earlier_count;
    fold->own_window_count = fold->window_count;
    fold->own_stack_count = fold->delta->stack_count;
    if (!list_counted(fold))
        return false;
    if (parts == 0 || fold->windows == NULL)
        return true;
    struct joining *joining = fp_fold_array(fold, parts, sizeof(*joining));
    if (joining == NULL)
        return false;
    uint32_t count = find_samples(fold, joining);
    if (!add_windows(fold))
        return false;
    if (count == 0)
        return true;
    if (!make_room(fold, joining, count) || !reindex(fold))
        return false;
    for (size_t i = 0; i < parts; i++)
        if (joining[i].samples.first < joining[i].samples.end && !join_samples(fold, &joining[i]))
            return false;
    qsort(fold->joined, fold->joined_count, sizeof(*fold->joined), compare_samples);
    return true;
}

/* ---- what is remembered of this upload ---- */

bool fp_fold_remember(struct fp_fold *fold)
{
    const struct fp_delta *delta = fold->delta;
    struct fp_part *part = fold->context->part;
    if (part == NULL)
        return true;
    *part = (struct fp_part){
        .resources = delta->resources,
        .frames = delta->frames,
        .stacks = delta->stacks,
        .samples = fold->own,
        .resource_count = delta->resource_count,
        .frame_count = delta->frame_count,
        .stack_count = delta->stack_count,
        .sample_count = fold->own_count,
        .window_count = fold->window_count,
        .spans = fold->spans,
        .span_count = fold->span_count,
        .is_watched = fold->is_watched,
    };
    uint32_t *timing_of = fp_fold_indexes(fold, delta->timing_count);
    struct fp_delta_timing *timings = fp_fold_array(fold, delta->timing_count, sizeof(*timings));
    struct fp_fold_window *windows = fp_fold_array(fold, fold->window_count, sizeof(*windows));
    if (timing_of == NULL || timings == NULL || windows == NULL)
        return false;
    for (uint32_t i = 0; i < fold->window_count; i++) {
        windows[i] = fold->windows[i];
        uint32_t *timing = &timing_of[windows[i].timing];
        if (*timing == FP_INDEX_NONE) {
            *timing = part->timing_count++;
            const struct fp_delta_timing *from = &delta->timings[windows[i].timing];
            timings[*timing] = (struct fp_delta_timing){.id = from->id,
                                                        .name = from->name,
                                                        .kind = from->kind,
                                                        .navigation = from->navigation};
        }
        windows[i].timing = *timing;
    }
    part->timings = timings;
    part->windows = windows;
    return true;
}

bool fp_fold_remember_counted(struct fp_fold *fold)
{
    const struct fp_delta *delta = fold->delta;
    struct fp_part *part = fold->context->part;
    if (part == NULL)
        return true;
    const size_t most = (size_t)delta->measured_count + fold->counted_script_count;
    uint64_t *counted = fp_fold_array(fold, most, sizeof(*counted));
    if (counted == NULL)
        return false;
    for (uint32_t i = 0; i < fold->counted_script_count; i++)
        counted[part->counted_count++] = fold->counted_scripts[i];
    for (uint32_t i = 0; i < delta->measured_count; i++)
        if (delta->measured[i].counts_load)
            counted[part->counted_count++] = delta->timings[delta->measured[i].timing].id;
    part->counted = counted;
    return true;
}
