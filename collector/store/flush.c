/*
 * Flush: writes a rollup as rows. docs/schema.md gives the order and its reasons.
 */
#include "collector/base/clock.h"
#include "collector/base/uuid.h"
#include "collector/store/copy_binary.h"
#include "collector/store/store_internal.h"

#include <inttypes.h>

enum {
    CHUNK_ROWS = 10000, /* per statement: more cost HOT updates of last_seen, fewer round trips */
    PUT_BYTES = 64 * 1024
};

#define PAGES_MAX ((size_t)UINT32_MAX - 1) /* of any table of PostgreSQL */

/* Called for each key that a book table returns, because the key was new. */
typedef void new_key_fn(struct fp_rollup *rollup, const struct fp_claim_key *key);

static enum fp_store_result put_rows(struct fp_store *store)
{
    if (store->rows.failed)
        return FP_STORE_MEMORY;
    enum fp_store_result result = fp_pg_put(&store->connection, store->rows.data, store->rows.len);
    fp_buf_clear(&store->rows);
    return result;
}

enum fp_store_result fp_store_copy_begin(struct fp_store *store)
{
    const char *statement = fp_store_sql(store);
    fp_buf_clear(&store->rows);
    fp_copy_begin(&store->rows);
    return statement != NULL ? fp_pg_copy(&store->connection, statement) : FP_STORE_MEMORY;
}

enum fp_store_result fp_store_copy_more(struct fp_store *store)
{
    return store->rows.len >= PUT_BYTES || store->rows.failed ? put_rows(store) : FP_STORE_OK;
}

enum fp_store_result fp_store_copy_end(struct fp_store *store)
{
    fp_copy_end(&store->rows);
    enum fp_store_result result = put_rows(store);
    return result == FP_STORE_OK ? fp_pg_copy_end(&store->connection) : result;
}

static bool is_wanted(const struct fp_store_table *target, const struct fp_rollup *rollup,
                      const void *row)
{
    return target->wants == NULL || target->wants(rollup, row);
}

static bool has_wanted(const struct fp_store_table *target, const struct fp_rollup *rollup)
{
    const struct fp_rows *source = &rollup->tables[target->source];
    for (size_t i = 0; i < source->count; i++)
        if (is_wanted(target, rollup, fp_rows_at(source, i)))
            return true;
    return false;
}

/* Copies the sorted rows that need writing into the target's temporary table, or into the log. */
static enum fp_store_result copy_rows(struct fp_store *store, const struct fp_store_table *target,
                                      const struct fp_rollup *rollup, size_t *count)
{
    const struct fp_rows *source = &rollup->tables[target->source];
    *count = 0;
    fp_buf_clear(&store->sql);
    fp_store_table_copy_sql(target, &store->sql);
    enum fp_store_result result = fp_store_copy_begin(store);
    for (size_t i = 0; result == FP_STORE_OK && i < source->count; i++) {
        const void *row = fp_rows_sorted(source, i);
        if (!is_wanted(target, rollup, row))
            continue;
        fp_copy_row(target, row, &store->rows);
        ++*count;
        result = fp_store_copy_more(store);
    }
    return result == FP_STORE_OK ? fp_store_copy_end(store) : result;
}

/* Returns the key in a row that a book table returned: its id and site. */
static struct fp_claim_key returned_key(const PGresult *rows, int row)
{
    struct fp_uuid id;
    uint64_t site_id;
    memcpy(id.bytes, PQgetvalue(rows, row, 0), sizeof(id.bytes));
    memcpy(&site_id, PQgetvalue(rows, row, 1), sizeof(site_id));
    return fp_claim_key(&id, (int64_t)be64toh(site_id));
}

/* Counts the pages of the target's temporary table. */
static enum fp_store_result count_pages(struct fp_store *store, const struct fp_store_table *target,
                                        size_t *pages)
{
    const char *const values[] = {target->name};
    const struct fp_pg_query query = {
        .statement = "select pg_relation_size(('pg_temp.new_' || $1)::regclass) / "
                     "current_setting('block_size')::bigint",
        .values = values,
        .value_count = 1,
    };
    PGresult *answer;
    enum fp_store_result result = fp_pg_query(&store->connection, &query, &answer);
    if (result == FP_STORE_OK)
        *pages = strtoul(PQgetvalue(answer, 0, 0), NULL, 10);
    PQclear(answer);
    return result;
}

/* Merges the rows of the pages from `first` up to, but not including, `end`. */
static enum fp_store_result merge_pages(struct fp_store *store, const char *statement, size_t first,
                                        size_t end, PGresult **rows)
{
    char first_tid[32];
    char end_tid[32];
    snprintf(first_tid, sizeof(first_tid), "(%zu,0)", first);
    snprintf(end_tid, sizeof(end_tid), "(%zu,0)", end);
    const char *const values[] = {first_tid, end_tid};
    const struct fp_pg_query query = {
        .statement = statement, .values = values, .value_count = 2, .binary = true};
    return fp_pg_query(&store->connection, &query, rows);
}

/* Merges `count` copied rows, about CHUNK_ROWS per statement. For a book table, calls `on_new` for
 * each new key; for others on_new is NULL. */
