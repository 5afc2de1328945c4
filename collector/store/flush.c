/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flush: writes a rollup as rows. docs/internals/schema.md gives the order and its reasons.
 */
#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/base/uuid.h"
#include "collector/store/copy_binary.h"
#include "collector/store/store_internal.h"

#include <inttypes.h>
#include <limits.h>

enum {
    /* Per statement: more rows cost HOT updates of last_seen, fewer cost round trips. */
    CHUNK_ROWS = 10000,
    CHUNK_BYTES = 1024 * 1024,
};

/* Called for each row that the merge of a table returns. False: no room in the rollup. */
typedef bool returned_fn(struct fp_rollup *rollup, const PGresult *rows, int row);

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

/* Copies the sorted rows that need writing into the log. */
static enum fp_store_result copy_rows(struct fp_store *store, const struct fp_store_table *target,
                                      const struct fp_rollup *rollup)
{
    const struct fp_rows *source = &rollup->tables[target->source];
    fp_buf_clear(&store->sql);
    fp_store_table_copy_sql(target, &store->sql);
    enum fp_store_result result = fp_store_copy_begin(store);
    for (size_t i = 0; result == FP_STORE_OK && i < source->count; i++) {
        const void *row = fp_rows_sorted(source, i);
        if (!is_wanted(target, rollup, row))
            continue;
        fp_copy_row(target, row, &store->rows);
        result = fp_store_copy_more(store);
    }
    return result == FP_STORE_OK ? fp_store_copy_end(store) : result;
}

static struct fp_uuid uuid_at(const PGresult *rows, int row, int column)
{
    struct fp_uuid id;
    memcpy(id.bytes, PQgetvalue(rows, row, column), sizeof(id.bytes));
    return id;
}

static int64_t bigint_at(const PGresult *rows, int row, int column)
{
    uint64_t big;
    memcpy(&big, PQgetvalue(rows, row, column), sizeof(big));
    return (int64_t)be64toh(big);
}

static int32_t integer_at(const PGresult *rows, int row, int column)
{
    uint32_t big;
    memcpy(&big, PQgetvalue(rows, row, column), sizeof(big));
    return (int32_t)be32toh(big);
}

static int16_t smallint_at(const PGresult *rows, int row, int column)
{
    uint16_t big;
    memcpy(&big, PQgetvalue(rows, row, column), sizeof(big));
    return (int16_t)be16toh(big);
}

/* Returns a bytea, which lives as long as the result. */
static struct fp_str bytes_at(const PGresult *rows, int row, int column)
{
    return (struct fp_str){PQgetvalue(rows, row, column), (size_t)PQgetlength(rows, row, column)};
}

/* A database may know kinds that this version does not. */
static int32_t navigation_at(const PGresult *rows, int row, int column)
{
    const int16_t number = smallint_at(rows, row, column);
    return number > FP_NAVIGATION_UNKNOWN && number < FP_NAVIGATION_COUNT ? number
                                                                          : FP_NAVIGATION_UNKNOWN;
}

/* Returns the key in a row that a book table returned, because it was new: its id and site. */
static struct fp_claim_key returned_key(const PGresult *rows, int row)
{
    const struct fp_uuid id = uuid_at(rows, row, 0);
    return fp_claim_key(&id, bigint_at(rows, row, 1));
}

