/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, names: names over a site's ceilings become `(overflow)` before anything is summed, so that
 * sums stay exact and ids are those of the stored names.
 *
 * Frames are decided first, then the stacks that result. Refusing a stack refuses its descendants:
 * the ancestors of a known stack are known.
 */
#include "collector/base/assert.h"
#include "collector/base/hash.h"
#include "collector/profile/fold/ceilings.h"
#include "collector/profile/fold/internal.h"

const struct fp_str fp_fold_overflow_name = {"(overflow)", sizeof("(overflow)") - 1};

static bool is_bounded(const struct fp_fold *fold)
{
    return fold->context->ceilings != NULL;
}

static size_t admit(const struct fp_fold *fold, enum fp_name_kind kind, const uint64_t *ids,
                    size_t count, bool *refused)
{
    const struct fp_ceilings_visit visit = {
        .ceilings = fold->context->ceilings,
        .limits = fold->context->ceiling_limits,
        .site = fold->context->site,
        .site_id = fold->site_id,
        .received_us = fold->context->received_us,
    };
    return fp_ceilings_admit(&visit, kind, ids, count, refused);
}

static bool is_refused(const struct fp_fold *fold, enum fp_name_kind kind, uint64_t id)
{
    bool refused;
    return admit(fold, kind, &id, 1, &refused) > 0;
}

bool fp_fold_may_replace(const struct fp_fold *fold)
{
    return !is_bounded(fold) || !is_refused(fold, FP_NAME_VITAL, 0);
}

/* ---- dimensions ---- */

static void bound_text(const struct fp_fold *fold, enum fp_name_kind kind, struct fp_str *text)
{
    if (text->len > 0 && is_refused(fold, kind, fp_hash64(text->ptr, text->len)))
        *text = fp_fold_overflow_name;
}

/* Bounds a segment without a version and custom dimensions. */
static void bound_texts(const struct fp_fold *fold, struct fp_segment *segment)
{
    bound_text(fold, FP_NAME_ROUTE, &segment->route);
    bound_text(fold, FP_NAME_RELEASE, &segment->release);

    /* A page can put any text into these four; the others have few values. */
    const struct {
        enum fp_name_kind kind;
        struct fp_str *given_up;
    } steps[] = {
        {FP_NAME_SEGMENT, &segment->environment},
        {FP_NAME_SEGMENT_LESS_ENVIRONMENT, &segment->release},
        {FP_NAME_SEGMENT_LESS_RELEASE, &segment->route},
        {FP_NAME_SEGMENT_LESS_ROUTE, &segment->variant},
    };
    for (size_t i = 0; i < FP_COUNT(steps); i++) {
        if (!is_refused(fold, steps[i].kind, fp_segment_id(segment)))
            return;
        if (steps[i].given_up->len > 0) /* what is absent stays absent */
            *steps[i].given_up = fp_fold_overflow_name;
    }
}

void fp_fold_bound_segment(struct fp_fold *fold)
{
    if (!is_bounded(fold))
        return;
    struct fp_segment *segment = &fold->delta->segment;
    const struct fp_str version = segment->browser_version;
    const struct fp_str custom = segment->custom;
    segment->browser_version = FP_STR("");
    segment->custom = FP_STR("");
    bound_texts(fold, segment);
    segment->browser_version = version;
    if (version.len > 0 && is_refused(fold, FP_NAME_BROWSER_VERSION, fp_segment_id(segment)))
        segment->browser_version = fp_fold_overflow_name;
    segment->custom = custom;
    if (custom.len > 0 && is_refused(fold, FP_NAME_CUSTOM, fp_segment_id(segment)))
        segment->custom = fp_fold_overflow_name;
}

bool fp_fold_is_value_over(const struct fp_fold *fold, const struct fp_profile_custom *custom)
{
    uint64_t id = fp_hash64(custom->name.ptr, custom->name.len);
    id ^= fp_hash64(custom->value.ptr, custom->value.len) << 1;
    return is_bounded(fold) && is_refused(fold, FP_NAME_CUSTOM_VALUE, id);
}

bool fp_fold_is_over(const struct fp_fold *fold, enum fp_timing_kind kind, uint64_t timing_id)
{
    const bool is_of_vitals = kind == FP_TIMING_VITAL_ELEMENT || kind == FP_TIMING_VITAL_WITHOUT ||
                              kind == FP_TIMING_VITAL_PROFILED;
    const enum fp_name_kind of = is_of_vitals ? FP_NAME_ELEMENT : FP_NAME_TIMING;
    return is_bounded(fold) && is_refused(fold, of, timing_id);
}

