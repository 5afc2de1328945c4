/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Culprit: what of the schema made the database refuse what the collector writes.
 *
 * A record that is bad by itself is quarantined; a table that somebody changed is not a record's
 * fault. culprit.sql asks the catalogue for what fleetprof did not make.
 */
#include "collector/store/schema_files.h"
#include "collector/store/store_internal.h"

/* The columns of culprit.sql. */
enum { CERTAIN, OBJECT, PLACE, REMEDY };

static void read_culprit(const PGresult *rows, struct fp_culprit *culprit)
{
    if (PQntuples(rows) == 0)
        return;
    culprit->is_certain = PQgetvalue(rows, 0, CERTAIN)[0] == 't';
    snprintf(culprit->object, sizeof(culprit->object), "%s", PQgetvalue(rows, 0, OBJECT));
    snprintf(culprit->place, sizeof(culprit->place), "%s", PQgetvalue(rows, 0, PLACE));
    /* Half a statement helps nobody. */
    if (PQgetlength(rows, 0, REMEDY) < (int)sizeof(culprit->remedy))
        snprintf(culprit->remedy, sizeof(culprit->remedy), "%s", PQgetvalue(rows, 0, REMEDY));
}

static enum fp_store_result ask(struct fp_store *store, const struct fp_failure *failure,
                                struct fp_culprit *culprit)
{
    const struct fp_failure_place *place = &failure->place;
    const char *const values[] = {
        failure->sqlstate, place->schema,     place->table,
        place->column,     place->constraint, place->type,
        place->context,    fp_schema_objects, store->state == FP_DATABASE_REACHABLE ? "t" : "f",
    };
    const struct fp_pg_query query = {
        .statement = fp_schema_culprit, .values = values, .value_count = FP_COUNT(values)};
    PGresult *rows;
    enum fp_store_result result = fp_store_transact(store, &query, &rows);
    if (result == FP_STORE_OK)
        read_culprit(rows, culprit);
    PQclear(rows);
    return result;
}

/* Asks on the store's connection, or on one that is open only meanwhile: most failures close it. */
static enum fp_store_result ask_connected(struct fp_store *store, const struct fp_failure *failure,
                                          struct fp_culprit *culprit)
{
    const bool was_open = fp_store_connected(store);
    enum fp_store_result result = FP_STORE_OK;
    if (!was_open)
        result = fp_pg_open(&store->connection, store->settings.database);
    if (result == FP_STORE_OK)
        result = ask(store, failure, culprit);
    if (!was_open)
        fp_pg_close(&store->connection);
    return result;
}

enum fp_store_result fp_store_find_culprit(struct fp_store *store)
{
    struct fp_pg *connection = &store->connection;
    struct fp_failure failure = connection->failure;
    char message[sizeof(connection->message)];
    /* Before the first connection there is no transaction to ask in. */
    if (failure.is_examined || failure.sqlstate[0] == '\0' || store->begin.len == 0)
        return FP_STORE_OK;
    memcpy(message, connection->message, sizeof(message));
    enum fp_store_result result = ask_connected(store, &failure, &failure.culprit);
    failure.is_examined = result == FP_STORE_OK;
    connection->failure = failure;
    memcpy(connection->message, message, sizeof(message));
    return result;
}

const struct fp_culprit *fp_store_culprit(const struct fp_store *store)
{
    return &store->connection.failure.culprit;
}
