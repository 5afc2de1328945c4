/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealing an hour: one transaction moves some flushes' rows of a site and hour from KIND_recent
 * into the rows of every block that exists for that hour. So a fact is at each moment either recent
 * or in each of these blocks.
 */
#include "collector/sealer/internal.h"

#include <inttypes.h>
#include <stdlib.h>

enum { FLUSHES_TEXT_MAX = FP_SEAL_FLUSHES_MAX * 64 };

/* One seal. */
struct job {
    struct fp_sealing *sealing;
    const struct fp_seal_unit *unit;
    struct fp_seal_report *report;
    struct fp_buf flushes; /* two array literals: spools and positions */
    size_t flush_count;
    size_t entries; /* of these flushes, as the queue says */
    bool before_horizon;
    enum fp_span longest; /* of the blocks to which the entries are added */
    struct fp_plan plan;
    struct fp_cohorts cohorts;
};

/* ---- what to seal ---- */

/* Writes the chosen flushes, the first `count` rows of the queue. */
static void list_flushes(struct job *job, const PGresult *queue)
{
    fp_buf_addf(&job->flushes, "'{");
    for (size_t i = 0; i < job->flush_count; i++)
        fp_buf_addf(&job->flushes, "%s%s", i == 0 ? "" : ",", PQgetvalue(queue, (int)i, 0));
    fp_buf_addf(&job->flushes, "}'::uuid[], '{");
    for (size_t i = 0; i < job->flush_count; i++)
        fp_buf_addf(&job->flushes, "%s%s", i == 0 ? "" : ",", PQgetvalue(queue, (int)i, 1));
    fp_buf_addf(&job->flushes, "}'::bigint[]");
}

/* Chooses flushes from the queue, the oldest first. */
static enum fp_store_result choose(struct job *job)
{
    const char *const values[] = {job->unit->site};
    struct fp_buf *sql = fp_seal_sql(job->sealing);
    fp_buf_addf(sql, "select spool_id, position, entries from fleetprof_data.unsealed"
                     " where site = $1 and bucket = ");
    fp_sql_time(sql, job->unit->block.bucket_us);
    fp_buf_addf(sql, " order by position, spool_id limit %d", FP_SEAL_FLUSHES_MAX);
    PGresult *queue;
    enum fp_store_result result = fp_seal_query(job->sealing, values, 1, &queue);
    if (result != FP_STORE_OK)
        return result;
    int64_t size = 0;
    for (int i = 0; i < PQntuples(queue) && (i == 0 || size < job->unit->size); i++) {
        int64_t entries = fp_seal_number(queue, i, 2);
        if (i > 0 && size + entries > job->unit->size)
            break;
        size += entries + FP_SEAL_FLUSH_SIZE;
        job->entries += (size_t)entries;
        job->flush_count++;
    }
    list_flushes(job, queue);
    PQclear(queue);
    return job->flushes.failed ? FP_STORE_MEMORY : FP_STORE_OK;
}

/* Appends the condition for the chosen flushes. */
static void add_flushes(const struct job *job, struct fp_buf *sql)
{
    fp_buf_addf(sql, " and bucket = ");
    fp_sql_time(sql, job->unit->block.bucket_us);
    fp_buf_addf(sql, " and (spool_id, position) in (select * from unnest(");
    fp_buf_add(sql, job->flushes.data, job->flushes.len);
    fp_buf_addf(sql, "))");
}

/* Takes the flushes off the queue. */
static enum fp_store_result unqueue(struct job *job)
{
    const char *const values[] = {job->unit->site};
    struct fp_buf *sql = fp_seal_sql(job->sealing);
    fp_buf_addf(sql, "delete from fleetprof_data.unsealed where site = $1");
    add_flushes(job, sql);
    return fp_seal_change(job->sealing, values, 1, job->flush_count);
}

/* ---- where to ---- */

