/*
 * Ids: which fields of each kind are hashed, in which order. docs/ids.md says the same in bytes.
 */
#include "collector/rollup/ids.h"

#include "collector/base/hash.h"

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
    const struct fp_str texts[] = {
        segment->site,    segment->route, segment->release, segment->environment, segment->variant,
        segment->browser, segment->os,    segment->device,  segment->thread,
    };
    return hash_kind(TAG_SEGMENT, numbers, FP_COUNT(numbers), texts, FP_COUNT(texts));
}

uint64_t fp_cohort_id(unsigned level, unsigned kept, const struct fp_str dimensions[])
{
    const uint64_t numbers[] = {level, kept};
    struct fp_str texts[FP_DIMENSION_COUNT];
    size_t text_count = 0;
    for (size_t i = 0; i < FP_DIMENSION_COUNT; i++)
        if ((kept & 1U << i) != 0)
            texts[text_count++] = dimensions[i];
    return hash_kind(TAG_COHORT, numbers, FP_COUNT(numbers), texts, text_count);
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
    const struct fp_str texts[] = {key->name, key->source, key->function};
    /* Ids of marks and measures are older than the other kinds. */
    size_t text_count = key->kind <= FP_TIMING_MEASURE ? 1 : FP_COUNT(texts);
    return hash_kind(TAG_TIMING, numbers, FP_COUNT(numbers), texts, text_count);
}

uint64_t fp_session_id(uint64_t site_id, const struct fp_uuid *upload_id)
{
    const struct fp_str bytes = {(const char *)upload_id->bytes, sizeof(upload_id->bytes)};
    return hash_kind(TAG_SESSION, &site_id, 1, &bytes, 1) & INT64_MAX;
}
