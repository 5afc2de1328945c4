/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, ticks: from the ticks of a V8 profile to frames, stacks and samples.
 */
#ifndef FP_FORMAT_SPEED_TRACER_V8_TICKS_H
#define FP_FORMAT_SPEED_TRACER_V8_TICKS_H

#include "collector/format/speed_tracer/dump.h"

struct fp_st_code;

/* Ticks in a row with one stack and state. */
struct fp_st_v8_run {
    uint32_t stack; /* index, FP_INDEX_NONE: unknown code */
    uint32_t state;
    uint32_t ticks;
};

/* The current contents of the profile's arrays, and their capacities. */
struct fp_st_v8_ticks {
    struct fp_map frame_ids; /* hash of function, resource and line -> index */
    struct fp_map stack_ids; /* parent and frame -> index */
    uint32_t frame_cap;
    uint32_t stack_cap;
    uint32_t sample_cap;
    uint32_t weight_cap;
    struct fp_st_v8_run *runs; /* of the V8 profile that is read */
    uint32_t run_count;
    uint32_t run_cap;
    uint32_t first_frame; /* of those that this V8 profile added, like the next field */
    uint32_t first_stack;
};

/* A tick: the engine's stack at one moment. */
struct fp_st_v8_tick {
    struct fp_st_code *const *codes; /* the known part of the stack, innermost first */
    size_t code_count;
    uint32_t state; /* of the engine; below FP_ST_VM_STATES */
    int64_t time_us;
    int64_t weight_us;
};

/* Begins the list of runs for the next V8 profile of the dump. */
void fp_st_v8_ticks_begin(const struct fp_st_dump *dump, struct fp_st_v8_ticks *ticks);

/* Adds a sample, and counts it in the runs. False after the error is filled. */
bool fp_st_v8_ticks_add(struct fp_st_dump *dump, struct fp_st_v8_ticks *ticks,
                        const struct fp_st_v8_tick *tick) FP_MUST_CHECK;

#endif
