/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, frame: a message of the service with its transport header.
 *
 * Two forms, both with messages in JSON:
 *
 *   ["profiler",COMMAND,STATUS,TAG,MESSAGE]
 *   STP/1 LENGTH ["profiler",KIND,COMMAND,FORMAT,TAG,STATUS]MESSAGE   (LENGTH: of the list)
 */
#ifndef FP_FORMAT_OPERA_SCOPE_FRAME_H
#define FP_FORMAT_OPERA_SCOPE_FRAME_H

#include "collector/format/decoder.h"
#include "collector/format/json.h"

/* The kind of a frame, which only the second form has. */
enum fp_scope_kind {
    FP_SCOPE_KIND_UNKNOWN,
    FP_SCOPE_KIND_REQUEST,
    FP_SCOPE_KIND_REPLY,
    FP_SCOPE_KIND_EVENT,
    FP_SCOPE_KIND_ERROR,
    FP_SCOPE_KIND_COUNT
};

struct fp_scope_frame {
    bool is_of_service; /* false: a frame of another service; nothing else is set */
    bool is_json;       /* the message, in the second form */
    enum fp_scope_kind kind;
    uint32_t command;
    uint32_t status; /* 0: OK; never 0 for an error */
    uint32_t tag;    /* 0 if the list ends before it */
    yyjson_val *message;
    struct fp_place place; /* of the message in the line's JSON */
    struct fp_json json;   /* owned; doc NULL: none */
};

/* Returns the text after a byte order mark and white space. */
struct fp_str fp_scope_skip_space(struct fp_str text);

/*
 * Reads a line that is not empty. The caller releases *frame even if this fails. An error's offset
 * is one into the line.
 */
bool fp_scope_frame_read(struct fp_decoder *decoder, struct fp_str line,
                         struct fp_scope_frame *frame) FP_MUST_CHECK;

void fp_scope_frame_release(struct fp_scope_frame *frame);

#endif
