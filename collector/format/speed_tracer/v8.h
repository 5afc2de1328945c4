/*
 * Speed Tracer, V8 profiles: the log of the engine's profiler, spread over the records of a dump,
 * becomes frames, stacks and samples. Not thread-safe.
 */
#ifndef FP_FORMAT_SPEED_TRACER_V8_H
#define FP_FORMAT_SPEED_TRACER_V8_H

#include "collector/format/speed_tracer/dump.h"

/* Makes the state that runs through all profiles of a dump. False when memory is out. */
bool fp_v8_log_create(struct fp_speed_tracer_dump *dump) FP_MUST_CHECK;

/* Gives back what is not the arena's. */
void fp_v8_log_release(struct fp_v8_log *log);

/* Reads the text of one profile. The samples in it get the given time: the log has none. */
bool fp_v8_log_read(struct fp_speed_tracer_dump *dump, struct fp_str text,
                    int64_t time_us) FP_MUST_CHECK;

/* speed_tracer_v8_lines.c: lines as they were before the engine compressed them. */

enum { FP_V8_LINE_MAX = 2048 /* the engine's own buffer */, FP_V8_WINDOW_MAX = 16 };

struct fp_v8_line {
    char text[FP_V8_LINE_MAX];
    size_t len;
};

/* The last lines; a back reference `#k` or `#k:c` at a line's end stands for the line k above, from
 * its byte c on. */
struct fp_v8_window {
    struct fp_v8_line lines[FP_V8_WINDOW_MAX];
    uint32_t count; /* of all lines so far */
    uint32_t size;  /* how far back references may go; 0: no compression */
};

/* The line with its back reference resolved. False when it is too long or refers to nothing. */
bool fp_v8_window_expand(const struct fp_v8_window *window, struct fp_str text,
                         struct fp_v8_line *line) FP_MUST_CHECK;

/* Remembers a line (at most FP_V8_LINE_MAX bytes), without its `repeat,n,`. */
void fp_v8_window_add(struct fp_v8_window *window, struct fp_str text);

/* speed_tracer_ticks.c: samples. */

struct fp_code;

/* Where the profile's arrays grow, and what is in them already. */
struct fp_v8_ticks {
    struct fp_map frame_ids; /* hash of function, resource and line -> index */
    struct fp_map stack_ids; /* parent and frame -> index */
    uint32_t frame_cap;
    uint32_t stack_cap;
    uint32_t sample_cap;
    uint32_t weight_cap;
};

/* A tick: where the engine was, and how it came there. */
struct fp_v8_tick {
    struct fp_code *const *codes; /* what is known of the stack, innermost first */
    size_t code_count;
    bool is_gc;
    int64_t time_us;
    int64_t weight_us;
};

/* Adds a sample. False when a limit is reached or memory is out. */
bool fp_v8_ticks_add(struct fp_speed_tracer_dump *dump, struct fp_v8_ticks *ticks,
                     const struct fp_v8_tick *tick) FP_MUST_CHECK;

#endif
