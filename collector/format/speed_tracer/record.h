/*
 * Speed Tracer, record: from one record, with its children, to events.
 */
#ifndef FP_FORMAT_SPEED_TRACER_RECORD_H
#define FP_FORMAT_SPEED_TRACER_RECORD_H

#include "collector/format/speed_tracer/dump.h"

/* Adds the events of a record and its children. Skips an invalid record with a note, but reads its
 * children. False after the error is filled. */
bool fp_st_read_record(struct fp_st_dump *dump, yyjson_val *record) FP_MUST_CHECK;

#endif
