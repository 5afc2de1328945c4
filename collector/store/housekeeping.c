/*
 * Housekeeping: makes partitions for the next days, drops expired ones, and prunes rows that are no
 * longer needed.
 */
#include "collector/base/clock.h"
#include "collector/store/store_internal.h"

#include <inttypes.h>

enum {
    DAYS_AHEAD = 2,
    /* A fact's bucket may be an hour ahead, and days and retention begin at different times. */
    DICTIONARY_DAYS_MORE = 2
};

/* Runs a function or query that returns one row, with three days as parameters or none; stores its
 * value in *said. */
static enum fp_store_result ask(struct fp_store *store, const char *statement,
                                const char *const *days, bool *said)
{
    const struct fp_pg_query query = {
        .statement = statement, .values = days, .value_count = days != NULL ? 3 : 0};
    PGresult *rows;
    enum fp_store_result result = fp_pg_query(&store->connection, &query, &rows);
    *said = result == FP_STORE_OK && PQntuples(rows) > 0 && !PQgetisnull(rows, 0, 0) &&
            strcmp(PQgetvalue(rows, 0, 0), "f") != 0;
    PQclear(rows);
    return result;
}

static enum fp_store_result make_ahead(struct fp_store *store, int64_t today)
{
    char days[(DAYS_AHEAD + 1) * FP_DAY_TEXT_MAX + 2];
    size_t len = 0;
    for (int64_t day = today; day <= today + DAYS_AHEAD; day++) {
        char text[FP_DAY_TEXT_MAX];
        fp_store_day_text(day, text);
        int written = snprintf(days + len, sizeof(days) - len, "%c%s", len == 0 ? '{' : ',', text);
        len += (size_t)written;
    }
    snprintf(days + len, sizeof(days) - len, "}");
    return fp_store_make_partitions(store, days);
}

static enum fp_store_result drop_behind(struct fp_store *store, const struct fp_rollup_clock *clock)
{
    char facts_from[FP_DAY_TEXT_MAX];
    char uploads_from[FP_DAY_TEXT_MAX];
    char sessions_from[FP_DAY_TEXT_MAX];
    fp_store_day_text(fp_store_day_of(clock->oldest_us), facts_from);
    fp_store_day_text(fp_store_day_of(clock->oldest_log_us), uploads_from);
    fp_store_day_text(fp_store_day_of(clock->oldest_session_us), sessions_from);
    const char *const days[] = {facts_from, uploads_from, sessions_from};
    bool dropped;
    enum fp_store_result result;
    do
        result = ask(store, "select fleetprof_data.drop_partition($1::date, $2::date, $3::date)",
                     days, &dropped);
    while (result == FP_STORE_OK && dropped);
    return result;
}

static enum fp_store_result prune_books(struct fp_store *store)
{
    char statements[512];
    int64_t seconds = store->settings.retention.upload_ids_us / FP_US_PER_S;
    snprintf(statements, sizeof(statements),
             "delete from fleetprof_data.upload_id"
             " where counted < now() - interval '1 second' * %" PRId64 ";"
             "delete from fleetprof_data.load_id"
             " where counted < now() - interval '1 second' * %" PRId64 ";"
             "delete from fleetprof_data.long_session where expires < now()",
             seconds, seconds);
    return fp_pg_run(&store->connection, statements);
}

/* Prunes callers last: a row goes after those that refer to it. */
static enum fp_store_result prune_dictionaries(struct fp_store *store,
                                               const struct fp_rollup_clock *clock)
{
    static const char *const names[] = {"stack", "frame", "resource", "timing", "segment"};
    char unseen_since[FP_DAY_TEXT_MAX];
    fp_store_day_text(fp_store_day_of(clock->oldest_us) - DICTIONARY_DAYS_MORE, unseen_since);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char statement[128];
        snprintf(statement, sizeof(statement),
                 "delete from fleetprof_data.%s where last_seen < '%s'", names[i], unseen_since);
        enum fp_store_result result = fp_pg_run(&store->connection, statement);
        if (result != FP_STORE_OK)
            return result;
    }
    return FP_STORE_OK;
}

static enum fp_store_result keep_house(struct fp_store *store)
{
    struct fp_rollup_clock clock;
    enum fp_store_result result = fp_store_read_clock(store, &clock);
    if (result != FP_STORE_OK)
        return result;
    int64_t today = fp_store_day_of(clock.now_us);
    result = make_ahead(store, today);
    if (result == FP_STORE_OK)
        result = drop_behind(store, &clock);
    if (result == FP_STORE_OK)
        result = prune_books(store);
    if (result == FP_STORE_OK && store->pruned_day != today) {
        result = prune_dictionaries(store, &clock);
        if (result == FP_STORE_OK)
            store->pruned_day = today;
    }
    return result;
}

enum fp_store_result fp_store_housekeep(struct fp_store *store)
{
    struct fp_pg *connection = &store->connection;
    bool locked;
    enum fp_store_result result = ask(
        store, "select pg_try_advisory_lock(hashtext('fleetprof.housekeeping'))", NULL, &locked);
    if (result != FP_STORE_OK || !locked)
        return result;
    /* Pruning after a long pause is slow. */
    result = fp_pg_run(connection, "set statement_timeout = '10min'");
    if (result == FP_STORE_OK)
        result = keep_house(store);
    if (result == FP_STORE_OK)
        result = fp_pg_run(connection, "set statement_timeout = '60s'");
    if (result == FP_STORE_OK)
        result = ask(store, "select pg_advisory_unlock(hashtext('fleetprof.housekeeping'))", NULL,
                     &locked);
    /* Other failures closed the connection already, which released the lock and the time-out.
     * FP_STORE_REFUSED left it open. */
    if (result == FP_STORE_REFUSED)
        fp_pg_close(connection);
    return result;
}
