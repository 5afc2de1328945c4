/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transaction: what a session must be like is said in each transaction, and ends with it. A pooler
 * in transaction mode gives each transaction a session that others also use.
 */
#include "collector/base/uuid.h"
#include "collector/store/store_internal.h"

enum { TRANSACTION_TIMEOUT_SINCE = 170000 };

/*
 * lock_timeout is longer than dropping partitions may take. If a client vanishes, the server itself
 * cancels its statement, which frees the locks for the next try.
 *
 * The settings of Citus have no effect without it. Its deadlock prevention would let one flush at a
 * time claim upload ids. Instead each flush claims them shard by shard, in one order.
 */
static const char begin_sql[] = "begin isolation level read committed;"
                                "set local search_path = pg_catalog, pg_temp;"
                                "set local synchronous_commit = on;"
                                "set local timezone = 'UTC';"
                                "set local datestyle = 'ISO';"
                                "set local jit = off;"
                                "set local statement_timeout = '60s';"
                                "set local lock_timeout = '30s';"
                                "set local idle_in_transaction_session_timeout = '60s';"
                                "set local client_connection_check_interval = '1s';"
                                "set local citus.enable_deadlock_prevention = off;"
                                "set local citus.multi_shard_modify_mode = 'sequential'";

enum fp_store_result fp_store_read_server(struct fp_store *store)
{
    const struct fp_pg_query query = {
        .statement = "select from pg_catalog.pg_settings"
                     " where name = 'default_toast_compression' and 'lz4' = any (enumvals)",
    };
    PGresult *rows;
    enum fp_store_result result = fp_pg_query(&store->connection, &query, &rows);
    if (result != FP_STORE_OK)
        return result;
    fp_buf_clear(&store->begin);
    fp_buf_addf(&store->begin, "%s", begin_sql);
    if (PQntuples(rows) > 0)
        fp_buf_addf(&store->begin, ";set local default_toast_compression = 'lz4'");
    if (PQserverVersion(store->connection.pg) >= TRANSACTION_TIMEOUT_SINCE)
        fp_buf_addf(&store->begin, ";set local transaction_timeout = 0");
    fp_buf_add(&store->begin, "", 1);
    PQclear(rows);
    return store->begin.failed ? FP_STORE_MEMORY : FP_STORE_OK;
}

enum fp_store_result fp_store_begin(struct fp_store *store)
{
    /* There is nothing in it before a connection. */
    if (store->connection.pg == NULL)
        return FP_STORE_DOWN;
    if (fp_pg_drop_cut(&store->connection))
        return FP_STORE_CUT;
    return fp_pg_run(&store->connection, (const char *)store->begin.data);
}

bool fp_store_was_cut(enum fp_store_result result, unsigned *cuts)
{
    enum { CUTS_MAX = 5 };
    *cuts = result == FP_STORE_CUT ? *cuts + 1 : 0;
    return *cuts > 0 && *cuts <= CUTS_MAX;
}

enum fp_store_result fp_store_end(struct fp_store *store)
{
    PGresult *answer;
    enum fp_store_result result = fp_pg_ask(&store->connection, "commit", &answer);
    /* A transaction that failed unnoticed is not a committed one. */
    if (result == FP_STORE_OK && strcmp(PQcmdStatus(answer), "COMMIT") != 0)
        result = FP_STORE_TROUBLE;
    PQclear(answer);
    return result;
}

void fp_store_abandon(struct fp_store *store)
{
    fp_pg_rollback(&store->connection);
}

enum fp_store_result fp_store_transact(struct fp_store *store, const struct fp_pg_query *query,
                                       PGresult **rows)
{
    *rows = NULL;
    enum fp_store_result result = fp_store_begin(store);
    if (result == FP_STORE_OK)
        result = fp_pg_query(&store->connection, query, rows);
    if (result == FP_STORE_OK)
        result = fp_store_end(store);
    if (result == FP_STORE_OK)
        return FP_STORE_OK;
    PQclear(*rows);
    *rows = NULL;
    fp_store_abandon(store);
    return result;
}

/* Takes the lock of those who seal or keep house, until the transaction ends. */
static enum fp_store_result lock_turn(struct fp_store *store, bool waits)
{
    static const char try_sql[] = "select pg_try_advisory_xact_lock(hashtext('fleetprof.sealing'))";
    static const char wait_sql[] = "select pg_advisory_xact_lock(hashtext('fleetprof.sealing'))";
    PGresult *answer;
    enum fp_store_result result =
        fp_pg_ask(&store->connection, waits ? wait_sql : try_sql, &answer);
    if (result == FP_STORE_OK && !waits && PQgetvalue(answer, 0, 0)[0] != 't')
        result = FP_STORE_BUSY;
    PQclear(answer);
    return result;
}

/* Notes that the turn is ours. The lock alone cannot say whether others had theirs meanwhile. */
static enum fp_store_result note_turn(struct fp_store *store, bool *is_kept)
{
    char id[FP_UUID_TEXT_LEN + 1];
    const struct fp_uuid none = {{0}};
    *is_kept = false;
    if (store->state == FP_DATABASE_SCHEMA_OLDER) /* it may lack the table */
        return FP_STORE_OK;
    if (memcmp(&store->turn, &none, sizeof(none)) == 0 && !fp_uuid_random(&store->turn))
        return FP_STORE_MEMORY;
    fp_uuid_format(&store->turn, id);
    const char *const values[] = {id};
    const struct fp_pg_query query = {
        .statement =
            "update fleetprof_data.turn set taken_by = $1::uuid where taken_by <> $1::uuid",
        .values = values,
        .value_count = 1,
    };
    PGresult *answer;
    enum fp_store_result result = fp_pg_query(&store->connection, &query, &answer);
    *is_kept = result == FP_STORE_OK && strcmp(PQcmdTuples(answer), "0") == 0;
    PQclear(answer);
    return result;
}

enum fp_store_result fp_store_begin_turn(struct fp_store *store, bool waits, bool *is_kept)
{
    enum fp_store_result result = fp_store_begin(store);
    if (result == FP_STORE_OK)
        result = lock_turn(store, waits);
    if (result == FP_STORE_OK)
        result = note_turn(store, is_kept);
    if (result != FP_STORE_OK)
        fp_store_abandon(store);
    return result;
}
