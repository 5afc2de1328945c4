/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Store: the database session, the clock and the position.
 */
#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/base/uuid.h"
#include "collector/store/schema_files.h"
#include "collector/store/store_internal.h"

#include <inttypes.h>

/* The longest piece of copy data is an array of a packed row: 12 bytes per entry, of which a rollup
 * of the greatest upload has 5 million. */
enum { BEGIN_MAX = 4 * 1024, SQL_MAX = 32 * 1024, ROWS_MAX = 64 * 1024 * 1024 };

struct fp_store *fp_store_create(const struct fp_store_settings *settings)
{
    struct fp_store *store = calloc(1, sizeof(*store));
    if (store == NULL)
        return NULL;
    store->settings = *settings;
    store->state = FP_DATABASE_REACHABLE;
    fp_pg_init(&store->connection, settings->interrupt_fd);
    store->connection.end_us = settings->end_us;
    fp_buf_init(&store->begin, BEGIN_MAX);
    fp_buf_init(&store->sql, SQL_MAX);
    fp_buf_init(&store->rows, ROWS_MAX);
    for (size_t i = 0; i < FP_STORE_COLUMNS_MAX; i++)
        fp_buf_init(&store->columns[i], ROWS_MAX);
    fp_map_init(&store->touched, FP_STORE_TOUCHED_MAX);
    return store;
}

void fp_store_set_retention(struct fp_store *store, const struct fp_retention *retention)
{
    store->settings.retention = *retention;
}

void fp_store_set_sites(struct fp_store *store, const char *sites)
{
    store->sites = sites;
}

void fp_store_close(struct fp_store *store)
{
    if (store == NULL)
        return;
    fp_pg_close(&store->connection);
    fp_buf_release(&store->begin);
    fp_buf_release(&store->sql);
    fp_buf_release(&store->rows);
    for (size_t i = 0; i < FP_STORE_COLUMNS_MAX; i++)
        fp_buf_release(&store->columns[i]);
    fp_map_release(&store->touched);
    free(store);
}

struct fp_pg *fp_store_connection(struct fp_store *store)
{
    return &store->connection;
}

void fp_store_disconnect(struct fp_store *store)
{
    fp_pg_close(&store->connection);
}

bool fp_store_connected(const struct fp_store *store)
{
    return store->connection.pg != NULL;
}

const char *fp_store_message(const struct fp_store *store)
{
    return store->connection.message;
}

enum fp_database_state fp_store_failure(const struct fp_store *store)
{
    enum fp_database_state state = fp_failure_state(&store->connection.failure);
    bool is_other_schema = store->state != FP_DATABASE_REACHABLE;
    return state == FP_DATABASE_NOT_MIGRATED && is_other_schema ? store->state : state;
}

void fp_store_hint(const struct fp_store *store, struct fp_buf *hint)
{
    fp_failure_hint(&store->connection.failure, fp_store_failure(store), hint);
}

static bool failed_with(const struct fp_store *store, const char *sqlstate)
{
    return strcmp(store->connection.failure.sqlstate, sqlstate) == 0;
}

bool fp_store_blames_value(const struct fp_store *store)
{
    return strncmp(store->connection.failure.sqlstate, "22", 2) == 0;
}

bool fp_store_timed_out(const struct fp_store *store)
{
    return failed_with(store, "57014");
}

bool fp_store_lacked_memory(const struct fp_store *store)
{
    return failed_with(store, "53200");
}

enum fp_database_state fp_store_state(const struct fp_store *store)
{
    return store->state;
}

const char *fp_store_sql(struct fp_store *store)
{
    fp_buf_add(&store->sql, "", 1);
    return store->sql.failed ? NULL : (const char *)store->sql.data;
}

/* Reads the bigint in the first column of the first row; *found is false when there is no row. */
static enum fp_store_result query_bigint(struct fp_store *store, const struct fp_pg_query *query,
                                         int64_t *value, bool *found)
{
    PGresult *rows;
    enum fp_store_result result = fp_pg_query(&store->connection, query, &rows);
    if (result != FP_STORE_OK)
        return result;
    *found = PQntuples(rows) > 0;
    *value = *found ? strtoll(PQgetvalue(rows, 0, 0), NULL, 10) : 0;
    PQclear(rows);
    return FP_STORE_OK;
}

