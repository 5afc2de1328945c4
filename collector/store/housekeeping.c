/*
 * Housekeeping: makes partitions for the next days, drops expired ones, and prunes rows that are no
 * longer needed.
 */
#include "collector/base/clock.h"
#include "collector/store/store_internal.h"

#include <inttypes.h>

enum {
    DAYS_AHEAD = 2,
    /* Days for which dictionary rows outlive the retention of what needs them: a partition of facts
     * may hold eight days, a bucket may be an hour ahead, and days and retention begin at different
     * times. */
    DICTIONARY_DAYS_MORE = 10,
    /* Rows of a dictionary to prune in one transaction: flushes that need one of them wait. */
    PRUNE_BATCH = 5000,
    /* The same in one housekeeping: sealing waits. The next one continues. */
    PRUNE_MAX = 1000000,
    PRUNE_KEYS_MAX = PRUNE_BATCH * sizeof("-9223372036854775808,") + sizeof("{}"),
};

/* The first day of each kind of row that is kept, as text. */
struct first_days {
    char facts[FP_DAY_TEXT_MAX];
    char hours[FP_DAY_TEXT_MAX];
    char uploads[FP_DAY_TEXT_MAX];
    char sessions[FP_DAY_TEXT_MAX];
};

static void find_first_days(const struct fp_store *store, const struct fp_rollup_clock *clock,
                            struct first_days *days)
{
    const struct fp_retention *retention = &store->settings.retention;
    int64_t hours_us =
        retention->hours_us < retention->facts_us ? retention->hours_us : retention->facts_us;
    fp_store_day_text(fp_store_day_of(clock->oldest_us), days->facts);
    fp_store_day_text(fp_store_day_of(clock->now_us - hours_us), days->hours);
    fp_store_day_text(fp_store_day_of(clock->oldest_log_us), days->uploads);
    fp_store_day_text(fp_store_day_of(clock->oldest_session_us), days->sessions);
}

static enum fp_store_result make_ahead(struct fp_store *store, int64_t today, size_t *made)
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
    return fp_store_make_partitions(store, days, made);
}

static enum fp_store_result drop_behind(struct fp_store *store, const struct first_days *first,
                                        size_t *dropped)
{
    const char *const values[] = {first->facts, first->hours, first->uploads, first->sessions};
    const struct fp_pg_query query = {
        .statement = "select fleetprof_data.drop_partition($1::date, $2::date, $3::date, $4::date)",
        .values = values,
        .value_count = FP_COUNT(values),
    };
    for (;;) {
        PGresult *rows;
        enum fp_store_result result = fp_pg_query(&store->connection, &query, &rows);
        bool is_done = result != FP_STORE_OK || PQgetisnull(rows, 0, 0);
        PQclear(rows);
        if (is_done)
            return result;
        ++*dropped;
        store->made_count = 0;
    }
}

/* Moves the horizon of hours. Their partitions are dropped by the next housekeeping: until then,
 * whoever still reads by the old horizon finds them. */
static enum fp_store_result move_horizon(struct fp_store *store, const struct first_days *first)
{
    const char *const values[] = {first->facts, first->hours};
    const struct fp_pg_query query = {
        .statement = "select fleetprof_data.move_horizon($1::date, $2::date)",
        .values = values,
        .value_count = FP_COUNT(values),
    };
    PGresult *answer;
    enum fp_store_result result = fp_pg_query(&store->connection, &query, &answer);
    PQclear(answer);
    return result;
}

static enum fp_store_result keep_sites(struct fp_store *store)
{
    const struct fp_pg_query query = {
        .statement = "select fleetprof_data.keep_sites($1::jsonb)",
        .values = &store->sites,
        .value_count = 1,
    };
    if (store->sites == NULL)
        return FP_STORE_OK;
    PGresult *answer;
    enum fp_store_result result = fp_pg_query(&store->connection, &query, &answer);
    PQclear(answer);
    return result;
}