/* Reads which block covers the hour, and whether hours still exist that far back. */
static enum fp_store_result read_tile(struct job *job, bool *has_tile)
{
    const char *const values[] = {job->unit->site};
    struct fp_buf *sql = fp_seal_sql(job->sealing);
    fp_buf_addf(sql, "select coalesce(tile.span, -1), hour.start < hours_from"
                     " from fleetprof_data.horizon cross join (values (");
    fp_sql_time(sql, job->unit->block.bucket_us);
    fp_buf_addf(sql, ")) as hour (start) left join fleetprof_data.sealed tile on site = $1"
                     " and bucket <= start and bucket + interval '1 hour' * "
                     "(array[1, 4, 24, 192])[span + 1] > start");
    PGresult *rows;
    enum fp_store_result result = fp_seal_query(job->sealing, values, 1, &rows);
    if (result != FP_STORE_OK)
        return result;
    bool is_one = PQntuples(rows) == 1;
    int64_t span = is_one ? fp_seal_number(rows, 0, 0) : -1;
    job->before_horizon = is_one && PQgetvalue(rows, 0, 1)[0] == 't';
    PQclear(rows);
    if (!is_one || span >= FP_SPAN_COUNT)
        return fp_pg_reject(job->sealing->pg, "blocks of a site overlap, or the horizon is lost");
    *has_tile = span >= 0;
    enum fp_span shortest = job->before_horizon ? FP_SPAN_DAY : FP_SPAN_HOUR;
    job->longest = *has_tile ? (enum fp_span)span : shortest;
    if (job->longest < shortest)
        return fp_pg_reject(job->sealing->pg,
                            "a block is shorter than a day where hours were dropped");
    return FP_STORE_OK;
}

/* Makes the block that covers the hour, if none does. */
static enum fp_store_result ensure_tile(struct job *job)
{
    bool has_tile = false;
    enum fp_store_result result = read_tile(job, &has_tile);
    if (result != FP_STORE_OK || has_tile)
        return result;
    const char *const values[] = {job->unit->site};
    const struct fp_block block = fp_block_of(job->longest, job->unit->block.bucket_us);
    struct fp_buf *sql = fp_seal_sql(job->sealing);
    fp_buf_addf(sql, "insert into fleetprof_data.sealed (site, bucket, span) values ($1, ");
    fp_sql_time(sql, block.bucket_us);
    fp_buf_addf(sql, ", %d)", (int)block.span);
    return fp_seal_change(job->sealing, values, 1, 1);
}

/* ---- the entries ---- */

/* Plans the flushes' rows of all kinds. The queue says how many entries they have. */
static enum fp_store_result plan_rows(struct job *job)
{
    const char *const values[] = {job->unit->site};
    struct fp_buf *sql = fp_seal_sql(job->sealing);
    for (int kind = 0; kind < FP_PACK_KIND_COUNT; kind++) {
        const struct fp_pack_shape *shape = fp_pack_shape((enum fp_pack_kind)kind);
        fp_buf_addf(sql,
                    "%sselect %d, group_id, count(*), sum(cardinality(%s))"
                    " from fleetprof_data.%s_recent where group_id in"
                    " (select segment_id from fleetprof_data.segment where site = $1)",
                    kind == 0 ? "" : " union all ", kind, shape->columns[0].name, shape->name);
        add_flushes(job, sql);
        fp_buf_addf(sql, " group by group_id");
    }
    fp_buf_addf(sql, " order by 1, 2");
    enum fp_store_result result = fp_plan_read(job->sealing, values, 1, &job->plan);
    size_t entries = 0;
    for (size_t i = 0; i < job->plan.count; i++)
        entries += job->plan.items[i].entries;
    job->report->entries_read += entries;
    if (result == FP_STORE_OK && entries != job->entries)
        result = fp_pg_reject(job->sealing->pg,
                              "flushes left %zu entries of a site and hour where they noted %zu",
                              entries, job->entries);
    return result;
}

/* Reads the rows of some groups and deletes them. */
static enum fp_store_result take_rows(const struct job *job, const struct fp_plan_item *items,
                                      size_t count, struct fp_groups *groups)
{
    const struct fp_pack_shape *shape = fp_pack_shape(items[0].kind);
    struct fp_buf *sql = fp_seal_sql(job->sealing);
    fp_buf_addf(sql, "copy (select group_id");
    fp_sql_columns(sql, shape);
    fp_buf_addf(sql, " from fleetprof_data.%s_recent where group_id = any (", shape->name);
    fp_sql_ids(sql, items, count);
    fp_buf_addf(sql, ")");
    add_flushes(job, sql);
    fp_buf_addf(sql, " order by group_id) to stdout (format binary)");
    enum fp_store_result result = fp_groups_read(job->sealing, items, count, groups);
    if (result != FP_STORE_OK)
        return result;
    sql = fp_seal_sql(job->sealing);
    fp_buf_addf(sql, "delete from fleetprof_data.%s_recent where group_id = any (", shape->name);
    fp_sql_ids(sql, items, count);
    fp_buf_addf(sql, ")");
    add_flushes(job, sql);
    return fp_seal_change(job->sealing, NULL, 0, groups->rows);
}

