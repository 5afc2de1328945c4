/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, sums: self and total time of stacks and frames, per marker.
 *
 * A frame's total is the sum over the stacks where it is outermost, of everything at or below them:
 * so it counts once per sample, however often it recurs. One walk over the trie finds these stacks;
 * times below are summed from the leaves, because a stack follows its parent.
 */
#include "collector/profile/fold/internal.h"

/* Samples and time of one stack under one marker: first its own, later with its descendants'. */
struct stack_sum {
    int64_t us;
    uint32_t samples;
};

struct frame_sum {
    int64_t self_us;
    int64_t total_us;
    uint32_t samples;
};

struct summing {
    struct fp_fold *fold;
    struct stack_sum *below;                   /* by stack */
    struct frame_sum *frames[FP_MARKER_COUNT]; /* by frame; NULL: no sample has the marker */
};

/* The walk. */

struct trie {
    uint32_t *first_child;
    uint32_t *next_sibling;
    uint32_t *on_path; /* by frame: how often it stands on the way to where the walk is */
};

static bool build_trie(struct fp_fold *fold, struct trie *trie, uint32_t *first_root)
{
    const struct fp_delta *delta = fold->delta;
    uint32_t count = delta->stack_count;
    trie->first_child = fp_fold_array(fold, count, sizeof(*trie->first_child));
    trie->next_sibling = fp_fold_array(fold, count, sizeof(*trie->next_sibling));
    trie->on_path = fp_arena_array(fold->arena, delta->frame_count, sizeof(*trie->on_path));
    if (trie->first_child == NULL || trie->next_sibling == NULL || trie->on_path == NULL)
        return false;
    *first_root = FP_INDEX_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = delta->stacks[i].parent;
        uint32_t *first = parent == FP_INDEX_NONE ? first_root : &trie->first_child[parent];
        trie->first_child[i] = FP_INDEX_NONE;
        trie->next_sibling[i] = *first;
        *first = i;
    }
    return true;
}

/* Leaves a stack, and its ancestors that have no further sibling. Returns where the walk
 * continues. */
static uint32_t leave(const struct fp_delta *delta, struct trie *trie, uint32_t stack)
{
    for (; stack != FP_INDEX_NONE; stack = delta->stacks[stack].parent) {
        trie->on_path[delta->stacks[stack].frame]--;
        if (trie->next_sibling[stack] != FP_INDEX_NONE)
            return trie->next_sibling[stack];
    }
    return FP_INDEX_NONE;
}

static bool find_outermost(struct summing *summing)
{
    const struct fp_delta *delta = summing->fold->delta;
    struct trie trie;
    uint32_t stack;
    if (!build_trie(summing->fold, &trie, &stack))
        return false;
    while (stack != FP_INDEX_NONE) {
        summing->fold->outermost[stack] = trie.on_path[delta->stacks[stack].frame]++ == 0;
        uint32_t child = trie.first_child[stack];
        stack = child != FP_INDEX_NONE ? child : leave(delta, &trie, stack);
    }
    return true;
}

/* The sums. */

static void add_own_samples(struct summing *summing, enum fp_marker marker)
{
    const struct fp_fold *fold = summing->fold;
    memset(summing->below, 0, fold->delta->stack_count * sizeof(*summing->below));
    for (uint32_t i = 0; i < fold->sample_count; i++) {
        const struct fp_fold_sample *sample = &fold->samples[i];
        if (sample->marker != marker || sample->stack == FP_INDEX_NONE)
            continue;
        summing->below[sample->stack].us += sample->weight_us;
        summing->below[sample->stack].samples += sample->is_evidence;
    }
}

static void list_stack_samples(struct summing *summing, enum fp_marker marker)
{
    struct fp_delta *delta = summing->fold->delta;
    for (uint32_t i = 0; i < delta->stack_count; i++) {
        const struct stack_sum *own = &summing->below[i];
        if (own->samples == 0 && own->us == 0)
            continue;
        summing->frames[marker][delta->stacks[i].frame].self_us += own->us;
        delta->stack_samples[delta->stack_sample_count++] = (struct fp_delta_stack_sample){
            .stack = i, .marker = marker, .samples = own->samples, .self_us = own->us};
    }
}

