/*
 * JSON: a body becomes a document in memory that is charged to the upload's arena.
 *
 * RFC 8259 without extensions, but that a leading byte order mark is skipped and the escape of an
 * unpaired surrogate means U+FFFD.
 */
#ifndef FP_FORMAT_JSON_H
#define FP_FORMAT_JSON_H

#include "collector/base/arena.h"
#include "collector/base/ascii.h"
#include "collector/base/upload_error.h"

#include <yyjson.h>

/* The deepest nesting of any document, whatever limits.json_depth says. */
enum { FP_JSON_DEPTH_MAX = 1024 };

struct fp_json {
    yyjson_doc *doc; /* owned */
    yyjson_val *root;
    struct fp_arena *arena; /* what the document's memory is charged to while it lives */
};

/*
 * Parses. On failure *error says where and why and there is nothing to release; body is not
 * changed. Texts of the document live until fp_json_release. Any thread.
 */
enum fp_verdict fp_json_parse(struct fp_str body, uint32_t max_depth, struct fp_arena *arena,
                              struct fp_json *json, struct fp_upload_error *error) FP_MUST_CHECK;

/* Gives the document's memory back and takes it off the arena's account. */
void fp_json_release(struct fp_json *json);

/* True for the white space of JSON (RFC 8259 section 2). */
static inline bool fp_json_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The text of a string, "" for anything else (of an object or array yyjson gives a length, too). */
static inline struct fp_str fp_json_text(yyjson_val *value)
{
    if (!yyjson_is_str(value))
        return (struct fp_str){NULL, 0};
    return (struct fp_str){yyjson_get_str(value), yyjson_get_len(value)};
}

/* The member of that name, of several the last; NULL when there is none, it is null, or the value
 * no object. */
yyjson_val *fp_json_member(yyjson_val *object, struct fp_str name);

#endif