static enum fp_store_result merge_rows(struct fp_store *store, const struct fp_store_table *target,
                                       size_t count, struct fp_rollup *rollup, new_key_fn *on_new)
{
    size_t pages = PAGES_MAX;
    size_t chunks = (count + CHUNK_ROWS - 1) / CHUNK_ROWS;
    enum fp_store_result result = chunks > 1 ? count_pages(store, target, &pages) : FP_STORE_OK;
    fp_buf_clear(&store->sql);
    fp_store_table_merge_sql(target, &store->sql);
    const char *statement = fp_store_sql(store);
    if (statement == NULL)
        return FP_STORE_MEMORY;
    for (size_t chunk = 0; result == FP_STORE_OK && chunk < chunks; chunk++) {
        PGresult *rows;
        result = merge_pages(store, statement, pages * chunk / chunks, pages * (chunk + 1) / chunks,
                             &rows);
        if (result == FP_STORE_OK && on_new != NULL)
            for (int i = 0; i < PQntuples(rows); i++) {
                struct fp_claim_key key = returned_key(rows, i);
                on_new(rollup, &key);
            }
        PQclear(rows);
    }
    return result;
}

/* Writes a target's rows; on_new has the same meaning as for merge_rows. */
static enum fp_store_result write_target(struct fp_store *store, enum fp_store_table_id id,
                                         struct fp_rollup *rollup, new_key_fn *on_new)
{
    const struct fp_store_table *target = fp_store_table(id);
    size_t count;
    if (!has_wanted(target, rollup))
        return FP_STORE_OK;
    if (!fp_rows_sort(&rollup->tables[target->source]))
        return FP_STORE_MEMORY;
    enum fp_store_result result = copy_rows(store, target, rollup, &count);
    if (result != FP_STORE_OK || target->style == FP_STORE_TABLE_LOG)
        return result;
    return merge_rows(store, target, count, rollup, on_new);
}

static enum fp_store_result write_targets(struct fp_store *store, struct fp_rollup *rollup,
                                          enum fp_store_table_id first, enum fp_store_table_id last)
{
    enum fp_store_result result = FP_STORE_OK;
    for (enum fp_store_table_id id = first; result == FP_STORE_OK && id <= last; id++)
        result = write_target(store, id, rollup, NULL);
    return result;
}

/* Commits. Does not mistake a transaction that failed unnoticed for a committed one. */
static enum fp_store_result commit(struct fp_store *store)
{
    const struct fp_pg_query query = {.statement = "commit"};
    PGresult *answer;
    enum fp_store_result result = fp_pg_query(&store->connection, &query, &answer);
    if (result == FP_STORE_OK && strcmp(PQcmdStatus(answer), "COMMIT") != 0)
        result = FP_STORE_TROUBLE;
    PQclear(answer);
    return result;
}

const struct fp_map *fp_store_touched(const struct fp_store *store)
{
    return &store->touched;
}

/* Forgets all touched rows on a new day, and when the map is full. */
static void forget_touched(struct fp_store *store, const struct fp_rollup *rollup)
{
    int64_t today = fp_store_day_of(rollup->clock.now_us);
    if (today != store->touched_day || store->touched.count >= FP_STORE_TOUCHED_MAX)
        fp_map_clear(&store->touched);
    store->touched_day = today;
}

static void remember_touched(struct fp_store *store, const struct fp_rollup *rollup)
{
    for (size_t table = FP_ROLLUP_TABLE_SEGMENT; table <= FP_ROLLUP_TABLE_TIMING; table++)
        for (size_t i = 0; i < rollup->tables[table].count; i++) {
            const uint64_t *id = fp_rows_at(&rollup->tables[table], i);
            /* A row that does not fit in the map is written again next time. */
            if (fp_map_put(&store->touched, *id, 0) == FP_MAP_NONE)
                return;
        }
}

/* Writes the dictionaries in a transaction of their own: on a cluster, their locks affect many
 * nodes. */
static enum fp_store_result write_dictionaries(struct fp_store *store, struct fp_rollup *rollup)
{
    bool wanted = false;
    forget_touched(store, rollup);
    for (enum fp_store_table_id id = FP_STORE_TABLE_SEGMENT; !wanted && id <= FP_STORE_TABLE_TIMING;
         id++)
        wanted = has_wanted(fp_store_table(id), rollup);
    if (!wanted)
        return FP_STORE_OK;
    enum fp_store_result result = fp_pg_run(&store->connection, "begin");
    if (result == FP_STORE_OK)
        result = write_targets(store, rollup, FP_STORE_TABLE_SEGMENT, FP_STORE_TABLE_TIMING);
    if (result == FP_STORE_OK)
        result = commit(store);
    if (result == FP_STORE_OK)
        remember_touched(store, rollup);
    return result;
}

