/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part: a copy is one block: the struct, the arrays, and then the texts.
 */
#include "collector/profile/fold/part.h"

#include "collector/base/assert.h"

#include <stdlib.h>

enum { ALIGNMENT = 8 };

static size_t array_bytes(size_t count, size_t size)
{
    return (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t text_bytes(const struct fp_part *part)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < part->resource_count; i++)
        bytes += part->resources[i].url.len;
    for (uint32_t i = 0; i < part->frame_count; i++)
        bytes += part->frames[i].function.len;
    for (uint32_t i = 0; i < part->timing_count; i++)
        bytes += part->timings[i].name.len;
    for (uint32_t i = 0; i < part->span_count; i++)
        bytes += part->spans[i].window.len + part->spans[i].host.len;
    for (uint32_t i = 0; i < part->vital_count; i++) {
        const struct fp_delta_timing *element = &part->vitals[i].element;
        bytes += element->name.len + element->source.len + element->function.len;
    }
    return bytes;
}

size_t fp_part_bytes(const struct fp_part *part)
{
    return array_bytes(1, sizeof(*part)) +
           array_bytes(part->resource_count, sizeof(*part->resources)) +
           array_bytes(part->frame_count, sizeof(*part->frames)) +
           array_bytes(part->stack_count, sizeof(*part->stacks)) +
           array_bytes(part->sample_count, sizeof(*part->samples)) +
           array_bytes(part->timing_count, sizeof(*part->timings)) +
           array_bytes(part->window_count, sizeof(*part->windows)) +
           array_bytes(part->span_count, sizeof(*part->spans)) +
           array_bytes(part->counted_count, sizeof(*part->counted)) +
           array_bytes(part->wait_count, sizeof(*part->waits)) +
           array_bytes(part->vital_count, sizeof(*part->vitals)) + text_bytes(part);
}

static void *copy_array(uint8_t **at, const void *array, size_t count, size_t size)
{
    void *copy = *at;
    if (count > 0)
        memcpy(copy, array, count * size);
    *at += array_bytes(count, size);
    return copy;
}

static void copy_text(uint8_t **at, struct fp_str *text)
{
    if (text->len > 0)
        memcpy(*at, text->ptr, text->len);
    text->ptr = (const char *)*at;
    *at += text->len;
}

struct fp_part *fp_part_copy(const struct fp_part *part)
{
    const size_t bytes = fp_part_bytes(part);
    uint8_t *block = malloc(bytes);
    if (block == NULL)
        return NULL;
    uint8_t *at = block;
    struct fp_part *copy = copy_array(&at, part, 1, sizeof(*part));
    struct fp_delta_resource *resources =
        copy_array(&at, part->resources, part->resource_count, sizeof(*resources));
    struct fp_delta_frame *frames =
        copy_array(&at, part->frames, part->frame_count, sizeof(*frames));
    copy->stacks = copy_array(&at, part->stacks, part->stack_count, sizeof(*part->stacks));
    copy->samples = copy_array(&at, part->samples, part->sample_count, sizeof(*part->samples));
    struct fp_delta_timing *timings =
        copy_array(&at, part->timings, part->timing_count, sizeof(*timings));
    copy->windows = copy_array(&at, part->windows, part->window_count, sizeof(*part->windows));
    struct fp_fold_span *spans = copy_array(&at, part->spans, part->span_count, sizeof(*spans));
    copy->counted = copy_array(&at, part->counted, part->counted_count, sizeof(*part->counted));
    copy->waits = copy_array(&at, part->waits, part->wait_count, sizeof(*part->waits));
    struct fp_fold_vital *vitals =
        copy_array(&at, part->vitals, part->vital_count, sizeof(*vitals));
    for (uint32_t i = 0; i < part->resource_count; i++)
        copy_text(&at, &resources[i].url);
    for (uint32_t i = 0; i < part->frame_count; i++)
        copy_text(&at, &frames[i].function);
    for (uint32_t i = 0; i < part->timing_count; i++)
        copy_text(&at, &timings[i].name);
    for (uint32_t i = 0; i < part->span_count; i++) {
        copy_text(&at, &spans[i].window);
        copy_text(&at, &spans[i].host);
    }
    for (uint32_t i = 0; i < part->vital_count; i++) {
        copy_text(&at, &vitals[i].element.name);
        copy_text(&at, &vitals[i].element.source);
        copy_text(&at, &vitals[i].element.function);
    }
    copy->vitals = vitals;
    copy->resources = resources;
    copy->frames = frames;
    copy->timings = timings;
    copy->spans = spans;
    FP_ASSERT(at == block + bytes);
    return copy;
}
