/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Session content: zstd, as fleetprof.session_content gives it.
 */
#include "cli/ask/session_content.h"

#include "cli/kit/memory.h"
#include "cli/kit/message.h"

#include <stdlib.h>
#include <zstd.h>

static char *unpack(const unsigned char *packed, size_t packed_len, size_t len)
{
    char *content = fp_memory_need(malloc(len > 0 ? len : 1));
    size_t unpacked = ZSTD_decompress(content, len, packed, packed_len);
    if (unpacked == len)
        return content;
    fp_message_error("the stored session is damaged: %s",
                     ZSTD_isError(unpacked) ? ZSTD_getErrorName(unpacked) : "it is too short");
    free(content);
    return NULL;
}

char *fp_session_content_read(PGconn *connection, const char *session_id, size_t *len)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select content_bytes, content from fleetprof.session_content(");
    fp_sql_value(&query, "bigint", session_id);
    fp_sql_add(&query, ")");
    PGresult *answer = fp_sql_run(connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return NULL;
    size_t packed_len;
    unsigned char *packed =
        PQunescapeBytea((const unsigned char *)PQgetvalue(answer, 0, 1), &packed_len);
    (void)fp_memory_need(packed);
    *len = strtoul(PQgetvalue(answer, 0, 0), NULL, 10);
    char *content = unpack(packed, packed_len, *len);
    PQfreemem(packed);
    PQclear(answer);
    return content;
}
