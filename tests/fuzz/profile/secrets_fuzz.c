/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: any bytes as a document that is kept as received. JSON stays JSON, without the values of
 * members that carry secrets.
 */
#include "collector/base/buf.h"
#include "collector/profile/scrub/json.h"
#include "tests/fuzz/check.h"

#include <strings.h>
#include <yyjson.h>

enum { OUT_MAX = 16 * 1024 * 1024 };

static bool is_secret(yyjson_val *name)
{
    static const char *const names[] = {"cookie", "set-cookie", "authorization"};
    for (size_t i = 0; i < FP_COUNT(names); i++)
        if (yyjson_get_len(name) == strlen(names[i]) &&
            strncasecmp(yyjson_get_str(name), names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* A document's values are stored one after the other, a member's name before its value. */
static void check_members(yyjson_val *container)
{
    size_t at;
    size_t count;
    yyjson_val *name;
    yyjson_val *value;
    yyjson_obj_foreach(container, at, count, name, value)
    {
        /* A list of numbers may stay: the times of marks with that name. */
        check(!is_secret(name) || yyjson_equals_str(value, "(removed)") ||
              yyjson_is_num(yyjson_arr_get_first(value)));
        check_members(value);
    }
    yyjson_arr_foreach(container, at, count, value)
    {
        check_members(value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct fp_buf out;
    fp_buf_init(&out, OUT_MAX);
    fp_scrub_json_secrets((struct fp_str){(const char *)bytes, len}, &out);
    check(!out.failed);
    yyjson_doc *before = yyjson_read((const char *)bytes, len, 0);
    if (before != NULL) {
        yyjson_doc *after = yyjson_read((const char *)out.data, out.len, 0);
        check(after != NULL);
        check_members(yyjson_doc_get_root(after));
        yyjson_doc_free(after);
    }
    yyjson_doc_free(before);
    fp_buf_release(&out);
    return 0;
}
