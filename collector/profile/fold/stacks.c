/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, stacks: finds what each sample belongs to, and merges resources, frames and stacks with
 * equal content. Only what some sample needs is visited.
 */
#include "collector/base/assert.h"
#include "collector/profile/fold/internal.h"
#include "collector/profile/text.h"

static bool is_new(uint32_t index, uint32_t count)
{
    return index == count;
}

/* Resources. */

bool fp_fold_url(struct fp_fold *fold, struct fp_str unscrubbed, uint32_t *resource)
{
    struct fp_delta *delta = fold->delta;
    struct fp_str url;
    if (!fp_scrub_resource(&fold->context->rules, unscrubbed, fold->page_url, fold->arena, &url))
        return false;
    uint64_t id = fp_resource_id(fold->site_id, url);
    *resource = fp_map_put(&fold->resources, id, delta->resource_count);
    if (is_new(*resource, delta->resource_count))
        delta->resources[delta->resource_count++] =
            (struct fp_delta_resource){id, fp_text_cut(url, FP_TEXT_NAME_MAX)};
    return *resource != FP_MAP_NONE;
}

bool fp_fold_resource(struct fp_fold *fold, uint32_t raw, uint32_t *resource)
{
    *resource = FP_INDEX_NONE;
    if (raw == FP_INDEX_NONE)
        return true;
    FP_ASSERT(raw < fold->profile->resource_count);
    if (fold->resource_of[raw] == FP_INDEX_NONE &&
        !fp_fold_url(fold, fold->profile->resources[raw], &fold->resource_of[raw]))
        return false;
    *resource = fold->resource_of[raw];
    return true;
}

/* Frames. */

bool fp_fold_frame(struct fp_fold *fold, const struct fp_frame_key *key, uint32_t resource,
                   uint32_t *frame)
{
    struct fp_delta *delta = fold->delta;
    uint64_t id = fp_frame_id(fold->site_id, key);
    *frame = fp_map_put(&fold->frames, id, delta->frame_count);
    if (is_new(*frame, delta->frame_count))
        delta->frames[delta->frame_count++] = (struct fp_delta_frame){
            .id = id,
            .function = fp_text_cut(key->function, FP_TEXT_NAME_MAX),
            .resource = resource,
            .line = key->line,
            .column = key->column,
            .kind = key->kind,
        };
    return *frame != FP_MAP_NONE;
}

static bool resolve_frame(struct fp_fold *fold, uint32_t raw, uint32_t *frame)
{
    const struct fp_profile_frame *from = &fold->profile->frames[raw];
    uint32_t resource;
    if (!fp_fold_resource(fold, from->resource, &resource))
        return false;
    bool only_a_name = from->resource == FP_INDEX_NONE && from->line == FP_POSITION_NONE &&
                       from->column == FP_POSITION_NONE;
    const struct fp_frame_key key = {
        .function = fp_text_trim(from->function),
        .resource_id = resource != FP_INDEX_NONE ? fold->delta->resources[resource].id : 0,
        .line = from->line,
        .column = from->column,
        .kind = only_a_name ? FP_FRAME_BUILTIN : FP_FRAME_FUNCTION,
    };
    return fp_fold_frame(fold, &key, resource, frame);
}

static bool find_frame(struct fp_fold *fold, uint32_t raw, uint32_t *frame)
{
    FP_ASSERT(raw < fold->profile->frame_count);
    if (fold->frame_of[raw] == FP_INDEX_NONE && !resolve_frame(fold, raw, &fold->frame_of[raw]))
        return false;
    *frame = fold->frame_of[raw];
    return true;
}

/* Stacks. */

bool fp_fold_stack(struct fp_fold *fold, uint32_t parent, uint32_t frame, uint32_t *stack)
{
    struct fp_delta *delta = fold->delta;
    bool is_root = parent == FP_INDEX_NONE;
    FP_ASSERT(frame < delta->frame_count && (is_root || parent < delta->stack_count));
    uint64_t parent_id = is_root ? 0 : delta->stacks[parent].id;
    uint64_t id = fp_stack_id(parent_id, delta->frames[frame].id);
    *stack = fp_map_put(&fold->stacks, id, delta->stack_count);
    if (is_new(*stack, delta->stack_count))
        delta->stacks[delta->stack_count++] = (struct fp_delta_stack){
            .id = id,
            .parent = parent,
            .frame = frame,
            .level = is_root ? 1 : delta->stacks[parent].level + 1,
        };
    return *stack != FP_MAP_NONE;
}

