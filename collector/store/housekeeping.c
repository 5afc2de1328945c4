/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Housekeeping: makes partitions for the next days, drops expired ones, and prunes rows that are no
 * longer needed. It destroys nothing while the clocks are in doubt (clock.c).
 */
#include "collector/base/clock.h"
#include "collector/base/log.h"
#include "collector/store/store_internal.h"

#include <inttypes.h>

enum {
    DAYS_AHEAD = 2,
    HOUSE_STATEMENT_S = 600, /* pruning after a long pause is slow */
    /* Partitions to drop in one run, an hour apart. A day's are at most 21, and 400 days of a
     * retention that was shortened are gone within a day; a retention that was shortened by mistake
     * costs no more than this before somebody reads the log. */
    DROP_MAX = 64,
    /* Days for which dictionary rows outlive the retention of what needs them: a partition of facts
     * may hold eight days, a bucket may be an hour ahead, and days and retention begin at different
     * times. */
    DICTIONARY_DAYS_MORE = 10,
    /* Rows of a dictionary to prune in one transaction: flushes that need one of them wait. */
    PRUNE_BATCH = 5000,
    /* Rows to find at once: 22 bytes of memory each. */
    PRUNE_FOUND = 40 * PRUNE_BATCH,
    /* Rows to prune in one housekeeping: sealing waits. The next one continues. */
    PRUNE_MAX = 1000000,
};

/* The first day of each kind of row that is kept, as text. */
struct first_days {
    char facts[FP_DAY_TEXT_MAX];
    char hours[FP_DAY_TEXT_MAX];
    char uploads[FP_DAY_TEXT_MAX];
    char sessions[FP_DAY_TEXT_MAX];
};

/* Runs a statement in a transaction of its own, in which nobody seals or keeps house. */
static enum fp_store_result run_in_turn(struct fp_store *store, const struct fp_pg_query *query,
                                        PGresult **answer)
{
    bool is_kept;
    *answer = NULL;
    enum fp_store_result result = fp_store_begin_turn(store, true, &is_kept);
    if (result == FP_STORE_OK)
        result = fp_pg_run(&store->connection, "set local statement_timeout = '10min'");
    if (result == FP_STORE_OK)
        result = fp_pg_query(&store->connection, query, answer);
    if (result == FP_STORE_OK)
        result = fp_store_end(store);
    if (result == FP_STORE_OK)
        return FP_STORE_OK;
    PQclear(*answer);
    *answer = NULL;
    fp_store_abandon(store);
    return result;
}

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

/* Drops one partition; *is_done: none is left. */
static enum fp_store_result drop_one(struct fp_store *store, const struct first_days *first,
                                     bool *is_done)
{
    const char *const values[] = {first->facts, first->hours, first->uploads, first->sessions};
    const struct fp_pg_query query = {
        .statement = "select fleetprof_data.drop_partition($1::date, $2::date, $3::date, $4::date)",
        .values = values,
        .value_count = FP_COUNT(values),
    };
    PGresult *rows;
    enum fp_store_result result = run_in_turn(store, &query, &rows);
    *is_done = result != FP_STORE_OK || PQgetisnull(rows, 0, 0);
    if (!*is_done)
        fp_log(FP_LOG_INFO, "partition dropped", "table=%s facts_from=%s uploads_from=%s",
               PQgetvalue(rows, 0, 0), first->facts, first->uploads);
    PQclear(rows);
    return result;
}

static enum fp_store_result drop_behind(struct fp_store *store, const struct first_days *first,
                                        struct fp_store_chores *chores)
{
    enum fp_store_result result = FP_STORE_OK;
    bool is_done = false;
    while (!is_done && chores->partitions_dropped < DROP_MAX) {
        result = drop_one(store, first, &is_done);
        if (is_done)
            return result;
        chores->partitions_dropped++;
        store->made_count = 0;
    }
    chores->has_more = true;
    return result;
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
    enum fp_store_result result = run_in_turn(store, &query, &answer);
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
    enum fp_store_result result = run_in_turn(store, &query, &answer);
    if (result == FP_STORE_OK && PQntuples(answer) == 1 && !PQgetisnull(answer, 0, 0))
        fp_log(FP_LOG_ERROR, "time zone unknown", "sites=%s", PQgetvalue(answer, 0, 0));
    PQclear(answer);
    return result;
}

