/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source, events: a kept session of a format with events. Each event is a sample that weighs its
 * own time, on the stack of the events around it. It stands where the event begins, or where the
 * sample before it ends. Points in time are marks.
 */
#include "cli/export/source.h"
#include "cli/kit/memory.h"
#include "collector/base/hash.h"
#include "collector/base/map.h"

#include <stdlib.h>

enum column { ID, PARENT_ID, TYPE, OWN_US, START_US, IS_POINT, RESOURCE, LINE };

/* A timeline being read. */
struct timeline {
    const PGresult *events;
    struct fp_export_stacks *stacks;
    struct fp_export_track *track;
    struct fp_map row_of;  /* by the event's id */
    struct fp_map nodes;   /* by parent and frame */
    struct fp_map *frames; /* of all timelines, by a hash of type, resource and line */
    uint32_t *node_of;     /* by row; FP_INDEX_NONE: not known yet */
    int *chain;            /* room for the rows of a stack */
};

static const char *cell(const struct timeline *timeline, int row, enum column column)
{
    return PQgetvalue(timeline->events, row, (int)column);
}

static bool is_null(const struct timeline *timeline, int row, enum column column)
{
    return PQgetisnull(timeline->events, row, (int)column) == 1;
}

static int64_t number(const struct timeline *timeline, int row, enum column column)
{
    return strtoll(cell(timeline, row, column), NULL, 10);
}

static uint32_t put(struct fp_map *map, uint64_t key, uint32_t value)
{
    uint32_t known = fp_map_put(map, key, value);
    if (known == FP_MAP_NONE)
        fp_memory_end();
    return known;
}

static uint32_t find_frame(struct timeline *timeline, int row)
{
    struct fp_export_stacks *stacks = timeline->stacks;
    char *text = fp_memory_print("%s\n%s\n%s", cell(timeline, row, TYPE),
                                 cell(timeline, row, RESOURCE), cell(timeline, row, LINE));
    uint64_t key = fp_hash64(text, strlen(text));
    free(text);
    uint32_t frame = put(timeline->frames, key, (uint32_t)stacks->frame_count);
    if (frame < stacks->frame_count)
        return frame;
    const struct fp_export_frame added = {
        .function = fp_export_text(stacks, fp_str_of(cell(timeline, row, TYPE))),
        .resource = fp_export_text(stacks, fp_str_of(cell(timeline, row, RESOURCE))),
        .line =
            is_null(timeline, row, LINE) ? FP_POSITION_NONE : (int32_t)number(timeline, row, LINE),
        .column = FP_POSITION_NONE,
        .generated_line = FP_POSITION_NONE,
        .generated_column = FP_POSITION_NONE,
        .kind = FP_FRAME_EVENT,
    };
    return fp_export_add_frame(stacks, &added);
}

/* Returns the row of the event around an event, -1 if there is none. */
static int parent_of(const struct timeline *timeline, int row)
{
    if (is_null(timeline, row, PARENT_ID))
        return -1;
    uint32_t parent = fp_map_get(&timeline->row_of, (uint64_t)number(timeline, row, PARENT_ID));
    return parent != FP_MAP_NONE && (int)parent != row ? (int)parent : -1;
}

/* Finds the node of an event. A chain of parents that does not end is cut. */
static uint32_t find_node(struct timeline *timeline, int row)
{
    struct fp_export_stacks *stacks = timeline->stacks;
    int length = 0;
    uint32_t node = FP_INDEX_NONE;
    for (; row >= 0 && length < PQntuples(timeline->events); row = parent_of(timeline, row)) {
        node = timeline->node_of[row];
        if (node != FP_INDEX_NONE)
            break;
        timeline->chain[length++] = row;
    }
    while (length > 0) {
        row = timeline->chain[--length];
        uint32_t frame = find_frame(timeline, row);
        uint64_t key = (uint64_t)(node + 1) << 32 | frame;
        uint32_t known = put(&timeline->nodes, key, (uint32_t)stacks->node_count);
        node = known < stacks->node_count ? known : fp_export_add_node(stacks, frame, node);
        timeline->node_of[row] = node;
    }
    return node;
}

