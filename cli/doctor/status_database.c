/*
 * Status: asks the database, as a reader.
 */
#include "cli/doctor/status.h"

#include "cli/doctor/doctor.h"
#include "cli/memory.h"
#include "collector/base/clock.h"
#include "collector/store/diagnosis.h"

#include <poll.h>
#include <stdlib.h>

/* In the order of enum fp_status_column. Ids of uploads have an index by the time of counting that
 * makes the latest minutes cheap; a whole day is read only if these are empty. */
static const char question[] =
    "select split_part(current_setting('server_version'), ' ', 1), "
    "(select version from fleetprof.schema_version order by applied desc, name desc limit 1), "
    "pg_database_size(current_database()), "
    "part.count, part.first_day, part.last_day, recent.count, "
    "extract(epoch from clock_timestamp() - coalesce(recent.latest, "
    "(select max(counted) from fleetprof_data.upload_id where counted > now() - interval '1 "
    "day'))), "
    "case when pg_is_in_recovery() "
    "then extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) end, "
    "(select coalesce(sum(entries), 0) from fleetprof_data.unsealed), "
    "(" FP_MISSING_PARTITIONS ") "
    "from (select count(*), max(counted) as latest from fleetprof_data.upload_id "
    "where counted > now() - interval '5 minutes') as recent, "
    "(select count(*), min(to_date(right(c.relname, 8), 'YYYYMMDD')) as first_day, "
    "max(to_date(right(c.relname, 8), 'YYYYMMDD') + "
    "case when p.relname like '%\\_days' then 7 else 0 end) as last_day "
    "from pg_inherits i join pg_class p on p.oid = i.inhparent join pg_class c on c.oid = "
    "i.inhrelid "
    "where p.relnamespace = 'fleetprof_data'::regnamespace and p.relkind = 'p' "
    "and c.relname ~ '_[0-9]{8}$') as part";

static void forget(struct fp_status_database *database)
{
    PQclear(database->answer);
    free(database->error);
    free(database->place);
    database->answer = NULL;
    database->error = NULL;
    database->place = NULL;
}

/* Keeps why there is no answer, by its SQLSTATE. */
static void fail(struct fp_status_database *database, const char *text, const char *sqlstate)
{
    struct fp_failure failure = {.sqlstate = ""};
    char sentence[500];
    if (sqlstate != NULL) {
        (void)snprintf(failure.sqlstate, sizeof(failure.sqlstate), "%s", sqlstate);
        (void)snprintf(sentence, sizeof(sentence), "%s", text);
    } else {
        fp_failure_read(&failure, text, sentence, sizeof(sentence));
    }
    sentence[strcspn(sentence, "\n")] = '\0';
    if (failure.sqlstate[0] == '\0' && strstr(sentence, "out of memory") != NULL)
        fp_memory_end(); /* libpq's own, not the server's */
    free(database->error);
    database->error = fp_memory_copy(sentence);
    const enum fp_database_state state = fp_failure_state(&failure);
    if (state == FP_DATABASE_NOT_MIGRATED && !failure.is_role_missing)
        database->trouble = FP_FINDING_DATABASE_NOT_MIGRATED;
    else if (state == FP_DATABASE_UNREACHABLE || state == FP_DATABASE_FAILING)
        database->trouble = FP_FINDING_DATABASE_UNREACHABLE;
    else
        database->trouble = FP_FINDING_DATABASE_READING;
}

/* Waits until the connection is made or refused. */
static bool finish_connecting(PGconn *connection, int64_t end_us)
{
    for (;;) {
        PostgresPollingStatusType status = PQconnectPoll(connection);
        if (status == PGRES_POLLING_OK || status == PGRES_POLLING_FAILED)
            return status == PGRES_POLLING_OK;
        struct pollfd socket = {.fd = PQsocket(connection),
                                .events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT};
        int64_t left_ms = (end_us - fp_clock_monotonic_us()) / FP_US_PER_MS;
        if (left_ms <= 0 || poll(&socket, 1, (int)left_ms) == 0)
            return false;
    }
}

/* Connects; role NULL: as the connection string says. NULL: the error is kept. */
static PGconn *connect_as(struct fp_status_database *database, const char *role, int64_t end_us)
{
    /* What follows dbname overrides the connection string. */
    const char *const names[] = {"fallback_application_name", "dbname", "client_encoding", "user",
                                 NULL};
    const char *const values[] = {"fleetprof", database->conninfo, "UTF8", role, NULL};
    PGconn *connection = fp_memory_need(PQconnectStartParams(names, values, 1));
    /* A refused connection's SQLSTATE is only available in this form. */
    (void)PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
    if (PQstatus(connection) != CONNECTION_BAD && finish_connecting(connection, end_us)) {
        (void)PQsetErrorVerbosity(connection, PQERRORS_DEFAULT);
        return connection;
    }
    const char *text = PQerrorMessage(connection);
    fail(database, text[0] != '\0' ? text : "it does not answer in time", NULL);
    PQfinish(connection);
    return NULL;
}

static void name_place(struct fp_status_database *database, const PGconn *connection)
{
    const char *host = PQhost(connection);
    database->place = fp_memory_print("%s on %s, as %s", PQdb(connection),
                                      host != NULL && host[0] != '\0' ? host : "this machine",
                                      PQuser(connection));
}

static void ask(struct fp_status_database *database, PGconn *connection, int64_t end_us)
{
    struct fp_sql_query query;
    char limit[64];
    (void)snprintf(limit, sizeof(limit), "set statement_timeout = %lld",
                   (long long)((end_us - fp_clock_monotonic_us()) / FP_US_PER_MS + 1));
    PQclear(PQexec(connection, limit));
    fp_sql_init(&query, question);
    PGresult *answer = fp_sql_ask_until(connection, &query, end_us);
    fp_sql_release(&query);
    if (PQresultStatus(answer) == PGRES_TUPLES_OK && PQntuples(answer) == 1) {
        database->answer = answer;
        return;
    }
    const char *message = PQresultErrorField(answer, PG_DIAG_MESSAGE_PRIMARY);
    fail(database, message != NULL ? message : "it does not answer in time",
         PQresultErrorField(answer, PG_DIAG_SQLSTATE));
    PQclear(answer);
}

void fp_status_ask_database(struct fp_status_database *database, int seconds)
{
    forget(database);
    if (database->conninfo == NULL)
        return;
    const int64_t end_us = fp_clock_monotonic_us() + seconds * FP_US_PER_S;
    PGconn *connection = NULL;
    if (database->may_change_role)
        connection = connect_as(database, "fleetprof_reader", end_us);
    if (connection == NULL)
        connection = connect_as(database, NULL, end_us);
    if (connection == NULL)
        return;
    free(database->error);
    database->error = NULL;
    name_place(database, connection);
    ask(database, connection, end_us);
    PQfinish(connection);
}