enum fp_store_result fp_store_check_schema(struct fp_store *store)
{
    const struct fp_pg_query query = {
        .statement = "select count(*) from fleetprof.schema_version where name like 'tables/%'",
    };
    int64_t applied;
    bool found;
    enum fp_store_result result = query_bigint(store, &query, &applied, &found);
    int64_t known = (int64_t)fp_schema_table_count;
    if (result == FP_STORE_OK)
        store->state = applied < known   ? FP_DATABASE_SCHEMA_OLDER
                       : applied > known ? FP_DATABASE_SCHEMA_NEWER
                                         : FP_DATABASE_REACHABLE;
    return result;
}

void fp_store_drop_cut(struct fp_store *store)
{
    (void)fp_pg_drop_cut(&store->connection);
}

enum fp_store_result fp_store_connect(struct fp_store *store)
{
    fp_store_drop_cut(store);
    if (fp_store_connected(store))
        return FP_STORE_OK;
    /* This may be a different database. */
    store->made_count = 0;
    store->state = FP_DATABASE_REACHABLE;
    fp_map_clear(&store->touched);
    enum fp_store_result result = fp_pg_open(&store->connection, store->settings.database);
    if (result == FP_STORE_OK)
        result = fp_store_check_schema(store);
    if (result == FP_STORE_OK)
        result = fp_store_read_server(store);
    if (result != FP_STORE_OK)
        fp_pg_close(&store->connection);
    return result;
}

enum fp_store_result fp_store_read_position(struct fp_store *store, const struct fp_uuid *spool_id,
                                            uint64_t *position)
{
    char id[FP_UUID_TEXT_LEN + 1];
    fp_uuid_format(spool_id, id);
    const char *const values[] = {id};
    struct fp_pg_query query = {
        .statement = "select position from fleetprof_data.spool_position where spool_id = $1",
        .values = values,
        .value_count = 1,
    };
    int64_t found_position;
    bool found;
    enum fp_store_result result = query_bigint(store, &query, &found_position, &found);
    *position = result == FP_STORE_OK ? (uint64_t)found_position : 0;
    if (result != FP_STORE_OK || found)
        return result;
    query.statement = "insert into fleetprof_data.spool_position (spool_id, position) "
                      "values ($1, 0) on conflict do nothing";
    PGresult *answer;
    result = fp_store_transact(store, &query, &answer);
    PQclear(answer);
    return result;
}

/* Writes the ids as the text of an array, {…}, with its NUL. */
static void write_array(struct fp_buf *array, const struct fp_store_session_ids *ids)
{
    fp_buf_init(array, (ids->count + 1) * (FP_UUID_TEXT_LEN + 1) + sizeof("{}"));
    fp_buf_addf(array, "{");
    for (size_t i = 0; i < ids->count; i++) {
        char id[FP_UUID_TEXT_LEN + 1];
        fp_uuid_format(&ids->ids[i], id);
        fp_buf_addf(array, "%s%s", i > 0 ? "," : "", id);
    }
    fp_buf_add(array, "}", sizeof("}"));
    FP_ASSERT(!array->failed || array->starved); /* it has room for all */
}

static const char tell_sessions[] =
    "with told as ("
    "update fleetprof_data.long_session "
    "set stopped_position = coalesce(stopped_position, $2), "
    "expires = now() + interval '1 second' * $5::integer "
    "where spool_id = $1 and load_id <> all ($3) "
    "and (stopped_position is null or stopped_position > $6)), "
    "stopped as ("
    "insert into fleetprof_data.long_session (spool_id, load_id, expires, stopped_position) "
    "select $1, load_id, now() + interval '1 second' * $5::integer, $2 "
    "from unnest($4::uuid[]) as load_id on conflict do nothing) "
    "insert into fleetprof_data.long_session (spool_id, load_id, expires) "
    "select $1, load_id, now() + interval '1 second' * $5::integer "
    "from unnest($3::uuid[]) as load_id "
    "on conflict (spool_id, load_id) do update set expires = excluded.expires";