static void add_event(struct timeline *timeline, int row, int64_t *end_us)
{
    int64_t start_us = number(timeline, row, START_US);
    int64_t own_us = number(timeline, row, OWN_US);
    if (cell(timeline, row, IS_POINT)[0] == 't' && own_us == 0) {
        const char *resource = cell(timeline, row, RESOURCE);
        char *name = fp_memory_print("%s%s%s", cell(timeline, row, TYPE),
                                     resource[0] != '\0' ? " " : "", resource);
        const struct fp_export_mark mark = {.name =
                                                fp_export_text(timeline->stacks, fp_str_of(name)),
                                            .time_us = start_us,
                                            .duration_us = FP_EXPORT_POINT};
        free(name);
        fp_export_add_mark(timeline->track, &mark);
        return;
    }
    const struct fp_export_sample sample = {
        .node = find_node(timeline, row),
        .time_us = start_us > *end_us || timeline->track->sample_count == 0 ? start_us : *end_us,
        .weight_us = own_us,
        .count = 1,
    };
    fp_export_add_sample(timeline->stacks, timeline->track, &sample);
    if (own_us >= 0)
        *end_us = sample.time_us + own_us;
}

static void add_events(const PGresult *events, struct fp_export_stacks *stacks,
                       struct fp_export_track *track, struct fp_map *frames)
{
    int count = PQntuples(events);
    struct timeline timeline = {.events = events,
                                .stacks = stacks,
                                .track = track,
                                .frames = frames,
                                .node_of =
                                    fp_memory_need(calloc((size_t)count + 1, sizeof(uint32_t))),
                                .chain = fp_memory_need(calloc((size_t)count + 1, sizeof(int)))};
    fp_map_init(&timeline.row_of, (size_t)count);
    fp_map_init(&timeline.nodes, (size_t)count);
    for (int row = 0; row < count; row++) {
        timeline.node_of[row] = FP_INDEX_NONE;
        if (!is_null(&timeline, row, ID))
            (void)put(&timeline.row_of, (uint64_t)number(&timeline, row, ID), (uint32_t)row);
    }
    int64_t end_us = 0;
    for (int row = 0; row < count; row++)
        add_event(&timeline, row, &end_us);
    fp_map_release(&timeline.row_of);
    fp_map_release(&timeline.nodes);
    free(timeline.node_of);
    free(timeline.chain);
}

static PGresult *ask_timelines(PGconn *connection, const char *session_id)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select distinct timeline_id from fleetprof.timelines where mode = 'all' "
                        "and session_id = ");
    fp_sql_value(&query, "bigint", session_id);
    fp_sql_add(&query, " order by timeline_id");
    PGresult *answer = fp_sql_run(connection, &query);
    fp_sql_release(&query);
    return answer;
}

/* Asks for the events of a timeline, in all parts of the session; not for those of the operating
 * system's view, which no sum has. */
static PGresult *ask_events(PGconn *connection, const char *session_id, const char *timeline_id)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select id, parent_id, type, round(time_ms * 1000)::bigint, "
                        "coalesce(round(start_ms * 1000), 0)::bigint, end_ms is null, resource, "
                        "line from fleetprof.get_events(");
    fp_sql_value(&query, "bigint", session_id);
    fp_sql_add(&query, ", ");
    fp_sql_value(&query, "bigint", timeline_id);
    fp_sql_add(&query, ") with ordinality as event where type <> 'PROCESS' order by ordinality");
    PGresult *answer = fp_sql_run(connection, &query);
    fp_sql_release(&query);
    return answer;
}

static bool read_timeline(PGconn *connection, const char *session_id, const char *timeline_id,
                          struct fp_export_stacks *stacks, struct fp_map *frames)
{
    PGresult *events = ask_events(connection, session_id, timeline_id);
    if (events == NULL)
        return false;
    char *name = fp_memory_print("timeline %s", timeline_id);
    struct fp_export_track *track =
        fp_export_add_track(stacks, fp_export_text(stacks, fp_str_of(name)));
    free(name);
    add_events(events, stacks, track, frames);
    PQclear(events);
    return true;
}

bool fp_export_read_events(PGconn *connection, const char *session_id,
                           struct fp_export_stacks *stacks)
{
    PGresult *timelines = ask_timelines(connection, session_id);
    if (timelines == NULL)
        return false;
    int count = PQntuples(timelines);
    if (count > FP_EXPORT_TRACKS_MAX) {
        fp_message_notice("the session has %d timelines: the first %d are exported", count,
                          FP_EXPORT_TRACKS_MAX);
        count = FP_EXPORT_TRACKS_MAX;
    }
    struct fp_map frames;
    bool fine = true;
    fp_map_init(&frames, UINT32_MAX - 1);
    for (int i = 0; fine && i < count; i++)
        fine = read_timeline(connection, session_id, PQgetvalue(timelines, i, 0), stacks, &frames);
    fp_map_release(&frames);
    PQclear(timelines);
    return fine;
}
