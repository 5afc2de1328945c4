/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealing: to which cohorts segments belong. The database's cohort_level says which dimensions each
 * level keeps.
 */
#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/rollup/dimension.h"
#include "collector/rollup/ids.h"
#include "collector/sealer/internal.h"

#include <inttypes.h>
#include <stdlib.h>

struct level {
    unsigned number;
    unsigned kept; /* bits of dimensions */
};

struct levels {
    struct level items[FP_COHORT_LEVELS_MAX];
    size_t count;
};

/* Appends the names of the dimensions, with commas between them. */
static void add_names(struct fp_buf *sql)
{
    for (size_t i = 0; i < FP_DIMENSION_COUNT; i++)
        fp_buf_addf(sql, "%s%s", i == 0 ? "" : ", ", fp_dimensions[i].name);
}

/* Appends them as an array of SQL. Those of which every cohort has one value no level can name. */
static void add_array(struct fp_buf *sql)
{
    for (size_t i = 0; i < FP_DIMENSION_COUNT; i++)
        fp_buf_addf(sql, "%s%s", i == 0 ? "'{" : ", ",
                    fp_dimension_is_kept(i) ? "null" : fp_dimensions[i].name);
    fp_buf_addf(sql, "}'::text[]");
}

static enum fp_store_result read_levels(struct fp_sealing *sealing, int64_t hour_us,
                                        struct levels *levels)
{
    struct fp_buf *sql = fp_seal_sql(sealing);
    fp_buf_addf(sql, "select level, (select bit_or(1 << (array_position(");
    add_array(sql);
    fp_buf_addf(sql, ", dimension) - 1)) from unnest(dimensions) dimension), dimensions <@ ");
    add_array(sql);
    fp_buf_addf(sql, " and 'site' = any (dimensions) from fleetprof_data.cohort_level"
                     " where greatest(since, added + interval '2 hours') <= ");
    fp_sql_time(sql, hour_us);
    fp_buf_addf(sql, " order by level limit %d", FP_COHORT_LEVELS_MAX + 1);
    PGresult *rows;
    enum fp_store_result result = fp_seal_query(sealing, NULL, 0, &rows);
    if (result != FP_STORE_OK)
        return result;
    int found = PQntuples(rows);
    for (int i = 0; i < found && i < FP_COHORT_LEVELS_MAX; i++) {
        levels->items[levels->count++] = (struct level){(unsigned)fp_seal_number(rows, i, 0),
                                                        (unsigned)fp_seal_number(rows, i, 1)};
        if (PQgetvalue(rows, i, 2)[0] != 't')
            result = fp_pg_reject(sealing->pg,
                                  "fleetprof_data.cohort_level: level %u lacks site, or names a "
                                  "dimension that no segment has",
                                  levels->items[i].number);
    }
    PQclear(rows);
    if (result == FP_STORE_OK && found > FP_COHORT_LEVELS_MAX)
        result = fp_pg_reject(sealing->pg, "fleetprof_data.cohort_level has more than %d levels",
                              FP_COHORT_LEVELS_MAX);
    return result;
}

static int compare_ids(const void *left, const void *right)
{
    int64_t one;
    int64_t other;
    memcpy(&one, left, sizeof(one));
    memcpy(&other, right, sizeof(other));
    return (one > other) - (one < other);
}

/* True if the segments are sorted and distinct: they are searched by bisection, and a position
 * among them says where their cohorts are. */
static bool segments_ascend(const struct fp_cohorts *cohorts)
{
    for (size_t i = 1; i < cohorts->segment_count; i++)
        if (cohorts->segment_ids[i - 1] >= cohorts->segment_ids[i])
            return false;
    return true;
}

/* Writes the distinct groups of a plan, ascending. False: no memory. */
static bool list_segments(const struct fp_plan *plan, struct fp_cohorts *cohorts)
{
    cohorts->segment_ids = calloc(plan->count + 1, sizeof(*cohorts->segment_ids));
    if (cohorts->segment_ids == NULL)
        return false;
    for (size_t i = 0; i < plan->count; i++)
        cohorts->segment_ids[i] = plan->items[i].group_id;
    qsort(cohorts->segment_ids, plan->count, sizeof(*cohorts->segment_ids), compare_ids);
    for (size_t i = 0; i < plan->count; i++)
        if (i == 0 || cohorts->segment_ids[i] != cohorts->segment_ids[i - 1])
            cohorts->segment_ids[cohorts->segment_count++] = cohorts->segment_ids[i];
    FP_ASSERT_COSTLY(segments_ascend(cohorts));
    return true;
}