void fp_fold_overflow(struct fp_timing_key *key)
{
    const bool is_element = key->kind == FP_TIMING_VITAL_ELEMENT;
    const bool is_wait = key->kind == FP_TIMING_WAIT;
    *key = (struct fp_timing_key){.kind = key->kind,
                                  .name = is_element || is_wait ? key->name : fp_fold_overflow_name,
                                  .source = is_element ? fp_fold_overflow_name
                                            : is_wait  ? key->source
                                                       : FP_STR(""),
                                  .function = is_wait ? fp_fold_overflow_name : FP_STR(""),
                                  .navigation = key->navigation};
}

/* ---- leaving out what no sample needs any more ---- */

/* By old index: the new index of what is needed, FP_INDEX_NONE for the rest. */
struct kept {
    uint32_t *resources;
    uint32_t *frames;
    uint32_t *stacks;
};

static void mark_needed(const struct fp_fold *fold, struct kept *kept)
{
    const struct fp_delta *delta = fold->delta;
    for (uint32_t i = 0; i < fold->sample_count; i++)
        if (fold->samples[i].stack != FP_INDEX_NONE)
            kept->stacks[fold->samples[i].stack] = 0;
    for (uint32_t i = delta->stack_count; i-- > 0;) {
        const struct fp_delta_stack *stack = &delta->stacks[i];
        if (kept->stacks[i] == FP_INDEX_NONE)
            continue;
        kept->frames[stack->frame] = 0;
        if (stack->parent != FP_INDEX_NONE)
            kept->stacks[stack->parent] = 0;
    }
    for (uint32_t i = 0; i < delta->frame_count; i++)
        if (kept->frames[i] != FP_INDEX_NONE && delta->frames[i].resource != FP_INDEX_NONE)
            kept->resources[delta->frames[i].resource] = 0;
}

/* Numbers the marked entries. Returns how many there are. */
static uint32_t number(uint32_t *kept, uint32_t count)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++)
        if (kept[i] != FP_INDEX_NONE)
            kept[i] = next++;
    return next;
}

static uint32_t renumbered(const uint32_t *kept, uint32_t index)
{
    return index != FP_INDEX_NONE ? kept[index] : FP_INDEX_NONE;
}

static void move_together(const struct fp_fold *fold, const struct kept *kept)
{
    const struct fp_delta *delta = fold->delta;
    for (uint32_t i = 0; i < delta->resource_count; i++)
        if (kept->resources[i] != FP_INDEX_NONE)
            delta->resources[kept->resources[i]] = delta->resources[i];
    for (uint32_t i = 0; i < delta->frame_count; i++) {
        struct fp_delta_frame frame = delta->frames[i];
        if (kept->frames[i] == FP_INDEX_NONE)
            continue;
        frame.resource = renumbered(kept->resources, frame.resource);
        delta->frames[kept->frames[i]] = frame;
    }
    for (uint32_t i = 0; i < delta->stack_count; i++) {
        struct fp_delta_stack stack = delta->stacks[i];
        if (kept->stacks[i] == FP_INDEX_NONE)
            continue;
        stack.frame = kept->frames[stack.frame];
        stack.parent = renumbered(kept->stacks, stack.parent);
        delta->stacks[kept->stacks[i]] = stack;
    }
    for (uint32_t i = 0; i < fold->sample_count; i++)
        fold->samples[i].stack = renumbered(kept->stacks, fold->samples[i].stack);
}

/* Moves samples to other stacks (by index) and drops what no sample needs then. */
static bool move_samples(struct fp_fold *fold, const uint32_t *stack_to)
{
    struct fp_delta *delta = fold->delta;
    struct kept kept = {
        .resources = fp_fold_indexes(fold, delta->resource_count),
        .frames = fp_fold_indexes(fold, delta->frame_count),
        .stacks = fp_fold_indexes(fold, delta->stack_count),
    };
    if (kept.resources == NULL || kept.frames == NULL || kept.stacks == NULL)
        return false;
    for (uint32_t i = 0; i < fold->sample_count; i++)
        fold->samples[i].stack = renumbered(stack_to, fold->samples[i].stack);
    mark_needed(fold, &kept);
    uint32_t resource_count = number(kept.resources, delta->resource_count);
    uint32_t frame_count = number(kept.frames, delta->frame_count);
    uint32_t stack_count = number(kept.stacks, delta->stack_count);
    move_together(fold, &kept);
    delta->resource_count = resource_count;
    delta->frame_count = frame_count;
    delta->stack_count = stack_count;
    return true;
}

