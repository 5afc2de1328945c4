/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source, aggregate: the tree of fleetprof.flamegraph_columns, and the time outside it.
 */
#include "cli/export/source.h"
#include "cli/kit/memory.h"

#include <math.h>
#include <stdlib.h>
#include <yyjson.h>

/* Maximum of a tree's nodes; time of further nodes is `(omitted)`. */
#define NODES_MAX "200000"

/* Takes times in order and scales them so that their sum is that of the scaled whole, rounded. */
struct scaling {
    double scale;
    double sum;   /* before scaling */
    int64_t done; /* after it */
};

static int64_t scaled(struct scaling *scaling, int64_t value)
{
    scaling->sum += (double)value;
    int64_t all = llround(scaling->sum * scaling->scale);
    int64_t share = all - scaling->done;
    scaling->done = all;
    return share;
}

/* A track being read. */
struct track_reading {
    struct fp_export_stacks *stacks;
    struct fp_export_track *track;
    struct scaling time;
    struct scaling samples;
    uint32_t first_frame; /* of the tree's, in stacks */
    int64_t at_us;
};

static void add_sum(struct track_reading *reading, uint32_t node, int64_t self_us, int64_t samples)
{
    if (self_us < 0) {
        reading->stacks->negative_us += self_us;
        self_us = 0;
    }
    const struct fp_export_sample sample = {.node = node,
                                            .time_us = reading->at_us,
                                            .weight_us = scaled(&reading->time, self_us),
                                            .count = scaled(&reading->samples, samples)};
    fp_export_add_sample(reading->stacks, reading->track, &sample);
    reading->at_us += sample.weight_us;
}

/* ---- frames ---- */

static struct fp_str text_of(struct fp_export_stacks *stacks, yyjson_val *value)
{
    struct fp_str text = {yyjson_get_str(value), yyjson_get_len(value)};
    return text.ptr != NULL ? fp_export_text(stacks, text) : FP_STR("");
}

static int32_t position_of(yyjson_val *value)
{
    return yyjson_is_int(value) ? (int32_t)yyjson_get_sint(value) : FP_POSITION_NONE;
}

static enum fp_frame_kind kind_of(yyjson_val *value)
{
    for (enum fp_frame_kind kind = 0; kind < FP_FRAME_KIND_COUNT; kind++) {
        if (yyjson_equals_str(value, fp_frame_kind_name(kind)))
            return kind;
    }
    return FP_FRAME_FUNCTION;
}

enum frame_column {
    FUNCTION,
    RESOURCE,
    LINE,
    COLUMN,
    KIND,
    GENERATED_RESOURCE,
    GENERATED_LINE,
    GENERATED_COLUMN,
    FRAME_COLUMNS
};

static void add_frame(struct track_reading *reading, yyjson_val *const cells[FRAME_COLUMNS])
{
    struct fp_export_frame frame = {
        .function = text_of(reading->stacks, cells[FUNCTION]),
        .resource = text_of(reading->stacks, cells[RESOURCE]),
        .line = position_of(cells[LINE]),
        .column = position_of(cells[COLUMN]),
        .kind = kind_of(cells[KIND]),
        .generated_line = position_of(cells[GENERATED_LINE]),
        .generated_column = position_of(cells[GENERATED_COLUMN]),
    };
    if (!yyjson_equals(cells[RESOURCE], cells[GENERATED_RESOURCE]))
        frame.generated_resource = text_of(reading->stacks, cells[GENERATED_RESOURCE]);
    (void)fp_export_add_frame(reading->stacks, &frame);
}

/* Adds the frames, whose columns are arrays of equal length, or null where there are none. */
static void add_frames(struct track_reading *reading, yyjson_val *frames)
{
    static const char *const names[FRAME_COLUMNS] = {
        "function", "resource",           "line",           "column_number",
        "kind",     "generated_resource", "generated_line", "generated_column",
    };
    yyjson_arr_iter columns[FRAME_COLUMNS];
    yyjson_val *cells[FRAME_COLUMNS];
    reading->first_frame = (uint32_t)reading->stacks->frame_count;
    for (size_t i = 0; i < FRAME_COLUMNS; i++)
        (void)yyjson_arr_iter_init(yyjson_obj_get(frames, names[i]), &columns[i]);
    while (yyjson_arr_iter_has_next(&columns[FUNCTION])) {
        for (size_t i = 0; i < FRAME_COLUMNS; i++)
            cells[i] = yyjson_arr_iter_next(&columns[i]);
        add_frame(reading, cells);
    }
}

/* ---- nodes ---- */

/* A node of the tree, which is depth first. */
struct tree_node {
    uint32_t level; /* 0 for the whole */
    uint32_t node;  /* in stacks */
    int64_t self_us;
    int64_t samples; /* its own, once those of its children are taken off */
};

enum node_column { LEVEL, FRAME, SELF, SAMPLES, NODE_COLUMNS };

/* Adds the nodes and returns them with their own samples; the caller frees them. The whole, which
 * is the first, has no node in stacks. */
