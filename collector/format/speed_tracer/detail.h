/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, detail: a record's data and other members as one JSON object.
 */
#ifndef FP_FORMAT_SPEED_TRACER_DETAIL_H
#define FP_FORMAT_SPEED_TRACER_DETAIL_H

#include "collector/format/speed_tracer/dump.h"
#include "collector/format/speed_tracer/timers.h"

/* The sources of an event's detail. */
struct fp_st_detail_source {
    yyjson_val *record;
    yyjson_val *data;                /* NULL when absent */
    int32_t type;                    /* current number */
    int32_t source_type;             /* as the record has it */
    bool is_refresh;                 /* a change to the page that was already shown */
    bool has_query;                  /* of a request, whose URL is kept without it */
    bool is_read_profile;            /* a V8 profile that was read last */
    bool is_tied;                    /* a profile of which profiled_event is known */
    int64_t profiled_event;          /* id of the event that it belongs to; in a part, 0 or less is
                                        that far from the last event of the part before */
    const struct fp_st_timer *timer; /* that fires; NULL: unknown */
};

/* Writes the object into dump->detail. False, without an error, when memory is out. */
bool fp_st_write_detail(struct fp_st_dump *dump,
                        const struct fp_st_detail_source *source) FP_MUST_CHECK;

#endif
