/*
 * Speed Tracer, ticks: from the ticks of a V8 profile to frames, stacks and samples.
 */
#ifndef FP_FORMAT_SPEED_TRACER_V8_TICKS_H
#define FP_FORMAT_SPEED_TRACER_V8_TICKS_H

#include "collector/format/speed_tracer/dump.h"

struct fp_st_code;

/* What the profile's arrays hold already, and their capacities. */
struct fp_st_v8_ticks {
    struct fp_map frame_ids; /* hash of function, resource and line -> index */
    struct fp_map stack_ids; /* parent and frame -> index */
    uint32_t frame_cap;
    uint32_t stack_cap;
    uint32_t sample_cap;
    uint32_t weight_cap;
};

/* A tick: the engine's stack at one moment. */
struct fp_st_v8_tick {
    struct fp_st_code *const *codes; /* the known part of the stack, innermost first */
    size_t code_count;
    bool is_gc;
    int64_t time_us;
    int64_t weight_us;
};

/* Adds a sample. False after the error is filled. */
bool fp_st_v8_ticks_add(struct fp_st_dump *dump, struct fp_st_v8_ticks *ticks,
                        const struct fp_st_v8_tick *tick) FP_MUST_CHECK;

#endif
