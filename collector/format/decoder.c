/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoder: errors with their JSON pointers, and typed reading.
 */
#include "collector/format/decoder.h"

#include "collector/base/assert.h"
#include "collector/format/utf8.h"
#include "collector/profile/text.h"

#include <math.h>
#include <stdarg.h>

enum { PLACE_DEPTH_MAX = 8 }; /* of all decoders */

/* Errors. */

bool fp_fail_memory(struct fp_decoder *decoder)
{
    (void)fp_upload_fail_memory(decoder->error);
    return false;
}

/* Returns the escape of a character in a reference token (RFC 6901 section 3), NULL if it needs
 * none. */
static const char *escape_of(char c)
{
    return c == '~' ? "~0" : c == '/' ? "~1" : NULL;
}

/* Appends one reference token. False, with the pointer unchanged, if it does not fit. */
static bool add_token(struct fp_upload_error *error, struct fp_str token)
{
    char *pointer = error->pointer;
    const size_t begin = strlen(pointer);
    size_t len = begin;
    FP_ASSERT(begin + 2 < sizeof(error->pointer));
    pointer[len++] = '/';
    for (size_t i = 0; i < token.len && len + 2 < sizeof(error->pointer); i++) {
        const char *escape = escape_of(token.ptr[i]);
        size_t escape_len = escape != NULL ? 2 : 1;
        memcpy(pointer + len, escape != NULL ? escape : &token.ptr[i], escape_len);
        len += escape_len;
    }
    bool fits = len + 2 < sizeof(error->pointer);
    pointer[fits ? len : begin] = '\0';
    return fits;
}

/* Writes the pointer to a place, or to the innermost place around it that fits. */
static void point_at(struct fp_upload_error *error, const struct fp_place *place)
{
    const struct fp_place *path[PLACE_DEPTH_MAX];
    size_t depth = 0;
    for (; place != NULL && depth < PLACE_DEPTH_MAX; place = place->parent)
        path[depth++] = place;
    FP_ASSERT(place == NULL);
    error->has_pointer = true;
    while (depth > 0) {
        place = path[--depth];
        char index[24];
        struct fp_str token = place->member;
        if (token.ptr == NULL)
            token =
                (struct fp_str){index, (size_t)snprintf(index, sizeof(index), "%zu", place->index)};
        /* The pointer is a C string and cannot have U+0000. */
        if ((token.len > 0 && memchr(token.ptr, '\0', token.len)) || !add_token(error, token))
            return;
    }
}

struct fp_str fp_place_pointer(struct fp_arena *arena, const struct fp_place *place)
{
    struct fp_upload_error error = {.verdict = FP_VERDICT_OK};
    struct fp_str pointer;
    point_at(&error, place);
    return fp_arena_copy(arena, fp_str_of(error.pointer), &pointer) ? pointer : FP_STR("");
}

bool fp_fail_at(struct fp_decoder *decoder, enum fp_verdict verdict, const struct fp_place *place,
                const char *detail, ...)
{
    *decoder->error = (struct fp_upload_error){.verdict = verdict, .offset = -1};
    va_list args;
    va_start(args, detail);
    vsnprintf(decoder->error->detail, sizeof(decoder->error->detail), detail, args);
    va_end(args);
    point_at(decoder->error, place);
    return false;
}

bool fp_fail_field(struct fp_decoder *decoder, const struct fp_field *field, const char *detail,
                   ...)
{
    const struct fp_place place = fp_field_place(field);
    char sentence[sizeof(decoder->error->detail)];
    va_list args;
    va_start(args, detail);
    vsnprintf(sentence, sizeof(sentence), detail, args);
    va_end(args);
    return fp_fail_at(decoder, FP_VERDICT_INVALID, &place, "%.*s %s", FP_STR_ARG(field->name),
                      sentence);
}

struct fp_place fp_field_place(const struct fp_field *field)
{
    return (struct fp_place){.parent = field->object, .member = field->name};
}

/* Objects and arrays. */

static const char *type_name(yyjson_val *value)
{
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_NULL:
        return "null";
    case YYJSON_TYPE_BOOL:
        return "a boolean";
    case YYJSON_TYPE_NUM:
        return "a number";
    case YYJSON_TYPE_STR:
        return "a string";
    case YYJSON_TYPE_ARR:
        return "an array";
    default:
        return "an object";
    }
}

