/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealing: finds what is due, and does it one step after another.
 */
#include "collector/base/assert.h"
#include "collector/base/hash.h"
#include "collector/sealer/internal.h"

#include <stdlib.h>

enum {
    SQL_MAX = 16 * 1024 * 1024,
    UNITS_MAX = 2 * FP_SEAL_FAILED_MAX, /* read at once: more than may be left out */
    FAILED_TIMES_MAX = 3,               /* before a unit is left out because the server was down */
    POSTPONE_DOUBLINGS = 6,             /* of POSTPONE_US: to an hour */
    KEPT_BYTES = 1024 * 1024,           /* of a buffer, between steps */
};

/* The longest array of a packed row, and some more. */
#define BYTES_MAX ((size_t)FP_PACK_ENTRIES_MAX * 12 + (size_t)1024 * 1024)

/* How long a unit that failed is left out; twice as long after each further failure. */
#define POSTPONE_US (60 * FP_US_PER_S)

struct fp_sealing *fp_sealing_create(struct fp_store *store)
{
    struct fp_sealing *sealing = calloc(1, sizeof(*sealing));
    if (sealing == NULL)
        return NULL;
    sealing->store = store;
    sealing->pg = fp_store_connection(store);
    fp_buf_init(&sealing->sql, SQL_MAX);
    fp_buf_init(&sealing->bytes, BYTES_MAX);
    return sealing;
}

/* Drops the lists of what is due. */
static void forget_lists(struct fp_sealing *sealing)
{
    PQclear(sealing->hours);
    PQclear(sealing->blocks);
    sealing->hours = NULL;
    sealing->blocks = NULL;
    sealing->next_hour = 0;
    sealing->next_block = 0;
}

void fp_sealing_rest(struct fp_sealing *sealing)
{
    forget_lists(sealing);
    fp_buf_release(&sealing->sql);
    fp_buf_release(&sealing->bytes);
    fp_store_disconnect(sealing->store);
}

void fp_sealing_free(struct fp_sealing *sealing)
{
    if (sealing == NULL)
        return;
    fp_sealing_rest(sealing);
    free(sealing);
}

/* Connects if needed. The next connection may be to another database. */
static enum fp_store_result connect(struct fp_sealing *sealing)
{
    enum fp_store_result result = fp_store_connect(sealing->store);
    if (sealing->connection == sealing->pg->number)
        return result;
    sealing->connection = sealing->pg->number;
    forget_lists(sealing);
    return result;
}

/* ---- what is due ---- */

/*
 * Hours with unsealed flushes: site, start in seconds, size, whether it is due by time; then the
 * entries of all hours, and the oldest hour. Those that are due come first, the oldest before
 * others.
 */
static enum fp_store_result read_hours(struct fp_sealing *sealing, int64_t now_us)
{
    struct fp_buf *sql = fp_seal_sql(sealing);
    fp_buf_addf(sql,
                "select site, start, size, start + %d <= %lld as is_over,"
                " sum(entries) over (), min(start) over () from ("
                "select site, extract(epoch from bucket)::bigint as start, sum(entries) as entries,"
                " sum(entries) + count(*) * %d as size"
                " from fleetprof_data.unsealed group by site, bucket) as hour"
                " order by is_over desc, size >= %d desc, start, site limit %d",
                (int)(FP_US_PER_HOUR / FP_US_PER_S) + FP_SEAL_DELAY_S,
                (long long)(now_us / FP_US_PER_S), FP_SEAL_FLUSH_SIZE, FP_SEAL_SIZE, UNITS_MAX);
    return fp_seal_query(sealing, NULL, 0, &sealing->hours);
}

/*
 * Blocks whose shorter blocks are all of the next shorter span: site, start in seconds, span, when
 * it is due. Those that are due come first, shorter and older ones before others.
 */
