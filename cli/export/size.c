/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Size: counts what a file would list before it is written.
 */
#include "cli/export/size.h"

#include "cli/kit/memory.h"
#include "cli/kit/message.h"

#include <stdlib.h>

/* Most frames that a file lists, on all stacks together, and most bytes of texts in it. */
#define PLACES_MAX ((uint64_t)1 << 25)
#define TEXT_MAX ((uint64_t)1 << 29)

enum { POSITION_LEN = 12 }; /* most bytes of a line or column and what separates it */

struct size {
    uint64_t places;
    uint64_t text;
};

/* Returns the most bytes that the names and places of a frame take. */
static uint64_t frame_len(const struct fp_export_frame *frame)
{
    return frame->function.len + frame->resource.len + frame->generated_resource.len +
           (uint64_t)4 * POSITION_LEN;
}

/* Returns the most bytes of a label in a line of folded: only an anonymous function has a place. */
static uint64_t label_len(const struct fp_export_frame *frame)
{
    bool is_anonymous = fp_str_equal(frame->function, FP_STR("(anonymous)"));
    return frame->function.len + 2 + /* a separator, and a wider space */
           (is_anonymous ? frame->resource.len + (uint64_t)2 * POSITION_LEN : 0);
}

/* Lists for each node how many bytes the labels of its frames have; the caller frees it. */
static uint64_t *list_path_lens(const struct fp_export_stacks *stacks)
{
    uint64_t *lens = fp_memory_need(calloc(stacks->node_count + 1, sizeof(*lens)));
    for (size_t i = 0; i < stacks->node_count; i++) {
        const struct fp_export_node *node = &stacks->nodes[i];
        lens[i] = label_len(&stacks->frames[node->frame]) +
                  (node->parent != FP_INDEX_NONE ? lens[node->parent] : 0);
    }
    return lens;
}

/* Counts a stack once for each of its samples, or once for each track that has it. */
static struct size measure(const struct fp_export_format *format,
                           const struct fp_export_stacks *stacks)
{
    struct size size = {0};
    size_t *seen = fp_memory_need(calloc(stacks->node_count + 1, sizeof(*seen))); /* track + 1 */
    uint64_t *path_lens = list_path_lens(stacks);
    for (size_t i = 0; i < stacks->frame_count; i++)
        size.text += frame_len(&stacks->frames[i]);
    for (size_t i = 0; i < stacks->track_count; i++) {
        for (size_t k = 0; k < stacks->tracks[i].sample_count; k++) {
            uint32_t node = stacks->tracks[i].samples[k].node;
            if (format->paths == FP_EXPORT_PATHS_ONCE && seen[node] == i + 1)
                continue;
            seen[node] = i + 1;
            size.places += stacks->nodes[node].level;
            size.text += format->repeats_names
                             ? path_lens[node]
                             : stacks->frames[stacks->nodes[node].frame].generated_resource.len;
        }
    }
    free(path_lens);
    free(seen);
    return size;
}

bool fp_export_check_size(const struct fp_export_format *format,
                          const struct fp_export_stacks *stacks)
{
    if (format->paths == FP_EXPORT_PATHS_NEVER)
        return true;
    struct size size = measure(format, stacks);
    if (size.places <= PLACES_MAX && size.text <= TEXT_MAX)
        return true;
    fp_message_error("there are too many stacks for %s", format->name);
    if (size.places > PLACES_MAX)
        fp_message_detail("It would list %llu frames, at most %llu are allowed.",
                          (unsigned long long)size.places, (unsigned long long)PLACES_MAX);
    else
        fp_message_detail("Its names would have %llu bytes, at most %llu are allowed.",
                          (unsigned long long)size.text, (unsigned long long)TEXT_MAX);
    fp_message_hint("gecko and chrome list a stack's frames once. Of many page loads, select "
                    "fewer, or fold with --fold package.");
    return false;
}