/* Runs a delete and counts the rows. */
static enum fp_store_result prune(struct fp_store *store, const struct fp_pg_query *query,
                                  size_t *pruned)
{
    PGresult *answer;
    enum fp_store_result result = run_in_turn(store, query, &answer);
    if (result == FP_STORE_OK)
        *pruned += strtoul(PQcmdTuples(answer), NULL, 10);
    PQclear(answer);
    return result;
}

/* Books, with the type of their column `counted`. Of a vital the day is noted. A comparison of a
 * day with a time depends on the session's time zone, which Citus does not take. */
static const struct book {
    const char *name;
    const char *type;
} books[] = {{"upload_id", "timestamptz"}, {"load_id", "timestamptz"}, {"vital", "date"}};

static enum fp_store_result prune_books(struct fp_store *store, size_t *pruned)
{
    int64_t seconds = store->settings.retention.upload_ids_us / FP_US_PER_S;
    enum fp_store_result result = FP_STORE_OK;
    for (size_t i = 0; result == FP_STORE_OK && i < FP_COUNT(books); i++) {
        char statement[160];
        snprintf(statement, sizeof(statement),
                 "delete from fleetprof_data.%s where counted < (now() - interval '1 second' * "
                 "%" PRId64 ")::%s",
                 books[i].name, seconds, books[i].type);
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
    enum fp_store_result result = run_in_turn(store, &query, &answer);
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

/* Deletes a batch of rows, unless they were seen meanwhile. keys: the text of an array. */
static enum fp_store_result prune_batch(struct fp_store *store, const struct dictionary *dictionary,
                                        const char *unseen_since, const char *keys, size_t *pruned)
{
    char statement[160];
    snprintf(statement, sizeof(statement),
             "delete from fleetprof_data.%s where %s = any ($1::bigint[]) and last_seen < $2::date",
             dictionary->name, dictionary->key);
    const char *const values[] = {keys, unseen_since};
    const struct fp_pg_query query = {
        .statement = statement, .values = values, .value_count = FP_COUNT(values)};
    return prune(store, &query, pruned);
}

/* Finds rows that were not seen since a day: an array of keys for each batch. */
static enum fp_store_result find_unseen(struct fp_store *store, const struct dictionary *dictionary,
                                        const char *unseen_since, PGresult **batches)
{
    char statement[320];
    snprintf(statement, sizeof(statement),
             "select array_agg(key), count(*) from ("
             "select %s as key, (row_number() over () - 1) / %d as batch from ("
             "select %s from fleetprof_data.%s where last_seen < $1::date limit %d) as unseen"
             ") as numbered group by batch order by batch",
             dictionary->key, PRUNE_BATCH, dictionary->key, dictionary->name, PRUNE_FOUND);
    const struct fp_pg_query query = {
        .statement = statement, .values = &unseen_since, .value_count = 1};
    return run_in_turn(store, &query, batches);
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

/* Prunes a dictionary in short transactions. The rows are found by reading all of it: an index of
 * last_seen would cost more, since that changes daily. */
static enum fp_store_result prune_dictionary(struct fp_store *store,
                                             const struct dictionary *dictionary,
                                             const char *unseen_since, bool *is_done,
                                             size_t *pruned)
{
    enum fp_store_result result = FP_STORE_OK;
    size_t found = PRUNE_FOUND;
    size_t all = 0;
    while (result == FP_STORE_OK && found == PRUNE_FOUND && all < PRUNE_MAX) {
        PGresult *batches;
        result = find_unseen(store, dictionary, unseen_since, &batches);
        found = 0;
        for (int i = 0; result == FP_STORE_OK && i < PQntuples(batches); i++) {
            found += strtoul(PQgetvalue(batches, i, 1), NULL, 10);
            result =
                prune_batch(store, dictionary, unseen_since, PQgetvalue(batches, i, 0), pruned);
        }
        PQclear(batches);
        all += found;
    }
    *is_done = *is_done && found < PRUNE_FOUND;
    return result;
}

/* In the order of pruning: a row goes after those that refer to it. */
static const struct dictionary dictionaries[] = {
    {"stack", "stack_id", false},       {"frame", "frame_id", false},
    {"resource", "resource_id", false}, {"timing", "timing_id", false},
    {"cohort", "group_id", false},      {"segment", "segment_id", true},
};

/* Prunes all dictionaries. *is_done: to the end. */
static enum fp_store_result prune_dictionaries(struct fp_store *store,
                                               const struct fp_rollup_clock *clock, bool *is_done,
                                               size_t *pruned)
{
    enum fp_store_result result = FP_STORE_OK;
    *is_done = true;
    for (size_t i = 0; result == FP_STORE_OK && i < FP_COUNT(dictionaries); i++) {
        char unseen_since[FP_DAY_TEXT_MAX];
        find_unseen_day(&dictionaries[i], clock, unseen_since);
        result = prune_dictionary(store, &dictionaries[i], unseen_since, is_done, pruned);
    }
    return result;
}

/* Destroys what is past its retention. Rows that partitions need go after them. */
static enum fp_store_result destroy(struct fp_store *store, const struct fp_rollup_clock *clock,
                                    struct fp_store_chores *chores)
{
    struct first_days first;
    int64_t today = fp_store_day_of(clock->now_us);
    find_first_days(store, clock, &first);
    enum fp_store_result result = drop_behind(store, &first, chores);
    if (result != FP_STORE_OK || chores->has_more)
        return result;
    result = move_horizon(store, &first);
    if (result == FP_STORE_OK)
        result = prune_books(store, &chores->rows_pruned);
    if (result == FP_STORE_OK)
        result = prune_function_tables(store, &chores->rows_pruned);
    if (result == FP_STORE_OK && store->pruned_day != today) {
        bool is_done;
        result = prune_dictionaries(store, clock, &is_done, &chores->rows_pruned);
        if (result == FP_STORE_OK && is_done)
            store->pruned_day = today;
    }
    return result;
}

/* Notes what the witnesses say of the time, before they are judged. */
static enum fp_store_result hear_witnesses(struct fp_store *store, struct fp_store_chores *chores)
{
    struct fp_store_witnesses witnesses = {0};
    enum fp_store_result result = fp_store_read_witnesses(store, &witnesses);
    chores->database_us = witnesses.database_us;
    chores->collector_us = witnesses.collector_us;
    chores->trusted_us = witnesses.trusted_us;
    return result == FP_STORE_OK ? fp_store_judge_clock(store, &chores->refusal) : result;
}

static enum fp_store_result keep_house(struct fp_store *store, struct fp_store_chores *chores)
{
    struct fp_rollup_clock clock;
    enum fp_store_result result = hear_witnesses(store, chores);
    if (result == FP_STORE_OK)
        result = fp_store_read_clock(store, &clock);
    if (result == FP_STORE_OK)
        result = make_ahead(store, fp_store_day_of(clock.now_us), &chores->partitions_made);
    if (result == FP_STORE_OK)
        result = keep_sites(store);
    if (result == FP_STORE_OK && chores->refusal == FP_RETENTION_WORKS)
        result = destroy(store, &clock, chores);
    return result;
}

enum fp_store_result fp_store_housekeep(struct fp_store *store, struct fp_store_chores *chores)
{
    *chores = (struct fp_store_chores){0};
    store->connection.statement_timeout_s = HOUSE_STATEMENT_S;
    enum fp_store_result result = keep_house(store, chores);
    store->connection.statement_timeout_s = FP_PG_STATEMENT_TIMEOUT_S;
    return result;
}