static enum fp_store_result read_blocks(struct fp_sealing *sealing, int64_t now_us)
{
    struct fp_buf *sql = fp_seal_sql(sealing);
    fp_buf_addf(sql,
                "select site, start, span, due from ("
                "select site, block.span, block.length,"
                " floor(extract(epoch from bucket) / block.length)::bigint * block.length as start,"
                " floor(extract(epoch from bucket) / block.length)::bigint * block.length"
                " + block.length + %d as due, min(tile.span) as shortest"
                " from fleetprof_data.sealed tile"
                " join (values (1, 14400), (2, 86400), (3, 691200)) as block (span, length)"
                " on tile.span < block.span group by 1, 2, 3, 4, 5) as candidate"
                " where shortest = span - 1"
                " order by due > %lld, case when due > %lld then due else span end, start, site"
                " limit %d",
                FP_SEAL_DELAY_S, (long long)(now_us / FP_US_PER_S),
                (long long)(now_us / FP_US_PER_S), UNITS_MAX);
    return fp_seal_query(sealing, NULL, 0, &sealing->blocks);
}

static enum fp_store_result read_lists(struct fp_sealing *sealing, int64_t now_us)
{
    forget_lists(sealing);
    enum fp_store_result result = fp_store_begin(sealing->store);
    if (result == FP_STORE_OK)
        result = read_hours(sealing, now_us);
    if (result == FP_STORE_OK)
        result = read_blocks(sealing, now_us);
    return result == FP_STORE_OK ? fp_store_end(sealing->store) : result;
}

static uint64_t key_of(const struct fp_seal_unit *unit)
{
    const uint64_t numbers[] = {(uint64_t)unit->block.bucket_us, (uint64_t)unit->block.span};
    const struct fp_str site = fp_str_of(unit->site);
    return fp_hash_fields(&(struct fp_hash_input){.tag = 'Z',
                                                  .numbers = numbers,
                                                  .number_count = FP_COUNT(numbers),
                                                  .texts = &site,
                                                  .text_count = 1});
}

/* Returns what is known of the unit's failures; NULL: it has none. */
static struct fp_seal_failed *find_failed(struct fp_sealing *sealing, uint64_t key)
{
    for (size_t i = 0; i < sealing->failed_count; i++)
        if (sealing->failed[i].key == key)
            return &sealing->failed[i];
    return NULL;
}

/* True if the unit failed and is left out for now. */
static bool is_postponed(struct fp_sealing *sealing, uint64_t key, int64_t now_us)
{
    const struct fp_seal_failed *failed = find_failed(sealing, key);
    return failed != NULL && failed->until_us > now_us;
}

static struct fp_seal_sum *sum_of(struct fp_sealing *sealing, uint64_t key)
{
    return &sealing->sums[key % FP_SEAL_SUMS_MAX];
}

/* Returns what an open hour gathers before it is sealed: as much as sealing writes again then. */
static int64_t size_of(struct fp_sealing *sealing, uint64_t key)
{
    const struct fp_seal_sum *sum = sum_of(sealing, key);
    return sum->key == key && sum->entries > FP_SEAL_SIZE ? sum->entries : FP_SEAL_SIZE;
}

/* Gets the next due hour. */
static bool next_hour(struct fp_sealing *sealing, int64_t now_us, struct fp_seal_unit *unit)
{
    while (sealing->next_hour < PQntuples(sealing->hours)) {
        int row = sealing->next_hour++;
        *unit = (struct fp_seal_unit){
            .site = PQgetvalue(sealing->hours, row, 0),
            .block = {FP_SPAN_HOUR, fp_seal_number(sealing->hours, row, 1) * FP_US_PER_S},
        };
        uint64_t key = key_of(unit);
        unit->size = size_of(sealing, key);
        bool is_over = PQgetvalue(sealing->hours, row, 3)[0] == 't';
        if ((is_over || fp_seal_number(sealing->hours, row, 2) >= unit->size) &&
            !is_postponed(sealing, key, now_us))
            return true;
    }
    return false;
}