/* ---- frames ---- */

static struct fp_delta_frame overflow_frame(const struct fp_fold *fold)
{
    const struct fp_frame_key key = {.function = fp_fold_overflow_name,
                                     .line = FP_POSITION_NONE,
                                     .column = FP_POSITION_NONE,
                                     .kind = FP_FRAME_OVERFLOW};
    return (struct fp_delta_frame){.id = fp_frame_id(fold->site_id, &key),
                                   .function = key.function,
                                   .resource = FP_INDEX_NONE,
                                   .line = key.line,
                                   .column = key.column,
                                   .kind = key.kind};
}

/* Gives the stacks their new frames and merges stacks that have become equal. */
static bool restack(struct fp_fold *fold, const uint32_t *frame_to, uint32_t *stack_to)
{
    const struct fp_delta *delta = fold->delta;
    struct fp_map stacks;
    fp_map_init(&stacks, delta->stack_count);
    bool fits = true;
    for (uint32_t i = 0; fits && i < delta->stack_count; i++) {
        struct fp_delta_stack *stack = &delta->stacks[i];
        stack->frame = frame_to[stack->frame];
        stack->parent = renumbered(stack_to, stack->parent);
        uint64_t parent_id = stack->parent != FP_INDEX_NONE ? delta->stacks[stack->parent].id : 0;
        stack->id = fp_stack_id(parent_id, delta->frames[stack->frame].id);
        stack_to[i] = fp_map_put(&stacks, stack->id, i);
        fits = stack_to[i] != FP_MAP_NONE;
    }
    fp_map_release(&stacks);
    return fits;
}

static bool bound_frames(struct fp_fold *fold)
{
    const struct fp_delta *delta = fold->delta;
    uint64_t *ids = fp_fold_array(fold, delta->frame_count, sizeof(*ids));
    bool *refused = fp_fold_array(fold, delta->frame_count, sizeof(*refused));
    if (ids == NULL || refused == NULL)
        return false;
    for (uint32_t i = 0; i < delta->frame_count; i++)
        ids[i] = delta->frames[i].id;
    if (admit(fold, FP_NAME_FRAME, ids, delta->frame_count, refused) == 0)
        return true;

    uint32_t *frame_to = fp_fold_indexes(fold, delta->frame_count);
    uint32_t *stack_to = fp_fold_indexes(fold, delta->stack_count);
    if (frame_to == NULL || stack_to == NULL)
        return false;
    uint32_t overflow = FP_INDEX_NONE; /* takes the place of the first that is refused */
    for (uint32_t i = 0; i < delta->frame_count; i++) {
        if (refused[i] && overflow == FP_INDEX_NONE) {
            overflow = i;
            delta->frames[i] = overflow_frame(fold);
        }
        frame_to[i] = refused[i] ? overflow : i;
    }
    return restack(fold, frame_to, stack_to) && move_samples(fold, stack_to);
}

static void mark_resources(const struct fp_delta *delta, const bool *refused, uint32_t *kept)
{
    for (uint32_t i = 0; i < delta->frame_count; i++)
        if (!refused[i] && delta->frames[i].resource != FP_INDEX_NONE)
            kept[delta->frames[i].resource] = 0;
}