static enum fp_store_result query_segments(struct fp_sealing *sealing,
                                           const struct fp_cohorts *cohorts, PGresult **rows)
{
    struct fp_buf *sql = fp_seal_sql(sealing);
    fp_buf_addf(sql, "select segment_id, ");
    add_names(sql);
    fp_buf_addf(sql, " from fleetprof_data.segment where segment_id = any ('{");
    for (size_t i = 0; i < cohorts->segment_count; i++)
        fp_buf_addf(sql, "%s%" PRId64, i == 0 ? "" : ",", cohorts->segment_ids[i]);
    fp_buf_addf(sql, "}'::bigint[]) order by segment_id");
    return fp_seal_query(sealing, NULL, 0, rows);
}

/* Adds the cohorts of the segment in a row to the lists, which have room. */
static void add_segment(struct fp_cohorts *cohorts, const struct levels *levels,
                        const PGresult *rows, int row)
{
    struct fp_segment segment = {0};
    for (size_t i = 0; i < FP_DIMENSION_COUNT; i++) {
        const int column = (int)i + 1;
        const struct fp_str text = {PQgetvalue(rows, row, column),
                                    (size_t)PQgetlength(rows, row, column)};
        if (!fp_str_equal(text, fp_str_of(fp_dimensions[i].absent)))
            *fp_dimension_text(&segment, i) = text;
    }
    for (size_t i = 0; i < levels->count; i++) {
        const struct level *level = &levels->items[i];
        int64_t id = (int64_t)fp_cohort_id(level->number, level->kept, &segment);
        FP_ASSERT(cohorts->count < cohorts->segment_count * levels->count);
        cohorts->cohort_ids[(size_t)row * levels->count + i] = id;
        cohorts->items[cohorts->count++] =
            (struct fp_cohort){.id = id,
                               .level = level->number,
                               .kept = level->kept,
                               .segment_id = cohorts->segment_ids[row]};
    }
}

static int compare_cohorts(const void *left, const void *right)
{
    const struct fp_cohort *one = left;
    const struct fp_cohort *other = right;
    return (one->id > other->id) - (one->id < other->id);
}

/* True if the cohorts are sorted and distinct: they are searched by bisection. */
static bool cohorts_ascend(const struct fp_cohorts *cohorts)
{
    for (size_t i = 1; i < cohorts->count; i++)
        if (cohorts->items[i - 1].id >= cohorts->items[i].id)
            return false;
    return true;
}

/* Sorts the cohorts and keeps one of each. */
static void sort_cohorts(struct fp_cohorts *cohorts)
{
    size_t kept = 0;
    qsort(cohorts->items, cohorts->count, sizeof(*cohorts->items), compare_cohorts);
    for (size_t i = 0; i < cohorts->count; i++)
        if (i == 0 || cohorts->items[i].id != cohorts->items[kept - 1].id)
            cohorts->items[kept++] = cohorts->items[i];
    cohorts->count = kept;
    FP_ASSERT_COSTLY(cohorts_ascend(cohorts));
}

/* Derives the cohorts of the segments. */
static enum fp_store_result derive(struct fp_sealing *sealing, const struct levels *levels,
                                   struct fp_cohorts *cohorts)
{
    size_t most = cohorts->segment_count * levels->count;
    cohorts->level_count = levels->count;
    cohorts->cohort_ids = calloc(most + 1, sizeof(*cohorts->cohort_ids));
    cohorts->items = calloc(most + 1, sizeof(*cohorts->items));
    if (cohorts->cohort_ids == NULL || cohorts->items == NULL)
        return FP_STORE_MEMORY;
    PGresult *rows;
    enum fp_store_result result = query_segments(sealing, cohorts, &rows);
    if (result != FP_STORE_OK)
        return result;
    bool is_complete = (size_t)PQntuples(rows) == cohorts->segment_count;
    for (int i = 0; is_complete && i < PQntuples(rows); i++)
        add_segment(cohorts, levels, rows, i);
    PQclear(rows);
    if (!is_complete)
        return fp_pg_reject(sealing->pg, "a segment has rows but no name");
    sort_cohorts(cohorts);
    return FP_STORE_OK;
}

/* Makes or touches the rows of some cohorts; their dimensions are those of their segments. Does not
 * read cohort_level: on Citus, a statement that writes locks all that it reads, which takes the
 * right to write those as well. */