/* Gets the next due block. */
static bool next_block(struct fp_sealing *sealing, int64_t now_us, struct fp_seal_unit *unit)
{
    while (sealing->next_block < PQntuples(sealing->blocks)) {
        int row = sealing->next_block++;
        *unit = (struct fp_seal_unit){
            .site = PQgetvalue(sealing->blocks, row, 0),
            .block = {(enum fp_span)fp_seal_number(sealing->blocks, row, 2),
                      fp_seal_number(sealing->blocks, row, 1) * FP_US_PER_S},
        };
        if (fp_seal_number(sealing->blocks, row, 3) * FP_US_PER_S <= now_us &&
            !is_postponed(sealing, key_of(unit), now_us))
            return true;
    }
    return false;
}

/* Gets the next due unit of the lists: hours first, since blocks are made of them. */
static bool next_unit(struct fp_sealing *sealing, int64_t now_us, struct fp_seal_unit *unit)
{
    return next_hour(sealing, now_us, unit) || next_block(sealing, now_us, unit);
}

static void note_earlier(int64_t *next_us, int64_t moment_us)
{
    if (moment_us < *next_us)
        *next_us = moment_us;
}

/* Reports what waits, and when something will be due. */
static void report_waiting(const struct fp_sealing *sealing, int64_t now_us,
                           struct fp_seal_report *report)
{
    int hours = PQntuples(sealing->hours);
    report->next_us = INT64_MAX;
    if (hours > 0) {
        report->waiting_entries = fp_seal_number(sealing->hours, 0, 4);
        report->oldest_waiting_us = fp_seal_number(sealing->hours, 0, 5) * FP_US_PER_S;
    }
    for (int i = 0; i < hours; i++)
        if (PQgetvalue(sealing->hours, i, 3)[0] != 't')
            note_earlier(&report->next_us,
                         (fp_seal_number(sealing->hours, i, 1) + FP_SEAL_DELAY_S) * FP_US_PER_S +
                             FP_US_PER_HOUR);
    for (int i = 0; i < PQntuples(sealing->blocks); i++)
        if (fp_seal_number(sealing->blocks, i, 3) * FP_US_PER_S > now_us)
            note_earlier(&report->next_us, fp_seal_number(sealing->blocks, i, 3) * FP_US_PER_S);
    for (size_t i = 0; i < sealing->failed_count; i++)
        if (sealing->failed[i].until_us > now_us)
            note_earlier(&report->next_us, sealing->failed[i].until_us);
}

/* ---- a step ---- */

/* Counts a failure of a unit. */
static struct fp_seal_failed *note_failed(struct fp_sealing *sealing, uint64_t key)
{
    struct fp_seal_failed *failed = find_failed(sealing, key);
    if (failed == NULL && sealing->failed_count < FP_SEAL_FAILED_MAX) {
        failed = &sealing->failed[sealing->failed_count++];
        *failed = (struct fp_seal_failed){.key = key};
    } else if (failed == NULL) {
        failed = sealing->failed;
        for (size_t i = 1; i < sealing->failed_count; i++)
            if (sealing->failed[i].until_us < failed->until_us)
                failed = &sealing->failed[i];
        *failed = (struct fp_seal_failed){.key = key};
    }
    failed->times++;
    FP_ASSERT(sealing->failed_count <= FP_SEAL_FAILED_MAX);
    return failed;
}

static void forget_failed(struct fp_sealing *sealing, uint64_t key)
{
    struct fp_seal_failed *failed = find_failed(sealing, key);
    if (failed != NULL)
        *failed = sealing->failed[--sealing->failed_count];
}

/* Leaves a unit out for a while if others may work: at once if it failed by itself, and after some
 * times if the server was down, since its statements may be what ends the server's patience. */
static bool postpone(struct fp_sealing *sealing, uint64_t key, int64_t now_us,
                     enum fp_store_result result)
{
    if (result == FP_STORE_STOPPED)
        return false;
    struct fp_seal_failed *failed = note_failed(sealing, key);
    if (result == FP_STORE_DOWN && failed->times < FAILED_TIMES_MAX)
        return false;
    FP_ASSERT(failed->times > 0);
    unsigned doublings = failed->times - 1;
    if (doublings > POSTPONE_DOUBLINGS)
        doublings = POSTPONE_DOUBLINGS;
    failed->until_us = now_us + (POSTPONE_US << doublings);
    return sealing->failed_count < FP_SEAL_FAILED_MAX; /* else there is no end of them */
}

