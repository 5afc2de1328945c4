/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content type: parses media type and parameters as in RFC 9110, section 8.3.1.
 */
#include "collector/http/content_type.h"

#include "collector/base/ascii.h"
#include "collector/ingest/multipart.h"

/* Removes and returns the text before the next separator; quoted separators do not count. */
static struct fp_str take_until(struct fp_str *rest, char separator)
{
    bool quoted = false;
    size_t i = 0;
    for (; i < rest->len && (quoted || rest->ptr[i] != separator); i++) {
        if (rest->ptr[i] == '"')
            quoted = !quoted;
    }
    struct fp_str taken = {rest->ptr, i};
    size_t skipped = i < rest->len ? i + 1 : i;
    *rest = (struct fp_str){rest->ptr + skipped, rest->len - skipped};
    return fp_str_trim(taken);
}

static bool find_boundary(struct fp_str parameters, struct fp_str *boundary)
{
    while (parameters.len > 0) {
        struct fp_str value = take_until(&parameters, ';');
        struct fp_str name = take_until(&value, '=');
        if (!fp_str_equal_nocase(name, FP_STR("boundary")))
            continue;
        value = fp_str_trim(value);
        if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"')
            value = (struct fp_str){value.ptr + 1, value.len - 2};
        *boundary = value;
        return fp_multipart_boundary_ok(value);
    }
    return false;
}

enum fp_content_type fp_content_type_read(struct fp_str header, struct fp_str *boundary)
{
    static const struct fp_str plain[] = {
        {"application/json", 16},         {"text/plain", 10},
        {"application/octet-stream", 24}, {"application/x-ndjson", 20},
        {"application/reports+json", 24},
    };
    struct fp_str type = take_until(&header, ';');
    if (type.len == 0)
        return FP_CONTENT_PLAIN;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        if (fp_str_equal_nocase(type, plain[i]))
            return FP_CONTENT_PLAIN;
    }
    if (!fp_str_equal_nocase(type, FP_STR("multipart/form-data")))
        return FP_CONTENT_UNSUPPORTED;
    return find_boundary(header, boundary) ? FP_CONTENT_MULTIPART : FP_CONTENT_MULTIPART_BROKEN;
}