static enum fp_store_result touch(struct fp_sealing *sealing, const struct fp_cohort *cohorts,
                                  size_t count)
{
    struct fp_buf *sql = fp_seal_sql(sealing);
    fp_buf_addf(sql, "insert into fleetprof_data.cohort as known (group_id, level, ");
    add_names(sql);
    fp_buf_addf(sql, ", last_seen) select wanted.group_id, level");
    for (size_t i = 0; i < FP_DIMENSION_COUNT; i++) {
        if (fp_dimension_is_kept(i))
            fp_buf_addf(sql, ", segment.%s", fp_dimensions[i].name);
        else
            fp_buf_addf(sql, ", case when kept & %u <> 0 then segment.%s end", 1U << i,
                        fp_dimensions[i].name);
    }
    /* The database's clock may be far behind: these rows must not look unseen later. */
    fp_buf_addf(sql,
                ", (greatest(now(), to_timestamp(%" PRId64 ")) at time zone 'UTC')::date"
                " from (values ",
                sealing->now_us / FP_US_PER_S);
    for (size_t i = 0; i < count; i++)
        fp_buf_addf(sql, "%s(%" PRId64 "::bigint, %u::smallint, %u, %" PRId64 "::bigint)",
                    i == 0 ? "" : ", ", cohorts[i].id, cohorts[i].level, cohorts[i].kept,
                    cohorts[i].segment_id);
    fp_buf_addf(sql, ") as wanted (group_id, level, kept, segment_id)"
                     " join fleetprof_data.segment using (segment_id)"
                     " order by 1"
                     " on conflict (group_id) do update set last_seen = excluded.last_seen"
                     " where known.last_seen < excluded.last_seen");
    PGresult *answer;
    enum fp_store_result result = fp_seal_query(sealing, NULL, 0, &answer);
    PQclear(answer);
    return result;
}

enum fp_store_result fp_cohorts_read(struct fp_sealing *sealing, int64_t hour_us,
                                     const struct fp_plan *plan, struct fp_cohorts *cohorts)
{
    struct levels levels = {0};
    *cohorts = (struct fp_cohorts){0};
    enum fp_store_result result = read_levels(sealing, hour_us, &levels);
    if (result == FP_STORE_OK && !list_segments(plan, cohorts))
        result = FP_STORE_MEMORY;
    if (result == FP_STORE_OK)
        result = derive(sealing, &levels, cohorts);
    for (size_t at = 0; result == FP_STORE_OK && at < cohorts->count; at += FP_SEAL_GROUPS_MAX) {
        size_t left = cohorts->count - at;
        result = touch(sealing, &cohorts->items[at],
                       left < FP_SEAL_GROUPS_MAX ? left : FP_SEAL_GROUPS_MAX);
    }
    return result;
}

void fp_cohorts_release(struct fp_cohorts *cohorts)
{
    for (size_t i = 0; i < cohorts->count; i++)
        fp_ladder_release(&cohorts->items[i].waiting);
    free(cohorts->items);
    free(cohorts->segment_ids);
    free(cohorts->cohort_ids);
    *cohorts = (struct fp_cohorts){0};
}

/* Adds a copy of a pack to what waits in a cohort. */
static bool add_copy(struct fp_cohorts *cohorts, struct fp_cohort *cohort,
                     const struct fp_pack *pack)
{
    struct fp_pack none;
    struct fp_pack copy;
    fp_pack_init(&none, pack->shape);
    fp_pack_init(&copy, pack->shape);
    FP_ASSERT(cohorts->waiting >= cohort->waiting.entries);
    cohorts->waiting -= cohort->waiting.entries;
    bool added = fp_pack_merge(pack, &none, &copy) && fp_ladder_push(&cohort->waiting, &copy);
    cohorts->waiting += cohort->waiting.entries;
    fp_pack_release(&copy);
    return added;
}

bool fp_cohorts_add(struct fp_cohorts *cohorts, const struct fp_group *segment)
{
    const int64_t *found = bsearch(&segment->id, cohorts->segment_ids, cohorts->segment_count,
                                   sizeof(*cohorts->segment_ids), compare_ids);
    if (found == NULL)
        return false;
    size_t at = (size_t)(found - cohorts->segment_ids) * cohorts->level_count;
    for (size_t i = 0; i < cohorts->level_count; i++) {
        const struct fp_cohort key = {.id = cohorts->cohort_ids[at + i]};
        struct fp_cohort *cohort =
            bsearch(&key, cohorts->items, cohorts->count, sizeof(*cohorts->items), compare_cohorts);
        if (cohort == NULL || !add_copy(cohorts, cohort, &segment->pack))
            return false;
    }
    return true;
}

bool fp_cohorts_take(struct fp_cohorts *cohorts, struct fp_groups *groups)
{
    for (size_t i = 0; i < cohorts->count; i++) {
        struct fp_cohort *cohort = &cohorts->items[i];
        struct fp_pack pack;
        if (cohort->waiting.count == 0)
            continue;
        if (!fp_ladder_finish(&cohort->waiting, &pack))
            return false;
        bool added = fp_groups_add(groups, cohort->id, &pack);
        fp_pack_release(&pack);
        if (!added)
            return false;
    }
    cohorts->waiting = 0;
    return true;
}
