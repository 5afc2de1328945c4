/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: documents whose memory ends the process when it is out.
 */
#include "cli/export/json.h"

#include "cli/kit/memory.h"
#include "cli/kit/terminal.h"
#include "collector/base/assert.h"

#include <stdlib.h>

static void *take(void *context, size_t size)
{
    (void)context;
    return fp_memory_need(malloc(size));
}

static void *enlarge(void *context, void *old, size_t old_size, size_t size)
{
    (void)context;
    (void)old_size;
    return fp_memory_need(realloc(old, size));
}

static void drop(void *context, void *old)
{
    (void)context;
    free(old);
}

static const yyjson_alc memory = {.malloc = take, .realloc = enlarge, .free = drop};

yyjson_mut_doc *fp_export_json_begin(void)
{
    return yyjson_mut_doc_new(&memory);
}

void fp_export_json_end(yyjson_mut_doc *doc, yyjson_mut_val *root, FILE *out)
{
    yyjson_mut_doc_set_root(doc, root);
    size_t len;
    char *text = yyjson_mut_write_opts(doc, YYJSON_WRITE_NOFLAG, &memory, &len, NULL);
    FP_ASSERT(text != NULL); /* texts are valid, and numbers finite */
    yyjson_mut_doc_free(doc);
    fp_terminal_write_json(out, (struct fp_str){text, len});
    (void)fputc('\n', out);
    free(text);
}

yyjson_mut_val *fp_export_json_text(yyjson_mut_doc *doc, struct fp_str text)
{
    return yyjson_mut_strn(doc, text.len > 0 ? text.ptr : "", text.len);
}

yyjson_mut_val *fp_export_json_ms(yyjson_mut_doc *doc, int64_t time_us)
{
    return yyjson_mut_real(doc, (double)time_us / 1000);
}

void fp_export_json_fill(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, size_t count,
                         int64_t value)
{
    yyjson_mut_val *array = yyjson_mut_obj_add_arr(doc, object, key);
    for (size_t i = 0; i < count; i++)
        yyjson_mut_arr_add_sint(doc, array, value);
}

void fp_export_json_nulls(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                          size_t count)
{
    yyjson_mut_val *array = yyjson_mut_obj_add_arr(doc, object, key);
    for (size_t i = 0; i < count; i++)
        yyjson_mut_arr_add_null(doc, array);
}
