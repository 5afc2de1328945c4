/*
 * Decoder: what the decoders of this room share: places in a document, errors that point there,
 * typed reading of an object's members.
 *
 * Functions that return bool give false after they have filled decoder->error. None is thread-safe;
 * a decoder belongs to one upload.
 */
#ifndef FP_FORMAT_DECODER_H
#define FP_FORMAT_DECODER_H

#include "collector/base/buf.h"
#include "collector/base/clock.h"
#include "collector/base/upload_error.h"
#include "collector/format/limits.h"
#include "collector/profile/profile.h"

#include <yyjson.h>

/* A place in the document; lives on the C stack and becomes a JSON pointer when something is wrong
 * there. NULL stands for the whole document. */
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

struct fp_decoder {
    const struct fp_format_limits *limits;
    struct fp_arena *arena;
    struct fp_profile *profile; /* what is being filled */
    struct fp_upload_error *error;
    struct fp_buf *content; /* of a profile that is kept whole; NULL: it is not */
};

/* Fills decoder->error with a sentence and a pointer to the place. Returns false. */
bool fp_fail_at(struct fp_decoder *decoder, enum fp_verdict verdict, const struct fp_place *place,
                const char *detail, ...) FP_PRINTF(4, 5);

/* The pointer to a place, in the arena; "" when that is full. */
struct fp_str fp_place_pointer(struct fp_arena *arena, const struct fp_place *place);

/* As fp_fail_at, for a field whose value is no good (422); the sentence begins with its name. */
bool fp_fail_field(struct fp_decoder *decoder, const struct fp_field *field, const char *detail,
                   ...) FP_PRINTF(3, 4);

/* No memory left. Returns false. */
bool fp_fail_memory(struct fp_decoder *decoder);

/* The place of a field's value. */
struct fp_place fp_field_place(const struct fp_field *field);

/*
 * Reads an object's members into fields (in the order they are expected to come, for speed alone):
 * the last of equal names wins, unknown names are ignored, null is absent.
 */
bool fp_read_object(struct fp_decoder *decoder, const struct fp_place *place, yyjson_val *value,
                    struct fp_field *fields, size_t field_count) FP_MUST_CHECK;

/* Fails when a required field is absent. */
bool fp_read_required(struct fp_decoder *decoder, const struct fp_field *field) FP_MUST_CHECK;

/* A text, copied into the arena with U+0000 replaced; absent: unchanged. */
bool fp_read_text(struct fp_decoder *decoder, const struct fp_field *field,
                  struct fp_str *text) FP_MUST_CHECK;

/* A text of at most FP_TEXT_DIMENSION_MAX code points; absent: unchanged. */
bool fp_read_dimension(struct fp_decoder *decoder, const struct fp_field *field,
                       struct fp_str *text) FP_MUST_CHECK;

/* true or false; absent: unchanged. */
bool fp_read_bool(struct fp_decoder *decoder, const struct fp_field *field,
                  bool *flag) FP_MUST_CHECK;

/* Fails when a present field is not a number. */
bool fp_read_number(struct fp_decoder *decoder, const struct fp_field *field,
                    double *number) FP_MUST_CHECK;

/* A whole number, 0 <= number <= max; 1.0 and 1e0 are whole. Absent: unchanged. */
bool fp_read_whole(struct fp_decoder *decoder, const struct fp_field *field, uint32_t max,
                   uint32_t *number) FP_MUST_CHECK;

/* The slow way of fp_read_index. */
bool fp_read_any_index(struct fp_decoder *decoder, const struct fp_field *field, uint32_t count,
                       const char *plural, uint32_t *index) FP_MUST_CHECK;

/* An index into an array of count elements, called by `plural`; absent: FP_INDEX_NONE. Without a
 * call when it is written as an index usually is: a trace has thousands. */
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

/* Whether a value is a list of times, as the members of a map of marks are: no other shape has an
 * array of numbers at its top. */
static inline bool fp_is_times(yyjson_val *value)
{
    return yyjson_is_num(yyjson_arr_get_first(value));
}

/* A required time in milliseconds, as whole microseconds; |time| <= 2^53 µs. */
bool fp_read_time(struct fp_decoder *decoder, const struct fp_field *field,
                  int64_t *time_us) FP_MUST_CHECK;

/* As fp_read_time, for a value that is no member. */
bool fp_read_time_at(struct fp_decoder *decoder, const struct fp_place *place, yyjson_val *value,
                     int64_t *time_us) FP_MUST_CHECK;

/* A required array of at most `limit` elements (413, naming limits.<limit_name>). */
bool fp_read_array(struct fp_decoder *decoder, const struct fp_field *field, uint32_t limit,
                   const char *limit_name, uint32_t *count) FP_MUST_CHECK;

#endif
