/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, dump: places of errors, arrays that grow, resources.
 */
#include "collector/format/speed_tracer/dump.h"

#include "collector/base/assert.h"
#include "collector/base/hash.h"
#include "collector/format/utf8.h"

enum { CAP_MIN = 64 };

bool fp_st_fail_at_record(const struct fp_st_dump *dump)
{
    struct fp_upload_error *error = dump->decoder->error;
    error->has_pointer = dump->is_index;
    error->offset = dump->is_index ? -1 : dump->offset;
    if (dump->is_index)
        (void)snprintf(error->pointer, sizeof(error->pointer), "/data/%lld",
                       (long long)dump->offset);
    return false;
}

/* Arrays that grow. */

void *fp_st_grow(struct fp_arena *arena, void *array, uint32_t count, uint32_t *cap, size_t size)
{
    if (count < *cap)
        return array;
    uint32_t new_cap = *cap > 0 ? *cap : CAP_MIN;
    size_t len;
    if (__builtin_mul_overflow(new_cap, 2U, &new_cap) ||
        __builtin_mul_overflow((size_t)new_cap, size, &len))
        return NULL;
    void *grown = fp_arena_alloc(arena, len);
    if (grown == NULL)
        return NULL;
    if (count > 0)
        memcpy(grown, array, (size_t)count * size);
    *cap = new_cap;
    return grown;
}

/* Resources. */

/* Returns the first character of a text, decoded if it is an entity; *len: its length in the
 * text. */
static char decode_entity(struct fp_str text, size_t *len)
{
    static const struct {
        struct fp_str entity;
        char character;
    } entities[] = {
        {{"&amp;", 5}, '&'}, {{"&lt;", 4}, '<'}, {{"&gt;", 4}, '>'}, {{"&quot;", 6}, '"'}};
    for (size_t i = 0; text.ptr[0] == '&' && i < FP_COUNT(entities); i++) {
        const struct fp_str entity = entities[i].entity;
        if (text.len >= entity.len && memcmp(text.ptr, entity.ptr, entity.len) == 0) {
            *len = entity.len;
            return entities[i].character;
        }
    }
    *len = 1;
    return text.ptr[0];
}

/* Copies a URL with its entities decoded. */
static bool copy_url(struct fp_st_dump *dump, struct fp_str url, struct fp_str *copy)
{
    if (!fp_utf8_copy(dump->decoder->arena, url, copy))
        return fp_fail_memory(dump->decoder);
    char *bytes = (char *)(uintptr_t)copy->ptr; /* just made */
    size_t len = 0;
    for (size_t i = 0; i < copy->len;) {
        const struct fp_str rest = {copy->ptr + i, copy->len - i};
        size_t entity_len;
        bytes[len++] = decode_entity(rest, &entity_len);
        i += entity_len;
    }
    FP_ASSERT(len <= copy->len);
    if (len < copy->len)
        fp_st_add_note(dump, FP_ST_NOTE_ENTITIES);
    copy->len = len;
    return true;
}

bool fp_st_add_resource(struct fp_st_dump *dump, struct fp_str url, uint32_t *index)
{
    struct fp_decoder *decoder = dump->decoder;
    struct fp_profile *profile = decoder->profile;
    *index = FP_INDEX_NONE;
    if (url.len == 0)
        return true;
    *index = fp_map_put(&dump->resources, fp_hash64(url.ptr, url.len), profile->resource_count);
    if (*index == FP_MAP_NONE)
        return fp_fail_memory(decoder);
    if (*index < profile->resource_count)
        return true;
    if (profile->resource_count >= decoder->limits->resources) {
        fp_upload_fail(decoder->error, FP_VERDICT_TOO_LARGE,
                       "the dump has more than %u resources (limits.resources)",
                       (unsigned)decoder->limits->resources);
        return fp_st_fail_at_record(dump);
    }
    profile->resources = fp_st_grow(decoder->arena, profile->resources, profile->resource_count,
                                    &dump->resource_cap, sizeof(*profile->resources));
    if (profile->resources == NULL)
        return fp_fail_memory(decoder);
    return copy_url(dump, url, &profile->resources[profile->resource_count++]);
}
