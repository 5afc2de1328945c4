/*
 * Content: values become text.
 */
#include "collector/format/content.h"

#include <stdlib.h>

void fp_content_add(struct fp_decoder *decoder, struct fp_str text)
{
    if (decoder->content != NULL)
        fp_buf_add(decoder->content, text.ptr, text.len);
}

void fp_content_add_value(struct fp_decoder *decoder, yyjson_val *value)
{
    if (decoder->content == NULL || decoder->content->failed)
        return;
    size_t len;
    yyjson_write_err why;
    char *text = yyjson_val_write_opts(value, YYJSON_WRITE_NOFLAG, NULL, &len, &why);
    if (text != NULL)
        fp_buf_add(decoder->content, text, len);
    else
        decoder->content->failed = true;
    free(text);
}

static bool is_named(struct fp_str name, const struct fp_str *names, size_t name_count)
{
    for (size_t i = 0; i < name_count; i++)
        if (fp_str_equal(name, names[i]))
            return true;
    return false;
}

void fp_content_add_members(struct fp_decoder *decoder, yyjson_val *object,
                            const struct fp_str *names, size_t name_count)
{
    struct fp_str before = FP_STR("{");
    yyjson_obj_iter members = yyjson_obj_iter_with(object);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&members)) != NULL) {
        if (!is_named((struct fp_str){yyjson_get_str(key), yyjson_get_len(key)}, names, name_count))
            continue;
        fp_content_add(decoder, before);
        fp_content_add_value(decoder, key);
        fp_content_add(decoder, FP_STR(":"));
        fp_content_add_value(decoder, yyjson_obj_iter_get_val(key));
        before = FP_STR(",");
    }
    fp_content_add(decoder, before.ptr[0] == '{' ? FP_STR("{}") : FP_STR("}"));
}

bool fp_content_finish(struct fp_decoder *decoder)
{
    struct fp_buf *content = decoder->content;
    if (content == NULL || (content->len == 0 && !content->failed))
        return true;
    decoder->profile->has_session = true;
    return (!content->failed &&
            fp_arena_copy(decoder->arena, (struct fp_str){(char *)content->data, content->len},
                          &decoder->profile->session.content)) ||
           fp_fail_memory(decoder);
}
