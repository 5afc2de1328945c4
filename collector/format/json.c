/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: parses with yyjson under the arena's maximum, and explains its errors to a web developer.
 *
 * yyjson's document is up to thirteen times as large as the body. It is on the heap, where it can
 * grow in place and can be freed before the fold, but counts as the arena's until then.
 */
#include "collector/format/json.h"

#include "collector/base/assert.h"
#include "collector/base/quoted.h"
#include "collector/format/decoder.h"
#include "collector/format/utf8.h"

#include <stdalign.h>

/* Precedes each block that yyjson gets: its free() does not pass the length. */
union block_header {
    size_t len; /* of the block with its header */
    max_align_t alignment;
};

static bool charge(struct fp_arena *arena, size_t len)
{
    if (len > arena->max_bytes - arena->used_bytes) {
        arena->full = true;
        return false;
    }
    arena->used_bytes += len;
    return true;
}

static void *charged_resize(struct fp_arena *arena, union block_header *old, size_t size)
{
    size_t old_len = old != NULL ? old->len : 0;
    if (size > SIZE_MAX - sizeof(*old))
        return NULL;
    size_t len = sizeof(*old) + size;
    if (len > old_len && !charge(arena, len - old_len))
        return NULL;
    union block_header *block = realloc(old, len);
    if (block == NULL) {
        if (len > old_len)
            arena->used_bytes -= len - old_len;
        return NULL;
    }
    if (len < old_len)
        arena->used_bytes -= old_len - len;
    block->len = len;
    return block + 1;
}

static void *charged_malloc(void *arena, size_t size)
{
    return charged_resize(arena, NULL, size);
}

static void *charged_realloc(void *arena, void *bytes, size_t old_size, size_t size)
{
    (void)old_size;
    return charged_resize(arena, (union block_header *)bytes - 1, size);
}

static void charged_free(void *context, void *bytes)
{
    struct fp_arena *arena = context;
    if (bytes == NULL)
        return;
    union block_header *block = (union block_header *)bytes - 1;
    FP_ASSERT(arena->used_bytes >= block->len);
    arena->used_bytes -= block->len;
    free(block);
}

static yyjson_doc *read_document(struct fp_str body, struct fp_arena *arena, yyjson_read_err *why)
{
    const yyjson_alc allocator = {charged_malloc, charged_realloc, charged_free, arena};
    /* Without the in-place flag yyjson copies the bytes and leaves them as they are. */
    char *bytes = (char *)(uintptr_t)body.ptr;
    return yyjson_read_opts(bytes, body.len, YYJSON_READ_NOFLAG, &allocator, why);
}

/* Parses a body with unpaired surrogates, which yyjson refuses with any flags. Pages send them in
 * truncated texts. */
static yyjson_doc *read_with_paired_escapes(struct fp_str body, struct fp_arena *arena,
                                            yyjson_read_err *why)
{
    char *copy = charged_malloc(arena, body.len);
    if (copy == NULL) {
        why->code = YYJSON_READ_ERROR_MEMORY_ALLOCATION;
        return NULL;
    }
    memcpy(copy, body.ptr, body.len);
    yyjson_doc *doc = NULL;
    if (fp_utf8_pair_escapes(copy, body.len))
        doc = read_document((struct fp_str){copy, body.len}, arena, why);
    charged_free(arena, copy);
    return doc;
}

static const char *explain_string(struct fp_str body, size_t offset)
{
    unsigned char byte = offset < body.len ? (unsigned char)body.ptr[offset] : 0;
    if (byte >= 0x80)
        return "the text here is not valid UTF-8";
    if (byte < 0x20)
        return "a control character inside a string must be written as an escape";
    return "the escape in this string is not one that JSON knows";
}

/* True for a byte order mark of UTF-16, which some shells write when they redirect to a file. */
static bool is_utf16(struct fp_str body)
{
    return body.len >= 2 &&
           (memcmp(body.ptr, "\xff\xfe", 2) == 0 || memcmp(body.ptr, "\xfe\xff", 2) == 0);
}

static const char *explain(struct fp_str body, const yyjson_read_err *why)
{
    const struct {
        yyjson_read_code code;
        const char *sentence;
    } sentences[] = {
        /* yyjson calls no bytes at all an invalid parameter. */
        {YYJSON_READ_ERROR_INVALID_PARAMETER, "the body is empty"},
        {YYJSON_READ_ERROR_EMPTY_CONTENT, "the body is empty"},
        {YYJSON_READ_ERROR_UNEXPECTED_CONTENT,
         "there is more after the end of the JSON value; one body holds one value"},
        {YYJSON_READ_ERROR_UNEXPECTED_END, "it ends too early, as if the upload was truncated"},
        {YYJSON_READ_ERROR_INVALID_NUMBER,
         "this is not a number that JSON allows, or beyond what a double holds"},
        {YYJSON_READ_ERROR_INVALID_STRING, explain_string(body, why->pos)},
        {YYJSON_READ_ERROR_LITERAL, "this is none of the words true, false and null"},
    };
    for (size_t i = 0; i < FP_COUNT(sentences); i++)
        if (sentences[i].code == why->code)
            return sentences[i].sentence;
    return is_utf16(body) ? "this is UTF-16; JSON is UTF-8" : "this character is not allowed here";
}