static struct tree_node *add_nodes(struct track_reading *reading, yyjson_val *tree, size_t *count)
{
    static const char *const names[NODE_COLUMNS] = {"level", "frame", "self", "samples"};
    yyjson_arr_iter columns[NODE_COLUMNS];
    for (size_t i = 0; i < NODE_COLUMNS; i++)
        (void)yyjson_arr_iter_init(yyjson_obj_get(tree, names[i]), &columns[i]);
    *count = yyjson_arr_size(yyjson_obj_get(tree, names[LEVEL]));
    struct tree_node *nodes = fp_memory_need(calloc(*count + 1, sizeof(*nodes)));
    size_t *last = fp_memory_need(calloc(*count + 1, sizeof(*last))); /* by level */
    for (size_t i = 0; i < *count; i++) {
        struct tree_node *node = &nodes[i];
        node->level = (uint32_t)yyjson_get_uint(yyjson_arr_iter_next(&columns[LEVEL]));
        int64_t frame = yyjson_get_sint(yyjson_arr_iter_next(&columns[FRAME]));
        node->self_us = yyjson_get_sint(yyjson_arr_iter_next(&columns[SELF]));
        node->samples = yyjson_get_sint(yyjson_arr_iter_next(&columns[SAMPLES]));
        last[node->level] = i;
        if (node->level == 0)
            continue;
        struct tree_node *parent = &nodes[last[node->level - 1]];
        parent->samples -= node->samples;
        node->node = fp_export_add_node(reading->stacks, reading->first_frame + (uint32_t)frame,
                                        node->level > 1 ? parent->node : FP_INDEX_NONE);
    }
    free(last);
    return nodes;
}

/* Adds time that the tree leaves out, as a frame. */
static void add_omitted(struct track_reading *reading, int64_t omitted_us)
{
    const struct fp_export_frame frame = {.function = FP_STR("(omitted)"),
                                          .line = FP_POSITION_NONE,
                                          .column = FP_POSITION_NONE,
                                          .generated_line = FP_POSITION_NONE,
                                          .generated_column = FP_POSITION_NONE,
                                          .kind = FP_FRAME_OVERFLOW};
    if (omitted_us <= 0)
        return;
    uint32_t node = fp_export_add_node(reading->stacks,
                                       fp_export_add_frame(reading->stacks, &frame), FP_INDEX_NONE);
    add_sum(reading, node, omitted_us, 0);
}

static void add_tree(struct track_reading *reading, yyjson_val *tree)
{
    size_t count;
    add_frames(reading, yyjson_obj_get(tree, "frames"));
    struct tree_node *nodes = add_nodes(reading, tree, &count);
    for (size_t i = 0; i < count; i++) {
        if (nodes[i].level > 0)
            add_sum(reading, nodes[i].node, nodes[i].self_us, nodes[i].samples);
    }
    free(nodes);
    add_omitted(reading, yyjson_get_sint(yyjson_obj_get(tree, "omitted_us")));
}

/* ---- questions ---- */

static bool read_tree(const struct fp_analysis *analysis, struct track_reading *reading)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select fleetprof.flamegraph_columns(max_nodes => " NODES_MAX ", ");
    if (analysis->fold != NULL) {
        fp_sql_add(&query, "fold => ");
        fp_sql_value(&query, "text", analysis->fold);
        fp_sql_add(&query, ", ");
    }
    fp_filters_add(&analysis->filters, &query);
    fp_sql_add(&query, ")");
    PGresult *answer = fp_sql_run(analysis->connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    yyjson_doc *doc = fp_memory_need(yyjson_read(
        PQgetvalue(answer, 0, 0), (size_t)PQgetlength(answer, 0, 0), YYJSON_READ_NOFLAG));
    add_tree(reading, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    PQclear(answer);
    return true;
}

static bool read_unattributed(const struct fp_analysis *analysis, struct track_reading *reading)
{
    struct fp_sql_query query;
    struct fp_analysis of_markers = *analysis;
    of_markers.fold = NULL;
    fp_analysis_query(&of_markers, "round(self_ms * 1000)::bigint, samples", "markers", &query);
    fp_sql_add(&query, " where marker = '(unattributed)'");
    PGresult *answer = fp_sql_run(analysis->connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    if (PQntuples(answer) > 0)
        add_sum(reading, fp_export_unattributed(reading->stacks),
                strtoll(PQgetvalue(answer, 0, 0), NULL, 10),
                strtoll(PQgetvalue(answer, 0, 1), NULL, 10));
    PQclear(answer);
    return true;
}

struct fp_export_track *fp_export_read_track(const struct fp_analysis *analysis, struct fp_str name,
                                             double scale, struct fp_export_stacks *stacks)
{
    struct track_reading reading = {.stacks = stacks,
                                    .track = fp_export_add_track(stacks, name),
                                    .time = {.scale = scale},
                                    .samples = {.scale = scale}};
    return read_tree(analysis, &reading) && read_unattributed(analysis, &reading) ? reading.track
                                                                                  : NULL;
}

bool fp_export_read_loads(const struct fp_analysis *analysis, int64_t *loads)
{
    struct fp_sql_query query;
    struct fp_analysis of_summary = *analysis;
    of_summary.fold = NULL;
    of_summary.filters = fp_filters_of_loads(&analysis->filters);
    fp_analysis_query(&of_summary, "coalesce(sum(loads), 0)::bigint", "summary", &query);
    PGresult *answer = fp_sql_run(analysis->connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    *loads = strtoll(PQgetvalue(answer, 0, 0), NULL, 10);
    PQclear(answer);
    return true;
}

bool fp_export_read_aggregate(const struct fp_analysis *analysis, struct fp_export_stacks *stacks,
                              bool *is_empty)
{
    char *title = fp_memory_print("%s, %s", analysis->filters.values[FP_FILTER_SITE],
                                  analysis->filters.period);
    stacks->title = fp_export_text(stacks, fp_str_of(title));
    free(title);
    const struct fp_export_track *track = fp_export_read_track(analysis, stacks->title, 1, stacks);
    if (track == NULL || !fp_export_read_loads(analysis, &stacks->loads))
        return false;
    *is_empty = track->sample_count == 0;
    return !*is_empty || fp_analysis_explain(analysis, "stacks");
}