/* Sends the statement with the columns' arrays, and the time if the target's rows note it. */
static enum fp_store_result send_arrays(struct fp_store *store, const struct fp_store_table *target,
                                        const struct fp_rollup *rollup, PGresult **rows)
{
    const char *values[FP_STORE_COLUMNS_MAX + 1];
    int lengths[FP_STORE_COLUMNS_MAX + 1];
    int formats[FP_STORE_COLUMNS_MAX + 1];
    char now[FP_TIME_TEXT_MAX];
    for (size_t i = 0; i < target->column_count; i++) {
        if (store->columns[i].failed)
            return FP_STORE_MEMORY;
        FP_ASSERT(store->columns[i].len <= INT_MAX);
        values[i] = (const char *)store->columns[i].data;
        lengths[i] = (int)store->columns[i].len;
        formats[i] = 1;
    }
    fp_store_time_text(rollup->clock.now_us, now);
    values[target->column_count] = now;
    lengths[target->column_count] = 0; /* of a text: without meaning */
    formats[target->column_count] = 0;
    fp_buf_clear(&store->sql);
    fp_store_table_merge_sql(target, &store->sql);
    const struct fp_pg_query query = {.statement = fp_store_sql(store),
                                      .values = values,
                                      .value_count = (int)target->column_count +
                                                     (fp_store_table_is_dated(target) ? 1 : 0),
                                      .lengths = lengths,
                                      .formats = formats,
                                      .binary = true};
    return query.statement != NULL ? fp_pg_query(&store->connection, &query, rows)
                                   : FP_STORE_MEMORY;
}

/* Merges the collected rows. Calls `on_row` for each row that the statement returns; NULL: for
 * none.
 */
static enum fp_store_result merge_chunk(struct fp_store *store, const struct fp_store_table *target,
                                        size_t count, struct fp_rollup *rollup, returned_fn *on_row)
{
    PGresult *rows = NULL;
    FP_ASSERT(count > 0 && count <= CHUNK_ROWS);
    fp_array_end(target, count, store->columns);
    enum fp_store_result result = send_arrays(store, target, rollup, &rows);
    for (int i = 0; result == FP_STORE_OK && on_row != NULL && i < PQntuples(rows); i++)
        if (!on_row(rollup, rows, i))
            result = FP_STORE_MEMORY;
    PQclear(rows);
    return result;
}

static size_t collected_bytes(const struct fp_store *store, const struct fp_store_table *target)
{
    size_t bytes = 0;
    for (size_t i = 0; i < target->column_count; i++)
        bytes += store->columns[i].len;
    return bytes;
}

/* Merges the sorted rows that need writing, a chunk per statement; on_row as for merge_chunk. */
static enum fp_store_result merge_rows(struct fp_store *store, const struct fp_store_table *target,
                                       struct fp_rollup *rollup, returned_fn *on_row)
{
    const struct fp_rows *source = &rollup->tables[target->source];
    enum fp_store_result result = FP_STORE_OK;
    size_t count = 0;
    fp_array_begin(target, store->columns);
    for (size_t i = 0; result == FP_STORE_OK && i < source->count; i++) {
        const void *row = fp_rows_sorted(source, i);
        if (!is_wanted(target, rollup, row))
            continue;
        fp_array_row(target, row, store->columns);
        if (++count < CHUNK_ROWS && collected_bytes(store, target) < CHUNK_BYTES)
            continue;
        result = merge_chunk(store, target, count, rollup, on_row);
        fp_array_begin(target, store->columns);
        count = 0;
    }
    return result == FP_STORE_OK && count > 0 ? merge_chunk(store, target, count, rollup, on_row)
                                              : result;
}

/* Gives back what a large row took. */
static void shrink_columns(struct fp_store *store)
{
    for (size_t i = 0; i < FP_STORE_COLUMNS_MAX; i++)
        if (store->columns[i].cap > (size_t)2 * CHUNK_BYTES)
            fp_buf_release(&store->columns[i]);
}

/* Writes a target's rows; on_row has the same meaning as for merge_chunk. */
static enum fp_store_result write_target(struct fp_store *store, enum fp_store_table_id id,
                                         struct fp_rollup *rollup, returned_fn *on_row)
{
    const struct fp_store_table *target = fp_store_table(id);
    if (!has_wanted(target, rollup))
        return FP_STORE_OK;
    if (!fp_rows_sort(&rollup->tables[target->source]))
        return FP_STORE_MEMORY;
    if (target->style == FP_STORE_TABLE_LOG)
        return copy_rows(store, target, rollup);
    FP_ASSERT(target->column_count <= FP_STORE_COLUMNS_MAX);
    enum fp_store_result result = merge_rows(store, target, rollup, on_row);
    shrink_columns(store);
    return result;
}

