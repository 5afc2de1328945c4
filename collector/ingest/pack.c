/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep: compresses.
 */
#include "collector/ingest/pack.h"

#include "collector/profile/scrub/json.h"

#include <zstd.h>

enum { LEVEL = 3 };

static bool pack(struct fp_session *session, struct fp_str content, struct fp_arena *arena)
{
    size_t room = ZSTD_compressBound(content.len);
    char *packed = fp_arena_alloc(arena, room);
    if (packed == NULL)
        return false;
    size_t len = ZSTD_compress(packed, room, content.ptr, content.len, LEVEL);
    session->content = (struct fp_str){packed, len};
    session->content_len = (uint32_t)content.len; /* at most about limits.max_inflated, 1 GiB */
    return !ZSTD_isError(len);
}

bool fp_keep_pack(struct fp_delta *delta, struct fp_str raw, struct fp_arena *arena)
{
    struct fp_session *session = delta->session;
    if (session == NULL)
        return true;
    session->is_raw = raw.ptr != NULL;
    if (!session->is_raw)
        return pack(session, session->content, arena);
    struct fp_buf content;
    fp_buf_init(&content, arena->max_bytes);
    fp_scrub_json_secrets(raw, &content);
    bool packed = !content.failed &&
                  pack(session, (struct fp_str){(const char *)content.data, content.len}, arena);
    fp_buf_release(&content);
    return packed;
}
