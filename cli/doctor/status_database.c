/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status: asks the database, as a reader.
 */
#include "cli/doctor/status.h"

#include "cli/doctor/doctor.h"
#include "cli/doctor/trial.h"
#include "cli/kit/memory.h"
#include "collector/base/clock.h"
#include "collector/store/dial.h"

#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Why housekeeping destroys nothing; no row: it works. */
#define RETENTION_REFUSED                                                                          \
    "select format('%s since %s UTC; a collector''s clock said %s at the last look, and %s was "   \
    "trusted last', "                                                                              \
    "refused, to_char(refused_since at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), "                   \
    "to_char(collector at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), "                                \
    "coalesce(to_char(trusted at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), 'nothing')) "             \
    "from fleetprof_data.retention_clock where refused is not null"

/* In the order of enum fp_status_column. Ids of uploads have an index by the time of counting that
 * makes the latest minutes cheap; a whole day is read only if these are empty. */
static const char question[] =
    "select split_part(current_setting('server_version'), ' ', 1), "
    "(select version from fleetprof.schema_version order by applied desc, name desc limit 1), "
    "pg_database_size(current_database()), "
    "part.count, to_char(part.first_day, 'YYYY-MM-DD'), to_char(part.last_day, 'YYYY-MM-DD'), "
    "recent.count, "
    "extract(epoch from clock_timestamp() - coalesce(recent.latest, "
    "(select max(counted) from fleetprof_data.upload_id where counted > now() - interval '1 "
    "day'))), "
    "case when pg_is_in_recovery() "
    "then extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) end, "
    "(select coalesce(sum(entries), 0) from fleetprof_data.unsealed), "
    "(" FP_MISSING_PARTITIONS "), "
    "(select extversion from pg_extension where extname = 'fleetprof_native'), "
    "(" FP_NATIVE_UNUSED "), (" RETENTION_REFUSED "), "
    "to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') "
    "from (select count(*), max(counted) as latest from fleetprof_data.upload_id "
    "where counted > now() - interval '5 minutes') as recent, "
    "(select count(*), min(to_date(right(c.relname, 8), 'YYYYMMDD')) as first_day, "
    "max(to_date(right(c.relname, 8), 'YYYYMMDD') + "
    "case when p.relname like '%\\_days' then 7 else 0 end) as last_day "
    "from pg_inherits i join pg_class p on p.oid = i.inhparent join pg_class c on c.oid = "
    "i.inhrelid "
    "where p.relnamespace = 'fleetprof_data'::regnamespace and p.relkind = 'p' "
    "and c.relname ~ '_[0-9]{8}$') as part";

void fp_status_forget_database(struct fp_status_database *database)
{
    PQclear(database->answer);
    free(database->error);
    free(database->place);
    free(database->psql);
    database->psql = NULL;
    database->answer = NULL;
    database->error = NULL;
    database->place = NULL;
}

/* Keeps why there is no answer. */
static void fail(struct fp_status_database *database, const char *text,
                 const struct fp_failure *failure)
{
    if (failure->sqlstate[0] == '\0' && strstr(text, "out of memory") != NULL)
        fp_memory_end(); /* libpq's own, not the server's */
    free(database->error);
    database->error = fp_memory_copy(text);
    for (char *at = database->error; (at = strchr(at, '\n')) != NULL;)
        *at = ' ';
    const enum fp_database_state state = fp_failure_state(failure);
    if (state == FP_DATABASE_NOT_MIGRATED && !failure->is_role_missing)
        database->trouble = FP_FINDING_DATABASE_NOT_MIGRATED;
    else if (state == FP_DATABASE_UNREACHABLE || state == FP_DATABASE_FAILING)
        database->trouble = FP_FINDING_DATABASE_UNREACHABLE;
    else
        database->trouble = FP_FINDING_DATABASE_READING;
}

/* Drops notices, such as that a transaction ended by itself; libpq would print them. */
static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

/* Connects; role NULL: as the connection string says. NULL: the error is kept. */
static PGconn *connect_as(struct fp_status_database *database, const char *role, int64_t end_us)
{
    /* Parameters after dbname override the connection string. */
    const char *const names[] = {"fallback_application_name", "dbname", "client_encoding", "user",
                                 NULL};
    const char *const values[] = {"fleetprof", database->conninfo, "UTF8", role, NULL};
    struct fp_dial *dial =
        fp_memory_need(fp_dial_begin(&(struct fp_dial_settings){names, values, end_us}));
    PGconn *connection = fp_dial_finish(dial);
    if (connection == NULL)
        fail(database, fp_dial_message(dial), fp_dial_failure(dial));
    else
        (void)PQsetNoticeReceiver(connection, ignore_notice, NULL);
    fp_dial_end(dial);
    return connection;
}

static void name_place(struct fp_status_database *database, const PGconn *connection)
{
    const char *host = PQhost(connection);
    database->place = fp_memory_print("%s on %s, as %s", PQdb(connection),
                                      host != NULL && host[0] != '\0' ? host : "this machine",
                                      PQuser(connection));
}

/* Names the user who owns the server's socket, whom PostgreSQL takes for its superuser if it asks
 * the system who calls. False: that is this process's user, or unknown. */
