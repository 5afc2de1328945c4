/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, types: the numbers and names of record types.
 */
#ifndef FP_FORMAT_SPEED_TRACER_TYPES_H
#define FP_FORMAT_SPEED_TRACER_TYPES_H

#include "collector/format/speed_tracer/dump.h"

/* The numbers since version 0.9 of the types that this decoder treats specially. */
enum fp_st_type {
    FP_ST_TYPE_INVALID = -1,
    FP_ST_TYPE_CUSTOM = -2, /* the first custom type; the others are below it */
    FP_ST_TYPE_TIMER_INSTALLED = 5,
    FP_ST_TYPE_TIMER_FIRED = 7,
    FP_ST_TYPE_LOG_MESSAGE = 11,
    FP_ST_TYPE_RESOURCE_START = 12,
    FP_ST_TYPE_RESOURCE_RESPONSE = 13,
    FP_ST_TYPE_RESOURCE_FINISH = 14,
    FP_ST_TYPE_JAVASCRIPT_CALLBACK = 15,
    FP_ST_TYPE_GC_EVENT = 17,
    FP_ST_TYPE_MARK_DOM_CONTENT = 18,
    FP_ST_TYPE_MARK_LOAD_EVENT = 19,
    FP_ST_TYPE_AGGREGATED = 0x7FFFFFFF,
    FP_ST_TYPE_TAB_CHANGED = 0x7FFFFFFE,
    FP_ST_TYPE_RESOURCE_UPDATE = 0x7FFFFFFD,
    FP_ST_TYPE_PROFILE_DATA = 0x7FFFFFFC,
    FP_ST_TYPE_REQUEST_WILL_BE_SENT = 0x7FFFFFFA,
};

/* The members that determine a record's type. */
struct fp_st_raw_type {
    int32_t type;          /* as the record has it */
    yyjson_val *data;      /* NULL when absent */
    yyjson_val *type_name; /* of a custom type */
    bool has_duration;
};

/* Sets an event's type name and its current number. Sets dump->is_early if only early versions
 * wrote such a record. False after the error is filled. */
bool fp_st_set_type(struct fp_st_dump *dump, const struct fp_st_raw_type *raw,
                    struct fp_profile_event *event) FP_MUST_CHECK;

/* Returns the name of a type whose number meant something else up to version 0.8, and sets *type to
 * its current number if it has one. NULL: the number means the same in all versions. */
const char *fp_st_early_type_name(int32_t *type);

#endif