/* Remembers the size of an open hour's sums. */
static void note_sum(struct fp_sealing *sealing, const struct fp_seal_unit *unit, uint64_t key,
                     const struct fp_seal_report *report)
{
    if (unit->block.span == FP_SPAN_HOUR)
        *sum_of(sealing, key) = (struct fp_seal_sum){key, (int64_t)report->entries_written};
}

static void shrink(struct fp_buf *buf)
{
    if (buf->cap > KEPT_BYTES)
        fp_buf_release(buf);
}

static enum fp_store_result work_on(struct fp_sealing *sealing, const struct fp_seal_unit *unit,
                                    int64_t now_us, struct fp_seal_report *report)
{
    uint64_t key = key_of(unit);
    report->bucket_us = unit->block.bucket_us;
    report->span = (int)unit->block.span;
    enum fp_store_result result = unit->block.span == FP_SPAN_HOUR
                                      ? fp_seal_hour(sealing, unit, report)
                                      : fp_seal_block(sealing, unit, report);
    shrink(&sealing->sql);
    shrink(&sealing->bytes);
    if (result == FP_STORE_OK) {
        forget_failed(sealing, key);
        note_sum(sealing, unit, key, report);
        return FP_STORE_OK;
    }
    fp_pg_rollback(sealing->pg);
    if (result == FP_STORE_BUSY) {
        report->did = FP_SEAL_BUSY;
        return FP_STORE_OK;
    }
    report->did = FP_SEAL_NOTHING;
    report->is_unit = postpone(sealing, key, now_us, result);
    return result;
}

/* Finds a unit to work on. Another collector may have done it since the lists were read. */
static enum fp_store_result find_unit(struct fp_sealing *sealing, int64_t now_us,
                                      struct fp_seal_unit *unit, bool *found,
                                      struct fp_seal_report *report)
{
    *found = sealing->hours != NULL && next_unit(sealing, now_us, unit);
    if (*found)
        return FP_STORE_OK;
    enum fp_store_result result = read_lists(sealing, now_us);
    if (result != FP_STORE_OK)
        return result;
    report_waiting(sealing, now_us, report);
    *found = next_unit(sealing, now_us, unit);
    return FP_STORE_OK;
}

/* Notes that another collector has its turn: what is due will have changed then. */
static void note_busy(struct fp_sealing *sealing, int64_t now_us, struct fp_seal_report *report)
{
    report_waiting(sealing, now_us, report);
    forget_lists(sealing);
}

enum fp_store_result fp_sealing_step(struct fp_sealing *sealing, int64_t now_us,
                                     struct fp_seal_report *report)
{
    *report = (struct fp_seal_report){.did = FP_SEAL_NOTHING, .next_us = INT64_MAX};
    sealing->now_us = now_us;
    enum fp_store_result result = connect(sealing);
    while (result == FP_STORE_OK && report->did == FP_SEAL_NOTHING) {
        struct fp_seal_unit unit;
        bool found;
        result = find_unit(sealing, now_us, &unit, &found, report);
        if (result != FP_STORE_OK || !found)
            break;
        result = work_on(sealing, &unit, now_us, report);
    }
    if (report->did == FP_SEAL_BUSY)
        note_busy(sealing, now_us, report);
    return result;
}

/* Looks whether another collector has its turn. */
static enum fp_store_result try_turn(struct fp_sealing *sealing)
{
    bool is_kept;
    enum fp_store_result result = fp_store_begin_turn(sealing->store, false, &is_kept);
    return result == FP_STORE_OK ? fp_store_end(sealing->store) : result;
}

enum fp_store_result fp_sealing_keep_house(struct fp_sealing *sealing,
                                           struct fp_store_chores *chores, bool *busy)
{
    *chores = (struct fp_store_chores){0};
    enum fp_store_result result = connect(sealing);
    if (result == FP_STORE_OK)
        result = try_turn(sealing);
    *busy = result == FP_STORE_BUSY;
    if (result == FP_STORE_OK)
        result = fp_store_housekeep(sealing->store, chores);
    return *busy ? FP_STORE_OK : result;
}
