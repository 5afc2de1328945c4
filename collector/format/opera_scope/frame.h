/*
 * Opera Scope, frame: a message of the service with what the transport says about it.
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

/* The second form says which way a frame went. */
enum fp_scope_kind {
    FP_SCOPE_KIND_UNKNOWN,
    FP_SCOPE_KIND_REQUEST,
    FP_SCOPE_KIND_REPLY,
    FP_SCOPE_KIND_EVENT,
    FP_SCOPE_KIND_ERROR,
    FP_SCOPE_KIND_COUNT
};

struct fp_scope_frame {
    bool is_of_service; /* else nothing more is known */
    bool is_json;       /* of the second form: its message */
    enum fp_scope_kind kind;
    uint32_t command;
    uint32_t status; /* 0: OK, which an error never has */
    uint32_t tag;    /* 0 when it was cut off */
    yyjson_val *message;
    struct fp_place place; /* of the message in the line's JSON */
    struct fp_json json;   /* owned; doc NULL: none */
};

/* What stands behind a byte order mark and spaces. */
struct fp_str fp_scope_skip_space(struct fp_str text);

/*
 * Reads a line that is not empty. *frame is to be released, whatever comes of it. An error's offset
 * is one into the line.
 */
bool fp_scope_frame_read(struct fp_decoder *decoder, struct fp_str line,
                         struct fp_scope_frame *frame) FP_MUST_CHECK;

void fp_scope_frame_release(struct fp_scope_frame *frame);

#endif
