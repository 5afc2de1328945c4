/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copy: rows on their way to a table, in pieces.
 */
#include "collector/store/copy_binary.h"
#include "collector/store/store_internal.h"

enum { PUT_BYTES = 64 * 1024 };

static enum fp_store_result put_rows(struct fp_store *store)
{
    if (store->rows.failed)
        return FP_STORE_MEMORY;
    enum fp_store_result result = fp_pg_put(&store->connection, store->rows.data, store->rows.len);
    fp_buf_clear(&store->rows);
    return result;
}

enum fp_store_result fp_store_copy_begin(struct fp_store *store)
{
    const char *statement = fp_store_sql(store);
    fp_buf_clear(&store->rows);
    fp_copy_begin(&store->rows);
    return statement != NULL ? fp_pg_copy(&store->connection, statement) : FP_STORE_MEMORY;
}

enum fp_store_result fp_store_copy_more(struct fp_store *store)
{
    return store->rows.len >= PUT_BYTES || store->rows.failed ? put_rows(store) : FP_STORE_OK;
}

enum fp_store_result fp_store_copy_end(struct fp_store *store)
{
    fp_copy_end(&store->rows);
    enum fp_store_result result = put_rows(store);
    return result == FP_STORE_OK ? fp_pg_copy_end(&store->connection) : result;
}