/* Resolves a stack and its ancestors that no sample needed before, outermost first. */
static bool find_stack(struct fp_fold *fold, uint32_t raw, uint32_t *stack)
{
    const struct fp_profile_stack *stacks = fold->profile->stacks;
    size_t length = 0;
    for (; raw != FP_INDEX_NONE && fold->stack_of[raw] == FP_INDEX_NONE; raw = stacks[raw].parent)
        fold->chain[length++] = raw;
    *stack = raw != FP_INDEX_NONE ? fold->stack_of[raw] : FP_INDEX_NONE;
    while (length > 0) {
        raw = fold->chain[--length];
        uint32_t frame;
        if (!find_frame(fold, stacks[raw].frame, &frame) ||
            !fp_fold_stack(fold, *stack, frame, stack))
            return false;
        fold->stack_of[raw] = *stack;
    }
    return true;
}

/* Finds the stack of a sample that has a marker and no stack: the frame `(layout)` alone. */
static bool find_marker_stack(struct fp_fold *fold, enum fp_marker marker, uint32_t *stack)
{
    static const struct fp_str names[FP_MARKER_COUNT] = {
        [FP_MARKER_SCRIPT] = {"(script)", 8}, [FP_MARKER_GC] = {"(gc)", 4},
        [FP_MARKER_STYLE] = {"(style)", 7},   [FP_MARKER_LAYOUT] = {"(layout)", 8},
        [FP_MARKER_PAINT] = {"(paint)", 7},   [FP_MARKER_OTHER] = {"(other)", 7},
    };
    uint32_t *known = &fold->marker_stack_of[marker];
    if (*known == FP_INDEX_NONE) {
        const struct fp_frame_key key = {.function = names[marker],
                                         .line = FP_POSITION_NONE,
                                         .column = FP_POSITION_NONE,
                                         .kind = FP_FRAME_MARKER};
        uint32_t frame;
        if (!fp_fold_frame(fold, &key, FP_INDEX_NONE, &frame) ||
            !fp_fold_stack(fold, FP_INDEX_NONE, frame, known))
            return false;
    }
    *stack = *known;
    return true;
}

/* Samples. */

static bool attribute_sample(struct fp_fold *fold, uint32_t index)
{
    struct fp_fold_sample *sample = &fold->samples[index];
    if (sample->stack == FP_INDEX_NONE && sample->marker == FP_MARKER_NONE) {
        fold->delta->unattributed_samples += sample->is_evidence;
        fold->delta->unattributed_us += sample->weight_us;
        return true;
    }
    if (sample->stack == FP_INDEX_NONE)
        return find_marker_stack(fold, sample->marker, &sample->stack);
    return find_stack(fold, sample->stack, &sample->stack);
}

static bool prepare(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    struct fp_delta *delta = fold->delta;
    const size_t made = fold->made_max;
    for (size_t i = 0; i < FP_MARKER_COUNT; i++)
        fold->marker_stack_of[i] = FP_INDEX_NONE;
    fold->resource_of = fp_fold_indexes(fold, profile->resource_count);
    fold->frame_of = fp_fold_indexes(fold, profile->frame_count);
    fold->stack_of = fp_fold_indexes(fold, profile->stack_count);
    fold->chain = fp_fold_array(fold, profile->stack_count, sizeof(*fold->chain));
    delta->resources = fp_fold_array(fold, profile->resource_count, sizeof(*delta->resources));
    delta->frames = fp_fold_array(fold, profile->frame_count + made, sizeof(*delta->frames));
    delta->stacks = fp_fold_array(fold, profile->stack_count + made, sizeof(*delta->stacks));
    return fold->resource_of != NULL && fold->frame_of != NULL && fold->stack_of != NULL &&
           fold->chain != NULL && delta->resources != NULL && delta->frames != NULL &&
           delta->stacks != NULL;
}

bool fp_fold_attribute(struct fp_fold *fold)
{
    const uint32_t sampled = fold->sample_count;
    if (sampled == 0 && fold->profile->event_count == 0)
        return true;
    if (!prepare(fold))
        return false;
    for (uint32_t i = 0; i < sampled; i++)
        if (!attribute_sample(fold, i))
            return false;
    FP_ASSERT(fold->delta->frame_count <= fold->profile->frame_count + fold->made_max);
    FP_ASSERT(fold->delta->stack_count <= fold->profile->stack_count + fold->made_max);
    return true;
}