static bool find_server_user(const PGconn *connection, char name[64])
{
    char socket[256];
    char memory[1024];
    struct stat about;
    struct passwd entry;
    struct passwd *found = NULL;
    const int len =
        snprintf(socket, sizeof(socket), "%s/.s.PGSQL.%s", PQhost(connection), PQport(connection));
    if (len >= (int)sizeof(socket) || stat(socket, &about) != 0 || about.st_uid == geteuid() ||
        getpwuid_r(about.st_uid, &entry, memory, sizeof(memory), &found) != 0 || found == NULL)
        return false;
    return snprintf(name, 64, "%s", found->pw_name) < 64;
}

/* Writes what runs a command as the server's user; "" if that is not known, or not needed. */
static void write_prefix(const PGconn *connection, char prefix[96])
{
    char user[64];
    const char *host = PQhost(connection);
    prefix[0] = '\0';
    if (host == NULL || host[0] != '/' || !find_server_user(connection, user))
        return;
    (void)snprintf(prefix, 96, geteuid() == 0 ? "runuser -u %s -- " : "sudo -u %s ", user);
}

/* Notes how to connect with psql. A name with a quote in it is left to the reader. */
static void note_psql(struct fp_status_database *database, const PGconn *connection)
{
    char prefix[96];
    const char *host = PQhost(connection);
    const bool is_plain = strchr(PQdb(connection), '\'') == NULL;
    const bool has_host = host != NULL && host[0] != '\0' && strchr(host, '\'') == NULL;
    write_prefix(connection, prefix);
    database->psql = fp_memory_print("%spsql%s%s%s -p %s -d '%s'", prefix, has_host ? " -h '" : "",
                                     has_host ? host : "", has_host ? "'" : "", PQport(connection),
                                     is_plain ? PQdb(connection) : "DATABASE");
}

/* Asks one statement; NULL: no answer in time. */
static PGresult *ask_text(PGconn *connection, const char *text, int64_t end_us)
{
    struct fp_sql_query query;
    fp_sql_init(&query, text);
    PGresult *answer = fp_sql_ask_until(connection, &query, end_us);
    fp_sql_release(&query);
    return answer;
}

/* Runs one statement. */
static bool command(PGconn *connection, const char *text, int64_t end_us)
{
    PGresult *answer = ask_text(connection, text, end_us);
    const bool fine = PQresultStatus(answer) == PGRES_COMMAND_OK;
    PQclear(answer);
    return fine;
}

/* Is there a schema, if not one that has all that we ask for? */
static bool has_schema(PGconn *connection, int64_t end_us)
{
    if (!command(connection, "rollback", end_us))
        return false;
    PGresult *answer = ask_text(connection, "select from fleetprof.schema_version", end_us);
    const bool is_there = PQntuples(answer) > 0;
    PQclear(answer);
    return is_there;
}

/* Keeps why a question has no answer. */
static void fail_question(struct fp_status_database *database, PGconn *connection,
                          const PGresult *answer, int64_t end_us)
{
    const char *message = PQresultErrorField(answer, PG_DIAG_MESSAGE_PRIMARY);
    const char *sqlstate = PQresultErrorField(answer, PG_DIAG_SQLSTATE);
    struct fp_failure failure = {.sqlstate = ""};
    if (sqlstate != NULL)
        (void)snprintf(failure.sqlstate, sizeof(failure.sqlstate), "%s", sqlstate);
    fail(database, message != NULL ? message : "it does not answer in time", &failure);
    if (message != NULL && fp_failure_is_statement_pooler(message))
        database->trouble = FP_FINDING_DATABASE_POOLER;
    else if (database->trouble == FP_FINDING_DATABASE_NOT_MIGRATED &&
             has_schema(connection, end_us))
        database->trouble = FP_FINDING_DATABASE_OUTDATED;
}

static void ask(struct fp_status_database *database, PGconn *connection, int64_t end_us)
{
    char limit[64];
    (void)snprintf(limit, sizeof(limit), "set local statement_timeout = %lld",
                   (long long)((end_us - fp_clock_monotonic_us()) / FP_US_PER_MS + 1));
    /* In a transaction: behind a pooler the session is not ours. */
    PGresult *answer = ask_text(connection, "begin", end_us);
    if (PQresultStatus(answer) == PGRES_COMMAND_OK && command(connection, limit, end_us)) {
        PQclear(answer);
        answer = ask_text(connection, question, end_us);
    }
    if (PQresultStatus(answer) == PGRES_TUPLES_OK && PQntuples(answer) == 1) {
        database->answer = answer;
        (void)command(connection, "commit", end_us);
        return;
    }
    fail_question(database, connection, answer, end_us);
    PQclear(answer);
}

PGconn *fp_status_connect(struct fp_status_database *database, int64_t end_us)
{
    PGconn *connection = NULL;
    if (database->may_change_role)
        connection = connect_as(database, "fleetprof_reader", end_us);
    if (connection == NULL)
        connection = connect_as(database, NULL, end_us);
    if (connection == NULL)
        return NULL;
    free(database->error);
    database->error = NULL;
    name_place(database, connection);
    note_psql(database, connection);
    return connection;
}

void fp_status_ask_database(struct fp_status_database *database, int seconds)
{
    fp_status_forget_database(database);
    if (database->conninfo == NULL)
        return;
    const int64_t end_us = fp_clock_monotonic_us() + seconds * FP_US_PER_S;
    PGconn *connection = fp_status_connect(database, end_us);
    if (connection == NULL)
        return;
    ask(database, connection, end_us);
    if (database->answer != NULL && database->trial != NULL)
        fp_trial_ask(connection, database->place, database->config,
                     fp_clock_monotonic_us() + seconds * FP_US_PER_S, database->trial);
    PQfinish(connection);
}
