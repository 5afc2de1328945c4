/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the store's files.
 */
#ifndef FP_STORE_STORE_INTERNAL_H
#define FP_STORE_STORE_INTERNAL_H

#include "collector/base/buf.h"
#include "collector/base/map.h"
#include "collector/store/connection.h"
#include "collector/store/store.h"

/* Maximum number of days whose partitions are remembered as made. */
#define FP_STORE_MADE_DAYS 64

/* Maximum number of dictionary rows remembered as touched today: 8 MiB of map. */
#define FP_STORE_TOUCHED_MAX 390000

/* Columns of a table that is not copied into. */
#define FP_STORE_COLUMNS_MAX 24

struct fp_store {
    struct fp_store_settings settings;
    struct fp_pg connection;
    struct fp_buf begin; /* what begins a transaction on this server */
    struct fp_uuid turn; /* the name under which this store takes turns; all 0: none yet */
    struct fp_buf sql;   /* the statement being written */
    struct fp_buf rows;  /* copy data being sent */
    struct fp_buf columns[FP_STORE_COLUMNS_MAX]; /* of rows being merged, an array each */
    /* The key of the packed rows of the current flush. The position alone is not enough where it
     * cannot move: then the flush has an id of its own in place of the spool's. */
    struct fp_uuid flush_spool_id;
    uint64_t flush_position;
    int64_t made_days[FP_STORE_MADE_DAYS]; /* days since 1970, a ring */
    size_t made_count;                     /* days ever put into the ring since connecting */
    struct fp_map touched; /* ids of dictionary rows that were written on touched_day */
    int64_t touched_day;
    enum fp_database_state state; /* while all goes well */
    int64_t pruned_day;           /* the last day on which dictionaries were pruned, 0: none */
    const char *sites;            /* fp_config_print_sites, NULL: nothing */
};

#define FP_DAY_TEXT_MAX 16

/* Writes a day (since 1970, UTC) as YYYY-MM-DD. */
void fp_store_day_text(int64_t day, char text[FP_DAY_TEXT_MAX]);

#define FP_TIME_TEXT_MAX 32

/* Writes a moment as YYYY-MM-DD HH:MM:SS+00. */
void fp_store_time_text(int64_t moment_us, char text[FP_TIME_TEXT_MAX]);

/* Returns the day (since 1970, UTC) that contains a moment. */
int64_t fp_store_day_of(int64_t moment_us);

/* The known times; microseconds since 1970. */
struct fp_store_witnesses {
    int64_t database_us;
    int64_t collector_us;
    int64_t trusted_us; /* when housekeeping last trusted the clocks; 0: never */
    bool is_unborn;     /* never, although the schema would note it */
};
enum fp_store_result fp_store_read_witnesses(struct fp_store *store,
                                             struct fp_store_witnesses *witnesses) FP_MUST_CHECK;

/* Lets the database judge whether housekeeping may destroy anything (judge_clock). */
enum fp_store_result fp_store_judge_clock(struct fp_store *store,
                                          enum fp_retention_refusal *refusal) FP_MUST_CHECK;

/* Makes partitions for the days in a PostgreSQL array's text form; *made counts the tables. */
enum fp_store_result fp_store_make_partitions(struct fp_store *store, const char *days,
                                              size_t *made) FP_MUST_CHECK;

/* True if the partitions of a day are known to exist. */
bool fp_store_has_made(const struct fp_store *store, int64_t day);

/* Writes what begins a transaction on this server. */
enum fp_store_result fp_store_read_server(struct fp_store *store) FP_MUST_CHECK;

/* Runs one statement in a transaction; on FP_STORE_OK the caller clears *rows. */
enum fp_store_result fp_store_transact(struct fp_store *store, const struct fp_pg_query *query,
                                       PGresult **rows) FP_MUST_CHECK;

/* Returns the statement in store->sql, NULL when it did not fit. */
const char *fp_store_sql(struct fp_store *store);

/* Begins the copy that store->sql says, with store->rows as its buffer. */
enum fp_store_result fp_store_copy_begin(struct fp_store *store) FP_MUST_CHECK;

/* Sends store->rows once they are long enough. */
enum fp_store_result fp_store_copy_more(struct fp_store *store) FP_MUST_CHECK;

/* Sends the rest of store->rows and ends the copy. */
enum fp_store_result fp_store_copy_end(struct fp_store *store) FP_MUST_CHECK;

/* Writes the rollup's facts as packed rows, and notes them as unsealed. Adds the number of their
 * entries to *entries. */
enum fp_store_result fp_store_write_facts(struct fp_store *store, struct fp_rollup *rollup,
                                          size_t *entries) FP_MUST_CHECK;

#endif
