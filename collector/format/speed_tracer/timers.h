/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, timers: what the start of a timer says, for the records that it fires.
 */
#ifndef FP_FORMAT_SPEED_TRACER_TIMERS_H
#define FP_FORMAT_SPEED_TRACER_TIMERS_H

#include "collector/base/base.h"

#include <yyjson.h>

/* Copies of the values in a timer's start, which are scalars; of type none when absent. */
struct fp_st_timer {
    yyjson_val timeout;
    yyjson_val single_shot;
};

struct fp_st_dump;

/* Adds the timer that a record starts; does nothing for other records. type is the current number.
 * False after the error is filled. */
bool fp_st_add_timer(struct fp_st_dump *dump, int32_t type, yyjson_val *data) FP_MUST_CHECK;

/* Returns the timer that a record fires. NULL if it fires none, or its start is unknown. Valid
 * until the next one is added. */
const struct fp_st_timer *fp_st_find_timer(const struct fp_st_dump *dump, int32_t type,
                                           yyjson_val *data);

#endif