/* Runs a delete and counts the rows. */
static enum fp_store_result prune(struct fp_store *store, const struct fp_pg_query *query,
                                  size_t *pruned)
{
    PGresult *answer;
    enum fp_store_result result = fp_pg_query(&store->connection, query, &answer);
    if (result == FP_STORE_OK)
        *pruned += strtoul(PQcmdTuples(answer), NULL, 10);
    PQclear(answer);
    return result;
}

static enum fp_store_result prune_books(struct fp_store *store, size_t *pruned)
{
    static const char *const books[] = {"upload_id", "load_id"};
    int64_t seconds = store->settings.retention.upload_ids_us / FP_US_PER_S;
    enum fp_store_result result = FP_STORE_OK;
    for (size_t i = 0; result == FP_STORE_OK && i < FP_COUNT(books); i++) {
        char statement[128];
        snprintf(statement, sizeof(statement),
                 "delete from fleetprof_data.%s where counted < now() - interval '1 second' * "
                 "%" PRId64,
                 books[i], seconds);
        result = prune(store, &(struct fp_pg_query){.statement = statement}, pruned);
    }
    const struct fp_pg_query sessions = {
        .statement = "delete from fleetprof_data.long_session where expires < now()"};
    return result == FP_STORE_OK ? prune(store, &sessions, pruned) : result;
}

/* Prunes function tables of scripts that no stored frame needs any more. */
static enum fp_store_result prune_function_tables(struct fp_store *store, size_t *pruned)
{
    char statement[128];
    snprintf(statement, sizeof(statement),
             "select fleetprof_data.prune_function_tables(interval '1 second' * %" PRId64 ")",
             store->settings.retention.facts_us / FP_US_PER_S);
    const struct fp_pg_query query = {.statement = statement};
    PGresult *answer;
    enum fp_store_result result = fp_pg_query(&store->connection, &query, &answer);
    if (result == FP_STORE_OK)
        *pruned += strtoul(PQgetvalue(answer, 0, 0), NULL, 10);
    PQclear(answer);
    return result;
}

struct dictionary {
    const char *name;
    const char *key;
    bool outlives_all; /* not only facts need it, but also kept sessions and the upload log */
};

/* Deletes a batch of the rows that the cursor `unseen` finds. *found: how many there were. */
static enum fp_store_result prune_batch(struct fp_store *store, const struct dictionary *dictionary,
                                        const char *unseen_since, size_t *found, size_t *pruned)
{
    char statement[160];
    snprintf(statement, sizeof(statement), "fetch %d from unseen", PRUNE_BATCH);
    const struct fp_pg_query fetch = {.statement = statement};
    PGresult *rows;
    enum fp_store_result result = fp_pg_query(&store->connection, &fetch, &rows);
    if (result != FP_STORE_OK)
        return result;
    struct fp_buf keys;
    fp_buf_init(&keys, PRUNE_KEYS_MAX);
    *found = (size_t)PQntuples(rows);
    for (int i = 0; i < PQntuples(rows); i++)
        fp_buf_addf(&keys, "%c%s", i == 0 ? '{' : ',', PQgetvalue(rows, i, 0));
    fp_buf_add(&keys, "}", sizeof("}"));
    PQclear(rows);
    snprintf(statement, sizeof(statement),
             "delete from fleetprof_data.%s where %s = any ($1::bigint[]) and last_seen < $2::date",
             dictionary->name, dictionary->key);
    const char *const values[] = {(const char *)keys.data, unseen_since};
    const struct fp_pg_query query = {
        .statement = statement, .values = values, .value_count = FP_COUNT(values)};
    if (keys.failed)
        result = FP_STORE_MEMORY;
    else if (*found > 0)
        result = prune(store, &query, pruned);
    fp_buf_release(&keys);
    return result;
}

/* Writes the last day that no row which is kept can need of this dictionary. Kept sessions and the
 * upload log need segments, as facts do. */
static void find_unseen_day(const struct dictionary *dictionary,
                            const struct fp_rollup_clock *clock, char day[FP_DAY_TEXT_MAX])
{
    int64_t oldest_us = clock->oldest_us;
    if (dictionary->outlives_all && clock->oldest_log_us < oldest_us)
        oldest_us = clock->oldest_log_us;
    if (dictionary->outlives_all && clock->oldest_session_us < oldest_us)
        oldest_us = clock->oldest_session_us;
    fp_store_day_text(fp_store_day_of(oldest_us) - DICTIONARY_DAYS_MORE, day);
}