static enum fp_verdict malformed(struct fp_str body, const yyjson_read_err *why,
                                 struct fp_upload_error *error)
{
    if (why->code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return fp_upload_fail_memory(error);
    fp_upload_fail(error, FP_VERDICT_MALFORMED, "not JSON: %s", explain(body, why));
    error->offset = (int64_t)why->pos;
    return error->verdict;
}

/* True if a container has only scalars and empty containers: nothing else is between it and the
 * next value. */
static bool holds_only_leaves(yyjson_val *container, const yyjson_val *next)
{
    size_t len = unsafe_yyjson_get_len(container);
    size_t values = unsafe_yyjson_is_arr(container) ? len : len * 2;
    return (size_t)(next - container) == 1 + values;
}

/*
 * True if at most max_depth containers are open at once. Walks the document, whose values are
 * contiguous in memory, with a stack of the open containers' ends. Pops ended containers only where
 * another begins. Most containers hold no other and are skipped.
 */
static bool within_depth(yyjson_val *root, uint32_t max_depth)
{
    const yyjson_val *ends[FP_JSON_DEPTH_MAX];
    uint32_t depth = 0;
    const yyjson_val *end = unsafe_yyjson_get_next(root);
    for (yyjson_val *value = root; value < end;) {
        if (!unsafe_yyjson_is_ctn(value)) {
            value++;
            continue;
        }
        while (depth > 0 && ends[depth - 1] <= value)
            depth--;
        if (depth == max_depth || depth == FP_JSON_DEPTH_MAX)
            return false;
        yyjson_val *next = unsafe_yyjson_get_next(value);
        if (depth + 1 < max_depth && holds_only_leaves(value, next)) {
            value = next;
        } else {
            ends[depth++] = next;
            value++;
        }
    }
    return true;
}

/* Returns where the JSON opens one container too many. */
static size_t find_depth(struct fp_str json, uint32_t max_depth)
{
    uint32_t depth = 0;
    for (size_t at = 0; at < json.len;) {
        const char c = json.ptr[at];
        if ((c == '{' || c == '[') && depth++ == max_depth)
            return at;
        depth -= c == '}' || c == ']';
        at = c == '"' ? fp_quoted_end(json.ptr, at, json.len) : at + 1;
    }
    return json.len;
}

enum fp_verdict fp_json_parse(struct fp_str body, uint32_t max_depth, struct fp_arena *arena,
                              struct fp_json *json, struct fp_upload_error *error)
{
    const struct fp_str mark = FP_JSON_BYTE_ORDER_MARK;
    const bool is_marked = fp_str_has_prefix(body, mark);
    const size_t skipped = is_marked ? mark.len : 0;
    /* An empty body may be NULL; it must not be the base of a sum. */
    const struct fp_str text = is_marked ? fp_str_skip(body, skipped) : body;

    yyjson_read_err why = {0};
    yyjson_doc *doc = read_document(text, arena, &why);
    if (doc == NULL && why.code == YYJSON_READ_ERROR_INVALID_STRING)
        doc = read_with_paired_escapes(text, arena, &why);
    if (doc == NULL) {
        why.pos += skipped;
        return malformed(body, &why, error);
    }
    *json = (struct fp_json){doc, yyjson_doc_get_root(doc), arena};
    if (within_depth(json->root, max_depth))
        return FP_VERDICT_OK;
    fp_json_release(json);
    fp_upload_fail(error, FP_VERDICT_TOO_LARGE,
                   "the JSON is nested deeper than %u levels (limits.json_depth)",
                   (unsigned)max_depth);
    error->offset =
        (int64_t)(skipped +
                  find_depth(text, max_depth < FP_JSON_DEPTH_MAX ? max_depth : FP_JSON_DEPTH_MAX));
    return error->verdict;
}

void fp_json_release(struct fp_json *json)
{
    yyjson_doc_free(json->doc);
    json->doc = NULL;
    json->root = NULL;
}

yyjson_val *fp_json_member(yyjson_val *object, struct fp_str name)
{
    yyjson_val *found = NULL;
    size_t i;
    size_t count;
    yyjson_val *key;
    yyjson_val *value;
    if (!yyjson_is_obj(object))
        return NULL;
    yyjson_obj_foreach(object, i, count, key, value)
    {
        if (unsafe_yyjson_equals_strn(key, name.ptr, name.len))
            found = value;
    }
    return yyjson_is_null(found) ? NULL : found;
}
