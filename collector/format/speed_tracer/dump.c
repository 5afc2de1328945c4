/*
 * Speed Tracer, inside: notes, arrays that grow, resources.
 */
#include "collector/format/speed_tracer/dump.h"

#include "collector/base/hash.h"
#include "collector/format/utf8.h"

#include <assert.h>

enum { GROWN_MIN = 64 };

/* Notes. */

static const char *const note_texts[FP_ST_NOTES] = {
    [FP_ST_NOT_JSON] = "a record that is not JSON",
    [FP_ST_CUT_OFF] = "a record that was cut off",
    [FP_ST_NO_RECORD] = "a value that is no object among the records",
    [FP_ST_BAD_TYPE] = "a type that is no whole number of 32 bits",
    [FP_ST_BAD_TIME] = "a time that is no number, or beyond 2^53 microseconds",
    [FP_ST_BAD_DURATION] = "a duration that is no number, or above limits.max_span",
    [FP_ST_NEGATIVE_DURATION] = "a duration below zero",
    [FP_ST_BAD_CHILDREN] = "children that are no array",
    [FP_ST_BAD_DATA] = "data that is no object",
    [FP_ST_BAD_PROFILE_LINE] = "a line of a V8 profile that cannot be read",
    [FP_ST_JUNK] = "something between the records",
    [FP_ST_BROKEN_POST] =
        "a posted body that is not JSON, of which each record was read for itself",
    [FP_ST_NO_TYPE] = "a record without a type",
    [FP_ST_UNKNOWN_TYPE] = "a type that is not known",
    [FP_ST_NO_TYPE_NAME] = "a custom type without a name",
    [FP_ST_NO_TIME] = "a record without a time, taken as 0",
    [FP_ST_NEGATIVE_TIME] = "a time below zero",
    [FP_ST_TIME_BACKWARDS] = "a record that begins before the one above it",
    [FP_ST_NEGATIVE_SELF] = "children that take longer than their parent",
    [FP_ST_UNPAIRED_CALLER] = "a caller's script or line without the other",
    [FP_ST_UNPAIRED_HEAP] = "a used or total heap size without the other",
    [FP_ST_ENTITIES] = "HTML entities decoded in a URL",
    [FP_ST_UNKNOWN_PROFILE] = "a JavaScript profile in another format than v8",
};

static_assert((int)FP_ST_NOTES <= (int)FP_PROFILE_NOTES_MAX,
              "a session has room for all kinds of notes");

const char *fp_speed_tracer_note_text(enum fp_speed_tracer_note note)
{
    return note_texts[note];
}

void fp_speed_tracer_note(struct fp_speed_tracer_dump *dump, enum fp_speed_tracer_note note)
{
    if (dump->notes[note].count++ > 0)
        return;
    dump->notes[note].first_offset = dump->offset;
    dump->notes[note].is_index = dump->is_index;
}

bool fp_speed_tracer_fail_here(const struct fp_speed_tracer_dump *dump)
{
    struct fp_format_error *error = dump->decoder->error;
    error->has_pointer = dump->is_index;
    error->offset = dump->is_index ? -1 : dump->offset;
    if (dump->is_index)
        (void)snprintf(error->pointer, sizeof(error->pointer), "/data/%lld",
                       (long long)dump->offset);
    return false;
}

bool fp_speed_tracer_list_notes(struct fp_speed_tracer_dump *dump)
{
    struct fp_profile_session *session = &dump->decoder->profile->session;
    session->notes =
        fp_arena_array(dump->decoder->arena, FP_PROFILE_NOTES_MAX, sizeof(*session->notes));
    if (session->notes == NULL)
        return fp_fail_memory(dump->decoder);
    for (size_t i = 0; i < FP_ST_NOTES; i++)
        if (dump->notes[i].count > 0)
            session->notes[session->note_count++] = (struct fp_profile_note){
                .text = note_texts[i],
                .is_refusal = i < FP_ST_REFUSALS,
                .count = dump->notes[i].count,
                .first_offset = dump->notes[i].first_offset,
                .is_index = dump->notes[i].is_index,
            };
    return true;
}

/* Arrays that grow. */

void *fp_speed_tracer_grow(struct fp_arena *arena, void *array, uint32_t count, uint32_t *cap,
                           size_t size)
{
    if (count < *cap)
        return array;
    uint32_t new_cap = *cap > 0 ? *cap : GROWN_MIN;
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

/* The first character of a text, which may be an entity of a saved page; *len: how much it takes.
 */
static char decode_entity(struct fp_str text, size_t *len)
{
    static const struct {
        struct fp_str entity;
        char character;
    } entities[] = {
        {{"&amp;", 5}, '&'}, {{"&lt;", 4}, '<'}, {{"&gt;", 4}, '>'}, {{"&quot;", 6}, '"'}};
    for (size_t i = 0; text.ptr[0] == '&' && i < sizeof(entities) / sizeof(entities[0]); i++) {
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
static bool copy_url(struct fp_speed_tracer_dump *dump, struct fp_str url, struct fp_str *copy)
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
    if (len < copy->len)
        fp_speed_tracer_note(dump, FP_ST_ENTITIES);
    copy->len = len;
    return true;
}

bool fp_speed_tracer_resource(struct fp_speed_tracer_dump *dump, struct fp_str url, uint32_t *index)
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
        fp_format_fail(decoder->error, FP_FORMAT_TOO_LARGE,
                       "the dump has more than %u resources (limits.resources)",
                       (unsigned)decoder->limits->resources);
        return fp_speed_tracer_fail_here(dump);
    }
    profile->resources =
        fp_speed_tracer_grow(decoder->arena, profile->resources, profile->resource_count,
                             &dump->resource_cap, sizeof(*profile->resources));
    if (profile->resources == NULL)
        return fp_fail_memory(decoder);
    return copy_url(dump, url, &profile->resources[profile->resource_count++]);
}
