/*
 * Speed Tracer, detail: a record's data and other members as one JSON object.
 */
#ifndef FP_FORMAT_SPEED_TRACER_DETAIL_H
#define FP_FORMAT_SPEED_TRACER_DETAIL_H

#include "collector/format/speed_tracer/dump.h"
#include "collector/format/speed_tracer/timers.h"

/* What an event's detail is made of. */
struct fp_st_detail_source {
    yyjson_val *record;
    yyjson_val *data;                /* NULL when absent */
    int32_t type;                    /* current number */
    int32_t source_type;             /* as the record has it */
    bool is_refresh;                 /* a change to the page that was already shown */
    bool has_query;                  /* of a request, whose URL is kept without it */
    const uint32_t *vm_states;       /* ticks of a profile by state; NULL: it is not one */
    uint32_t profiled_event;         /* id of the event that a profile belongs to, 0: unknown */
    const struct fp_st_timer *timer; /* that fires; NULL: unknown */
};

/* Writes the object into dump->detail. False, without an error, when memory is out. */
bool fp_st_write_detail(struct fp_st_dump *dump,
                        const struct fp_st_detail_source *source) FP_MUST_CHECK;

#endif