static bool fail_type(struct fp_decoder *decoder, const struct fp_field *field,
                      const char *expected)
{
    return fp_fail_field(decoder, field, "is %s; it must be %s", type_name(field->value), expected);
}

static uint64_t load64(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

static uint32_t load32(const char *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

/* Compares like memcmp, but inline: it runs for each member of each element. Two overlapping words
 * cover the lengths of most names, 4 to 16 bytes. */
static bool equal_bytes(const char *a, const char *b, size_t len)
{
    if (len >= sizeof(uint64_t) && len <= 2 * sizeof(uint64_t))
        return load64(a) == load64(b) && load64(a + len - 8) == load64(b + len - 8);
    if (len >= sizeof(uint32_t) && len < sizeof(uint64_t))
        return load32(a) == load32(b) && load32(a + len - 4) == load32(b + len - 4);
    return memcmp(a, b, len) == 0;
}

/* Returns the field of a name, NULL if there is none. Searches from *expected on, and sets
 * *expected to the field after it. */
static struct fp_field *find_field(struct fp_field *fields, size_t field_count,
                                   const yyjson_val *key, size_t *expected)
{
    const char *name = key->uni.str;
    size_t len = (size_t)(key->tag >> YYJSON_TAG_BIT);
    size_t at = *expected;
    for (size_t tried = 0; tried < field_count; tried++) {
        struct fp_field *field = &fields[at];
        at = at + 1 < field_count ? at + 1 : 0;
        if (field->name.len == len && equal_bytes(field->name.ptr, name, len)) {
            *expected = at;
            return field;
        }
    }
    return NULL;
}

bool fp_read_object(struct fp_decoder *decoder, const struct fp_place *place, yyjson_val *value,
                    struct fp_field *fields, size_t field_count)
{
    if (!yyjson_is_obj(value))
        return fp_fail_at(decoder, FP_VERDICT_INVALID, place, "this is %s; it must be an object",
                          type_name(value));
    for (size_t i = 0; i < field_count; i++)
        fields[i].value = NULL;
    size_t expected = 0;
    yyjson_val *key = unsafe_yyjson_get_first(value);
    for (size_t left = unsafe_yyjson_get_len(value); left > 0; left--) {
        struct fp_field *field = find_field(fields, field_count, key, &expected);
        yyjson_val *member = key + 1;
        if (field != NULL)
            field->value = unsafe_yyjson_is_null(member) ? NULL : member;
        key = unsafe_yyjson_get_next(member);
    }
    return true;
}

bool fp_read_required(struct fp_decoder *decoder, const struct fp_field *field)
{
    if (field->value != NULL)
        return true;
    return fp_fail_at(decoder, FP_VERDICT_INVALID, field->object, "%.*s is missing",
                      FP_STR_ARG(field->name));
}

bool fp_read_array(struct fp_decoder *decoder, const struct fp_field *field, uint32_t limit,
                   const char *limit_name, uint32_t *count)
{
    if (!fp_read_required(decoder, field))
        return false;
    if (!yyjson_is_arr(field->value))
        return fail_type(decoder, field, "an array");
    size_t size = yyjson_arr_size(field->value);
    if (size > limit) {
        const struct fp_place place = fp_field_place(field);
        return fp_fail_at(decoder, FP_VERDICT_TOO_LARGE, &place,
                          "%.*s has %zu elements; at most %u are allowed (limits.%s)",
                          FP_STR_ARG(field->name), size, (unsigned)limit, limit_name);
    }
    *count = (uint32_t)size;
    return true;
}

/* Texts and flags. */

bool fp_read_text(struct fp_decoder *decoder, const struct fp_field *field, struct fp_str *text)
{
    if (field->value == NULL)
        return true;
    if (!yyjson_is_str(field->value))
        return fail_type(decoder, field, "a string");
    const struct fp_str raw = {yyjson_get_str(field->value), yyjson_get_len(field->value)};
    return fp_utf8_copy(decoder->arena, raw, text) || fp_fail_memory(decoder);
}

bool fp_read_dimension(struct fp_decoder *decoder, const struct fp_field *field,
                       struct fp_str *text)
{
    if (!fp_read_text(decoder, field, text))
        return false;
    if (fp_text_cut(*text, FP_TEXT_DIMENSION_MAX).len < text->len)
        return fp_fail_field(decoder, field, "is longer than %d characters", FP_TEXT_DIMENSION_MAX);
    return true;
}

bool fp_read_bool(struct fp_decoder *decoder, const struct fp_field *field, bool *flag)
{
    if (field->value == NULL)
        return true;
    if (!yyjson_is_bool(field->value))
        return fail_type(decoder, field, "true or false");
    *flag = yyjson_get_bool(field->value);
    return true;
}

/* Numbers. */

bool fp_read_number(struct fp_decoder *decoder, const struct fp_field *field, double *number)
{
    if (field->value == NULL)
        return true;
    if (!yyjson_is_num(field->value))
        return fail_type(decoder, field, "a number");
    *number = yyjson_get_num(field->value);
    return true;
}

bool fp_read_whole(struct fp_decoder *decoder, const struct fp_field *field, uint32_t max,
                   uint32_t *number)
{
    int64_t whole;
    if (field->value == NULL)
        return true;
    if (fp_whole_of(field->value, 0, max, &whole)) {
        *number = (uint32_t)whole;
        return true;
    }
    if (!yyjson_is_num(field->value))
        return fail_type(decoder, field, "a whole number");
    return fp_fail_field(decoder, field, "is %.15g; it must be a whole number from 0 to %u",
                         yyjson_get_num(field->value), (unsigned)max);
}

static bool fail_index(struct fp_decoder *decoder, const struct fp_field *field, uint32_t count,
                       const char *plural)
{
    char valid[24] = "0";
    if (count > 1)
        snprintf(valid, sizeof(valid), "0 to %u", (unsigned)(count - 1));
    if (!yyjson_is_num(field->value))
        return fp_fail_field(decoder, field,
                             "is %s; it must be a whole number, the position of one of the %s",
                             type_name(field->value), plural);
    double number = yyjson_get_num(field->value);
    if (count == 0)
        return fp_fail_field(decoder, field, "is %.15g, but there are no %s", number, plural);
    if (number >= (double)count && floor(number) >= number)
        return fp_fail_field(decoder, field, "is %.15g, but there %s only %u %.*s (valid: %s)",
                             number, count == 1 ? "is" : "are", (unsigned)count,
                             (int)strlen(plural) - (count == 1), plural, valid);
    return fp_fail_field(decoder, field,
                         "is %.15g; it must be a whole number, the position of one of the %s "
                         "(valid: %s)",
                         number, plural, valid);
}

bool fp_read_any_index(struct fp_decoder *decoder, const struct fp_field *field, uint32_t count,
                       const char *plural, uint32_t *index)
{
    int64_t whole;
    if (!fp_whole_of(field->value, 0, (int64_t)count - 1, &whole))
        return fail_index(decoder, field, count, plural);
    *index = (uint32_t)whole;
    return true;
}

bool fp_read_time_at(struct fp_decoder *decoder, const struct fp_place *place, yyjson_val *value,
                     int64_t *time_us)
{
    if (fp_time_of(value, time_us))
        return true;
    if (!yyjson_is_num(value))
        return fp_fail_at(decoder, FP_VERDICT_INVALID, place,
                          "this is %s; it must be a number of milliseconds", type_name(value));
    return fp_fail_at(
        decoder, FP_VERDICT_INVALID, place,
        "%.15g ms is out of range; a time may be at most 2^53 microseconds, either way",
        yyjson_get_num(value));
}

bool fp_read_time(struct fp_decoder *decoder, const struct fp_field *field, int64_t *time_us)
{
    if (field->value != NULL && fp_time_of(field->value, time_us))
        return true;
    if (!fp_read_required(decoder, field))
        return false;
    if (!yyjson_is_num(field->value))
        return fail_type(decoder, field, "a number of milliseconds");
    const struct fp_place place = fp_field_place(field);
    return fp_read_time_at(decoder, &place, field->value, time_us);
}