enum fp_store_result fp_store_tell_sessions(struct fp_store *store,
                                            const struct fp_store_sessions *sessions)
{
    char spool_id[FP_UUID_TEXT_LEN + 1];
    char position[24];
    char tail[24];
    char seconds[24];
    fp_uuid_format(&sessions->spool_id, spool_id);
    snprintf(position, sizeof(position), "%" PRIu64, sessions->position);
    snprintf(tail, sizeof(tail), "%" PRIu64, sessions->tail);
    snprintf(seconds, sizeof(seconds), "%" PRId64, sessions->told_for_us / FP_US_PER_S);
    struct fp_buf running;
    struct fp_buf stopped;
    write_array(&running, &sessions->running);
    write_array(&stopped, &sessions->stopped);
    const char *const values[] = {
        spool_id, tail, (const char *)running.data, (const char *)stopped.data, seconds, position};
    const struct fp_pg_query query = {
        .statement = tell_sessions,
        .values = values,
        .value_count = sizeof(values) / sizeof(values[0]),
    };
    PGresult *answer = NULL;
    enum fp_store_result result = FP_STORE_MEMORY;
    if (!running.failed && !stopped.failed)
        result = fp_store_transact(store, &query, &answer);
    PQclear(answer);
    fp_buf_release(&running);
    fp_buf_release(&stopped);
    return result;
}

int64_t fp_store_day_of(int64_t moment_us)
{
    return moment_us / FP_US_PER_DAY - (moment_us % FP_US_PER_DAY < 0 ? 1 : 0);
}

void fp_store_day_text(int64_t day, char text[FP_DAY_TEXT_MAX])
{
    time_t moment = (time_t)(day * (FP_US_PER_DAY / FP_US_PER_S));
    struct tm utc = {0};
    gmtime_r(&moment, &utc);
    strftime(text, FP_DAY_TEXT_MAX, "%Y-%m-%d", &utc);
}

void fp_store_time_text(int64_t moment_us, char text[FP_TIME_TEXT_MAX])
{
    time_t moment = (time_t)(moment_us / FP_US_PER_S);
    struct tm utc = {0};
    gmtime_r(&moment, &utc);
    strftime(text, FP_TIME_TEXT_MAX, "%Y-%m-%d %H:%M:%S+00", &utc);
}

enum fp_store_result fp_store_make_partitions(struct fp_store *store, const char *days,
                                              size_t *made)
{
    const char *const values[] = {days};
    const struct fp_pg_query query = {
        .statement = "select fleetprof_data.make_partitions($1::date[])",
        .values = values,
        .value_count = 1,
    };
    PGresult *answer;
    enum fp_store_result result = fp_store_transact(store, &query, &answer);
    *made = result == FP_STORE_OK ? strtoul(PQgetvalue(answer, 0, 0), NULL, 10) : 0;
    PQclear(answer);
    return result;
}

bool fp_store_has_made(const struct fp_store *store, int64_t day)
{
    for (size_t i = 0; i < FP_STORE_MADE_DAYS && i < store->made_count; i++)
        if (store->made_days[i] == day)
            return true;
    return false;
}

enum fp_store_result fp_store_make_day(struct fp_store *store, int64_t moment_us)
{
    char text[FP_DAY_TEXT_MAX];
    char days[FP_DAY_TEXT_MAX + 2];
    size_t made;
    int64_t day = fp_store_day_of(moment_us);
    if (fp_store_has_made(store, day))
        return FP_STORE_OK;
    fp_store_day_text(day, text);
    snprintf(days, sizeof(days), "{%s}", text);
    enum fp_store_result result = fp_store_make_partitions(store, days, &made);
    if (result == FP_STORE_OK)
        store->made_days[store->made_count++ % FP_STORE_MADE_DAYS] = day;
    return result;
}