static void add_totals(struct summing *summing, enum fp_marker marker)
{
    const struct fp_delta *delta = summing->fold->delta;
    for (uint32_t i = delta->stack_count; i-- > 0;) {
        const struct stack_sum *sum = &summing->below[i];
        uint32_t parent = delta->stacks[i].parent;
        if (summing->fold->outermost[i]) {
            struct frame_sum *frame = &summing->frames[marker][delta->stacks[i].frame];
            frame->total_us += sum->us;
            frame->samples += sum->samples;
        }
        if (parent != FP_INDEX_NONE) {
            summing->below[parent].us += sum->us;
            summing->below[parent].samples += sum->samples;
        }
    }
}

static bool sum_marker(struct summing *summing, enum fp_marker marker)
{
    struct fp_fold *fold = summing->fold;
    summing->frames[marker] =
        fp_arena_array(fold->arena, fold->delta->frame_count, sizeof(**summing->frames));
    if (summing->frames[marker] == NULL)
        return false;
    add_own_samples(summing, marker);
    list_stack_samples(summing, marker);
    add_totals(summing, marker);
    return true;
}

/* Sets a frame's sums over all markers, and its splits. */
static void finish_frame(struct summing *summing, uint32_t index)
{
    struct fp_delta *delta = summing->fold->delta;
    struct fp_delta_frame *frame = &delta->frames[index];
    for (enum fp_marker marker = FP_MARKER_NONE; marker < FP_MARKER_COUNT; marker++) {
        if (summing->frames[marker] == NULL)
            continue;
        const struct frame_sum *sum = &summing->frames[marker][index];
        if (sum->samples == 0 && sum->total_us == 0)
            continue;
        frame->samples += sum->samples;
        frame->self_us += sum->self_us;
        frame->total_us += sum->total_us;
        if (marker == FP_MARKER_NONE)
            continue;
        frame->marked_samples += sum->samples;
        delta->splits[delta->split_count++] = (struct fp_delta_split){.frame = index,
                                                                      .marker = marker,
                                                                      .samples = sum->samples,
                                                                      .self_us = sum->self_us,
                                                                      .total_us = sum->total_us};
    }
}

static bool prepare(struct summing *summing, size_t marker_count)
{
    struct fp_fold *fold = summing->fold;
    struct fp_delta *delta = fold->delta;
    fold->outermost = fp_fold_array(fold, delta->stack_count, sizeof(*fold->outermost));
    summing->below = fp_fold_array(fold, delta->stack_count, sizeof(*summing->below));
    delta->stack_samples = fp_fold_array(fold, fold->sample_count, sizeof(*delta->stack_samples));
    delta->splits = fp_fold_array(fold, delta->frame_count * marker_count, sizeof(*delta->splits));
    return fold->outermost != NULL && summing->below != NULL && delta->stack_samples != NULL &&
           delta->splits != NULL;
}

static size_t find_markers(const struct fp_fold *fold, bool present[FP_MARKER_COUNT])
{
    size_t marked = 0;
    for (uint32_t i = 0; i < fold->sample_count; i++) {
        const struct fp_fold_sample *sample = &fold->samples[i];
        if (sample->stack == FP_INDEX_NONE || present[sample->marker])
            continue;
        present[sample->marker] = true;
        marked += sample->marker != FP_MARKER_NONE;
    }
    return marked;
}

bool fp_fold_sum(struct fp_fold *fold)
{
    if (fold->delta->stack_count == 0)
        return true;
    struct summing summing = {.fold = fold};
    bool present[FP_MARKER_COUNT] = {false};
    if (!prepare(&summing, find_markers(fold, present)) || !find_outermost(&summing))
        return false;
    for (enum fp_marker marker = FP_MARKER_NONE; marker < FP_MARKER_COUNT; marker++)
        if (present[marker] && !sum_marker(&summing, marker))
            return false;
    for (uint32_t i = 0; i < fold->delta->frame_count; i++)
        finish_frame(&summing, i);
    return true;
}