/* Prunes a dictionary in short transactions. The rows are found by reading all of it once: an index
 * of last_seen would cost more, since that changes daily. */
static enum fp_store_result prune_dictionary(struct fp_store *store,
                                             const struct dictionary *dictionary,
                                             const char *unseen_since, bool *is_done,
                                             size_t *pruned)
{
    char statement[160];
    size_t found = PRUNE_BATCH;
    size_t all = 0;
    snprintf(statement, sizeof(statement),
             "declare unseen cursor with hold for select %s from fleetprof_data.%s"
             " where last_seen < '%s' limit %d",
             dictionary->key, dictionary->name, unseen_since, PRUNE_MAX);
    enum fp_store_result result = fp_pg_run(&store->connection, statement);
    while (result == FP_STORE_OK && found == PRUNE_BATCH) {
        result = prune_batch(store, dictionary, unseen_since, &found, pruned);
        all += found;
    }
    *is_done = *is_done && all < PRUNE_MAX;
    return result == FP_STORE_OK ? fp_pg_run(&store->connection, "close unseen") : result;
}

/* Prunes callers last: a row goes after those that refer to it. *is_done: all of them. */
static enum fp_store_result prune_dictionaries(struct fp_store *store,
                                               const struct fp_rollup_clock *clock, bool *is_done,
                                               size_t *pruned)
{
    static const struct dictionary dictionaries[] = {
        {"stack", "stack_id", false},       {"frame", "frame_id", false},
        {"resource", "resource_id", false}, {"timing", "timing_id", false},
        {"cohort", "group_id", false},      {"segment", "segment_id", true},
    };
    enum fp_store_result result = FP_STORE_OK;
    *is_done = true;
    for (size_t i = 0; result == FP_STORE_OK && i < FP_COUNT(dictionaries); i++) {
        char unseen_since[FP_DAY_TEXT_MAX];
        find_unseen_day(&dictionaries[i], clock, unseen_since);
        result = prune_dictionary(store, &dictionaries[i], unseen_since, is_done, pruned);
    }
    return result;
}

static enum fp_store_result keep_house(struct fp_store *store, struct fp_store_chores *chores)
{
    struct fp_rollup_clock clock;
    struct first_days first;
    enum fp_store_result result = fp_store_read_clock(store, &clock);
    if (result != FP_STORE_OK)
        return result;
    int64_t today = fp_store_day_of(clock.now_us);
    find_first_days(store, &clock, &first);
    result = make_ahead(store, today, &chores->partitions_made);
    if (result == FP_STORE_OK)
        result = keep_sites(store);
    if (result == FP_STORE_OK)
        result = drop_behind(store, &first, &chores->partitions_dropped);
    if (result == FP_STORE_OK)
        result = move_horizon(store, &first);
    if (result == FP_STORE_OK)
        result = prune_books(store, &chores->rows_pruned);
    if (result == FP_STORE_OK)
        result = prune_function_tables(store, &chores->rows_pruned);
    if (result == FP_STORE_OK && store->pruned_day != today) {
        bool is_done;
        result = prune_dictionaries(store, &clock, &is_done, &chores->rows_pruned);
        if (result == FP_STORE_OK && is_done)
            store->pruned_day = today;
    }
    return result;
}

enum fp_store_result fp_store_housekeep(struct fp_store *store, struct fp_store_chores *chores)
{
    struct fp_pg *connection = &store->connection;
    *chores = (struct fp_store_chores){0};
    /* Pruning after a long pause is slow. */
    enum fp_store_result result = fp_pg_run(connection, "set statement_timeout = '10min'");
    if (result == FP_STORE_OK)
        result = keep_house(store, chores);
    if (result == FP_STORE_OK)
        result = fp_pg_run(connection, "set statement_timeout = '60s'");
    if (result != FP_STORE_OK)
        fp_pg_close(connection); /* and the time-out with it, and an open cursor */
    return result;
}
