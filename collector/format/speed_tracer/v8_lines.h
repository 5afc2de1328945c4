/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, V8 lines: the lines of the engine's log before it compressed them.
 */
#ifndef FP_FORMAT_SPEED_TRACER_V8_LINES_H
#define FP_FORMAT_SPEED_TRACER_V8_LINES_H

#include "collector/base/base.h"

enum { FP_ST_V8_LINE_MAX = 2048 /* the engine's own buffer */, FP_ST_V8_WINDOW_MAX = 16 };

struct fp_st_v8_line {
    char text[FP_ST_V8_LINE_MAX];
    size_t len;
};

/* The last lines. A back reference `#k` or `#k:c` at a line's end stands for the line k above, from
 * its byte c on. */
struct fp_st_v8_window {
    struct fp_st_v8_line lines[FP_ST_V8_WINDOW_MAX];
    uint32_t count; /* of all lines so far */
    uint32_t size;  /* the farthest back reference; 0: no compression */
};

/* Copies a line with its back reference resolved. False if it is too long or the reference is
 * invalid. */
bool fp_st_v8_window_expand(const struct fp_st_v8_window *window, struct fp_str text,
                            struct fp_st_v8_line *line) FP_MUST_CHECK;

/* Adds a line of at most FP_ST_V8_LINE_MAX bytes, without its `repeat,n,`. */
void fp_st_v8_window_add(struct fp_st_v8_window *window, struct fp_str text);

#endif
