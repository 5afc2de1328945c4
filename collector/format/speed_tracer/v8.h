/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, V8 profiles: the log of the engine's profiler, spread over the records of a dump,
 * becomes frames, stacks and samples. Not thread-safe.
 */
#ifndef FP_FORMAT_SPEED_TRACER_V8_H
#define FP_FORMAT_SPEED_TRACER_V8_H

#include "collector/format/speed_tracer/dump.h"

/* States of the engine during a tick, by their numbers in the log; the last one is any other. */
enum { FP_ST_VM_GC = 1, FP_ST_VM_UNKNOWN = 5, FP_ST_VM_STATES };

struct fp_st_v8_ticks;

/* Sets dump->v8, the state of all profiles of a dump. False after the error is filled. */
bool fp_st_v8_create(struct fp_st_dump *dump) FP_MUST_CHECK;

/* Sets dump->v8 to a copy of another dump's state, which this one continues. False after the error
 * is filled. */
bool fp_st_v8_resume(struct fp_st_dump *dump, const struct fp_st_v8 *before) FP_MUST_CHECK;

/* Returns a copy of the state in another arena, for fp_st_v8_resume alone. NULL if that is full. */
struct fp_st_v8 *fp_st_v8_copy(const struct fp_st_v8 *log, struct fp_arena *arena) FP_MUST_CHECK;

/* Gives back the memory that is not the arena's. log may be NULL. */
void fp_st_v8_release(struct fp_st_v8 *log);

/* Reads the text of one profile. Its samples get the given time: the log has no times. False after
 * the error is filled. */
bool fp_st_v8_read(struct fp_st_dump *dump, struct fp_str text, int64_t time_us) FP_MUST_CHECK;

/* Returns the ticks of all profiles; its runs are those of the last one. */
const struct fp_st_v8_ticks *fp_st_v8_ticks_of(const struct fp_st_v8 *log);

#endif
