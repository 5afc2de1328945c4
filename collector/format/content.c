/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content: appends texts and values.
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

bool fp_content_finish(struct fp_decoder *decoder)
{
    struct fp_buf *content = decoder->content;
    if (content == NULL || (content->len == 0 && !content->failed))
        return true;
    decoder->profile->has_session = true;
    return (!content->failed &&
            fp_buf_give(content, decoder->arena, &decoder->profile->session.content)) ||
           fp_fail_memory(decoder);
}
