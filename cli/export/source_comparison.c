/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source, comparison: the trees of both sides in the hours that compare_summary names, and their
 * page loads.
 */
#include "cli/export/source.h"
#include "cli/kit/memory.h"

#include <stdlib.h>

enum { BEFORE, AFTER, SIDES };

struct side {
    struct fp_analysis analysis; /* its filters name its hours and its release */
    const char *release;         /* NULL: not given */
    int64_t loads;
};

static void add_release(struct fp_sql_query *query, const char *name, const char *value)
{
    if (value == NULL)
        return;
    fp_sql_add(query, name);
    fp_sql_value(query, "text", value);
}

/* Times that read back as the same ones, whatever DateStyle and TimeZone are: abbreviations of
 * zones may not. */
#define HOURS(range)                                                                               \
    "to_char(lower(" range ") at time zone 'UTC', 'YYYY-MM-DD HH24:MI\"Z\"'), "                    \
    "to_char(upper(" range ") at time zone 'UTC', 'YYYY-MM-DD HH24:MI\"Z\"')"

/* Asks for the hours of both sides: since and until of the earlier one, then of the later one. */
static PGresult *ask_hours(const struct fp_export_sides *sides)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select " HOURS("before_hours") ", " HOURS("after_hours"));
    fp_sql_add(&query, " from fleetprof.compare_summary(");
    fp_comparison_add(sides->comparison, &query);
    add_release(&query, ", before => ", sides->before);
    add_release(&query, ", after => ", sides->after);
    fp_sql_add(&query, ")");
    PGresult *answer = fp_sql_run(sides->comparison->connection, &query);
    fp_sql_release(&query);
    return answer;
}

static void describe(struct side *side, const struct fp_export_sides *sides, const PGresult *hours,
                     int which)
{
    side->release = which == BEFORE ? sides->before : sides->after;
    side->analysis = (struct fp_analysis){
        .filters = sides->comparison->filters,
        .fold = sides->fold,
        .connection = sides->comparison->connection,
    };
    const char **values = side->analysis.filters.values;
    values[FP_FILTER_SINCE] = PQgetvalue(hours, 0, 2 * which);
    values[FP_FILTER_UNTIL] = PQgetvalue(hours, 0, 2 * which + 1);
    values[FP_FILTER_RELEASE] = side->release;
}

/* Adds the track of a side, whose name says what it is. */
static bool read_side(const struct side *side, bool is_base, double scale,
                      struct fp_export_stacks *stacks)
{
    char *name = fp_memory_print(
        "%s: %s%s%s to %s, %lld page loads%s", is_base ? "before" : "after",
        side->release != NULL ? side->release : "", side->release != NULL ? ", " : "",
        side->analysis.filters.values[FP_FILTER_SINCE],
        side->analysis.filters.values[FP_FILTER_UNTIL], (long long)side->loads,
        is_base ? ", scaled to those after" : "");
    struct fp_export_track *track = fp_export_read_track(
        &side->analysis, fp_export_text(stacks, fp_str_of(name)), scale, stacks);
    free(name);
    if (track == NULL)
        return false;
    track->is_base = is_base;
    return true;
}

static bool read_sides(struct side side[SIDES], struct fp_export_stacks *stacks, bool *is_empty)
{
    for (size_t i = 0; i < SIDES; i++) {
        if (!fp_export_read_loads(&side[i].analysis, &side[i].loads))
            return false;
    }
    *is_empty = side[BEFORE].loads == 0 || side[AFTER].loads == 0;
    if (*is_empty)
        return true;
    stacks->loads = side[AFTER].loads;
    double scale = (double)side[AFTER].loads / (double)side[BEFORE].loads;
    if (!read_side(&side[BEFORE], true, scale, stacks) ||
        !read_side(&side[AFTER], false, 1, stacks))
        return false;
    *is_empty = stacks->tracks[BEFORE].sample_count + stacks->tracks[AFTER].sample_count == 0;
    char *title =
        fp_memory_print("%s, %.*s; %.*s", side[AFTER].analysis.filters.values[FP_FILTER_SITE],
                        (int)stacks->tracks[BEFORE].name.len, stacks->tracks[BEFORE].name.ptr,
                        (int)stacks->tracks[AFTER].name.len, stacks->tracks[AFTER].name.ptr);
    stacks->title = fp_export_text(stacks, fp_str_of(title));
    free(title);
    return true;
}

bool fp_export_read_comparison(const struct fp_export_sides *sides, struct fp_export_stacks *stacks,
                               bool *is_empty)
{
    struct side side[SIDES];
    PGresult *hours = ask_hours(sides);
    if (hours == NULL)
        return false;
    bool fine = true;
    *is_empty =
        PQntuples(hours) == 0 || PQgetisnull(hours, 0, 0) == 1 || PQgetisnull(hours, 0, 2) == 1;
    if (!*is_empty) {
        for (int i = 0; i < SIDES; i++)
            describe(&side[i], sides, hours, i);
        fine = read_sides(side, stacks, is_empty);
    }
    PQclear(hours);
    if (fine && *is_empty)
        return fp_comparison_explain(sides->comparison, sides->before, sides->after,
                                     stacks->track_count > 0 ? "stacks" : "uploads");
    return fine;
}
