/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, events: an event is a frame of its own kind, the events around it are its stack, and its
 * own time is the stack's self time.
 */
#include "collector/base/assert.h"
#include "collector/profile/fold/internal.h"
#include "collector/profile/scrub/name.h"

bool fp_fold_event_type(struct fp_fold *fold, const struct fp_profile_event *event,
                        struct fp_str *type)
{
    enum { CUSTOM_MAX = -2 }; /* Speed Tracer's own types have numbers above */
    *type = event->type;
    return event->type_number > CUSTOM_MAX ||
           fp_scrub_name(&fold->context->rules, event->type, fold->arena, type);
}

/* Finds the frame of an event: its type, and the resource it worked on. */
static bool find_frame(struct fp_fold *fold, const struct fp_profile_event *event, uint32_t *frame)
{
    uint32_t resource;
    struct fp_str type;
    if (!fp_fold_resource(fold, event->resource, &resource) ||
        !fp_fold_event_type(fold, event, &type))
        return false;
    const struct fp_frame_key key = {
        .function = type,
        .resource_id = resource != FP_INDEX_NONE ? fold->delta->resources[resource].id : 0,
        .line = event->line,
        .column = FP_POSITION_NONE,
        .kind = FP_FRAME_EVENT,
    };
    return fp_fold_frame(fold, &key, resource, frame);
}

size_t fp_fold_event_samples(const struct fp_profile *profile)
{
    size_t count = profile->event_count;
    for (uint32_t i = 0; i < profile->event_count; i++)
        count += profile->events[i].unlisted_us > 0;
    return count + profile->earlier_event_count;
}

static void add_sample(struct fp_fold *fold, uint32_t stack, int64_t weight_us)
{
    FP_ASSERT(stack < fold->delta->stack_count);
    fold->samples[fold->sample_count++] = (struct fp_fold_sample){
        .weight_us = weight_us, .stack = stack, .marker = FP_MARKER_NONE, .is_evidence = true};
    fold->delta->samples++;
    fold->delta->profiled_us += weight_us;
}

/* Adds the time inside an event that no event has. */
static bool add_unlisted(struct fp_fold *fold, uint32_t stack, int64_t unlisted_us)
{
    const struct fp_frame_key key = {.function = FP_STR("(not listed)"),
                                     .line = FP_POSITION_NONE,
                                     .column = FP_POSITION_NONE,
                                     .kind = FP_FRAME_EVENT};
    uint32_t frame;
    if (unlisted_us == 0)
        return true;
    if (!fp_fold_frame(fold, &key, FP_INDEX_NONE, &frame) ||
        !fp_fold_stack(fold, stack, frame, &stack))
        return false;
    add_sample(fold, stack, unlisted_us);
    return true;
}

/* stack_of: the stacks of the events before this one. */
static bool add_event(struct fp_fold *fold, uint32_t index, uint32_t *stack_of)
{
    const struct fp_profile_event *event = &fold->profile->events[index];
    stack_of[index] = FP_INDEX_NONE;
    if (event->is_process)
        return true;
    uint32_t parent = event->parent != FP_INDEX_NONE ? stack_of[event->parent] : FP_INDEX_NONE;
    uint32_t frame;
    if (!find_frame(fold, event, &frame) || !fp_fold_stack(fold, parent, frame, &stack_of[index]))
        return false;
    add_sample(fold, stack_of[index], event->self_us - event->sampled_us);
    return add_unlisted(fold, stack_of[index], event->unlisted_us);
}

/* Adds a sample that takes time from an event of an earlier part. */
static void add_correction(struct fp_fold *fold, uint32_t stack, int64_t taken_us)
{
    fold->samples[fold->sample_count++] =
        (struct fp_fold_sample){.weight_us = -taken_us, .stack = stack, .marker = FP_MARKER_NONE};
    fold->delta->profiled_us -= taken_us;
}

/* Marks the events whose time is taken, and those around them. NULL when memory is out. */
static bool *find_taken(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    bool *taken = fp_fold_array(fold, profile->earlier_event_count, sizeof(*taken));
    if (taken == NULL)
        return NULL;
    for (uint32_t i = 0; i < profile->earlier_event_count; i++)
        taken[i] = profile->earlier_events[i].sampled_us > 0;
    for (uint32_t i = profile->earlier_event_count; i-- > 0;)
        if (taken[i] && profile->earlier_events[i].parent != FP_INDEX_NONE)
            taken[profile->earlier_events[i].parent] = true;
    return taken;
}

static bool add_corrections(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    bool *taken = find_taken(fold);
    uint32_t *stack_of = fp_fold_indexes(fold, profile->earlier_event_count);
    if (taken == NULL || stack_of == NULL)
        return false;
    for (uint32_t i = 0; i < profile->earlier_event_count; i++) {
        const struct fp_profile_event *event = &profile->earlier_events[i];
        uint32_t parent = event->parent != FP_INDEX_NONE ? stack_of[event->parent] : FP_INDEX_NONE;
        uint32_t frame;
        if (!taken[i])
            continue;
        if (!find_frame(fold, event, &frame) || !fp_fold_stack(fold, parent, frame, &stack_of[i]))
            return false;
        if (event->sampled_us > 0)
            add_correction(fold, stack_of[i], event->sampled_us);
    }
    return true;
}

bool fp_fold_events(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    if (fold->sample_count == 0 && profile->event_count == 0)
        return true;
    uint32_t *stack_of = fp_fold_array(fold, profile->event_count, sizeof(*stack_of));
    if (stack_of == NULL)
        return false;
    for (uint32_t i = 0; i < profile->timeline_count; i++) {
        const struct fp_profile_timeline *timeline = &profile->timelines[i];
        uint32_t end = timeline->first_event + timeline->event_count;
        if (timeline->mode != FP_REDUCE_ALL_EVENTS)
            continue;
        for (uint32_t k = timeline->first_event; k < end; k++)
            if (!add_event(fold, k, stack_of))
                return false;
    }
    return profile->earlier_event_count == 0 || add_corrections(fold);
}