/* Makes the partitions for the rollup's days, except those that are known to exist. */
static enum fp_store_result ensure_partitions(struct fp_store *store,
                                              const struct fp_rollup *rollup)
{
    const struct fp_rows *hours = &rollup->tables[FP_ROLLUP_TABLE_HOUR];
    fp_buf_clear(&store->sql);
    for (size_t i = 0; i < hours->count; i++) {
        const struct fp_hour_row *hour = fp_rows_at(hours, i);
        int64_t day = fp_store_day_of(hour->key.bucket_us);
        if (fp_store_has_made(store, day))
            continue;
        char text[FP_DAY_TEXT_MAX];
        fp_store_day_text(day, text);
        fp_buf_addf(&store->sql, "%c%s", store->sql.len == 0 ? '{' : ',', text);
        store->made_days[store->made_count++ % FP_STORE_MADE_DAYS] = day;
    }
    if (store->sql.len == 0)
        return FP_STORE_OK;
    fp_buf_addf(&store->sql, "}");
    const char *days = fp_store_sql(store);
    size_t made;
    enum fp_store_result result =
        days != NULL ? fp_store_make_partitions(store, days, &made) : FP_STORE_MEMORY;
    if (result != FP_STORE_OK)
        store->made_count = 0;
    return result;
}

static enum fp_store_result move_position(struct fp_store *store,
                                          const struct fp_store_window *window)
{
    char id[FP_UUID_TEXT_LEN + 1];
    char start[24];
    char end[24];
    fp_uuid_format(&window->spool_id, id);
    snprintf(start, sizeof(start), "%" PRIu64, window->start);
    snprintf(end, sizeof(end), "%" PRIu64, window->end);
    const char *const values[] = {id, start, end};
    const struct fp_pg_query query = {
        .statement = "update fleetprof_data.spool_position set position = $3, updated = now() "
                     "where spool_id = $1 and position = $2",
        .values = values,
        .value_count = 3,
    };
    PGresult *answer;
    enum fp_store_result result = fp_pg_query(&store->connection, &query, &answer);
    if (result == FP_STORE_OK && strcmp(PQcmdTuples(answer), "1") != 0)
        result = FP_STORE_MOVED;
    PQclear(answer);
    return result;
}

static void mark_new_upload(struct fp_rollup *rollup, const struct fp_claim_key *key)
{
    struct fp_upload_row *upload =
        fp_rows_find(&rollup->tables[FP_ROLLUP_TABLE_UPLOAD], &key->high);
    if (upload != NULL)
        upload->known = false;
}

/* Claims the upload ids. The database already knows each id that it does not return. */
static enum fp_store_result claim_uploads(struct fp_store *store, struct fp_rollup *rollup,
                                          size_t *known)
{
    struct fp_rows *uploads = &rollup->tables[FP_ROLLUP_TABLE_UPLOAD];
    for (size_t i = 0; i < uploads->count; i++)
        ((struct fp_upload_row *)fp_rows_at(uploads, i))->known = true;
    enum fp_store_result result =
        write_target(store, FP_STORE_TABLE_UPLOAD_ID, rollup, mark_new_upload);
    *known = 0;
    for (size_t i = 0; i < uploads->count; i++)
        *known += ((struct fp_upload_row *)fp_rows_at(uploads, i))->known ? 1 : 0;
    return result;
}

/* Chooses the key of the flush's packed rows. False: the system gives no random bytes. */
static bool name_flush(struct fp_store *store, const struct fp_store_window *window)
{
    store->flush_spool_id = window->spool_id;
    store->flush_position = window->end;
    return window->end != window->start || fp_uuid_random(&store->flush_spool_id);
}

enum fp_store_result fp_store_claim(struct fp_store *store, const struct fp_store_window *window,
                                    struct fp_rollup *rollup, size_t *known)
{
    *known = 0;
    if (!name_flush(store, window))
        return FP_STORE_MEMORY;
    enum fp_store_result result = write_dictionaries(store, rollup);
    if (result == FP_STORE_OK)
        result = ensure_partitions(store, rollup);
    if (result == FP_STORE_OK)
        result = fp_pg_run(&store->connection, "begin");
    if (result == FP_STORE_OK)
        result = move_position(store, window);
    if (result == FP_STORE_OK)
        result = claim_uploads(store, rollup, known);
    if (result != FP_STORE_OK)
        fp_store_abandon(store);
    return result;
}

static void count_new_load(struct fp_rollup *rollup, const struct fp_claim_key *key)
{
    /* Only a load that was sent can be returned. */
    bool counted = fp_rollup_count_load(rollup, key);
    (void)counted;
}

enum fp_store_result fp_store_commit(struct fp_store *store, struct fp_rollup *rollup,
                                     size_t *entries)
{
    *entries = 0;
    enum fp_store_result result =
        write_target(store, FP_STORE_TABLE_LOAD_ID, rollup, count_new_load);
    if (result == FP_STORE_OK)
        result = fp_store_write_facts(store, rollup, entries);
    if (result == FP_STORE_OK)
        result = write_targets(store, rollup, FP_STORE_TABLE_SESSION, FP_STORE_TABLE_UPLOAD);
    if (result == FP_STORE_OK)
        result = commit(store);
    if (result != FP_STORE_OK)
        fp_store_abandon(store);
    return result;
}

void fp_store_abandon(struct fp_store *store)
{
    fp_pg_rollback(&store->connection);
}