static enum fp_store_result write_targets(struct fp_store *store, struct fp_rollup *rollup,
                                          enum fp_store_table_id first, enum fp_store_table_id last)
{
    enum fp_store_result result = FP_STORE_OK;
    FP_ASSERT(first <= last && last < FP_STORE_TABLE_COUNT);
    for (enum fp_store_table_id id = first; result == FP_STORE_OK && id <= last; id++)
        result = write_target(store, id, rollup, NULL);
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
    const struct fp_rows *segments = &rollup->tables[FP_ROLLUP_TABLE_SEGMENT];
    for (size_t i = 0; i < segments->count; i++) {
        const struct fp_segment_row *row = fp_rows_at(segments, i);
        if (fp_map_put(&store->touched, (uint64_t)row->segment_id,
                       fp_segment_second(row->first_us)) == FP_MAP_NONE)
            return;
    }
    for (size_t table = FP_ROLLUP_TABLE_RESOURCE; table <= FP_ROLLUP_TABLE_TIMING; table++)
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
    enum fp_store_result result = fp_store_begin(store);
    if (result == FP_STORE_OK)
        result = write_targets(store, rollup, FP_STORE_TABLE_SEGMENT, FP_STORE_TABLE_TIMING);
    if (result == FP_STORE_OK)
        result = fp_store_end(store);
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

static bool mark_new_upload(struct fp_rollup *rollup, const PGresult *rows, int row)
{
    const struct fp_claim_key key = returned_key(rows, row);
    struct fp_upload_row *upload = fp_rows_find(&rollup->tables[FP_ROLLUP_TABLE_UPLOAD], &key.high);
    if (upload != NULL)
        upload->known = false;
    return true;
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
    FP_ASSERT(window->start <= window->end); /* the position only grows */
    store->flush_spool_id = window->spool_id;
    store->flush_position = window->end;
    return window->end != window->start || fp_uuid_random(&store->flush_spool_id);
}

/* Rolls a failed flush back. A pooler may have led the connection to another server since the last
 * one, such as a promoted standby: it may lack the names and partitions that were written. */
static void give_up(struct fp_store *store)
{
    store->made_count = 0;
    fp_map_clear(&store->touched);
    fp_store_abandon(store);
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
        result = fp_store_begin(store);
    if (result == FP_STORE_OK)
        result = move_position(store, window);
    if (result == FP_STORE_OK)
        result = claim_uploads(store, rollup, known);
    if (result != FP_STORE_OK)
        give_up(store);
    return result;
}

static bool count_new_load(struct fp_rollup *rollup, const PGresult *rows, int row)
{
    const struct fp_claim_key key = returned_key(rows, row);
    /* Only a load that was sent can be returned. */
    bool counted = fp_rollup_count_load(rollup, &key);
    (void)counted;
    return true;
}

/* Heeds a vital that the database did not know before, or knew with another value or an earlier
 * part. */
static bool settle_vital(struct fp_rollup *rollup, const PGresult *rows, int row)
{
    enum {
        ID,
        SENT,
        VALUE,
        SEGMENT,
        BUCKET,
        RATING,
        UPLOADS,
        NAVIGATION,
        ELEMENT,
        KNOWN_PARTS,
        PART,
        WITHOUT = PART + FP_VITAL_PARTS_MAX - 1,
        OWN_SEGMENT,
        OWN_BUCKET,
        OWN_NAVIGATION
    };
    const struct fp_uuid id = uuid_at(rows, row, ID);
    struct fp_vital_row *vital = fp_rollup_find_vital(rollup, &id);
    if (vital == NULL)
        return true;
    if (PQgetisnull(rows, row, VALUE)) {
        bool is_first = integer_at(rows, row, SENT) == 1;
        const struct fp_vital_count place = {
            .segment_id = bigint_at(rows, row, OWN_SEGMENT),
            .bucket_us = bigint_at(rows, row, OWN_BUCKET) + FP_STORE_EPOCH_US,
            .value_us = vital->count.value_us,
            .navigation = navigation_at(rows, row, OWN_NAVIGATION),
            .without = bytes_at(rows, row, WITHOUT),
        };
        if (is_first)
            return fp_rollup_keep_vital(rollup, vital, NULL);
        return PQgetisnull(rows, row, WITHOUT) || fp_rollup_keep_without(rollup, vital, &place);
    }
    struct fp_vital_count replaced = {
        .segment_id = bigint_at(rows, row, SEGMENT),
        .bucket_us = bigint_at(rows, row, BUCKET) + FP_STORE_EPOCH_US,
        .value_us = bigint_at(rows, row, VALUE),
        .rating = smallint_at(rows, row, RATING),
        .uploads = smallint_at(rows, row, UPLOADS),
        .navigation = navigation_at(rows, row, NAVIGATION),
        .element_id = bigint_at(rows, row, ELEMENT),
        .parts.known = bigint_at(rows, row, KNOWN_PARTS),
        .without = bytes_at(rows, row, WITHOUT),
    };
    for (int i = 0; i < (int)FP_COUNT(replaced.parts.us); i++)
        replaced.parts.us[i] = bigint_at(rows, row, PART + i);
    return fp_rollup_keep_vital(rollup, vital, &replaced);
}

/* Writes the vitals that may be sent again, and corrects the facts by what the database had. */
static enum fp_store_result settle_vitals(struct fp_store *store, struct fp_rollup *rollup)
{
    const struct fp_rows *vitals = &rollup->tables[FP_ROLLUP_TABLE_VITAL];
    enum fp_store_result result = write_target(store, FP_STORE_TABLE_VITAL, rollup, settle_vital);
    for (size_t i = 0; result == FP_STORE_OK && i < vitals->count; i++) {
        const struct fp_vital_row *vital = fp_rows_at(vitals, i);
        if (!vital->is_last && !fp_rollup_drop_vital(rollup, vital))
            result = FP_STORE_MEMORY;
    }
    return result;
}

/* Claims the load ids and writes all rows but the dictionaries'. */
static enum fp_store_result write_rows(struct fp_store *store, struct fp_rollup *rollup,
                                       size_t *entries)
{
    *entries = 0;
    enum fp_store_result result =
        write_target(store, FP_STORE_TABLE_LOAD_ID, rollup, count_new_load);
    if (result == FP_STORE_OK)
        result = settle_vitals(store, rollup);
    if (result == FP_STORE_OK)
        result = fp_store_write_facts(store, rollup, entries);
    if (result == FP_STORE_OK)
        result = write_targets(store, rollup, FP_STORE_TABLE_SESSION, FP_STORE_TABLE_UPLOAD);
    return result;
}

enum fp_store_result fp_store_commit(struct fp_store *store, struct fp_rollup *rollup,
                                     size_t *entries)
{
    enum fp_store_result result = write_rows(store, rollup, entries);
    if (result == FP_STORE_OK)
        result = fp_store_end(store);
    if (result != FP_STORE_OK)
        give_up(store);
    return result;
}

enum fp_store_result fp_store_rehearse(struct fp_store *store, const struct fp_store_window *window,
                                       struct fp_rollup *rollup, size_t *known)
{
    size_t entries = 0;
    *known = 0;
    if (!name_flush(store, window))
        return FP_STORE_MEMORY;
    enum fp_store_result result = ensure_partitions(store, rollup);
    if (result == FP_STORE_OK)
        result = fp_store_begin(store);
    if (result == FP_STORE_OK)
        result = write_targets(store, rollup, FP_STORE_TABLE_SEGMENT, FP_STORE_TABLE_TIMING);
    if (result == FP_STORE_OK && window->end != window->start)
        result = move_position(store, window);
    if (result == FP_STORE_OK)
        result = claim_uploads(store, rollup, known);
    if (result == FP_STORE_OK)
        result = write_rows(store, rollup, &entries);
    if (result == FP_STORE_OK)
        result = fp_pg_run(&store->connection, "set constraints all immediate");
    fp_store_abandon(store);
    return result;
}
