/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: parses a body into a document whose memory is charged to the upload's arena.
 *
 * RFC 8259 with two exceptions: a leading byte order mark is skipped, and the escape of an unpaired
 * surrogate means U+FFFD.
 */
#ifndef FP_FORMAT_JSON_H
#define FP_FORMAT_JSON_H

#include "collector/base/arena.h"
#include "collector/base/ascii.h"
#include "collector/base/upload_error.h"

#include <yyjson.h>

/* U+FEFF, which some tools put before JSON. */
#define FP_JSON_BYTE_ORDER_MARK FP_STR("\xEF\xBB\xBF")

/* The deepest nesting of any document, whatever limits.json_depth says. */
enum { FP_JSON_DEPTH_MAX = 1024 };

struct fp_json {
    yyjson_doc *doc; /* owned */
    yyjson_val *root;
    struct fp_arena *arena; /* the document's memory is charged to it */
};

/*
 * Parses a body, which stays unchanged. On failure *error says where and why, and there is nothing
 * to release. The document's texts are valid until fp_json_release. Any thread.
 */
enum fp_verdict fp_json_parse(struct fp_str body, uint32_t max_depth, struct fp_arena *arena,
                              struct fp_json *json, struct fp_upload_error *error) FP_MUST_CHECK;

/* Frees the document and credits its memory to the arena. */
void fp_json_release(struct fp_json *json);

/* True for the white space of JSON (RFC 8259 section 2). */
static inline bool fp_json_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Returns the text of a string, "" for any other value (yyjson also has a length for objects and
 * arrays). */
static inline struct fp_str fp_json_text(yyjson_val *value)
{
    if (!yyjson_is_str(value))
        return (struct fp_str){NULL, 0};
    return (struct fp_str){yyjson_get_str(value), yyjson_get_len(value)};
}

/* Returns the member of a name, the last of several. NULL if there is none, it is null, or the
 * value is not an object. */
yyjson_val *fp_json_member(yyjson_val *object, struct fp_str name);

#endif
