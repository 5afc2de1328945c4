/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks: growing lists of frames, nodes, samples and marks.
 */
#include "cli/export/stacks.h"

#include "cli/kit/memory.h"
#include "collector/base/assert.h"

#include <stdlib.h>

#define ARENA_MAX ((size_t)1 << 30)

void fp_export_stacks_init(struct fp_export_stacks *stacks)
{
    *stacks = (struct fp_export_stacks){.unattributed = FP_INDEX_NONE};
    fp_arena_init(&stacks->arena, ARENA_MAX);
}

void fp_export_stacks_release(struct fp_export_stacks *stacks)
{
    for (size_t i = 0; i < stacks->track_count; i++) {
        free(stacks->tracks[i].samples);
        free(stacks->tracks[i].marks);
    }
    free(stacks->frames);
    free(stacks->nodes);
    fp_arena_release(&stacks->arena);
}

struct fp_str fp_export_text(struct fp_export_stacks *stacks, struct fp_str text)
{
    struct fp_str copy;
    if (!fp_arena_copy(&stacks->arena, text, &copy))
        fp_memory_end();
    return copy;
}

struct fp_export_track *fp_export_add_track(struct fp_export_stacks *stacks, struct fp_str name)
{
    FP_ASSERT(stacks->track_count < FP_EXPORT_TRACKS_MAX);
    struct fp_export_track *track = &stacks->tracks[stacks->track_count++];
    *track = (struct fp_export_track){.name = name};
    return track;
}

uint32_t fp_export_add_frame(struct fp_export_stacks *stacks, const struct fp_export_frame *frame)
{
    stacks->frames = fp_memory_grow(stacks->frames, stacks->frame_count, &stacks->frame_capacity,
                                    sizeof(*stacks->frames));
    stacks->frames[stacks->frame_count] = *frame;
    return (uint32_t)stacks->frame_count++;
}

uint32_t fp_export_add_node(struct fp_export_stacks *stacks, uint32_t frame, uint32_t parent)
{
    stacks->nodes = fp_memory_grow(stacks->nodes, stacks->node_count, &stacks->node_capacity,
                                   sizeof(*stacks->nodes));
    stacks->nodes[stacks->node_count] = (struct fp_export_node){
        .frame = frame,
        .parent = parent,
        .level = parent != FP_INDEX_NONE ? stacks->nodes[parent].level + 1 : 1,
    };
    return (uint32_t)stacks->node_count++;
}

uint32_t fp_export_unattributed(struct fp_export_stacks *stacks)
{
    const struct fp_export_frame frame = {
        .function = FP_STR("(unattributed)"),
        .line = FP_POSITION_NONE,
        .column = FP_POSITION_NONE,
        .generated_line = FP_POSITION_NONE,
        .generated_column = FP_POSITION_NONE,
        .kind = FP_FRAME_MARKER,
    };
    if (stacks->unattributed == FP_INDEX_NONE)
        stacks->unattributed = fp_export_add_frame(stacks, &frame);
    return fp_export_add_node(stacks, stacks->unattributed, FP_INDEX_NONE);
}

void fp_export_add_sample(struct fp_export_stacks *stacks, struct fp_export_track *track,
                          const struct fp_export_sample *sample)
{
    if (sample->weight_us < 0) {
        stacks->negative_us += sample->weight_us;
        return;
    }
    if (sample->weight_us == 0 && sample->count == 0)
        return;
    track->samples = fp_memory_grow(track->samples, track->sample_count, &track->sample_capacity,
                                    sizeof(*track->samples));
    track->samples[track->sample_count++] = *sample;
}

void fp_export_add_mark(struct fp_export_track *track, const struct fp_export_mark *mark)
{
    track->marks = fp_memory_grow(track->marks, track->mark_count, &track->mark_capacity,
                                  sizeof(*track->marks));
    track->marks[track->mark_count++] = *mark;
}

uint32_t *fp_export_path_room(const struct fp_export_stacks *stacks)
{
    uint32_t deepest = 1;
    for (size_t i = 0; i < stacks->node_count; i++)
        deepest = stacks->nodes[i].level > deepest ? stacks->nodes[i].level : deepest;
    return fp_memory_need(calloc(deepest, sizeof(uint32_t)));
}

void fp_export_path(const struct fp_export_stacks *stacks, uint32_t node, uint32_t *path)
{
    for (uint32_t i = stacks->nodes[node].level; i > 0; i--) {
        path[i - 1] = stacks->nodes[node].frame;
        node = stacks->nodes[node].parent;
    }
}

/* Returns a list without numbers; the caller frees it. */
static uint32_t *list_numbers(size_t count)
{
    uint32_t *numbers = fp_memory_need(calloc(count + 1, sizeof(*numbers)));
    for (size_t i = 0; i < count; i++)
        numbers[i] = FP_INDEX_NONE;
    return numbers;
}

/* Numbers what is used, and returns how many these are. */
static size_t number_used(uint32_t *numbers, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] != FP_INDEX_NONE)
            numbers[i] = (uint32_t)used++;
    }
    return used;
}

void fp_export_use_init(struct fp_export_use *use, const struct fp_export_stacks *stacks,
                        const struct fp_export_track *track)
{
    use->nodes = list_numbers(stacks->node_count);
    use->frames = list_numbers(stacks->frame_count);
    for (size_t i = 0; i < track->sample_count; i++) {
        uint32_t node = track->samples[i].node;
        while (node != FP_INDEX_NONE && use->nodes[node] == FP_INDEX_NONE) {
            use->nodes[node] = 0;
            use->frames[stacks->nodes[node].frame] = 0;
            node = stacks->nodes[node].parent;
        }
    }
    use->node_count = number_used(use->nodes, stacks->node_count);
    use->frame_count = number_used(use->frames, stacks->frame_count);
}

void fp_export_use_release(struct fp_export_use *use)
{
    free(use->nodes);
    free(use->frames);
}

int64_t fp_export_begin(const struct fp_export_stacks *stacks)
{
    int64_t begin_us = 0;
    for (size_t i = 0; i < stacks->track_count; i++) {
        const struct fp_export_track *track = &stacks->tracks[i];
        if (track->sample_count > 0 && track->samples[0].time_us < begin_us)
            begin_us = track->samples[0].time_us;
        for (size_t k = 0; k < track->mark_count; k++)
            begin_us = track->marks[k].time_us < begin_us ? track->marks[k].time_us : begin_us;
    }
    return begin_us;
}

bool fp_export_has_gap(const struct fp_export_track *track, size_t sample)
{
    const struct fp_export_sample *one = &track->samples[sample];
    return sample + 1 == track->sample_count || one[1].time_us > one->time_us + one->weight_us;
}