/* Adds the entries of segments, or of cohorts, to each span that exists. */
static enum fp_store_result add_to_spans(const struct job *job, const struct fp_groups *groups,
                                         bool are_cohorts)
{
    enum fp_store_result result = FP_STORE_OK;
    int span = job->before_horizon ? FP_SPAN_DAY : FP_SPAN_HOUR;
    int end = (int)job->longest < FP_SPAN_COUNT ? (int)job->longest + 1 : FP_SPAN_COUNT;
    for (; result == FP_STORE_OK && span < end; span++) {
        if (!are_cohorts && span != FP_SPAN_HOUR && span != FP_SPAN_DAY)
            continue;
        const struct fp_block block = fp_block_of((enum fp_span)span, job->unit->block.bucket_us);
        result = fp_groups_add_to(job->sealing, &block, groups, job->report);
    }
    return result;
}

/* Adds what waits in the cohorts to their rows. */
static enum fp_store_result write_cohorts(struct job *job, enum fp_pack_kind kind)
{
    struct fp_groups groups = {.kind = kind};
    enum fp_store_result result = FP_STORE_MEMORY;
    if (fp_cohorts_take(&job->cohorts, &groups))
        result = add_to_spans(job, &groups, true);
    fp_groups_release(&groups);
    return result;
}

/* Moves a batch of segments, and collects what it adds to cohorts. */
static enum fp_store_result seal_batch(struct job *job, const struct fp_plan_item *items,
                                       size_t count)
{
    struct fp_groups groups = {0};
    enum fp_store_result result = take_rows(job, items, count, &groups);
    if (result == FP_STORE_OK)
        result = add_to_spans(job, &groups, false);
    size_t width = fp_seal_entry_bytes(fp_pack_shape(items[0].kind));
    for (size_t i = 0; result == FP_STORE_OK && i < groups.count; i++) {
        if (!fp_cohorts_add(&job->cohorts, &groups.items[i]))
            result = FP_STORE_MEMORY;
        else if (job->cohorts.waiting * width > FP_SEAL_COHORT_BYTES)
            result = write_cohorts(job, items[0].kind);
    }
    fp_groups_release(&groups);
    return result;
}

static enum fp_store_result seal_rows(struct job *job)
{
    enum fp_store_result result = FP_STORE_OK;
    size_t at = 0;
    while (result == FP_STORE_OK && at < job->plan.count) {
        const struct fp_plan_item *items = job->plan.items + at;
        size_t count = fp_plan_batch(items, job->plan.count - at);
        at += count;
        bool is_last = at == job->plan.count || items[count].kind != items[0].kind;
        result = seal_batch(job, items, count);
        if (result == FP_STORE_OK && is_last)
            result = write_cohorts(job, items[0].kind);
    }
    return result;
}

/* The tables that are small on a cluster come first, as it demands. */
static enum fp_store_result seal_flushes(struct job *job)
{
    enum fp_store_result result = unqueue(job);
    if (result == FP_STORE_OK)
        result = ensure_tile(job);
    if (result == FP_STORE_OK)
        result = plan_rows(job);
    if (result == FP_STORE_OK)
        result =
            fp_cohorts_read(job->sealing, job->unit->block.bucket_us, &job->plan, &job->cohorts);
    return result == FP_STORE_OK ? seal_rows(job) : result;
}

enum fp_store_result fp_seal_hour(struct fp_sealing *sealing, const struct fp_seal_unit *unit,
                                  struct fp_seal_report *report)
{
    struct job job = {.sealing = sealing, .unit = unit, .report = report};
    bool is_kept;
    fp_buf_init(&job.flushes, FLUSHES_TEXT_MAX);
    enum fp_store_result result = fp_store_make_day(sealing->store, unit->block.bucket_us);
    if (result == FP_STORE_OK)
        result = fp_store_begin_turn(sealing->store, false, &is_kept);
    if (result == FP_STORE_OK)
        result = choose(&job);
    if (result == FP_STORE_OK && job.flush_count > 0) {
        report->did = FP_SEAL_HOUR;
        result = seal_flushes(&job);
    }
    if (result == FP_STORE_OK)
        result = fp_store_end(sealing->store);
    fp_cohorts_release(&job.cohorts);
    fp_plan_release(&job.plan);
    fp_buf_release(&job.flushes);
    return result;
}
