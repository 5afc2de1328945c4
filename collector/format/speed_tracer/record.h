/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, record: from one record, with its children, to events.
 */
#ifndef FP_FORMAT_SPEED_TRACER_RECORD_H
#define FP_FORMAT_SPEED_TRACER_RECORD_H

#include "collector/format/speed_tracer/dump.h"

#define FP_ST_RAW_MESSAGE                                                                          \
    "this is a message of a browser's inspector, not a record; load such messages into Speed "     \
    "Tracer and save them"

/* True for a message of a browser's inspector, such as `Timeline.eventRecorded`. The tool converted
 * these when it loaded a page of them. */
bool fp_st_is_raw_message(yyjson_val *value);

/* Adds the events of a record and its children. Skips an invalid record with a note, but reads its
 * children. Refuses a dump with an inspector's message among them. False after the error is
 * filled. */
bool fp_st_read_record(struct fp_st_dump *dump, yyjson_val *record) FP_MUST_CHECK;

#endif
