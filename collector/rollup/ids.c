/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids: which fields of each kind are hashed, in which order. docs/internals/ids.md says the same in
 * bytes.
 */
#include "collector/rollup/ids.h"

#include "collector/base/assert.h"
#include "collector/base/hash.h"
#include "collector/rollup/dimension.h"

#include <endian.h>

_Static_assert((int)FP_DIMENSION_COUNT <= 32, "the dimensions that a level keeps are bits");

/* One letter per kind, so that two kinds never hash the same bytes. */
enum id_tag {
    TAG_SITE = 'S',
    TAG_SEGMENT = 'G',
    TAG_COHORT = 'C',
    TAG_RESOURCE = 'R',
    TAG_FRAME = 'F',
    TAG_STACK = 'K',
    TAG_TIMING = 'T',
    TAG_SESSION = 'U',
    TAG_VITAL = 'V',
    TAG_LEFT_OUT = 'L',
};

static uint64_t hash_kind(enum id_tag tag, const uint64_t *numbers, size_t number_count,
                          const struct fp_str *texts, size_t text_count)
{
    return fp_hash_fields(&(struct fp_hash_input){.tag = (char)tag,
                                                  .numbers = numbers,
                                                  .number_count = number_count,
                                                  .texts = texts,
                                                  .text_count = text_count});
}

uint64_t fp_site_id(struct fp_str site)
{
    return hash_kind(TAG_SITE, NULL, 0, &site, 1);
}

uint64_t fp_segment_id(const struct fp_segment *segment)
{
    const uint64_t numbers[] = {segment->rate_ppm};
    struct fp_str texts[FP_DIMENSION_COUNT];
    size_t count = FP_DIMENSION_COUNT;
    for (size_t i = 0; i < FP_DIMENSION_COUNT; i++)
        texts[i] = fp_dimension_of(segment, i);
    /* Ids are older than some dimensions. */
    while (fp_dimensions[count - 1].version > 1 && texts[count - 1].len == 0)
        count--;
    return hash_kind(TAG_SEGMENT, numbers, FP_COUNT(numbers), texts, count);
}

uint64_t fp_cohort_id(unsigned level, unsigned kept, const struct fp_segment *segment)
{
    const uint64_t numbers[] = {level, kept};
    struct fp_str texts[2 * FP_DIMENSION_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < FP_DIMENSION_COUNT; i++)
        if ((kept & 1U << i) != 0)
            texts[count++] = fp_dimension_of(segment, i);
    const size_t least = count;
    for (size_t i = 0; i < FP_DIMENSION_COUNT; i++)
        if (fp_dimension_is_kept(i))
            texts[count++] = fp_dimension_of(segment, i);
    /* Ids of cohorts without these are older. */
    FP_ASSERT(count <= FP_COUNT(texts));
    while (count > least && texts[count - 1].len == 0)
        count--;
    return hash_kind(TAG_COHORT, numbers, FP_COUNT(numbers), texts, count);
}

uint64_t fp_resource_id(uint64_t site_id, struct fp_str url)
{
    return hash_kind(TAG_RESOURCE, &site_id, 1, &url, 1);
}

uint64_t fp_frame_id(uint64_t site_id, const struct fp_frame_key *key)
{
    const uint64_t numbers[] = {site_id, key->resource_id, (uint64_t)(int64_t)key->line,
                                (uint64_t)(int64_t)key->column, (uint64_t)key->kind};
    return hash_kind(TAG_FRAME, numbers, FP_COUNT(numbers), &key->function, 1);
}

uint64_t fp_stack_id(uint64_t parent_id, uint64_t frame_id)
{
    return fp_hash_pair(TAG_STACK, parent_id, frame_id);
}

uint64_t fp_timing_id(uint64_t site_id, const struct fp_timing_key *key)
{
    const uint64_t numbers[] = {site_id, (uint64_t)key->kind};
    const struct fp_str texts[] = {key->name, key->source, key->function,
                                   fp_str_of(fp_navigation_name(key->navigation))};
    /* Ids of marks and measures are older than the other kinds, and all are older than kinds of
     * navigation. */
    size_t text_count = key->kind <= FP_TIMING_MEASURE             ? 1
                        : key->navigation == FP_NAVIGATION_UNKNOWN ? FP_COUNT(texts) - 1
                                                                   : FP_COUNT(texts);
    return hash_kind(TAG_TIMING, numbers, FP_COUNT(numbers), texts, text_count);
}

uint64_t fp_session_id(uint64_t site_id, const struct fp_uuid *upload_id)
{
    const struct fp_str bytes = {(const char *)upload_id->bytes, sizeof(upload_id->bytes)};
    return hash_kind(TAG_SESSION, &site_id, 1, &bytes, 1) & INT64_MAX;
}

/* Makes an id that begins as the page load's does: ids of one load are neighbours in an index. */
static struct fp_uuid id_of_load(enum id_tag tag, const uint64_t *numbers, size_t number_count,
                                 const struct fp_uuid *load)
{
    const struct fp_str bytes = {(const char *)load->bytes, sizeof(load->bytes)};
    uint64_t hash = htobe64(hash_kind(tag, numbers, number_count, &bytes, 1));
    struct fp_uuid id = *load;
    memcpy(id.bytes + sizeof(id.bytes) - sizeof(hash), &hash, sizeof(hash));
    return id;
}

struct fp_uuid fp_vital_id(uint64_t site_id, const struct fp_uuid *load,
                           const struct fp_delta_vital *vital)
{
    const uint64_t numbers[] = {site_id, (uint64_t)vital->vital, vital->metric};
    return id_of_load(TAG_VITAL, numbers, FP_COUNT(numbers), load);
}

struct fp_uuid fp_left_out_id(uint64_t timing_id, const struct fp_uuid *load)
{
    return id_of_load(TAG_LEFT_OUT, &timing_id, 1, load);
}
