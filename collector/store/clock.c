/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clock: which time it is, by three witnesses: the clocks of database and collector, and the moment
 * that housekeeping trusted last.
 *
 * Clocks jump: a machine boots with an empty clock, a virtual machine is restored. Acknowledged
 * uploads must count in an hour that is kept, so the clock nearest to the trusted moment is
 * believed. What destroys asks fleetprof_data.judge_clock, which is stricter.
 */
#include "collector/base/clock.h"
#include "collector/store/store_internal.h"

#include <inttypes.h>
#include <stdlib.h>

static bool agree(int64_t one_us, int64_t other_us)
{
    return llabs(one_us - other_us) <= FP_CLOCK_AGREEMENT_US;
}

/* Returns the start of the oldest day that is kept. Whole days are dropped, so whole days
 * expire. */
static int64_t oldest_kept_us(int64_t now_us, int64_t kept_us)
{
    return fp_store_day_of(now_us - kept_us) * FP_US_PER_DAY;
}

/* Returns the time that is believed. */
static int64_t believed_us(const struct fp_store_witnesses *witnesses)
{
    int64_t database_us = witnesses->database_us;
    int64_t trusted_us = witnesses->trusted_us;
    int64_t collector_us = witnesses->collector_us;
    int64_t best_us = database_us;
    /* The later one, until clocks were trusted: a machine without a battery boots in the past, and
     * what is filed there is soon past its retention. */
    if (witnesses->is_unborn && !agree(database_us, collector_us) && collector_us > database_us)
        return collector_us;
    if (trusted_us == 0)
        return database_us;
    if (!agree(database_us, collector_us) &&
        llabs(collector_us - trusted_us) < llabs(database_us - trusted_us))
        best_us = collector_us;
    /* It was later already: what is filed further back would soon be past its retention. */
    return best_us < trusted_us - FP_CLOCK_AGREEMENT_US ? trusted_us : best_us;
}

enum fp_store_result fp_store_read_witnesses(struct fp_store *store,
                                             struct fp_store_witnesses *witnesses)
{
    /* A schema that is older than the table works without it. */
    bool is_older = store->state == FP_DATABASE_SCHEMA_OLDER;
    const struct fp_pg_query query = {
        .statement = is_older
                         ? "select (extract(epoch from clock_timestamp()) * 1000000)::bigint, null"
                         : "select (extract(epoch from clock_timestamp()) * 1000000)::bigint, "
                           "(select (extract(epoch from trusted) * 1000000)::bigint "
                           "from fleetprof_data.retention_clock)",
    };
    PGresult *row;
    enum fp_store_result result = fp_pg_query(&store->connection, &query, &row);
    if (result == FP_STORE_OK)
        *witnesses = (struct fp_store_witnesses){
            .database_us = strtoll(PQgetvalue(row, 0, 0), NULL, 10),
            .trusted_us = strtoll(PQgetvalue(row, 0, 1), NULL, 10), /* "" for null */
            .collector_us = fp_clock_real_us(),
            .is_unborn = !is_older && PQgetisnull(row, 0, 1),
        };
    PQclear(row);
    return result;
}

enum fp_store_result fp_store_read_database_clock(struct fp_store *store, int64_t *now_us)
{
    struct fp_store_witnesses witnesses = {0};
    enum fp_store_result result = fp_store_read_witnesses(store, &witnesses);
    *now_us = witnesses.database_us;
    return result;
}

enum fp_store_result fp_store_read_clock(struct fp_store *store, struct fp_rollup_clock *clock)
{
    struct fp_store_witnesses witnesses;
    enum fp_store_result result = fp_store_read_witnesses(store, &witnesses);
    if (result != FP_STORE_OK)
        return result;
    const struct fp_retention *retention = &store->settings.retention;
    int64_t now_us = believed_us(&witnesses);
    /* Nothing goes without its log row for a clock that may be far ahead. */
    int64_t kept_us =
        witnesses.trusted_us != 0 && now_us > witnesses.trusted_us + FP_CLOCK_AGREEMENT_US
            ? witnesses.trusted_us
            : now_us;
    *clock = (struct fp_rollup_clock){
        .now_us = now_us,
        .collector_us = agree(now_us, witnesses.collector_us) ? 0 : witnesses.collector_us,
        .oldest_us = oldest_kept_us(kept_us, retention->facts_us),
        .oldest_log_us = oldest_kept_us(kept_us, retention->upload_log_us),
        .oldest_session_us = oldest_kept_us(kept_us, retention->sessions_us),
    };
    return FP_STORE_OK;
}

enum fp_store_result fp_store_judge_clock(struct fp_store *store,
                                          enum fp_retention_refusal *refusal)
{
    static const char *const names[] = FP_RETENTION_REFUSAL_NAMES;
    char collector[24];
    snprintf(collector, sizeof(collector), "%" PRId64, fp_clock_real_us());
    const char *const values[] = {collector};
    const struct fp_pg_query query = {
        .statement = "select fleetprof_data.judge_clock(to_timestamp($1::bigint / 1000000.0))",
        .values = values,
        .value_count = 1,
    };
    PGresult *answer;
    enum fp_store_result result = fp_store_transact(store, &query, &answer);
    *refusal = FP_RETENTION_WORKS;
    for (size_t i = 0; result == FP_STORE_OK && i < FP_COUNT(names); i++)
        if (strcmp(PQgetvalue(answer, 0, 0), names[i]) == 0)
            *refusal = (enum fp_retention_refusal)i;
    PQclear(answer);
    return result;
}