bool fp_fold_bound_frames(struct fp_fold *fold, uint32_t *frame_to)
{
    struct fp_delta *delta = fold->delta;
    uint64_t *ids = fp_fold_array(fold, delta->frame_count, sizeof(*ids));
    bool *refused = fp_fold_array(fold, delta->frame_count, sizeof(*refused));
    struct kept kept = {.resources = fp_fold_indexes(fold, delta->resource_count),
                        .frames = frame_to,
                        .stacks = fp_fold_indexes(fold, delta->stack_count)};
    FP_ASSERT(delta->stack_count == 0);
    if (ids == NULL || refused == NULL || kept.resources == NULL || kept.stacks == NULL)
        return false;
    for (uint32_t i = 0; i < delta->frame_count; i++) {
        ids[i] = delta->frames[i].id;
        refused[i] = false;
        frame_to[i] = i;
    }
    if (!is_bounded(fold) || admit(fold, FP_NAME_FRAME, ids, delta->frame_count, refused) == 0)
        return true;

    mark_resources(delta, refused, kept.resources);
    for (uint32_t i = 0; i < delta->frame_count; i++)
        frame_to[i] = refused[i] ? FP_INDEX_NONE : 0;
    const uint32_t frame_count = number(frame_to, delta->frame_count);
    const uint32_t resource_count = number(kept.resources, delta->resource_count);
    move_together(fold, &kept);
    delta->resource_count = resource_count;
    for (uint32_t i = 0; i < delta->frame_count; i++)
        frame_to[i] = refused[i] ? frame_count : frame_to[i];
    delta->frames[frame_count] = overflow_frame(fold); /* in the place of a refused one */
    delta->frame_count = frame_count + 1;
    return true;
}

/* ---- stacks ---- */

/* Decides on all stacks except `overflow_id`, which every site may have. */
static size_t admit_stacks(const struct fp_fold *fold, const uint64_t *ids, uint64_t overflow_id,
                           bool *refused)
{
    uint32_t count = fold->delta->stack_count;
    uint32_t at = 0;
    while (at < count && ids[at] != overflow_id)
        at++;
    size_t refusals = admit(fold, FP_NAME_STACK, ids, at, refused);
    if (at == count)
        return refusals;
    refused[at++] = false;
    return refusals + admit(fold, FP_NAME_STACK, ids + at, count - at, refused + at);
}

/* Finds the overflow frame, or adds it: fp_fold reserved room for it. */
static uint32_t find_overflow_frame(const struct fp_fold *fold)
{
    struct fp_delta *delta = fold->delta;
    const struct fp_delta_frame frame = overflow_frame(fold);
    for (uint32_t i = 0; i < delta->frame_count; i++)
        if (delta->frames[i].id == frame.id)
            return i;
    delta->frames[delta->frame_count] = frame;
    return delta->frame_count++;
}

/* Finds the stack of the overflow frame alone. A new one replaces the first refused stack. */
static uint32_t find_overflow_stack(const struct fp_fold *fold, uint64_t id, const bool *refused)
{
    const struct fp_delta *delta = fold->delta;
    uint32_t first = FP_INDEX_NONE;
    for (uint32_t i = 0; i < delta->stack_count; i++) {
        if (delta->stacks[i].id == id)
            return i;
        if (refused[i] && first == FP_INDEX_NONE)
            first = i;
    }
    delta->stacks[first] = (struct fp_delta_stack){
        .id = id, .parent = FP_INDEX_NONE, .frame = find_overflow_frame(fold), .level = 1};
    return first;
}

static bool bound_stacks(struct fp_fold *fold)
{
    const struct fp_delta *delta = fold->delta;
    const uint64_t overflow_id = fp_stack_id(0, overflow_frame(fold).id);
    uint64_t *ids = fp_fold_array(fold, delta->stack_count, sizeof(*ids));
    bool *refused = fp_fold_array(fold, delta->stack_count, sizeof(*refused));
    if (ids == NULL || refused == NULL)
        return false;
    for (uint32_t i = 0; i < delta->stack_count; i++)
        ids[i] = delta->stacks[i].id;
    if (admit_stacks(fold, ids, overflow_id, refused) == 0)
        return true;

    uint32_t *stack_to = fp_fold_indexes(fold, delta->stack_count);
    if (stack_to == NULL)
        return false;
    for (uint32_t i = 0; i < delta->stack_count; i++)
        if (delta->stacks[i].parent != FP_INDEX_NONE && refused[delta->stacks[i].parent])
            refused[i] = true;
    uint32_t overflow = find_overflow_stack(fold, overflow_id, refused);
    for (uint32_t i = 0; i < delta->stack_count; i++)
        stack_to[i] = refused[i] ? overflow : i;
    return move_samples(fold, stack_to);
}

bool fp_fold_bound_stacks(struct fp_fold *fold)
{
    if (!is_bounded(fold) || fold->delta->stack_count == 0)
        return true;
    return bound_frames(fold) && bound_stacks(fold);
}
