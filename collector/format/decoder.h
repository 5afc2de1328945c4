/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoder: what all decoders share: places in a document, errors that point there, and typed
 * reading of an object's members.
 *
 * Functions that return bool give false after they have filled decoder->error, unless they say
 * otherwise. A decoder belongs to one upload; not thread-safe.
 */
#ifndef FP_FORMAT_DECODER_H
#define FP_FORMAT_DECODER_H

#include "collector/base/buf.h"
#include "collector/base/clock.h"
#include "collector/base/upload_error.h"
#include "collector/format/limits.h"
#include "collector/profile/profile.h"

#include <yyjson.h>

/* A place in the document, on the C stack. An error there turns it into a JSON pointer. NULL means
 * the whole document. */
struct fp_place {
    const struct fp_place *parent;
    struct fp_str member; /* ptr NULL: an element of an array, at `index` */
    size_t index;
};

/* A member of an object that a decoder knows. */
struct fp_field {
    const struct fp_place *object;
    struct fp_str name;
    yyjson_val *value; /* NULL when absent or null */
};

struct fp_chromium_trace;

struct fp_decoder {
    const struct fp_format_limits *limits;
    struct fp_arena *arena;
    struct fp_profile *profile; /* what is being filled */
    struct fp_upload_error *error;
    struct fp_buf *content;                /* of an upload that is kept whole, else NULL */
    const struct fp_chromium_trace *trace; /* read ahead of the document, else NULL */
    uint64_t observed_before; /* towards limits->entries, of the views before the one in profile */
};

/* Fills decoder->error with a sentence and a pointer to the place. Returns false. */
bool fp_fail_at(struct fp_decoder *decoder, enum fp_verdict verdict, const struct fp_place *place,
                const char *detail, ...) FP_PRINTF(4, 5);

/* Returns the pointer to a place, in the arena; "" if that is full. */
struct fp_str fp_place_pointer(struct fp_arena *arena, const struct fp_place *place);

/* Does the same for a field with an invalid value (422). The sentence begins with its name. */
bool fp_fail_field(struct fp_decoder *decoder, const struct fp_field *field, const char *detail,
                   ...) FP_PRINTF(3, 4);

/* Fills decoder->error: memory is out. Returns false. */
bool fp_fail_memory(struct fp_decoder *decoder);

/* Returns the place of a field's value. */
struct fp_place fp_field_place(const struct fp_field *field);

/*
 * Reads an object's members into fields. The last of equal names wins, unknown names are ignored,
 * and null is absent. It is fastest if the fields are in the usual order of the members.
 */
bool fp_read_object(struct fp_decoder *decoder, const struct fp_place *place, yyjson_val *value,
                    struct fp_field *fields, size_t field_count) FP_MUST_CHECK;

/* Fails if a required field is absent. */
bool fp_read_required(struct fp_decoder *decoder, const struct fp_field *field) FP_MUST_CHECK;

/* Reads a text into the arena and replaces U+0000; absent: *text is unchanged. */
bool fp_read_text(struct fp_decoder *decoder, const struct fp_field *field,
                  struct fp_str *text) FP_MUST_CHECK;

/* Reads a text of at most FP_TEXT_DIMENSION_MAX code points; absent: *text is unchanged. */
bool fp_read_dimension(struct fp_decoder *decoder, const struct fp_field *field,
                       struct fp_str *text) FP_MUST_CHECK;

/* Reads true or false; absent: *flag is unchanged. */
bool fp_read_bool(struct fp_decoder *decoder, const struct fp_field *field,
                  bool *flag) FP_MUST_CHECK;

/* Reads a number; absent: *number is unchanged. */
bool fp_read_number(struct fp_decoder *decoder, const struct fp_field *field,
                    double *number) FP_MUST_CHECK;

/* Reads a whole number from 0 to max, by fp_whole_of; absent: *number is unchanged. */
bool fp_read_whole(struct fp_decoder *decoder, const struct fp_field *field, uint32_t max,
                   uint32_t *number) FP_MUST_CHECK;

/* The slow path of fp_read_index. */
bool fp_read_any_index(struct fp_decoder *decoder, const struct fp_field *field, uint32_t count,
                       const char *plural, uint32_t *index) FP_MUST_CHECK;

/* Reads an index into an array of count elements, which `plural` names; absent: FP_INDEX_NONE.
 * Inline for an index in the usual form: a trace has thousands. */
FP_MUST_CHECK static inline bool fp_read_index(struct fp_decoder *decoder,
                                               const struct fp_field *field, uint32_t count,
                                               const char *plural, uint32_t *index)
{
    yyjson_val *value = field->value;
    *index = FP_INDEX_NONE;
    if (value == NULL)
        return true;
    if (!unsafe_yyjson_is_uint(value) || unsafe_yyjson_get_uint(value) >= count)
        return fp_read_any_index(decoder, field, count, plural, index);
    *index = (uint32_t)unsafe_yyjson_get_uint(value);
    return true;
}

/* Returns floor(number) for a number that fits. A call of the library's would take a third of the
 * time of reading a time. */
static inline int64_t fp_floor_of(double number)
{
    int64_t whole = (int64_t)number;
    return (double)whole > number ? whole - 1 : whole;
}

/* Reads a whole number from min to max, which are at most 2^53 either way; 1.0 and 1e0 are whole.
 * False, without an error and with *number unchanged, if the value is not one. */
static inline bool fp_whole_of(yyjson_val *value, int64_t min, int64_t max, int64_t *number)
{
    double real = yyjson_get_num(value);
    if (!yyjson_is_num(value) || !(real >= (double)min && real <= (double)max) ||
        (double)fp_floor_of(real) < real)
        return false;
    *number = fp_floor_of(real);
    return true;
}

/* Reads a time in milliseconds as whole microseconds, rounded by floor(x + 0.5); at most
 * FP_TIME_MAX_US either way. False, without an error and with *time_us unchanged, if the value is
 * not one. */
static inline bool fp_time_of(yyjson_val *value, int64_t *time_us)
{
    double real = yyjson_get_num(value) * (double)FP_US_PER_MS;
    if (!yyjson_is_num(value) ||
        !(real >= -(double)FP_TIME_MAX_US && real <= (double)FP_TIME_MAX_US))
        return false;
    *time_us = fp_floor_of(real + 0.5);
    return true;
}

/* True for a list of times, such as the members of a map of marks: no other format has an array of
 * numbers at its top level. */
static inline bool fp_is_times(yyjson_val *value)
{
    return yyjson_is_num(yyjson_arr_get_first(value));
}

/* Reads a required time, by fp_time_of. */
bool fp_read_time(struct fp_decoder *decoder, const struct fp_field *field,
                  int64_t *time_us) FP_MUST_CHECK;

/* Does the same for a value that is not a member. */
bool fp_read_time_at(struct fp_decoder *decoder, const struct fp_place *place, yyjson_val *value,
                     int64_t *time_us) FP_MUST_CHECK;

/* Reads the length of a required array of at most `limit` elements. Over it: 413, and the error
 * names limits.<limit_name>. */
bool fp_read_array(struct fp_decoder *decoder, const struct fp_field *field, uint32_t limit,
                   const char *limit_name, uint32_t *count) FP_MUST_CHECK;

#endif
